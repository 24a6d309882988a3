"""The factorization L D L^T of symmetric matrices of scalars."""

from __future__ import annotations

from kinetree.algorithms.regularity import require_regular


class LDL:
    """``D = L diag(d) L^T`` without pivoting: of a joint's own ``D = S^T U``, of the inertia matrix of coupled joints.

    Parameters
    ----------
    lower : list of list
        Rows of the lower triangle, the diagonal included.
    shift : sequence
        Added to the diagonal (armature).
    scales : sequence, optional
        Scales to which the pivots are compared, the diagonal by default.

    Raises
    ------
    SingularityError
        A pivot is zero to working precision.
    """

    __slots__ = ("L", "reciprocals")

    def __init__(self, lower, shift, scales=None):
        n = len(lower)
        self.L = [[0.0] * n for _ in range(n)]
        self.reciprocals = [0.0] * n
        work = [list(row) for row in lower]
        for k in range(n):
            work[k][k] = work[k][k] + shift[k]
        scales = [work[k][k] for k in range(n)] if scales is None else scales
        for k in range(n):
            require_regular(work[k][k], scales[k])
            self.reciprocals[k] = 1.0 / work[k][k]
            for i in range(k + 1, n):
                self.L[i][k] = work[i][k] * self.reciprocals[k]
            for i in range(k + 1, n):
                for j in range(k + 1, i + 1):
                    work[i][j] = work[i][j] - self.L[i][k] * work[j][k]

    @classmethod
    def of(cls, L, reciprocals) -> LDL:
        """The factorization with these parts."""
        new = object.__new__(cls)
        new.L, new.reciprocals = L, reciprocals
        return new

    def solve(self, b):
        """``D^-1 b``."""
        n, x = len(b), list(b)
        for i in range(n):
            for k in range(i):
                x[i] = x[i] - self.L[i][k] * x[k]
        x = [x_i * r for x_i, r in zip(x, self.reciprocals, strict=True)]
        for i in reversed(range(n)):
            for k in range(i + 1, n):
                x[i] = x[i] - self.L[k][i] * x[k]
        return x

    def dyads(self, U):
        """Pairs (column, 1/d) with ``U D^-1 U^T = sum of column column^T / d``: columns of ``U L^-T``."""
        columns = []
        for i, U_i in enumerate(U):
            column = U_i
            for k in range(i):
                column = column - columns[k] * self.L[i][k]
            columns.append(column)
        return list(zip(columns, self.reciprocals, strict=True))


class LeafFirst:
    """A symmetric matrix whose last rows are eliminated first.

    That keeps the zeros of a tree. Of a spatial inertia the linear part, which is diagonal for a rigid body, is
    eliminated first, so that little is filled. ``scales`` are those of the pivots (`inertia_scales`).
    """

    __slots__ = ("_factors",)

    def __init__(self, H, scales=None):
        n = len(H)
        lower = [[H[n - 1 - j][n - 1 - i] for j in range(i + 1)] for i in range(n)]
        self._factors = LDL(lower, [0.0] * n, None if scales is None else scales[::-1])

    def solve(self, b):
        """``H^-1 b``."""
        return self._factors.solve(list(b)[::-1])[::-1]
