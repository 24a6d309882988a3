"""SDF joints as joints between links: their frames, axes, and the forces that act in them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from kinetree.io.sdf.frames import Scope
from kinetree.io.sdf.notes import Notes
from kinetree.io.sdf.records import NEUTRAL, STOPS, UNKNOWN, AxisRecord, JointRecord, MimicRecord
from kinetree.io.sdf.values import Placed
from kinetree.io.xml.reader import Node
from kinetree.joints import Fixed, Helical, Joint, Prismatic, Revolute, Spherical, Universal
from kinetree.model.builder import WORLD

_PERPENDICULAR = 1e-9  # of the cosine of two axes
_PARALLEL = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class Connection:
    """A joint between two links, or a link and the world, in the world's frame at the pose of the file.

    Parameters
    ----------
    name, parent, child : str
        Full names.
    kind : str
        The type in the file; a "weld" holds a static link.
    place : Placed
        The joint's frame in the world.
    node : Node
    scope : Scope
    axes : tuple of (3,) arrays
        Unit directions in the world.
    records : tuple of AxisRecord
    lead : float or None
        Of a screw [m/rad].
    cut : bool
        Whether it is marked to close a loop.
    """

    name: str
    parent: str
    child: str
    kind: str
    place: Placed
    node: Node
    scope: Scope
    axes: tuple[np.ndarray, ...] = ()
    records: tuple[AxisRecord, ...] = ()
    lead: float | None = None
    cut: bool = False
    is_known: bool = True

    def orientation(self, link: Placed) -> np.ndarray:
        """The axes in which the joint is written: those of a link, unless its own axes are to be x and y."""
        if self.kind in ("universal", "revolute2"):
            x, y = self.axes
            y = y - (x @ y) * x
            y = y / np.linalg.norm(y)
            return np.column_stack([x, y, np.cross(x, y)])
        return link.R

    def joint(self, R: np.ndarray) -> Joint:
        """The joint, written in axes that stand at R in the world."""
        if self.kind in ("fixed", UNKNOWN):
            return Fixed()
        if self.kind == "ball":
            return Spherical()
        if self.kind in ("universal", "revolute2"):
            return Universal()
        axis = tuple((R.T @ self.axes[0]).tolist())
        if self.kind == "prismatic":
            return Prismatic(axis)
        if self.kind == "screw" and self.lead != 0.0:
            return Helical(axis, self.lead)
        return Revolute(axis)

    def settings(self) -> dict[str, object]:
        """Forces and limits of the joint, by the names of ``ModelBuilder.add_body``; neutral values are left out."""
        found: dict[str, object] = {}
        for name, neutral in NEUTRAL.items():
            values = [record.settings.get(name, neutral) for record in self.records]
            if any(value != neutral for value in values):
                found[name] = values[0] if len(values) == 1 else values
        if self.records and all(STOPS.keys() <= record.settings.keys() for record in self.records):
            found |= {name: [record.settings[name] for record in self.records] for name in STOPS}
        return found


@dataclass(slots=True, eq=False)
class Mechanism:
    """Contents of all joints: connections, gears between them, and followers; ``lost``: unreadable parts."""

    connections: list[Connection] = field(default_factory=list)
    gears: list[tuple[JointRecord, Scope]] = field(default_factory=list)
    lost: set[str] = field(default_factory=set)
    between: list[str] = field(default_factory=list)  # massless bodies that joints of two axes need


def mechanism(world: Scope, still: set[str], notes: Notes) -> Mechanism:
    """Read the joints of all scopes as connections.

    Parameters
    ----------
    world : Scope
    still : set of str
        Links of static models; joints between them are without effect.
    notes : Notes
    """
    found = Mechanism()
    for scope in world.all_scopes():
        for record in scope.record.joints.values():
            if not record.node.document.attempt(_join, record, scope, still, found, notes, default=False):
                found.lost.add(scope.prefix + record.name)
    return found


def _join(record: JointRecord, scope: Scope, still: set[str], found: Mechanism, notes: Notes) -> bool:
    attempt = record.node.document.attempt
    parent = attempt(_end, scope, record.parent, "parent", record, default="")
    child = attempt(_end, scope, record.child, "child", record, default="")
    if not (parent and child):  # in a collecting document, which has the error: the parts stand still
        held = parent or child
        if held not in ("", WORLD):
            name, place = scope.prefix + record.name, scope.place
            found.connections.append(Connection(name, WORLD, held, "fixed", place, record.node, scope, is_known=False))
        return False
    if parent == child:
        raise record.node.fail(
            f"joint '{record.name}' connects '{parent}' with itself", code="self-joint", joint=record.name
        )
    if {parent, child} <= still | {WORLD}:
        message = f"joint '{scope.prefix}{record.name}' is between static links: without effect"
        notes.info(record.node, message, "idle-joint")
    elif record.type == "gearbox":
        if record.gear is not None:
            found.gears.append((record, scope))
    else:
        found.connections += _connections(record, scope, parent, child, found, notes)
    return True


def _end(scope: Scope, name: str, tag: str, record: JointRecord) -> str:
    if name in (WORLD, ""):  # empty where a collecting document could not read it
        return name
    node = record.node.child(tag)
    link = scope.link_of(name, node)
    if link == WORLD and tag == "child":
        raise node.fail(f"joint '{record.name}': its child '{name}' is fixed to the world", code="bad-child")
    return link


def _connections(
    record: JointRecord, scope: Scope, parent: str, child: str, found: Mechanism, notes: Notes
) -> list[Connection]:
    place = scope.in_world(record.pose, record.child, record.node)
    axes = tuple(direction(record, axis, scope) for axis in record.axes)
    unsure = record.name in scope.uncertain or any(axis.expressed_in in scope.uncertain for axis in record.axes)
    common = {"lead": record.lead, "cut": record.cut, "is_known": record.is_known and not unsure}
    name = scope.prefix + record.name
    if len(axes) == 2 and abs(axes[0] @ axes[1]) > _PERPENDICULAR:
        if abs(axes[0] @ axes[1]) > 1.0 - _PARALLEL:
            message = (
                f"joint '{record.name}' is {record.type} and its two axes are parallel: together they turn about one"
            )
            repair = "state the direction of the second in <axis2><xyz>"
            raise record.node.fail(message, code="parallel-axes", repair=repair, joint=record.name)
        # Two revolutes with a body without mass between them.
        between = f"{name}_between"
        found.between.append(between)
        notes.info(record.node, f"joint '{name}': its axes are not perpendicular, so body '{between}' is between them")
        ends = ((f"{name}_1", parent, between), (f"{name}_2", between, child))
        return [
            Connection(inner, a, b, "revolute", place, record.node, scope, (axis,), (entry,), **common)
            for (inner, a, b), axis, entry in zip(ends, axes, record.axes, strict=True)
        ]
    return [Connection(name, parent, child, record.type, place, record.node, scope, axes, record.axes, **common)]


def direction(record: JointRecord, axis: AxisRecord, scope: Scope) -> np.ndarray:
    """The unit direction of an axis in the world."""
    if axis.expressed_in is None:
        R = scope.in_world(record.pose, record.child, record.node).R
    else:
        R = (scope.place @ scope.pose(axis.expressed_in, axis.node)).R
    xyz = np.array(axis.xyz)
    xyz = xyz / np.abs(xyz).max()  # first, so that squares of tiny numbers do not vanish
    return R @ xyz / np.linalg.norm(xyz)


# Couplings -----------------------------------------------------------------------------------------------------------


def coupled_joints(mechanism: Mechanism) -> set[str]:
    """Joints whose angles mimics and gearboxes refer to."""
    found = set()
    for c in mechanism.connections:
        for axis in c.records:
            if axis.mimic is not None:
                found |= {c.name, c.scope.prefix + axis.mimic.leader}
    for record, scope in mechanism.gears:
        attempt = record.node.document.attempt
        names = (record.gear[0], record.parent, record.child)
        reference, *ends = (attempt(scope.link_of, name, record.node, default="") for name in names)
        pairs = [{reference, end} for end in ends]
        turning = (c for c in mechanism.connections if c.kind in ("revolute", "continuous"))
        found |= {c.name for c in turning if {c.parent, c.child} in pairs}
    return found


def couplings(mechanism: Mechanism, in_tree: set[str], notes: Notes) -> list[tuple[str, str, float, float]]:
    """(follower, leader, ratio, offset) of mimics and gearboxes.

    Parameters
    ----------
    mechanism : Mechanism
    in_tree : set of str
        Names of the joints that carry bodies and have one freedom.
    notes : Notes
    """
    known = {c.name: c for c in mechanism.connections}
    found = []
    for c in mechanism.connections:
        for axis in c.records:
            if axis.mimic is not None:
                found.append(c.node.document.attempt(_follow, axis.mimic, c, known, mechanism.lost, in_tree, notes))
    for record, scope in mechanism.gears:
        found.append(record.node.document.attempt(_gear, record, scope, mechanism, in_tree, notes))
    return [coupling for coupling in found if coupling is not None]


def _follow(
    mimic: MimicRecord, c: Connection, known: dict[str, Connection], lost: set[str], in_tree: set[str], notes: Notes
) -> tuple[str, str, float, float] | None:
    leader = c.scope.prefix + mimic.leader
    if leader not in known:
        message = f"joint '{c.name}' mimics '{mimic.leader}', and there is no such joint"
        repair = f"joints with one axis: {', '.join(sorted(in_tree)[:12])}"
        follows = bool({mimic.leader, None} & c.scope.record.lost) or leader in lost
        raise mimic.node.fail(message, code="mimic-unknown", repair=repair, follows=follows)
    if c.name not in in_tree or leader not in in_tree:
        if c.is_known and known[leader].is_known:
            message = f"joint '{c.name}' mimics '{leader}': one of them closes a loop, or has not one freedom"
            notes.unsupported(mimic.node, message, "mimic-unsupported")
        return None
    return c.name, leader, mimic.multiplier, mimic.offset - mimic.multiplier * mimic.reference


def _gear(
    record: JointRecord, scope: Scope, mechanism: Mechanism, in_tree: set[str], notes: Notes
) -> tuple[str, str, float, float] | None:
    """theta_2 = -ratio theta_1: angles of child and parent from the reference body, about axis2 and axis.

    Each angle must be that of one revolute joint, about an axis parallel to the one stated.
    """
    body, ratio = record.gear
    reference = scope.link_of(body, record.node)
    angles = []
    for tag, axis in zip(("parent", "child"), record.axes, strict=True):
        link = scope.link_of(getattr(record, tag), record.node)
        stated = direction(record, axis, scope)
        for c in mechanism.connections:
            turning = c.kind in ("revolute", "continuous") and {c.parent, c.child} == {reference, link}
            if turning and c.name in in_tree and abs(c.axes[0] @ stated) > 1.0 - _PARALLEL:
                sign = math.copysign(1.0, c.axes[0] @ stated)
                angles.append((c.name, sign if c.parent == reference else -sign))
                break
    for axis in record.axes:
        if axis.exerts:
            notes.unsupported(axis.node, f"gearbox '{record.name}' has damping, friction or a spring of its own")
    if len(angles) < 2:
        between = f"between '{body}' and '{record.parent}', and '{body}' and '{record.child}', about the same axes"
        message = f"gearbox '{record.name}': its angles are not those of revolute joints of the tree {between}"
        notes.unsupported(record.node, message)
        return None
    (leader, s1), (follower, s2) = angles
    return follower, leader, -ratio * s1 * s2, 0.0
