"""Three-dimensional vectors, matrices and symmetric matrices over any scalar.

The classes are immutable, so components may be shared freely.
"""

from __future__ import annotations

import operator
from dataclasses import FrozenInstanceError

import numpy as np

from kinetree.spatial.scalar import is_zero


class Immutable:
    """Base of classes whose objects never change.

    Their constructors write through the descriptors of their slots (`writers`), since a class that refuses assignments
    also refuses those of its constructor; ``object.__setattr__`` takes longer.
    """

    __slots__ = ()

    def __setattr__(self, name: str, value: object) -> None:
        raise FrozenInstanceError(
            f"{type(self).__name__} is immutable, so {name} cannot be set. Make a new one; model.replace(I=..., "
            "X_T=..., gravity=...) gives a model with other values"
        )

    def __delattr__(self, name: str) -> None:
        raise FrozenInstanceError(f"{type(self).__name__} is immutable, so {name} cannot be deleted")

    def _values(self) -> list:
        """The values that make another one: those of the slots whose names have no underscore."""
        slots = (name for kind in reversed(type(self).__mro__) for name in vars(kind).get("__slots__", ()))
        return [getattr(self, name) for name in slots if name[0] != "_"]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self._values()))})"

    def __setstate__(self, state: tuple) -> None:
        """Fill in the values of a copy or a pickle."""
        for name, value in state[1].items():
            object.__setattr__(self, name, value)


class Quantity(Immutable):
    """Base of everything in the algebra that is not a scalar; NumPy defers ``array * quantity`` to it.

    Examples
    --------
    >>> import numpy as np
    >>> from kinetree.spatial import Quantity, Vector3
    >>> isinstance(Vector3(1.0, 0.0, 0.0), Quantity)
    True
    >>> type(np.float64(2.0) * Vector3(1.0, 0.0, 0.0)).__name__  # not an array of three
    'Vector3'
    """

    __slots__ = ()
    __array_ufunc__ = None


def refuse(left, operation: str, right, allowed: str) -> TypeError:
    """The error for an operation that has no meaning in the algebra."""
    names = type(left).__name__, type(right).__name__
    return TypeError(f"{names[0]} {operation} {names[1]} has no meaning. Allowed: {allowed}.")


class Entrywise(Quantity):
    """Base of linear maps whose differences and multiples are those of their values; ``MAPS`` names the arguments."""

    __slots__ = ()
    MAPS = "Vector3"

    def __sub__(self, other):
        if other.__class__ is not self.__class__:
            name = type(self).__name__
            raise refuse(self, "-", other, f"{name} - {name}")
        return self.__class__(*map(operator.sub, self._values(), other._values()))

    def __neg__(self):
        return self.__class__(*map(operator.neg, self._values()))

    def __mul__(self, scale):
        if isinstance(scale, Quantity):
            name = type(self).__name__
            raise refuse(self, "*", scale, f"{name} * scalar, {name} @ {self.MAPS}")
        return self.__class__(*(x * scale for x in self._values()))

    __rmul__ = __mul__


def writers(kind: type) -> list:
    """The setters of the slots of a class of immutable objects, in their order; for its own methods."""
    return [vars(kind)[name].__set__ for name in vars(kind)["__slots__"]]


def assemble(rows) -> np.ndarray:
    """Stack a nested sequence of scalars into a NumPy array whose leading axes are the batch.

    Parameters
    ----------
    rows : nested sequence of scalars
        One level (a vector) or two levels (a matrix) deep.

    Returns
    -------
    ndarray, shape (..., n) or (..., n, m)

    Examples
    --------
    >>> assemble([[1.0, np.zeros(5)], [0.0, 2.0]]).shape
    (5, 2, 2)
    """
    nested = [list(row) if isinstance(row, (list, tuple)) else row for row in rows]
    if nested and isinstance(nested[0], list):
        return np.stack([assemble(row) for row in _leveled(nested)], axis=-2)
    return np.stack(np.broadcast_arrays(*nested), axis=-1)


def _leveled(rows):
    """Give every entry the batch shape of the whole matrix."""
    shape = np.broadcast_shapes(*(np.shape(entry) for row in rows for entry in row))
    return [[np.broadcast_to(entry, shape) for entry in row] for row in rows]


class Vector3(Quantity):
    """A vector of three scalars, in the coordinates of its context.

    Parameters
    ----------
    x, y, z : scalar

    Examples
    --------
    >>> Vector3(1.0, 0.0, 0.0).cross(Vector3(0.0, 1.0, 0.0))
    Vector3(0.0, 0.0, 1.0)
    """

    __slots__ = ("x", "y", "z")

    def __init__(self, x, y, z):
        _vector_x(self, x)
        _vector_y(self, y)
        _vector_z(self, z)

    @classmethod
    def zero(cls) -> Vector3:
        """The vector whose components are structural zeros."""
        return _ZERO

    @classmethod
    def unit(cls, axis: int) -> Vector3:
        """The unit vector along coordinate axis 0, 1 or 2, with structural entries."""
        return (Vector3(1.0, 0.0, 0.0), Vector3(0.0, 1.0, 0.0), Vector3(0.0, 0.0, 1.0))[axis]

    @classmethod
    def of(cls, three) -> Vector3:
        """Build from any sequence of three scalars; a plain NumPy vector becomes Python floats."""
        return cls(*(three.tolist() if isinstance(three, np.ndarray) and three.ndim == 1 else three))

    @property
    def is_zero(self) -> bool:
        """True if all components are structural zeros (Python floats 0.0)."""
        return is_zero(self.x) and is_zero(self.y) and is_zero(self.z)

    def __iter__(self):
        yield self.x
        yield self.y
        yield self.z

    def __getitem__(self, k):
        """Component 0, 1 or 2, as in ``model.gravity[2]``."""
        return (self.x, self.y, self.z)[k]

    def __array__(self, dtype=None, copy=None):
        """The components along the last axis: ``np.asarray(model.gravity)``, ``np.cross(p, model.gravity)``."""
        return assemble(list(self)).astype(dtype, copy=False)

    def __add__(self, other):
        if other.__class__ is not Vector3:
            return NotImplemented
        return Vector3(self.x + other.x, self.y + other.y, self.z + other.z)

    def __sub__(self, other):
        if other.__class__ is not Vector3:
            return NotImplemented
        return Vector3(self.x - other.x, self.y - other.y, self.z - other.z)

    def __neg__(self):
        return Vector3(-self.x, -self.y, -self.z)

    def __mul__(self, scale):
        if isinstance(scale, Quantity):
            return NotImplemented
        return Vector3(self.x * scale, self.y * scale, self.z * scale)

    __rmul__ = __mul__

    def __truediv__(self, scale):
        if isinstance(scale, Quantity):
            return NotImplemented
        return Vector3(self.x / scale, self.y / scale, self.z / scale)

    def dot(self, other: Vector3):
        """Scalar product (3m + 2a)."""
        return self.x * other.x + self.y * other.y + self.z * other.z

    def cross(self, other: Vector3) -> Vector3:
        """Vector product (6m + 3a)."""
        return Vector3(
            self.y * other.z - self.z * other.y,
            self.z * other.x - self.x * other.z,
            self.x * other.y - self.y * other.x,
        )

    def turned(self, w: Vector3) -> Vector3:
        """``w x self``: the rate of a vector that turns with angular velocity w; in the plane w is a scalar."""
        return w.cross(self)

    def outer(self, other: Vector3) -> Matrix3:
        """The dyad ``self other^T`` (9m)."""
        x, y, z = other.x, other.y, other.z
        return Matrix3(tuple((a * x, a * y, a * z) for a in (self.x, self.y, self.z)))

    def array(self) -> np.ndarray:
        """NumPy array of shape (..., 3)."""
        return assemble([self.x, self.y, self.z])


_vector_x, _vector_y, _vector_z = writers(Vector3)

_ZERO = Vector3(0.0, 0.0, 0.0)


class Matrix3(Quantity):
    """A 3x3 matrix of scalars.

    Parameters
    ----------
    rows : sequence of three sequences of three scalars

    Examples
    --------
    >>> Matrix3.cross(Vector3(1.0, 2.0, 3.0)) @ Vector3(0.0, 0.0, 1.0)
    Vector3(2.0, -1.0, 0.0)
    """

    __slots__ = ("rows",)

    def __init__(self, rows):
        if rows.__class__ is not tuple:
            rows = rows.tolist() if isinstance(rows, np.ndarray) and rows.ndim == 2 else rows
            rows = tuple(tuple(row) for row in rows)
        _matrix_rows(self, rows)

    @classmethod
    def zero(cls) -> Matrix3:
        """The matrix of structural zeros."""
        return cls(((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)))

    @classmethod
    def identity(cls) -> Matrix3:
        """The identity with structural entries."""
        return cls(((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)))

    @classmethod
    def cross(cls, v: Vector3) -> Matrix3:
        """The matrix ``v x`` with ``(v x) b = v.cross(b)`` (Featherstone eq. 2.23)."""
        x, y, z = v.x, v.y, v.z
        return cls(((0.0, -z, y), (z, 0.0, -x), (-y, x, 0.0)))

    def __getitem__(self, index):
        i, j = index
        return self.rows[i][j]

    def __add__(self, other):
        if other.__class__ is not Matrix3:
            return NotImplemented
        return Matrix3(tuple((a + d, b + e, c + f) for (a, b, c), (d, e, f) in zip(self.rows, other.rows, strict=True)))

    def __sub__(self, other):
        if other.__class__ is not Matrix3:
            return NotImplemented
        return Matrix3(tuple((a - d, b - e, c - f) for (a, b, c), (d, e, f) in zip(self.rows, other.rows, strict=True)))

    def __neg__(self):
        return Matrix3(tuple((-a, -b, -c) for a, b, c in self.rows))

    def __mul__(self, scale):
        if isinstance(scale, Quantity):
            return NotImplemented
        return Matrix3(tuple((a * scale, b * scale, c * scale) for a, b, c in self.rows))

    __rmul__ = __mul__

    def __matmul__(self, other):
        if other.__class__ is Vector3:
            x, y, z = other.x, other.y, other.z
            (a, b, c), (d, e, f), (g, h, i) = self.rows
            return Vector3(a * x + b * y + c * z, d * x + e * y + f * z, g * x + h * y + i * z)
        if other.__class__ is Matrix3:
            (a, b, c), (d, e, f), (g, h, i) = other.rows
            return Matrix3(
                tuple((x * a + y * d + z * g, x * b + y * e + z * h, x * c + y * f + z * i) for x, y, z in self.rows)
            )
        return NotImplemented

    @property
    def T(self) -> Matrix3:
        """The transpose."""
        return Matrix3(tuple(zip(*self.rows, strict=True)))

    @property
    def trace(self):
        """Sum of the diagonal."""
        rows = self.rows
        return rows[0][0] + rows[1][1] + rows[2][2]

    @property
    def vee(self) -> Vector3:
        """(A32 - A23, A13 - A31, A21 - A12), twice the vector of the skew-symmetric part (3a)."""
        (_, a12, a13), (a21, _, a23), (a31, a32, _) = self.rows
        return Vector3(a32 - a23, a13 - a31, a21 - a12)

    def array(self) -> np.ndarray:
        """NumPy array of shape (..., 3, 3)."""
        return assemble(self.rows)


(_matrix_rows,) = writers(Matrix3)


class Symmetric3(Entrywise):
    """A symmetric 3x3 matrix, stored as its lower triangle row by row.

    Parameters
    ----------
    xx, xy, yy, xz, yz, zz : scalar
        The entries (1,1), (2,1), (2,2), (3,1), (3,2), (3,3).

    Examples
    --------
    >>> Symmetric3(1.0, 0.5, 2.0, 0.0, 0.0, 3.0) @ Vector3(0.0, 2.0, 1.0)
    Vector3(1.0, 4.0, 3.0)
    """

    __slots__ = ("xx", "xy", "yy", "xz", "yz", "zz")

    def __init__(self, xx, xy, yy, xz, yz, zz):
        _symmetric_xx(self, xx)
        _symmetric_xy(self, xy)
        _symmetric_yy(self, yy)
        _symmetric_xz(self, xz)
        _symmetric_yz(self, yz)
        _symmetric_zz(self, zz)

    @classmethod
    def zero(cls) -> Symmetric3:
        """The matrix of structural zeros."""
        return cls(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)

    @classmethod
    def diagonal(cls, xx, yy, zz) -> Symmetric3:
        """The matrix with this diagonal."""
        return cls(xx, 0.0, yy, 0.0, 0.0, zz)

    @classmethod
    def of(cls, matrix) -> Symmetric3:
        """The lower triangle of a 3x3 matrix (Matrix3, NumPy array or nested sequence)."""
        rows = (matrix if matrix.__class__ is Matrix3 else Matrix3(matrix)).rows
        return cls(rows[0][0], rows[1][0], rows[1][1], rows[2][0], rows[2][1], rows[2][2])

    def __iter__(self):
        return iter((self.xx, self.xy, self.yy, self.xz, self.yz, self.zz))

    def __getitem__(self, index):
        i, j = index
        return self.matrix.rows[i][j]

    def __add__(self, other):
        if other.__class__ is not Symmetric3:
            return NotImplemented
        return Symmetric3(
            self.xx + other.xx,
            self.xy + other.xy,
            self.yy + other.yy,
            self.xz + other.xz,
            self.yz + other.yz,
            self.zz + other.zz,
        )

    def __matmul__(self, other):
        if other.__class__ is Vector3:
            x, y, z = other.x, other.y, other.z
            return Vector3(
                self.xx * x + self.xy * y + self.xz * z,
                self.xy * x + self.yy * y + self.yz * z,
                self.xz * x + self.yz * y + self.zz * z,
            )
        if other.__class__ is Matrix3:
            return self.matrix @ other
        return NotImplemented

    def skew_product(self, r: Vector3) -> Matrix3:
        """``r x S``, a skew-symmetric times a symmetric matrix (15m + 9a; Featherstone section A.3)."""
        x, y, z = r.x, r.y, r.z
        z_xy, x_yz, y_xz = z * self.xy, x * self.yz, y * self.xz  # each of these is in two entries
        return Matrix3(
            (
                (y_xz - z_xy, y * self.yz - z * self.yy, y * self.zz - z * self.yz),
                (z * self.xx - x * self.xz, z_xy - x_yz, z * self.xz - x * self.zz),
                (x * self.xy - y * self.xx, x * self.yy - y * self.xy, x_yz - y_xz),
            )
        )

    @property
    def matrix(self) -> Matrix3:
        """All nine entries."""
        xy, xz, yz = self.xy, self.xz, self.yz
        return Matrix3(((self.xx, xy, xz), (xy, self.yy, yz), (xz, yz, self.zz)))

    @property
    def trace(self):
        """Sum of the diagonal."""
        return self.xx + self.yy + self.zz

    @property
    def inverse(self) -> Symmetric3:
        """The inverse of a regular matrix: cofactors over the determinant."""
        xx = self.yy * self.zz - self.yz * self.yz
        xy = self.xz * self.yz - self.xy * self.zz
        xz = self.xy * self.yz - self.xz * self.yy
        r = 1.0 / (self.xx * xx + self.xy * xy + self.xz * xz)
        yy = self.xx * self.zz - self.xz * self.xz
        yz = self.xy * self.xz - self.xx * self.yz
        zz = self.xx * self.yy - self.xy * self.xy
        return Symmetric3(xx * r, xy * r, yy * r, xz * r, yz * r, zz * r)

    def array(self) -> np.ndarray:
        """NumPy array of shape (..., 3, 3)."""
        return self.matrix.array()


_symmetric_xx, _symmetric_xy, _symmetric_yy, _symmetric_xz, _symmetric_yz, _symmetric_zz = writers(Symmetric3)
