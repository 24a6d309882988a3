"""URDF elements to records: links as bodies, joints as the file states them, checked one element at a time.

Nothing here depends on models or trees. Inertias and shapes are in the axes of their link.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from kinetree.errors import InertiaError, UnsupportedError, closest
from kinetree.forces.registry import names_in
from kinetree.io.foreign import expanded, foreign_root, refusal
from kinetree.io.inertia_rules import ENTRIES, MIRRORED, NO_MASS, ONE_TRIANGLE, Mass, asymmetry, settle_link
from kinetree.io.mesh_paths import MeshFinder
from kinetree.io.options import Options
from kinetree.io.urdf.notes import Notes
from kinetree.io.urdf.surface import surfaces, with_surface
from kinetree.io.urdf.version import (
    CAPSULES,
    MOTION_LIMITS,
    OF_MOTION,
    QUATERNIONS,
    Version,
    spelled,
    version_of,
)  # fmt: skip
from kinetree.io.xml.reader import Document, Node, likely_word, shown
from kinetree.joints import Fixed, Free, Joint, Planar, Prismatic, Revolute
from kinetree.model.builder import rotation_of_quaternion
from kinetree.model.parts import SHAPES as PARAMETERS
from kinetree.model.parts import Geometry, rotation_of_rpy
from kinetree.model.texture import Texture

UNKNOWN = "unknown"  # type of a joint whose type could not be read, in a collecting document

JOINT_TYPES: dict[str, type[Joint]] = {
    "revolute": Revolute, "continuous": Revolute, "prismatic": Prismatic, "fixed": Fixed, "floating": Free,
    "planar": Planar,
}  # fmt: skip
LIMITS = {"lower": "lower", "upper": "upper", "effort": "effort_limit", "velocity": "velocity_limit"}  # and ours
DYNAMICS = names_in("urdf")  # and ours

_ENDS = ("parent", "child")
SHAPES = ("box", "cylinder", "sphere", "capsule", "mesh")
_SHORTEST = 1e-6  # of a direction or a quaternion that can be normalized
_XACRO = (
    "//*[contains(namespace-uri(), 'xacro') or contains(local-name(), 'xacro') "
    "or @*[contains(., '${') or contains(., '$(')]]"
)
_UNIT = 1e-3  # off a quaternion's length, beyond which that is no matter of rounding
# Stands for mass properties that could not be read: enough to resist any joint.
UNKNOWN_MASS = Mass(1.0, np.full(3, np.nan), np.eye(3))


@dataclass(frozen=True, slots=True)
class Pose:
    """``<origin>``: a translation, and roll, pitch, yaw or a quaternion.

    ``rpy`` means R = Rz(yaw) Ry(pitch) Rx(roll), and is empty where the file gives ``quaternion`` (w, x, y, z) instead,
    which may have another length than 1.
    """

    xyz: tuple[float, float, float] = (0.0, 0.0, 0.0)
    rpy: tuple[float, ...] = (0.0, 0.0, 0.0)
    quaternion: tuple[float, ...] = ()

    @property
    def R(self) -> np.ndarray:
        """(3, 3): coordinates in the frame at the origin to those in the frame that it stands in."""
        return rotation_of_quaternion(self.quaternion) if self.quaternion else rotation_of_rpy(*self.rpy)

    @property
    def is_known(self) -> bool:
        """Whether every number could be read; only a collecting document has others."""
        return all(map(math.isfinite, (*self.xyz, *self.rpy, *self.quaternion)))


@dataclass(frozen=True, slots=True)
class LinkRecord:
    """``<link>``; without an ``inertial`` element it has no mass."""

    name: str
    mass: Mass
    shapes: list[Geometry]
    inertial: Node | None
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
    """``<joint>``; ``limits`` and ``dynamics`` have the values of the file, by its names."""

    name: str
    type: str
    parent: str
    child: str
    origin: Pose
    axis: tuple[float, float, float]
    limits: dict[str, float]
    dynamics: dict[str, float]
    mimic: MimicRecord | None
    node: Node

    @property
    def is_known(self) -> bool:
        """Whether its type and place could be read; only a collecting document has others."""
        return self.type != UNKNOWN and self.origin.is_known and all(map(math.isfinite, self.axis))


@dataclass(frozen=True, slots=True)
class RobotRecord:
    """The content of the file; in a collecting document without its broken parts.

    ``complete`` is False if links or joints are missing here that the file names: references to them are not at fault.
    """

    name: str | None
    links: dict[str, LinkRecord]
    joints: dict[str, JointRecord]
    document: Document
    complete: bool
    version: Version


@dataclass(frozen=True, slots=True)
class _Context:
    """Further input of reading: ``inertia`` is the option, ``colors`` are colors and images
    of materials, ``surfaces`` are of links."""

    version: Version
    notes: Notes
    finder: MeshFinder
    inertia: str
    colors: dict[str, tuple]
    surfaces: dict[str, dict[str, object]]


def read_robot(document: Document, options: Options, notes: Notes) -> RobotRecord:
    """Read every link and joint of a document; names are unique and references exist."""
    root, attempt = document.root, document.attempt
    _refuse_xacro(document)
    if root.tag != "robot":
        if foreign := foreign_root(root.tag):
            raise root.fail(refusal(foreign[0]), UnsupportedError, code="wrong-root", repair=foreign[1])
        other = {"sdf": " (SDF)", "mujoco": " (MJCF)"}.get(root.tag, "")
        raise root.fail(
            f"the root element is <{root.tag}>{other}, expected <robot>: this is not a URDF file", code="wrong-root"
        )
    finder = MeshFinder(document.path.parent if document.path is not None else None, options.package_dirs)
    context = _Context(
        version_of(root), notes, finder, options.inertia, _materials(root, finder, notes), surfaces(root)
    )
    links: dict[str, LinkRecord] = {}
    for node in root.children("link"):
        link = attempt(_link, node, context, whole=node)
        if link is not None and attempt(_unique, "link", link.name, node, links, default=False):
            links[link.name] = link
    if not root.children("link"):
        document.reject(root.fail("the robot has no <link>", code="no-links"))
    joints: dict[str, JointRecord] = {}
    for node in root.children("joint"):
        joint = attempt(_joint, node, context, whole=node)
        if joint is not None and attempt(_unique, "joint", joint.name, node, joints, default=False):
            joints[joint.name] = joint
    all_links = len(links) == len(root.children("link"))
    # A link that could not be read may be meant: by the name it states, or by any if the name cannot be read.
    stated = {node.element.get("name") or "" for node in root.children("link")}
    blamed = stated if all(name.strip() and name.isprintable() for name in stated) else None
    joined = {
        name: joint for name, joint in joints.items() if all([_known_end(joint, role, links, blamed) for role in _ENDS])
    }
    complete = all_links and len(joined) == len(root.children("joint"))
    return RobotRecord(root.text("name"), links, joined, document, complete, context.version)


def _known_end(joint: JointRecord, role: str, links: dict[str, LinkRecord], stated: set[str] | None) -> bool:
    """Whether the parent or child of a joint is a link; if not, that is an error unless an unread one may be meant.

    ``stated`` are the names of all links, None if one of them cannot be read, so that any may be meant.
    """
    link = getattr(joint, role)
    if link in links:
        return True
    if link and stated is not None and link not in stated:
        hint = known(link, links, joint.node.document)
        message = f"the {role} of joint '{joint.name}' is '{link}', and there is no such link{hint}"
        joint.node.child(role).reject(message, code="unknown-link", name=link)
    return False


def _refuse_xacro(document: Document) -> None:
    for element in document.root.element.xpath(_XACRO)[:1]:
        found = element.tag.split("}")[-1] if "xacro" in element.tag else f"<{element.tag}> with an expression ${{...}}"
        message = f"this is a xacro macro file (found {found}); expand it first: {expanded(document.path)}"
        raise document.node(element).fail(message, code="xacro")


def _unique(kind: str, name: str, node: Node, earlier: dict) -> bool:
    if name in earlier:
        message = (
            f"{kind} name '{name}' is taken (first on line {earlier[name].node.line}); names of {kind}s are unique"
        )
        raise node.fail(message, code="duplicate-name", repair="rename one of them", name=name)
    return True


def known(name: str, valid: Iterable[str], document: Document) -> str:
    """Return the end of a message about an unknown name: the closest valid one, and all of them."""
    if not document.may_hint():
        return ""
    names = list(valid)
    close = closest(name, names)
    hint = f"; did you mean '{close[0]}'?" if close else "."
    return f"{hint} Known: {', '.join(names[:12])}{', ...' if len(names) > 12 else ''}"


def _materials(root: Node, finder: MeshFinder, notes: Notes) -> dict[str, tuple]:
    """Return the colors and images of the materials that the file defines at its top."""
    colors = {}
    for node in root.children("material"):
        name = node.document.attempt(node.name)
        colors[name] = node.document.attempt(_color, node), node.document.attempt(_texture, node, finder, notes)
    return colors


def _color(material: Node) -> tuple[float, ...] | None:
    node = material.child("color")
    return None if node is None else node.vector("rgba", 4, required=True)


def _texture(material: Node, finder: MeshFinder, notes: Notes) -> Texture | None:
    """The image of a material; a missing one is reported, and left out."""
    node = material.child("texture")
    filename = "" if node is None else node.text("filename", "").strip()
    if not filename:  # empty elements are frequent
        return None
    found = finder.find(filename)
    if found.path is None:
        notes.info(node, f"texture {shown(filename, 200)} not found: {found.reason}", "mesh-missing")
        return None
    return Texture(str(found.path))


def _link(node: Node, context: _Context) -> LinkRecord:
    name, attempt = node.name(), node.document.attempt
    inertial = node.child("inertial")
    shapes = [
        attempt(_shape, child, role, context, whole=child)
        for role in ("visual", "collision")
        for child in node.children(role)
    ]
    mass = NO_MASS if inertial is None else attempt(_mass, inertial, name, context, default=UNKNOWN_MASS)
    shapes = [shape for shape in shapes if shape is not None]
    return LinkRecord(name, mass, with_surface(shapes, context.surfaces.get(name, {})), inertial, node)


def _mass(node: Node, link: str, context: _Context) -> Mass:
    """The mass properties of a link in its own frame; see `inertia_rules.settle` for the option."""
    attempt = node.document.attempt
    mass = attempt(_amount, node, default=math.nan)
    tensor = attempt(_tensor, node, default=(math.nan,) * 6)
    origin = _origin(node, context)
    if not np.isfinite((mass, *tensor)).all():  # in a collecting document, which has the error
        return UNKNOWN_MASS
    ixx, ixy, ixz, iyy, iyz, izz = tensor
    I = np.array([[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]])
    I = settle_link(link, mass, I, context.inertia, node.child("inertia"), context.notes)
    if not origin.is_known:
        return UNKNOWN_MASS
    return Mass(mass, np.zeros(3), I).seen_from(origin.R, np.array(origin.xyz))


def _amount(node: Node) -> float:
    return node.child("mass", required=True).number("value", required=True)


def _tensor(node: Node) -> tuple[float, ...]:
    inertia = node.child("inertia", required=True)
    tensor = {name: inertia.number(name, required=True) for name in ENTRIES}
    below = {name: inertia.number(name) for name in MIRRORED.values() if inertia.has(name)}
    if rule := asymmetry(tensor, below):
        inertia.reject(f"{inertia.path}: {rule}", error=InertiaError, code="impossible-inertia", repair=ONE_TRIANGLE)
    return tuple(tensor.values())


def _origin(node: Node, context: _Context) -> Pose:
    origin = node.child("origin")
    if origin is None:
        return Pose()
    xyz, rpy = origin.vector("xyz", 3, (0.0, 0.0, 0.0)), origin.vector("rpy", 3, (0.0, 0.0, 0.0))
    quaternion = origin.vector("quat_xyzw", 4)
    if quaternion is None:
        return Pose(xyz, rpy)
    if context.version < QUATERNIONS:
        since = f"'quat_xyzw' is read since URDF {spelled(QUATERNIONS)}"
        here = f"this file is of version {spelled(context.version)}, in which other programs ignore it"
        repair = f'state <robot version="{spelled(QUATERNIONS)}">, or give the orientation as rpy'
        origin.reject(f"{origin.path}: {since}, and {here}", code="version", repair=repair)
    if origin.has("rpy"):
        message = f"{origin.path} gives the orientation twice, as 'rpy' and as 'quat_xyzw'"
        origin.reject(message, code="bad-choice", repair="remove one of them")
    x, y, z, w = quaternion
    length = math.hypot(w, x, y, z)
    if length < _SHORTEST:
        message = f"{origin.path}: the quaternion {quaternion} (x, y, z, w) has no length"
        return origin.reject(message, Pose(xyz), code="bad-quaternion", repair="no turn is 0 0 0 1")
    if abs(length - 1.0) > _UNIT:  # other programs normalize it, too
        message = f"{origin.path}: the quaternion {quaternion} (x, y, z, w) normalized, its length is {length:g}"
        context.notes.warning(origin, message)
    return Pose(xyz, (), (w, x, y, z))


def _shape(node: Node, role: str, context: _Context) -> Geometry | None:
    """A shape posed in its link; None if it is left out. Meshes that are not found keep the name in the file."""
    geometry, notes, origin = node.child("geometry", required=True), context.notes, _origin(node, context)
    inside = geometry.all_children()
    geometry.read_children.update(SHAPES)
    found = [(child.tag, child) for child in inside if child.tag in SHAPES]
    common = {"role": role, "name": node.text("name", "")}
    if len(inside) == 1 and not found:  # one that only other programs read, such as the endless plane
        [shape] = inside
        geometry.children(shape.tag)
        shape.read_attributes.update(shape.element.attrib)
        message = f"{shape.path} is no shape of the URDF format: known are {', '.join(SHAPES)}"
        notes.unsupported(shape, message, repair=f"unsupported='drop' leaves the {role} shape out")
        return None
    if len(found) != 1:
        others = ", ".join(child.tag for child in inside) or "nothing"
        message = f"{geometry.path} holds {others}, expected exactly one of {', '.join(SHAPES)}"
        raise geometry.fail(message, code="bad-geometry")
    [(kind, shape)] = found
    if kind == "mesh":
        filename = shape.text("filename", required=True).strip()
        size = shape.vector("scale", 3, (1.0, 1.0, 1.0))
    elif kind == "box":
        size = shape.vector("size", 3, required=True)
    else:
        size = tuple(shape.number(name, required=True) for name in PARAMETERS[kind])
    if kind != "mesh" and min(size) < 0.0:
        raise shape.fail(f"{shape.path} has the size {size}; lengths are not negative", code="bad-geometry")
    if (used := node.child("material")) is not None:
        material = used.text("name", "")
        of_file = context.colors.get(material, (None, None))
        own = _color(used), _texture(used, context.finder, notes)
        common |= {"material": material, "color": own[0] or of_file[0], "texture": own[1] or of_file[1]}
    if not (origin.is_known and all(map(math.isfinite, size))):  # in a collecting document, which has the error
        return None
    if kind == "capsule" and context.version < CAPSULES:
        since = f"capsules exist since URDF {spelled(CAPSULES)}, and this file is of version {spelled(context.version)}"
        notes.info(node, f"{node.path}: {since}: read all the same, other programs leave it out")
    R, p = origin.R, np.array(origin.xyz)
    if kind == "mesh":
        mesh = notes.mesh(node, context.finder.find(filename), shown(filename, 200))
        return Geometry("mesh", (), R, p, mesh=mesh, scale=size, **common)
    if min(size) == 0.0:
        notes.info(node, f"{node.path} ignored: a {kind} of size {size}", "empty-shape")
        return None
    return Geometry(kind, size, R, p, **common)


def _joint(node: Node, context: _Context) -> JointRecord:
    name, attempt = node.name(), node.document.attempt
    type_ = attempt(_type, node, name, default=UNKNOWN)
    parent, child = (attempt(_end, node, role, default="") for role in _ENDS)
    if parent and parent == child:
        raise node.fail(f"joint '{name}' connects link '{parent}' to itself", code="self-joint", joint=name)
    mimic = node.child("mimic")
    return JointRecord(
        name, type_, parent, child, _origin(node, context), attempt(_axis, node, name, type_, default=(1.0, 0.0, 0.0)),
        _limits(node, name, context.version), _dynamics(node, name),
        None if mimic is None else attempt(_mimic, mimic, name, whole=mimic), node,
    )  # fmt: skip


def _type(node: Node, joint: str) -> str:
    type_ = node.text("type", required=True)
    if type_ not in JOINT_TYPES:
        message = f"joint '{joint}' has type {shown(type_)}. Known types: {', '.join(JOINT_TYPES)}."
        repair = likely_word(type_, JOINT_TYPES)
        raise node.fail(message, code="unknown-joint-type", repair=repair, joint=joint, type=type_)
    return type_


def _end(node: Node, role: str) -> str:
    return node.child(role, required=True).name("link")


def _axis(node: Node, joint: str, type_: str) -> tuple[float, float, float]:
    axis = node.child("axis")
    xyz = (1.0, 0.0, 0.0) if axis is None else axis.vector("xyz", 3, required=True)
    # A fixed or floating joint has no axis; many exporters write 0 0 0 there.
    if type_ not in ("fixed", "floating", UNKNOWN) and math.hypot(*xyz) < _SHORTEST:
        message = f"joint '{joint}' has the axis ({', '.join(f'{x:g}' for x in xyz)}), which points nowhere"
        repair = "give the direction in which it turns or slides, or make the joint fixed"
        raise axis.fail(message, code="zero-axis", repair=repair, joint=joint)
    return xyz


def _limits(node: Node, joint: str, version: Version) -> dict[str, float]:
    limit = node.child("limit")
    if limit is None:
        return {}
    names = (*LIMITS, *OF_MOTION) if version >= MOTION_LIMITS else LIMITS
    values = {name: limit.number(name, infinite=True) for name in names}
    stated = {name: value for name, value in values.items() if value is not None}
    for name, value in stated.items():
        if name not in ("lower", "upper") and value < 0.0:
            message = f"joint '{joint}' has the {name} limit {value}, which is negative"
            repair = "the limit holds in both directions; write its size"
            limit.reject(message, code="negative-limit", repair=repair, joint=joint)
    return stated


def _dynamics(node: Node, joint: str) -> dict[str, float]:
    dynamics = node.child("dynamics")
    values = {} if dynamics is None else {name: dynamics.number(name, 0.0) for name in DYNAMICS}
    for name, value in values.items():
        if value < 0.0:
            message = f"joint '{joint}' has the {name} {value}: a negative value would create energy"
            dynamics.reject(message, code="negative-dissipation", repair="is the sign wrong?", joint=joint)
    return values


def _mimic(mimic: Node, joint: str) -> MimicRecord:
    leader = mimic.name("joint")
    if leader == joint:
        raise mimic.fail(f"joint '{joint}' mimics itself", code="mimic-cycle", joint=joint)
    return MimicRecord(leader, mimic.number("multiplier", 1.0), mimic.number("offset", 0.0), mimic)
