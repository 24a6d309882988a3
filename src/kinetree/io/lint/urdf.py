"""Lint for URDF: the reader in collecting mode, and the facts that the checks look at, with their lines."""

from __future__ import annotations

from dataclasses import replace

from kinetree.errors import KinetreeError
from kinetree.io.lint.facts import AngleFacts, BodyFacts, Facts, JointFacts, Place
from kinetree.io.lint.loops import open_loops
from kinetree.io.lint.result import Finding, finding_of, findings_of
from kinetree.io.options import Options
from kinetree.io.urdf.loop_file import LoopFile, loop_file_of
from kinetree.io.urdf.model import build
from kinetree.io.urdf.notes import Notes
from kinetree.io.urdf.plan import Plan, plan
from kinetree.io.urdf.records import JOINT_TYPES, LIMITS, UNKNOWN_MASS, JointRecord, LinkRecord
from kinetree.io.xml.reader import Document


def examine(source: object, document: Document, package_dirs: tuple) -> tuple[list[Finding], Facts | None]:
    """Read a collecting document as URDF; return its errors, and the facts unless nothing can be read."""
    try:
        planned = plan(document, Options(package_dirs=package_dirs))
        planned.notes.ignored()
    except KinetreeError as error:
        return [finding_of(kept, document.file) for kept in (*document.problems, error)], None
    problems, found = list(document.problems), []
    if not problems:
        try:
            whole = replace(planned, notes=Notes(document))
            side = loop_file_of(source, None)
            model = build(whole, Options(), None if side is None else LoopFile.read(side))
            found = open_loops(model, document.file if side is None else str(side))
        except (KinetreeError, OSError) as error:
            problems.append(error)
    return [*findings_of(document, problems, planned.notes), *found], _facts(planned)


def _facts(planned: Plan) -> Facts:
    robot = planned.robot
    bodies = {link.name: _body(link, planned) for link in robot.links.values()}
    reached = {joint.name: joint for joint in planned.order}
    joints = {name: _joint(joint) for name, joint in (reached | robot.joints).items() if joint.is_known}
    names = tuple(
        (kind, record.name, Place.of(record.node))
        for kind, records in (("link", robot.links), ("joint", robot.joints))
        for record in records.values()
    )
    used = {shape.material for link in robot.links.values() for shape in link.shapes}
    materials = {
        node.text("name"): (Place.of(node), node.text("name") in used)
        for node in robot.document.root.children("material")
        if node.has("name")
    }
    angles = tuple(
        AngleFacts(f"joint '{joint.name}'", joint.origin.rpy, Place.of(joint.node.child("origin") or joint.node))
        for joint in (reached | robot.joints).values()
        if joint.is_known
    )
    return Facts(robot.document.file, bodies, joints, names, materials, angles)


def _body(link: LinkRecord, planned: Plan) -> BodyFacts:
    mass, is_given = planned.masses[link.name], link.inertial is not None
    weight = None if mass is UNKNOWN_MASS else mass.mass
    place = Place.of(link.inertial if is_given else link.node)
    return BodyFacts(link.name, weight, mass.com, mass.I, is_given, tuple(link.shapes), place)


def _joint(joint: JointRecord) -> JointFacts:
    ranged = joint.type in ("revolute", "prismatic") and {"lower", "upper"} <= joint.limits.keys()
    stated = [joint.limits.get(name) if ranged or name not in ("lower", "upper") else None for name in LIMITS]
    limit = joint.node.child("limit") or joint.node
    origin = joint.node.child("origin") or joint.node
    return JointFacts(
        joint.name, joint.parent, joint.child, JOINT_TYPES[joint.type].nv, joint.type in ("revolute", "continuous"),
        joint.origin.xyz, *stated, Place.of(origin), Place.of(limit),
    )  # fmt: skip
