"""Principal pivoting for linear complementarity problems: in blocks, then by least indices.

Blocks exchange all variables of the wrong sign at once: fast, and usually enough. Where their number does not fall, or
a block is singular, single pivots on the least index follow (Murty's rule for P matrices); the criss-cross rule, which
exchanges two variables where a diagonal entry is zero, extends them to all sufficient matrices, among them the
semidefinite ones, and proves infeasibility by a row without positive entries.

Source: J. J. Júdice, F. M. Pires, A block principal pivoting algorithm (1994); K. G. Murty, Note on a Bard-type scheme
(1974); D. den Hertog, C. Roos, T. Terlaky, The linear complementarity problem, sufficient matrices, and the criss-cross
method (1993).
"""

from __future__ import annotations

import numpy as np

ZERO = 1e-11  # relative, of values and of pivots
PATIENCE = 10
"""Blocks without progress."""


def principal_pivoting(M: np.ndarray, d: np.ndarray, most: int) -> tuple[np.ndarray, str, int]:
    """The set of positive variables; "solved", "infeasible", "failed" or "iteration_limit"; the number of pivots."""
    positive, blocks = _by_blocks(M, d)
    if positive is not None:
        return positive, "solved", blocks
    positive, status, pivots = _by_least_index(M, d, most)
    return positive, status, blocks + pivots


def _by_blocks(M: np.ndarray, d: np.ndarray) -> tuple[np.ndarray | None, int]:
    positive = np.zeros(len(d), bool)
    tolerance = ZERO * np.abs(d).max(initial=0.0)
    fewest, patience = len(d) + 1, PATIENCE
    for count in range(5 * PATIENCE):
        values = _values(M, d, positive)
        if values is None:
            return None, count
        wrong = values < -tolerance
        if not wrong.any():
            return positive, count
        if wrong.sum() < fewest:
            fewest, patience = wrong.sum(), PATIENCE
        elif not (patience := patience - 1):
            return None, count
        positive ^= wrong
    return None, 5 * PATIENCE


def _values(M: np.ndarray, d: np.ndarray, positive: np.ndarray) -> np.ndarray | None:
    """x of the set, w of the others; None if the block is singular."""
    block = M[np.ix_(positive, positive)]
    if len(block) and np.linalg.cond(block) > 1e10:
        return None
    values = d.copy()
    x = np.linalg.solve(block, -d[positive])
    values[~positive] += M[np.ix_(~positive, positive)] @ x
    values[positive] = x
    return values


def _by_least_index(M: np.ndarray, d: np.ndarray, most: int) -> tuple[np.ndarray, str, int]:
    A, q, positive = M.copy(), d.copy(), np.zeros(len(d), bool)
    tolerance = ZERO * np.abs(d).max(initial=0.0)
    fresh = True
    for pivots in range(most):
        wrong = np.flatnonzero(q < -tolerance)
        chosen = _next_pivots(A, wrong[0]) if len(wrong) else "solved"
        if isinstance(chosen, str):
            if fresh or (again := _transformed(M, d, positive)) is None:
                return positive, chosen, pivots
            (A, q), fresh = again, True  # decided again, without the rounding of the pivots before
            continue
        r, s = chosen
        fresh = False
        _exchange(A, q, r, s)
        if r != s:
            _exchange(A, q, s, r)
            order = np.arange(len(d))
            order[[r, s]] = s, r
            A, q = A[np.ix_(order, order)], q[order]
            positive[s] ^= True
        positive[r] ^= True
    return positive, "iteration_limit", most


def _next_pivots(A: np.ndarray, r: int) -> tuple[int, int] | str:
    """Row and column of the exchange for row r; or why there is none."""
    small = ZERO * np.abs(A[r]).max()
    if abs(A[r, r]) > small:
        return (r, r) if A[r, r] > 0.0 else "failed"  # then not a sufficient matrix
    helpful = np.flatnonzero(A[r] > small)
    if not len(helpful):
        return "infeasible"
    s = int(helpful[0])
    return (r, s) if abs(A[s, r]) > small else "failed"


def _transformed(M: np.ndarray, d: np.ndarray, positive: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """The tableau after the exchange of all variables of the set, from the problem itself."""
    p, rest = positive, ~positive
    try:
        inverse = np.linalg.inv(M[np.ix_(p, p)])
    except np.linalg.LinAlgError:
        return None
    A, q, below = np.empty_like(M), np.empty_like(d), M[np.ix_(rest, p)]
    A[np.ix_(p, p)], A[np.ix_(p, rest)] = inverse, -inverse @ M[np.ix_(p, rest)]
    A[np.ix_(rest, p)] = below @ inverse
    A[np.ix_(rest, rest)] = M[np.ix_(rest, rest)] + below @ A[np.ix_(p, rest)]
    q[p] = -inverse @ d[p]
    q[rest] = d[rest] + below @ q[p]
    return A, q


def _exchange(A: np.ndarray, q: np.ndarray, r: int, s: int) -> None:
    """The variable of row r changes place with that of column s."""
    pivot = A[r, s]
    row, rest = A[r] / -pivot, A[:, s].copy()
    row[s], rest[r] = 1.0 / pivot, 0.0
    value = q[r] / -pivot
    A[:, s] = 0.0
    A += np.outer(rest, row)
    A[r] = row
    q += rest * value
    q[r] = value
