"""The acceleration field of a rigid body: propagated from body to body by inverse dynamics."""

from __future__ import annotations

from kinetree.spatial.motion import Motion
from kinetree.spatial.vectors import Matrix3, Quantity, Vector3, writers


class AccelerationField(Quantity):
    """The accelerations ``a(r) = a + U r`` of the points of a rigid body.

    Parameters
    ----------
    w : Vector3
        Angular velocity [rad/s].
    dw : Vector3
        Angular acceleration [rad/s^2].
    a : Vector3
        Acceleration of the body-fixed point at the frame's origin [m/s^2]; classical, not the linear part of a spatial
        acceleration. The acceleration of gravity may be subtracted from it.

    Notes
    -----
    ``U = [dw x] + [w x][w x]`` is the field's gradient. The classical and the spatial acceleration are related by
    ``A = (dw, a - w x v)`` (Featherstone eq. 2.47-2.50). Because the field needs no linear velocity v, neither does
    inverse dynamics written with it.

    Examples
    --------
    >>> spinning = AccelerationField(Vector3(0.0, 0.0, 2.0), Vector3.zero(), Vector3.zero())
    >>> spinning.at(Vector3(1.0, 0.0, 0.0))
    Vector3(-4.0, 0.0, 0.0)
    """

    __slots__ = ("w", "dw", "a", "_gradient")

    def __init__(self, w: Vector3, dw: Vector3, a: Vector3, gradient: Matrix3 | None = None):
        _field_w(self, w)
        _field_dw(self, dw)
        _field_a(self, a)
        _field_gradient(self, gradient)

    @classmethod
    def from_spatial(cls, V: Motion, A: Motion) -> AccelerationField:
        """The field of a body with spatial velocity V and spatial acceleration A: ``a = A.linear + w x v``."""
        return cls(V.angular, A.angular, A.linear + V.angular.cross(V.linear))

    def spatial(self, v: Vector3) -> Motion:
        """Spatial acceleration ``(dw, a - w x v)`` of a body whose point at the origin has velocity v [m/s]."""
        return Motion(self.dw, self.a - self.w.cross(v))

    twist_rate = spatial  # the planar field has it, too: there ``spatial`` is the counterpart in space

    @property
    def gradient(self) -> Matrix3:
        """``U = [dw x] + [w x][w x]`` [1/s^2], computed once (6m + 9a)."""
        if self._gradient is None:
            x, y, z = self.w.x, self.w.y, self.w.z
            p, q, r = self.dw.x, self.dw.y, self.dw.z
            xx, yy, zz = x * x, y * y, z * z
            xy, xz, yz = x * y, x * z, y * z
            gradient = Matrix3(
                ((-(yy + zz), xy - r, xz + q), (xy + r, -(xx + zz), yz - p), (xz - q, yz + p, -(xx + yy)))
            )
            _field_gradient(self, gradient)
        return self._gradient

    @property
    def diagonal_differences(self) -> Vector3:
        """(U33 - U22, U11 - U33, U22 - U11): all that a moment needs of the gradient's diagonal (3m + 3a)."""
        x, y, z = self.w.x, self.w.y, self.w.z
        xx, yy, zz = x * x, y * y, z * z
        return Vector3(zz - yy, xx - zz, yy - xx)

    def at(self, point: Vector3) -> Vector3:
        """Acceleration of the body-fixed point at ``point`` [m]: ``a + U r``."""
        return self.a + self.gradient @ point

    def with_joint(self, V_J: Motion, A_J: Motion) -> AccelerationField:
        """The field of the child body, from that of the parent in the child's coordinates and at the child's origin.

        Parameters
        ----------
        V_J : Motion
            Joint velocity ``S v``, child coordinates.
        A_J : Motion
            Its apparent rate ``S a + c_J``, child coordinates.

        Returns
        -------
        AccelerationField

        Notes
        -----
        ``w' = w + w_J``, ``dw' = dw + A_J.angular + w x w_J``, ``a' = a + A_J.linear + (2 w + w_J) x v_J``.
        Equal to the book's ``A + S a + c_J + V x V_J`` (table 5.1).
        """
        w, w_J, v_J = self.w, V_J.angular, V_J.linear
        moving, turning = not v_J.is_zero, not w_J.is_zero
        dw = self.dw + A_J.angular
        a = self.a + A_J.linear
        if turning:
            dw = dw + w.cross(w_J)
        if moving:
            a = a + (w + w + w_J).cross(v_J)
        return AccelerationField(w + w_J if turning else w, dw, a)


_field_w, _field_dw, _field_a, _field_gradient = writers(AccelerationField)
