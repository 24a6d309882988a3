"""SDF elements to plain records: the content of the file, with its lines, checked one element at a time.

Nothing here depends on trees or on poses in other frames: names are those of the file, in the scope where they stand.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from kinetree.errors import InertiaError
from kinetree.forces.registry import names_in
from kinetree.io.inertia_rules import ENTRIES, MIRRORED, ONE_TRIANGLE, asymmetry
from kinetree.io.mesh_paths import MeshFinder
from kinetree.io.sdf.notes import Notes
from kinetree.io.sdf.shapes import ShapeRecord, read_shapes
from kinetree.io.sdf.values import (
    UNLIMITED,
    WATER,
    Pose,
    boolean,
    content,
    number,
    numbers,
    pose,
    positive,
    text,
    truth,
)
from kinetree.io.xml.reader import Node, likely_word, shown

Version = tuple[int, int]
UNKNOWN = "unknown"  # type of a joint whose type could not be read, in a collecting document

# Axes of each joint type.
JOINT_TYPES = {
    "revolute": 1, "continuous": 1, "prismatic": 1, "screw": 1, "universal": 2, "revolute2": 2, "gearbox": 2,
    "ball": 0, "fixed": 0,
}  # fmt: skip
DYNAMICS = names_in("sdf")  # in <dynamics>, and ours
# Neutral values of forces and limits along an axis, by the names of ``ModelBuilder.add_body``.
NEUTRAL = {
    **dict.fromkeys(DYNAMICS.values(), 0.0), "lower": -math.inf, "upper": math.inf, "effort_limit": math.inf,
    "velocity_limit": math.inf,
}  # fmt: skip
STOPS = {"limit_stiffness": 1e8, "limit_damping": 1.0}  # of a stop that states one of them alone


@dataclass(frozen=True, slots=True, eq=False)
class InertialRecord:
    """``<inertial>``: mass [kg], its frame in the link, and the tensor in the axes of that frame [kg m^2].

    With a ``density`` [kg/m^3] they are to be computed from the collision shapes.
    """

    mass: float
    pose: Pose
    tensor: np.ndarray
    density: float | None
    node: Node
    tensor_node: Node

    @property
    def is_known(self) -> bool:
        """Whether every number could be read; only a collecting document has others."""
        return self.pose.is_known and math.isfinite(self.mass) and bool(np.isfinite(self.tensor).all())


@dataclass(frozen=True, slots=True, eq=False)
class LinkRecord:
    name: str
    pose: Pose
    inertial: InertialRecord | None
    shapes: tuple[ShapeRecord, ...]
    windy: Node | None
    node: Node


@dataclass(frozen=True, slots=True, eq=False)
class FrameRecord:
    name: str
    pose: Pose
    attached_to: str | None
    node: Node


@dataclass(frozen=True, slots=True)
class MimicRecord:
    """This axis's position is ``multiplier * (q_leader - reference) + offset``."""

    leader: str
    multiplier: float
    offset: float
    reference: float
    node: Node


@dataclass(frozen=True, slots=True)
class AxisRecord:
    """``<axis>``: a direction in the joint's frame or a named one, and the forces along it.

    ``settings``: differences from ``NEUTRAL``, and ``STOPS`` [SI]. ``is_known``: whether the direction could be read;
    z stands for it in a collecting document.
    """

    xyz: tuple[float, float, float]
    expressed_in: str | None
    settings: dict[str, float]
    initial: float
    mimic: MimicRecord | None
    node: Node
    is_known: bool = True

    @property
    def exerts(self) -> bool:
        """Whether a damping, a friction or a spring acts along it."""
        return any(name in self.settings for tag, name in DYNAMICS.items() if tag != "spring_reference")


@dataclass(frozen=True, slots=True, eq=False)
class JointRecord:
    """``<joint>``; ``lead`` is the displacement of a screw per angle [m/rad], positive for a right-handed thread."""

    name: str
    type: str
    parent: str
    child: str
    pose: Pose
    axes: tuple[AxisRecord, ...]
    lead: float | None
    gear: tuple[str, float] | None
    cut: bool
    node: Node

    @property
    def is_known(self) -> bool:
        """Whether its type, place and axes could be read; only a collecting document has others."""
        return self.type != UNKNOWN and self.pose.is_known and all(axis.is_known for axis in self.axes)


@dataclass(slots=True, eq=False)
class ModelRecord:
    """``<model>`` or ``<world>``: a scope of names.

    ``lost``: names of parts that a collecting document could not read, None for an unreadable name.
    """

    name: str
    pose: Pose
    node: Node
    static: bool = False
    placement_frame: str | None = None
    canonical_link: str | None = None
    is_world: bool = False
    gravity: tuple[float, float, float] | None = None
    windy: list[Node] = field(default_factory=list)
    links: dict[str, LinkRecord] = field(default_factory=dict)
    joints: dict[str, JointRecord] = field(default_factory=dict)
    frames: dict[str, FrameRecord] = field(default_factory=dict)
    models: dict[str, ModelRecord] = field(default_factory=dict)
    lost: set[str | None] = field(default_factory=set)


def read_pose(node: Node, version: Version, notes: Notes) -> Pose:
    """A pose, with the references to other frames that its version defines."""
    found = pose(node)
    if found.node is None:
        return found
    if found.relative_to is not None and version < (1, 7):
        node.document.reject(_too_new(found.node, "attribute 'relative_to'", version))
    if version < (1, 7) and found.node.text("frame"):
        fault = f"{found.node.path}: attribute 'frame' of SDF 1.5 and 1.6 names a frame, but programs ignore it"
        notes.unsupported(found.node, f"{fault}; write relative_to and version 1.7")
    return found


def _too_new(node: Node, what: str, version: Version) -> Exception:
    here = f"the file is of version {version[0]}.{version[1]}, where it is ignored"
    repair = 'write <sdf version="1.7">, which also changes the frame of joint axes'
    return node.fail(f"{node.path}: {what} came with SDF 1.7, {here}", code="version", repair=repair)


def read_link(node: Node, version: Version, notes: Notes, finder: MeshFinder) -> LinkRecord:
    name, attempt = node.name(), node.document.attempt
    inertial = node.child("inertial")
    if not boolean(node, "gravity", True):
        notes.unsupported(node.child("gravity"), f"link '{name}' is free of gravity")
    if boolean(node, "kinematic"):
        notes.unsupported(node.child("kinematic"), f"link '{name}' is kinematic: moved by a program, not by forces")
    decay = node.child("velocity_decay")
    if decay is not None and (number(decay, "linear", 0.0) or number(decay, "angular", 0.0)):
        notes.unsupported(decay, f"link '{name}' has a velocity decay: damping by the air, which is not modeled")
    place = read_pose(node, version, notes)
    if inertial is not None:
        inertial = attempt(read_inertial, inertial, version, notes, default=_unread(inertial))
    shapes = read_shapes(node, lambda shape: read_pose(shape, version, notes), finder, notes)
    windy = node.child("enable_wind") if boolean(node, "enable_wind") else None
    return LinkRecord(name, place, inertial, shapes, windy, node)


def _unread(node: Node) -> InertialRecord:
    """Placeholder of an ``<inertial>`` that a collecting document cannot read."""
    return InertialRecord(math.nan, Pose(is_known=False), np.full((3, 3), math.nan), None, node, node)


def read_inertial(node: Node, version: Version, notes: Notes) -> InertialRecord:
    """Mass properties; unstated ones have the format's default: 1 kg, and 1 kg m^2 about every axis."""
    if node.has("auto") and truth(node, node.text("auto")):
        return _automatic(node)
    if node.child("density") is not None:
        notes.info(node, f"{node.path}: densities are used with auto='true' alone")
    if node.child("fluid_added_mass") is not None:
        notes.skip(node.child("fluid_added_mass"))
        notes.unsupported(node.child("fluid_added_mass"), f"{node.path}: added mass of a fluid is not modeled")
    frame = read_pose(node, version, notes)
    if frame.relative_to:
        message = f"{frame.node.path}: the pose of <inertial> is relative to its link; relative_to is not allowed"
        frame.node.reject(message, code="bad-frame")
    if node.child("frame") is not None:
        notes.unsupported(node.child("frame"), f"{node.path}: a <frame> inside <inertial> is ignored by programs")
    mass = number(node, "mass")
    if mass is None:
        notes.warning(node, f"{node.path} states no mass: 1 kg, the format's default")
    tensor = node.child("inertia")
    if tensor is None:
        notes.warning(node, f"{node.path} states no inertia: 1 kg m^2 about every axis, the format's default")
        moments = (1.0, 0.0, 0.0, 1.0, 0.0, 1.0)
    else:
        given = {name: number(tensor, name) for name in ENTRIES}
        missing = [name for name, value in given.items() if value is None and name[1] == name[2]]
        if missing:
            notes.warning(tensor, f"{tensor.path} states no {', '.join(missing)}: 1 kg m^2, the format's default")
        stated = {name: float(name[1] == name[2]) if value is None else value for name, value in given.items()}
        below = {name: number(tensor, name) for name in MIRRORED.values() if tensor.child(name) is not None}
        if rule := asymmetry(stated, below):
            message = f"{tensor.path}: {rule}"
            tensor.reject(message, error=InertiaError, code="impossible-inertia", repair=ONE_TRIANGLE)
        moments = stated.values()
    ixx, ixy, ixz, iyy, iyz, izz = moments
    I = np.array([[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]])
    return InertialRecord(1.0 if mass is None else mass, frame, I, None, node, tensor or node)


def _automatic(node: Node) -> InertialRecord:
    """Mass properties that the collision shapes have by their densities (since SDF 1.11)."""
    for tag in ("mass", "pose", "inertia"):
        if node.child(tag) is not None:
            fault = f"{node.path} is auto='true', so that its <{tag}> is computed, and states one"
            repair = f"remove <{tag}>, or the attribute"
            message = f"{fault}, which versions read differently"
            node.child(tag).reject(message, code="auto-inertia", repair=repair)
    return InertialRecord(0.0, Pose(), np.zeros((3, 3)), positive(node, "density", WATER), node, node)


def read_frame(node: Node, version: Version, notes: Notes) -> FrameRecord:
    name = node.name()
    return FrameRecord(name, read_pose(node, version, notes), node.text("attached_to") or None, node)


def read_joint(node: Node, version: Version, notes: Notes) -> JointRecord:
    name, attempt = node.name(), node.document.attempt
    kind = attempt(_type, node, name, default=UNKNOWN)
    ends = [attempt(_end, node, tag, name, version, default="") for tag in ("parent", "child")]
    gear = attempt(_gear, node) if kind == "gearbox" else None
    if kind == UNKNOWN:
        node.document.lose(node)
    place, axes = read_pose(node, version, notes), _axes(node, kind, version, notes)
    lead = attempt(_lead, node, default=1.0) if kind == "screw" else None
    return JointRecord(name, kind, *ends, place, axes, lead, gear, attempt(_must_be_cut, node, default=False), node)


def _type(node: Node, joint: str) -> str:
    kind = node.text("type", required=True).strip()
    if kind not in JOINT_TYPES:
        message = f"joint '{joint}' has type {shown(kind)}. Known types: {', '.join(JOINT_TYPES)}"
        repair = likely_word(kind, JOINT_TYPES)
        raise node.fail(message, code="unknown-joint-type", repair=repair, joint=joint)
    return kind


def _end(node: Node, tag: str, joint: str, version: Version) -> str:
    end = node.child(tag, required=True)
    inner = end.child("link_name") if version < (1, 3) else None
    name = text(node, tag, required=True) if inner is None else content(inner)
    if name == joint and version >= (1, 7):
        raise end.fail(f"joint '{joint}': its {tag} is the joint itself", code="self-joint", joint=joint)
    if name == "world" and tag == "child":
        message = f"joint '{joint}': the child is the world"
        raise end.fail(message, code="bad-child", repair="exchange parent and child", joint=joint)
    return name


def _must_be_cut(node: Node) -> bool:
    """Whether the joint is marked as a loop joint: physics/simbody/must_be_loop_joint."""
    physics = [child for child in node.all_children() if child.tag == "physics"]
    simbody = [child for entry in physics for child in entry.all_children() if child.tag == "simbody"]
    return any(boolean(entry, "must_be_loop_joint") for entry in simbody)


def _lead(node: Node) -> float:
    """Displacement per angle [m/rad].

    ``screw_thread_pitch`` (since 1.10) is meters per revolution of a right-handed thread; ``thread_pitch`` is radians
    per meter, and positive for a left-handed one. Source: SDF 1.10, joint.sdf; sdformat issue 1125.
    """
    new, old = number(node, "screw_thread_pitch"), number(node, "thread_pitch")
    if new is not None:
        return 1.0 if math.isnan(new) else new / (2.0 * math.pi)
    if old is None:
        message = f"{node.path} is a screw without a thread"
        repair = "state <screw_thread_pitch>: meters per revolution, positive for a right-handed thread"
        raise node.fail(message, code="missing-element", repair=repair)
    if old == 0.0:
        message = f"{node.path}: thread_pitch is 0 radians per meter, so the screw would move by infinity"
        repair = "is it meant in meters? Those are stated by <screw_thread_pitch>"
        raise node.fail(message, code="bad-number", repair=repair)
    return 1.0 if math.isnan(old) else -1.0 / old


def _gear(node: Node) -> tuple[str, float]:
    return text(node, "gearbox_reference_body", required=True), number(node, "gearbox_ratio", 1.0)


def _axes(node: Node, kind: str, version: Version, notes: Notes) -> tuple[AxisRecord, ...]:
    if kind == UNKNOWN:
        return ()
    tags, attempt = ("axis", "axis2"), node.document.attempt
    count = JOINT_TYPES[kind]
    axes = [attempt(_required_axis, node, tag, kind, version, notes, default=_idle_axis(node)) for tag in tags[:count]]
    for tag in tags[count:]:
        extra = node.child(tag)
        if extra is not None:
            idle = attempt(_axis, extra, "ball", version, notes, default=_idle_axis(extra))
            message = f"joint '{node.element.get('name')}' is {kind}: its <{tag}> has no meaning"
            if idle.exerts:
                notes.warning(extra, f"{message}, with the damping, friction or spring in it", "idle-dynamics")
            else:
                notes.info(extra, message, "idle-dynamics")
    return tuple(axes)


def _required_axis(node: Node, tag: str, kind: str, version: Version, notes: Notes) -> AxisRecord:
    axis = node.child(tag)
    if axis is None:
        message = f"{node.path} is of type {kind} and has no <{tag}>"
        repair = f"state <{tag}><xyz>0 0 1</xyz></{tag}>"
        raise node.fail(message, code="missing-element", repair=repair)
    return _axis(axis, kind, version, notes)


def _idle_axis(node: Node) -> AxisRecord:
    """Placeholder of an axis that a collecting document cannot read."""
    return AxisRecord((0.0, 0.0, 1.0), None, {}, 0.0, None, node, is_known=False)


def _axis(node: Node, kind: str, version: Version, notes: Notes) -> AxisRecord:
    xyz = node.child("xyz")
    direction, frame = (0.0, 0.0, 1.0), None
    if xyz is None:
        notes.warning(node, f"{node.path} states no direction: (0, 0, 1), the format's default")
    else:
        direction, frame = numbers(xyz, 3), xyz.text("expressed_in") or None
        if frame is not None and version < (1, 7):
            node.document.reject(_too_new(xyz, "attribute 'expressed_in'", version))
    in_model = boolean(node, "use_parent_model_frame")
    if version >= (1, 7) and node.child("use_parent_model_frame") is not None:
        message = f"{node.path}: <use_parent_model_frame> left the format with SDF 1.7"
        repair = "write <xyz expressed_in='__model__'>" if in_model else "remove it"
        node.child("use_parent_model_frame").reject(message, code="version", repair=repair)
    if in_model or version < (1, 5):
        frame = "__model__"
    if not any(direction) and kind != "ball":
        message = f"{node.path}: the axis is (0, 0, 0), which has no direction"
        repair = "give the direction in which it turns or slides, or make the joint fixed"
        (xyz or node).reject(message, code="zero-axis", repair=repair)
    length = math.hypot(*direction)
    is_known = 0.0 < length < math.inf or kind == "ball"
    if kind != "ball" and abs(length - 1.0) > 1e-6 and is_known:
        message = f"{node.path}: axis {direction} normalized, its length is {length:g}"
        notes.info(xyz or node, message, "axis-length")
    settings = _dynamics(node.child("dynamics")) | _limits(node.child("limit"), kind, notes)
    mimic = node.document.attempt(_mimic, node, kind)
    direction = direction if is_known else (0.0, 0.0, 1.0)
    return AxisRecord(direction, frame, settings, number(node, "initial_position", 0.0), mimic, node, is_known)


def _dynamics(node: Node | None) -> dict[str, float]:
    stated = {} if node is None else {tag: number(node, tag, 0.0) for tag in DYNAMICS}
    for tag, value in stated.items():
        if value < 0.0 and tag != "spring_reference":
            message = f"{node.child(tag).path} is {value:g}, expected 0 or more"
            node.child(tag).reject(message, code="negative-dissipation", repair="is the sign wrong?", value=value)
            stated[tag] = 0.0
    return {DYNAMICS[tag]: value for tag, value in stated.items() if value != 0.0}


def _limits(node: Node | None, kind: str, notes: Notes) -> dict[str, float]:
    if node is None:
        return {}
    lower = number(node, "lower", -math.inf, infinite=True)
    upper = number(node, "upper", math.inf, infinite=True)
    lower = -math.inf if lower <= -UNLIMITED else lower
    upper = math.inf if upper >= UNLIMITED else upper
    if lower > upper:
        message = f"{node.path}: the lower limit {lower:g} is above the upper limit {upper:g}"
        repair = "were they exchanged, or given in degrees with a wrong sign?"
        node.reject(message, code="limit-order", repair=repair)
        lower, upper = -math.inf, math.inf
    if kind == "continuous" and (math.isfinite(lower) or math.isfinite(upper)):
        message = f"{node.path}: a continuous joint has no limits; lower and upper have no meaning"
        notes.info(node, message, "idle-limit")
        lower, upper = -math.inf, math.inf
    effort, velocity = (number(node, tag, math.inf, infinite=True) for tag in ("effort", "velocity"))
    bounds = {"lower": lower, "upper": upper, "effort_limit": effort, "velocity_limit": velocity}
    for name in ("effort_limit", "velocity_limit"):
        if bounds[name] < 0.0 or bounds[name] >= UNLIMITED:
            bounds[name] = math.inf
    found = {name: bound for name, bound in bounds.items() if bound != NEUTRAL[name]}
    stated = [number(node, tag) for tag in ("stiffness", "dissipation")]
    if stated == [None, None] or any(x != x for x in stated):
        return found
    stop = tuple(default if x is None else x for x, default in zip(stated, STOPS.values(), strict=True))
    if min(stop) < 0.0:
        message = f"{node.path}: stiffness and dissipation of a stop are {stop}, expected 0 or more"
        return node.reject(message, found, code="negative-dissipation")
    return found | dict(zip(STOPS, stop, strict=True))


def _mimic(node: Node, kind: str) -> MimicRecord | None:
    mimic = node.child("mimic")
    if mimic is None:
        return None
    leader, axis = mimic.name("joint"), mimic.text("axis", "axis")
    if axis != "axis" or node.tag != "axis" or kind in ("universal", "revolute2"):
        raise mimic.fail(
            f"{mimic.path}: mimics between joints of one axis are read, not those of a second axis", code="unsupported"
        )
    values = [number(mimic, tag, absent) for tag, absent in (("multiplier", 1.0), ("offset", 0.0), ("reference", 0.0))]
    return MimicRecord(leader, *values, mimic)
