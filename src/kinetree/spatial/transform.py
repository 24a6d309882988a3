"""Plucker coordinate transforms, stored as a rotation and an offset (Featherstone, sections 2.8 and A.3).

One operator serves all types: ``X @ m`` is X m for a motion, X* f for a force, X* I X^-1 for inertias, the product for
transforms; ``X.inverse_apply`` is the inverse of the same, without forming X^-1.
"""

from __future__ import annotations

import numpy as np

from kinetree.spatial.articulated import ArticulatedInertia
from kinetree.spatial.field import AccelerationField
from kinetree.spatial.inertia import Inertia
from kinetree.spatial.motion import Force, Motion
from kinetree.spatial.rotation import IdentityRotation, Rotation
from kinetree.spatial.vectors import Matrix3, Quantity, Symmetric3, Vector3


class Transform(Quantity):
    """The coordinate transform ``B_X_A = rot(E) xlt(r)``.

    Parameters
    ----------
    E : Rotation
        Takes coordinates of vectors from A to B.
    r : Vector3
        Position of B's origin in A coordinates [m].

    Notes
    -----
    Source: Featherstone (2008), eq. 2.24-2.28, costs of table A.4. Identity rotations and structurally zero offsets cost nothing.
    """

    __slots__ = ("E", "r", "_shifts")

    def __init__(self, E: Rotation, r: Vector3):
        self.E = E
        self.r = r
        self._shifts = not r.is_zero

    @classmethod
    def identity(cls) -> Transform:
        """The transform that changes nothing."""
        return cls(IdentityRotation(), Vector3.zero())

    def __repr__(self):
        return f"Transform({self.E!r}, {self.r!r})"

    def __matmul__(self, other):
        law = _APPLY.get(other.__class__)
        return NotImplemented if law is None else law(self, other)

    def inverse_apply(self, other):
        """``X^-1`` applied to anything that ``X @`` takes."""
        law = _INVERSE_APPLY.get(other.__class__)
        if law is None:
            raise TypeError(f"a Transform does not act on {type(other).__name__}")
        return law(self, other)

    def apply_point(self, p: Vector3) -> Vector3:
        """Coordinates in B of the point with coordinates p in A: ``E (p - r)``."""
        return self.E @ (p - self.r)

    def inverse(self) -> Transform:
        """``A_X_B`` (9m + 6a)."""
        return Transform(self.E.T, -(self.E @ self.r))

    def collapse(self) -> Transform:
        """This transform itself; a `FactoredTransform` multiplies its factors here."""
        return self

    def homogeneous(self) -> np.ndarray:
        """The 4x4 matrix that takes points from A to B, (..., 4, 4) (eq. 2.28)."""
        E = self.E.matrix.array()
        r = (self.E @ self.r).array()
        batch = np.broadcast_shapes(E.shape[:-2], r.shape[:-1])
        T = np.zeros((*batch, 4, 4), np.result_type(E, r))
        T[..., :3, :3], T[..., :3, 3], T[..., 3, 3] = E, -r, 1.0
        return T

    def matrix(self) -> np.ndarray:
        """The 6x6 matrix for motions, (..., 6, 6); for tests and teaching (eq. 2.24)."""
        E = self.E.matrix.array()
        shift = -(self.E.matrix @ Matrix3.cross(self.r)).array()
        batch = np.broadcast_shapes(E.shape[:-2], shift.shape[:-2])
        X = np.zeros((*batch, 6, 6), np.result_type(E, shift))
        X[..., :3, :3] = X[..., 3:, 3:] = E
        X[..., 3:, :3] = shift
        return X


class FactoredTransform(Quantity):
    """A product of transforms kept as two factors, ``outer @ inner``: applying both costs less than multiplying them.

    Parameters
    ----------
    outer, inner : Transform
        The inner one acts first. For a joint: X_J and X_T.
    """

    __slots__ = ("outer", "inner")

    def __init__(self, outer, inner):
        self.outer = outer
        self.inner = inner

    def __repr__(self):
        return f"FactoredTransform({self.outer!r}, {self.inner!r})"

    def __matmul__(self, other):
        if isinstance(other, (Transform, FactoredTransform)):
            return self.collapse() @ other
        return self.outer @ (self.inner @ other)

    def inverse_apply(self, other):
        """``X^-1`` applied to anything that ``X @`` takes."""
        return self.inner.inverse_apply(self.outer.inverse_apply(other))

    def apply_point(self, p: Vector3) -> Vector3:
        """Coordinates in B of the point with coordinates p in A."""
        return self.outer.apply_point(self.inner.apply_point(p))

    def inverse(self) -> FactoredTransform:
        """The inverse, factored too."""
        return FactoredTransform(self.inner.inverse(), self.outer.inverse())

    def collapse(self) -> Transform:
        """The product as one transform (33m + 24a)."""
        return self.outer.collapse() @ self.inner.collapse()


# The laws of table A.4, one for each type -------------------------------------------------------------------------------


def _motion(X, m):
    """(E w, E (v - r x w))"""
    linear = m.linear - X.r.cross(m.angular) if X._shifts else m.linear
    return Motion(X.E @ m.angular, X.E @ linear)


def _motion_inverse(X, m):
    """(E^T w, E^T v + r x E^T w)"""
    w, v = X.E.inverse_apply(m.angular), X.E.inverse_apply(m.linear)
    return Motion(w, v + X.r.cross(w) if X._shifts else v)


def _force(X, f):
    """(E (n - r x f), E f)"""
    moment = f.angular - X.r.cross(f.linear) if X._shifts else f.angular
    return Force(X.E @ moment, X.E @ f.linear)


def _force_inverse(X, f):
    """(E^T n + r x E^T f, E^T f)"""
    n, f = X.E.inverse_apply(f.angular), X.E.inverse_apply(f.linear)
    return Force(n + X.r.cross(f) if X._shifts else n, f)


def _field(X, field):
    """The acceleration field seen from B: a' = E (a + U r)."""
    a = field.a + field.gradient @ X.r if X._shifts else field.a
    return AccelerationField(X.E @ field.w, X.E @ field.dw, X.E @ a)


def _field_inverse(X, field):
    back = AccelerationField(X.E.inverse_apply(field.w), X.E.inverse_apply(field.dw), X.E.inverse_apply(field.a))
    return AccelerationField(back.w, back.dw, back.a - back.gradient @ X.r) if X._shifts else back


def _product(X, Y):
    """plx(E1 E2, r2 + E2^T r1)"""
    return Transform(X.E @ Y.E, Y.r + Y.E.inverse_apply(X.r) if X._shifts else Y.r)


def _quotient(X, Y):
    """X^-1 Y"""
    return _product(X.inverse(), Y)


def _product_of_crosses(a: Vector3, b: Vector3) -> Symmetric3:
    """``-(a x)(b x)`` for vectors whose product is symmetric: a . b 1 - b a^T (6m + 3a)."""
    xx, yy, zz = a.x * b.x, a.y * b.y, a.z * b.z
    return Symmetric3(yy + zz, -(a.x * b.y), xx + zz, -(a.x * b.z), -(a.y * b.z), xx + yy)


def _lower_product_of_crosses(a: Vector3, b: Vector3) -> Symmetric3:
    """The lower triangle of ``(a x)(b x) = b a^T - (a . b) 1``."""
    xx, yy, zz = a.x * b.x, a.y * b.y, a.z * b.z
    return Symmetric3(-(yy + zz), b.y * a.x, -(xx + zz), b.z * a.x, b.z * a.y, -(xx + yy))


def _inertia(X, I):
    """(m, E (h - m r), E (I + r x h x + (h - m r) x r x) E^T)"""
    if not X._shifts:
        return Inertia(I.m, X.E @ I.h, X.E.congruence(I.I))
    y = I.h - X.r * I.m
    about = I.I + _lower_product_of_crosses(X.r, I.h) + _lower_product_of_crosses(y, X.r)
    return Inertia(I.m, X.E @ y, X.E.congruence(about))


def _inertia_inverse(X, I):
    """(m, E^T h + m r, E^T I E - r x (E^T h) x - (E^T h + m r) x r x)"""
    h, about = X.E.inverse_apply(I.h), X.E.inverse_congruence(I.I)
    if not X._shifts:
        return Inertia(I.m, h, about)
    y = h + X.r * I.m
    about = about - _lower_product_of_crosses(X.r, h) - _lower_product_of_crosses(y, X.r)
    return Inertia(I.m, y, about)


def _articulated(X, IA):
    """Y = H - r x M: (E M E^T, E Y E^T, E (I - r x H^T + Y r x) E^T)"""
    M, H, I = IA.M, IA.H, IA.I
    if X._shifts:
        Y = H - _cross_symmetric(X.r, M)
        I = I - _lower_cross_transposed(X.r, H) + _lower_times_cross(Y, X.r)
        H = Y
    return ArticulatedInertia(X.E.congruence(M), X.E.similarity(H), X.E.congruence(I))


def _articulated_inverse(X, IA):
    """M' = E^T M E, H' = E^T H E: (M', H' + r x M', E^T I E + r x H'^T - (H' + r x M') r x)"""
    M, H, I = X.E.inverse_congruence(IA.M), X.E.inverse_similarity(IA.H), X.E.inverse_congruence(IA.I)
    if X._shifts:
        Y = H + _cross_symmetric(X.r, M)
        I = I + _lower_cross_transposed(X.r, H) - _lower_times_cross(Y, X.r)
        H = Y
    return ArticulatedInertia(M, H, I)


def _cross_symmetric(r: Vector3, M: Symmetric3) -> Matrix3:
    """``r x M`` (15m + 9a: xyz products are shared between the diagonal entries, whose sum is zero)."""
    x, y, z = r.x, r.y, r.z
    x_yz, y_xz, z_xy = x * M.yz, y * M.xz, z * M.xy
    return Matrix3(
        (
            (y_xz - z_xy, y * M.yz - z * M.yy, y * M.zz - z * M.yz),
            (z * M.xx - x * M.xz, z_xy - x_yz, z * M.xz - x * M.zz),
            (x * M.xy - y * M.xx, x * M.yy - y * M.xy, x_yz - y_xz),
        )
    )


def _lower_cross_transposed(r: Vector3, H: Matrix3) -> Symmetric3:
    """The lower triangle of ``r x H^T`` (12m + 6a)."""
    x, y, z = r.x, r.y, r.z
    (h11, h12, h13), (h21, h22, h23), (_, h32, h33) = H.rows
    h31 = H.rows[2][0]
    return Symmetric3(
        y * h13 - z * h12,
        z * h11 - x * h13,
        z * h21 - x * h23,
        x * h12 - y * h11,
        x * h22 - y * h21,
        x * h32 - y * h31,
    )


def _lower_times_cross(Y: Matrix3, r: Vector3) -> Symmetric3:
    """The lower triangle of ``Y r x`` (12m + 6a)."""
    x, y, z = r.x, r.y, r.z
    (_, y12, y13), (y21, y22, y23), (y31, y32, y33) = Y.rows
    return Symmetric3(
        y12 * z - y13 * y,
        y22 * z - y23 * y,
        y23 * x - y21 * z,
        y32 * z - y33 * y,
        y33 * x - y31 * z,
        y31 * y - y32 * x,
    )


_APPLY = {
    Motion: _motion,
    Force: _force,
    Inertia: _inertia,
    ArticulatedInertia: _articulated,
    AccelerationField: _field,
    Transform: _product,
    FactoredTransform: lambda X, Y: _product(X, Y.collapse()),
}
_INVERSE_APPLY = {
    Motion: _motion_inverse,
    Force: _force_inverse,
    Inertia: _inertia_inverse,
    ArticulatedInertia: _articulated_inverse,
    AccelerationField: _field_inverse,
    Transform: _quotient,
    FactoredTransform: lambda X, Y: _quotient(X, Y.collapse()),
}
