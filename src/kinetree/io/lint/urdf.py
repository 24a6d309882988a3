"""Lint for URDF: the reader in collecting mode, and the facts that the checks look at, with their lines."""

from __future__ import annotations

from dataclasses import replace

from kinetree.errors import KinetreeError
from kinetree.io.lint.facts import AngleFacts, BodyFacts, Facts, JointFacts, Place
from kinetree.io.lint.result import Finding, finding, finding_of
from kinetree.io.urdf.model import build
from kinetree.io.urdf.notes import Notes
from kinetree.io.urdf.plan import Plan, plan
from kinetree.io.urdf.records import JOINT_TYPES, JointRecord, LinkRecord, read_robot
from kinetree.io.xml.reader import Document, Node

_LEVELS = {"info": "info", "warning": "warning", "dropped": "error"}
_EXACT = ("mesh-missing",)  # their level is that of the code: for loading, a missing mesh is no more than a remark


def examine_urdf(document: Document, package_dirs: tuple) -> tuple[list[Finding], Facts | None]:
    """Read a collecting document as URDF; return what is wrong, and the facts unless nothing can be read."""
    try:
        planned = plan(
            read_robot(document),
            floating_base=False,
            package_dirs=package_dirs,
            drop=False,
            inertia="raise",
            massless="raise",
        )
        planned.notes.ignored(drop=False)
    except KinetreeError as error:
        return [finding_of(kept, document.file) for kept in (*document.problems, error)], None
    problems = list(document.problems)
    if not problems:
        try:
            whole = replace(planned, notes=Notes(document))
            build(whole, name=None, floating_base=False, base_joint="root_joint", merge_fixed=True, drop=False,
                  accept=False)  # fmt: skip
        except KinetreeError as error:
            problems.append(error)
    found = [finding_of(error, document.file) for error in problems]
    for note in planned.notes.entries:
        level = None if note.code in _EXACT else _LEVELS[note.level]
        found.append(finding(note.code, document.file, note.line, note.element, note.message, level=level))
    return found, _facts(planned)


def _facts(planned: Plan) -> Facts:
    robot = planned.robot
    bodies = {link.name: _body(link, planned) for link in robot.links.values()}
    reached = {joint.name: joint for joint in planned.order}
    joints = {name: _joint(joint) for name, joint in (reached | robot.joints).items() if joint.is_known}
    names = tuple(
        (kind, record.name, _place(record.node))
        for kind, records in (("link", robot.links), ("joint", robot.joints))
        for record in records.values()
    )
    used = {shape.material for link in robot.links.values() for shape in link.shapes}
    materials = {
        node.text("name"): (_place(node), node.text("name") in used)
        for node in robot.document.root.children("material")
        if node.has("name")
    }
    angles = tuple(
        AngleFacts(f"joint '{joint.name}'", joint.origin.rpy, _place(joint.node.child("origin") or joint.node))
        for joint in (reached | robot.joints).values()
        if joint.is_known
    )
    return Facts(robot.document.file, bodies, joints, names, materials, angles)


def _body(link: LinkRecord, planned: Plan) -> BodyFacts:
    mass, inertial = planned.masses[link.name], link.inertial
    known = inertial is None or (mass.com == mass.com).all()
    place = _place(link.node if inertial is None else inertial.node)
    shapes = tuple(planned.shapes[link.name])
    return BodyFacts(link.name, mass.mass if known else None, mass.com, mass.I, inertial is not None, shapes, place)


def _joint(joint: JointRecord) -> JointFacts:
    lower, upper, effort, velocity = joint.limit
    ranged = joint.type in ("revolute", "prismatic") and lower is not None and upper is not None
    limit = joint.node.child("limit") or joint.node
    origin = joint.node.child("origin") or joint.node
    return JointFacts(
        joint.name, joint.parent, joint.child, JOINT_TYPES[joint.type], joint.type in ("revolute", "continuous"),
        joint.origin.xyz, lower if ranged else None, upper if ranged else None, effort, velocity,
        _place(origin), _place(limit),
    )  # fmt: skip


def _place(node: Node) -> Place:
    return Place(node.line, node.path)
