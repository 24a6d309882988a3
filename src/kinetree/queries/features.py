"""The surface of a convex shape next to a point of contact: its principal directions and radii of curvature.

A direction with the radius 0 is across an edge or a corner, an infinite one along a flat face or a straight line. So
smooth and flat surfaces, edges and corners are cases of one description: the point of support moves by the radius times
the rotation of the normal, and does not let the normal turn where the radius is infinite.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kinetree.queries.supports import Support

SINGULAR, MISFIT = 1e-9, 1e-7
SAME = 1e-6  # share of the size: corners nearer than this to the supporting plane belong to the face
FLAT = 1e-3  # between a normal and that of a flat end or a straight side, both found by iterations


class Feature(NamedTuple):
    """Principal directions, (2, 3) unit vectors [1], and radii of curvature, (2,) [m].

    Directions are across the normal; those of an infinite radius lie in the face or line, so that they show how far the
    normal is off.
    """

    axes: np.ndarray
    radii: np.ndarray


def tangents(n: np.ndarray) -> np.ndarray:
    """Two unit vectors across a unit vector, (2, 3)."""
    a = np.eye(3)[np.argmin(np.abs(n))]
    first = np.cross(n, a)
    first /= np.linalg.norm(first)
    return np.array([first, np.cross(n, first)])


def feature(support: Support | None, n: np.ndarray, x: np.ndarray, same: float = SAME) -> Feature:
    """The surface at a point x with the outward unit normal n, in the coordinates of the shape; None: a plane.

    ``same``: share of the size; corners nearer than this to the plane of support belong to the face.
    """
    if support is None:
        return Feature(tangents(n), np.full(2, np.inf))
    size = support.size
    if support.kind == "sphere":
        return Feature(tangents(n), np.full(2, size[0]))
    if support.kind == "ellipsoid":
        return _of_ellipsoid(np.array(size), n)
    if support.kind in ("box", "hull"):
        corners = support.corners if support.corners is not None else 0.5 * np.array(size) * _SIGNS
        return _of_corners(corners, n, same)
    return _of_round(support.kind, *size, n, x)


_SIGNS = np.array([[a, b, c] for a in (-1.0, 1.0) for b in (-1.0, 1.0) for c in (-1.0, 1.0)])


def _of_ellipsoid(a: np.ndarray, n: np.ndarray) -> Feature:
    """The derivative of the point of support ``a^2 n / |a n|`` by n, across n: its eigenvalues are the radii."""
    length = np.linalg.norm(a * n)
    slope = np.diag(a**2) / length - np.outer(a**2 * n, a**2 * n) / length**3
    T = tangents(n)
    radii, turn = np.linalg.eigh(T @ slope @ T.T)
    return Feature(turn.T @ T, radii)


def _of_corners(corners: np.ndarray, n: np.ndarray, same: float) -> Feature:
    """A corner, an edge or a face, by the corners near the plane of support."""
    height, extent = corners @ n, np.ptp(corners, axis=0).max()
    found = corners[height >= height.max() - same * extent]
    _, widths, directions = np.linalg.svd(found - found.mean(axis=0), full_matrices=True)
    flat = directions[: int((widths > 10.0 * SAME * extent).sum())][:2]
    if not len(flat):
        return Feature(tangents(n), np.zeros(2))
    if len(flat) == 1:
        across = np.cross(n, flat[0])
        return Feature(np.array([flat[0], across / np.linalg.norm(across)]), np.array([np.inf, 0.0]))
    return Feature(flat, np.full(2, np.inf))


def _of_round(kind: str, radius: float, length: float, n: np.ndarray, x: np.ndarray) -> Feature:
    """The side, the cap, the flat end or the rim of a capsule or cylinder."""
    around = np.cross((0.0, 0.0, 1.0), n)
    sine = np.linalg.norm(around)
    if kind == "cylinder" and np.hypot(x[0], x[1]) < radius * (1.0 - SAME) and sine < FLAT:
        return Feature(np.eye(3)[:2], np.full(2, np.inf))
    if sine < SAME:  # on the axis
        return Feature(tangents(n), np.full(2, radius if kind == "capsule" else np.inf))
    around /= sine
    if abs(x[2]) < 0.5 * length * (1.0 - SAME) and abs(n[2]) < FLAT:
        return Feature(np.array([around, (0.0, 0.0, 1.0)]), np.array([radius, np.inf]))
    axes = np.array([around, np.cross(n, around)])
    return Feature(axes, np.full(2, radius) if kind == "capsule" else np.array([radius / sine, 0.0]))


def contact_matrix(d: float, T: np.ndarray, first: Feature, second: Feature) -> np.ndarray:
    """The equations of contact at a distance d, with unknowns across the normal n in the basis T.

    Unknowns: the change of n, and the motions of the points over the first and over the second surface, whose outward
    normal is -n. Rows: for each principal direction of both surfaces, motion minus radius times rotation of the normal,
    or the rotation alone where the radius is infinite; then the change of ``second - first = d n`` across n.
    """
    M = np.zeros((6, 6))
    for row, surface, sign in ((0, first, 1.0), (2, second, -1.0)):
        for axis, radius, k in zip(surface.axes @ T.T, surface.radii, (row, row + 1), strict=True):
            if np.isfinite(radius):
                M[k, row + 2 : row + 4] = axis
            M[k, :2] = -sign * axis * (radius if np.isfinite(radius) else 1.0)
    M[4:, :2], M[4:, 2:4], M[4:, 4:] = d * np.eye(2), np.eye(2), -np.eye(2)
    return M


def solved(M: np.ndarray, right: np.ndarray) -> tuple[np.ndarray | None, bool]:
    """The smallest solution in units of the columns, None if there is none, and whether it is the only one."""
    scales = np.abs(M).max(axis=0)
    scales[scales == 0.0] = 1.0
    x, _, rank, _ = np.linalg.lstsq(M / scales, right, rcond=SINGULAR)
    x = x / scales
    return (x if np.abs(M @ x - right).max() <= MISFIT * (1.0 + np.abs(right).max()) else None), rank == len(M)
