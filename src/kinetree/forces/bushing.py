"""An elastic mount between two bodies, in all six directions."""

from __future__ import annotations

from dataclasses import dataclass

from kinetree.forces.contract import ForceElement
from kinetree.forces.fields import along_axes, set_numbers_by_axis, set_vectors
from kinetree.spatial import Vector3


@dataclass(frozen=True)
class Bushing(ForceElement):
    r"""Springs and dampers in all six directions between two frames, relaxed where the frames coincide.

    Parameters
    ----------
    name : str
    start, end : str
        Names of frames. Axes of the coefficients are those of ``start``.
    stiffness : float or sequence of float
        k, against the displacement of ``end`` from ``start``, one number or one for each axis, shape (3,) [N/m].
    turning_stiffness : float or sequence of float
        k_w, against the rotation of ``end`` relative to ``start``, likewise [N m/rad].
    damping : float or sequence of float
        Against the rate of the displacement [N s/m].
    turning_damping : float or sequence of float
        Against the relative angular velocity [N m s/rad].
    start_at, end_at : sequence of float
        Points that coincide where the mount is relaxed, in coordinates of their frames, shape (3,) [m].

    Raises
    ------
    ArgumentError
        A number is negative or not finite, or there are not three of them.

    Notes
    -----
    The displacement is ``d = R_start^T (p_end - p_start)``, in the axes of ``start``, which rotate: the damping
    dissipates nothing if both bodies move as one. The rotation R of ``end`` relative to ``start`` is measured by its
    Euler parameters e, the vector part of its unit quaternion. The stored energy is

    .. math:: \frac{1}{2} \sum_i k_i d_i^2 + \frac{1}{2} \sum_i k_{w,i} (2 e_i)^2, \qquad
        4 e_i^2 = 1 + 2 R_{ii} - \mathrm{tr}\, R

    which is linear in R: no rotation is singular, and no angle is needed. About one axis the moment is
    ``k_w sin(angle)``: k_w times the angle where it is small (0.7 % less at 0.2 rad, 16 % at 1 rad), greatest at a
    quarter of a turn, zero at half a turn, which is an unstable equilibrium. `LoopJoint` of a free joint with
    ``stiffness=`` has a moment that grows with the rotation vector instead, up to half a turn.

    Examples
    --------
    >>> import kinetree as kt
    >>> mount = Bushing("mount", "world", "body", stiffness=(1e3, 1e3, 5e3), turning_stiffness=20.0, damping=10.0)
    >>> kt.models.free_body().with_forces(mount).forces[-1].stiffness
    (1000.0, 1000.0, 5000.0)
    """

    name: str
    start: str
    end: str
    stiffness: float | tuple = 0.0
    turning_stiffness: float | tuple = 0.0
    damping: float | tuple = 0.0
    turning_damping: float | tuple = 0.0
    start_at: tuple = (0.0, 0.0, 0.0)
    end_at: tuple = (0.0, 0.0, 0.0)

    frame_fields = ("start", "end")
    passive = True

    def __post_init__(self) -> None:
        set_numbers_by_axis(self, "stiffness", "turning_stiffness", "damping", "turning_damping")
        set_vectors(self, "start_at", "end_at")

    def _displacement(self, kin):
        return kin.point(self.end, self.end_at) - kin.point(self.start, self.start_at)

    def length(self, kin):
        axes = kin.rotation(self.start).T
        turn = axes @ kin.rotation(self.end)
        strains = [turn[r, c] - float(r == c) for c in range(3) for r in range(3)]
        return [*(axes @ self._displacement(kin)), *strains]

    def stored(self, length):
        k = self.turning_stiffness
        k = k if isinstance(k, tuple) else (k, k, k)
        half = 0.5 * (k[0] + k[1] + k[2])
        turned = sum(
            ((half - k_c) * x * x for c, k_c in enumerate(k) for x in length[3 + 3 * c : 6 + 3 * c]), start=0.0
        )
        return 0.5 * (along_axes(self.stiffness, Vector3(*length[:3])) + turned)

    def dissipation(self, kin):
        R, w = kin.rotation(self.start), kin.angular_velocity(self.start)
        rate = kin.velocity(self.end, self.end_at) - kin.velocity(self.start, self.start_at)
        rate = rate - w.cross(self._displacement(kin))
        turning = kin.angular_velocity(self.end) - w
        return 0.5 * (along_axes(self.damping, rate, R) + along_axes(self.turning_damping, turning, R))
