"""The backward differentiation formula of order 2 on the manifold, for any sequence of steps."""

from __future__ import annotations

import numpy as np

from kinetree.integrators.memory import Memory
from kinetree.integrators.newton import Newton


class BDF2:
    """Three points through the velocities, two steps through the positions: order 2, stiff vibrations are damped away.

    With the ratio ``w = h / h_before``, ``e = w^2 / (1 + 2 w)`` and ``b = (1 + w) / (1 + 2 w)``,

        v+ = v + e (v - v_before) + b h a+,      q+ = q (+) xi,   xi = e xi_before + b h v+,

    where xi_before led to q and a+ obeys the dynamics at the end of the step. The first step, and the first after a
    reset of the state, is one of implicit Euler: its error of order h^2 is made once.

    Parameters
    ----------
    system : System
        The dynamics.

    Notes
    -----
    Source: Hairer, Noersett, Wanner (1993), section III.5; Wieloch, Arnold (2021), "BDF integrators for constrained
    mechanical systems on Lie groups". The steps xi and h v (t + h/2) differ by commutators of third order, as their
    difference from step to step is of fourth order, the method of two steps keeps order 2. Strongly stable for w < 2.4;
    A-stable and damping at infinity for constant steps.
    Loops are kept closed in position, as by `GeneralizedAlpha`, with multipliers of order 1 after the first step.
    It uses the last step, so it has no step algorithm for rollouts.
    """

    name = "bdf2"
    algorithm = None  # a step needs the one before
    order = 2
    keeps_loops = internal_states = True

    def __init__(self, system) -> None:
        self._newton, self._memory = Newton(system, self.name), Memory()
        self._rest, self._end_time, self._nv = np.zeros(system.model.nw), system.end_time, system.model.nv
        self.multipliers = None  # in models with loops, those at both ends of the last step
        self.reset, self.get_state, self.set_state = self._memory.clear, self._memory.get_state, self._memory.set_state

    def step(self, t, h, q, v, tau, f_ext):
        """Advance (q, v) from time t [s] by h [s]; ``tau(t)`` is an array, ``f_ext(t)`` a tuple of one or none."""
        past = self._memory.at(t, h, q, v)
        if past is None:
            w0, ahead, b, a, before = v, 0.0, 1.0, self._rest, self._newton.multipliers
        else:
            v_before, xi_before, h_before, a, before = past
            w = h / h_before
            e, b = w * w / (1.0 + 2.0 * w), (1.0 + w) / (1.0 + 2.0 * w)
            w0, ahead = v + e * (v - v_before), e * xi_before
        w1, end, nv = b * h, t + h, self._nv
        x0 = ahead + w1 * w0[:nv]
        self._newton.multipliers = before
        a = self._newton.solve(end, q, x0, w0, a, tau(end), w1 * w1, w1, f_ext(end))
        self.multipliers = self._newton.multipliers if past is None else before, self._newton.multipliers
        xi, v_next = x0 + (w1 * w1) * a[:nv], w0 + w1 * a
        q_next, v_regular = self._newton.end(q, xi, v_next, *self._end_time(end))
        if self._newton.in_same_charts(v_next, v_regular):
            self._memory.keep(end, q_next, v_regular, (v, xi, h, a, self._newton.multipliers))
        else:  # another chart: the stored data are in coordinates of the old one
            self._memory.clear()
        return q_next, v_regular
