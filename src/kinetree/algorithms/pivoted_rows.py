"""Rows of constraints that may depend on each other at some positions: the pseudo-inverse of A by r pivots.

``A = K M^-1 K^T`` has the rank r of K, at singular positions less. Complete pivoting on the diagonal, by selections
instead of branches, gives ``A = L D L^T`` with L of r columns. Then

    A^+ = L (L^T L)^-1 D^-1 (L^T L)^-1 L^T

gives the multipliers of least norm among those of least error, whatever the rank: a pivot that is rounding leaves no
column. Rows are divided by their natural sizes, levers for forces and 1 for moments, so norms are those of moments.
"""

from __future__ import annotations

import functools

from kinetree.algorithms.constrained import ConstrainedSystem
from kinetree.algorithms.matrices import dot
from kinetree.algorithms.row_elimination import vanishes
from kinetree.algorithms.sparse import ltdl_factors, solve_ltdl
from kinetree.spatial.scalar import where

RANK = 1e-12
"""Pivots below this part of the first are rounding. Those of positions e [rad] from a singular one are about e^2."""


class PivotedSystem(ConstrainedSystem):
    """The system of all rows, those that others imply among them; see `ConstrainedSystem`."""

    least = RANK

    def __init__(self, model, M, kin, given=None, columns=None) -> None:
        choice = model.loop_rows()
        super().__init__(model, M, kin, given, columns, {*choice.kept, *choice.redundant})
        self.sizes = [choice.natural[n] or 1.0 for n in self.numbers]
        self.steps = len(choice.coordinates)

    @functools.cached_property
    def pivots(self) -> PivotedRows:
        """Of A, its rows and columns divided by the natural sizes."""
        A = [[x / (size * self.sizes[n]) for n, x in enumerate(row)]
             for row, size in zip(self.A, self.sizes, strict=True)]  # fmt: skip
        return PivotedRows(A, self.steps, self.least)

    def multipliers(self, right) -> list:
        """``A^+ b``."""
        lam = self.pivots.solve([x / size for x, size in zip(right, self.sizes, strict=True)])
        return [x / size for x, size in zip(lam, self.sizes, strict=True)]


class PivotedRows:
    """The pseudo-inverse of a symmetric, positive semidefinite matrix of at most some rank.

    Parameters
    ----------
    A : list of list
        Its lower triangle.
    rank : int
        The number of pivots.
    least : float
        Pivots below this part of the first are rounding.

    Attributes
    ----------
    sizes : list
        The pivots, descending; those that are rounding zero.
    """

    def __init__(self, A, rank: int, least: float = RANK) -> None:
        used = [m for m, row in enumerate(A) if not vanishes(row[m])]
        rest = [[A[m][n] for n in used if n <= m] for m in used]
        self.columns, self.sizes, self.reciprocals, first = [], [], [], None
        for _ in range(min(rank, len(used))):
            size, column = _largest(rest)
            first = size if first is None else first
            small = size <= least * first
            inverse = where(small, 0.0, 1.0 / where(small, 1.0, size))
            factors = [x * inverse for x in column]
            rest = [[x - factors[m] * column[n] for n, x in enumerate(row)] for m, row in enumerate(rest)]
            entries = dict(zip(used, factors, strict=True))
            self.columns.append([entries.get(m, 0.0) for m in range(len(A))])
            self.sizes.append(where(small, 0.0, size))
            self.reciprocals.append(inverse)
        steps = range(len(self.columns))
        N = [[dot(self.columns[m], self.columns[n]) for n in range(m + 1)] for m in steps]
        for m in steps:
            N[m][m] = where(self.sizes[m] > 0.0, N[m][m], 1.0)
        self._below = [tuple(reversed(range(m))) for m in steps]
        self._normal = ltdl_factors(N, self._below)

    @property
    def rank(self):
        """The number of pivots that are not rounding."""
        return sum((where(x > 0.0, 1.0, 0.0) for x in self.sizes), start=0.0)

    def solve(self, b) -> list:
        """``A^+ b``."""
        if not self.columns:
            return [0.0] * len(b)
        t = solve_ltdl(*self._normal, [dot(column, b) for column in self.columns], self._below)
        t = solve_ltdl(*self._normal, [x * d for x, d in zip(t, self.reciprocals, strict=True)], self._below)
        return [dot(row, t) for row in zip(*self.columns, strict=True)]


def _largest(lower):
    """The largest entry on the diagonal of a symmetric matrix, and its column."""
    n = range(len(lower))
    size, column = lower[0][0], [lower[m][0] for m in n]
    for k in n[1:]:
        larger = lower[k][k] > size
        size = where(larger, lower[k][k], size)
        column = [where(larger, lower[max(m, k)][min(m, k)], x) for m, x in zip(n, column, strict=True)]
    return size, column
