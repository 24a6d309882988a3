"""Adaptive integration with SciPy, in the coordinates (q, v)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kinetree.errors import NonFiniteError, SimulationError

METHODS = ("DOP853", "RK45", "RK23", "Radau", "BDF", "LSODA")


@dataclass(frozen=True, slots=True)
class AdaptiveSolution:
    """States at the sample times, and what they cost.

    Attributes
    ----------
    q : numpy.ndarray
        Positions at the sample times, shape (T, nq), with unit quaternions.
    v : numpy.ndarray
        Velocities, shape (T, nv).
    evaluations : int
        How often the dynamics were evaluated.
    event_time : float or None
        When ``event`` crossed zero [s]; the samples end there.
    event_state : tuple of numpy.ndarray or None
        (q, v) at that time.
    """

    q: np.ndarray
    v: np.ndarray
    evaluations: int
    event_time: float | None = None
    event_state: tuple[np.ndarray, np.ndarray] | None = None


def solve_adaptive(
    system,
    q0: np.ndarray,
    v0: np.ndarray,
    times: np.ndarray,
    tau: Callable,
    f_ext: Callable,
    *,
    method: str = "DOP853",
    rtol: float = 1e-10,
    atol: float = 1e-10,
    tick: Callable[[float], None] | None = None,
    event: Callable | None = None,
) -> AdaptiveSolution:
    """Integrate from ``times[0]`` to ``times[-1]`` with steps whose estimated error is within the tolerances.

    The unknowns are (q, v) themselves. Quaternions are normalized before every evaluation and in the result, so the
    solver's rounding along the quaternion's length, where nothing physical depends on it, cannot enter the motion.

    Parameters
    ----------
    system : System
        The dynamics.
    q0, v0 : numpy.ndarray
        Initial state, shapes (nq,) and (nv,).
    times : numpy.ndarray
        Sample times [s], increasing, shape (T,); taken from the solver's dense output.
    tau, f_ext : callable
        ``tau(t, q, v)`` gives the joint forces, ``f_ext(t)`` a tuple of the external wrenches or of nothing.
    method : str
        A method of ``scipy.integrate.solve_ivp``.
    rtol, atol : float
        Relative and absolute tolerance of each entry of (q, v).
    tick : callable, optional
        Called with the time of every evaluation (progress).
    event : callable, optional
        ``event(q)``; the integration stops when it falls below zero.

    Returns
    -------
    AdaptiveSolution

    Raises
    ------
    SimulationError
        If the solver cannot go on, or the dynamics are not finite; names the time and the cause.
    """
    from scipy.integrate import solve_ivp

    nq = len(q0)
    forward_dynamics, q_dot, normalize = (system.function(n) for n in ("forward_dynamics", "q_dot", "normalize"))
    rate = np.empty(nq + len(v0))

    def right_hand_side(t, y):
        if not all(map(math.isfinite, y.tolist())):
            raise _not_finite(system, t, y, method)
        q, v = normalize(y[:nq]), y[nq:]
        if tick is not None:
            tick(t)
        try:
            rate[:nq] = q_dot(q, v)
            rate[nq:] = forward_dynamics(q, v, tau(t, q, v), *f_ext(t))
        except NonFiniteError as error:
            raise _not_finite(system, t, rate, method) from error
        if not all(map(math.isfinite, rate.tolist())):
            raise _not_finite(system, t, rate, method)
        return rate.copy()

    events = None
    if event is not None:

        def events(t, y):
            return event(normalize(y[:nq]))

        events.terminal, events.direction = True, -1.0

    span = (float(times[0]), float(times[-1]))
    solution = solve_ivp(
        right_hand_side,
        span,
        np.concatenate((q0, v0)),
        method=method,
        t_eval=times,
        rtol=rtol,
        atol=atol,
        events=events,
    )
    if solution.status == -1:
        reached = float(solution.t[-1]) if len(solution.t) else span[0]
        raise SimulationError(
            f"simulate: the adaptive integrator ({method}) stopped after t = {reached:.9g} s: {solution.message} "
            "The motion may be stiff or discontinuous there: try method='Radau' or 'BDF', larger rtol and atol, or "
            "integrator='semi_implicit'.",
            time=reached,
            method=method,
            cause=solution.message,
        )
    q, v = np.ascontiguousarray(solution.y[:nq].T), np.ascontiguousarray(solution.y[nq:].T)
    event_time = event_state = None
    if solution.status == 1:
        event_time = float(solution.t_events[0][0])
        y = solution.y_events[0][0]
        event_state = normalize(y[:nq]), y[nq:]
    return AdaptiveSolution(normalize(q) if len(q) else q, v, int(solution.nfev), event_time, event_state)


def _not_finite(system, t: float, values: np.ndarray, method: str) -> SimulationError:
    """The error for a state or rate that is not finite; ``values`` are the entries of (q, v) or of their rates."""
    nq = system.model.nq
    bad = system.coordinates.first_bad(values[:nq], values[nq:])
    return SimulationError(
        f"simulate: the motion is no longer finite at t = {t:.9g} s ({method}); the first bad coordinate is "
        f"{bad or 'none: the state grew beyond the range of floating point'}. Check the forces and inertias there; "
        "tighter tolerances or integrator='semi_implicit' may help.",
        time=t,
        coordinate=bad,
    )
