"""The classical Runge-Kutta method on the manifold of the joint positions (Munthe-Kaas form)."""

from __future__ import annotations

import numpy as np

from kinetree.integrators.kernels import RUNGE_KUTTA_STAGE, RUNGE_KUTTA_SUM


class RungeKutta4:
    """Classical Runge-Kutta method of order 4, also for spherical and free joints.

    Within a step the position is q_n (+) xi: the unknowns (xi, v) live in a vector space, where the classical method
    applies unchanged, and xi' = T(xi)^-1 v with the tangent map of the joints (the inverse right Jacobian of the
    exponential; the identity for hinges and slides). The step ends with q_{n+1} = q_n (+) xi.

    Parameters
    ----------
    system : System
        The dynamics.

    Notes
    -----
    Source: H. Munthe-Kaas, "High order Runge-Kutta methods on manifolds", Applied Numerical Mathematics 29 (1999), with
    the exact inverse of the tangent map instead of its truncated series.

    Cost: four forward dynamics per step.
    """

    name = "rk4"
    algorithm = "rk4_step"  # the step under constant forces, for rollouts
    order = 4
    internal_states = True
    explicit = True  # forces that are stiff must be resolved by the step

    def __init__(self, system) -> None:
        self._stage = system.function(RUNGE_KUTTA_STAGE, checks=False)
        self._sum = system.function(RUNGE_KUTTA_SUM, checks=False)
        self._rest = np.zeros(system.model.nv), np.zeros(system.model.nw)
        self._end_time = system.end_time if system.model.has_given_motions else None
        self._h, self._h_arrays = None, None

    def step(self, t, h, q, v, tau, f_ext):
        """Advance (q, v) from time t [s] by h [s]; ``tau(t)`` is an array, ``f_ext(t)`` a tuple of one or none."""
        if h != self._h:  # compiled functions take arrays; the step is almost always the same
            self._h, self._h_arrays = h, (np.array(0.0), np.array(h / 2), np.array(h))
        none, half, full = self._h_arrays
        middle, end = t + h / 2, t + h
        tau_middle, f_middle = tau(middle), f_ext(middle)
        x1, a1 = self._stage(q, v, *self._rest, tau(t), none, *f_ext(t))
        x2, a2 = self._stage(q, v, x1, a1, tau_middle, half, *f_middle)
        x3, a3 = self._stage(q, v, x2, a2, tau_middle, half, *f_middle)
        x4, a4 = self._stage(q, v, x3, a3, tau(end), full, *f_ext(end))
        now = self._end_time(end) if self._end_time else ()
        return self._sum(q, v, full, x1, a1, x2, a2, x3, a3, x4, a4, *now)
