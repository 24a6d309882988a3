"""A massless rod between two points."""

from __future__ import annotations

from dataclasses import dataclass

from kinetree.arguments import number, text
from kinetree.constraints.position_constraint import PositionConstraint
from kinetree.spatial import Vector3
from kinetree.state_kinematics import ORIGIN, Kinematics, point_of


@dataclass(frozen=True, slots=True)
class Distance(PositionConstraint):
    """Two points keep their distance: a rod without mass between two ball joints.

    Parameters
    ----------
    predecessor, successor : str
        Frames of the model.
    length : float
        [m], positive; two points that coincide are a `LoopJoint` with a spherical joint.
    at_P, at_S : sequence of 3 floats
        The points, in the coordinates of the two frames [m].
    name : str

    Notes
    -----
    The position error is ``(|d|^2 - L^2) / (2 L)``, which is ``|d| - L`` to first order and needs no square root. The
    multiplier is the force along the rod, positive where it pushes the points apart [N].

    Source: the "distance" joint of multibody codes, such as Nikravesh (1988), section 6.2 (spherical-spherical).

    Examples
    --------
    A mass that hangs on a rod is a pendulum; the rod pulls with its weight:

    >>> import kinetree as kt
    >>> b = kt.ModelBuilder("bob")
    >>> _ = b.add_body("bob", joint=kt.joints.Translational(), mass=2.0, inertia=[[1, 0, 0], [0, 1, 0], [0, 0, 1]])
    >>> model = b.build().with_constraints(kt.constraints.Distance("world", "bob", 0.5))
    >>> a, force = kt.forward_dynamics(model, [0, 0, -0.5], [0, 0, 0], [0, 0, 0], multipliers=True)
    >>> [round(float(x), 9) + 0.0 for x in (*a, *force)]
    [0.0, 0.0, 0.0, -19.62]
    """

    predecessor: str
    successor: str
    length: float
    at_P: tuple[float, float, float] = ORIGIN
    at_S: tuple[float, float, float] = ORIGIN
    name: str = ""

    frame_fields = ("predecessor", "successor")
    number_fields = ("length", "at_P", "at_S")

    def __post_init__(self) -> None:
        for what in ("predecessor", "successor"):
            text(f"distance: {what}", getattr(self, what), "the name of a frame")
        length = number(
            f"{self}: length", self.length, "a positive length [m]; a ball joint connects points", above=0.0
        )
        object.__setattr__(self, "length", length)
        for what in ("at_P", "at_S"):
            object.__setattr__(self, what, point_of(f"{self}: {what}", getattr(self, what)))

    def phi(self, kin):
        """``(|d|^2 - L^2) / (2 L)``."""
        d = kin.point(self.successor, self.at_S, relative_to=self.predecessor) - Vector3(*self.at_P)
        return (d.dot(d) - self.length * self.length) * (0.5 / self.length)

    @classmethod
    def examples(cls, model, rng):
        """A rod from the world to the last body, and one between two bodies."""
        kin, last = Kinematics(model, model.neutral()), model.frames[model.nb - 1].name
        for start, P, S in (
            (model.frames[0].name, (0.3, -0.2, 0.1), ORIGIN),
            (model.frames[1].name, ORIGIN, (0, 0.4, 1)),
        ):
            d = kin.point(last, S) - kin.point(start, P)
            yield (cls(start, last, float(d.dot(d)) ** 0.5, P, S),)
