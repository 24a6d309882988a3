"""Embedded Runge-Kutta pairs on the manifold of the joint positions, with steps as long as the error allows.

The unknowns of a step, (xi, v), live in a vector space, so the estimated error is a vector there: the errors
of the step in rotations [rad], displacements [m] and velocities.
"""

from __future__ import annotations

import math

import numpy as np

from kinetree.algorithms.manifold import may_change_chart
from kinetree.integrators.adaptive import AdaptiveSolution
from kinetree.integrators.charts import EXACT_TANGENT
from kinetree.integrators.dense import Interpolant
from kinetree.integrators.explicit import end_spec, point_spec
from kinetree.integrators.singular_pairs import PairThroughSingular
from kinetree.integrators.singular_steps import Passages
from kinetree.integrators.tableau_dop853 import DOP853
from kinetree.integrators.tableaus import BS32, DP54, Tableau, weights
from kinetree.integrators.trials import TrialDynamics

PAIRS = {tableau.name: tableau for tableau in (BS32, DP54, DOP853)}
"""The pairs by name, as ``method`` of `Adaptive`."""

SAFETY, SHRINK, GROW = 0.9, 0.2, 5.0
_SCALE_3 = 0.01  # of the second of two estimates in their sum (Hairer, Norsett, Wanner, Solving ODEs I, eq. II.10.17)


class EmbeddedRungeKutta:
    """An embedded pair, step by step.

    Parameters
    ----------
    system : System
        The dynamics.
    tableau : Tableau
        With an error estimate.
    tau, f_ext : callable
        ``tau(t, q, v)`` gives the joint forces, ``f_ext(t)`` a tuple of the other arguments of the dynamics.
    rtol, atol : float
        Tolerances of each coordinate of a step: of velocities, and of positions as steps from the neutral position.
    max_step : float
        The longest step [s].

    Attributes
    ----------
    evaluations, steps, rejections : int
        Counts since the start.
    trials : TrialDynamics

    Notes
    -----
    Source: Hairer, Norsett, Wanner, Solving ODEs I, section II.4, with Gustafsson's PI controller: the step grows by
    ``0.9 err_n^(-0.7/k) err_(n-1)^(0.4/k)``, k being the order of the estimate plus one; Munthe-Kaas (1999) for the
    manifold.
    """

    def __init__(self, system, tableau: Tableau, tau, f_ext, rtol: float, atol: float, max_step=math.inf) -> None:
        model = system.model
        self.system, self._tableau, self.trials = system, tableau, TrialDynamics(system, tau, f_ext)
        self._rtol, self._atol, self._max_step = rtol, atol, max_step
        self._numbers, self._nv = weights(tableau), model.nv
        self._point = system.function(point_spec(EXACT_TANGENT), checks=False)
        self._end = system.function(end_spec(EXACT_TANGENT), checks=False)
        self._integrate = system.function("integrate", checks=False)
        self._difference = system.function("difference", checks=False)
        self._neutral = np.array(model.neutral(), dtype=float)
        # The last stage is the first of the next step, in the same coordinates only if no joint changes its chart.
        changes = any(may_change_chart(model, i) for i in model.outward())
        self._keeps = tableau.first_same_as_last and not changes and not system.has_loops
        self._K = np.zeros((len(self._numbers.rows), model.nv + model.nw))
        self.evaluations = self.steps = self.rejections = 0

    def start(self, t: float, q: np.ndarray, v: np.ndarray, end: float) -> None:
        """Begin at a state, with an initial step estimated from the rates ahead, at most to ``end`` [s]."""
        self.t, self.q, self.v = t, q, v
        self.a = self._acceleration(t, q, v)
        self._error = 1.0
        self._h = min(self._first_step(), end - t)

    def restart(self, t: float, q, v, end: float, longest: float) -> None:
        """Go on from a state with steps of this length [s]."""
        self.t, self.q, self.v, self._max_step = t, q, v, longest
        self.a, self._h, self._error = self._acceleration(t, q, v), min(longest, end - t), 1.0

    def step(self, end: float) -> bool:
        """One accepted step, at most to ``end`` [s]; False if the steps have become as short as rounding."""
        t, q, v, k = self.t, self.q, self.v, self._tableau.estimate_order + 1
        rejected = False
        while True:
            h = min(self._h, self._max_step)
            if t + 1.01 * h >= end:  # no tiny step at the end
                h = end - t
            elif t + 2.0 * h > end:
                h = 0.5 * (end - t)
            if not h > 8.0 * np.spacing(max(abs(t), abs(end))):
                return False
            self._stages(t, h, q, v)
            slope = h * np.dot(self._numbers.b, self._K[: len(self._numbers.b)])
            nv, one = self._nv, np.array(1.0)
            q1, v1 = self._end(q, v, one, slope[:nv], slope[nv:], *self.system.end_time(t + h))
            error = self._measured(h, q, v, q1, v1)
            if error <= 1.0:
                break
            rejected = True
            self.rejections += 1
            self._h = h * (max(SHRINK, SAFETY * error ** (-1.0 / k)) if math.isfinite(error) else SHRINK)
        factor = GROW
        if error > 0.0:
            factor = SAFETY * error ** (-0.7 / k) * max(self._error, 1e-4) ** (0.4 / k)
            factor = min(GROW, max(SHRINK, factor))
        self._h = (min(h, self._h) if rejected else h) * (min(1.0, factor) if rejected else factor)
        self._error = error
        self._start = t, h, q, v
        self.steps += 1
        self.t, self.q, self.v = (end if h == end - t else t + h), q1, v1
        if self._keeps:
            self.a = self._K[self._tableau.stages - 1, nv:].copy()
        else:
            self.a = self._acceleration(self.t, q1, v1)
        return True

    def interpolant(self) -> Interpolant:
        """The continuous solution over the last step."""
        t, h, q, v = self._start
        for i in range(self._tableau.stages, len(self._K)):  # stages that nothing else needs
            self._stage(i, t, h, q, v)
        powers, nv = h * (self._numbers.dense.T @ self._K), self._nv
        return Interpolant(t, t + h, q, v, powers[:, :nv], powers[:, nv:], self._integrate, self._tableau.dense_order)

    def _stages(self, t, h, q, v) -> None:
        self._K[0, : self._nv], self._K[0, self._nv :] = v[: self._nv], self.a
        for i in range(1, self._tableau.stages):
            self._stage(i, t, h, q, v)

    def _stage(self, i: int, t, h, q, v) -> None:
        nv, slope = self._nv, np.dot(self._numbers.rows[i], self._K[:i])
        now = t + self._numbers.c[i] * h
        q_i, v_i, self._K[i, :nv] = self._point(q, v, slope[:nv], slope[nv:], np.array(h))
        self._K[i, nv:] = self._acceleration(now, q_i, v_i)

    def _acceleration(self, t, q, v) -> np.ndarray:
        self.evaluations += 1
        return self.trials.acceleration(t, q, v)

    def _scale(self, q, v) -> np.ndarray:
        """Sizes of the unknowns, for relative tolerances."""
        return np.abs(np.concatenate((self._difference(self._neutral, q), v)))

    def _sums(self, h, rates, sizes) -> tuple[np.ndarray, np.ndarray]:
        """Rates of all that keeps the tolerances, by stages, and the sizes that these are relative to."""
        return rates, sizes

    def _measured(self, h, q, v, q1, v1) -> float:
        """The estimated error over the tolerance."""
        rates, sizes = self._sums(h, self._K, np.maximum(self._scale(q, v), self._scale(q1, v1)))
        scale, estimates = self._atol + self._rtol * sizes, self._numbers.estimates
        ratios = [np.linalg.norm(h * np.dot(e, rates[: len(e)]) / scale) for e in estimates]
        size = math.sqrt(len(scale)) or 1.0
        if len(ratios) == 1:
            return ratios[0] / size
        total = ratios[0] ** 2 + _SCALE_3 * ratios[1] ** 2
        return ratios[0] ** 2 / math.sqrt(total) / size if total > 0.0 else total

    def _first_step(self) -> float:
        """Hairer's guess from the sizes of the state, of its rate and of the rate's change (section II.4)."""
        t, q, v, a = self.t, self.q, self.v, self.a
        if not np.isfinite(a).all():
            return 0.0  # no finite state ahead: the first step fails, at this time
        x = v[: self._nv]
        size, rate = self._scale(q, v), np.concatenate((x, a))
        scale = self._atol + self._rtol * size
        count = math.sqrt(len(scale)) or 1.0
        d0, d1 = np.linalg.norm(size / scale) / count, np.linalg.norm(rate / scale) / count
        h0 = 1e-6 if d0 < 1e-5 or d1 < 1e-5 else 0.01 * d0 / d1
        q_1, v_1, x_1 = self._point(q, v, x, a, np.array(h0))
        rate_1 = np.concatenate((x_1, self._acceleration(t + h0, q_1, v_1)))
        d2 = np.linalg.norm((rate_1 - rate) / scale) / count / h0
        if not (math.isfinite(d1) and math.isfinite(d2)):
            return h0
        fastest, k = max(d1, d2), self._tableau.estimate_order + 1
        return min(100.0 * h0, max(1e-6, 1e-3 * h0) if fastest <= 1e-15 else (0.01 / fastest) ** (1.0 / k))


def solve_embedded(options, system, q0, v0, times, tau, f_ext, tick, keep) -> AdaptiveSolution:
    """Integrate by an embedded pair on the manifold; samples are those of its continuous solution.

    Parameters
    ----------
    options : Adaptive
    system, q0, v0, times, tau, f_ext, tick, keep
        As for `Adaptive.solve`.
    """
    passages = Passages(system.model)

    def pair(system, rtol, atol):
        return EmbeddedRungeKutta(system, PAIRS[options.method], tau, f_ext, rtol, atol, options.longest)

    if system.has_loops:
        solver = PairThroughSingular(pair, system, options.rtol, options.atol, passages)
    else:
        solver = pair(system, options.rtol, options.atol)
    end = float(times[-1])
    solver.start(float(times[0]), q0, v0, end)
    Q, V = np.empty((len(times), len(q0))), np.empty((len(times), len(v0)))
    Q[0], V[0], row = q0, v0, 1
    changes = any(may_change_chart(system.model, i) for i in system.model.outward())
    reparameterized = system.reparameterized if changes else lambda q, v: (q, v)
    while row < len(times) and solver.t < end:
        if not solver.step(end):
            raise solver.trials.stopped(options.method, "Its steps have become as short as rounding.")
        if tick is not None:
            tick(solver.t)
        inside = row + int(np.searchsorted(times[row:], solver.t, side="right"))
        if inside > row:
            exact = times[inside - 1] == solver.t  # the end of a step needs no interpolation
            last = inside - exact
            if last > row:
                between = times[row:last]
                states = reparameterized(*solver.interpolant()(between))
                Q[row:last], V[row:last] = solver.system.closed(*states, between)
            if exact:
                Q[last], V[last] = solver.q, solver.v
            if keep is not None:
                for t, q, v in zip(times[row:inside].tolist(), Q[row:inside], V[row:inside], strict=True):
                    keep(t, q, v, True)
            row = inside
        if keep is not None:
            keep(solver.t, solver.q, solver.v, False)
    return AdaptiveSolution(Q[:row], V[:row], solver.evaluations, solver.steps, solver.rejections, passages)
