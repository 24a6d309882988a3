"""URDF elements to plain records: what the file says, with its lines, checked one element at a time.

Nothing here knows of models or trees. Frames are the file's own: the inertial origin is still that of the file, angles
are roll, pitch and yaw.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable
from dataclasses import dataclass

from kinetree.io.xml_reader import Document, Node

# Velocity variables of each joint type.
JOINT_TYPES = {"revolute": 1, "continuous": 1, "prismatic": 1, "fixed": 0, "floating": 6, "planar": 3}

_SHAPES = ("box", "cylinder", "sphere", "capsule", "mesh")


@dataclass(frozen=True, slots=True)
class Pose:
    """``<origin>``: translation and roll, pitch, yaw: R = Rz(yaw) Ry(pitch) Rx(roll)."""

    xyz: tuple[float, float, float] = (0.0, 0.0, 0.0)
    rpy: tuple[float, float, float] = (0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class InertialRecord:
    """``<inertial>``: mass, and (ixx, ixy, ixz, iyy, iyz, izz) about the center of mass in the axes of ``origin``."""

    origin: Pose
    mass: float
    tensor: tuple[float, float, float, float, float, float]
    node: Node


@dataclass(frozen=True, slots=True)
class ShapeRecord:
    """A ``<visual>`` or ``<collision>`` element.

    ``size`` holds the numbers of the shape: box (x, y, z), cylinder and capsule (radius, length), sphere (radius,),
    mesh (scale x, y, z).
    """

    role: str
    name: str | None
    origin: Pose
    shape: str
    size: tuple[float, ...]
    filename: str | None
    color: tuple[float, float, float, float] | None
    material: str | None
    node: Node


@dataclass(frozen=True, slots=True)
class LinkRecord:
    name: str
    inertial: InertialRecord | None
    shapes: tuple[ShapeRecord, ...]
    node: Node


@dataclass(frozen=True, slots=True)
class MimicRecord:
    """``<mimic>``: q = multiplier * q[joint] + offset."""

    joint: str
    multiplier: float
    offset: float
    node: Node


@dataclass(frozen=True, slots=True)
class JointRecord:
    """``<joint>``; ``limit`` is (lower, upper, effort, velocity), None where the file does not say."""

    name: str
    type: str
    parent: str
    child: str
    origin: Pose
    axis: tuple[float, float, float]
    limit: tuple[float | None, float | None, float | None, float | None]
    damping: float
    friction: float
    mimic: MimicRecord | None
    node: Node


@dataclass(frozen=True, slots=True)
class RobotRecord:
    name: str | None
    links: dict[str, LinkRecord]
    joints: dict[str, JointRecord]
    document: Document


def read_robot(document: Document) -> RobotRecord:
    """Read every link and joint of a document; names are unique and references exist."""
    root = document.root
    _refuse_xacro(document)
    if root.tag != "robot":
        other = {"sdf": " (SDF)", "mujoco": " (MJCF)", "COLLADA": " (COLLADA)"}.get(root.tag, "")
        raise root.fail(f"the root element is <{root.tag}>{other}, expected <robot>: this is not a URDF file")
    root.text("version")
    colors = _materials(root)
    links: dict[str, LinkRecord] = {}
    for node in root.children("link"):
        link = _link(node, colors)
        _unique("link", link.name, node, links)
        links[link.name] = link
    if not links:
        raise root.fail("the robot has no <link>")
    joints: dict[str, JointRecord] = {}
    for node in root.children("joint"):
        joint = _joint(node)
        _unique("joint", joint.name, node, joints)
        joints[joint.name] = joint
    for joint in joints.values():
        for role, link in (("parent", joint.parent), ("child", joint.child)):
            if link not in links:
                raise joint.node.child(role).fail(
                    f"the {role} of joint '{joint.name}' is '{link}', and there is no such link{known(link, links)}",
                    name=link,
                )
    return RobotRecord(root.text("name"), links, joints, document)


def _refuse_xacro(document: Document) -> None:
    for element in document.root.element.iter():
        tag = element.tag if isinstance(element.tag, str) else ""
        if "xacro" in tag or any("${" in value or "$(" in value for value in element.attrib.values()):
            shown = tag.split("}")[-1] if "xacro" in tag else f"<{tag}> with an expression ${{...}}"
            raise document.node(element).fail(
                f"this is a xacro macro file (found {shown}); expand it first: xacro robot.urdf.xacro > robot.urdf"
            )


def _unique(kind: str, name: str, node: Node, earlier: dict) -> None:
    if name in earlier:
        raise node.fail(
            f"{kind} name '{name}' is taken (first on line {earlier[name].node.line}); names of {kind}s are unique",
            name=name,
        )


def known(name: str, valid: Iterable[str]) -> str:
    """Return how a message about an unknown name goes on: the closest valid one, and all of them."""
    names = list(valid)
    close = difflib.get_close_matches(name, names, n=1)
    hint = f"; did you mean '{close[0]}'?" if close else "."
    return f"{hint} Known: {', '.join(names[:12])}{', ...' if len(names) > 12 else ''}"


def _materials(root: Node) -> dict[str, tuple[float, ...] | None]:
    """Return the colors of the materials that the file defines at its top."""
    colors = {}
    for node in root.children("material"):
        name = node.text("name", required=True)
        colors[name] = _color(node)
    return colors


def _color(material: Node) -> tuple[float, ...] | None:
    node = material.child("color")
    return None if node is None else node.vector("rgba", 4, required=True)


def _link(node: Node, colors: dict) -> LinkRecord:
    name = node.text("name", required=True)
    inertial = node.child("inertial")
    shapes = [_shape(child, role, colors) for role in ("visual", "collision") for child in node.children(role)]
    return LinkRecord(name, None if inertial is None else _inertial(inertial), tuple(shapes), node)


def _inertial(node: Node) -> InertialRecord:
    mass = node.child("mass", required=True).number("value", required=True)
    inertia = node.child("inertia", required=True)
    tensor = tuple(inertia.number(name, required=True) for name in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"))
    return InertialRecord(_origin(node), mass, tensor, node)


def _origin(node: Node) -> Pose:
    origin = node.child("origin")
    if origin is None:
        return Pose()
    return Pose(origin.vector("xyz", 3, (0.0, 0.0, 0.0)), origin.vector("rpy", 3, (0.0, 0.0, 0.0)))


def _shape(node: Node, role: str, colors: dict) -> ShapeRecord:
    geometry = node.child("geometry", required=True)
    found = [(shape, child) for shape in _SHAPES for child in geometry.children(shape)]
    if len(found) != 1:
        others = ", ".join(child.tag for child in geometry.all_children()) or "nothing"
        raise geometry.fail(f"{geometry.path} holds {others}, expected exactly one of {', '.join(_SHAPES)}")
    shape, body = found[0]
    filename = None
    if shape == "box":
        size = body.vector("size", 3, required=True)
    elif shape == "sphere":
        size = (body.number("radius", required=True),)
    elif shape == "mesh":
        filename = body.text("filename", required=True).strip()
        size = body.vector("scale", 3, (1.0, 1.0, 1.0))
    else:
        size = (body.number("radius", required=True), body.number("length", required=True))
    if shape != "mesh" and min(size) < 0.0:
        raise body.fail(f"{body.path} has the size {size}; lengths are not negative")
    color = material = None
    if (used := node.child("material")) is not None:
        material = used.text("name")
        color = _color(used) or colors.get(material)
    return ShapeRecord(role, node.text("name"), _origin(node), shape, size, filename, color, material, node)


def _joint(node: Node) -> JointRecord:
    name = node.text("name", required=True)
    type_ = node.text("type", required=True)
    if type_ not in JOINT_TYPES:
        known = ", ".join(JOINT_TYPES)
        raise node.fail(f"joint '{name}' has type '{type_}'. Known types: {known}.", joint=name, type=type_)
    parent = node.child("parent", required=True).text("link", required=True)
    child = node.child("child", required=True).text("link", required=True)
    if parent == child:
        raise node.fail(f"joint '{name}' connects link '{parent}' to itself", joint=name)
    return JointRecord(
        name, type_, parent, child, _origin(node), _axis(node, name, type_), _limit(node, name),
        *_dynamics(node, name), _mimic(node, name), node,
    )  # fmt: skip


def _axis(node: Node, joint: str, type_: str) -> tuple[float, float, float]:
    axis = node.child("axis")
    xyz = (1.0, 0.0, 0.0) if axis is None else axis.vector("xyz", 3, required=True)
    # A fixed or floating joint has no axis; many exporters write 0 0 0 there.
    if type_ not in ("fixed", "floating") and math.hypot(*xyz) < 1e-6:
        raise axis.fail(f"joint '{joint}' has the axis {xyz}, which points nowhere", joint=joint)
    return xyz


def _limit(node: Node, joint: str) -> tuple[float | None, float | None, float | None, float | None]:
    limit = node.child("limit")
    if limit is None:
        return (None, None, None, None)
    lower, upper, effort, velocity = (
        limit.number(name, infinite=True) for name in ("lower", "upper", "effort", "velocity")
    )
    for name, value in (("effort", effort), ("velocity", velocity)):
        if value is not None and value < 0.0:
            raise limit.fail(f"joint '{joint}' has the {name} limit {value}, which is negative")
    return (lower, upper, effort, velocity)


def _dynamics(node: Node, joint: str) -> tuple[float, float]:
    dynamics = node.child("dynamics")
    if dynamics is None:
        return (0.0, 0.0)
    damping, friction = dynamics.number("damping", 0.0), dynamics.number("friction", 0.0)
    for name, value in (("damping", damping), ("friction", friction)):
        if value < 0.0:
            raise dynamics.fail(f"joint '{joint}' has the {name} {value}: a negative value would create energy")
    return (damping, friction)


def _mimic(node: Node, joint: str) -> MimicRecord | None:
    mimic = node.child("mimic")
    if mimic is None:
        return None
    leader = mimic.text("joint", required=True)
    if leader == joint:
        raise mimic.fail(f"joint '{joint}' mimics itself", joint=joint)
    return MimicRecord(leader, mimic.number("multiplier", 1.0), mimic.number("offset", 0.0), mimic)
