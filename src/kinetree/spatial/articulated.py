"""Articulated-body inertia: 21 numbers, no mass of its own (Featherstone, section 7.1)."""

from __future__ import annotations

from kinetree.spatial.inertia import Inertia
from kinetree.spatial.motion import Force, Motion
from kinetree.spatial.vectors import Matrix3, Quantity, Symmetric3


class ArticulatedInertia(Quantity):
    """The symmetric map ``[[I, H], [H^T, M]]`` from motions to forces.

    Parameters
    ----------
    M : Symmetric3
        Linear part [kg].
    H : Matrix3
        Coupling [kg m].
    I : Symmetric3
        Angular part [kg m^2].

    Notes
    -----
    Source: Featherstone (2008), section 7.1 and table A.3 (abi).
    """

    __slots__ = ("M", "H", "I")

    def __init__(self, M: Symmetric3, H: Matrix3, I: Symmetric3):
        self.M = M
        self.H = H
        self.I = I

    @classmethod
    def of(cls, inertia: Inertia) -> ArticulatedInertia:
        """A rigid body's inertia as an articulated one."""
        m = inertia.m
        return cls(Symmetric3(m, 0.0, m, 0.0, 0.0, m), Matrix3.cross(inertia.h), inertia.I)

    def __repr__(self):
        return f"ArticulatedInertia({self.M!r}, {self.H!r}, {self.I!r})"

    def __add__(self, other):
        if other.__class__ is ArticulatedInertia:
            return ArticulatedInertia(self.M + other.M, self.H + other.H, self.I + other.I)
        if other.__class__ is Inertia:
            return self + ArticulatedInertia.of(other)
        return NotImplemented

    __radd__ = __add__

    def __matmul__(self, v):
        """(I w + H v, H^T w + M v) (36m + 30a)"""
        if v.__class__ is not Motion:
            return NotImplemented
        return Force(self.I @ v.angular + self.H @ v.linear, self.H.T @ v.angular + self.M @ v.linear)

    def minus_dyad(self, U: Force, scale) -> ArticulatedInertia:
        """``IA - scale U U^T``, the update by one joint axis."""
        return self.minus_product(U, U * scale)

    def minus_product(self, U: Force, Y: Force) -> ArticulatedInertia:
        """``IA - U Y^T`` when that product is known to be symmetric (21m + 21a)."""
        n, f, p, g = U.angular, U.linear, Y.angular, Y.linear
        M, H, I = self.M, self.H, self.I
        (h11, h12, h13), (h21, h22, h23), (h31, h32, h33) = H.rows
        return ArticulatedInertia(
            Symmetric3(
                M.xx - f.x * g.x, M.xy - f.x * g.y, M.yy - f.y * g.y, M.xz - f.x * g.z, M.yz - f.y * g.z, M.zz - f.z * g.z
            ),
            Matrix3(
                (
                    (h11 - p.x * f.x, h12 - p.x * f.y, h13 - p.x * f.z),
                    (h21 - p.y * f.x, h22 - p.y * f.y, h23 - p.y * f.z),
                    (h31 - p.z * f.x, h32 - p.z * f.y, h33 - p.z * f.z),
                )
            ),
            Symmetric3(
                I.xx - n.x * p.x, I.xy - n.x * p.y, I.yy - n.y * p.y, I.xz - n.x * p.z, I.yz - n.y * p.z, I.zz - n.z * p.z
            ),
        )
