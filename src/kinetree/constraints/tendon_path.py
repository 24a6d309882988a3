"""Paths of tendons: sums of joint positions, and points in space, as data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType

from kinetree.arguments import number
from kinetree.errors import ModelError, UnsupportedError
from kinetree.spatial.scalar import sqrt


@dataclass(frozen=True, slots=True)
class JointTerm:
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
    >>> term = kt.constraints.JointTerm
    >>> string = kt.constraints.TendonLength((term("shoulder", 0.1), term("elbow", 0.05)))
    >>> string.joints
    ('shoulder', 'elbow')
    """

    joint: str
    coefficient: float

    refers = MappingProxyType({"joint": "joint"})
    measure = "coefficient"


@dataclass(frozen=True, slots=True)
class ViaPoint:
    """A point that a spatial tendon passes through: the origin of a frame.

    Parameters
    ----------
    frame : str

    Examples
    --------
    >>> import kinetree as kt
    >>> cable = kt.constraints.TendonLength(tuple(map(kt.constraints.ViaPoint, ("world", "upper", "lower"))))
    >>> cable.frames
    ('world', 'upper', 'lower')
    """

    frame: str

    refers = MappingProxyType({"frame": "frame"})
    measure = ""


@dataclass(frozen=True, slots=True)
class WrapShape:
    """A sphere or cylinder that a spatial tendon wraps around.

    Parameters
    ----------
    kind : {"sphere", "cylinder"}
        Centered in the frame; a cylinder is along its z axis and endless.
    frame : str
    radius : float
        [m].
    side : str, optional
        Frame whose origin determines on which side the tendon passes; inside the shape, it wraps within.
    """

    kind: str
    frame: str
    radius: float
    side: str | None = None

    refers = MappingProxyType({"frame": "frame", "side": "frame"})


@dataclass(frozen=True, slots=True)
class Pulley:
    """Start of a branch of a spatial tendon, whose length is divided by ``divisor``.

    Parameters
    ----------
    divisor : float
        Not zero.

    Examples
    --------
    >>> import kinetree as kt
    >>> via, pulley = kt.constraints.ViaPoint, kt.constraints.Pulley
    >>> tackle = kt.constraints.TendonLength((via("a"), via("b"), pulley(2.0), via("b"), via("c")))
    >>> len(tackle.path)
    5
    """

    divisor: float

    refers = MappingProxyType({})
    measure = "divisor"


Path = tuple[JointTerm | ViaPoint | WrapShape | Pulley, ...]


def path_of(what: str, path) -> Path:
    """The parts of a path as a tuple: joint terms alone, or points with pulleys between them.

    Raises
    ------
    ModelError
        It is neither, or has a branch of fewer than two points.
    UnsupportedError
        It wraps around a shape.
    """
    path = tuple(path) if isinstance(path, (tuple, list)) else (path,)
    for part in path:
        if not isinstance(part, (JointTerm, ViaPoint, WrapShape, Pulley)):
            raise ModelError(f"{what} has the part {part!r}, expected JointTerm, ViaPoint or Pulley")
        if isinstance(part, WrapShape):
            raise UnsupportedError(
                f"{what} wraps around a {part.kind} at frame {part.frame!r}; lengths over shapes are not computed yet. "
                "Points that the tendon passes through are: kinetree.constraints.ViaPoint"
            )
        if isinstance(part, (JointTerm, Pulley)):
            value = part.coefficient if isinstance(part, JointTerm) else part.divisor
            if number(f"{what}: the number of {part!r}", value) == 0.0 and isinstance(part, Pulley):
                raise ModelError(f"{what} has a pulley whose divisor is 0, expected another number")
    fixed = [isinstance(part, JointTerm) for part in path]
    if not path or any(fixed) and not all(fixed):
        raise ModelError(f"{what} is {path!r}, expected joint terms alone, or points")
    if not any(fixed) and any(len(points) < 2 for _, points in branches(path)):
        raise ModelError(f"{what} has a branch of fewer than two points: {path!r}")
    return path


def branches(path: Path) -> list[tuple[float, list[str]]]:
    """Of a path through points: the divisor of each branch, and the frames that it passes."""
    found: list[tuple[float, list[str]]] = [] if path and isinstance(path[0], Pulley) else [(1.0, [])]
    for part in path:
        if isinstance(part, Pulley):
            found.append((part.divisor, []))
        else:
            found[-1][1].append(part.frame)
    return found


def path_length(path: Path, kin):
    """The length of a tendon [m], or the sum of joint terms, over leaves of the kinematics.

    Notes
    -----
    Source: MuJoCo, XML reference, ``tendon/spatial`` and ``tendon/fixed``.
    """
    total = 0.0
    if isinstance(path[0], JointTerm):
        for term in path:
            total = total + kin.coordinate(term.joint) * term.coefficient
        return total
    for divisor, frames in branches(path):
        for start, end in zip(frames, frames[1:], strict=False):
            d = kin.point(end, relative_to=start)
            total = total + sqrt(d.dot(d)) * (1.0 / divisor)
    return total


def path_numbers(path: Path, label: str) -> dict[str, object]:
    """Coefficients and divisors of a path, by "path.<part>.coefficient"."""
    return {f"{label}.{n}.{x.measure}": getattr(x, x.measure) for n, x in enumerate(path) if x.measure}


def with_path_numbers(path: Path, values) -> Path:
    """The path with other numbers from an iterator, of any scalar type."""
    return tuple(replace(part, **{part.measure: next(values)}) if part.measure else part for part in path)


def names_in(path: Path, kind: str) -> tuple[str, ...]:
    """Names of the joints or frames of a path, each once; ``kind`` is "joint" or "frame"."""
    fields = ((part, what) for part in path for what, of in part.refers.items() if of == kind)
    return tuple(dict.fromkeys(name for part, what in fields if (name := getattr(part, what)) is not None))
