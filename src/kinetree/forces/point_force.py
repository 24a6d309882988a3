"""A force at a point of a body, with a moment: constant, or proportional to an input."""

from __future__ import annotations

from dataclasses import dataclass

from kinetree.arguments import a_truth_value, choice
from kinetree.forces.contract import ForceElement, present
from kinetree.forces.fields import set_vectors
from kinetree.spatial import Matrix3, Vector3


@dataclass(frozen=True)
class PointForce(ForceElement):
    """A force that acts at a point of a frame, and a moment, in world axes or in those of the frame.

    Parameters
    ----------
    name : str
    frame : str
    vector : sequence of float
        The force, shape (3,) [N].
    at : sequence of float
        The point, in coordinates of the frame, shape (3,) [m].
    moment : sequence of float
        About the point, shape (3,) [N m].
    axes : {"world", "frame"}
        Those of force and moment: fixed directions, or directions that turn with the frame (a thruster).
    scaled : bool
        Force and moment are multiplied by the input ``"<name>.scale"`` [1], a function of time or a control: with a
        unit vector as force it is the force in newtons. Inputs are zero unless they are given.

    Raises
    ------
    ArgumentError, UnknownNameError
        A vector is not three finite numbers; ``axes`` is another word.

    Notes
    -----
    Source: Sueda, *Rigid Body Dynamics Notes*, eq. 1.13 and 1.31 to 1.34. No energy is stored: its power is
    ``f.v + m.w``. On a free body and ball joints K is not symmetric, since the moment about the joint changes as the
    body turns.

    Examples
    --------
    >>> import kinetree as kt
    >>> jet = PointForce("jet", "bob", (0.0, 0.0, 1.0), axes="frame", scaled=True)
    >>> kt.models.pendulum().with_forces(jet).input_names
    ('jet.scale',)
    """

    name: str
    frame: str
    vector: tuple
    at: tuple = (0.0, 0.0, 0.0)
    moment: tuple = (0.0, 0.0, 0.0)
    axes: str = "world"
    scaled: bool = False

    def __post_init__(self) -> None:
        set_vectors(self, "vector", "at", "moment")
        choice(f"PointForce {self.name!r}: axes", self.axes, ("world", "frame"))
        a_truth_value(f"PointForce {self.name!r}: scaled", self.scaled)

    @property
    def inputs(self) -> tuple[str, ...]:
        """The factor of force and moment, if they have one."""
        return ("scale",) if self.scaled else ()

    def force(self, kin, x=None, u=None):
        turned = kin.rotation(self.frame) if self.axes == "frame" else Matrix3.identity()
        scale = u.scale if self.scaled else 1.0
        yield kin.velocity(self.frame, self.at), turned @ Vector3(*self.vector) * scale
        if any(map(present, self.moment)):
            yield kin.angular_velocity(self.frame), turned @ Vector3(*self.moment) * scale
