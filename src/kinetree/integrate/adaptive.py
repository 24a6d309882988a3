"""Adaptive integration with SciPy or SUNDIALS, in the coordinates (q, v)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kinetree.algorithms.manifold import may_change_chart
from kinetree.errors import NonFiniteError, SimulationError, UnsupportedError
from kinetree.integrate.state_jacobian import StateJacobian
from kinetree.integrate.sundials import SUNDIALS_METHODS, SundialsProblem

IMPLICIT_METHODS = ("Radau", "BDF", "LSODA")
METHODS = ("DOP853", "RK45", "RK23", *IMPLICIT_METHODS, *SUNDIALS_METHODS)


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
    steps, rejections : int or None
        Steps accepted, and steps repeated with a smaller h; None where the solver does not tell.
    """

    q: np.ndarray
    v: np.ndarray
    evaluations: int
    event_time: float | None = None
    event_state: tuple[np.ndarray, np.ndarray] | None = None
    steps: int | None = None
    rejections: int | None = None


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
    keep: Callable[[float, np.ndarray, np.ndarray, bool], None] | None = None,
) -> AdaptiveSolution:
    """Integrate from ``times[0]`` to ``times[-1]`` with steps whose estimated error is within the tolerances.

    The unknowns are (q, v) themselves. Quaternions are normalized before every evaluation and in the result, so the
    solver's rounding along the quaternion's length, where nothing physical depends on it, cannot enter the motion.
    Where a joint changes its chart, the solver stops and starts anew in the other one.

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
        A method of ``scipy.integrate.solve_ivp``, or of SUNDIALS: "CVODE" (backward differentiation), "CVODE_ADAMS",
        "IDA" (inverse dynamics as residuals); these need the package scikit-sundae. The implicit ones get Jacobians
        from the closed-form derivatives of the dynamics.
    rtol, atol : float
        Relative and absolute tolerance of each entry of (q, v).
    tick : callable, optional
        Called with the time of every evaluation (progress).
    event : callable, optional
        ``event(q)``; the integration stops when it falls below zero.
    keep : callable, optional
        ``keep(t, q, v, sampled)``, called with the state after every step; ``sampled`` if a sample time was passed.

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

    charts = _chart_event(system, nq)
    events = [*charts, *_after_steps(keep, times, normalize, nq), *_user_event(event, normalize, nq)]
    start, end, y = float(times[0]), float(times[-1]), np.concatenate((q0, v0))
    if method in SUNDIALS_METHODS:
        return _by_sundials(system, right_hand_side, tau, f_ext, events, charts, times, y, (method, rtol, atol))
    implicit = {"jac": _jacobian(system, tau, f_ext)} if method in IMPLICIT_METHODS else {}
    rows, evaluations, event_time, event_state = [], 0, None, None
    while True:
        solution = solve_ivp(
            right_hand_side,
            (start, end),
            y,
            method=method,
            t_eval=np.maximum(times[sum(map(len, rows)) :], start),
            rtol=rtol,
            atol=atol,
            events=events,
            dense_output=bool(charts),
            **implicit,
        )
        evaluations += int(solution.nfev)
        rows.append(np.reshape(solution.y, (len(y), -1)).T)  # none, if it ends before the first sample
        if solution.status == -1:
            raise _stopped(float(solution.t[-1]) if len(solution.t) else start, method, solution.message)
        if solution.status == 0:
            break
        if charts and len(solution.t_events[0]):
            start, y = _beyond(solution, charts[0])
            if start >= end:
                break
            y = np.concatenate(system.function("reparameterize")(normalize(y[:nq]), y[nq:]))
            continue
        event_time, y = float(solution.t_events[-1][0]), solution.y_events[-1][0]
        event_state = normalize(y[:nq]), y[nq:]
        break
    states = np.concatenate(rows)
    q, v = np.ascontiguousarray(states[:, :nq]), np.ascontiguousarray(states[:, nq:])
    return AdaptiveSolution(normalize(q) if len(q) else q, v, evaluations, event_time, event_state)


def _jacobian(system, tau, f_ext) -> Callable:
    """The Jacobian of the right-hand side as SciPy takes it."""
    nq, jacobian = system.model.nq, StateJacobian(system, tau, f_ext)
    forward_dynamics, normalize = (system.function(n, checks=False) for n in ("forward_dynamics", "normalize"))

    def at(t, y):
        q, v = normalize(y[:nq]), y[nq:]
        return jacobian.at(t, q, v, forward_dynamics(q, v, tau(t, q, v), *f_ext(t)))

    return at


def _by_sundials(system, right_hand_side, tau, f_ext, events, charts, times, y, solver) -> AdaptiveSolution:
    """The same by SUNDIALS, in one piece: it cannot begin anew where a joint changes its chart."""
    method, rtol, atol = solver
    nq, model = system.model.nq, system.model
    if charts:
        names = [model.joint_names[i] for i in model.outward() if may_change_chart(model, i)]
        raise UnsupportedError(
            f"simulate: joint {names[0]!r} changes its chart of coordinates, which {method} cannot follow; take "
            "method='Radau' or 'BDF'.",
            method=method,
            joint=names[0],
        )
    problem = SundialsProblem(system, right_hand_side, tau, f_ext, events)
    states, found, _ = problem.solve(float(times[0]), float(times[-1]), y, times, method, rtol, atol)
    normalize = system.function("normalize")
    q, v = np.ascontiguousarray(states[:, :nq]), np.ascontiguousarray(states[:, nq:])
    event_time = event_state = None
    if found is not None:
        _, event_time, end = found
        event_state = normalize(end[:nq]), end[nq:]
    return AdaptiveSolution(normalize(q) if len(q) else q, v, problem.evaluations, event_time, event_state)


def _user_event(event: Callable | None, normalize, nq: int) -> list[Callable]:
    """The caller's event as SciPy takes it."""
    if event is None:
        return []

    def margin(t, y):
        return event(normalize(y[:nq]))

    margin.terminal, margin.direction = True, -1.0
    return [margin]


def _after_steps(keep: Callable | None, times: np.ndarray, normalize, nq: int) -> list[Callable]:
    """An event that never happens: solvers look for events at the end of every step, and tell of nothing else there."""
    if keep is None:
        return []
    passed = 1  # samples; the first is the start

    def end_of_step(t, y):
        nonlocal passed
        before, passed = passed, passed + int(np.searchsorted(times[passed:], t, side="right"))
        keep(float(t), normalize(y[:nq]), np.array(y[nq:]), passed > before)
        return 1.0

    return [end_of_step]


def _chart_event(system, nq: int) -> list[Callable]:
    """An event where a joint should change its coordinates, after which the solver starts anew; none if none can.

    The chart itself jumps, which no adaptive step could cross. Its sign is all that there is to find the time by.
    """
    if not any(may_change_chart(system.model, i) for i in system.model.outward()):
        return []
    reparameterize, normalize = system.function("reparameterize"), system.function("normalize")

    def regular(t, y):
        q = normalize(y[:nq])
        return 1.0 if np.array_equal(reparameterize(q, y[nq:])[0], q) else -1.0

    regular.terminal, regular.direction = True, -1.0
    return [regular]


def _beyond(solution, regular) -> tuple[float, np.ndarray]:
    """Time and state just beyond the end of a chart: the root found may lie on its near side, by rounding."""
    t = float(solution.t_events[0][0])
    shift = 0.0
    while regular(t + shift, y := solution.sol(t + shift)) > 0.0:
        shift = max(2.0 * shift, float(np.spacing(t)))
    return t + shift, y


def _stopped(reached: float, method: str, cause: str) -> SimulationError:
    return SimulationError(
        f"simulate: the adaptive integrator ({method}) stopped after t = {reached:.9g} s: {cause} "
        "The motion may be stiff or discontinuous there: try method='Radau' or 'BDF', larger rtol and atol, or "
        "integrator='semi_implicit'.",
        time=reached,
        method=method,
        cause=cause,
    )


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
