"""Rows with bounded forces beside rows of loops: the active set on the responses of the bounded rates.

With the loops solved for, bounded rates respond linearly to their forces, ``y = y_0 + W f``. Loops connect rates: in
a four-bar with friction in all joints W has rank one, and only the motion is unique, not each force. Held rates are
solved for with a small shift of W, and once more for what that leaves: of forces that cause the same motion those next
to the last guess, which obeys the bounds. The exchanges are those of `kinetree.algorithms.bounded_rows`.
"""

from __future__ import annotations

from collections.abc import Mapping

from kinetree.algorithms.bounded_rows import guessed, require_settled, variation
from kinetree.algorithms.matrices import dot
from kinetree.algorithms.regularity import collected_pivots
from kinetree.algorithms.sparse import ltdl_factors, solve_ltdl
from kinetree.constraints.row_law import RowLaw
from kinetree.errors import UnsupportedError
from kinetree.spatial.scalar import absolute, is_zero, where

MOST = 24  # bounded rates in one solution: as many rows in each factorization
EXCHANGES = 20  # of guesses at most; 10 are enough in 71 of 72 states of random mechanisms with 6 to 23 rates
SHIFT = 1e-10, 1e-5  # of the responses without loops, in double and in single precision
STILL = 1e-13  # of a rate without friction: rounding
LEAST = 1e-6  # of them, responses by which forces are guessed


def bounded_forces_in_loops(y, W, sizes, laws: Mapping[int, RowLaw]):
    """Forces (besides the laws' known ones); whether rates are held, and at which values; whether none were found.

    Parameters
    ----------
    y : dict
        The rates without these forces, by their numbers.
    W : dict of dict
        Their responses.
    sizes : dict
        Their responses to their own forces if there were no loops.
    laws : mapping
    """
    if len(laws) > MOST:
        raise UnsupportedError(
            f"bounded forces (sticking friction, hard limits) of {len(laws)} velocities beside loops, expected at most "
            f"{MOST}: compiled code would have about a million operations. Name fewer joints in the constraint"
        )
    free = dict(y)
    scale = {m: absolute(y[m]) for m in laws}
    force, before = dict.fromkeys(laws, 0.0), None
    rho = {m: absolute(W[m][m]) + LEAST * sizes[m] for m in laws}  # loops may leave a rate no freedom
    with collected_pivots():  # shifted, so regular
        for n in range(min(5 + 2 * len(laws), EXCHANGES)):
            vary = {m: rho[m] * variation(n, k) for k, m in enumerate(laws)}
            guess = {m: guessed(law, y[m], force[m], vary[m]) for m, law in laws.items()}
            y, force = _exchanged(free, W, sizes, guess)
            before = guess
    missed = require_settled(laws, before, y, force, rho, scale)
    held = {}
    for m, law in laws.items():
        _, holds, rate = before[m]
        if not is_zero(law.resistance):  # at the bound of its force, and kept at rest by others
            still = absolute(y[m] - law.rest) <= STILL * (scale[m] + rho[m] * absolute(force[m]))
            holds, rate = holds | still, where(holds, rate, law.rest)
        held[m] = holds, rate
    return force, held, missed


def _exchanged(free, W, sizes, guess):
    """Rates and forces if some rates are held and the others have given forces."""
    numbers = list(guess)
    held = {m: guess[m][1] for m in numbers}
    given = {m: where(held[m], 0.0, guess[m][0]) for m in numbers}
    right = {m: guess[m][2] - free[m] - dot([W[m][n] for n in numbers], [given[n] for n in numbers]) for m in numbers}
    right = [where(held[m], right[m], 0.0) for m in numbers]
    between = [[where(held[m], where(held[n], W[m][n], 0.0), 0.0) for n in numbers] for m in numbers]
    shifted = [list(row) for row in between]
    for k, m in enumerate(numbers):
        shift = where(sizes[m] * (1.0 + 1e-9) > sizes[m], SHIFT[0], SHIFT[1])
        shifted[k][k] = where(held[m], W[m][m] + shift * sizes[m], 1.0)
    below = [tuple(reversed(range(k))) for k in range(len(numbers))]
    factors = ltdl_factors(shifted, below)
    x = [where(held[m], guess[m][0], 0.0) for m in numbers]
    for _ in range(2):
        rest = [b - dot(row, x) for b, row in zip(right, between, strict=True)]
        x = [a + b for a, b in zip(x, solve_ltdl(*factors, rest, below), strict=True)]
    force = {m: where(held[m], x_m, given[m]) for m, x_m in zip(numbers, x, strict=True)}
    rates = {m: free[m] + dot([W[m][n] for n in numbers], [force[n] for n in numbers]) for m in numbers}
    return {m: where(held[m], guess[m][2], rates[m]) for m in numbers}, force
