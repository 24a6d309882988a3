"""Newton's iteration of implicit steps without a matrix: conjugate gradients, and GMRES where these converge slowly."""

from __future__ import annotations

import math

import numpy as np

from kinetree.algorithms.complete import refuse_unsupported
from kinetree.integrators.conjugate_gradients import Equations
from kinetree.integrators.implicit import REST, STEP_END, residual, stage, with_internal_rates
from kinetree.integrators.kernels import FORCES, part
from kinetree.integrators.newton import ENOUGH, EXACT, MOST, Newton, no_convergence

INEXACT = 1e-6  # tolerance of the linear equations: their errors vanish with the iteration
SLOW = 0.25  # of the change before: an iteration that gains less goes on with exact slopes


def _stage_residual(model, q, x0, w0, a, tau, x1, w1, f_ext=None, u=None):
    refuse_unsupported(model, "aba")
    _, Q, w = stage(model, q, x0, w0, a, x1, w1)
    w, a, moved = with_internal_rates(model, Q, w, a, w1, u)
    nv = model.nv
    return Q, w, a, residual(model, Q, w[:nv], a[:nv], tau, f_ext, w[nv:], u), moved


STAGE_RESIDUAL = part(
    "implicit_stage_residual",
    _stage_residual,
    "q[nq] x0[nv] w0[nw] a[nw] tau[nv] x1 w1",
    "Q[nq] w[nw] a_next[nw] r[nv] moved",
    FORCES,
)


class MatrixFreeNewton:
    """Solves as `Newton` does, by products with matrices in O(n) alone.

    The iteration begins with the matrix ``M + h D + h^2 K`` of Gauss-Newton slopes of the passive forces, by conjugate
    gradients. It leaves out the slopes of gravity, of Coriolis forces and of the directions of springs, so it converges
    linearly, the faster the shorter the step. Where an iteration gains less than a factor of four, as under large
    tensions, the step begins again with Newton's iterations: products with the exact derivative of the residual, by
    GMRES with the same preconditioner. Both end as `Newton` does, at rounding.

    Parameters
    ----------
    system : System
        The dynamics of a tree without constraints.
    name : str
        The method, for messages.

    Attributes
    ----------
    iterations : int
        Number of iterations of all steps.

    Notes
    -----
    Source of GMRES: Saad and Schultz (1986), by SciPy.
    """

    has_rows = False

    def __init__(self, system, name: str) -> None:
        self._system, self._name, self.iterations = system, name, 0
        self._equations = Equations(system)
        self._stage = system.function(STAGE_RESIDUAL, checks=False)
        self._exact = system.derivative(STAGE_RESIDUAL, "jvp", ("a",), ("r",))
        self.end = system.function(STEP_END, checks=False)
        self.multipliers = np.zeros(0)

    def in_same_charts(self, v, v_regular) -> bool:
        """Whether no joint changed its coordinates at the end of a step."""
        return np.array_equal(v, v_regular)

    def solve(self, t: float, q, x0, w0, a, tau, x1: float, w1: float, f_ext: tuple):
        """The accelerations, from the guess a; t [s] is the time of the forces, for messages.

        Raises
        ------
        SimulationError
            The iteration does not converge; names the joint, the time and the residual.
        """
        x1, h, previous, nv = np.array(x1), np.array(w1), math.inf, len(tau)
        start, exact = a, False
        for n in range(1, MOST + 1):
            given = q, x0, w0, a, tau, x1, h, *f_ext
            Q, w, a, r, moved = self._stage(*given)
            self.iterations += 1
            speed = np.abs(w[:nv]).max(initial=0.0) + REST
            if not np.isfinite(speed):
                raise no_convergence(self._system, self._name, t, n, w[:nv], r)
            if exact:
                delta = self._newton_step(given, Q, w, h, r, f_ext)
            else:
                delta, _ = self._equations.solve(Q, w, h, r, f_ext, INEXACT, np.zeros(nv), t)
            a = np.concatenate((a[:nv] - delta, a[nv:]))
            change = max(w1 * np.abs(delta).max(initial=0.0) / speed, float(moved))
            if change <= EXACT or (change <= ENOUGH and change >= 0.5 * previous):
                return a
            if n == MOST or (exact and not math.isfinite(change)):
                raise no_convergence(self._system, self._name, t, n, w1 * delta, r)
            if not exact and not change <= SLOW * previous:
                exact, a, change = True, start, math.inf
            previous = change

    def _newton_step(self, given: tuple, Q, w, h, r, f_ext: tuple) -> np.ndarray:
        """The solution of ``dr/da x = r`` at the iterate ``given``."""
        from scipy.sparse.linalg import LinearOperator, gmres

        n, still = len(r), np.zeros(len(given[3]) - len(r))
        matrix = LinearOperator((n, n), lambda y: self._exact(*given, np.concatenate((y, still))), dtype=float)
        preconditioner = LinearOperator((n, n), self._equations.preconditioner(Q, w, h, f_ext), dtype=float)
        # Where it does not converge, the iteration of the step goes on from the best that it found.
        return gmres(matrix, r, M=preconditioner, rtol=INEXACT, restart=min(n, MOST), maxiter=2)[0]


def newton_of(solver: str, system, name: str, projected: bool = False):
    """Newton's iteration with a solver of its linear equations, "direct" or "conjugate_gradients"."""
    return Newton(system, name, projected) if solver == "direct" else MatrixFreeNewton(system, name)
