"""Pluecker transforms, stored as a rotation and an offset; one law per type they act on (Featherstone, table A.4)."""

from __future__ import annotations

import numpy as np

from kinetree.spatial.articulated import ArticulatedInertia
from kinetree.spatial.columns import Columns
from kinetree.spatial.field import AccelerationField
from kinetree.spatial.inertia import Inertia
from kinetree.spatial.motion import Force, Motion
from kinetree.spatial.rotation import AxialRotation, IdentityRotation, Rotation
from kinetree.spatial.scalar import is_zero
from kinetree.spatial.vectors import Quantity, Symmetric3, Vector3, assemble, refuse, writers

_ALLOWED = "Transform @ Motion, Force, Inertia, ArticulatedInertia, AccelerationField or Transform"


class Matrices(Quantity):
    """Base of transforms: their matrices, for tests and teaching; no algorithm needs them."""

    __slots__ = ()

    def homogeneous(self) -> np.ndarray:
        """``[[E, -E r], [0, 1]]``, taking point coordinates from A to B; shape (..., 4, 4) (Featherstone eq. 2.28)."""
        X = self.collapse()
        p = -(X.E @ X.r)
        rows = [(*row, x) for row, x in zip(X.E.matrix.rows, p, strict=True)]
        return assemble([*rows, (0.0, 0.0, 0.0, 1.0)])

    def matrix(self) -> np.ndarray:
        """The 6x6 motion transform, shape (..., 6, 6)."""
        return self._six_by_six(Motion)

    def force_matrix(self) -> np.ndarray:
        """The 6x6 force transform ``X^* = X^-T``, shape (..., 6, 6)."""
        return self._six_by_six(Force)

    def _six_by_six(self, kind) -> np.ndarray:
        X = self.collapse()
        columns = [list(X @ kind.of([float(i == k) for i in range(6)])) for k in range(6)]
        return assemble([tuple(row) for row in zip(*columns, strict=True)])


class Transform(Matrices):
    """The transform from frame A to frame B.

    Parameters
    ----------
    E : Rotation
        Coordinate rotation from A to B.
    r : Vector3
        Origin of B in A's coordinates [m].

    Notes
    -----
    ``X @ x`` takes anything from A to B by the law of its type, ``X.inverse_apply(x)`` takes it back; ``X1 @ X2`` is
    the transform that applies X2 first. If E is the identity or r is structurally zero, that part is skipped. An axial
    rotation with r along the same axis is an axial screw and costs as much as in table A.5.

    As matrices, ``X = [[E, 0], [-E r x, E]]`` for motions, ``X^* = [[E, -E r x], [0, E]]`` for forces (eq. 2.24-27).

    Examples
    --------
    >>> X = Transform(AxialRotation(2, 0.0, 1.0), Vector3(1.0, 0.0, 0.0))
    >>> X.apply_point(Vector3(1.0, 2.0, 0.0))
    Vector3(2.0, 0.0, 0.0)
    """

    __slots__ = ("E", "r", "_offset", "_turned", "_screw")

    def __init__(self, E: Rotation, r: Vector3):
        _transform_E(self, E)
        _transform_r(self, r)
        _transform_offset(self, not r.is_zero)
        _transform_turned(self, E.__class__ is not IdentityRotation)
        _transform_screw(self, None)

    @classmethod
    def identity(cls) -> Transform:
        """The identity transform."""
        return cls(IdentityRotation(), Vector3.zero())

    @classmethod
    def of(cls, E: Rotation, r: Vector3) -> Transform:
        """From a rotation and an offset, as the planar twin is made from its own."""
        return cls(E, r)

    @classmethod
    def shift(cls, r: Vector3) -> Transform:
        """To a frame with the same axes whose origin is at r [m]."""
        return cls(IdentityRotation(), r)

    def turn(self) -> Transform:
        """Its rotation alone, about the origin."""
        return Transform(self.E, Vector3.zero())

    @property
    def is_screw(self) -> bool:
        """True if E is axial and r lies along its axis: then E r = r and the order of the two does not matter."""
        if self._screw is None:
            along = [is_zero(x) for x in self.r]
            screw = self.E.__class__ is AxialRotation and all(along[k] for k in range(3) if k != self.E.axis)
            _transform_screw(self, screw)
        return self._screw

    def __matmul__(self, other):
        law = _APPLY.get(other.__class__)
        if law is None:
            if other.__class__ is FactoredTransform:
                return (self @ other.outer) @ other.inner
            raise refuse(self, "@", other, _ALLOWED)
        return law(self, other) if self._turned or self._offset else other

    def inverse_apply(self, other):
        """``X^-1`` applied to anything that ``X @`` takes: ``X^T f`` for a force, ``X^T I X`` for an inertia."""
        law = _INVERSE.get(other.__class__)
        if law is None:
            if other.__class__ is FactoredTransform:
                return self.inverse_apply(other.outer) @ other.inner
            raise refuse(self, ".inverse_apply", other, _ALLOWED)
        return law(self, other) if self._turned or self._offset else other

    def inverse(self) -> Transform:
        """The transform from B to A: ``plx(E^T, -E r)`` (9m + 6a)."""
        return Transform(self.E.T, -(self.E @ self.r) if self._offset else self.r)

    def collapse(self) -> Transform:
        """Itself: a transform in one piece already."""
        return self

    def apply_point(self, p: Vector3) -> Vector3:
        """Coordinates in B of the point with coordinates p in A [m]: ``E (p - r)``."""
        return self.E @ (p - self.r if self._offset else p)

    def inverse_apply_point(self, p: Vector3) -> Vector3:
        """Coordinates in A of the point with coordinates p in B [m]: ``E^T p + r``."""
        p = self.E.inverse_apply(p)
        return p + self.r if self._offset else p

    # The laws of table A.4. Each is entered only if there is something to do.

    def _motion(self, m):
        w, v = m.angular, m.linear
        E = self.E
        return Motion(E @ w, E @ (v - self.r.cross(w)) if self._offset else E @ v)

    def _motion_inverse(self, m):
        w, v = self.E.inverse_apply(m.angular), self.E.inverse_apply(m.linear)
        return Motion(w, v + self.r.cross(w) if self._offset else v)

    def _force(self, f):
        n, f = f.angular, f.linear
        E = self.E
        return Force(E @ (n - self.r.cross(f)) if self._offset else E @ n, E @ f)

    def _force_inverse(self, f):
        n, f = self.E.inverse_apply(f.angular), self.E.inverse_apply(f.linear)
        return Force(n + self.r.cross(f) if self._offset else n, f)

    def _inertia(self, body):
        E = self.E
        if self.is_screw:  # the same cost in either order for a full inertia, less for one with zeros
            body = Inertia(body.m, E @ body.h, E.congruence(body.I))
            return _shifted(body, self.r) if self._offset else body
        if self._offset:
            body = _shifted(body, self.r)
        return Inertia(body.m, E @ body.h, E.congruence(body.I))

    def _inertia_inverse(self, body):
        E = self.E
        body = Inertia(body.m, E.inverse_apply(body.h), E.inverse_congruence(body.I))
        return _shifted(body, -self.r) if self._offset else body

    def _articulated(self, body):
        if self.is_screw:
            body = body.rotated(self.E)
            return body.shifted(self.r) if self._offset else body
        if self._offset:
            body = body.shifted(self.r)
        return body.rotated(self.E) if self._turned else body

    def _articulated_inverse(self, body):
        if self._turned:
            body = body.unrotated(self.E)
        return body.shifted(-self.r) if self._offset else body

    def _field(self, field):
        if not self._turned:  # a new origin, the same gradient
            return AccelerationField(field.w, field.dw, field.at(self.r), field.gradient)
        E = self.E
        return AccelerationField(E @ field.w, E @ field.dw, E @ (field.at(self.r) if self._offset else field.a))

    def _field_inverse(self, field):
        if self._turned:
            E = self.E
            w, dw, a = (E.inverse_apply(x) for x in (field.w, field.dw, field.a))
            field = AccelerationField(w, dw, a)
        return AccelerationField(field.w, field.dw, field.at(-self.r)) if self._offset else field

    def _transform(self, other):
        E = self.E @ other.E if self._turned else other.E
        return Transform(E, other.r + other.E.inverse_apply(self.r) if self._offset else other.r)

    def _transform_inverse(self, other):
        return self.inverse()._transform(other)


_transform_E, _transform_r, _transform_offset, _transform_turned, _transform_screw = writers(Transform)

_APPLY = {
    Motion: Transform._motion,
    Force: Transform._force,
    Inertia: Transform._inertia,
    ArticulatedInertia: Transform._articulated,
    AccelerationField: Transform._field,
    Transform: Transform._transform,
    Columns: lambda X, S: S.each(X.__matmul__),
}
_INVERSE = {
    Motion: Transform._motion_inverse,
    Force: Transform._force_inverse,
    Inertia: Transform._inertia_inverse,
    ArticulatedInertia: Transform._articulated_inverse,
    AccelerationField: Transform._field_inverse,
    Transform: Transform._transform_inverse,
    Columns: lambda X, S: S.each(X.inverse_apply),
}


def _shifted(body, r):
    """The inertia of a rigid body about the point r (12m + 18a).

    With y = h - m r, ``r x h x + y x r x = h r^T + r y^T - (r . (h + y)) 1``, a sum of products of vectors.
    """
    h = body.h
    y = h - r * body.m
    p, q, s = r.x * (h.x + y.x), r.y * (h.y + y.y), r.z * (h.z + y.z)
    I = body.I
    return Inertia(
        body.m,
        y,
        Symmetric3(
            I.xx - (q + s),
            I.xy + (h.y * r.x + r.y * y.x),
            I.yy - (p + s),
            I.xz + (h.z * r.x + r.z * y.x),
            I.yz + (h.z * r.y + r.z * y.y),
            I.zz - (p + q),
        ),
    )


class FactoredTransform(Matrices):
    """``outer @ inner`` kept as two transforms that are applied one after the other.

    Parameters
    ----------
    outer, inner : Transform or FactoredTransform
        ``inner`` acts first; typically the constant transform to the joint, and ``outer`` the joint's own.

    Notes
    -----
    Two cheap factors often cost less than their product: constant rotations fold into permutations, joint transforms
    are axial screws (Featherstone, section A.4).

    Examples
    --------
    >>> from kinetree.spatial import FactoredTransform, Motion, Transform, Vector3
    >>> from kinetree.spatial.rotations import rx, rz
    >>> outer, inner = Transform(rz(0.3), Vector3(1.0, 0.0, 0.0)), Transform(rx(0.2), Vector3(0.0, 2.0, 0.0))
    >>> v = Motion.of([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    >>> both = FactoredTransform(outer, inner) @ v
    >>> bool(abs(both.array() - (outer @ (inner @ v)).array()).max() < 1e-15)
    True
    """

    __slots__ = ("outer", "inner")

    def __init__(self, outer, inner):
        _factored_outer(self, outer)
        _factored_inner(self, inner)

    def __matmul__(self, other):
        return self.outer @ (self.inner @ other)

    def inverse_apply(self, other):
        """``X^-1`` applied to anything that ``X @`` takes."""
        return self.inner.inverse_apply(self.outer.inverse_apply(other))

    def inverse(self) -> FactoredTransform:
        """The transform back, in two factors as well."""
        return FactoredTransform(self.inner.inverse(), self.outer.inverse())

    def collapse(self) -> Transform:
        """The product as one Transform."""
        return self.outer.collapse() @ self.inner.collapse()

    def apply_point(self, p: Vector3) -> Vector3:
        """Coordinates of a point after the transform."""
        return self.outer.apply_point(self.inner.apply_point(p))

    def inverse_apply_point(self, p: Vector3) -> Vector3:
        """Coordinates of a point before the transform."""
        return self.inner.inverse_apply_point(self.outer.inverse_apply_point(p))


_factored_outer, _factored_inner = writers(FactoredTransform)
