"""Integrators by name and with their options: `FIXED_STEP`, `Adaptive`, and `integrator_of`, which finds them."""

from __future__ import annotations

import difflib
import math
from dataclasses import dataclass

import numpy as np

from kinetree.arguments import a_positive_number, a_word
from kinetree.errors import SimulationError, UnsupportedError
from kinetree.integrators import crouch_grossman, explicit
from kinetree.integrators.adaptive import METHODS, AdaptiveSolution, solve_adaptive
from kinetree.integrators.bdf1 import BDF1
from kinetree.integrators.bdf2 import BDF2
from kinetree.integrators.embedded import PAIRS, solve_embedded
from kinetree.integrators.event_driven import EventDriven
from kinetree.integrators.generalized_alpha import GeneralizedAlpha
from kinetree.integrators.implicit_midpoint import ImplicitMidpoint
from kinetree.integrators.linearly_implicit import LinearlyImplicit
from kinetree.integrators.rk4 import RungeKutta4
from kinetree.integrators.semi_implicit import SemiImplicitEuler
from kinetree.integrators.singular_steps import passes_singular
from kinetree.integrators.time_stepping import TimeStepping
from kinetree.integrators.variational import Variational

FIXED_STEP = {
    method.name: method
    for method in (
        SemiImplicitEuler,
        RungeKutta4,
        *explicit.METHODS,
        *crouch_grossman.METHODS,
        *(LinearlyImplicit(), ImplicitMidpoint, Variational, BDF1, BDF2, GeneralizedAlpha()),
        *(TimeStepping, EventDriven()),
    )
}
"""Methods with fixed steps by name: ``method(system)`` gives an object with ``step(t, h, q, v, tau, f_ext)``."""

WITH_OPTIONS = (GeneralizedAlpha, LinearlyImplicit, EventDriven)  # and `Adaptive`

ADAPTIVE = dict.fromkeys(PAIRS, solve_embedded) | dict.fromkeys(METHODS, solve_adaptive)
"""Solvers with adaptive steps by the name of their method: embedded pairs on the manifold, SciPy's and SUNDIALS'."""

LEAST_RTOL = 100.0 * np.finfo(float).eps  # as SciPy has it


@dataclass(frozen=True, slots=True)
class Adaptive:
    """Adaptive steps within tolerances; ``integrator="adaptive"`` of `simulate` is ``Adaptive()``.

    Parameters
    ----------
    method : str
        "dop853", "dp54", "bs32": embedded pairs on the manifold of the positions. Of SciPy, for stiff motions: "Radau",
        "BDF", "LSODA"; explicit: "scipy:DOP853", "scipy:RK45", "scipy:RK23"; of SUNDIALS: "CVODE", "CVODE_ADAMS",
        "IDA".
    rtol, atol : float
        Relative and absolute tolerance of each entry of (q, v).
    max_step : float, optional
        The longest step [s]; default: no bound.

    Raises
    ------
    ArgumentError, SimulationError
        No such method, or a tolerance below the precision of doubles.

    Examples
    --------
    >>> import kinetree as kt
    >>> stiff = kt.integrators.Adaptive("Radau", rtol=1e-6, atol=1e-8)
    >>> run = kt.simulate(kt.load("double_pendulum"), [1.0, 0.5], duration=0.1, integrator=stiff)
    >>> run.integrator
    'adaptive (Radau, rtol=1e-06, atol=1e-08)'
    """

    method: str = "dop853"
    rtol: float = 1e-10
    atol: float = 1e-10
    max_step: float | None = None

    name = "adaptive"

    def __post_init__(self) -> None:
        one_of("Adaptive: method", self.method, ADAPTIVE)
        for option in ("rtol", "atol") if self.max_step is None else ("rtol", "atol", "max_step"):
            a_positive_number(f"Adaptive: {option}", getattr(self, option))
            object.__setattr__(self, option, float(getattr(self, option)))
        if self.rtol < LEAST_RTOL:
            raise SimulationError(
                f"Adaptive: rtol = {self.rtol:g} is below the rounding limit, {LEAST_RTOL:.2g}; use a larger one.",
                rtol=self.rtol,
            )

    def __str__(self) -> str:
        longest = "" if self.max_step is None else f", max_step={self.max_step:g}"
        return f"adaptive ({self.method}, rtol={self.rtol:g}, atol={self.atol:g}{longest})"

    @property
    def longest(self) -> float:
        """The longest step [s]; infinite without a bound."""
        return math.inf if self.max_step is None else float(self.max_step)

    def solve(self, system, q0, v0, times, tau, f_ext, tick=None, keep=None) -> AdaptiveSolution:
        """Integrate from ``times[0]`` to ``times[-1]`` with steps whose estimated error is within the tolerances.

        Parameters
        ----------
        system : System
            The dynamics.
        q0 : (nq,) array
            Initial positions [rad or m; quaternions unit].
        v0 : (nv,) array
            Initial velocities [rad/s or m/s].
        times : (T,) array
            Sample times [s], increasing; taken from the continuous solution.
        tau : callable, with (nv,) arrays as values
            ``tau(t, q, v)``: joint forces [N m or N].
        f_ext : callable, with tuples of (nb, 6) arrays as values
            ``f_ext(t)``: tuple of the external wrenches [N m, N], or the empty tuple.
        tick : callable, optional
            Called with the time of every step or evaluation (progress).
        keep : callable, optional
            ``keep(t, q, v, sampled)``, called with the state after every step, and ``sampled`` with samples, or where
            one was passed.

        Returns
        -------
        AdaptiveSolution

        Raises
        ------
        SimulationError
            The solver cannot continue, or there is no finite state ahead; names the time and the cause.
        """
        return ADAPTIVE[self.method](self, system, q0, v0, times, tau, f_ext, tick, keep)


def integrator_of(what: str, integrator):
    """The method for a name or an object: a class or factory of `FIXED_STEP`'s kind, an `Adaptive`, or "auto".

    Parameters
    ----------
    what : str
        Function and argument, for messages.
    integrator : str or object

    Raises
    ------
    SimulationError
        There is no method of this name.
    """
    if not isinstance(integrator, str):
        return integrator
    if integrator == "adaptive":
        return Adaptive()
    if integrator in ADAPTIVE and integrator not in FIXED_STEP:
        raise SimulationError(
            f"{what} is {integrator!r}, a method with adaptive steps: give integrator="
            f"kt.integrators.Adaptive({integrator!r}).",
            found=integrator,
        )
    one_of(what, integrator, (*FIXED_STEP, "adaptive", "auto"))
    return FIXED_STEP.get(integrator, integrator)


def described(method) -> str:
    """The name of a method, with its options where it has some."""
    return str(method) if isinstance(method, (Adaptive, *WITH_OPTIONS)) else method.name


def is_built_in(method) -> bool:
    """Whether a method with fixed steps is the library's own, with any options."""
    known = FIXED_STEP.get(getattr(method, "name", None))
    return method is known or (known is not None and not isinstance(known, type) and type(method) is type(known))


def refuse_internal(what: str, model, method) -> None:
    """Raise an error for force elements with internal states or inputs, with a method that does not support them."""
    element = next((element for element in model.elements if element.states or element.inputs), None)
    if element is None:
        return
    if not getattr(method, "internal_states", isinstance(method, Adaptive)):
        names = ", ".join(repr(name) for name, known in FIXED_STEP.items() if getattr(known, "internal_states", False))
        raise UnsupportedError(
            f"{what}: force element {element.name!r} has internal states or inputs, which integrator {method.name!r} "
            f"does not support. Supported by: {names}, 'adaptive'.",
            element=element.name,
        )


def refuse_contacts(what: str, model, method) -> None:
    """Raise an error for a model with contacts, with a method that does not compute them."""
    if not model.contacts or getattr(method, "contacts", not is_built_in(method) and not isinstance(method, Adaptive)):
        return
    known = ", ".join(repr(name) for name, method in FIXED_STEP.items() if getattr(method, "contacts", False))
    raise UnsupportedError(
        f"{what}: model {model.name!r} has {model.contacts[0]}, and integrator {method.name!r} computes no contact. "
        f"Use {known} or 'auto'; model.replace(contacts=()) leaves contact out.",
        integrator=method.name,
    )


def one_of(what: str, value, valid) -> None:
    """Raise an error for an unknown name, with the closest one."""
    a_word(what, value)
    if value not in valid:
        same = [name for name in valid if name.lower().split(":")[-1] == str(value).lower()]
        close = same or difflib.get_close_matches(str(value), valid, n=1)
        hint = f" Did you mean {' or '.join(map(repr, close))}?" if close else ""
        where, _, noun = what.rpartition(": ")
        known = ", ".join(valid)
        raise SimulationError(f"{where}: no {noun} {value!r}.{hint} Known: {known}.", found=value, valid=valid)


def goes_through_singular(method) -> bool:
    """Whether runs by a method go through singular positions of loops; those by a user's own are not judged."""
    if isinstance(method, Adaptive):
        return method.method in PAIRS
    return passes_singular(method) or not is_built_in(method)
