"""Loops that cannot close: their least error of position, and the exception that names them."""

from __future__ import annotations

import numpy as np

from kinetree.errors import ConstraintError

STEPS = 80
STATIONARY = 1e-5  # of the largest possible slope of the error: positions where it has a minimum


def least_errors(model, equations, moved, q, rows, columns) -> tuple[np.ndarray, np.ndarray, bool]:
    """Positions of least error of some rows by the method of Levenberg and Marquardt.

    Parameters
    ----------
    model : Model or ScalarModel
    equations, moved : callable
        ``equations(q)``: errors (samples, rows) and rows (samples, rows, nv); ``moved(q, step)``: positions.
    q : (samples, nq) array
        Where to start.
    rows, columns : array
        The rows, and the velocity coordinates to change.

    Returns
    -------
    q : (nq,) array
        The best position.
    errors : (rows,) array
        There.
    stationary : bool
        Whether they have a minimum there.
    """
    phi, G = (x[:, rows] for x in equations(q))
    J, eye = G[:, :, columns], np.eye(len(columns))
    damping = np.full(len(q), 1e-3)
    for _ in range(STEPS):
        gradient = np.einsum("srk,sr->sk", J, phi)
        H = np.einsum("srk,srm->skm", J, J) + damping[:, None, None] * eye
        step = np.zeros((len(q), model.nv))
        step[:, columns] = -np.linalg.solve(H, gradient[:, :, None])[:, :, 0]
        there = moved(q, step)
        phi_there, G_there = (x[:, rows] for x in equations(there))
        better = (phi_there**2).sum(axis=1) < (phi**2).sum(axis=1)
        damping = np.clip(np.where(better, damping / 4.0, damping * 4.0), 1e-12, 1e6)
        q = np.where(better[:, None], there, q)
        phi = np.where(better[:, None], phi_there, phi)
        J = np.where(better[:, None, None], G_there[:, :, columns], J)
    size = np.linalg.norm(phi, axis=1)
    best = int(np.argmin(np.where(np.isfinite(size), size, np.inf)))
    slope = np.linalg.norm(J[best].T @ phi[best])
    stationary = slope <= STATIONARY * size[best] * max(np.linalg.norm(J[best], 2), 1e-12)
    return q[best], phi[best], bool(stationary)


def cannot_close(model, misfits: dict, alone: list) -> ConstraintError:
    """The error for constraints that cannot hold together.

    Parameters
    ----------
    model : Model or ScalarModel
    misfits : dict
        For each of them its largest error of position [m or rad], where all together have the least.
    alone : list of (Constraint, float)
        Those that cannot hold even without the others, and by how much.
    """
    if alone:
        c, misfit = alone[0]
        return ConstraintError(
            f"model {model.name!r}: the {c} cannot close: at every position of its joints it is off by {misfit:.3g} m "
            "or rad or more. Check the lengths of the links, the placements of its two frames (X_P and X_S) and its "
            "axis.",
            constraint=str(c),
            residual=misfit,
        )
    listed = ", ".join(f"{c} by {x:.3g}" for c, x in misfits.items())
    return ConstraintError(
        f"model {model.name!r}: constraints contradict each other: each can hold by itself, together they are off at "
        f"every position, the least being {listed} (m or rad). Leave one out, or correct lengths and placements.",
        constraints=tuple(map(str, misfits)),
        residual=max(misfits.values()),
    )
