"""SDF shapes: ``<collision>`` and ``<visual>`` with their ``<geometry>``."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from kinetree.io.mesh_paths import MeshFinder
from kinetree.io.normals import turned_to
from kinetree.io.sdf.notes import Notes
from kinetree.io.sdf.surface import read_surface
from kinetree.io.sdf.values import Placed, Pose, number, numbers, positive, text
from kinetree.io.xml.reader import Node
from kinetree.model.parts import SHAPES, Geometry

_KNOWN = SHAPES.keys() - {"heightfield"}
_UNKNOWN = {"cone", "heightmap", "image", "polyline", "empty"}


@dataclass(frozen=True, slots=True, eq=False)
class ShapeRecord:
    """The shape in ``<geometry>``, in its own axes, with the pose of the element around it, and the stated density."""

    geometry: Geometry
    pose: Pose
    density: float | None
    node: Node

    def placed(self, place: Placed) -> Geometry:
        """The shape where its pose is in a body."""
        return replace(self.geometry, R_BG=place.R @ self.geometry.R_BG, p_BG=place.p)


def read_shapes(
    link: Node, pose_of: Callable[[Node], Pose], finder: MeshFinder, notes: Notes
) -> tuple[ShapeRecord, ...]:
    """The shapes of a link in the order of the file, collisions first; those left out are in the report."""
    found = [
        node.document.attempt(_shape, node, pose_of, finder, notes, whole=node)
        for role in ("collision", "visual")
        for node in link.children(role)
    ]
    return tuple(shape for shape in found if shape is not None)


def _shape(node: Node, pose_of: Callable[[Node], Pose], finder: MeshFinder, notes: Notes) -> ShapeRecord | None:
    geometry = node.child("geometry", required=True)
    pose, density = pose_of(node), positive(node, "density") if node.tag == "collision" else None
    found = [child for child in geometry.all_children() if child.tag in _KNOWN | _UNKNOWN]
    if len(found) > 1:
        message = f"{geometry.path} holds <{found[0].tag}> and <{found[1].tag}>; one shape is allowed"
        raise found[1].fail(message, code="repeated-element")
    kind = found[0].tag if found else "empty"
    shape, color = geometry.child(kind), _color(node)
    size, normal, scale, mesh = (), (0.0, 0.0, 1.0), (1.0, 1.0, 1.0), ""
    if kind in _UNKNOWN:
        notes.skip(node, f"{node.path} ignored: a shape of kind {kind} is not held")
        return None
    if kind in ("box", "ellipsoid"):
        size = numbers(shape.child("size" if kind == "box" else "radii", required=True), 3)
    elif kind == "plane":
        normal = numbers(shape.child("normal"), 3) if shape.child("normal") else normal
        if shape.child("size"):  # of the picture; a plane is endless
            numbers(shape.child("size"), 2)
    elif kind == "mesh":
        uri = text(shape, "uri", required=True)
        mesh = notes.mesh(node, finder.find(uri), f"'{uri}'")
        scale = numbers(shape.child("scale"), 3) if shape.child("scale") else scale
        if submesh := shape.child("submesh"):
            notes.skip(submesh, f"{submesh.path} ignored: the whole mesh is taken")
    else:
        size = tuple(numbers(shape.child(tag, required=True), 1)[0] for tag in SHAPES[kind])
    if not (pose.is_known and all(map(math.isfinite, (*size, *normal, *scale)))):  # a collecting document has the error
        return None
    if size and min(size) <= 0.0:
        notes.info(node, f"{node.path} ignored: a {kind} of size {size}", "empty-shape")
        return None
    R = _turned_to(np.array(normal), node) if kind == "plane" else np.eye(3)
    common = {"role": node.tag, "name": node.text("name", ""), "color": color}
    if node.tag == "collision":
        common |= read_surface(node, notes)
    return ShapeRecord(Geometry(kind, size, R, mesh=mesh, scale=scale, **common), pose, density, node)


def _color(node: Node) -> tuple[float, ...] | None:
    material = node.child("material") if node.tag == "visual" else None
    opacity = 1.0 - (number(node, "transparency", 0.0) if node.tag == "visual" else 0.0)
    entry = None if material is None else material.child("diffuse") or material.child("ambient")
    if entry is None:
        return None
    words = len((entry.element.text or "").split())
    values = numbers(entry, 3 if words == 3 else 4)
    if not all(map(math.isfinite, values)):
        return None
    red, green, blue, alpha = (min(max(value, 0.0), 1.0) for value in (*values, 1.0)[:4])
    return red, green, blue, alpha * min(max(opacity, 0.0), 1.0)


def _turned_to(normal: np.ndarray, node: Node) -> np.ndarray:
    """A rotation whose third column is the normal, with the others near x and y."""
    if not normal.any():
        raise node.fail(f"{node.path}: the normal of the plane is (0, 0, 0)", code="zero-axis")
    z = normal / np.abs(normal).max()
    return turned_to(z / np.linalg.norm(z))
