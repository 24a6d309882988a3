"""Linearly implicit Euler with constraints on the new velocities, as the time step of REDMAX."""

from __future__ import annotations

import numpy as np
from scipy.optimize import nnls

from kinetree.algorithms.crba import crba
from kinetree.algorithms.force_slopes import gauss_newton_damping, gauss_newton_stiffness
from kinetree.algorithms.passive import passive_joint_forces
from kinetree.algorithms.rnea import bias_forces
from kinetree.analysis.assemble import assemble
from kinetree.compiler.calls import public_call
from kinetree.integrators.kernels import part
from kinetree.integrators.system import System
from kinetree.redmax.constrained import velocities
from kinetree.redmax.rows import Rows


def velocity_terms(model, q, v):
    """Mass matrix, slopes K and D of the passive forces (Gauss-Newton), and all forces without damping."""
    forces = zip(passive_joint_forces(model, q, [0.0] * model.nv), bias_forces(model, q, v), strict=True)
    K, D = gauss_newton_stiffness(model, q, v), gauss_newton_damping(model, q, v)
    return crba(model, q), K, D, [f - bias for f, bias in forces]


TERMS = part("velocity_terms", velocity_terms, "q[nq] v[nv]", "M[nv,nv] K[nv,nv] D[nv,nv] f[nv]")


class VelocityEuler:
    """``(M + h D + h^2 K) v+ + G^T l = M v + h f``, ``G v+ = -g_dot - gain g``, ``q+ = q + h v+``.

    f are gravity, Coriolis, elastic and applied forces; dampers act through D alone. Inequalities ``C v+ <= -gain c``
    join where they are violated without them.

    Parameters
    ----------
    scene : Scene
        Its tree, rows and torques.

    Notes
    -----
    Source: Sueda, eq. 2.19-2.20, 2.72-2.79 and 2.98-2.105; the time step of the MATLAB code of Wang et al. (2019).
    Forces that depend on time are those of the step's end. The inequalities are a quadratic program whose dual is
    solved by nonnegative least squares. Differs from "linearly_implicit": slopes of gravity and Coriolis forces are
    left out, rows hold on velocities alone, and K v is not part of the right-hand side, since the unknown is v+.
    """

    def __init__(self, scene) -> None:
        self.scene, self.model = scene, scene.tree
        self._terms = System(self.model).function(TERMS, checks=False)

    def states(self):
        """Times, positions and velocities of the whole run."""
        (q, v), h = self.scene.start, self.scene.dt
        steps = round(self.scene.duration / h)
        found = [(q, v)]
        for n in range(1, steps + 1):
            q, v = public_call("reparameterize")(self.model, q, v)
            v = self.velocity(q, v, n * h, h)
            q = q + h * v
            found.append((q, v))
        found[-1] = public_call("reparameterize")(self.model, q, v)
        return h * np.arange(steps + 1), *map(np.array, zip(*found, strict=True))

    def velocity(self, q, v, t: float, h: float):
        """v+ of the step that ends at time t [s]."""
        M, K, D, f = self._terms(q, v)
        A = M + h * D if self.scene.explicit_springs else M + h * D + h * h * K
        b = M @ v + h * (f + self.scene.tau(t) + self.slip(D, v))
        rows = [row(self.model, q, t) for row in self.scene.rows if not hasattr(row, "is_bound")]
        bounds = [row(self.model, q, t) for row in self.scene.rows if hasattr(row, "is_bound")]
        G, g = _stacked(rows, self.model.nv, self.scene.gain)
        C, c = _stacked(bounds, self.model.nv, self.scene.gain)
        return _constrained(A, b, G, g, C, c)

    def slip(self, D, v):
        """Forces of errors of the source, none here."""
        return np.zeros_like(v)


class ReducedEuler(VelocityEuler):
    """The same step by `kinetree.redmax.velocities`."""

    def velocity(self, q, v, t: float, h: float):
        rows = []
        for row in self.scene.rows:
            G, g, rate = row(self.model, q, t)
            sign = -1.0 if hasattr(row, "is_bound") else 1.0  # C v <= c as -C v >= -c
            rows.append(Rows(sign * G, target=sign * (-rate - self.scene.gain * g), inequality=sign < 0.0))
        slopes, tau = "gauss_newton" if has_slopes(self.scene) else None, self.scene.tau(t)
        if slopes:
            tau = tau + self.slip(self._terms(q, v)[2], v)
        return velocities(self.model, q, v, tau, [r for r in rows if len(r)], dt=h, slopes=slopes).values


def has_slopes(scene) -> bool:
    """Whether stiffness or damping is part of the matrix of the step."""
    elastic = [force for force in scene.tree.forces if force.kind not in ("point_force", "soft_stop")]
    return bool(elastic) and not scene.explicit_springs


def consistent_start(scene) -> tuple[np.ndarray, np.ndarray]:
    """The start of a scene where the constraints of its model hold: positions assembled, velocities after impulses."""
    q, v = scene.start
    if not scene.assembled:
        return q, v
    q = assemble(scene.model, q)
    return q, VelocityEuler(scene).velocity(q, v, 0.0, 0.0)


def _stacked(rows, nv: int, gain: float):
    G = np.concatenate([np.zeros((0, nv)), *(G for G, _, _ in rows)])
    return G, np.concatenate([np.zeros(0), *(-rate - gain * g for _, g, rate in rows)])


def _constrained(A, b, G, g, C, c):
    """x of least ``x^T A x / 2 - b^T x`` with ``G x = g`` and ``C x <= c``."""
    n, m = len(b), len(g)
    saddle = np.block([[A, G.T], [G, np.zeros((m, m))]])
    x, response = (
        np.linalg.solve(saddle, right)[:n]
        for right in (np.concatenate((b, g)), np.concatenate((C.T, np.zeros((m, len(c))))))
    )
    if not np.any(C @ x > c):
        return x
    L = np.linalg.cholesky(C @ response)  # of the dual, min |L^T y - L^-1 (C x - c)|, y >= 0
    return x - response @ nnls(L.T, np.linalg.solve(L, C @ x - c))[0]
