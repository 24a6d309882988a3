"""URDF links as bodies: inertias in the axes of the link, and shapes."""

from __future__ import annotations

import numpy as np

from kinetree.errors import ModelError
from kinetree.io.inertia_rules import NO_MASS, Mass, settle_link
from kinetree.io.mesh_paths import MeshFinder
from kinetree.io.urdf.notes import Notes
from kinetree.io.urdf.records import CAPSULES, SHAPES, LinkRecord, ShapeRecord, Version, spelled
from kinetree.io.xml.reader import shown
from kinetree.model.parts import Geometry

# Stands for mass properties that could not be read: enough to resist any joint.
UNKNOWN_MASS = Mass(1.0, np.full(3, np.nan), np.eye(3))


def mass_of(link: LinkRecord, choice: str, notes: Notes) -> Mass:
    """Return the mass properties of a link, zero without ``<inertial>``; see `inertia_rules.settle` for the choice.

    Raises
    ------
    InertiaError
        If no body can have them; ``file``, ``line`` and ``link`` are attributes.
    """
    record = link.inertial
    if record is None:
        return NO_MASS
    if not np.isfinite((record.mass, *record.tensor)).all():  # in a collecting document, which has the error
        return UNKNOWN_MASS
    ixx, ixy, ixz, iyy, iyz, izz = record.tensor
    I = np.array([[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]])
    I = settle_link(link.name, record.mass, I, choice, record.node.child("inertia"), notes)
    if not record.origin.is_known:
        return UNKNOWN_MASS
    return Mass(record.mass, np.zeros(3), I).seen_from(record.origin.R, np.array(record.origin.xyz))


def mass_of_shapes(link: LinkRecord, shapes: list[Geometry], role: str, density: float, notes: Notes) -> Mass:
    """Return the mass properties of a link without ``<inertial>`` that is filled with matter, and report them.

    Raises
    ------
    GeometryError
        If one of its shapes of this role has no volume.
    """
    from kinetree.geometry import inertia_of_shapes

    who = f"link '{link.name}'"
    try:
        found = inertia_of_shapes(shapes, density, role=role, what=who)
    except ModelError as error:
        values = {name: value for name, value in vars(error).items() if name not in ("message", "file")}
        raise link.node.fail(error.message, type(error), **values) from error
    if found is None:
        return NO_MASS
    message = f"{who}: {found.mass:.6g} kg and inertia from its {role} shapes at {density:g} kg/m^3"
    notes.warning(link.node, "; ".join((message, *found.notes)))
    return Mass(found.mass, np.array(found.com), np.array(found.inertia))


def shapes_of(link: LinkRecord, version: Version, finder: MeshFinder, notes: Notes) -> list[Geometry]:
    """Return the shapes of a link; meshes that are not found keep the name in the file and are reported."""
    found = [_geometry(shape, version, finder, notes) for shape in link.shapes]
    return [geometry for geometry in found if geometry is not None]


def _geometry(shape: ShapeRecord, version: Version, finder: MeshFinder, notes: Notes) -> Geometry | None:
    node, kind = shape.node, shape.shape
    if kind not in SHAPES:  # one that only other programs know, such as the endless plane
        message = f"{node.path} is no shape of the URDF format: known are {', '.join(SHAPES)}"
        notes.unsupported(node, message, repair=f"unsupported='drop' leaves the {shape.role} shape out")
        return None
    if kind == "capsule" and version < CAPSULES:
        message = f"capsules exist since URDF {spelled(CAPSULES)}, and this file is of version {spelled(version)}"
        notes.info(node, f"{node.path}: {message}: read all the same, other programs leave it out")
    if kind != "mesh" and min(shape.size) <= 0.0:
        notes.info(node, f"{node.path} ignored: a {kind} of size {shape.size}", "empty-shape")
        return None
    R, p = shape.origin.R, np.array(shape.origin.xyz)
    common = {"role": shape.role, "name": shape.name or "", "color": shape.color, "material": shape.material or ""}
    if kind != "mesh":
        return Geometry(kind, shape.size, R, p, **common)
    mesh = notes.mesh(node, finder.find(shape.filename), shown(shape.filename, 200))
    return Geometry("mesh", (), R, p, mesh=mesh, scale=shape.size, **common)
