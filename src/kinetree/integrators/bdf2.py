"""The backward differentiation formula of order 2 on the manifold, for any sequence of steps."""

from __future__ import annotations

import math

import numpy as np

from kinetree.algorithms.complete import COMPLETE
from kinetree.algorithms.manifold import integrate, may_change_chart
from kinetree.algorithms.projection import has_loops
from kinetree.errors import UnsupportedError
from kinetree.integrators.implicit import UNSOLVED, solved_rates
from kinetree.integrators.kernels import END, FORCES, axpy, finished, part
from kinetree.integrators.matrix_free_newton import newton_of
from kinetree.integrators.memory import Memory
from kinetree.spatial.scalar import where

MEMORY = "w_ahead[nw] xi_ahead[nv] part[#1]"  # v+ = v + w_ahead + part h a+, xi = xi_ahead + part h v+
SDIRK = 1.0 - math.sqrt(0.5)  # the coefficient of both stages of SDIRK2: order 2, and damping at infinity


def bdf2_start(model, q, v, tau, dt, f_ext=None, u=None, w_ahead=None):
    """The part of the first step that is known when its first stage is solved: that of SDIRK2.

    Around the solution for adjoints (`solved_rates`), if ``w_ahead`` of it is given.
    """
    refuse_charts(model)
    h, rest = SDIRK * dt, (1.0 - SDIRK) * dt
    stage = None if w_ahead is None else [v_k + (h / rest) * w for v_k, w in zip(v, w_ahead, strict=True)]
    a, change = solved_rates(model.after(h), q, v, [0.0] * model.nv, h, tau, f_ext, u, stage)
    w = axpy(v, a, h)
    ahead = [where(change < UNSOLVED, rest * a_k, float("inf")) for a_k in a]
    return ahead, [rest * v_k for v_k in w[: model.nv]], [SDIRK]


def bdf2_step(model, q, v, w_ahead, xi_ahead, part, tau, dt, f_ext=None, u=None, v_end=None):
    """One step, and the part of the next one that is known then; around its end for adjoints (`solved_rates`)."""
    h, end, w0 = part[0] * dt, model.after(dt), [v_k + w for v_k, w in zip(v, w_ahead, strict=True)]
    a, change = solved_rates(end, q, w0, xi_ahead, h, tau, f_ext, u, v_end)
    w = [where(change < UNSOLVED, w_k + h * a_k, float("inf")) for w_k, a_k in zip(w0, a, strict=True)]
    xi = [x + h * v_k for x, v_k in zip(xi_ahead, w, strict=False)]
    q_next, w_next = finished(end, integrate(model, q, xi), w)
    ahead = [(1.0 / 3.0) * (b - a) for a, b in zip(v, w_next, strict=True)]
    return q_next, w_next, ahead, [(1.0 / 3.0) * x for x in xi], [2.0 / 3.0]


def refuse_charts(model) -> None:
    """Raise an error for models whose coordinates may change from step to step, or are projected."""
    if has_loops(model):
        raise UnsupportedError(
            f"rollouts by 'bdf2' take no loops, and model {model.name!r} has some. Take 'bdf1', or kinetree.simulate.",
            integrator="bdf2",
        )
    for i in model.outward():
        if may_change_chart(model, i):
            raise UnsupportedError(
                f"rollouts by 'bdf2' take no joints that change their coordinates, such as {model.joint_name(i)!r} "
                f"({model.joints[i]!r}): a step needs the one before in the same. Take 'bdf1', or kinetree.simulate.",
                integrator="bdf2",
                joint=model.joint_name(i),
            )


_START = "q[nq] v[nw] tau[nv] dt"
START = part("bdf2_start", bdf2_start, _START, MEMORY, FORCES, domains=COMPLETE)
START_AROUND_END = part(
    "bdf2_start_around_end", bdf2_start, f"{_START} w_ahead[nw]", MEMORY, FORCES, domains=COMPLETE
)  # fmt: skip
_INPUTS = f"q[nq] v[nw] {MEMORY} tau[nv] dt"
_OUTPUTS = f"{END} w_ahead_next[nw] xi_ahead_next[nv] part_next[#1]"
STEP = part("bdf2_step", bdf2_step, _INPUTS, _OUTPUTS, FORCES, domains=COMPLETE)
AROUND_END = part("bdf2_around_end", bdf2_step, f"{_INPUTS} v_end[nw]", _OUTPUTS, FORCES, domains=COMPLETE)


class BDF2:
    """Three points through the velocities, two steps through the positions: order 2, stiff vibrations are damped away.

    With the ratio ``w = h / h_before``, ``e = w^2 / (1 + 2 w)`` and ``b = (1 + w) / (1 + 2 w)``,

        v+ = v + e (v - v_before) + b h a+,      q+ = q (+) xi,   xi = e xi_before + b h v+,

    where xi_before led to q and a+ obeys the dynamics at the end of the step. The first step, and the first after a
    reset of the state, is one of SDIRK2, two stages of implicit Euler's form: with ``g = 1 - sqrt(1/2)``,

        v_s = v + g h a_s,                       xi_s = g h v_s,
        v+ = v + (1 - g) h a_s + g h a+,         xi = (1 - g) h v_s + g h v+.

    Parameters
    ----------
    system : System
        The dynamics.
    solver : {"direct", "conjugate_gradients"}
        Of Newton's equations, as for `kinetree.integrators.BDF`.

    Notes
    -----
    Source: Hairer, Noersett, Wanner (1993), section III.5; Wieloch, Arnold (2021), "BDF integrators for constrained
    mechanical systems on Lie groups"; Alexander (1977) for SDIRK2. The steps xi and h v (t + h/2) differ by commutators
    of third order, as their difference from step to step is of fourth order, the method of two steps keeps order 2.
    Strongly stable for w < 2.4; A-stable and damping at infinity for constant steps.
    Loops are kept closed in position, as by `GeneralizedAlpha`, with multipliers of order 1 after the first step.
    Rollouts take `STEP`, with a fixed number of corrections and the last step as a part of the state, which `START`
    makes; not of models with loops, or with joints that change their coordinates.
    """

    name = "bdf2"
    algorithm, start = STEP, START  # the step under constant forces, for rollouts, and its memory at the start
    around_end, start_around_end = AROUND_END, START_AROUND_END  # for their adjoints
    order = 2
    keeps_loops = internal_states = True

    def __init__(self, system, solver: str = "direct") -> None:
        self._newton, self._memory = newton_of(solver, system, self.name), Memory()
        self._rest, self._end_time, self._nv = np.zeros(system.model.nw), system.end_time, system.model.nv
        self.multipliers = None  # in models with loops, those at both ends of the last step
        self.reset, self.get_state, self.set_state = self._memory.clear, self._memory.get_state, self._memory.set_state

    def step(self, t, h, q, v, tau, f_ext):
        """Advance (q, v) from time t [s] by h [s]; ``tau(t)`` is an array, ``f_ext(t)`` a tuple of one or none."""
        past = self._memory.at(t, h, q, v)
        if past is None:
            w0, ahead, b, a, before = *self._stage(t, h, q, v, tau, f_ext), self._newton.multipliers
        else:
            v_before, xi_before, h_before, a, before = past
            w = h / h_before
            e, b = w * w / (1.0 + 2.0 * w), (1.0 + w) / (1.0 + 2.0 * w)
            w0, ahead = v + e * (v - v_before), e * xi_before
        self._newton.multipliers = before
        end = t + h
        a, xi, v_next = self._solved(end, b * h, q, w0, ahead, a, tau, f_ext)
        self.multipliers = self._newton.multipliers if past is None else before, self._newton.multipliers
        q_next, v_regular = self._newton.end(q, xi, v_next, *self._end_time(end))
        if self._newton.in_same_charts(v_next, v_regular):
            self._memory.keep(end, q_next, v_regular, (v, xi, h, a, self._newton.multipliers))
        else:  # another chart: the stored data are in coordinates of the old one
            self._memory.clear()
        return q_next, v_regular

    def _stage(self, t, h, q, v, tau, f_ext):
        """Velocities and step before the second stage of SDIRK2, its coefficient, and the first stage's rates."""
        a, _, v_stage = self._solved(t + SDIRK * h, SDIRK * h, q, v, 0.0, self._rest, tau, f_ext)
        rest = (1.0 - SDIRK) * h
        return v + rest * a, rest * v_stage[: self._nv], SDIRK, a

    def _solved(self, t, w1, q, w0, ahead, a, tau, f_ext):
        """Rates at t [s], and step and velocities there: ``v = w0 + w1 a``, ``xi = ahead + w1 v``."""
        nv = self._nv
        x0 = ahead + w1 * w0[:nv]
        a = self._newton.solve(t, q, x0, w0, a, tau(t), w1 * w1, w1, f_ext(t))
        return a, x0 + (w1 * w1) * a[:nv], w0 + w1 * a
