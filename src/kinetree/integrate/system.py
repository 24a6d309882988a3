"""The dynamics of one model as the integrators call them: compiled functions and the names of the coordinates."""

from __future__ import annotations

from kinetree.algorithms.spec import ALGORITHMS
from kinetree.integrate import kernels  # noqa: F401  (registers the steps of the integrators)
from kinetree.integrate.coordinates import Coordinates


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

    def function(self, name: str, checks: bool = True):
        """The compiled algorithm of this name, kept beside the model for the next simulation.

        Without checks it lets NaN through: the loop looks at its states itself, every so often.
        """
        present = ("f_ext",) if self.wrenches and "f_ext" in ALGORITHMS[name].optional else ()
        key = ("integrate", name, present, checks)
        f = self.model.functions.get(key)
        if f is None:
            import kinetree as kt

            f = self.model.functions.setdefault(key, kt.compile(self.model, name, optional=present, checks=checks))
        return f
