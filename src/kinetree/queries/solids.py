"""Shapes as objects of coal, made once and shared: they hold no state, so any number of threads may use them.

Meshes count as their convex hulls, whose signed distance is that of a solid, or as surfaces of triangles, which have no
inside. Height fields are closed meshes from outside, and convex prisms, one below each of their triangles, from inside.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import import_module

import numpy as np

from kinetree.errors import GeometryError, MissingDependencyError
from kinetree.geometry.bounds import bounding_box
from kinetree.geometry.meshes import THINNEST, Mesh, read_mesh
from kinetree.model.parts import Geometry
from kinetree.once import made_once, once
from kinetree.queries.supports import Support

MESHES = ("hull", "triangles")
MOST_NEIGHBORS = 200  # of a corner of a hull; coal takes 255


def coal():
    """The library.

    Raises
    ------
    MissingDependencyError
    """
    try:
        return import_module("coal")
    except ImportError as error:
        message = "queries over shapes need the package coal: pip install coal"
        raise MissingDependencyError(message, package="coal") from error


@dataclass(frozen=True, slots=True, eq=False)
class Solid:
    """A shape in its own coordinates.

    Attributes
    ----------
    shape : coal.CollisionGeometry
    convex : bool
        Whether its signed distances are those of a solid.
    lower, upper : (3,) array
        Corners of a box that holds it [m].
    support : Support, optional
        Of convex shapes but planes.
    """

    shape: object
    convex: bool
    lower: np.ndarray
    upper: np.ndarray
    support: Support | None = None

    def pieces(self, lower: np.ndarray, upper: np.ndarray) -> Iterator[Solid]:
        """Convex parts that may reach into a box in its coordinates; none for surfaces."""
        if self.convex:
            yield self


@dataclass(frozen=True, slots=True, eq=False)
class Terrain(Solid):
    """A height field: ``shape`` is its closed surface."""

    ground: Geometry = field(kw_only=True)
    prisms: dict = field(default_factory=dict, kw_only=True)

    def pieces(self, lower: np.ndarray, upper: np.ndarray) -> Iterator[Prism]:
        """The prisms of the cells under a box."""
        rows, columns = self.ground.heights.shape
        cells = np.array([columns - 1, rows - 1])
        step = (self.upper - self.lower)[:2] / cells
        first, last = (np.floor((x[:2] - self.lower[:2]) / step).astype(int) for x in (lower, upper))
        first, last = np.clip(first, 0, cells), np.clip(last + 1, 0, cells)
        for r in range(first[1], last[1]):
            for c in range(first[0], last[0]):
                if self.ground.heights[r : r + 2, c : c + 2].max() >= lower[2]:
                    yield from self._cell(r, c)

    def _cell(self, r: int, c: int) -> tuple[Prism, Prism]:
        return made_once(self.prisms, (r, c), self._made, r, c)

    def _made(self, r: int, c: int) -> tuple[Prism, Prism]:
        points = surface_points(self.ground)
        corners = [points[r + i, c + j] for i, j in ((0, 0), (1, 0), (0, 1), (1, 1))]
        first, second = (Prism.below(np.array(top), self.lower[2]) for top in (corners[:3], corners[1:]))
        return first, second


@dataclass(frozen=True, slots=True, eq=False)
class Prism(Solid):
    """The ground below one triangle of a height field; ``up`` is the triangle's normal."""

    up: np.ndarray = field(kw_only=True)

    @classmethod
    def below(cls, top: np.ndarray, bottom: float) -> Prism:
        """The prism between a triangle and a height."""
        corners = np.concatenate([top, np.column_stack([top[:, :2], np.full(3, bottom)])])
        up = np.cross(top[1] - top[0], top[2] - top[0])
        up *= np.sign(up[2]) / np.linalg.norm(up)
        box = corners.min(axis=0), corners.max(axis=0)
        return cls(_hull(corners), True, *box, Support("hull", corners=corners), up=up)


def surface_points(shape: Geometry) -> np.ndarray:
    """The points of a height field, (rows, columns, 3), in its coordinates [m]."""
    (rows, columns), (x, y, _) = shape.heights.shape, shape.size
    xs, ys = np.meshgrid(np.linspace(-x / 2.0, x / 2.0, columns), np.linspace(-y / 2.0, y / 2.0, rows))
    return np.stack([xs, ys, shape.heights], axis=-1)


def solid_of(shape: Geometry, meshes: str = "hull") -> Solid:
    """A shape for queries.

    Parameters
    ----------
    shape : Geometry
    meshes : {"hull", "triangles"}

    Raises
    ------
    GeometryError
        If a mesh cannot be read, or has no volume where its hull is needed.
    MissingDependencyError
    """
    if shape.kind == "mesh":
        return _mesh_solid(shape.mesh, tuple(shape.scale), meshes, _stamp(shape.mesh))
    if shape.kind == "heightfield":
        return _terrain(shape)
    library = coal()
    plain = Geometry(shape.kind, shape.size)
    lower, upper = bounding_box(plain)
    if shape.kind == "plane":
        half = library.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0)
        return Solid(half, True, np.full(3, -np.inf), np.full(3, np.inf))
    make = {
        "box": library.Box, "sphere": library.Sphere, "cylinder": library.Cylinder, "capsule": library.Capsule,
        "ellipsoid": library.Ellipsoid,
    }  # fmt: skip
    return Solid(make[shape.kind](*shape.size), True, lower, upper, Support(shape.kind, shape.size))


def _stamp(file: str) -> tuple:
    """Identifies the content of a file, so that a changed one is read again."""
    try:
        found = os.stat(file)
    except OSError:
        return ()
    return found.st_mtime_ns, found.st_size


@once(most=1024)
def _mesh_solid(file: str, scale: tuple, meshes: str, stamp: tuple) -> Solid:
    mesh = read_mesh(Geometry("mesh", mesh=file, scale=scale))
    if meshes == "triangles":
        return Solid(_triangles(mesh.vertices, mesh.faces), False, *mesh.bounds)
    hull = _mesh_hull(mesh)
    return Solid(hull, True, *mesh.bounds, Support("hull", corners=np.array(hull.points())))


def _mesh_hull(mesh: Mesh):
    lower, upper = mesh.bounds
    used = mesh.vertices[np.unique(mesh.faces)]
    if np.linalg.svd((used - used.mean(axis=0)) / np.linalg.norm(upper - lower), compute_uv=False)[-1] < THINNEST:
        fault = "its convex hull has no volume: all corners lie in one plane"
        raise mesh.fail("degenerate", f"{fault}. Give the shape a thickness, or take meshes='triangles'")
    return _hull(used)


def _hull(points: np.ndarray):
    """The convex hull by SciPy: coal's own stops at some meshes with nearly coplanar corners."""
    from scipy.spatial import ConvexHull, QhullError

    library = coal()
    try:
        hull = ConvexHull(points)
        if np.bincount(hull.simplices.ravel()).max() > MOST_NEIGHBORS:  # a fan over a flat end; joggled it is none
            hull = ConvexHull(points, qhull_options="QJ")
    except QhullError as error:
        message = f"the convex hull of {len(points)} points could not be computed: {str(error)[:200]}"
        raise GeometryError(message, check="degenerate") from error
    corners = points[hull.vertices]
    place = np.zeros(len(points), dtype=int)
    place[hull.vertices] = np.arange(len(hull.vertices))
    a, b, c = (points[hull.simplices[:, k]] for k in range(3))
    inwards = np.einsum("ki,ki->k", np.cross(b - a, c - a), hull.equations[:, :3]) < 0.0
    faces = np.where(inwards[:, None], hull.simplices[:, ::-1], hull.simplices)
    listed, triangles = library.StdVec_Vec3s(), library.StdVec_Triangle()
    listed.extend(corners)
    triangles.extend([library.Triangle(*face) for face in place[faces].tolist()])
    return library.Convex(listed, triangles)


def _triangles(vertices: np.ndarray, faces: np.ndarray):
    library = coal()
    surface = library.BVHModelOBBRSS()
    surface.beginModel(len(faces), len(vertices))
    surface.addVertices(np.ascontiguousarray(vertices))
    surface.addTriangles(np.ascontiguousarray(faces))
    surface.endModel()
    return surface


def _terrain(shape: Geometry) -> Solid:
    """The closed surface: the heights, four walls down to the depth, and the bottom."""
    points = surface_points(shape)
    rows, columns = shape.heights.shape
    number = np.arange(rows * columns).reshape(rows, columns)
    a, b, c, d = (x.ravel() for x in (number[:-1, :-1], number[1:, :-1], number[:-1, 1:], number[1:, 1:]))
    faces = [np.stack([a, c, b], axis=1), np.stack([b, c, d], axis=1)]
    edge = np.concatenate([number[0, :-1], number[:-1, -1], number[-1, :0:-1], number[:0:-1, 0]])
    below = rows * columns + np.arange(len(edge))
    after, below_after = np.roll(edge, -1), np.roll(below, -1)
    faces += [np.stack([edge, below, after], axis=1), np.stack([after, below, below_after], axis=1)]
    k = below[np.cumsum([0, columns - 1, rows - 1, columns - 1])]  # coal measures no triangles without area
    faces.append(np.array([[k[0], k[2], k[1]], [k[0], k[3], k[2]]]))
    flat = points.reshape(-1, 3)
    walls = flat[edge] * (1.0, 1.0, 0.0) - (0.0, 0.0, shape.size[2])
    x, y, depth = shape.size
    return Terrain(
        _triangles(np.concatenate([flat, walls]), np.concatenate(faces)),
        False,
        np.array([-x / 2.0, -y / 2.0, -depth]),
        np.array([x / 2.0, y / 2.0, shape.heights.max()]),
        ground=shape,
    )
