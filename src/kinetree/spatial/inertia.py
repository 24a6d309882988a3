"""Rigid-body inertia: mass, first moment and rotational inertia about the origin, ten numbers (Featherstone, section 2.13)."""

from __future__ import annotations

from kinetree.spatial.field import AccelerationField
from kinetree.spatial.motion import Force, Motion
from kinetree.spatial.vectors import Quantity, Symmetric3, Vector3


class Inertia(Quantity):
    """Inertia of a rigid body about the origin of its coordinates.

    Parameters
    ----------
    m : scalar
        Mass [kg].
    h : Vector3
        First moment, mass times center of mass [kg m].
    I : Symmetric3
        Rotational inertia about the origin [kg m^2].

    Notes
    -----
    Source: Featherstone (2008), eq. 2.63 and table A.3 (rbi).
    """

    __slots__ = ("m", "h", "I", "_P")

    def __init__(self, m, h: Vector3, I: Symmetric3):
        self.m = m
        self.h = h
        self.I = I
        self._P = None

    @classmethod
    def zero(cls) -> Inertia:
        """The inertia of nothing."""
        return cls(0.0, Vector3.zero(), Symmetric3.zero())

    @classmethod
    def from_com(cls, m, c: Vector3, I_c: Symmetric3) -> Inertia:
        """From mass, center of mass [m] and rotational inertia about it [kg m^2] (parallel-axis theorem)."""
        h = c * m
        xx, yy, zz = h.x * c.x, h.y * c.y, h.z * c.z
        parallel = Symmetric3(yy + zz, -(h.x * c.y), xx + zz, -(h.x * c.z), -(h.y * c.z), xx + yy)
        return cls(m, h, I_c + parallel)

    @property
    def com(self) -> Vector3:
        """Center of mass [m]."""
        return self.h / self.m

    @property
    def second_moment(self) -> Symmetric3:
        """Integral of r r^T over the mass, ``tr(I)/2 1 - I`` [kg m^2]; a function of the body's numbers alone."""
        if self._P is None:
            I = self.I
            half = (I.xx + I.yy + I.zz) * 0.5
            self._P = Symmetric3(half - I.xx, -I.xy, half - I.yy, -I.xz, -I.yz, half - I.zz)
        return self._P

    def __repr__(self):
        return f"Inertia({self.m!r}, {self.h!r}, {self.I!r})"

    def __add__(self, other):
        if other.__class__ is not Inertia:
            return NotImplemented
        return Inertia(self.m + other.m, self.h + other.h, self.I + other.I)

    def __mul__(self, scale):
        if isinstance(scale, Quantity):
            return NotImplemented
        return Inertia(self.m * scale, self.h * scale, self.I * scale)

    __rmul__ = __mul__

    def __matmul__(self, v):
        """(I w + h x v, m v - h x w) (24m + 18a)"""
        if v.__class__ is not Motion:
            return NotImplemented
        w, u = v.angular, v.linear
        return Force(self.I @ w + self.h.cross(u), u * self.m - self.h.cross(w))

    def inertial_force(self, field: AccelerationField) -> Force:
        """The force that gives the body this acceleration field: ``I a + v x* I v`` of eq. 2.68.

        With the gradient U and the second moments P: force ``m a + U h``, moment ``h x a + vee(U P)``.
        """
        U, P = field.gradient, self.second_moment
        moment = self.h.cross(field.a) + _vee_of_product(U.rows, field.diagonal_differences, P)
        return Force(moment, field.a * self.m + U @ self.h)


def _vee_of_product(U, d, P):
    """(A32 - A23, A13 - A31, A21 - A12) of A = U P; d are the differences of U's diagonal (15m + 12a)."""
    (_, u12, u13), (u21, _, u23), (u31, u32, _) = U
    return Vector3(
        u31 * P.xy - u21 * P.xz + u32 * P.yy - u23 * P.zz + d.x * P.yz,
        u12 * P.yz - u32 * P.xy + u13 * P.zz - u31 * P.xx + d.y * P.xz,
        u23 * P.xz - u13 * P.yz + u21 * P.xx - u12 * P.yy + d.z * P.xy,
    )
