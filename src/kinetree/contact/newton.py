r"""A semismooth Newton method for the true cone, started and restarted by sweeps.

The law is ``F(lambda) = lambda - P(lambda - u) = 0`` in units where each contact has mass one, with one of the maps P
of ``laws.py``. With P' = D,

    F' = (I - D) + D A

A little is added to the diagonal of A in F' alone, as in a proximal point method: redundant contacts make F' singular,
and the residual remains that of the problem itself. Newton's steps converge at once near a solution and may do anything
far from it, so they are tried from sweeps of block Gauss-Seidel, which go on where they fail.

Source: P. Alart, A. Curnier, A mixed formulation for frictional contact problems prone to Newton like solution methods
(1991); V. Acary, M. Brémond, O. Huber, On solving contact problems with Coulomb friction (2018).
"""

from __future__ import annotations

import numpy as np

from kinetree.contact.laws import Law, coulomb, deviation
from kinetree.contact.terms import Terms

PROXIMAL = 1e-9
STEPS = 30
SHORTEST = 1e-3


def scaled(terms: Terms) -> tuple[Terms, np.ndarray]:
    """The problem with mass one for all contacts and rows; the roots of the masses, by which impulses are divided."""
    masses = terms.masses
    roots = np.sqrt(np.concatenate([np.repeat(masses[: terms.count], 3), masses[terms.count :]]))
    bounds = terms.bounds / roots[3 * terms.count :, None]
    return Terms(terms.A * np.outer(roots, roots), terms.b * roots, terms.friction, bounds), roots


def polished(
    terms: Terms,
    start: np.ndarray,
    tolerance: float,
    most: int = STEPS,
    law: Law = coulomb,
    proximal: float = PROXIMAL,
    damped: bool = True,
) -> tuple[np.ndarray, int]:
    """Newton's steps on scaled terms from a start, with backtracking or whole; the best point that was met."""
    eye = np.eye(len(start))
    regular = terms.A + proximal * eye
    x = best = start
    least = np.inf
    for count in range(most):
        F, D = deviation(terms, x, law)
        size = np.abs(F).max(initial=0.0)
        if size < least:
            best, least = x, size
        if size <= tolerance or not np.isfinite(size):
            return best, count
        try:
            step = np.linalg.solve(eye - D + D @ regular, -F)
        except np.linalg.LinAlgError:
            return best, count
        length = _length(terms, x, step, F @ F, law) if damped else 1.0
        if not length:
            return best, count
        x = x + length * step
    return best, most


def _length(terms: Terms, x: np.ndarray, step: np.ndarray, merit: float, law: Law) -> float:
    length = 1.0
    while length >= SHORTEST:
        F, _ = deviation(terms, x + length * step, law)
        if F @ F <= (1.0 - 1e-4 * length) * merit:
            return length
        length *= 0.5
    return 0.0
