r"""A semismooth Newton method for the true cone, started and restarted by sweeps.

The law is ``F(lambda) = lambda - P(lambda - u) = 0`` in units where each contact has mass one; P projects the normal
impulse onto >= 0 and the tangential one onto the disk of radius mu times that (Alart and Curnier). With P' = D,

    F' = (I - D) + D A

A little is added to the diagonal of A in F' alone, as in a proximal point method: redundant contacts make F' singular,
and the residual remains that of the problem itself. Newton's steps converge at once near a solution and may do anything
far from it, so they are tried from sweeps of block Gauss-Seidel, which go on where they fail.

Source: P. Alart, A. Curnier, A mixed formulation for frictional contact problems prone to Newton like solution methods
(1991); V. Acary, M. Brémond, O. Huber, On solving contact problems with Coulomb friction (2018).
"""

from __future__ import annotations

import numpy as np

from kinetree.contact.residuals import disk_projection
from kinetree.contact.terms import Terms

PROXIMAL = 1e-9
STEPS = 30
SHORTEST = 1e-3
SWEEPS = (4, 8, 16, 32, 64)


def scaled(terms: Terms) -> tuple[Terms, np.ndarray]:
    """The problem with mass one for all contacts and rows; the roots of the masses, by which impulses are divided."""
    masses = terms.masses
    roots = np.sqrt(np.concatenate([np.repeat(masses[: terms.count], 3), masses[terms.count :]]))
    bounds = terms.bounds / roots[3 * terms.count :, None]
    return Terms(terms.A * np.outer(roots, roots), terms.b * roots, terms.friction, bounds), roots


def projection(terms: Terms, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """P(y) and its derivative D, which is dense here but for its blocks."""
    n, mu = terms.count, terms.friction
    contacts = y[: 3 * n].reshape(n, 3)
    normal = np.maximum(contacts[:, 2], 0.0)
    radius = mu * normal
    size = np.hypot(contacts[:, 0], contacts[:, 1])
    stick, slip = (size <= radius) & (normal > 0.0), (size > radius) & (normal > 0.0)
    D = np.zeros((n, 3, 3))
    D[stick] = np.eye(3)
    direction = contacts[slip, :2] / size[slip, None]
    across = np.eye(2) - direction[:, :, None] * direction[:, None, :]
    D[slip, :2, :2] = (radius[slip] / size[slip])[:, None, None] * across
    D[slip, :2, 2] = mu[slip, None] * direction
    D[slip, 2, 2] = 1.0
    lower, upper = terms.bounds.T
    rows = y[3 * n :]
    value = np.concatenate(
        [np.column_stack([disk_projection(contacts[:, :2], radius), normal]).ravel(), np.clip(rows, lower, upper)]
    )
    slope = np.zeros((len(y), len(y)))
    for i in range(n):
        slope[3 * i : 3 * i + 3, 3 * i : 3 * i + 3] = D[i]
    inner = np.arange(3 * n, len(y))
    slope[inner, inner] = (rows > lower) & (rows < upper)
    return value, slope


def polished(
    terms: Terms,
    start: np.ndarray,
    tolerance: float,
    most: int = STEPS,
    proximal: float = PROXIMAL,
    damped: bool = True,
) -> tuple[np.ndarray, int]:
    """Newton's steps on scaled terms from a start, with backtracking or whole; the best point that was met."""
    eye = np.eye(len(start))
    regular = terms.A + proximal * eye
    x = best = start
    least = np.inf
    for count in range(most):
        value, D = projection(terms, x - terms.velocities(x))
        F = x - value
        size = np.abs(F).max(initial=0.0)
        if size < least:
            best, least = x, size
        if size <= tolerance or not np.isfinite(size):
            return best, count
        try:
            step = np.linalg.solve(eye - D + D @ regular, -F)
        except np.linalg.LinAlgError:
            return best, count
        length = _length(terms, x, step, F @ F) if damped else 1.0
        if not length:
            return best, count
        x = x + length * step
    return best, most


def _length(terms: Terms, x: np.ndarray, step: np.ndarray, merit: float) -> float:
    length = 1.0
    while length >= SHORTEST:
        trial = x + length * step
        F = trial - projected(terms, trial)
        if F @ F <= (1.0 - 1e-4 * length) * merit:
            return length
        length *= 0.5
    return 0.0


def projected(terms: Terms, x: np.ndarray) -> np.ndarray:
    """P(x - u(x))."""
    y, n = x - terms.velocities(x), terms.count
    contacts = y[: 3 * n].reshape(n, 3)
    normal = np.maximum(contacts[:, 2], 0.0)
    lower, upper = terms.bounds.T
    tangential = disk_projection(contacts[:, :2], terms.friction * normal)
    return np.concatenate([np.column_stack([tangential, normal]).ravel(), np.clip(y[3 * n :], lower, upper)])
