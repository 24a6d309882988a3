"""Parts of the paths of tendons: terms of joints, points, shapes and pulleys, as data."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from types import MappingProxyType

from kinetree.arguments import choice, instance, number
from kinetree.errors import UnsupportedError
from kinetree.spatial.scalar import is_zero
from kinetree.state_kinematics import ORIGIN, point_of

SHAPES = ("sphere", "cylinder")
UNSUPPORTED = ("ellipsoid", "torus")


class PathPart:
    """Base of the parts.

    Attributes
    ----------
    refers : mapping of str to str
        Fields that name something, each with its kind: "joint" or "frame".
    measures : tuple of str
        Fields that hold numbers, or tuples of numbers: inputs of compiled code.
    """

    __slots__ = ()

    refers = MappingProxyType({})
    measures: tuple[str, ...] = ()

    def numbers(self) -> dict[str, object]:
        """The numbers by the names of their fields; entries of tuples as "at.0", "at.1"."""
        found = {}
        for what in self.measures:
            value = getattr(self, what)
            found |= {f"{what}.{k}": x for k, x in enumerate(value)} if isinstance(value, tuple) else {what: value}
        return found

    def with_numbers(self, values: Iterator) -> PathPart:
        """The part with its numbers taken from an iterator, of any scalar type."""
        made = copy(self)
        for what in self.measures:
            old = getattr(self, what)
            new = tuple(next(values) for _ in old) if isinstance(old, tuple) else next(values)
            if isinstance(new, tuple) and all(map(is_zero, new)):
                new = ORIGIN
            object.__setattr__(made, what, new)
        return made


@dataclass(frozen=True, slots=True)
class JointTerm(PathPart):
    """A term ``coefficient * q_joint`` of the length of a fixed tendon.

    Parameters
    ----------
    joint : str
        Of one freedom.
    coefficient : float
        [m/rad, or 1 for joints that slide].

    Examples
    --------
    >>> import kinetree as kt
    >>> term = kt.tendons.JointTerm
    >>> string = kt.constraints.TendonLength((term("shoulder", 0.1), term("elbow", 0.05)))
    >>> string.joints
    ('shoulder', 'elbow')
    """

    joint: str
    coefficient: float

    refers = MappingProxyType({"joint": "joint"})
    measures = ("coefficient",)


@dataclass(frozen=True, slots=True)
class ViaPoint(PathPart):
    """A point that a spatial tendon passes through.

    Parameters
    ----------
    frame : str
    at : sequence of 3 floats
        The point, in the coordinates of the frame [m]; by default its origin.

    Raises
    ------
    ArgumentError
        The point is not three finite numbers.

    Examples
    --------
    >>> import kinetree as kt
    >>> cable = kt.constraints.TendonLength(tuple(map(kt.tendons.ViaPoint, ("world", "upper", "lower"))))
    >>> cable.frames
    ('world', 'upper', 'lower')
    """

    frame: str
    at: tuple[float, float, float] = ORIGIN

    refers = MappingProxyType({"frame": "frame"})
    measures = ("at",)

    def __post_init__(self) -> None:
        object.__setattr__(self, "at", point_of(f"via point of frame {self.frame!r}: at", self.at))


@dataclass(frozen=True, slots=True)
class WrapShape(PathPart):
    """A sphere or cylinder between two points, which a spatial tendon wraps around.

    Parameters
    ----------
    kind : {"sphere", "cylinder"}
        Centered in the frame; a cylinder is along its z axis and endless.
    frame : str
    radius : float
        [m].
    side : str, optional
        Frame whose origin is on the side on which the tendon passes; without one it takes the shorter way around.
    inside : bool
        Whether the shape is a ring that the tendon passes within: where the straight line passes it outside, the path
        goes over the nearest point of the surface.

    Raises
    ------
    ArgumentError
        The radius is not positive, or the kind is neither.
    UnsupportedError
        The kind is "ellipsoid" or "torus", which are not computed.
    """

    kind: str
    frame: str
    radius: float
    side: str | None = None
    inside: bool = False

    refers = MappingProxyType({"frame": "frame", "side": "frame"})
    measures = ("radius",)

    def __post_init__(self) -> None:
        label = f"wrap shape at frame {self.frame!r}"
        if isinstance(self.kind, str) and self.kind in UNSUPPORTED:
            raise UnsupportedError(
                f"{label}: lengths over kind {self.kind!r} are not computed; {' and '.join(SHAPES)} are"
            )
        choice(f"{label}: kind", self.kind, SHAPES)
        object.__setattr__(self, "radius", number(f"{label}: radius", self.radius, "a positive radius [m]", above=0.0))
        object.__setattr__(self, "inside", instance(f"{label}: inside", self.inside, bool, "True or False"))


@dataclass(frozen=True, slots=True)
class Pulley(PathPart):
    """Start of a branch of a spatial tendon, whose length is divided by ``divisor``.

    Parameters
    ----------
    divisor : float
        Positive.

    Examples
    --------
    >>> import kinetree as kt
    >>> via, pulley = kt.tendons.ViaPoint, kt.tendons.Pulley
    >>> tackle = kt.constraints.TendonLength((via("a"), via("b"), pulley(2.0), via("b"), via("c")))
    >>> len(tackle.path)
    5
    """

    divisor: float

    measures = ("divisor",)
