"""Positions of loop joints: the q of a joint whose transform is known, by the joint's motions alone."""

from __future__ import annotations

import numpy as np

from kinetree.errors import ConstraintError
from kinetree.liegroup.so3 import log_so3
from kinetree.spatial import Motion, Transform

NEWTON, STARTS, CLOSE = 40, 24, 1e-6


def loop_position(joint, X: Transform) -> list:
    """The position at which a joint's transform is X, up to the error of X.

    Parameters
    ----------
    joint : Joint
    X : Transform
        From predecessor to successor coordinates, in floats or in extended precision.

    Returns
    -------
    list of nq scalars

    Raises
    ------
    ConstraintError
        X is no position of the joint within 1e-6.

    Notes
    -----
    Newton's method: with ``X = (1 - d x) X_J(q)`` the step along the velocities is ``S^+ d``. It starts at the neutral
    position, then at random ones. No implicit form is used, so it checks those.
    """
    rng, best = np.random.default_rng(0), None
    for n in range(STARTS):
        q = joint.neutral() if n == 0 else joint.random(rng)
        error = _error(joint, X, q)
        for _ in range(NEWTON):
            S = np.array([[float(x) for x in column] for column in joint.motion_subspace(q)]).reshape(-1, 6).T
            step = np.linalg.lstsq(S, error.astype(float), rcond=1e-9)[0] if joint.nv else np.zeros(0)
            size = float(np.abs(step).max(initial=0.0))
            after = joint.integrate(q, [float(x) * min(1.0, 1.0 / max(size, 1e-300)) for x in step])
            found = _error(joint, X, after)
            if size < 1e-6 and not np.abs(found).max() < np.abs(error).max():
                break  # at the rounding of X
            q, error = after, found
        if best is None or np.abs(error).max() < np.abs(best[1]).max():
            best = q, error
        if np.abs(best[1]).max() < CLOSE:
            return best[0]
    raise ConstraintError(
        f"{joint!r} is at none of its positions: the nearest that was found is off by "
        f"{float(np.abs(best[1]).max()):.3g} (rad or m), expected 0 within {CLOSE:g}. Is the loop closed?"
    )


def _error(joint, X: Transform, q) -> np.ndarray:
    """d of ``X = (1 - d x) X_J(q)``: the successor's displacement from X_J(q), in successor coordinates."""
    E = X @ joint.transform(q).inverse()
    return np.array([*Motion(log_so3(E.E), E.E @ E.r)])
