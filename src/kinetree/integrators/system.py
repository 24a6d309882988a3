"""The dynamics of one model for the integrators: compiled functions and names of the coordinates."""

from __future__ import annotations

import numpy as np

from kinetree.algorithms.projection import has_loops, is_projected
from kinetree.algorithms.spec import ALGORITHMS, Spec
from kinetree.compiler.derivative_functions import derivative_spec
from kinetree.compiler.function import Function
from kinetree.integrators.coordinates import Coordinates
from kinetree.integrators.kernels import ALONG_TENDONS, CLOSED_STATE, RATE


def time_argument(model, t) -> tuple[np.ndarray, ...]:
    """Time argument [s] of the dynamics, before external wrenches: none unless joints depend on it."""
    return (np.asarray(t, dtype=float),) if model.time_dependent else ()


def dynamics_time(model, t) -> tuple[np.ndarray, ...]:
    """The same for the complete dynamics and for steps, which also take it where constraints depend on it."""
    return (np.asarray(t, dtype=float),) if model.time_dependent or model.has_given_motions else ()


def internal_arguments(model, x, u) -> tuple[np.ndarray, ...]:
    """Internal states and inputs of force elements as arguments of the dynamics, after wrenches; those that exist."""
    return ((x,) if model.nx else ()) + ((u,) if model.nu else ())


class System:
    """The compiled functions of one model.

    Parameters
    ----------
    model : Model
        The mechanism; every position limit in it has a stop that gives its force.
    wrenches : bool
        Whether the dynamics take external wrenches, as a last argument. Inputs of force elements follow, if the model
        has some.

    Attributes
    ----------
    model : Model
    coordinates : Coordinates
        Names and units of the entries of q and v.
    has_loops : bool
        Whether steps have to keep rows of the model: those of loops, and a user's own.
    is_projected : bool
        Whether states are projected on some of these.
    drives : tuple
        Motors of a run, which add the rates of their lagging forces under adaptive methods.
    """

    def __init__(self, model, wrenches: bool = False) -> None:
        self.model = model
        self.wrenches = wrenches
        self.coordinates = Coordinates.of(model)
        self.has_loops, self.is_projected = has_loops(model), is_projected(model)
        self.drives: tuple = ()
        given = (("f_ext", wrenches), ("x", model.nx), ("u", model.nu))
        self._given = tuple(name for name, is_given in given if is_given)

    @property
    def rate(self) -> str | Spec:
        """The dynamics as the rate of the velocities, and of the internal states if there are some."""
        return RATE if self.model.nx or self.model.has_given_motions else "forward_dynamics"

    def reparameterized(self, q, w) -> tuple[np.ndarray, np.ndarray]:
        """`reparameterize` of positions, and of velocities that internal states may follow."""
        nv, function = self.model.nv, self.function("reparameterize", checks=False)
        q, v = function(q, w[..., :nv])
        return q, np.concatenate((v, w[..., nv:]), axis=-1)

    def closed(self, q, w, t=0.0) -> tuple[np.ndarray, np.ndarray]:
        """The state at time t [s] with its loops closed by projection, and prescribed joints where they have to be.

        Internal states may follow the velocities.
        """
        if not (self.is_projected or self.model.has_given_motions):
            return q, w
        return self.function(CLOSED_STATE, checks=False)(q, w, *self.end_time(t))

    def end_time(self, t) -> tuple[np.ndarray, ...]:
        """The time [s] as an argument of parts that end a step, where constraints depend on it."""
        return (np.asarray(t, dtype=float),) if self.model.has_given_motions else ()

    def energies(self, q, v, now: tuple = ()) -> dict[str, np.ndarray]:
        """Energies of states by the names of the arrays of runs [J]; ``now`` as `time_argument` gives it."""
        kinetic = self.function("kinetic_energy")(q, v, *now)
        if self.model.armatures:
            kinetic = kinetic + self.function(ALONG_TENDONS, checks=False)(q, v, *now)
        return {
            "kinetic_energy": kinetic,
            "potential_energy": self.function("potential_energy")(q, *now),
            "elastic_energy": self.function("elastic_energy")(q, *(now if self.model.laws else ())),
        }

    def function(self, algorithm: str | Spec, checks: bool = True) -> Function:
        """The compiled algorithm, kept beside the model for the next simulation.

        Without checks NaN propagates: the step loop checks its states at intervals.
        """
        spec = ALGORITHMS[algorithm] if isinstance(algorithm, str) else algorithm
        present = tuple(name for name in self._given if name in spec.optional)
        if checks and ALGORITHMS.get(spec.name) is spec:
            key = (spec.name, present) if present else spec.name  # that of the plain call, which has the same checks
        else:  # a user's method may have the name of another one
            key = (checks, spec.identity, present)
        f = self.model.functions.get(key)
        if f is None:
            f = self.model.functions.setdefault(key, Function(spec, self.model, present, {}, checks))
        return f

    def derivative(self, part: Spec, mode: str, wrt: tuple[str, ...], of: tuple[str, ...]) -> Function:
        """A derivative of a part of a step, as of `kinetree.differentiate`; it takes all inputs that the part takes."""
        present = tuple(name for name in self._given if name in part.optional)
        return self.function(derivative_spec(part, mode, wrt, of, present), checks=False)
