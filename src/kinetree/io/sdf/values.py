"""Values of SDF: they stand in the text of elements, ``<mass>1.5</mass>``, where URDF has attributes."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from kinetree.io.xml.numbers import BadNumber, parse_number
from kinetree.io.xml.reader import Node, shown
from kinetree.model.builder import rotation_of_quaternion
from kinetree.model.parts import rotation_of_rpy, transform_of_pose
from kinetree.spatial import Transform

WATER = 1000.0  # kg/m^3, where a density is required and not stated
UNLIMITED = 1e16  # "no limit" in SDF before 1.9

_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """Orientation and position of a frame in another; by default in itself."""

    R: np.ndarray = field(default_factory=lambda: np.eye(3))
    p: np.ndarray = field(default_factory=lambda: np.zeros(3))

    def __matmul__(self, inner: Placed) -> Placed:
        return Placed(self.R @ inner.R, self.R @ inner.p + self.p)

    def inverse(self) -> Placed:
        return Placed(self.R.T, -(self.R.T @ self.p))

    def seen_from(self, other: Placed) -> Placed:
        """The pose in another frame, both placed in the same; equal axes and origins give exact ones and zeros."""
        R = np.eye(3) if other.R is self.R or np.array_equal(other.R, self.R) else other.R.T @ self.R
        return Placed(R, other.R.T @ (self.p - other.p))

    @property
    def is_identity(self) -> bool:
        """Whether the two frames are the same."""
        return np.array_equal(self.R, np.eye(3)) and not self.p.any()

    @property
    def transform(self) -> Transform:
        """From coordinates of the other frame to those of this one."""
        return transform_of_pose(self.R, self.p)


@dataclass(frozen=True, slots=True, eq=False)
class Pose(Placed):
    """``<pose>``: orientation and position of a frame in another one, whose name may be left to the format.

    ``rpy``: roll, pitch and yaw [rad] where the file states them as such. ``is_known``: whether it could be read; only
    a collecting document has others, and the identity stands for them.
    """

    relative_to: str | None = None
    node: Node | None = None
    rpy: tuple[float, ...] = ()
    is_known: bool = True


def content(node: Node) -> str:
    """The text of an element, without comments and without the space around it."""
    element = node.element
    return "".join([element.text or "", *(child.tail or "" for child in element)]).strip()


def text(node: Node, tag: str, default: str | None = None, required: bool = False) -> str | None:
    """The text of the only child of this tag; an empty one is an error."""
    child = node.child(tag, required)
    if child is None:
        return default
    value = content(child)
    if not value:
        raise child.fail(f"{child.path} is empty", code="empty-element")
    return value


def number(node: Node, tag: str, default: float | None = None, infinite: bool = False) -> float | None:
    """The number in the only child of this tag; infinite ones only where they mean "no limit".

    In a collecting document the default stands for one that cannot be read, or NaN where there is none.
    """
    child = node.child(tag)
    if child is None:
        return default
    value = numbers(child, 1, infinite)[0]
    return default if math.isnan(value) and default is not None else value


def positive(node: Node, tag: str, default: float | None = None) -> float | None:
    """The number in the only child of this tag, which must be above zero."""
    value = number(node, tag, default)
    if value is not None and value <= 0.0:
        child = node.child(tag)
        return child.reject(f"{child.path} is {value:g}, expected more than 0", default, code="bad-number", value=value)
    return default if value is not None and math.isnan(value) else value


def numbers(node: Node, size: int, infinite: bool = False) -> tuple[float, ...]:
    """The text of an element as so many numbers; NaN where a collecting document cannot read one."""
    value = content(node)
    words = value.split()
    if len(words) != size:
        comma = " (numbers are separated by spaces, not by commas)" if "," in value else ""
        message = f"{node.path} is {shown(value)}: {len(words)} number{'s' * (len(words) != 1)}, expected {size}{comma}"
        return node.reject(message, (math.nan,) * size, code="bad-number", value=value)
    return tuple(_number(node, word, infinite) for word in words)


def _number(node: Node, word: str, infinite: bool) -> float:
    try:
        return parse_number(word, infinite)
    except BadNumber as bad:
        message = f"{node.path}: {shown(word)} {bad.fault}"
        return node.reject(message, math.nan, code="bad-number", repair=bad.repair, value=word)


def boolean(node: Node, tag: str, default: bool = False) -> bool:
    """The truth in the only child of this tag: true, false, 1 or 0."""
    child = node.child(tag)
    return default if child is None else truth(child, content(child), default)


def truth(node: Node, value: str, instead: bool = False) -> bool:
    """A word as a truth; ``instead`` stands for one that a collecting document cannot read."""
    found = _BOOLEANS.get(value.lower())
    if found is None:
        message = f"{node.path} is {shown(value)}, expected true or false"
        return node.reject(message, instead, code="bad-boolean", value=value)
    return found


def pose(node: Node) -> Pose:
    """The ``<pose>`` of an element; without one, the identity.

    Notes
    -----
    Six numbers are a position and roll, pitch, yaw with R = Rz(yaw) Ry(pitch) Rx(roll), in degrees if ``degrees``
    is true; with ``rotation_format="quat_xyzw"`` seven are a position and a quaternion. Source: SDF 1.9, pose.sdf.
    """
    child = node.child("pose")
    if child is None:
        return Pose()
    relative_to = child.text("relative_to") or None
    form = child.text("rotation_format", "euler_rpy")
    unknown = Pose(relative_to=relative_to, node=child, is_known=False)
    degrees = child.has("degrees") and truth(child, child.text("degrees"))
    if form not in ("euler_rpy", "quat_xyzw"):
        message = f"{child.path}: rotation_format is {shown(form)}; known: euler_rpy, quat_xyzw"
        return child.reject(message, unknown, code="bad-choice", value=form)
    if not content(child):
        return Pose(relative_to=relative_to, node=child)
    if form == "quat_xyzw":
        if degrees:
            child.reject(f"{child.path}: degrees are for euler_rpy, not for a quaternion", code="bad-choice")
        values = numbers(child, 7)
        x, y, z, w = values[3:]
        size = math.hypot(w, x, y, z)
        if abs(size - 1.0) > 1e-3:
            message = f"{child.path}: the quaternion {values[3:]} (x, y, z, w) has length {size:g}, expected 1"
            return child.reject(message, unknown, code="bad-quaternion", value=content(child))
        rpy, R = (), rotation_of_quaternion((w, x, y, z))
    else:
        values = numbers(child, 6)
        angles = [math.radians(angle) for angle in values[3:]] if degrees else values[3:]
        rpy, R = () if degrees else tuple(angles), rotation_of_rpy(*angles)
    if not all(map(math.isfinite, values)):
        return unknown
    return Pose(R, np.array(values[:3]), relative_to, child, rpy)
