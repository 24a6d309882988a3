"""Second derivatives of energies made positive semidefinite, over scalars: negative eigenvalues become zero.

The eigenvectors are those that every energy of the kind has, so no general decomposition is needed: along and across a
spring; for isotropic solids the scalings, twists and flips of the singular vectors of F (Smith, de Goes and Kim,
"Analytic eigensystems for isotropic distortion energies", 2019). Only a 3 x 3 matrix, that of the scalings, is left for
Jacobi's method.
"""

from __future__ import annotations

from kinetree.spatial.scalar import maximum, sqrt, where

SWEEPS = 5  # of Jacobi's method: it converges quadratically, and 3 x 3 matrices are diagonal to rounding by then
TINY = 1e-300


def projected(kind: str, s, H):
    """The nearest positive semidefinite matrix to H, for a law's ``projection``."""
    return {"none": lambda s, H: H, "radial": _radial, "isotropic": _isotropic}[kind](s, H)


def _radial(s, H):
    """Eigenvalues along the strain and across it, where both are equal."""
    square = maximum(sum(x * x for x in s), TINY)
    along = sum(H[m][n] * s[m] * s[n] for m in range(3) for n in range(3)) / square
    across = 0.5 * (H[0][0] + H[1][1] + H[2][2] - along)
    along, across = maximum(along, 0.0), maximum(across, 0.0)
    ratio = (along - across) / square
    return [[(across if m == n else 0.0) + ratio * (s[m] * s[n]) for n in range(3)] for m in range(3)]


def _isotropic(F, H):
    u, v = singular_vectors([F[0:3], F[3:6], F[6:9]])
    dyads = {(i, j): [a * b for a in u[i] for b in v[j]] for i in range(3) for j in range(3)}
    added = []  # (factor, left, right) of symmetric corrections
    for i, j in ((0, 1), (0, 2), (1, 2)):
        right, left = dyads[i, j], dyads[j, i]
        h_right = _times(H, right)
        cross = _dot(left, h_right)
        mean = 0.5 * (_dot(right, h_right) + _dot(left, _times(H, left)))
        for sign in (1.0, -1.0):
            mode = [a + sign * b for a, b in zip(left, right, strict=True)]
            added.append((0.5 * maximum(-(mean + sign * cross), 0.0), mode, mode))
    scalings = [dyads[i, i] for i in range(3)]
    columns = [_times(H, mode) for mode in scalings]
    values, W = eigen([[_dot(scalings[i], columns[j]) for j in range(3)] for i in range(3)])
    for value, w in zip(values, zip(*W, strict=True), strict=True):
        mode = [sum(w[i] * scalings[i][n] for i in range(3)) for n in range(9)]
        added.append((maximum(-value, 0.0), mode, mode))
    found = [list(row) for row in H]
    for factor, left, right in added:
        scaled = [factor * x for x in left]
        for m in range(9):
            for n in range(m + 1):
                found[m][n] = found[m][n] + scaled[m] * right[n]
    return [[found[max(m, n)][min(m, n)] for n in range(9)] for m in range(9)]


def eigen(A):
    """Eigenvalues of a symmetric 3 x 3 matrix, and its eigenvectors as columns, by Jacobi's cyclic method."""
    A, V = [list(row) for row in A], [[float(i == j) for j in range(3)] for i in range(3)]
    for _ in range(SWEEPS):
        for p, q in ((0, 1), (0, 2), (1, 2)):
            gap, twice = A[q][q] - A[p][p], 2.0 * A[p][q]
            hypotenuse = sqrt(gap * gap + twice * twice)
            below = where(gap < 0.0, gap - hypotenuse, gap + hypotenuse)
            t = where(hypotenuse > TINY, twice / where(hypotenuse > TINY, below, 1.0), 0.0)
            c = 1.0 / sqrt(t * t + 1.0)
            s, r = t * c, 3 - p - q
            A[p][p], A[q][q] = A[p][p] - t * A[p][q], A[q][q] + t * A[p][q]
            A[p][q] = A[q][p] = 0.0
            A[r][p], A[r][q] = c * A[r][p] - s * A[r][q], s * A[r][p] + c * A[r][q]
            A[p][r], A[q][r] = A[r][p], A[r][q]
            for row in V:
                row[p], row[q] = c * row[p] - s * row[q], s * row[p] + c * row[q]
    return [A[i][i] for i in range(3)], V


def singular_vectors(F):
    """Left and right singular vectors of a 3 x 3 matrix, each three orthonormal right-handed vectors.

    The last singular value has the sign of det F.
    """
    gram = [[sum(F[k][i] * F[k][j] for k in range(3)) for j in range(3)] for i in range(3)]
    values, V = eigen(gram)
    pairs = [[values[j], *(V[i][j] for i in range(3))] for j in range(3)]
    for a, b in ((0, 1), (1, 2), (0, 1)):
        larger = pairs[a][0] < pairs[b][0]
        pairs[a], pairs[b] = (
            [where(larger, y, x) for x, y in zip(pairs[a], pairs[b], strict=True)],
            [where(larger, x, y) for x, y in zip(pairs[a], pairs[b], strict=True)],
        )
    v = [pairs[0][1:], pairs[1][1:]]
    v.append(_cross(*v))
    first = _unit(_of(F, v[0]))
    second = _of(F, v[1])
    along = _dot(first, second)
    second = _unit([x - along * y for x, y in zip(second, first, strict=True)])
    return [first, second, _cross(first, second)], v


def _of(F, x):
    return [sum(F[i][j] * x[j] for j in range(3)) for i in range(3)]


def _times(H, x):
    return [_dot(row, x) for row in H]


def _dot(a, b):
    return sum(x * y for x, y in zip(a, b, strict=True))


def _cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def _unit(a):
    length = maximum(sqrt(_dot(a, a)), TINY)
    return [x / length for x in a]
