"""Nonlinear least squares on a manifold under equations, with adaptive damping, and steps within bounds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

METHODS = ("levenberg_marquardt", "qp")
START = 1e-3  # of the damping, relative to the largest curvature
LEAST = 1e-9  # of the damping, so that steps of redundant joints are the shortest
STILL = 1e-12  # length of a step that ends the search [rad or m]
ROOM = 1e-12  # [rad or m] a coordinate with less room is at its bound
RANK = 1e-8  # of the largest singular value: smaller ones come from equations that others imply


@dataclass(frozen=True)
class Problem:
    """The least ``|r(x)|`` under other equations, with ``r(x (+) d) = r(x) - J d`` to first order.

    Attributes
    ----------
    rows : callable
        ``rows(x) -> r, J``.
    held : callable
        ``held(x)``: the matrix K of the equations, ``K d = 0``; they hold at x.
    moved : callable
        ``moved(x, d)``: x (+) d, at which the equations hold again; None if it leads to no such point.
    room : callable
        ``room(x) -> lower, upper`` of d.
    finished : callable
        Whether x is a solution.
    """

    rows: Callable
    held: Callable
    moved: Callable
    room: Callable
    finished: Callable


def minimize(problem: Problem, x, method: str, most: int, start: float = START):
    """The point to which damped steps lead, and their number.

    Notes
    -----
    Source: H. B. Nielsen (1999); K. Madsen, H. B. Nielsen, O. Tingleff, *Methods for Non-Linear Least Squares Problems*
    (2004), algorithm 3.16: the damping follows the ratio of the decrease to the one that the linear model predicts.
    """
    r, J = problem.rows(x)
    curvature = max((J * J).sum(axis=0).max(initial=0.0), 1e-12)
    damping, growth, step = start * curvature, 2.0, _held_at_bounds if method == METHODS[0] else _quadratic_program
    for n in range(most):
        if problem.finished(x):
            return x, n
        d = step(r, J, problem.held(x), damping, *problem.room(x))
        if not np.linalg.norm(d) > STILL:
            return x, n + 1
        ahead, left = problem.moved(x, d), r - J @ d
        r_ahead, J_ahead = (r, J) if ahead is None else problem.rows(ahead)
        predicted, found = r @ r - left @ left, r @ r - r_ahead @ r_ahead
        if found > 0.0 and predicted > 0.0:
            x, r, J = ahead, r_ahead, J_ahead
            damping = max(damping * max(1.0 / 3.0, 1.0 - (2.0 * found / predicted - 1.0) ** 3), LEAST * curvature)
            growth = 2.0
        else:
            damping, growth = damping * growth, 2.0 * growth
            if not damping < 1e16 * curvature:
                return x, n + 1
    return x, most


def motions(K) -> np.ndarray:
    """An orthonormal basis of the d with ``K d = 0``, as columns."""
    if not len(K):
        return np.eye(K.shape[1])
    _, sizes, V = np.linalg.svd(K)
    return V[int((sizes > RANK * max(sizes.max(initial=0.0), 1e-300)).sum()) :].T


def _held_at_bounds(r, J, K, damping, lower, upper):
    """The damped step, cut at the bounds, where it may break the equations; coordinates that leave bounds are held."""
    held = np.zeros(len(lower), bool)
    d = np.zeros(len(lower))
    for _ in range(len(lower)):
        Z = motions(K[:, ~held])
        A = J[:, ~held] @ Z
        d[held] = 0.0
        d[~held] = Z @ np.linalg.solve(A.T @ A + damping * np.eye(A.shape[1]), A.T @ r)
        pushed = ((lower >= -ROOM) & (d < 0.0)) | ((upper <= ROOM) & (d > 0.0))
        if not (pushed & ~held).any():
            break
        held |= pushed
    return np.clip(d, lower, upper)


def _quadratic_program(r, J, K, damping, lower, upper):
    """The minimum of ``|r - J d|^2 + damping |d|^2`` with ``K d = 0`` and within the bounds.

    Source: C. L. Lawson, R. J. Hanson, *Solving Least Squares Problems* (1974), chapter 23: problem LSI becomes one of
    least distance by a QR factorization, and that one of nonnegative least squares.
    """
    from scipy.optimize import nnls  # when it is used

    free, d = upper - lower > ROOM, np.zeros(len(lower))
    Z = motions(K[:, free])
    if not Z.shape[1]:
        return d
    Q, R = np.linalg.qr(np.concatenate((J[:, free] @ Z, np.sqrt(damping) * np.eye(Z.shape[1]))))
    y = np.linalg.solve(R, Q[: len(r)].T @ r)  # without bounds
    sides, bounds = np.concatenate((Z, -Z)), np.concatenate((lower[free], -upper[free]))
    finite = np.isfinite(bounds)
    sides, bounds = sides[finite], bounds[finite] - sides[finite] @ y
    if (bounds > 0.0).any():  # the bounds matter: y + R^-1 z with the least z
        G = np.linalg.solve(R.T, sides.T)
        u, _ = nnls(np.concatenate((G, bounds[None])), np.append(np.zeros(len(G)), 1.0))
        y = y + np.linalg.solve(R, G @ u) / (1.0 - bounds @ u)
    d[free] = Z @ y
    return np.clip(d, lower, upper)
