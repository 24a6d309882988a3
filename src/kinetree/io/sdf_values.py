"""Values of SDF: they stand in the text of elements, ``<mass>1.5</mass>``, where URDF has attributes."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from kinetree.io.xml_numbers import BadNumber, parse_number
from kinetree.io.xml_reader import Node, shown
from kinetree.model.builder import rotation_of_quaternion, rotation_of_rpy

WATER = 1000.0  # kg/m^3, where a density is asked for and not stated
UNLIMITED = 1e16  # what SDF before 1.9 writes for "no limit"

_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}


@dataclass(frozen=True, slots=True, eq=False)
class Pose:
    """``<pose>``: orientation and position of a frame in another one, whose name may be left to the format."""

    R: np.ndarray
    p: np.ndarray
    relative_to: str | None
    node: Node | None


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
    """The number in the only child of this tag; infinite ones only where they mean "no limit"."""
    child = node.child(tag)
    return default if child is None else numbers(child, 1, infinite)[0]


def positive(node: Node, tag: str, default: float | None = None) -> float | None:
    """The number in the only child of this tag, which must be above zero."""
    value = number(node, tag, default)
    if value is not None and value <= 0.0:
        child = node.child(tag)
        raise child.fail(f"{child.path} is {value:g}, expected more than 0", code="bad-number", value=value)
    return value


def numbers(node: Node, size: int, infinite: bool = False) -> tuple[float, ...]:
    """The text of an element as so many numbers."""
    value = content(node)
    words = value.split()
    if len(words) != size:
        comma = " (numbers are separated by spaces, not by commas)" if "," in value else ""
        raise node.fail(
            f"{node.path} is {shown(value)}: {len(words)} number{'s' * (len(words) != 1)}, expected {size}{comma}",
            code="bad-number",
            value=value,
        )
    return tuple(_number(node, word, infinite) for word in words)


def _number(node: Node, word: str, infinite: bool) -> float:
    try:
        return parse_number(word, infinite)
    except BadNumber as bad:
        message = f"{node.path}: {shown(word)} {bad.fault}"
        raise node.fail(message, code="bad-number", repair=bad.repair, value=word) from None


def boolean(node: Node, tag: str, default: bool = False) -> bool:
    """The truth in the only child of this tag: true, false, 1 or 0."""
    child = node.child(tag)
    return default if child is None else truth(child, content(child))


def truth(node: Node, value: str) -> bool:
    """A word as a truth."""
    found = _BOOLEANS.get(value.lower())
    if found is None:
        raise node.fail(f"{node.path} is {shown(value)}, expected true or false", code="bad-boolean", value=value)
    return found


def pose(node: Node) -> Pose:
    """The ``<pose>`` of an element; without one, the identity.

    Notes
    -----
    Six numbers are a position and roll, pitch, yaw with R = Rz(yaw) Ry(pitch) Rx(roll), in degrees if ``degrees`` says
    so; with ``rotation_format="quat_xyzw"`` seven numbers are a position and a quaternion. Source: SDF 1.9, pose.sdf.
    """
    child = node.child("pose")
    if child is None:
        return Pose(np.eye(3), np.zeros(3), None, None)
    relative_to = child.text("relative_to") or None
    form = child.text("rotation_format", "euler_rpy")
    degrees = child.has("degrees") and truth(child, child.text("degrees"))
    if form not in ("euler_rpy", "quat_xyzw"):
        message = f"{child.path}: rotation_format is {shown(form)}; known: euler_rpy, quat_xyzw"
        raise child.fail(message, code="bad-choice", value=form)
    if not content(child):
        return Pose(np.eye(3), np.zeros(3), relative_to, child)
    if form == "quat_xyzw":
        if degrees:
            raise child.fail(f"{child.path}: degrees are for euler_rpy, not for a quaternion", code="bad-choice")
        values = numbers(child, 7)
        x, y, z, w = values[3:]
        size = math.hypot(w, x, y, z)
        if abs(size - 1.0) > 1e-3:
            raise child.fail(
                f"{child.path}: the quaternion {values[3:]} (x, y, z, w) has length {size:g}, expected 1",
                code="bad-quaternion",
                value=content(child),
            )
        R = rotation_of_quaternion((w, x, y, z))
    else:
        values = numbers(child, 6)
        angles = [math.radians(angle) for angle in values[3:]] if degrees else values[3:]
        R = rotation_of_rpy(*angles)
    return Pose(R, np.array(values[:3]), relative_to, child)
