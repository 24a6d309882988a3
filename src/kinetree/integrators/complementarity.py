"""Boxed linear complementarity problems: bounded impulses that keep velocities at zero, or slide at a bound."""

from __future__ import annotations

import numpy as np

from kinetree.errors import SimulationError

LOWER, STICKING, UPPER = -1, 0, 1
PATIENCE = 3  # exchanges of whole blocks without progress, before one variable at a time
ROUNDING = 64.0 * np.finfo(float).eps


def boxed_impulses(W, u, lower, upper, guess=None) -> tuple[np.ndarray, np.ndarray]:
    """Impulses x between bounds, and the active bounds.

    With ``w = u + W x``: x is at its lower bound where w > 0, at its upper one where w < 0, and between where w = 0.

    Parameters
    ----------
    W : (n, n) array
        Symmetric and positive definite: velocity by impulse.
    u : (n,) array
        Velocities without the impulses, relative to those to be kept.
    lower, upper : (n,) arrays
        Bounds of the impulses, ``lower < upper``; infinite ones are allowed.
    guess : (n,) array of int, optional
        -1 for at the lower bound, 0 for sticking, 1 for at the upper; as the result of the step before. Default: all
        sticking.

    Returns
    -------
    x : (n,) array
    where : (n,) array of int
        As ``guess``.

    Notes
    -----
    Source: block principal pivoting, Judice and Pires, Computers & Operations Research 21 (1994), with Murty's rule of
    one variable at a time where there is no progress: finite, and the result is that of a linear solve, so sticking
    velocities vanish to rounding, whatever the condition of W. The solution is unique, as W is positive definite.

    Examples
    --------
    A load of 2 sticks with an impulse up to 3, a load of 5 slides on:

    >>> import numpy as np
    >>> W, bounds = np.eye(2), np.array([3.0, 3.0])
    >>> x, where = boxed_impulses(W, np.array([2.0, 5.0]), -bounds, bounds)
    >>> x.tolist(), where.tolist()
    ([-2.0, -3.0], [0, -1])
    """
    n = len(u)
    if n == 1:
        return _single(float(W[0, 0]), float(u[0]), float(lower[0]), float(upper[0]))
    where = np.zeros(n, dtype=int) if guess is None else np.array(guess, dtype=int)
    if not where.any():  # all at rest, as most of the time: one solve
        x = -np.linalg.solve(W, u)
        if (x >= lower).all() and (x <= upper).all():
            return x, where
    where[((where == LOWER) & np.isinf(lower)) | ((where == UPPER) & np.isinf(upper))] = STICKING
    fewest, patience = n + 1, PATIENCE
    for _ in range(50 * (n + 2)):
        x = np.where(where == LOWER, lower, np.where(where == UPPER, upper, 0.0))
        sticking = np.flatnonzero(where == STICKING)
        if len(sticking):
            x[sticking] = -_solved(W[np.ix_(sticking, sticking)], u[sticking] + W[sticking] @ x)
        size = np.abs(u) + np.abs(W) @ np.abs(x)
        w = u + W @ x
        # A sticking impulse on its bound, or a bound's velocity of zero, satisfy both: no choice by rounding.
        slack = ROUNDING * np.abs(x)
        wanted = where.copy()
        wanted[(where == STICKING) & (x < lower - slack)] = LOWER
        wanted[(where == STICKING) & (x > upper + slack)] = UPPER
        wanted[(where == LOWER) & (w < -ROUNDING * size)] = STICKING
        wanted[(where == UPPER) & (w > ROUNDING * size)] = STICKING
        wrong = np.flatnonzero(wanted != where)
        if not len(wrong):
            return np.clip(x, lower, upper), where
        if len(wrong) < fewest:
            fewest, patience = len(wrong), PATIENCE
        else:
            patience -= 1
        if patience < 0:
            wrong = wrong[-1:]
        where[wrong] = wanted[wrong]
    raise SimulationError(
        f"the impulses of {n} joints were not found: their inertia matrix is singular to rounding, or not finite."
    )


def _single(W, u, lower, upper):
    x = -u / W
    if not W > 0.0 or x != x:
        raise SimulationError(f"the impulse of a joint was not found: velocity by impulse is {W}, the velocity {u}.")
    where = LOWER if x < lower * (1.0 + ROUNDING) else UPPER if x > upper * (1.0 + ROUNDING) else STICKING
    return np.array([min(max(x, lower), upper)]), np.array([where])


def _solved(A, b):
    return b / A[0] if len(b) == 1 else np.linalg.solve(A, b)
