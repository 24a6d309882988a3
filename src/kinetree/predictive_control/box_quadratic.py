"""Quadratic programs within a box by Newton's method on the free variables."""

from __future__ import annotations

import numpy as np

MOST = 50
ARMIJO = 0.1


def box_quadratic(H: np.ndarray, g: np.ndarray, lower: np.ndarray, upper: np.ndarray, start: np.ndarray):
    """The minimum of ``x . H x / 2 + g . x`` with ``lower <= x <= upper``.

    Parameters
    ----------
    H : (n, n) array
        Symmetric, positive definite [cost per squared unit of x].
    g : (n,) array
        [cost per unit of x]
    lower, upper : (n,) array
        [unit of x]
    start : (n,) array
        First guess [unit of x].

    Returns
    -------
    x : (n,) array
        [unit of x]
    free : (n,) array of bool
        Entries that are not at a bound that holds them.

    Notes
    -----
    Source: D. P. Bertsekas, "Projected Newton methods for optimization problems with simple constraints", SIAM Journal
    on Control and Optimization 20 (1982), as in Tassa, Mansard, Todorov (2014), algorithm 1. Ends after finitely many
    steps, with the free entries solved to rounding.
    """
    x = np.clip(start, lower, upper)
    value = 0.5 * x @ H @ x + g @ x
    for _ in range(MOST):
        slope = H @ x + g
        held = ((x <= lower) & (slope > 0.0)) | ((x >= upper) & (slope < 0.0))
        free = ~held
        if not free.any():
            break
        step = np.zeros_like(x)
        step[free] = -np.linalg.solve(H[np.ix_(free, free)], slope[free])
        size = 1.0
        while True:
            new = np.clip(x + size * step, lower, upper)
            new_value = 0.5 * new @ H @ new + g @ new
            if new_value <= value + ARMIJO * slope @ (new - x) or size < 1e-10:
                break
            size *= 0.5
        moved = np.abs(new - x).max()
        x, value = new, new_value
        if moved <= 1e-14 * (1.0 + np.abs(x).max()):
            break
    slope = H @ x + g
    return x, ~(((x <= lower) & (slope > 0.0)) | ((x >= upper) & (slope < 0.0)))
