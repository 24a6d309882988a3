"""Accelerations of coupled systems under given forces: only the masses of attached nodes couple nodes and joints."""

from __future__ import annotations

import numpy as np

from kinetree.deformables.rigid import TERMS, Load
from kinetree.deformables.system import CoupledSystem, State


def accelerations(
    scene: CoupledSystem, state: State, load: Load, h: float | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Accelerations of joints (nv,) and free nodes (nf, 3) under the forces of a state with attached nodes in place.

    Rows of constraints hold for accelerations, or for velocities after a step of h seconds.
    """
    nodes, rigid = scene.elements, scene.rigid
    f = nodes.forces(state.x, state.u) + nodes.weight
    free = nodes.free
    du = f[free] / nodes.masses[free, None]
    if rigid is None:
        return np.zeros(0), du
    frames = rigid.kinematics(state.q)
    J = scene.points.jacobian(frames.R, frames.J).reshape(-1, len(state.v))
    mass = nodes.masses[nodes.attached, None]
    f = f[nodes.attached] - mass * scene.bias(state, frames)
    M, force, _, _ = rigid.terms(TERMS, (state.q, state.v), load)
    M = M + J.T @ (np.repeat(mass, 3, axis=0) * J)
    rows = rigid.rows(state.q, state.v)
    Z, particular = null_space(rows.G, rows.k if h is None else -rows.rate / h)
    y = np.linalg.solve(Z.T @ M @ Z, Z.T @ (force + J.T @ f.ravel() - M @ particular))
    return particular + Z @ y, du


def null_space(rows: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A basis Z of the null space of independent rows (nv, nv - nc), and the least solution of ``rows x = right``."""
    nc, nv = rows.shape
    if not nc:
        return np.eye(nv), np.zeros(nv)
    Q, R = np.linalg.qr(rows.T, mode="complete")
    return Q[:, nc:], Q[:, :nc] @ np.linalg.solve(R[:nc].T, right)
