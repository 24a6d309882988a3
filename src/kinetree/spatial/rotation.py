"""Coordinate rotations E, which take the coordinates of a vector in frame A to those in frame B.

Three kinds, because most rotations in a mechanism are cheap: the identity, rotations about a coordinate axis, and all
others. Each rotates vectors and matrices at the least cost (Featherstone, section A.5).
"""

from __future__ import annotations

from kinetree.spatial.scalar import SNAP, is_zero
from kinetree.spatial.vectors import Matrix3, Quantity, Symmetric3, Vector3, writers

_RIGHT_ANGLES = ((0.0, 1.0), (1.0, 0.0))


class Rotation(Quantity):
    """A coordinate rotation E from A to B (abstract).

    Notes
    -----
    ``E @ v`` rotates a :class:`Vector3`, ``E @ E2`` composes, ``E.inverse_apply(v)`` is ``E^T v``.
    """

    __slots__ = ()

    def congruence(self, S: Symmetric3) -> Symmetric3:
        """``E S E^T`` of a symmetric matrix."""
        raise NotImplementedError

    def inverse_congruence(self, S: Symmetric3) -> Symmetric3:
        """``E^T S E`` of a symmetric matrix."""
        return self.T.congruence(S)

    def similarity(self, M: Matrix3) -> Matrix3:
        """``E M E^T`` of any matrix."""
        raise NotImplementedError

    def inverse_similarity(self, M: Matrix3) -> Matrix3:
        """``E^T M E`` of any matrix."""
        return self.T.similarity(M)


class IdentityRotation(Rotation):
    """The identity rotation, without any cost."""

    __slots__ = ()

    def __matmul__(self, other):
        if other.__class__ is Vector3 or isinstance(other, Rotation):
            return other
        return NotImplemented

    def inverse_apply(self, v: Vector3) -> Vector3:
        """``E^T v``."""
        return v

    @property
    def T(self) -> Rotation:
        """The inverse rotation."""
        return self

    @property
    def matrix(self) -> Matrix3:
        """The 3x3 matrix, with structural entries."""
        return Matrix3.identity()

    def congruence(self, S: Symmetric3) -> Symmetric3:
        return S

    def similarity(self, M: Matrix3) -> Matrix3:
        return M

    inverse_congruence = congruence
    inverse_similarity = similarity


class AxialRotation(Rotation):
    """Rotation of the coordinate frame about its own axis 0 (x), 1 (y) or 2 (z).

    Parameters
    ----------
    axis : int
        0, 1 or 2.
    c, s : scalar
        Cosine and sine of the angle by which frame B is turned relative to frame A.

    Notes
    -----
    ``rz = [[c, s, 0], [-s, c, 0], [0, 0, 1]]`` and its cyclic permutations (Featherstone, table 2.2 and section A.5).
    Rotating a symmetric matrix costs 8m + 7a, a general one 12m + 12a, plus at most 2m + 3a once for the products of
    c and s, which are kept.
    """

    __slots__ = ("axis", "c", "s", "_right_angle", "_products", "_doubles")

    def __init__(self, axis: int, c, s):
        _axial_axis(self, axis)
        _axial_c(self, c)
        _axial_s(self, s)
        _axial_right_angle(self, isinstance(c, float) and isinstance(s, float) and (abs(c), abs(s)) in _RIGHT_ANGLES)
        _axial_products(self, None)
        _axial_doubles(self, None)

    @property
    def products(self):
        """(s^2, c s), computed once (2m)."""
        if self._products is None:
            _axial_products(self, (self.s * self.s, self.c * self.s))
        return self._products

    @property
    def doubles(self):
        """(2 c s, 1 - 2 s^2), computed once (3a)."""
        if self._doubles is None:
            s2, cs = self.products
            _axial_doubles(self, (cs + cs, 1.0 - (s2 + s2)))
        return self._doubles

    def __matmul__(self, other):
        if other.__class__ is Vector3:
            return _turn(self.axis, self.c, self.s, other)
        if other.__class__ is AxialRotation and other.axis == self.axis:
            c, s = self.c, self.s
            return AxialRotation(self.axis, c * other.c - s * other.s, s * other.c + c * other.s)
        if other.__class__ is IdentityRotation:
            return self
        if isinstance(other, Rotation):
            columns = [_turn(self.axis, self.c, self.s, Vector3(*column)) for column in other.matrix.T.rows]
            return GeneralRotation(Matrix3(tuple(zip(*columns, strict=True))))
        return NotImplemented

    def inverse_apply(self, v: Vector3) -> Vector3:
        """``E^T v`` (4m + 2a)."""
        return _turn(self.axis, self.c, -self.s, v)

    @property
    def T(self) -> Rotation:
        """The inverse rotation."""
        return AxialRotation(self.axis, self.c, -self.s)

    @property
    def matrix(self) -> Matrix3:
        """The 3x3 matrix; its constant entries are structural."""
        c, s = self.c, self.s
        return Matrix3(_cyclic(self.axis, ((c, s, 0.0), (-s, c, 0.0), (0.0, 0.0, 1.0))))

    def congruence(self, S: Symmetric3) -> Symmetric3:
        """``E S E^T`` (8m + 7a)."""
        if self._right_angle:  # a permutation: nothing to compute
            return Symmetric3.of(_permuted(S.matrix.rows, *_signed_permutation(self.matrix.rows)))
        s2, cs = self.products
        cs_2, c2 = self.doubles
        return _turn_symmetric(self.axis, self.c, self.s, s2, cs, cs_2, c2, S)

    def inverse_congruence(self, S: Symmetric3) -> Symmetric3:
        """``E^T S E`` (8m + 7a); the sign of s changes, its products are shared."""
        if self._right_angle:  # a permutation: nothing to compute
            return Symmetric3.of(_permuted(S.matrix.rows, *_signed_permutation(self.T.matrix.rows)))
        s2, cs = self.products
        cs_2, c2 = self.doubles
        return _turn_symmetric(self.axis, self.c, -self.s, s2, -cs, -cs_2, c2, S)

    def similarity(self, M: Matrix3) -> Matrix3:
        """``E M E^T`` (12m + 12a)."""
        if self._right_angle:  # a permutation: nothing to compute
            return Matrix3(_permuted(M.rows, *_signed_permutation(self.matrix.rows)))
        s2, cs = self.products
        return _turn_general(self.axis, self.c, self.s, s2, cs, M)

    def inverse_similarity(self, M: Matrix3) -> Matrix3:
        """``E^T M E`` (12m + 12a)."""
        if self._right_angle:  # a permutation: nothing to compute
            return Matrix3(_permuted(M.rows, *_signed_permutation(self.T.matrix.rows)))
        s2, cs = self.products
        return _turn_general(self.axis, self.c, -self.s, s2, -cs, M)


_axial_axis, _axial_c, _axial_s, _axial_right_angle, _axial_products, _axial_doubles = writers(AxialRotation)


def _turn(axis, c, s, v):
    """The axial rotation of a vector: only the two components across the axis change."""
    if axis == 2:
        return Vector3(c * v.x + s * v.y, c * v.y - s * v.x, v.z)
    if axis == 0:
        return Vector3(v.x, c * v.y + s * v.z, c * v.z - s * v.y)
    return Vector3(c * v.x - s * v.z, v.y, c * v.z + s * v.x)


def _turn_symmetric(axis, c, s, s2, cs, cs_2, c2, S):
    """E S E^T about an axis k; (i, j, k) is cyclic, and a, b, d are the entries ii, ij, jj; e, f are ik, jk."""
    if axis == 2:
        a, b, d, e, f, g = S.xx, S.xy, S.yy, S.xz, S.yz, S.zz
    elif axis == 0:
        a, b, d, e, f, g = S.yy, S.yz, S.zz, S.xy, S.xz, S.xx
    else:
        a, b, d, e, f, g = S.zz, S.xz, S.xx, S.yz, S.xy, S.yy
    difference = d - a
    alpha = cs_2 * b + s2 * difference
    a, b, d = a + alpha, cs * difference + c2 * b, d - alpha
    e, f = c * e + s * f, c * f - s * e
    if axis == 2:
        return Symmetric3(a, b, d, e, f, g)
    if axis == 0:
        return Symmetric3(g, e, a, f, b, d)
    return Symmetric3(d, f, g, b, e, a)


def _turn_general(axis, c, s, s2, cs, M):
    """E M E^T about an axis k, on the rows and columns taken in the cyclic order (i, j, k)."""
    order = (axis + 1) % 3, (axis + 2) % 3, axis
    (ii, ij, ik), (ji, jj, jk), (ki, kj, kk) = ([M.rows[row][column] for column in order] for row in order)
    total = ij + ji
    difference = jj - ii
    alpha = cs * total + s2 * difference
    beta = cs * difference - s2 * total
    return Matrix3(_cyclic(axis, (
        (ii + alpha, ij + beta, c * ik + s * jk),
        (ji + beta, jj - alpha, c * jk - s * ik),
        (c * ki + s * kj, c * kj - s * ki, kk),
    )))  # fmt: skip


def _cyclic(axis, rows):
    """Rows and columns in the order (i, j, k), k the axis, as those of the axes 0, 1, 2."""
    at = [(m - axis - 1) % 3 for m in range(3)]
    return tuple(tuple(rows[row][column] for column in at) for row in at)


class GeneralRotation(Rotation):
    """A rotation given by its 3x3 matrix.

    Parameters
    ----------
    matrix : Matrix3 or nested sequence
        Orthonormal with determinant +1 (not checked: the entries may be symbols).

    Notes
    -----
    Rotating a symmetric matrix costs 28m + 29a, a general one 40m + 39a, a product of rotations 24m + 15a
    (Featherstone, section A.5). If an entry is the Python float +-1.0, with structural zeros in its row and column, the
    rotation is an axial one after a signed permutation of the axes, and matrices are rotated in two steps, for 8m + 7a
    and 12m + 12a, or nothing at all for a pure permutation. If only one entry is a structural zero, the rotation is two
    axial ones: 8m + 4a for a vector, 16m + 14a and 24m + 24a for matrices.
    """

    __slots__ = ("matrix", "_factors", "_turns")

    def __init__(self, matrix):
        _general_matrix(self, matrix if matrix.__class__ is Matrix3 else Matrix3(matrix))
        _general_factors(self, None)
        _general_turns(self, None)

    @property
    def factors(self):
        """(A, permutation, signs) of ``E = A P`` with A axial or identity, or () if the rotation has no fixed axis."""
        if self._factors is None:
            _general_factors(self, _axial_after_permutation(self.matrix.rows))
        return self._factors

    @property
    def turns(self):
        """(A, permutation, B) of ``E = A P B`` with A and B axial, P cyclic, or () if no entry is a structural zero."""
        if self._turns is None:
            _general_turns(self, () if self.factors else _two_axial(self.matrix.rows))
        return self._turns

    def __matmul__(self, other):
        if other.__class__ is Vector3:
            if self.turns and not any(map(is_zero, other)):
                A, permutation, B = self.turns
                v = list(B @ other)
                return A @ Vector3(*(v[m] for m in permutation))
            return self.matrix @ other
        if other.__class__ is GeneralRotation:
            if _has_zero(self.matrix.rows) or _has_zero(other.matrix.rows):
                return GeneralRotation(self.matrix @ other.matrix)
            return GeneralRotation(_product_of_rotations(self.matrix, other.matrix))
        if other.__class__ is AxialRotation:
            rows = [_turn(other.axis, other.c, -other.s, Vector3(*row)) for row in self.matrix.rows]
            return GeneralRotation(Matrix3(tuple(tuple(row) for row in rows)))
        if other.__class__ is IdentityRotation:
            return self
        return NotImplemented

    def inverse_apply(self, v: Vector3) -> Vector3:
        """``E^T v`` (9m + 6a)."""
        if self.turns and not any(map(is_zero, v)):
            A, permutation, B = self.turns
            w, turned = list(A.inverse_apply(v)), [None] * 3
            for k, m in enumerate(permutation):
                turned[m] = w[k]
            return B.inverse_apply(Vector3(*turned))
        x, y, z = v.x, v.y, v.z
        (a, b, c), (d, e, f), (g, h, i) = self.matrix.rows
        return Vector3(a * x + d * y + g * z, b * x + e * y + h * z, c * x + f * y + i * z)

    @property
    def T(self) -> Rotation:
        """The inverse rotation."""
        return GeneralRotation(self.matrix.T)

    def congruence(self, S: Symmetric3) -> Symmetric3:
        """``E S E^T`` (28m + 29a)."""
        if self.factors:
            A, permutation, signs = self.factors
            return A.congruence(Symmetric3.of(_permuted(S.matrix.rows, permutation, signs)))
        if self.turns:
            A, permutation, B = self.turns
            return A.congruence(Symmetric3.of(_permuted(B.congruence(S).matrix.rows, permutation, _PLUS)))
        (E11, E12, _), (E21, E22, E23), (E31, E32, E33) = self.matrix.rows
        L11, L22 = S.xx - S.zz, S.yy - S.zz
        L31, L32 = S.xz + S.xz, S.yz + S.yz
        # S = L + zz 1 + v x, where L has a zero last column and v = (-yz, xz, 0)
        Y21 = E21 * L11 + E22 * S.xy + E23 * L31
        Y22 = E21 * S.xy + E22 * L22 + E23 * L32
        Y31 = E31 * L11 + E32 * S.xy + E33 * L31
        Y32 = E31 * S.xy + E32 * L22 + E33 * L32
        Z21 = Y21 * E11 + Y22 * E12
        Z22 = Y21 * E21 + Y22 * E22
        Z31 = Y31 * E11 + Y32 * E12
        Z32 = Y31 * E21 + Y32 * E22
        Z33 = Y31 * E31 + Y32 * E32
        Z11 = L11 + L22 - Z22 - Z33  # the trace does not change
        return Symmetric3(
            Z11 + S.zz,
            Z21 + (E32 * S.xz - E31 * S.yz),
            Z22 + S.zz,
            Z31 + (E21 * S.yz - E22 * S.xz),
            Z32 + (E12 * S.xz - E11 * S.yz),
            Z33 + S.zz,
        )

    def similarity(self, M: Matrix3) -> Matrix3:
        """``E M E^T`` (40m + 39a)."""
        if self.factors:
            A, permutation, signs = self.factors
            return A.similarity(Matrix3(_permuted(M.rows, permutation, signs)))
        if self.turns:
            A, permutation, B = self.turns
            return A.similarity(Matrix3(_permuted(B.similarity(M).rows, permutation, _PLUS)))
        (E11, E12, E13), (E21, E22, E23), (E31, E32, E33) = self.matrix.rows
        (A11, A12, A13), (A21, A22, A23), (A31, A32, A33) = M.rows
        L11, L22, L31, L32 = A11 - A33, A22 - A33, A31 + A13, A32 + A23
        Y11 = E11 * L11 + E12 * A21 + E13 * L31
        Y12 = E11 * A12 + E12 * L22 + E13 * L32
        Y21 = E21 * L11 + E22 * A21 + E23 * L31
        Y22 = E21 * A12 + E22 * L22 + E23 * L32
        Y31 = E31 * L11 + E32 * A21 + E33 * L31
        Y32 = E31 * A12 + E32 * L22 + E33 * L32
        Z22 = Y21 * E21 + Y22 * E22
        Z33 = Y31 * E31 + Y32 * E32
        Z11 = L11 + L22 - Z22 - Z33
        x = E12 * A13 - E11 * A23  # E v, with v = (-A23, A13, 0)
        y = E22 * A13 - E21 * A23
        z = E32 * A13 - E31 * A23
        return Matrix3(
            (
                (Z11 + A33, Y11 * E21 + Y12 * E22 - z, Y11 * E31 + Y12 * E32 + y),
                (Y21 * E11 + Y22 * E12 + z, Z22 + A33, Y21 * E31 + Y22 * E32 - x),
                (Y31 * E11 + Y32 * E12 - y, Y31 * E21 + Y32 * E22 + x, Z33 + A33),
            )
        )


_general_matrix, _general_factors, _general_turns = writers(GeneralRotation)


def _product_of_rotations(F, G):
    """F G, the third column as the vector product of the other two (24m + 15a; section A.5).

    The third column of G is not used. In a chain F1 @ (F2 @ (... @ G)) only the last third column is therefore of
    use, and a compiled product of n + 1 factors takes the book's (18m + 12a) n + 6m + 3a.
    """
    (a, b, _), (d, e, _), (g, h, _) = G.rows
    (p, q), (r, s), (t, u) = ((x * a + y * d + z * g, x * b + y * e + z * h) for x, y, z in F.rows)
    return Matrix3(((p, q, r * u - t * s), (r, s, t * q - p * u), (t, u, p * s - r * q)))


def _has_zero(rows):
    return any(is_zero(x) for row in rows for x in row)


def _permuted(rows, permutation, signs):
    """P M P^T for the signed permutation with P[i][permutation[i]] = signs[i]."""
    return tuple(
        tuple(
            rows[permutation[i]][permutation[j]] if signs[i] == signs[j] else -rows[permutation[i]][permutation[j]]
            for j in range(3)
        )
        for i in range(3)
    )


def _signed_permutation(rows):
    """(permutation, signs) if every row has one structural +-1 and otherwise structural zeros, else ()."""
    permutation, signs = [], []
    for row in rows:
        if not all(isinstance(x, float) and x in (0.0, 1.0, -1.0) for x in row):
            return ()
        units = [m for m in range(3) if row[m] != 0.0]
        if len(units) != 1:
            return ()
        permutation.append(units[0])
        signs.append(row[units[0]])
    return tuple(permutation), tuple(signs)


def _axial_after_permutation(rows):
    """Factor E = A P: P permutes and flips axes, A turns about axis k, E[k][m] is a structural +-1; () if none is."""
    exact = _signed_permutation(rows)
    if exact:
        return IdentityRotation(), *exact
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        for m in range(3):
            n, o = (m + 1) % 3, (m + 2) % 3
            if not (isinstance(rows[k][m], float) and abs(rows[k][m]) == 1.0):
                continue
            if not all(is_zero(x) for x in (rows[k][n], rows[k][o], rows[i][m], rows[j][m])):
                continue
            flip = rows[k][m]  # P sends axes (m, n, o) to (k, i, j), flipping the first and the last if E[k][m] is -1
            c, s = rows[i][n], rows[i][o] if flip > 0.0 else -rows[i][o]
            expected, found = (-s, flip * c), (rows[j][n], rows[j][o])
            pairs = zip(expected, found, strict=True)
            if any(isinstance(e, float) and isinstance(f, float) and abs(e - f) > 1e-9 for e, f in pairs):
                continue  # not a proper rotation: leave it to the formulas that use all nine entries
            return AxialRotation(k, c, s), _placed(k, i, j, m, n, o), _placed(k, i, j, flip, 1.0, flip)
    return ()


_PLUS = (1.0, 1.0, 1.0)


def _two_axial(rows):
    """Factor E = A P B around a structural zero E[k][m]: B turns about axis m, A about axis k; () if there is none."""
    for k in range(3):
        for m in range(3):
            if is_zero(rows[k][m]):
                i, j, n, o = (k + 1) % 3, (k + 2) % 3, (m + 1) % 3, (m + 2) % 3
                B = AxialRotation(m, rows[k][n], rows[k][o])
                return AxialRotation(k, rows[j][m], rows[i][m]), _placed(k, i, j, n, o, m), B
    return ()


def _placed(k, i, j, at_k, at_i, at_j):
    """A triple holding the given values at the positions k, i, j."""
    values = {k: at_k, i: at_i, j: at_j}
    return values[0], values[1], values[2]


def rotation_from_matrix(matrix) -> Rotation:
    """Choose the cheapest kind of rotation for a 3x3 matrix.

    Parameters
    ----------
    matrix : Matrix3 or array_like, shape (3, 3)
        Orthonormal with determinant +1. Constant entries within 1e-13 of 0 and +-1 are taken as exact.

    Returns
    -------
    Rotation
        Identity, axial if one axis is fixed, else general.

    Examples
    --------
    >>> rotation_from_matrix([[1.0, 0.0, 0.0], [0.0, 0.8, 0.6], [0.0, -0.6, 0.8]])
    AxialRotation(0, 0.8, 0.6)
    """
    rows = (matrix if matrix.__class__ is Matrix3 else Matrix3(matrix)).rows
    E = GeneralRotation(Matrix3(tuple(tuple(_snapped(x) for x in row) for row in rows)))
    if not E.factors:
        return E
    rows = E.matrix.rows
    # The cosine of an angle of 1e-7 is an exact 1 already: an axis is fixed only if its sines vanish too.
    fixed = [k for k in range(3) if _is_unit(rows[k], k) and _is_unit([row[k] for row in rows], k)]
    if len(fixed) == 3:
        return IdentityRotation()
    if not fixed:
        return E
    k = fixed[0]
    return AxialRotation(k, rows[(k + 1) % 3][(k + 1) % 3], rows[(k + 1) % 3][(k + 2) % 3])


def _is_unit(entries, k):
    """Whether three entries are exactly those of the unit vector along axis k."""
    return all(isinstance(x, float) and x == float(i == k) for i, x in enumerate(entries))


def _snapped(x):
    if isinstance(x, (float, int)):
        x = float(x)
        for exact in (0.0, 1.0, -1.0):
            if abs(x - exact) <= SNAP:
                return exact
    return x
