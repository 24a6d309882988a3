"""Sets of positive variables of linear complementarity problems, and the values that follow from a set."""

from __future__ import annotations

import numpy as np


def semidefinite(M: np.ndarray) -> bool:
    """Whether the symmetric part of M has no negative eigenvalue, to rounding."""
    values = np.linalg.eigvalsh(M + M.T)
    return bool(values[0] >= -1e-12 * len(M) * max(values[-1], 0.0)) if len(values) else True


def refined(M: np.ndarray, d: np.ndarray, positive: np.ndarray) -> np.ndarray:
    """The variables of the set, of least norm if their block is singular; rounding below zero is cut."""
    x = np.zeros(len(d))
    x[positive] = least_norm(M[np.ix_(positive, positive)], -d[positive])
    return np.maximum(x, 0.0)


def least_norm(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The solution of a square system; of least norm where the matrix is singular."""
    try:
        x = np.linalg.solve(A, b)
        if np.abs(A @ x - b).max(initial=0.0) <= 1e-13 * (np.abs(b).max(initial=0.0) + np.abs(x).max(initial=0.0)):
            return x
    except np.linalg.LinAlgError:
        pass
    return np.linalg.lstsq(A, b, rcond=1e-13)[0]
