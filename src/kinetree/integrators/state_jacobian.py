"""The Jacobian of the state's rate, d(q', v') / d(q, v), in closed form, for the solvers of SciPy and SUNDIALS.

The dynamics give ``da = - M^-1 (dr/dq dq + dr/dv dv)`` with the slopes r of inverse dynamics, couplings eliminated. A
displacement along the manifold is ``N^+ dq``, N the matrix of ``q_dot``; along the length of a quaternion nothing
changes, as the solvers' right-hand side normalizes.
"""

from __future__ import annotations

import numpy as np

from kinetree.algorithms.couplings import coupling_columns
from kinetree.compiler.derivative_functions import differentiate
from kinetree.integrators.implicit import FORCE_SLOPES

DISTURBANCE = 1e-7  # relative, by which the slope of a controller is measured


class StateJacobian:
    """Jacobians of a system's dynamics at a state.

    Parameters
    ----------
    system : System
    tau : callable
        ``tau(t, q, v)``, the joint forces; a controller's slopes are measured by differences, one call for each entry.
    f_ext : callable
        ``f_ext(t)``, a tuple of the external wrenches or of nothing.
    """

    def __init__(self, system, tau, f_ext) -> None:
        model = system.model
        self._system, self._tau, self._f_ext = system, tau, f_ext
        self._slopes = system.function(FORCE_SLOPES, checks=False)
        key = ("state_jacobian", "q_dot")
        self._rate = model.functions.get(key) or model.functions.setdefault(
            key, differentiate(model, "q_dot", wrt=("q", "v"), tangent=False, checks=False)
        )
        self._G = None
        if model.constraints:
            columns = coupling_columns(model)
            self._G = np.zeros((model.nv, len(columns)))
            for n, column in enumerate(columns):
                for k, ratio in column:
                    self._G[k, n] = ratio

    def rates(self, q, v):
        """The slopes of ``q_dot`` in the entries of q and in v."""
        return self._rate(q, v)

    def force_slopes(self, t: float, q, v, a):
        """``dr/dq`` along the manifold, ``dr/dv``, M and the slopes of tau in the entries of q and in v."""
        slopes = self._slopes(q, v, a, *self._f_ext(t))
        return slopes.dr_dq, slopes.dr_dv, slopes.M, *self._feedback(t, q, v)

    def at(self, t: float, q, v, a) -> np.ndarray:
        """The matrix d(q', v') / d(q, v), with the entries of q one by one, shape (nq + nv, nq + nv).

        Parameters
        ----------
        t : float
            Time [s].
        q, v, a : (nq,), (nv,), (nv,) array
            The state, its quaternions unit, and its acceleration.
        """
        nq = len(q)
        by_q, N = self.rates(q, v)
        dr_dq, dr_dv, M, tau_q, tau_v = self.force_slopes(t, q, v, a)
        J = np.empty((nq + len(v), nq + len(v)))
        J[:nq, :nq], J[:nq, nq:] = by_q, N
        J[nq:, :nq] = self._accelerations(M, tau_q - dr_dq @ np.linalg.pinv(N))
        J[nq:, nq:] = self._accelerations(M, tau_v - dr_dv)
        return J

    def _accelerations(self, M, forces):
        """Accelerations under joint forces."""
        G = self._G
        return np.linalg.solve(M, forces) if G is None else G @ np.linalg.solve(G.T @ M @ G, G.T @ forces)

    def _feedback(self, t, q, v):
        """Slopes of tau; zeros for forces that depend on time alone."""
        rest = np.array(self._tau(t, q, v))
        blocks = []
        for k, state in enumerate((q, v)):
            columns = np.empty((len(v), len(state)))
            for j in range(len(state)):
                perturbed = np.array(state)
                perturbed[j] += DISTURBANCE * max(1.0, abs(state[j]))
                other = self._tau(t, *((perturbed, v) if k == 0 else (q, perturbed)))
                columns[:, j] = (other - rest) / (perturbed[j] - state[j])
            blocks.append(columns)
        return blocks
