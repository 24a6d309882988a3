"""Adaptive integration with SciPy or SUNDIALS, in the coordinates (q, v)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kinetree.algorithms.manifold import may_change_chart
from kinetree.errors import NonFiniteError, UnsupportedError
from kinetree.integrators.state_jacobian import StateJacobian
from kinetree.integrators.sundials import SUNDIALS_METHODS, SundialsProblem
from kinetree.integrators.trials import TrialDynamics

IMPLICIT_METHODS = ("Radau", "BDF", "LSODA")
EXPLICIT_METHODS = {f"scipy:{name}": name for name in ("DOP853", "RK45", "RK23")}
"""SciPy's pairs by our names for them: those without a prefix are our own pairs, on the manifold."""
MOST_FAILURES = 200  # trials without a result and without progress, after which the run fails
DIFFERENCE, SMALL = 1.5e-8, 1e-3  # of a state, relative to it, and the least size of a state
METHODS = (*EXPLICIT_METHODS, *IMPLICIT_METHODS, *SUNDIALS_METHODS)


@dataclass(frozen=True, slots=True)
class AdaptiveSolution:
    """States at the sample times, and counts of evaluations and steps.

    Attributes
    ----------
    q : numpy.ndarray
        Positions at the sample times, shape (T, nq), with unit quaternions.
    v : numpy.ndarray
        Velocities, shape (T, nv).
    evaluations : int
        Number of evaluations of the dynamics.
    steps, rejections : int or None
        Steps accepted, and steps repeated with a smaller h; None where the solver does not count.
    passages : Passages or None
        Singular positions on the way, of solvers that go through them.
    """

    q: np.ndarray
    v: np.ndarray
    evaluations: int
    steps: int | None = None
    rejections: int | None = None
    passages: object = None


def solve_adaptive(options, system, q0, v0, times, tau, f_ext, tick, keep) -> AdaptiveSolution:
    """Integrate by SciPy or SUNDIALS; arguments as for `Adaptive.solve`.

    The unknowns are (q, v) themselves. Quaternions are normalized before every evaluation and in the result, so the
    solver's rounding along the quaternion's length, where nothing physical depends on it, cannot enter the motion.
    So are loops closed: the rates are those of the projected state, and errors across loops never enter the motion.
    Where a joint changes its chart, the solver stops and restarts in the other one. The implicit methods get
    Jacobians from the closed-form derivatives of the dynamics.

    Parameters
    ----------
    options : Adaptive
    system, q0, v0, times, tau, f_ext, tick, keep
        As for `Adaptive.solve`.
    """
    from scipy.integrate import solve_ivp

    nq, normalize, method = len(q0), system.function("normalize"), options.method
    trials = TrialDynamics(system, tau, f_ext)
    right_hand_side = _TrialRate(system, trials, tick, method)
    charts = _chart_event(system, nq)
    events = [*charts, *_after_steps(keep, times, normalize, nq)]
    start, end, y = float(times[0]), float(times[-1]), np.concatenate((q0, v0))
    if method in SUNDIALS_METHODS:
        _refuse(system, method)
        problem = SundialsProblem(system, right_hand_side, tau, f_ext, events)
        return _solution(problem.solve(y, times, options), times, system, normalize, problem.evaluations)
    exact = method in IMPLICIT_METHODS and not (system.model.nx or system.has_loops)
    implicit = {"jac": _TrialJacobian(system, trials, tau, f_ext)} if exact else {}
    if system.model.nx and method in ("Radau", "BDF"):
        implicit = {"jac": _Differences(right_hand_side)}
    settings = {"rtol": options.rtol, "atol": options.atol, "max_step": options.longest, "events": events} | implicit
    rows, evaluations = [], 0
    while True:
        right_hand_side.begin()
        samples = np.maximum(times[sum(map(len, rows)) :], start)
        solution = solve_ivp(
            right_hand_side, (start, end), y, method=EXPLICIT_METHODS.get(method, method), t_eval=samples,
            dense_output=bool(charts), **settings,
        )  # fmt: skip
        evaluations += int(solution.nfev)
        rows.append(np.reshape(solution.y, (len(y), -1)).T)  # none, if it ends before the first sample
        if solution.status == -1:
            raise trials.stopped(method, solution.message)
        if solution.status == 1:
            start, y = _beyond(solution, charts[0])
        if solution.status == 0 or start >= end:
            return _solution(np.concatenate(rows), times, system, normalize, evaluations)
        y = np.concatenate(system.reparameterized(normalize(y[:nq]), y[nq:]))


def _solution(states: np.ndarray, times, system, normalize, evaluations: int) -> AdaptiveSolution:
    nq = system.model.nq
    q, v = np.ascontiguousarray(states[:, :nq]), np.ascontiguousarray(states[:, nq:])
    return AdaptiveSolution(*(system.closed(normalize(q), v, times) if len(q) else (q, v)), evaluations)


class _TrialRate:
    """The rate y' of y = (q, v) for the solvers; at trial states without a rate, a value that rejects the step."""

    def __init__(self, system, trials: TrialDynamics, tick, method: str) -> None:
        self._trials, self._tick, self._method, self._nq = trials, tick, method, system.model.nq
        self._q_dot, self._normalize = (system.function(n, checks=False) for n in ("q_dot", "normalize"))
        self._closed = system.closed
        # LSODA accepts NaN, since comparisons with NaN are false; it rejects a rate of this size.
        self._nv = system.model.nv
        self._none = np.full(self._nq + system.model.nw, 1e100 if method == "LSODA" else np.nan)
        self.begin()

    def begin(self) -> None:
        """Reset the counts at the start of a solver."""
        self._calls, self._first, self._failures, self._reached = 0, None, 0, -math.inf

    def __call__(self, t: float, y: np.ndarray) -> np.ndarray:
        if self._tick is not None:
            self._tick(t)
        self._calls += 1
        q, v = self._closed(self._normalize(y[: self._nq]), y[self._nq :], t)
        a = self._trials.acceleration(t, q, v)
        if self._trials.failed is None:
            rate = np.concatenate((self._q_dot(q, v[: self._nv]), a))
            self._first = rate.copy() if self._calls == 1 else self._first
            if t > self._reached:
                self._reached, self._failures = t + 1e-9 * abs(t), 0
            return rate
        self._failures += 1  # LSODA repeats failed steps without limit
        if self._calls == 1 or self._failures > MOST_FAILURES or self._method in SUNDIALS_METHODS:
            raise self._trials.stopped(self._method)
        # SciPy's second call estimates the first step and does not check the value: an unchanged rate has no effect
        # on the estimate.
        is_guess = self._calls == 2 and self._method != "LSODA"
        return (self._first if is_guess else self._none).copy()


class _TrialJacobian:
    """The Jacobian of the rate for SciPy; the previous Jacobian at trial states without one."""

    def __init__(self, system, trials: TrialDynamics, tau, f_ext) -> None:
        self._trials, self._jacobian, self._nq = trials, StateJacobian(system, tau, f_ext), system.model.nq
        self._normalize = system.function("normalize", checks=False)
        self._last = np.zeros((self._nq + system.model.nv,) * 2)

    def __call__(self, t: float, y: np.ndarray) -> np.ndarray:
        q, v = self._normalize(y[: self._nq]), y[self._nq :]
        a = self._trials.acceleration(t, q, v)
        if self._trials.failed is None:
            try:
                J = self._jacobian.at(t, q, v, a)
            except NonFiniteError:  # of a controller, whose slopes are measured beside the state
                return self._last
            self._last = J if np.isfinite(J).all() else self._last
        return self._last


class _Differences:
    """Forward differences of the rate; those of SciPy grow without bound along states that act on nothing for long."""

    def __init__(self, rate) -> None:
        self._rate, self._last = rate, 0.0

    def __call__(self, t: float, y: np.ndarray) -> np.ndarray:
        start, J = self._rate(t, y), np.zeros((len(y), len(y)))
        for k, x in enumerate(y):
            moved = y.copy()
            moved[k] = x + DIFFERENCE * max(abs(x), SMALL)
            J[:, k] = (self._rate(t, moved) - start) / (moved[k] - x)
        self._last = J if np.isfinite(J).all() else np.zeros_like(J) + self._last  # at trial states without a rate
        return self._last


def _refuse(system, method: str) -> None:
    """Raise an error where a joint may change its chart, since SUNDIALS cannot restart there."""
    model = system.model
    names = [model.joint_name(i) for i in model.outward() if may_change_chart(model, i)]
    if names:
        raise UnsupportedError(
            f"simulate: joint {names[0]!r} changes its chart of coordinates, which {method} cannot follow; take "
            "kt.integrators.Adaptive('Radau') or 'BDF'.",
            method=method,
            joint=names[0],
        )


def _after_steps(keep: Callable | None, times: np.ndarray, normalize, nq: int) -> list[Callable]:
    """An event that never happens: solvers look for events at the end of every step, and report nothing else there."""
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
    """An event where a joint should change its coordinates, after which the solver restarts; none if none can.

    The chart itself is discontinuous, which no adaptive step could cross. Its sign alone gives the time.
    """
    if not any(may_change_chart(system.model, i) for i in system.model.outward()):
        return []
    reparameterize, normalize = system.reparameterized, system.function("normalize")

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
