"""A spring with a damper between two points."""

from __future__ import annotations

from dataclasses import dataclass

from kinetree.forces.contract import ForceElement, norm


@dataclass(frozen=True)
class PointSpring(ForceElement):
    """A spring and a damper along the straight line between the origins of two frames.

    Parameters
    ----------
    name : str
    start, end : str
        Names of frames; every body is one, "world" too.
    stiffness : float
        [N/m]
    rest_length : float
        [m]
    damping : float
        [N s/m]

    Notes
    -----
    The energy is ``k (L - L0)^2 / 2``, the tension ``k (L - L0) + d dL/dt``. Where the points coincide the line has no
    direction, and the force is zero.
    """

    name: str
    start: str
    end: str
    stiffness: float
    rest_length: float = 0.0
    damping: float = 0.0

    frame_fields = ("start", "end")

    def length(self, kin):
        return norm(kin.point(self.end) - kin.point(self.start))

    def stored(self, length):
        return 0.5 * self.stiffness * (length - self.rest_length) * (length - self.rest_length)

    def tension(self, length, rate):
        return self.damping * rate
