"""The position of a joint whose transform is known, by the joint's motions alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinetree.liegroup.so3 import log_so3
from kinetree.spatial import Motion, Transform

NEWTON, STARTS, CLOSE = 40, 24, 1e-6


def position_at(joint, X: Transform, start: Sequence | None = None) -> tuple[list, float]:
    """The position at which a joint's transform is X, or nearest to it; and the error there [rad or m].

    Parameters
    ----------
    joint : Joint
    X : Transform
        From predecessor to successor coordinates, in floats or in extended precision.
    start : sequence of nq floats, optional
        Where the search begins; the neutral position by default.

    Notes
    -----
    Newton's method: with ``X = (1 - d x) X_J(q)`` the step along the velocities is ``S^+ d``. It ends at the first
    error below 1e-6, at the rounding of X; where it does not, it begins again at random positions.
    """
    rng, best = np.random.default_rng(0), None
    for n in range(STARTS):
        q = joint.random(rng) if n else joint.neutral() if start is None else list(start)
        error = _error(joint, X, q)
        for _ in range(NEWTON):
            step = nearest_velocity(joint, q, error.astype(float))
            size = float(np.abs(step).max(initial=0.0))
            after = joint.integrate(q, [float(x) * min(1.0, 1.0 / max(size, 1e-300)) for x in step])
            found = _error(joint, X, after)
            if size < 1e-6 and not np.abs(found).max() < np.abs(error).max():
                break  # at the rounding of X
            q, error = after, found
        if best is None or np.abs(error).max() < np.abs(best[1]).max():
            best = q, error
        if np.abs(best[1]).max() < CLOSE:
            break
    return best[0], float(np.abs(best[1]).max())


def nearest_velocity(joint, q: Sequence, V) -> np.ndarray:
    """The velocity v with S v = V, or the nearest to it, V the relative twist in successor coordinates."""
    S = np.array([list(map(float, column)) for column in joint.motion_subspace(q)]).reshape(-1, 6).T
    return np.linalg.lstsq(S, np.array(list(V), dtype=float), rcond=1e-9)[0] if joint.nv else np.zeros(0)


def _error(joint, X: Transform, q) -> np.ndarray:
    """d of ``X = (1 - d x) X_J(q)``: the successor's displacement from X_J(q), in successor coordinates."""
    E = X @ joint.transform(q).inverse()
    return np.array([*Motion(log_so3(E.E), E.E @ E.r)])
