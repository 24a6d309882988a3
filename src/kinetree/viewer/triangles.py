"""Triangles of shapes: primitives, height fields, and any surface cut where it has an edge.

Corners are shared by the triangles of one smooth surface only, so that normals computed from the triangles, as all
renderers compute them, shade round surfaces smoothly and leave edges sharp.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

AROUND = 32  # edges of a circle
EDGE = np.cos(np.radians(35.0))  # of the angle between normals above which two triangles meet at an edge
WELD = 1e-6  # of the largest coordinate: corners that are nearer are one


@dataclass(frozen=True, slots=True, eq=False)
class Triangles:
    """A surface of one color or one image.

    Attributes
    ----------
    vertices : (n, 3) float32 array
        Corners in the coordinates of the shape [m].
    faces : (m, 3) int32 array
        Corners of each triangle, counterclockwise seen from outside.
    uv : (n, 2) float32 array or None
        Position of each corner in the image, the origin at its lower left [1].
    image : bytes or None
        A PNG or JPEG file.
    color : tuple of 4 floats or None
        Red, green, blue, opacity, each from 0 to 1; None: the color of the part.
    """

    vertices: np.ndarray
    faces: np.ndarray
    uv: np.ndarray | None = None
    image: bytes | None = None
    color: tuple[float, float, float, float] | None = None

    def __post_init__(self) -> None:
        for name, kind in (("vertices", np.float32), ("faces", np.int32), ("uv", np.float32)):
            if (values := getattr(self, name)) is not None:
                values = np.ascontiguousarray(values, kind)
                values.setflags(write=False)
                object.__setattr__(self, name, values)


def triangles_of(kind: str, size: tuple[float, ...]) -> Triangles:
    """The surface of a primitive shape in its own coordinates; lengths as in `kinetree.model.parts.Geometry`.

    Parameters
    ----------
    kind : {"box", "sphere", "cylinder", "capsule", "ellipsoid", "plane"}
    size : tuple of float
        Lengths of the kind [m]; of a plane the edges of the drawn rectangle.
    """
    match kind:
        case "box":
            return _box(np.array(size) / 2.0)
        case "plane":
            x, y = np.array(size) / 2.0
            corners = [[-x, -y, 0.0], [x, -y, 0.0], [x, y, 0.0], [-x, y, 0.0]]
            return Triangles(np.array(corners), np.array([[0, 1, 2], [0, 2, 3]]))
        case "cylinder":
            radius, half = size[0], size[1] / 2.0
            profile = [(0.0, -half), (radius, -half), (radius, -half), (radius, half), (radius, half), (0.0, half)]
            return _revolved(np.array(profile))
        case "capsule":
            radius, half = size[0], size[1] / 2.0
            arc = radius * _quarter()
            return _revolved(np.concatenate([arc - (0.0, half), arc[::-1] * (1.0, -1.0) + (0.0, half)]))
        case _:  # spheres and ellipsoids
            arc = np.concatenate([_quarter(), _quarter()[-2::-1] * (1.0, -1.0)])
            ball = _revolved(arc)
            return Triangles(ball.vertices * np.broadcast_to(np.array(size), 3), ball.faces)


def hollow_half(radius: float) -> Triangles:
    """The lower half of a sphere, with its inside as the front."""
    half = _revolved(radius * _quarter())
    return Triangles(half.vertices, half.faces[:, ::-1])


def _quarter() -> np.ndarray:
    """Radius and height along a circle from its lowest point to its equator."""
    angle = np.linspace(0.0, np.pi / 2.0, AROUND // 4 + 1)
    return np.stack([np.sin(angle), -np.cos(angle)], axis=1)


def _revolved(profile: np.ndarray) -> Triangles:
    """The surface that a line of (radius, height), from low to high, makes around z; points given twice are edges."""
    angle = np.linspace(0.0, 2.0 * np.pi, AROUND, endpoint=False)
    r, z = profile.T
    rings = np.stack(np.broadcast_arrays(r[:, None] * np.cos(angle), r[:, None] * np.sin(angle), z[:, None]), axis=-1)
    number = np.arange(len(profile) * AROUND).reshape(len(profile), AROUND)
    after = np.roll(number, -1, axis=1)
    apart = np.any(profile[1:] != profile[:-1], axis=1)
    low, high = profile[:-1, 0] > 0.0, profile[1:, 0] > 0.0  # no triangles without area at the poles
    first = np.stack([number[:-1], after[:-1], after[1:]], axis=-1)[apart & low]
    second = np.stack([number[:-1], after[1:], number[1:]], axis=-1)[apart & high]
    return Triangles(rings.reshape(-1, 3), np.concatenate([first.reshape(-1, 3), second.reshape(-1, 3)]))


def _box(half: np.ndarray) -> Triangles:
    """Six faces with corners of their own."""
    vertices, faces = [], []
    for axis in range(3):
        for side in (-1.0, 1.0):
            u, v = np.eye(3)[(axis + 1) % 3], np.eye(3)[(axis + 2) % 3] * side
            middle = side * np.eye(3)[axis]
            start = 4 * len(faces) // 2
            vertices += [(middle + a * u + b * v) * half for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
            faces += [[start, start + 1, start + 2], [start, start + 2, start + 3]]
    return Triangles(np.array(vertices), np.array(faces))


def height_field(size: tuple[float, ...], heights: np.ndarray) -> Triangles:
    """The surface of a height field; its walls are left out.

    Parameters
    ----------
    size : tuple of 3 floats
        Edge lengths along x and y, depth [m].
    heights : (rows, columns) array
        [m].
    """
    rows, columns = heights.shape
    x, y = (np.linspace(-length / 2.0, length / 2.0, n) for length, n in zip(size, (columns, rows), strict=False))
    vertices = np.stack([*np.broadcast_arrays(x, y[:, None]), heights], axis=-1).reshape(-1, 3)
    n = np.arange(rows * columns).reshape(rows, columns)
    a, b, c, d = n[:-1, :-1], n[:-1, 1:], n[1:, 1:], n[1:, :-1]
    faces = np.concatenate([np.stack(t, axis=-1).reshape(-1, 3) for t in ((a, b, c), (a, c, d))])
    return Triangles(vertices, faces)


def cut_at_edges(vertices: np.ndarray, faces: np.ndarray, uv: np.ndarray | None = None, edge: float = EDGE):
    """A surface with corners shared by the triangles that go on smoothly into each other, and by no others.

    Parameters
    ----------
    vertices : (n, 3) array
        [m], shared or not.
    faces : (m, 3) array of int
    uv : (n, 2) array, optional
    edge : float
        Cosine of the angle between normals above which two triangles meet at an edge.

    Returns
    -------
    vertices, faces, uv
        Triangles without area are left out.
    """
    scale = WELD * float(np.abs(vertices).max(initial=0.0)) or 1.0
    _, first, place = np.unique(np.round(vertices / scale).astype(np.int64), axis=0, return_index=True,
                                return_inverse=True)  # fmt: skip
    place = place.reshape(-1)
    joined = place[faces]
    real = (joined[:, 0] != joined[:, 1]) & (joined[:, 1] != joined[:, 2]) & (joined[:, 2] != joined[:, 0])
    faces, joined = faces[real], joined[real]
    group = _smooth_groups(vertices[first], joined, edge)
    # A corner of its own for each position, smooth group and position in the image.
    texture = np.zeros(len(vertices), np.int64)
    if uv is not None:
        texture = np.unique(np.round(uv * 2**16).astype(np.int64), axis=0, return_inverse=True)[1].reshape(-1)
    key = np.stack([joined.ravel(), np.repeat(group, 3), texture[faces].ravel()], axis=1)
    _, chosen, number = np.unique(_one_number(key), return_index=True, return_inverse=True)
    corner = faces.ravel()[chosen]
    return vertices[first[place[corner]]], number.reshape(-1, 3), None if uv is None else uv[corner]


def _one_number(rows: np.ndarray) -> np.ndarray:
    """A number for each row of whole numbers, equal for equal rows: sorted faster than the rows."""
    key = np.zeros(len(rows), np.int64)
    for column in rows.T:
        key = key * (int(column.max(initial=0)) + 1) + column
        key = np.unique(key, return_inverse=True)[1].reshape(-1)
    return key


def _smooth_groups(points: np.ndarray, faces: np.ndarray, edge: float) -> np.ndarray:
    """For each triangle the number of the smooth surface to which it belongs."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    if not len(faces):
        return np.zeros(0, np.int64)
    a, b, c = (points[faces[:, k]] for k in range(3))
    normal = np.cross(b - a, c - a)
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-300)
    edges = np.sort(np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]), axis=1)
    key = edges[:, 0].astype(np.int64) * len(points) + edges[:, 1]
    order = np.argsort(key, kind="stable")
    same = np.flatnonzero(key[order][1:] == key[order][:-1])
    first, second = (order[same + k] % len(faces) for k in (0, 1))
    smooth = np.einsum("ij,ij->i", normal[first], normal[second]) > edge
    shape = (len(faces), len(faces))
    links = coo_array((np.ones(int(smooth.sum()), bool), (first[smooth], second[smooth])), shape=shape)
    return connected_components(links, directed=False)[1].astype(np.int64)
