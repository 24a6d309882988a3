"""The Coriolis map B of a rigid body or a subtree, in the factorization for which ``dM/dt - 2 C`` is skew.

``B = (v x* I - I v x + (I v) xbar) / 2``. For a rigid body it acts on a motion m through a 3 x 3 matrix G and the
linear momentum l alone:

    B m = ( (tr(G) 1 - G) w_m ; w_m x l ),   G = v_O h^T + [w] x P

with h the first moment, P the second moments ``tr(I)/2 1 - I`` and v_O the velocity at the origin. In the plane the
matrix is the scalar ``h . v_O``.
"""

from __future__ import annotations

from kinetree.spatial.columns import Columns
from kinetree.spatial.inertia import Inertia
from kinetree.spatial.motion import Force, Motion
from kinetree.spatial.planar import PlanarForce, PlanarInertia, PlanarMotion, Vector2
from kinetree.spatial.vectors import Matrix3, Vector3


class BodyCoriolis:
    """The map B, additive over bodies.

    Parameters
    ----------
    K : Matrix3
        ``tr(G) 1 - G``.
    l : Vector3
        Linear momentum [kg m/s].
    """

    __slots__ = ("K", "l")

    def __init__(self, K: Matrix3, l: Vector3):
        self.K, self.l = K, l

    @classmethod
    def of(cls, I: Inertia, V: Motion) -> BodyCoriolis:
        """From a rigid-body inertia and a twist in the same coordinates."""
        G = V.linear.outer(I.h) + Matrix3.cross(V.angular) @ I.second_moments.matrix
        return cls(Matrix3.identity() * G.trace - G, (I @ V).linear)

    def __add__(self, other):
        return BodyCoriolis(self.K + other.K, self.l + other.l)

    def __matmul__(self, m: Motion) -> Force:
        if m.__class__ is Columns:
            return m.each(self.__matmul__, Force)
        return Force(self.K @ m.angular, m.angular.cross(self.l))

    def transposed(self, m: Motion) -> Force:
        """``B^T m``."""
        return Force(self.K.T @ m.angular + self.l.cross(m.linear), Vector3.zero())


class PlanarBodyCoriolis:
    """The map B of planar bodies.

    Parameters
    ----------
    K : scalar
        ``h . v_O`` [kg m^2/s].
    l : Vector2
        Linear momentum [kg m/s].
    """

    __slots__ = ("K", "l")

    def __init__(self, K, l: Vector2):
        self.K, self.l = K, l

    @classmethod
    def of(cls, I: PlanarInertia, V: PlanarMotion) -> PlanarBodyCoriolis:
        """From an inertia and a twist in the same coordinates."""
        return cls(I.h.dot(V.linear), (I @ V).linear)

    def __add__(self, other):
        return PlanarBodyCoriolis(self.K + other.K, self.l + other.l)

    def __matmul__(self, m: PlanarMotion) -> PlanarForce:
        if m.__class__ is Columns:
            return m.each(self.__matmul__, PlanarForce)
        return PlanarForce(self.K * m.angular, self.l.turned(m.angular))

    def transposed(self, m: PlanarMotion) -> PlanarForce:
        """``B^T m``."""
        return PlanarForce(self.K * m.angular + self.l.cross(m.linear), Vector2.zero())
