"""Planar vector algebra: the spatial one without the coordinates that planar motion does not use (Featherstone, 2.16).

Motions are (w, v_x, v_y), forces (n, f_x, f_y). The operators are those of the spatial classes, so that code written
for the one runs on the other; every class gives its spatial counterpart in the x-y plane by ``.spatial()``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinetree.spatial.articulated import ArticulatedInertia
from kinetree.spatial.columns import Columns
from kinetree.spatial.field import AccelerationField
from kinetree.spatial.inertia import Inertia
from kinetree.spatial.motion import Force, Motion, SpatialVector, by_columns
from kinetree.spatial.rotation import AxialRotation
from kinetree.spatial.scalar import is_zero, sincos
from kinetree.spatial.transform import Transform
from kinetree.spatial.vectors import Entrywise, Matrix3, Quantity, Symmetric3, Vector3, assemble, refuse, writers


class Vector2(Quantity):
    """A vector in the plane.

    Parameters
    ----------
    x, y : scalar
    """

    __slots__ = ("x", "y")

    def __init__(self, x, y):
        _vector_x(self, x)
        _vector_y(self, y)

    @classmethod
    def zero(cls) -> Vector2:
        """The vector of structural zeros."""
        return cls(0.0, 0.0)

    @property
    def is_zero(self) -> bool:
        """True if both components are structural zeros."""
        return is_zero(self.x) and is_zero(self.y)

    def __iter__(self):
        yield self.x
        yield self.y

    def __add__(self, other):
        return Vector2(self.x + other.x, self.y + other.y) if other.__class__ is Vector2 else NotImplemented

    def __sub__(self, other):
        return Vector2(self.x - other.x, self.y - other.y) if other.__class__ is Vector2 else NotImplemented

    def __neg__(self):
        return Vector2(-self.x, -self.y)

    def __mul__(self, scale):
        return NotImplemented if isinstance(scale, Quantity) else Vector2(self.x * scale, self.y * scale)

    __rmul__ = __mul__

    def __truediv__(self, scale):
        return NotImplemented if isinstance(scale, Quantity) else Vector2(self.x / scale, self.y / scale)

    def dot(self, other: Vector2):
        """Scalar product."""
        return self.x * other.x + self.y * other.y

    def cross(self, other: Vector2):
        """The z component of the vector product, a scalar."""
        return self.x * other.y - self.y * other.x

    def turned(self, w) -> Vector2:
        """``w z x v``: a quarter turn, scaled by the scalar w."""
        return Vector2(-(w * self.y), w * self.x)


_vector_x, _vector_y = writers(Vector2)


class PlanarRotation(Quantity):
    """Rotation of coordinates in the plane: the part of a transform that turns.

    Parameters
    ----------
    c, s : scalar
        Cosine and sine of the angle by which the new axes are turned.

    Examples
    --------
    >>> PlanarRotation(0.0, 1.0) @ Vector2(1.0, 0.0)
    Vector2(0.0, -1.0)
    """

    __slots__ = ("c", "s")

    def __init__(self, c, s):
        _rotation_c(self, c)
        _rotation_s(self, s)

    def __matmul__(self, other):
        if other.__class__ is Vector2:
            return Vector2(self.c * other.x + self.s * other.y, self.c * other.y - self.s * other.x)
        if isinstance(other, Quantity):
            raise refuse(self, "@", other, "PlanarRotation @ Vector2, PlanarRotation @ scalar")
        return other  # an angular quantity, across the plane

    def inverse_apply(self, other):
        """The coordinates before the rotation."""
        return self.T @ other

    @property
    def T(self) -> PlanarRotation:
        """The rotation back."""
        return PlanarRotation(self.c, -self.s)

    @property
    def matrix(self) -> PlanarRotation:
        """Itself: it has ``rows``."""
        return self

    @property
    def rows(self):
        """The 2x2 matrix, row by row."""
        return ((self.c, self.s), (-self.s, self.c))


_rotation_c, _rotation_s = writers(PlanarRotation)


class _PlanarVector(SpatialVector):
    """A scalar angular part and a Vector2; sums and multiples are those of the spatial vectors."""

    __slots__ = ()

    @classmethod
    def of(cls, three):
        """Build from three scalars, the angular one first; a plain NumPy vector becomes Python floats."""
        a, x, y = three.tolist() if isinstance(three, np.ndarray) and three.ndim == 1 else three
        return cls(a, Vector2(x, y))

    @classmethod
    def zero(cls):
        """The zero vector, with structural zeros."""
        return cls(0.0, Vector2.zero())

    def __iter__(self):
        yield self.angular
        yield from self.linear


class PlanarMotion(_PlanarVector):
    """A planar motion vector (w, v).

    Parameters
    ----------
    angular : scalar
        [rad/s for a velocity].
    linear : Vector2
        [m/s].

    Examples
    --------
    >>> list(PlanarMotion.of([1.0, 0.0, 0.0]).cross(PlanarMotion.of([0.0, 1.0, 0.0])))
    [0.0, 0.0, 1.0]
    """

    __slots__ = ()
    _SUM = "PlanarMotion +- PlanarMotion, PlanarForce +- PlanarForce"

    def dot(self, force: PlanarForce):
        """Power of a force: ``w n + v . f``."""
        if force.__class__ is not PlanarForce:
            raise refuse(self, ".dot", force, "PlanarMotion.dot(PlanarForce)")
        return self.angular * force.angular + self.linear.dot(force.linear)

    def cross(self, other):
        """``v x m`` of a motion, ``v x* f`` of a force (Featherstone eq. 2.75)."""
        w, v = self.angular, self.linear
        if other.__class__ is PlanarMotion:
            return PlanarMotion(0.0, other.linear.turned(w) - v.turned(other.angular))
        if other.__class__ is PlanarForce:
            return PlanarForce(v.cross(other.linear), other.linear.turned(w))
        allowed = "PlanarMotion.cross(PlanarMotion), PlanarMotion.cross(PlanarForce)"
        return by_columns(self.cross, self, ".cross", other, allowed)

    def spatial(self) -> Motion:
        """The spatial motion in the x-y plane."""
        return Motion(Vector3(0.0, 0.0, self.angular), Vector3(*self.linear, 0.0))


class PlanarForce(_PlanarVector):
    """A planar force vector (n, f).

    Parameters
    ----------
    angular : scalar
        Moment about the origin [N m].
    linear : Vector2
        Force [N].
    """

    __slots__ = ()
    _SUM = "PlanarForce +- PlanarForce, PlanarMotion +- PlanarMotion"

    def dot(self, motion: PlanarMotion):
        """Power on a motion."""
        if motion.__class__ is not PlanarMotion:
            raise refuse(self, ".dot", motion, "PlanarForce.dot(PlanarMotion)")
        return motion.dot(self)

    def cross(self, other):
        """Not defined: a force is not an operator."""
        raise refuse(self, ".cross", other, "PlanarMotion.cross(PlanarMotion), PlanarMotion.cross(PlanarForce)")

    def spatial(self) -> Force:
        """The spatial force in the x-y plane."""
        return Force(Vector3(0.0, 0.0, self.angular), Vector3(*self.linear, 0.0))


class PlanarInertia(Entrywise):
    """Planar inertia of a rigid body: four numbers (Featherstone eq. 2.78).

    Parameters
    ----------
    m : scalar
        Mass [kg].
    h : Vector2
        First moment of mass [kg m].
    I : scalar
        Rotational inertia about the origin [kg m^2].
    """

    __slots__ = ("m", "h", "I")
    MAPS = "PlanarMotion"

    def __init__(self, m, h: Vector2, I):
        _inertia_m(self, m)
        _inertia_h(self, h)
        _inertia_I(self, I)

    @classmethod
    def zero(cls) -> PlanarInertia:
        """The zero inertia."""
        return cls(0.0, Vector2.zero(), 0.0)

    @classmethod
    def from_com(cls, m, c: Vector2, I_c) -> PlanarInertia:
        """From mass [kg], center of mass [m] and rotational inertia about it [kg m^2]."""
        h = c * m
        return cls(m, h, I_c + h.dot(c))

    @property
    def com(self) -> Vector2:
        """Center of mass [m]."""
        return self.h / self.m

    def __add__(self, other):
        if other.__class__ is PlanarArticulatedInertia:
            return other + self
        if other.__class__ is not PlanarInertia:
            raise refuse(self, "+", other, "PlanarInertia + PlanarInertia")
        return PlanarInertia(self.m + other.m, self.h + other.h, self.I + other.I)

    def __matmul__(self, motion: PlanarMotion) -> PlanarForce:
        """``(I w + h x v, m v + w z x h)``."""
        if motion.__class__ is not PlanarMotion:
            allowed = "PlanarInertia @ PlanarMotion -> PlanarForce"
            return by_columns(self.__matmul__, self, "@", motion, allowed, PlanarForce)
        w, v = motion.angular, motion.linear
        return PlanarForce(self.I * w + self.h.cross(v), v * self.m + self.h.turned(w))

    def inertial_force(self, field: PlanarAccelerationField) -> PlanarForce:
        """The force that a body needs to follow the field: ``f = m a + U h``, ``n = h x a + I dw``."""
        return PlanarForce(self.h.cross(field.a) + self.I * field.dw, field.a * self.m + field.gradient_apply(self.h))

    def spatial(self) -> Inertia:
        """A spatial inertia with the same planar part (the rest, which does not affect planar motion, is zero)."""
        return Inertia(self.m, Vector3(*self.h, 0.0), Symmetric3.diagonal(0.0, 0.0, self.I))

    def matrix(self) -> np.ndarray:
        """The 3x3 matrix, shape (..., 3, 3)."""
        m, (x, y) = self.m, self.h
        return assemble([(self.I, -y, x), (-y, m, 0.0), (x, 0.0, m)])


_inertia_m, _inertia_h, _inertia_I = writers(PlanarInertia)


class PlanarArticulatedInertia(Quantity):
    """Planar articulated-body inertia ``[[I, H], [H^T, M]]``: six numbers.

    Parameters
    ----------
    M : tuple of three scalars
        Lower triangle (xx, xy, yy) [kg].
    H : Vector2
        Moment per linear motion [kg m].
    I : scalar
        [kg m^2].

    Examples
    --------
    >>> from kinetree.spatial import PlanarArticulatedInertia, PlanarMotion, Vector2
    >>> body = PlanarArticulatedInertia((2.0, 0.0, 2.0), Vector2(0.0, 0.0), 0.1)
    >>> list(body @ PlanarMotion.of([1.0, 3.0, 0.0]))
    [0.1, 6.0, 0.0]
    """

    __slots__ = ("M", "H", "I")

    def __init__(self, M, H: Vector2, I):
        _articulated_M(self, M)
        _articulated_H(self, H)
        _articulated_I(self, I)

    @classmethod
    def of(cls, inertia: PlanarInertia) -> PlanarArticulatedInertia:
        """The inertia of a rigid body as that of an articulated one."""
        if inertia.__class__ is cls:
            return inertia
        return cls((inertia.m, 0.0, inertia.m), Vector2(-inertia.h.y, inertia.h.x), inertia.I)

    @classmethod
    def symmetric_part(cls, rows) -> PlanarArticulatedInertia:
        """That of a 3x3 matrix given by its rows."""
        half = [[0.5 * (rows[r][c] + rows[c][r]) for c in range(3)] for r in range(3)]
        return cls((half[1][1], half[2][1], half[2][2]), Vector2(half[0][1], half[0][2]), half[0][0])

    def __add__(self, other):
        if other.__class__ is PlanarInertia:
            other = PlanarArticulatedInertia.of(other)
        if other.__class__ is not PlanarArticulatedInertia:
            raise refuse(self, "+", other, "PlanarArticulatedInertia + either planar inertia")
        M = tuple(a + b for a, b in zip(self.M, other.M, strict=True))
        return PlanarArticulatedInertia(M, self.H + other.H, self.I + other.I)

    def __mul__(self, scale):
        if isinstance(scale, Quantity):
            raise refuse(self, "*", scale, "PlanarArticulatedInertia * scalar, ... @ PlanarMotion")
        return PlanarArticulatedInertia(tuple(a * scale for a in self.M), self.H * scale, self.I * scale)

    __rmul__ = __mul__

    def __matmul__(self, motion: PlanarMotion) -> PlanarForce:
        """``(I w + H . v, M v + H w)``."""
        if motion.__class__ is not PlanarMotion:
            allowed = "PlanarArticulatedInertia @ PlanarMotion -> PlanarForce"
            return by_columns(self.__matmul__, self, "@", motion, allowed, PlanarForce)
        (xx, xy, yy), w, v = self.M, motion.angular, motion.linear
        f = Vector2(xx * v.x + xy * v.y, xy * v.x + yy * v.y)
        return PlanarForce(self.I * w + self.H.dot(v), f + self.H * w)

    def minus_dyad(self, U: PlanarForce, scale) -> PlanarArticulatedInertia:
        """``I^A - scale U U^T``."""
        return self.minus_product([U], [U * scale])

    def minus_product(
        self, U: Sequence[PlanarForce], Y: Sequence[PlanarForce], kernel: Sequence[PlanarMotion] = ()
    ) -> PlanarArticulatedInertia:
        """``I^A - U Y^T`` for a symmetric product of the columns.

        The motions of ``kernel``, which the result maps to zero, are not used: six numbers allow few savings.
        """
        (xx, xy, yy), H, I = self.M, self.H, self.I
        for u, y in zip(U, Y, strict=True):
            f, g = u.linear, y.linear
            xx, xy, yy = xx - f.x * g.x, xy - f.y * g.x, yy - f.y * g.y
            H, I = H - g * u.angular, I - u.angular * y.angular
        return PlanarArticulatedInertia((xx, xy, yy), H, I)

    def spatial(self) -> ArticulatedInertia:
        """A spatial inertia with the same planar part, and zeros elsewhere."""
        (xx, xy, yy), H = self.M, self.H
        H = Matrix3(((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (H.x, H.y, 0.0)))
        return ArticulatedInertia(Symmetric3(xx, xy, yy, 0.0, 0.0, 0.0), H, Symmetric3.diagonal(0.0, 0.0, self.I))

    def matrix(self) -> np.ndarray:
        """The 3x3 matrix, shape (..., 3, 3)."""
        (xx, xy, yy), H = self.M, self.H
        return assemble([(self.I, H.x, H.y), (H.x, xx, xy), (H.y, xy, yy)])


_articulated_M, _articulated_H, _articulated_I = writers(PlanarArticulatedInertia)


class PlanarAccelerationField(Quantity):
    """Accelerations ``a(r) = a + U r`` of the points of a planar body, ``U = [[-w^2, -dw], [dw, -w^2]]``.

    Parameters
    ----------
    w, dw : scalar
        Angular velocity [rad/s] and acceleration [rad/s^2].
    a : Vector2
        Classical acceleration of the point at the origin [m/s^2].
    """

    __slots__ = ("w", "dw", "a")

    def __init__(self, w, dw, a: Vector2):
        _field_w(self, w)
        _field_dw(self, dw)
        _field_a(self, a)

    def gradient_apply(self, r: Vector2) -> Vector2:
        """``U r``."""
        return r.turned(self.dw) - r * (self.w * self.w)

    def twist_rate(self, v: Vector2) -> PlanarMotion:
        """Derivative ``(dw, a - w x v)`` of the twist of a body whose point at the origin has velocity v [m/s]."""
        return PlanarMotion(self.dw, self.a - v.turned(self.w))

    def at(self, point: Vector2) -> Vector2:
        """Acceleration of the point at ``point`` [m]."""
        return self.a + self.gradient_apply(point)

    def with_joint(self, V_J: PlanarMotion, A_J: PlanarMotion) -> PlanarAccelerationField:
        """The child's field from the parent's, as :meth:`AccelerationField.with_joint`."""
        coriolis = V_J.linear.turned(self.w + self.w + V_J.angular)
        return PlanarAccelerationField(self.w + V_J.angular, self.dw + A_J.angular, self.a + A_J.linear + coriolis)

    def spatial(self) -> AccelerationField:
        """The spatial field in the x-y plane."""
        return AccelerationField(
            Vector3(0.0, 0.0, self.w), Vector3(0.0, 0.0, self.dw), Vector3(self.a.x, self.a.y, 0.0)
        )


_field_w, _field_dw, _field_a = writers(PlanarAccelerationField)


class PlanarTransform(Quantity):
    """Planar transform from frame A to frame B (Featherstone eq. 2.77).

    Parameters
    ----------
    c, s : scalar
        Cosine and sine of the angle by which B is turned relative to A.
    r : Vector2
        Origin of B in A [m].

    Examples
    --------
    >>> list(PlanarTransform(0.0, 1.0, Vector2(1.0, 0.0)) @ PlanarMotion.of([1.0, 0.0, 0.0]))
    [1.0, 1.0, 0.0]
    """

    __slots__ = ("c", "s", "r")

    def __init__(self, c, s, r: Vector2):
        _transform_c(self, c)
        _transform_s(self, s)
        _transform_r(self, r)

    @classmethod
    def identity(cls) -> PlanarTransform:
        """The identity transform."""
        return cls(1.0, 0.0, Vector2.zero())

    @classmethod
    def from_angle(cls, angle, r: Vector2) -> PlanarTransform:
        """Of a frame turned by ``angle`` [rad] with its origin at r [m]: the book's Xpln."""
        s, c = sincos(angle)
        return cls(c, s, r)

    @classmethod
    def shift(cls, r: Vector2) -> PlanarTransform:
        """To a frame with the same axes whose origin is at r [m]."""
        return cls(1.0, 0.0, r)

    @classmethod
    def of(cls, E: PlanarRotation, r: Vector2) -> PlanarTransform:
        """From a rotation and an offset [m]."""
        return cls(E.c, E.s, r)

    @property
    def E(self) -> PlanarRotation:
        """Its rotation."""
        return PlanarRotation(self.c, self.s)

    def turn(self) -> PlanarTransform:
        """Its rotation alone, about the origin."""
        return PlanarTransform(self.c, self.s, Vector2.zero())

    def _turn(self, v):
        return Vector2(self.c * v.x + self.s * v.y, self.c * v.y - self.s * v.x)

    def _turn_back(self, v):
        return Vector2(self.c * v.x - self.s * v.y, self.c * v.y + self.s * v.x)

    def __matmul__(self, other):
        law = _APPLY.get(other.__class__)
        if law is None:
            raise refuse(self, "@", other, _ALLOWED)
        return law(self, other)

    def inverse_apply(self, other):
        """``X^-1`` applied to anything that ``X @`` takes."""
        if other.__class__ not in _APPLY:
            raise refuse(self, ".inverse_apply", other, _ALLOWED)
        return self.inverse() @ other

    def inverse(self) -> PlanarTransform:
        """The transform from B to A."""
        return PlanarTransform(self.c, -self.s, -self._turn(self.r))

    def apply_point(self, p: Vector2) -> Vector2:
        """Coordinates in B of the point with coordinates p in A [m]."""
        return self._turn(p - self.r)

    def collapse(self) -> PlanarTransform:
        """Itself."""
        return self

    def spatial(self) -> Transform:
        """The spatial transform in the x-y plane."""
        return Transform(AxialRotation(2, self.c, self.s), Vector3(*self.r, 0.0))

    def matrix(self) -> np.ndarray:
        """The 3x3 motion transform, shape (..., 3, 3)."""
        columns = [list(self @ PlanarMotion.of([float(i == k) for i in range(3)])) for k in range(3)]
        return assemble([tuple(row) for row in zip(*columns, strict=True)])

    def _motion(self, m):
        return PlanarMotion(m.angular, self._turn(m.linear + self.r.turned(m.angular)))

    def _force(self, f):
        return PlanarForce(f.angular - self.r.cross(f.linear), self._turn(f.linear))

    def _inertia(self, body):
        h = body.h - self.r * body.m
        return PlanarInertia(body.m, self._turn(h), body.I - self.r.dot(body.h + h))

    def _articulated(self, body):
        (xx, xy, yy), H, r, c, s = body.M, body.H, self.r, self.c, self.s
        Y = Vector2(H.x - (r.x * xy - r.y * xx), H.y - (r.x * yy - r.y * xy))
        I = body.I + r.y * (H.x + Y.x) - r.x * (H.y + Y.y)
        s2, cs, difference = s * s, c * s, yy - xx
        alpha = (cs + cs) * xy + s2 * difference
        M = xx + alpha, cs * difference + (1.0 - (s2 + s2)) * xy, yy - alpha
        return PlanarArticulatedInertia(M, self._turn(Y), I)

    def _field(self, field):
        return PlanarAccelerationField(field.w, field.dw, self._turn(field.at(self.r)))

    def _transform(self, other):
        c, s = self.c * other.c - self.s * other.s, self.s * other.c + self.c * other.s
        return PlanarTransform(c, s, other.r + other._turn_back(self.r))


_transform_c, _transform_s, _transform_r = writers(PlanarTransform)

_ALLOWED = "PlanarTransform @ any planar motion, force, inertia, acceleration field or transform"
_APPLY = {
    PlanarMotion: PlanarTransform._motion,
    PlanarForce: PlanarTransform._force,
    PlanarInertia: PlanarTransform._inertia,
    PlanarArticulatedInertia: PlanarTransform._articulated,
    PlanarAccelerationField: PlanarTransform._field,
    PlanarTransform: PlanarTransform._transform,
    Columns: lambda X, S: S.each(X.__matmul__),
}
