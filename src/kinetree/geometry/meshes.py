"""Meshes read from files, and the checks that a volume integral over a mesh needs.

A sum over triangles gives a volume whatever the triangles are; it means something only if they bound a solid. Each
check names the fault and its repair. The files are read from memory with nothing to look further names up in,
so a mesh file cannot make its reader open other files (materials, textures, buffers, entities).
"""

from __future__ import annotations

import io
import os
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import numpy as np

from kinetree.arguments import array, checked, instance, refuse
from kinetree.errors import GeometryError, MissingDependencyError
from kinetree.files import LARGEST_MESH, read_ordinary, why_not_ordinary
from kinetree.model.parts import Geometry, read_only

FORMATS = (".stl", ".obj", ".dae", ".ply", ".glb", ".off")
# Thinner than this share of its diagonal, a mesh is a sheet: its volume is the rounding of single-precision files.
THINNEST = 1e-8
# Corners nearer than this share of the largest coordinate are one: single precision rounds by 6e-8.
WELD = 2e-7


@dataclass(frozen=True, slots=True, eq=False)
class Mesh:
    """Triangles in the coordinates of a shape, corners that coincide written once.

    Parameters
    ----------
    vertices : (n, 3) array
        [m], scale applied.
    faces : (m, 3) array of int
        Corners of each triangle, counterclockwise seen from outside.
    file : str
        For messages.

    Examples
    --------
    >>> import kinetree as kt, numpy as np
    >>> corners = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    >>> mesh = kt.geometry.Mesh(corners, np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]), "tetrahedron")
    >>> a, b, c = mesh.vertices[mesh.faces].transpose(1, 0, 2)
    >>> round(float(np.einsum("ki,ki->", a, np.cross(b, c)) / 6.0), 12)  # volume 1/6
    0.166666666667
    """

    vertices: np.ndarray
    faces: np.ndarray
    file: str

    def __post_init__(self) -> None:
        for name, expected in (("vertices", "positions [m]"), ("faces", "numbers of corners")):
            array(f"Mesh: {name}", getattr(self, name), expected, shape=(None, 3))
            object.__setattr__(self, name, read_only(np.array(getattr(self, name))))
        if self.faces.dtype.kind not in "iu":
            refuse("Mesh: faces", self.faces, "whole numbers")

    def fail(self, check: str, message: str, **values: object) -> GeometryError:
        """Build the error of a failed check."""
        return GeometryError(f"mesh {self.file}: {message}", file=self.file, check=check, **values)

    @property
    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper corner of the box along the axes [m]."""
        return self.vertices.min(axis=0), self.vertices.max(axis=0)


def one_shape(what: str, value: object) -> None:
    """Refuse an argument that is not a shape."""
    instance(what, value, Geometry, "a Geometry, as kinetree.model.parts.Geometry('box', (0.1, 0.1, 0.1))")


@checked(shape=one_shape)
def read_mesh(shape: Geometry) -> Mesh:
    """Read the mesh of a shape and apply its scale.

    Parameters
    ----------
    shape : Geometry
        Of kind "mesh"; ``shape.mesh`` is a file: STL, OBJ, DAE, PLY, GLB or OFF.

    Returns
    -------
    Mesh
        In the shape's own coordinates, before ``R_BG`` and ``p_BG``. A scale that mirrors turns the triangles around,
        so that they still look outwards.

    Raises
    ------
    GeometryError
        If the file is not there, not in one of the formats, broken, empty, or holds corners that are not finite.
    MissingDependencyError
        If trimesh, or a package that it needs for the format, is not installed.

    Notes
    -----
    The numbers of the file are meters, as robot files have it; the ``<unit>`` of a DAE file is applied, its
    ``<up_axis>`` is not (as in RViz and Pinocchio), nor that of GLB.

    Examples
    --------
    >>> import pathlib
    >>> import kinetree as kt
    >>> lines = ["v 0 0 0", "v 1 0 0", "v 0 1 0", "v 0 0 1", "f 1 3 2", "f 1 2 4", "f 1 4 3", "f 2 3 4"]
    >>> _ = pathlib.Path("tetrahedron.obj").write_text(chr(10).join(lines))
    >>> shape = kt.model.Geometry("mesh", mesh="tetrahedron.obj", scale=(1.0, 1.0, 2.0))
    >>> mesh = kt.geometry.read_mesh(shape)
    >>> mesh.vertices.max(axis=0).tolist(), len(mesh.faces)
    ([1.0, 1.0, 2.0], 4)
    """
    scale = np.asarray(shape.scale, dtype=float)
    if scale.shape != (3,) or not np.all(np.isfinite(scale)) or not np.all(scale):
        message = f"mesh {shape.mesh}: scale is {shape.scale}, expected three finite numbers, none of them 0"
        raise GeometryError(message, file=shape.mesh, check="scale", found=shape.scale)
    vertices, faces = _read(shape.mesh)
    mesh = Mesh(vertices * scale, faces, shape.mesh)
    if not np.all(np.isfinite(mesh.vertices)):
        bad = int(np.sum(~np.isfinite(mesh.vertices).all(axis=1)))
        raise mesh.fail("finite", f"{bad} of {len(vertices)} corners are not finite; repair the file", found=bad)
    vertices, faces = welded(mesh.vertices, mesh.faces)
    return Mesh(vertices, faces[:, ::-1] if np.prod(scale) < 0.0 else faces, shape.mesh)


def convex_hull(mesh: Mesh) -> Mesh:
    """The convex hull of a mesh's corners.

    Raises
    ------
    GeometryError
        If the corners lie in one plane.
    """
    trimesh = _trimesh()
    try:
        points, center, size = _normalized(mesh)
        if np.linalg.svd(points - points.mean(axis=0), compute_uv=False)[2] < THINNEST:
            raise ValueError("the corners lie in one plane")
        hull = trimesh.Trimesh(points, mesh.faces, process=False).convex_hull
    except Exception as error:  # SciPy's QhullError has moved between its modules
        raise mesh.fail("degenerate", "its convex hull has no volume: all corners lie in one plane") from error
    return Mesh(np.asarray(hull.vertices) * size + center, np.asarray(hull.faces), mesh.file)


def check_solid(mesh: Mesh) -> None:
    """Refuse a mesh whose triangles do not bound a solid.

    Raises
    ------
    GeometryError
        ``check`` names the failed test: "closed" (an edge borders on an odd number of triangles), "winding"
        (neighbors look to different sides, or a piece outside all others is inside out), "positive" (the whole mesh is
        inside out), "degenerate" (flat), "bounding box" (pieces overlap so much that the volume exceeds the box).

    Notes
    -----
    A sum over triangles is independent of the origin, and so a volume, exactly if every edge is passed as often in one
    direction as in the other. This is tested: edges shared by four triangles are fine, cavities are too. Closed
    pieces that overlap pass (unless the box is exceeded) and count twice where they do.
    """
    repair = "Repair the mesh, or take its convex hull with convex_hull=True"
    sheets, unbalanced, edges = _edges(mesh)
    if sheets:
        fault = f"it is open: {sheets} of {edges} edges border on one triangle only (or on an odd number)"
        raise mesh.fail("closed", f"{fault}, so it encloses no volume. {repair}", found=sheets)
    if unbalanced:
        where = f"at {unbalanced} of {edges} edges neighbors look to different sides"
        fault = f"its triangles are not oriented consistently: {where}"
        raise mesh.fail("winding", f"{fault}. {repair}", found=unbalanced)
    lower, upper = mesh.bounds
    volumes, pieces = _volumes_of_pieces(mesh)
    volume, box = float(volumes.sum()), float(np.prod(upper - lower))
    diagonal = float(np.linalg.norm(upper - lower))
    area = float(np.linalg.norm(_crosses(mesh), axis=1).sum()) / 2.0
    if abs(volume) <= THINNEST * area * diagonal:
        fault = f"its volume is {volume:.3g} m^3 in a box of {_shown(upper - lower)} m: it is flat"
        solid = "Give the shape a thickness, or the body its mass and inertia"
        raise mesh.fail("degenerate", f"{fault}. {solid}", found=volume)
    if volume < 0.0:
        fault = f"its volume is {volume:.6g} m^3: it is inside out, the triangles look inwards"
        turn = "Turn them around (in a mesh editor: recalculate normals outside)"
        raise mesh.fail("positive", f"{fault}. {turn}, or take the convex hull with convex_hull=True", found=volume)
    _refuse_pieces_inside_out(mesh, volumes, pieces, repair)
    if volume > box * (1.0 + 1e-6):
        fault = f"its volume {volume:.6g} m^3 exceeds that of its bounding box, {box:.6g} m^3"
        message = f"{fault}: pieces lie in each other and count twice. {repair}"
        raise mesh.fail("bounding box", message, found=volume, box=box)


def _refuse_pieces_inside_out(mesh: Mesh, volumes: np.ndarray, pieces: np.ndarray, repair: str) -> None:
    """Refuse negative pieces, which are cavities, outside positive ones, where they would remove mass."""
    if np.all(volumes >= 0.0):
        return
    corners = mesh.vertices[mesh.faces]
    lower = np.full((len(volumes), 3), np.inf)
    upper = np.full((len(volumes), 3), -np.inf)
    np.minimum.at(lower, pieces, corners.min(axis=1))
    np.maximum.at(upper, pieces, corners.max(axis=1))
    margin = WELD * float(np.abs(mesh.vertices).max())
    solid = volumes > 0.0
    noise = THINNEST * float(np.abs(volumes).max())
    for k in np.flatnonzero(volumes < -noise):
        around = solid & np.all(lower <= lower[k] + margin, axis=1) & np.all(upper >= upper[k] - margin, axis=1)
        if not np.any(around):
            count = int(np.sum(pieces == k))
            where = f"between {_shown(lower[k])} and {_shown(upper[k])} m"
            piece = f"one of its {len(volumes)} pieces ({count} triangles, volume {volumes[k]:.3g} m^3, {where})"
            raise mesh.fail("winding", f"{piece} is inside out. {repair}", found=float(volumes[k]))


def _normalized(mesh: Mesh) -> tuple[np.ndarray, np.ndarray, float]:
    """The corners of a mesh about the center of its box, the diagonal of which is 1; that center, and the diagonal."""
    lower, upper = mesh.bounds
    center, size = 0.5 * (lower + upper), float(np.linalg.norm(upper - lower))
    return (mesh.vertices - center) / size, center, size


def integrals(mesh: Mesh) -> tuple[float, np.ndarray, np.ndarray]:
    """Volume, centroid, and the inertia about it at density 1 of the solid that a mesh bounds.

    Returns
    -------
    volume : float
        [m^3].
    centroid : (3,) array
        [m].
    inertia : (3, 3) array
        [m^5].
    """
    trimesh = _trimesh()
    # Centered and of size 1: a small mesh far away would lose its digits, a tiny one falls below trimesh's zero.
    points, center, size = _normalized(mesh)
    found = trimesh.triangles.mass_properties(points[mesh.faces], density=1.0)
    inertia = np.asarray(found["inertia"], dtype=float)
    return (
        float(found["volume"]) * size**3,
        np.asarray(found["center_mass"], dtype=float) * size + center,
        0.5 * (inertia + inertia.T) * size**5,
    )


def welded(vertices: np.ndarray, faces: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Corners that coincide made one, triangles without area by that left out.

    Formats such as STL write each triangle for itself. Equal corners are joined first; only if that leaves open edges
    are those joined that agree but for the rounding of single precision.
    """
    vertices, faces = _joined(vertices, vertices + 0.0, faces)  # + 0.0 makes -0.0 one with 0.0
    if _edges(Mesh(vertices, faces, ""))[0]:
        step = WELD * float(np.abs(vertices).max())
        from scipy.spatial import cKDTree

        pairs = cKDTree(vertices).query_pairs(step, output_type="ndarray") if step > 0.0 else np.empty((0, 2), int)
        if len(pairs):
            labels = _components(len(vertices), pairs)
            keep = np.unique(labels, return_index=True)[1]
            vertices, faces = vertices[keep], labels[faces]
    distinct = (faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0])
    return vertices, faces[distinct]


def _joined(vertices: np.ndarray, keys: np.ndarray, faces: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    _, first, number = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    return vertices[first], number.reshape(-1)[faces]


def _edges(mesh: Mesh) -> tuple[int, int, int]:
    """Edges with an odd number of triangles, edges not passed equally in both directions, all edges."""
    tail = mesh.faces[:, [0, 1, 2]].reshape(-1).astype(np.int64)
    head = mesh.faces[:, [1, 2, 0]].reshape(-1).astype(np.int64)
    real = tail != head
    tail, head = tail[real], head[real]
    key = np.minimum(tail, head) * len(mesh.vertices) + np.maximum(tail, head)
    _, edge, count = np.unique(key, return_inverse=True, return_counts=True)
    balance = np.bincount(edge.reshape(-1), weights=np.where(tail < head, 1.0, -1.0), minlength=len(count))
    odd = count % 2 == 1
    return int(odd.sum()), int(np.sum((balance != 0.0) & ~odd)), len(count)


def _components(size: int, pairs: np.ndarray) -> np.ndarray:
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    graph = coo_array((np.ones(len(pairs), dtype=bool), (pairs[:, 0], pairs[:, 1])), shape=(size, size))
    return connected_components(graph, directed=False)[1]


def _crosses(mesh: Mesh) -> np.ndarray:
    a, b, c = (mesh.vertices[mesh.faces[:, k]] for k in range(3))
    return np.cross(b - a, c - a)


def _volumes_of_pieces(mesh: Mesh) -> tuple[np.ndarray, np.ndarray]:
    """Signed volume of each connected piece, and the piece of each triangle."""
    labels = _components(len(mesh.vertices), np.concatenate([mesh.faces[:, :2], mesh.faces[:, 1:]]))
    _, pieces = np.unique(labels[mesh.faces[:, 0]], return_inverse=True)
    pieces = pieces.reshape(-1)
    lower, upper = mesh.bounds
    corner = mesh.vertices[mesh.faces[:, 0]] - 0.5 * (lower + upper)
    return np.bincount(pieces, weights=np.sum(corner * _crosses(mesh), axis=1) / 6.0), pieces


# Files ------------------------------------------------------------------------------------------------------------


def _read(file: str) -> tuple[np.ndarray, np.ndarray]:
    loaded, unit = parsed(file)
    fail = _failing(file)
    vertices = np.array(loaded.vertices, dtype=float).reshape(-1, 3) * unit
    faces = np.array(loaded.faces, dtype=np.int64).reshape(-1, 3)
    if not len(faces):
        raise fail("empty", "it holds no triangles")
    if faces.min() < 0 or faces.max() >= len(vertices):
        raise fail("format", f"a triangle names corner {faces.max()}, and there are {len(vertices)}")
    return vertices, faces


def parsed(file: str, resolver=None):
    """The content of a mesh file as trimesh has it, and the length of its unit [m].

    Parameters
    ----------
    file : str
    resolver : trimesh.resolvers.Resolver, optional
        Opens the images and materials that the file names. With it, the result is a ``trimesh.Scene`` with their
        looks; without, one ``trimesh.Trimesh``, and nothing but the file is opened.

    Raises
    ------
    GeometryError, MissingDependencyError
    """
    path, fail = Path(file), _failing(file)
    suffix = path.suffix.lower()
    if suffix not in FORMATS:
        raise fail("format", f"the format '{suffix}' is not read; known: {', '.join(FORMATS)}")
    if kind := why_not_ordinary(path):
        raise fail("file", f"this is {kind}, no ordinary file")
    if not os.path.isfile(path):
        hint = "; load the robot with package_dirs=, the folders that hold its packages" if "://" in file else ""
        raise fail("file", "there is no such file" + hint)
    if (size := os.path.getsize(path)) > LARGEST_MESH:
        raise fail("size", f"{size / 2**20:.0f} MiB; meshes above {LARGEST_MESH >> 20} MiB are not read")
    trimesh = _trimesh()
    unit = 1.0
    try:
        content = _plain_text(read_ordinary(path, LARGEST_MESH), suffix)
        if suffix == ".dae":
            needs = "DAE files need the package pycollada: pip install pycollada"
            _package("collada", f"mesh {file}: {needs}. Or convert the mesh to STL or OBJ")
            unit = _unit_of_dae(content, fail)
        # Left to itself, the reader of DAE leaves out the unsupported parts of a file.
        strict = {"ignore_broken": False} if suffix == ".dae" else {}
        form = {"force": "mesh"} if resolver is None else {"force": "scene", "resolver": resolver}
        return trimesh.load(io.BytesIO(content), file_type=suffix[1:], process=False, **form, **strict), unit
    except (GeometryError, MissingDependencyError):
        raise
    except ImportError as error:
        raise MissingDependencyError(
            f"mesh {file}: to read {suffix} files trimesh needs a package that is missing: {error}", file=file
        ) from error
    except Exception as error:  # loaders fail in many ways on broken files
        shown = str(error) or type(error).__name__
        raise fail("format", f"it cannot be read as {suffix[1:].upper()}: {shown[:200]}") from error


def _failing(file: str):
    def fail(check: str, message: str) -> GeometryError:
        return GeometryError(f"mesh {file}: {message}", file=file, check=check)

    return fail


def _plain_text(content: bytes, suffix: str) -> bytes:
    """Text as plain ASCII: to guess other encodings (of comments), trimesh would need one more package."""
    binary = suffix in (".ply", ".glb", ".dae") or (
        suffix == ".stl" and len(content) == 84 + 50 * int.from_bytes(content[80:84], "little")
    )
    return content if binary else content.decode("utf-8", errors="replace").encode("ascii", errors="replace")


def _unit_of_dae(content: bytes, fail) -> float:
    """``<unit meter>`` of a COLLADA file; a file with entities is refused before anything expands them."""
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=True)
    root = etree.fromstring(content, parser)
    if root.getroottree().docinfo.internalDTD is not None:
        raise fail("format", "it declares a document type, which is refused")
    unit = root.find("{*}asset/{*}unit")
    meter = 1.0 if unit is None else float(unit.get("meter", "1"))
    if not (np.isfinite(meter) and meter > 0.0):
        raise fail("format", f"its <unit meter> is {meter:g}, expected a positive number")
    return meter


def _package(name: str, message: str):
    try:
        return import_module(name)
    except ImportError as error:
        raise MissingDependencyError(message, package="pycollada" if name == "collada" else name) from error


def _trimesh():
    return _package("trimesh", "meshes need the package trimesh: pip install trimesh")


def _shown(vector: np.ndarray) -> str:
    return f"({', '.join(f'{x:.4g}' for x in vector)})"
