"""The acceleration field of a moving body: the acceleration of all its points from three vectors.

The classical acceleration of the point at r from the origin is ``a + U r`` with the gradient ``U = [dw] x + [w] x [w] x``. The
field needs no linear velocity, and it holds the book's spatial acceleration: ``(dw, a - w x v)``.
"""

from __future__ import annotations

from kinetree.spatial.motion import Motion
from kinetree.spatial.vectors import Matrix3, Quantity, Vector3


class AccelerationField(Quantity):
    """Accelerations of the points of a rigid body, in some coordinates about their origin.

    Parameters
    ----------
    w : Vector3
        Angular velocity [rad/s].
    dw : Vector3
        Angular acceleration [rad/s^2].
    a : Vector3
        Classical acceleration of the body's point at the origin [m/s^2].

    Notes
    -----
    Source: Featherstone (2008), section 2.11 and table 5.2, with the terms of [w] x [w] x and [dw] x gathered once per body.
    """

    __slots__ = ("w", "dw", "a", "_gradient", "_diagonal_differences")

    def __init__(self, w: Vector3, dw: Vector3, a: Vector3):
        self.w = w
        self.dw = dw
        self.a = a
        self._gradient = None

    def __repr__(self):
        return f"AccelerationField({self.w!r}, {self.dw!r}, {self.a!r})"

    @property
    def gradient(self) -> Matrix3:
        """U = [dw] x + [w] x [w] x [1/s^2] (6m + 9a), computed once."""
        if self._gradient is None:
            w, dw = self.w, self.dw
            xx, yy, zz = w.x * w.x, w.y * w.y, w.z * w.z
            xy, xz, yz = w.x * w.y, w.x * w.z, w.y * w.z
            self._diagonal_differences = Vector3(zz - yy, xx - zz, yy - xx)
            self._gradient = Matrix3(
                (
                    (-(yy + zz), xy - dw.z, xz + dw.y),
                    (xy + dw.z, -(xx + zz), yz - dw.x),
                    (xz - dw.y, yz + dw.x, -(xx + yy)),
                )
            )
        return self._gradient

    @property
    def diagonal_differences(self) -> Vector3:
        """(U33 - U22, U11 - U33, U22 - U11): all that a moment needs of the gradient's diagonal (3a)."""
        _ = self.gradient
        return self._diagonal_differences

    def with_joint(self, V_J: Motion, A_J: Motion) -> AccelerationField:
        """The field of a body that moves relative to this one, in the same coordinates about the same origin.

        Parameters
        ----------
        V_J : Motion
            Velocity of the joint.
        A_J : Motion
            Its apparent acceleration ``S a + c_J``.
        """
        w, w_J, v_J = self.w, V_J.angular, V_J.linear
        dw = self.dw + A_J.angular + w.cross(w_J)
        a = self.a + A_J.linear
        if not v_J.is_zero:
            a = a + (w + w + w_J).cross(v_J)
        return AccelerationField(w + w_J, dw, a)
