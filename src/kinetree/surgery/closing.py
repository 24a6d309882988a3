"""The position and velocity of a joint from those of the two bodies that it connects."""

from __future__ import annotations

import numpy as np

from kinetree.errors import ModelError
from kinetree.joints import Joint
from kinetree.liegroup.se3 import log_se3
from kinetree.spatial import Motion, Transform

STEPS = 50
TRIES = 20
CLOSED = 1e-6  # [rad, m]: the same as for couplings
CONVERGED = 1e-14


def joint_coordinates(joint: Joint, X: Transform, what: str) -> list[float]:
    """The position q with X_J(q) = X, or the nearest to it.

    Parameters
    ----------
    joint : Joint
    X : Transform
        From the joint's predecessor frame to its successor frame, as floats.
    what : str
        Opens the message of an error.

    Raises
    ------
    ModelError
        If the joint cannot reach X: what remains is more than 1e-6 rad or m.

    Notes
    -----
    Newton's method on the manifold: with the error u = log(X X_J^-1), q moves by the dv for which S dv is nearest to
    u. It starts at the neutral position, then, where that fails, at random ones.
    """
    rng = np.random.default_rng(0)
    best, least = joint.neutral(), np.inf
    for attempt in range(TRIES):
        q = [float(x) for x in (joint.neutral() if attempt == 0 else joint.random(rng))]
        for _ in range(STEPS):
            error = np.array(list(log_se3(X @ joint.transform(q).inverse())), dtype=float)
            S = np.array([list(column) for column in joint.motion_subspace(q)], dtype=float).reshape(-1, 6).T
            size = float(np.abs(error).max())
            if size < least:
                best, least = q, size
            # The error is a twist in successor coordinates, where S is.
            dv = np.linalg.lstsq(S, error, rcond=None)[0]
            if not np.all(np.isfinite(dv)) or np.abs(dv).max(initial=0.0) < CONVERGED:
                break
            q = [float(x) for x in joint.normalize(joint.integrate(q, dv.tolist()))]
        if least < CLOSED:
            return best
    raise ModelError(
        f"{what}: its bodies are {least:.3g} [rad, m] away from what {joint!r} allows; the loop must be closed "
        "before its state can be mapped to another tree",
        distance=least,
    )


def joint_rates(joint: Joint, q: list[float], V: Motion) -> np.ndarray:
    """The velocity v with S v = V, or the nearest to it, V the relative velocity in successor coordinates."""
    S = np.array([list(column) for column in joint.motion_subspace(q)], dtype=float).reshape(-1, 6).T
    return np.linalg.lstsq(S, np.array(list(V), dtype=float), rcond=None)[0]
