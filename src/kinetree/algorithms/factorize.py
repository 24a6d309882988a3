"""Factorizations L D L^T of symmetric matrices of scalars: a joint's own few rows, the joint-space inertia matrix."""

from __future__ import annotations


class SmallLDL:
    """``D = L diag(d) L^T`` of a joint's own matrix ``D = S^T U``, at most 6 x 6.

    Parameters
    ----------
    lower : list of list
        Rows of the lower triangle, the diagonal included.
    shift : sequence
        Added to the diagonal (armature).
    """

    __slots__ = ("L", "reciprocals")

    def __init__(self, lower, shift):
        n = len(lower)
        self.L = [[0.0] * n for _ in range(n)]
        self.reciprocals = [0.0] * n
        work = [list(row) for row in lower]
        for k in range(n):
            work[k][k] = work[k][k] + shift[k]
        for k in range(n):
            self.reciprocals[k] = 1.0 / work[k][k]
            for i in range(k + 1, n):
                self.L[i][k] = work[i][k] * self.reciprocals[k]
            for i in range(k + 1, n):
                for j in range(k + 1, i + 1):
                    work[i][j] = work[i][j] - self.L[i][k] * work[j][k]

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


def ltdl(M, parent):
    """Factorize ``M = L^T D L`` in place, without fill-in (book, table 6.3).

    Parameters
    ----------
    M : list of list
        Symmetric matrix of scalars, (n, n); only the lower triangle is read.
    parent : sequence of int
        Expanded parent array: the ancestor of row k that is nearest, or -1.

    Returns
    -------
    L : list of list
        Unit lower triangular factor, its diagonal left out.
    reciprocals : list
        One over each entry of D.
    """
    n = len(M)
    H = [list(row) for row in M]
    reciprocals = [0.0] * n
    for k in reversed(range(n)):
        reciprocals[k] = 1.0 / H[k][k]
        i = parent[k]
        while i >= 0:
            a = H[k][i] * reciprocals[k]
            j = i
            while j >= 0:
                H[i][j] = H[i][j] - a * H[k][j]
                j = parent[j]
            H[k][i] = a
            i = parent[i]
    return H, reciprocals


def ltdl_solve(L, reciprocals, parent, b):
    """Solve ``L^T D L x = b`` (book, table 6.5)."""
    n, x = len(b), list(b)
    for i in reversed(range(n)):  # L^-T
        j = parent[i]
        while j >= 0:
            x[j] = x[j] - L[i][j] * x[i]
            j = parent[j]
    x = [x_i * r for x_i, r in zip(x, reciprocals, strict=True)]
    for i in range(n):  # L^-1
        j = parent[i]
        while j >= 0:
            x[i] = x[i] - L[i][j] * x[j]
            j = parent[j]
    return x
