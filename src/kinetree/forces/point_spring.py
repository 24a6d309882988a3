"""A spring with a damper between two points."""

from __future__ import annotations

from dataclasses import dataclass

from kinetree.forces.contract import ForceElement, norm, present
from kinetree.forces.fields import check_ends, set_numbers, set_vectors


@dataclass(frozen=True)
class PointSpring(ForceElement):
    """A spring and a damper along the straight line between two points, each given in a frame.

    Parameters
    ----------
    name : str
    start, end : str
        Names of frames; every body is one, "world" too.
    stiffness : float
        k [N/m]
    rest_length : float
        L0 [m]; 0 for a spring that pulls the points together.
    damping : float
        d [N s/m]
    start_at, end_at : sequence of float
        The points, in coordinates of their frames, shape (3,) [m].

    Raises
    ------
    ArgumentError
        A number is not finite, stiffness, damping or rest length is negative, or a point is not three numbers.
    ModelError
        Both ends are the same point of one frame.

    Notes
    -----
    Source: Sueda, *Rigid Body Dynamics Notes*, eq. 1.35 to 1.37 and 1.65 to 1.68. The energy is ``k (L - L0)^2 / 2``,
    zero at the rest length; the tension is ``k (L - L0) + d dL/dt``. Where the points coincide the line has no
    direction, and the force is zero. With ``rest_length=0`` exactly the energy is ``k r.r / 2`` over the vector r
    between the points: smooth where they coincide, its stiffness k along all directions instead of the line alone.

    Examples
    --------
    >>> import kinetree as kt
    >>> rope = PointSpring("rope", "world", "bob", 50.0, 0.4, start_at=(0.0, 0.0, 1.0))
    >>> kt.models.pendulum().with_forces(rope).forces[-1].rest_length
    0.4
    """

    name: str
    start: str
    end: str
    stiffness: float
    rest_length: float = 0.0
    damping: float = 0.0
    start_at: tuple = (0.0, 0.0, 0.0)
    end_at: tuple = (0.0, 0.0, 0.0)

    frame_fields = ("start", "end")
    passive = True

    def __post_init__(self) -> None:
        set_numbers(self, "stiffness", "rest_length", "damping", least=0.0)
        set_vectors(self, "start_at", "end_at")
        check_ends(self)

    def _line(self, kin):
        return kin.point(self.end, self.end_at) - kin.point(self.start, self.start_at)

    def energy(self, kin):
        if present(self.rest_length):
            return 0.0
        r = self._line(kin)
        return 0.5 * self.stiffness * r.dot(r)

    def length(self, kin):
        return norm(self._line(kin))

    def stored(self, length):
        if not present(self.rest_length):
            return 0.0
        return 0.5 * self.stiffness * (length - self.rest_length) * (length - self.rest_length)

    def tension(self, length, rate):
        return self.damping * rate
