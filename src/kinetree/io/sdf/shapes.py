"""SDF shapes: ``<collision>`` and ``<visual>`` with their ``<geometry>``."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from kinetree.io.mesh_paths import MeshFinder
from kinetree.io.normals import turned_to
from kinetree.io.sdf.notes import Notes
from kinetree.io.sdf.values import Pose, number, numbers, positive, text
from kinetree.io.xml.reader import Node
from kinetree.model.parts import SHAPES, Geometry

_KNOWN = {"box", "cylinder", "sphere", "capsule", "ellipsoid", "plane", "mesh"}
_UNKNOWN = {"cone", "heightmap", "image", "polyline"}


@dataclass(frozen=True, slots=True, eq=False)
class ShapeRecord:
    """One shape: role and pose of the element around it, and what ``<geometry>`` holds."""

    role: str
    name: str
    pose: Pose
    kind: str
    size: tuple[float, ...]
    normal: tuple[float, float, float]
    uri: str
    scale: tuple[float, float, float]
    submesh: Node | None
    color: tuple[float, ...] | None
    density: float | None
    node: Node

    @property
    def is_known(self) -> bool:
        """Whether every number could be read; only a collecting document has others."""
        return self.pose.is_known and all(map(math.isfinite, (*self.size, *self.normal, *self.scale)))


def read_shapes(link: Node, pose_of: Callable[[Node], Pose]) -> Iterator[ShapeRecord]:
    """Yield the shapes of a link in the order of the file, collisions first."""
    for role in ("collision", "visual"):
        for node in link.children(role):
            shape = node.document.attempt(_shape, role, node, pose_of, whole=node)
            if shape is not None and shape.is_known:
                yield shape


def _shape(role: str, node: Node, pose_of: Callable[[Node], Pose]) -> ShapeRecord:
    geometry = node.child("geometry", required=True)
    pose = pose_of(node)
    found = [child for child in geometry.all_children() if child.tag in _KNOWN | _UNKNOWN | {"empty"}]
    if len(found) > 1:
        message = f"{geometry.path} holds <{found[0].tag}> and <{found[1].tag}>; one shape is allowed"
        raise found[1].fail(message, code="repeated-element")
    kind = found[0].tag if found else "empty"
    geometry.child(kind)
    size, normal, uri, scale, submesh = (), (0.0, 0.0, 1.0), "", (1.0, 1.0, 1.0), None
    if kind == "box":
        size = numbers(found[0].child("size", required=True), 3)
    elif kind == "ellipsoid":
        size = numbers(found[0].child("radii", required=True), 3)
    elif kind in ("cylinder", "capsule", "sphere"):
        size = tuple(numbers(found[0].child(tag, required=True), 1)[0] for tag in SHAPES[kind])
    elif kind == "plane":
        entry = found[0].child("normal")
        normal = normal if entry is None else numbers(entry, 3)
        entry = found[0].child("size")
        size = () if entry is None else numbers(entry, 2)  # of the picture; a plane is endless
    elif kind == "mesh":
        uri = text(found[0], "uri", required=True)
        entry = found[0].child("scale")
        scale = scale if entry is None else numbers(entry, 3)
        submesh = found[0].child("submesh")
    return ShapeRecord(
        role, node.text("name", ""), pose, kind, size, normal, uri, scale, submesh, _color(node),
        positive(node, "density") if role == "collision" else None, node,
    )  # fmt: skip


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


def geometry_of(shape: ShapeRecord, R: np.ndarray, p: np.ndarray, finder: MeshFinder, notes: Notes) -> Geometry | None:
    """The shape posed in its body (R, p), or None with the reason in the report."""
    if shape.kind in _UNKNOWN or shape.kind == "empty":
        notes.skip(shape.node, f"{shape.node.path} ignored: a shape of kind {shape.kind} is not held")
        return None
    common = {"role": shape.role, "name": shape.name, "color": shape.color}
    if shape.kind == "plane":
        return Geometry("plane", (), R @ _turned_to(np.array(shape.normal), shape.node), p, **common)
    if shape.kind == "mesh":
        mesh = notes.mesh(shape.node, finder.find(shape.uri), f"'{shape.uri}'")
        if shape.submesh is not None:
            notes.skip(shape.submesh, f"{shape.submesh.path} ignored: the whole mesh is taken")
        return Geometry("mesh", (), R, p, mesh=mesh, scale=shape.scale, **common)
    if min(shape.size) <= 0.0:
        notes.info(shape.node, f"{shape.node.path} ignored: a {shape.kind} of size {shape.size}", "empty-shape")
        return None
    return Geometry(shape.kind, shape.size, R, p, **common)


def _turned_to(normal: np.ndarray, node: Node) -> np.ndarray:
    """A rotation whose third column is the normal, with the others near x and y."""
    if not normal.any():
        raise node.fail(f"{node.path}: the normal of the plane is (0, 0, 0)", code="zero-axis")
    z = normal / np.abs(normal).max()
    return turned_to(z / np.linalg.norm(z))
