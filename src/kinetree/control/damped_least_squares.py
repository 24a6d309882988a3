"""Nonlinear least squares on a manifold with adaptive damping, free or within bounds of every step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

METHODS = ("levenberg_marquardt", "qp")
START = 1e-3  # of the damping, relative to the largest curvature
LEAST = 1e-9  # of the damping, so that steps of redundant joints are the shortest
STILL = 1e-12  # length of a step that ends the search [rad or m]


@dataclass(frozen=True)
class Problem:
    """Equations ``r(x) = 0`` with ``r(x (+) d) = r(x) - J d`` to first order.

    Attributes
    ----------
    rows : callable
        ``rows(x) -> r, J``.
    moved : callable
        ``moved(x, d)``: x (+) d.
    room : callable
        ``room(x) -> lower, upper`` of d.
    finished : callable
        Whether x is a solution.
    """

    rows: Callable
    moved: Callable
    room: Callable
    finished: Callable


def minimize(problem: Problem, x, method: str, most: int):
    """The point to which damped steps lead, and their number.

    Notes
    -----
    Source: H. B. Nielsen (1999); K. Madsen, H. B. Nielsen, O. Tingleff, *Methods for Non-Linear Least Squares Problems*
    (2004), algorithm 3.16: the damping follows the ratio of the decrease to the one that the linear model predicts.
    """
    r, J = problem.rows(x)
    curvature = max((J * J).sum(axis=0).max(initial=0.0), 1e-12)
    damping, growth = START * curvature, 2.0
    for n in range(most):
        if problem.finished(x):
            return x, n
        lower, upper = problem.room(x)
        d = (_free if method == "levenberg_marquardt" else _bounded)(r, J, damping, lower, upper)
        if not np.linalg.norm(d) > STILL:
            return x, n + 1
        ahead = problem.moved(x, d)
        r_ahead, J_ahead = problem.rows(ahead)
        left = r - J @ d
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


def _free(r, J, damping, lower, upper):
    """The damped step, cut at the bounds; coordinates at a bound that it would leave are held."""
    held = np.zeros(len(lower), bool)
    d = np.zeros(len(lower))
    for _ in range(len(lower)):
        A = J[:, ~held]
        if not A.shape[1]:
            break
        d[~held] = np.linalg.solve(A.T @ A + damping * np.eye(A.shape[1]), A.T @ r)
        d[held] = 0.0
        pushed = ((lower >= 0.0) & (d < 0.0)) | ((upper <= 0.0) & (d > 0.0))
        if not pushed.any():
            break
        held |= pushed
    return np.clip(d, lower, upper)


def _bounded(r, J, damping, lower, upper):
    """The minimum of ``|r - J d|^2 + damping |d|^2`` within the bounds, by an active-set method (Stark, Parker)."""
    from scipy.optimize import lsq_linear  # when it is used

    n = len(lower)
    free = upper - lower > 1e-12
    d = np.zeros(n)
    if free.any():
        A = np.concatenate((J[:, free], np.sqrt(damping) * np.eye(free.sum())))
        b = np.concatenate((r, np.zeros(free.sum())))
        d[free] = lsq_linear(A, b, (lower[free], upper[free]), method="bvls", tol=1e-14).x
    return d
