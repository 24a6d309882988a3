"""Lint for SDF: the reader in collecting mode, and the facts that the checks look at, with their lines."""

from __future__ import annotations

import numpy as np

from kinetree.errors import KinetreeError
from kinetree.io.lint.facts import AngleFacts, BodyFacts, Facts, JointFacts, Place
from kinetree.io.lint.loops import open_loops
from kinetree.io.lint.result import Finding, findings_of
from kinetree.io.options import Options
from kinetree.io.sdf.bodies import UNKNOWN_MASS, shapes_of
from kinetree.io.sdf.model import Assembly, Link
from kinetree.io.sdf.notes import Notes
from kinetree.io.sdf.scopes import Reader
from kinetree.io.sdf.tree import Edge
from kinetree.io.sdf.values import Pose
from kinetree.io.xml.reader import Document
from kinetree.model.builder import WORLD

_FREEDOMS = {"fixed": 0, "weld": 0, "ball": 3, "universal": 2, "revolute2": 2}
_TURNING = ("revolute", "continuous")


def examine(source: object, document: Document, package_dirs: tuple) -> tuple[list[Finding], Facts | None]:
    """Read a collecting document as SDF; return its errors, and the facts unless nothing can be read."""
    notes = Notes(drop=False)
    reader = Reader(document, package_dirs, notes, None)
    errors: list[KinetreeError] = []
    assembly, gaps = None, []
    try:
        assembly = Assembly(reader.world(), reader, notes, Options())
        gaps = open_loops(assembly.model(), document.file)
    except KinetreeError as error:
        errors.append(error)
    notes.ignored()  # not reached where the model cannot be built; equal findings are reported once
    errors = [error for error in errors if not (document.problems and getattr(error, "follows", False))]
    found = findings_of(document, dict.fromkeys((*document.problems, *errors)), notes)
    return [*found, *gaps], None if assembly is None else _facts(assembly)


def _facts(assembly: Assembly) -> Facts:
    bodies = {name: _body(name, link, assembly) for name, link in assembly.links.items()}
    edges = [edge for _, edge in assembly.tree.order if edge is not None and edge.connection.is_known]
    joints = {edge.connection.name: _joint(edge, assembly) for edge in edges}
    names, angles = [], []
    for scope in assembly.root.all_scopes():
        for kind in ("link", "joint"):
            for record in getattr(scope.record, f"{kind}s").values():
                names.append((f"{kind} of {scope}", record.name, Place.of(record.node)))
                angles.append(_angles(f"{kind} '{scope.prefix}{record.name}'", record.pose))
    placed = tuple(each for each in angles if each.values)
    return Facts(assembly.reader.document.file, bodies, joints, tuple(names), angles=placed)


def _body(name: str, link: Link, assembly: Assembly) -> BodyFacts:
    """A link in its own frame. One that states no inertia has that of the format, with a warning of its own."""
    mass, record = assembly.masses[name], link.record
    judged = record.inertial is not None and mass is not UNKNOWN_MASS
    shapes = tuple(shapes_of(record, link.scope, link.place))
    place = Place.of(record.node if record.inertial is None else record.inertial.node)
    return BodyFacts(name, mass.mass if judged else None, mass.com, mass.I, True, shapes, place)


def _joint(edge: Edge, assembly: Assembly) -> JointFacts:
    c = edge.connection
    carrier = assembly.links.get(edge.carrier)
    origin = np.zeros(3) if carrier is None else carrier.place.p
    freedoms = _FREEDOMS.get(c.kind, 1)
    axis = c.records[0] if freedoms == 1 and c.records else None
    settings = {} if axis is None else axis.settings
    stated = [settings.get(name) for name in ("lower", "upper", "effort_limit", "velocity_limit")]
    place = Place.of(c.node)
    limit = place if axis is None else Place.of(axis.node.child("limit") or axis.node)
    offset = tuple((c.place.p - origin).tolist())
    return JointFacts(
        c.name, None if edge.carrier == WORLD else edge.carrier, edge.body, freedoms, c.kind in _TURNING, offset,
        *stated, place, limit,
    )  # fmt: skip


def _angles(what: str, pose: Pose) -> AngleFacts:
    return AngleFacts(what, pose.rpy, Place(None, "") if pose.node is None else Place.of(pose.node))
