"""Viscous damping of the motion of a body in a medium at rest."""

from __future__ import annotations

from dataclasses import dataclass

from kinetree.forces.contract import ForceElement
from kinetree.forces.fields import along_axes, set_numbers_by_axis, set_vectors


@dataclass(frozen=True)
class BodyDamping(ForceElement):
    """Viscous damping of the twist of a frame: ``-d_w w`` and ``-d_v v``, in the axes of the frame.

    Parameters
    ----------
    name, frame : str
    angular : float or sequence of float
        Against the angular velocity, one number or one for each axis of the frame, shape (3,) [N m s/rad].
    linear : float or sequence of float
        Against the velocity of the point, likewise [N s/m].
    at : sequence of float
        The point, in coordinates of the frame, shape (3,) [m].

    Raises
    ------
    ArgumentError
        A number is negative or not finite, or there are not three of them.

    Notes
    -----
    Source: Sueda, *Rigid Body Dynamics Notes*, eq. 1.30 (D = d I). The power is ``-d_w w^2 - d_v v^2``, never positive;
    no energy is stored.

    Examples
    --------
    >>> import kinetree as kt
    >>> body = kt.models.free_body().with_forces(BodyDamping("air", "body", angular=0.1, linear=(0.5, 0.5, 2.0)))
    >>> body.numbers().as_dict()["air.linear.2"]
    2.0
    """

    name: str
    frame: str
    angular: float | tuple = 0.0
    linear: float | tuple = 0.0
    at: tuple = (0.0, 0.0, 0.0)

    passive = True

    def __post_init__(self) -> None:
        set_numbers_by_axis(self, "angular", "linear")
        set_vectors(self, "at")

    def dissipation(self, kin):
        v, w = kin.velocity(self.frame, self.at), kin.angular_velocity(self.frame)
        by_axis = isinstance(self.angular, tuple) or isinstance(self.linear, tuple)
        R = kin.rotation(self.frame) if by_axis else None
        return 0.5 * (along_axes(self.angular, w, R) + along_axes(self.linear, v, R))
