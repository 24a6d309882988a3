"""URDF links as bodies: inertias in the axes of the link, and shapes."""

from __future__ import annotations

import numpy as np

from kinetree.errors import ModelError
from kinetree.io.inertia_rules import NO_MASS, Mass, settle_link
from kinetree.io.mesh_paths import MeshFinder
from kinetree.io.urdf.notes import Notes
from kinetree.io.urdf.records import SHAPES, LinkRecord, ShapeRecord
from kinetree.io.xml.reader import shown
from kinetree.model.parts import Geometry


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
    ixx, ixy, ixz, iyy, iyz, izz = record.tensor
    I = np.array([[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]])
    if not (np.isfinite(record.mass) and np.isfinite(I).all()):  # in a collecting document, which has the error
        return Mass(record.mass, np.array(record.origin.xyz), I)
    I = settle_link(link.name, record.mass, I, choice, record.node.child("inertia"), notes)
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


def shapes_of(link: LinkRecord, finder: MeshFinder, notes: Notes) -> list[Geometry]:
    """Return the shapes of a link; meshes that are not found keep the name in the file and are reported."""
    return [
        _geometry(shape, finder, notes)
        for shape in link.shapes
        if shape.shape in SHAPES and (shape.shape == "mesh" or _has_size(shape, notes))
    ]


def _has_size(shape: ShapeRecord, notes: Notes) -> bool:
    if min(shape.size) > 0.0:
        return True
    message = f"{shape.node.path} ignored: a {shape.shape} of size {shape.size}"
    notes.info(shape.node, message, "empty-shape")
    return False


def _geometry(shape: ShapeRecord, finder: MeshFinder, notes: Notes) -> Geometry:
    R, p = shape.origin.R, np.array(shape.origin.xyz)
    common = {"role": shape.role, "name": shape.name or "", "color": shape.color, "material": shape.material or ""}
    if shape.shape != "mesh":
        return Geometry(shape.shape, shape.size, R, p, **common)
    mesh = notes.mesh(shape.node, finder.find(shape.filename), shown(shape.filename, 200))
    return Geometry("mesh", (), R, p, mesh=mesh, scale=shape.size, **common)
