"""Coarse copies of surfaces, for browsers without a graphics card: the corners within a cell of a grid become one.

After Lindstrom, "Out-of-core simplification of large polygonal models" (SIGGRAPH 2000): the one corner of a cell is the
point nearest to the planes of the triangles that meet there, so that edges and the volume are kept.
"""

from __future__ import annotations

import numpy as np

from kinetree.viewer.triangles import Triangles, cut_at_edges

MOST = 8_000  # triangles of all surfaces together
FEW = 200  # triangles of a surface that stays as it is
TURNS, GROWTH = 8, 1.2  # of the search for the size of the cells
IMAGE_CELLS = 8  # along an image: corners whose places in it are farther apart stay two
EDGE = np.cos(np.radians(60.0))  # as of triangles.py; coarse round surfaces have larger angles
STIFF = 1e-2  # weight of the mean of the corners against that of the planes


def coarsened(surfaces, most: int = MOST) -> list[Triangles]:
    """Copies with so few triangles that all together have at most a number of them.

    Parameters
    ----------
    surfaces : sequence of Triangles
        One that is drawn several times is there as often.
    most : int

    Returns
    -------
    list of Triangles
        Small surfaces are those given; equal ones have one copy.

    Notes
    -----
    If the small surfaces alone have more triangles, the others become as coarse as eight turns make them.

    Examples
    --------
    >>> from kinetree.viewer.triangles import height_field
    >>> import numpy as np
    >>> hill = height_field((1.0, 1.0, 0.1), np.hypot(*np.mgrid[-1:1:101j, -1:1:101j]))
    >>> [copy] = coarsened([hill], most=500)
    >>> len(hill.faces), 200 < len(copy.faces) <= 500
    (20000, True)
    """
    large = {id(x): x for x in surfaces if len(x.faces) > FEW}
    uses = {key: sum(id(x) == key for x in surfaces) for key in large}
    fixed = sum(len(x.faces) for x in surfaces if id(x) not in large)
    if not large or fixed + sum(uses[key] * len(x.faces) for key, x in large.items()) <= most:
        return list(surfaces)
    area = sum(uses[key] * float(np.linalg.norm(_normals(x), axis=1).sum()) / 2.0 for key, x in large.items())
    size = float(np.sqrt(2.0 * area / max(most - fixed, FEW)))
    copies = large
    for _ in range(TURNS):
        copies = {key: clustered(x, size) for key, x in large.items()}
        if fixed + sum(uses[key] * len(x.faces) for key, x in copies.items()) <= most:
            break
        size *= GROWTH
    return [copies.get(id(x), x) for x in surfaces]


def clustered(surface: Triangles, size: float) -> Triangles:
    """The surface with one corner in each cell.

    Parameters
    ----------
    surface : Triangles
    size : float
        Edge of the cells [m].
    """
    vertices, faces = surface.vertices.astype(float), surface.faces
    low = vertices.min(axis=0)
    place = np.floor((vertices - low) / size).astype(np.int64)
    cells, cell = np.unique(place, axis=0, return_inverse=True)
    cell = cell.reshape(-1)
    triples = np.sort(cell[faces], axis=1)
    real = (triples[:, 0] != triples[:, 1]) & (triples[:, 1] != triples[:, 2])
    _, first = np.unique(triples[real], axis=0, return_index=True)
    kept = faces[np.flatnonzero(real)[np.sort(first)]]
    points = _nearest_to_planes(vertices, faces, cell, low + cells * size, size, _normals(surface))
    if surface.uv is None:
        number, at, uv = cell, np.arange(len(cells)), None
    else:
        key = np.column_stack([cell, np.floor(surface.uv * IMAGE_CELLS).astype(np.int64)])
        _, chosen, number = np.unique(key, axis=0, return_index=True, return_inverse=True)
        number, at, uv = number.reshape(-1), cell[chosen], surface.uv[chosen]
    vertices, kept, uv = cut_at_edges(points[at], number[kept], uv, EDGE)
    return Triangles(vertices, kept, uv, surface.image, surface.color)


def _normals(surface: Triangles) -> np.ndarray:
    """Normals of the triangles, as long as twice their areas."""
    a, b, c = (surface.vertices[surface.faces[:, k]].astype(float) for k in range(3))
    return np.cross(b - a, c - a)


def _nearest_to_planes(vertices, faces, cell, corner, size: float, normals) -> np.ndarray:
    """In each cell the point with the least sum of squared distances from planes, weighted by the triangles' areas."""
    count, owner = len(corner), cell[faces].ravel()
    length = np.linalg.norm(normals, axis=1)
    unit = normals / np.maximum(length, 1e-300)[:, None]

    def summed(values):
        return np.bincount(owner, np.repeat(length * values, 3), count)

    corners = np.bincount(cell, minlength=count)[:, None]
    mean = np.stack([np.bincount(cell, x, count) for x in vertices.T], axis=1) / corners
    A = np.zeros((count, 3, 3))
    for i in range(3):
        for j in range(i + 1):
            A[:, i, j] = A[:, j, i] = summed(unit[:, i] * unit[:, j])
    offset = np.einsum("fi,fi->f", unit, vertices[faces[:, 0]])
    b = np.stack([summed(unit[:, i] * offset) for i in range(3)], axis=1)
    soft = STIFF * np.maximum(np.trace(A, axis1=1, axis2=2), 1e-300)
    A[:, range(3), range(3)] += soft[:, None]
    found = np.linalg.solve(A, (b + soft[:, None] * mean)[..., None])[..., 0]
    inside = np.clip(found, corner, corner + size)
    return np.where(np.isfinite(found).all(axis=1)[:, None], inside, mean)
