"""Attraction of two points with the inverse square of their distance: central gravity, electric charges."""

from __future__ import annotations

from dataclasses import dataclass

from kinetree.forces.contract import ForceElement, norm
from kinetree.forces.fields import check_ends, set_numbers, set_vectors
from kinetree.spatial.scalar import where


@dataclass(frozen=True)
class InverseSquareForce(ForceElement):
    """Attraction ``s / r^2`` of two points with the distance r, along the line between them.

    Parameters
    ----------
    name : str
    start, end : str
        Names of frames.
    strength : float
        s [N m^2]: ``G m1 m2`` of two masses; negative where the points repel each other.
    start_at, end_at : sequence of float
        The points, in coordinates of their frames, shape (3,) [m].

    Raises
    ------
    ArgumentError
        A number is not finite, or a point is not three numbers.
    ModelError
        Both ends are the same point of one frame.

    Notes
    -----
    The energy is ``-s / r``, zero at infinite distance; it is zero, and so is the force, where the points coincide. A
    uniform field is ``model.gravity``, or a `PointForce` on one body.

    Examples
    --------
    A satellite of 2 kg above the earth, at the speed of a circular orbit:

    >>> import kinetree as kt
    >>> orbit = InverseSquareForce("earth", "world", "body", 3.986e14 * 2.0)
    >>> satellite = kt.models.free_body().with_forces(orbit)
    """

    name: str
    start: str
    end: str
    strength: float
    start_at: tuple = (0.0, 0.0, 0.0)
    end_at: tuple = (0.0, 0.0, 0.0)

    frame_fields = ("start", "end")
    passive = True

    def __post_init__(self) -> None:
        set_numbers(self, "strength")
        set_vectors(self, "start_at", "end_at")
        check_ends(self)

    def length(self, kin):
        return norm(kin.point(self.end, self.end_at) - kin.point(self.start, self.start_at))

    def stored(self, length):
        apart = length > 0.0
        return where(apart, -self.strength / where(apart, length, 1.0), 0.0)
