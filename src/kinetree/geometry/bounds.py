"""The box along the body's axes that a shape fills."""

from __future__ import annotations

from itertools import product

import numpy as np

from kinetree.arguments import checked
from kinetree.geometry.meshes import one_shape, read_mesh
from kinetree.model.parts import Geometry


@checked(shape=one_shape)
def bounding_box(shape: Geometry) -> tuple[np.ndarray, np.ndarray]:
    """Smallest box along the axes of the body that holds a shape.

    Parameters
    ----------
    shape : Geometry
        Meshes are read, which needs trimesh; primitives need nothing.

    Returns
    -------
    lower, upper : (3,) array
        Opposite corners in body coordinates [m]; a plane is infinite, but along an axis of the body that it is normal
        to.

    Raises
    ------
    GeometryError
        If a mesh cannot be read. It need not bound a solid.

    Examples
    --------
    >>> lower, upper = bounding_box(Geometry("capsule", (0.1, 0.4), p_BG=(0.0, 0.0, 1.0)))
    >>> lower.round(9).tolist(), upper.round(9).tolist()
    ([-0.1, -0.1, 0.7], [0.1, 0.1, 1.3])
    """
    if shape.kind == "mesh":
        mesh = read_mesh(shape)
        corners = mesh.vertices[np.unique(mesh.faces)] @ shape.R_BG.T + shape.p_BG
        return corners.min(axis=0), corners.max(axis=0)
    if shape.kind == "heightfield":
        x, y, depth = shape.size
        low, high = (-x / 2.0, -y / 2.0, -depth), (x / 2.0, y / 2.0, max(shape.heights.max(), -depth))
        corners = np.array(list(product(*zip(low, high, strict=True)))) @ shape.R_BG.T + shape.p_BG
        return corners.min(axis=0), corners.max(axis=0)
    reach = _reach(shape)
    return shape.p_BG - reach, shape.p_BG + reach


def _reach(shape: Geometry) -> np.ndarray:
    """Half the width along each axis of the body: the support function of a shape symmetric about its origin."""
    R, size = shape.R_BG, shape.size
    along, across = np.abs(R[:, 2]), np.hypot(R[:, 0], R[:, 1])  # of the shape's z axis and of its xy plane
    match shape.kind:
        case "box":
            return np.abs(R) @ np.array(size) / 2.0
        case "sphere":
            return np.full(3, size[0])
        case "ellipsoid":
            return np.sqrt((R * np.array(size)) ** 2 @ np.ones(3))
        case "cylinder":
            return along * size[1] / 2.0 + across * size[0]
        case "capsule":
            return along * size[1] / 2.0 + size[0]
        case _:  # a plane reaches nowhere along its normal, and without end in all other directions
            return np.where(across > 1e-12, np.inf, 0.0)
