"""The dynamics of one model as the integrators call them: compiled functions and the names of the coordinates."""

from __future__ import annotations

import numpy as np

from kinetree.algorithms.spec import ALGORITHMS, Spec
from kinetree.compiler.function import Function
from kinetree.integrators.coordinates import Coordinates


def time_argument(model, t) -> tuple[np.ndarray, ...]:
    """The time [s] as the dynamics take it, before external wrenches: none unless joints depend on it."""
    return (np.asarray(t, dtype=float),) if model.time_dependent else ()


class System:
    """The compiled functions of one model.

    Parameters
    ----------
    model : Model
        The mechanism; every position limit in it has a stop that gives its force.
    wrenches : bool
        Whether the dynamics take external wrenches, as a last argument.

    Attributes
    ----------
    model : Model
    coordinates : Coordinates
        Names and units of the entries of q and v.
    """

    __slots__ = ("coordinates", "model", "wrenches")

    def __init__(self, model, wrenches: bool = False) -> None:
        self.model = model
        self.wrenches = wrenches
        self.coordinates = Coordinates.of(model)

    def function(self, algorithm: str | Spec, checks: bool = True) -> Function:
        """The compiled algorithm, kept beside the model for the next simulation.

        Without checks it lets NaN through: the loop looks at its states itself, every so often.
        """
        spec = ALGORITHMS[algorithm] if isinstance(algorithm, str) else algorithm
        present = ("f_ext",) if self.wrenches and "f_ext" in spec.optional else ()
        if checks and ALGORITHMS.get(spec.name) is spec:
            key = (spec.name, present) if present else spec.name  # that of the plain call, which has the same checks
        else:  # a user's method may have the name of another one
            key = (checks, spec.identity, present)
        f = self.model.functions.get(key)
        if f is None:
            f = self.model.functions.setdefault(key, Function(spec, self.model, present, {}, checks))
        return f
