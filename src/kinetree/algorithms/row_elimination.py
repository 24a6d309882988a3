"""Elimination of columns from the rows of constraints by rotations and reflections of rows: no choice of pivots.

``K x = k`` becomes ``Q^T K x = Q^T k``, whose first rows are triangular in the chosen columns, and whose other rows
have no entries there. It is regular wherever these columns are independent: a row is no pivot by itself, so no entry
of K may vanish by chance. Columns with few structural entries come first, which keeps the zeros of separate loops.
"""

from __future__ import annotations

from kinetree.algorithms.matrices import dot, reflection
from kinetree.algorithms.regularity import require_regular
from kinetree.spatial.scalar import is_zero, sqrt, where


class Triangular:
    """``Q^T K``, triangular in some of its columns.

    Parameters
    ----------
    rows : list of list of scalars
        K.
    columns : iterable of int
        Those to eliminate.

    Attributes
    ----------
    pivots : list of (int, int)
        ``(row, column)``: later rows, and those of ``rest``, are zero in this column.
    rest : list of int
        The rows without entries in any of these columns.
    free : list of int
        Columns that are left over, since no row has a structural entry there.
    """

    def __init__(self, rows, columns) -> None:
        self.rows, self.turns = [list(row) for row in rows], []
        self.rest, self.pivots, self.free = list(range(len(rows))), [], []
        left = list(columns)
        while left:
            places = {c: [n for n in self.rest if not vanishes(self.rows[n][c])] for c in left}
            c = min(left, key=lambda c: (not places[c], len(places[c]), self._width(places[c])))
            left.remove(c)
            if not places[c]:
                self.free.append(c)
                continue
            self._turn(places[c], c)
            self.rest.remove(places[c][0])
            self.pivots.append((places[c][0], c))
            row = self.rows[places[c][0]]
            require_regular(row[c] * row[c], dot(row, row))

    def _width(self, places) -> int:
        return sum(not all(vanishes(self.rows[n][k]) for n in places) for k in range(len(self.rows[0])))

    def _turn(self, places, c) -> None:
        """Take the entries of column c to the first of these rows."""
        if len(places) == 1:
            return
        alpha, turn = (rotation if len(places) == 2 else reflection)([self.rows[n][c] for n in places])
        self.turns.append((places, turn))
        for k in range(len(self.rows[0])):
            if k != c and not all(vanishes(self.rows[n][k]) for n in places):
                for n, x in zip(places, turn([self.rows[n][k] for n in places]), strict=True):
                    self.rows[n][k] = x
        for n in places:
            self.rows[n][c] = alpha if n == places[0] else 0.0

    def turned(self, k) -> list:
        """``Q^T k``."""
        k = list(k)
        for places, turn in self.turns:
            if not all(vanishes(k[n]) for n in places):
                for n, x in zip(places, turn([k[n] for n in places]), strict=True):
                    k[n] = x
        return k

    def turned_back(self, k) -> list:
        """``Q k``: rotations of two rows are made symmetric, and so are reflections."""
        k = list(k)
        for places, turn in reversed(self.turns):
            for n, x in zip(places, turn([k[n] for n in places]), strict=True):
                k[n] = x
        return k

    def solved(self, x, k) -> list:
        """x with the entries of the columns put in that solve ``Q^T K x = k``; the others are given."""
        x = list(x)
        for n, c in reversed(self.pivots):
            x[c] = 0.0
            x[c] = (k[n] - dot(self.rows[n], x)) / self.rows[n][c]
        return x

    def multipliers(self, f) -> tuple[dict, list]:
        """lambda of the pivot rows, by row, and ``f - (Q^T K)^T lambda``, which is zero in the columns."""
        f, lam = list(f), {}
        for n, c in self.pivots:
            lam[n] = f[c] / self.rows[n][c]
            f = [x if vanishes(y) else x - y * lam[n] for x, y in zip(f, self.rows[n], strict=True)]
            f[c] = 0.0
        return lam, f


def rotation(x):
    """As `reflection`, of two entries: ``[c s; s -c]``, which is symmetric."""
    squared = x[0] * x[0] + x[1] * x[1]
    empty = squared <= 0.0
    size = where(empty, 0.0 * squared, sqrt(squared))
    inverse = 1.0 / where(empty, 1.0 + 0.0 * squared, size)
    c, s = where(empty, 1.0 + 0.0 * squared, x[0] * inverse), x[1] * inverse

    def rotate(y):
        return [dot((c, s), y), dot((s, -c), y)]

    return size, rotate


def vanishes(x) -> bool:
    """Whether x is a structural zero, or traced and folded to one."""
    return is_zero(x) or is_zero(getattr(x, "constant", None))
