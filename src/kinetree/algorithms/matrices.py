"""Small dense matrices of scalars, as nested lists of rows: products that leave structural zeros out, and reflections.

For quantities without a compact form in the algebra: inverse inertias, the maps of subassemblies.
"""

from __future__ import annotations

from kinetree.spatial.scalar import is_zero, sqrt, where


def dot(x, y):
    """``x . y``, structural zeros left out."""
    total = 0.0
    for a, b in zip(x, y, strict=True):
        if not (is_zero(a) or is_zero(b)):
            total = total + a * b
    return total


def chained(x, y, total=0.0):
    """``total + x . y``, one fused multiply-add for each pair.

    A spatial scalar product written as the sum of two vector products ends in an addition of its own. Here are so many
    of them that it shows: 7 instead of 6 instructions.
    """
    for x_n, y_n in zip(x, y, strict=True):
        total = total + x_n * y_n
    return total


def identity(d):
    """The unit matrix, of structural zeros and ones."""
    return [[1.0 if m == n else 0.0 for n in range(d)] for m in range(d)]


def apply(A, x):
    """``A x``."""
    return [dot(row, x) for row in A]


def transposed(A):
    """``A^T``; of a matrix without columns, no rows are left."""
    return [list(column) for column in zip(*A, strict=True)]


def product(A, B):
    """``A B``."""
    columns = transposed(B)
    return [[dot(row, column) for column in columns] for row in A]


def symmetric_product(A, B):
    """``A^T B``, known to be symmetric: one triangle is computed."""
    rows, columns = transposed(A), transposed(B)
    lower = [[dot(row, column) for column in columns[: m + 1]] for m, row in enumerate(rows)]
    return mirrored(lower)


def mirrored(lower):
    """The full matrix of a lower triangle."""
    n = len(lower)
    return [[lower[max(i, j)][min(i, j)] for j in range(n)] for i in range(n)]


def plus(A, B):
    """``A + B``, of vectors or matrices."""
    return [plus(a, b) if isinstance(a, list) else a + b for a, b in zip(A, B, strict=True)]


def minus(A, B):
    """``A - B``, of vectors or matrices."""
    return [minus(a, b) if isinstance(a, list) else a - b for a, b in zip(A, B, strict=True)]


def put(A, rows, columns, block):
    """Write a block of A, its rows and columns given by slices."""
    for m, row in zip(range(rows.start, rows.stop), block, strict=True):
        A[m][columns] = row


def outer(A, B):
    """``A B^T``."""
    return [[dot(a, b) for b in B] for a in A]


def reflection(x):
    """Householder's reflection that takes x to a multiple of the first unit vector.

    Parameters
    ----------
    x : list of scalars

    Returns
    -------
    alpha : scalar
        The multiple, of the sign opposite to ``x[0]``.
    reflect : callable
        Applies the reflection to a vector.

    Notes
    -----
    Without a decision on values; a vector of zeros is reflected into itself.
    """
    squared = dot(x, x)
    empty = squared <= 0.0
    norm = where(empty, 0.0 * squared, sqrt(where(empty, 1.0 + 0.0 * squared, squared)))
    alpha = where(x[0] <= 0.0, norm, -norm)
    w = [x[0] - alpha, *x[1:]]
    # 2 / (w . w) = 1 / (norm (norm + |x0|)) = -1 / (alpha w0)
    length = -(alpha * w[0])
    scale = where(empty, 0.0 * squared, 1.0 / where(empty, 1.0 + 0.0 * squared, length))

    def reflect(y):
        step = dot(w, y) * scale
        return [a - b * step for a, b in zip(y, w, strict=True)]

    return alpha, reflect


def triangular_factor(N):
    """L with ``L L^T = N N^T``, lower triangular and square, where N has more columns than rows.

    Notes
    -----
    By reflections of the rows, so N may be of any rank, and no difference of squares is formed.
    """
    rows, factor = [list(row) for row in N], []
    d = len(rows)
    for k in range(d):
        alpha, reflect = reflection(rows[k][k:])
        rows[k] = [*rows[k][:k], alpha] + [0.0] * (len(rows[k]) - k - 1)
        for m in range(k + 1, d):
            rows[m] = [*rows[m][:k], *reflect(rows[m][k:])]
        factor.append(rows[k][:d])
    return factor
