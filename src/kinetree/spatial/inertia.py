"""The inertia of a rigid body: ten numbers."""

from __future__ import annotations

import numpy as np

from kinetree.spatial.motion import Force, Motion, by_columns
from kinetree.spatial.vectors import Entrywise, Matrix3, Symmetric3, Vector3, assemble, refuse, writers


class Inertia(Entrywise):
    """Spatial inertia of a rigid body about the origin of a frame.

    Parameters
    ----------
    m : scalar
        Mass [kg].
    h : Vector3
        First moment of mass ``m c`` [kg m], c the center of mass.
    I : Symmetric3
        Rotational inertia about the frame's origin (not about c) [kg m^2].

    Notes
    -----
    As a matrix, ``[[I, h x], [-h x, m 1]]`` (Featherstone, table A.3).

    Examples
    --------
    >>> ball = Inertia.from_com(2.0, Vector3(0.0, 0.0, 1.0), Symmetric3.diagonal(0.1, 0.1, 0.1))
    >>> (ball @ Motion.of([0.0, 1.0, 0.0, 0.0, 0.0, 0.0])).linear
    Vector3(2.0, 0.0, 0.0)
    """

    __slots__ = ("m", "h", "I", "_second_moments")
    MAPS = "Motion"

    def __init__(self, m, h: Vector3, I: Symmetric3, second_moments: Symmetric3 | None = None):
        _inertia_m(self, m)
        _inertia_h(self, h)
        _inertia_I(self, I)
        _inertia_second_moments(self, second_moments)

    @classmethod
    def zero(cls) -> Inertia:
        """The zero inertia, with structural zeros."""
        return cls(0.0, Vector3.zero(), Symmetric3.zero())

    @classmethod
    def from_com(cls, m, c: Vector3, I_c: Symmetric3) -> Inertia:
        """Inertia about the origin of a body given at its center of mass (Featherstone eq. 2.63).

        Parameters
        ----------
        m : scalar
            Mass [kg].
        c : Vector3
            Center of mass [m].
        I_c : Symmetric3
            Rotational inertia about c [kg m^2].
        """
        h = c * m
        x, y, z = c.x * h.x, c.y * h.y, c.z * h.z
        steiner = Symmetric3(y + z, -(c.x * h.y), x + z, -(c.x * h.z), -(c.y * h.z), x + y)
        return cls(m, h, I_c + steiner)

    @classmethod
    def from_moments(cls, m, h: Vector3, P: Symmetric3) -> Inertia:
        """Inertia from the moments of mass: the integrals of dm, r dm and r r^T dm about the origin.

        Parameters
        ----------
        m : scalar
            Mass [kg].
        h : Vector3
            First moment [kg m].
        P : Symmetric3
            Second moments [kg m^2].
        """
        return cls(m, h, Symmetric3(P.yy + P.zz, -P.xy, P.xx + P.zz, -P.xz, -P.yz, P.xx + P.yy), P)

    @property
    def com(self) -> Vector3:
        """Center of mass [m]; not defined for a massless body."""
        return self.h / self.m

    @property
    def second_moments(self) -> Symmetric3:
        """``P = tr(I)/2 1 - I``, the integral of r r^T dm about the origin [kg m^2]; a model number, computed once."""
        if self._second_moments is None:
            I = self.I
            half = I.trace * 0.5
            _inertia_second_moments(self, Symmetric3(half - I.xx, -I.xy, half - I.yy, -I.xz, -I.yz, half - I.zz))
        return self._second_moments

    def __add__(self, other):
        if other.__class__ is not Inertia:
            if hasattr(other, "plus_rigid"):
                return other.plus_rigid(self)
            raise refuse(self, "+", other, "Inertia + Inertia, Inertia + ArticulatedInertia")
        return Inertia(self.m + other.m, self.h + other.h, self.I + other.I)

    def __matmul__(self, motion: Motion) -> Force:
        """``I v = (I w + h x v, m v - h x w)`` (24m + 18a; Featherstone table A.4)."""
        if motion.__class__ is not Motion:
            return by_columns(self.__matmul__, self, "@", motion, "Inertia @ Motion -> Force", Force)
        w, v, h = motion.angular, motion.linear, self.h
        return Force(self.I @ w + h.cross(v), v * self.m - h.cross(w))

    def inverse_apply(self, force: Force) -> Motion:
        """The acceleration that a force gives to the body at rest: ``Phi f``, Phi the inverse inertia.

        Parameters
        ----------
        force : Force
            About the origin of this inertia.

        Returns
        -------
        Motion
            ``(J n_c, f/m - J n_c x c)``, with ``n_c = n - c x f`` and J the inverse of the rotational inertia about c.

        Notes
        -----
        Source: Featherstone eq. 2.72-2.74, without forming Phi. In motion, ``a = Phi (f - v x* I v)``. Points, rods
        and massless bodies have no inverse.
        """
        if force.__class__ is not Force:
            raise refuse(self, ".inverse_apply", force, "Inertia.inverse_apply(Force) -> Motion")
        c = self.com
        J = (self.I - Inertia.from_com(self.m, c, Symmetric3.zero()).I).inverse
        dw = J @ (force.angular - c.cross(force.linear))
        return Motion(dw, force.linear / self.m - dw.cross(c))

    def inertial_force(self, field) -> Force:
        """The force that a body needs to follow an acceleration field: Newton's and Euler's equations in one.

        Parameters
        ----------
        field : AccelerationField
            Of the body, about the origin of this inertia.

        Returns
        -------
        Force
            ``f = m a + U h``, ``n = h x a + vee(U P)``.

        Notes
        -----
        The integrals of (a + U r) dm and of r x (a + U r) dm, with U the field's gradient and P the second moments.
        Equal to the book's ``I A + V x* I V`` with ``A = (dw, a - w x v)``, but no linear velocity is needed. Costs
        33m + 30a, and 6m + 9a for the gradient, which the children of the body use too; the book's form 66m + 54a.
        """
        a, U, h = field.a, field.gradient, self.h
        f = a * self.m + U @ h
        return Force(h.cross(a) + _moment(U, field.diagonal_differences, self.second_moments), f)

    def kinetic_energy(self, motion: Motion):
        """``v . I v / 2`` [J] (Featherstone eq. 2.67)."""
        return motion.dot(self @ motion) * 0.5

    def matrix(self) -> np.ndarray:
        """The 6x6 matrix, shape (..., 6, 6)."""
        hx = Matrix3.cross(self.h).rows
        mass = (self.m, 0.0, 0.0), (0.0, self.m, 0.0), (0.0, 0.0, self.m)
        top = [(*I, *h) for I, h in zip(self.I.matrix.rows, hx, strict=True)]
        bottom = [(-h[0], -h[1], -h[2], *m) for h, m in zip(hx, mass, strict=True)]
        return assemble(top + bottom)


_inertia_m, _inertia_h, _inertia_I, _inertia_second_moments = writers(Inertia)


def _moment(U, d, P):
    """vee(U P) of a general U and a symmetric P (15m + 12a); d are the differences of U's diagonal."""
    (_, U12, U13), (U21, _, U23), (U31, U32, _) = U.rows
    return Vector3(
        U31 * P.xy - U21 * P.xz + U32 * P.yy - U23 * P.zz + d.x * P.yz,
        U12 * P.yz - U32 * P.xy + U13 * P.zz - U31 * P.xx + d.y * P.xz,
        U23 * P.xz - U13 * P.yz + U21 * P.xx - U12 * P.yy + d.z * P.xy,
    )
