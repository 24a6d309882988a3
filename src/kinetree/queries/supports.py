"""Support functions of convex shapes, which certify signed distances: the largest separation over all directions.

For a unit vector n the planes across n that touch two shapes are ``separation(n)`` apart, negative where the shapes
overlap along n. Every such number is a lower bound of the signed distance, which is the largest of them (Boyd and
Vandenberghe, "Convex optimization", section 8.2).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product

import numpy as np

AXES = {"box": np.eye(3), "cylinder": np.eye(3)[2:], "capsule": np.eye(3)[2:]}  # of faces, edges and sides
ROUND = ("cylinder", "capsule")


@dataclass(frozen=True, slots=True, eq=False)
class Support:
    """A convex shape in its own coordinates: a kind with sizes, or corners."""

    kind: str
    size: tuple[float, ...] = ()
    corners: np.ndarray | None = field(default=None, repr=False)

    @property
    def axes(self) -> np.ndarray:
        """Directions of its edges and of the normals of its faces, (k, 3)."""
        return AXES.get(self.kind, np.empty((0, 3)))

    def point(self, n: np.ndarray) -> np.ndarray:
        """The point farthest along n, in the coordinates of the shape [m]."""
        if self.corners is not None:
            return self.corners[np.argmax(self.corners @ n)]
        size = np.array(self.size)
        if self.kind == "box":
            return 0.5 * size * np.sign(n)
        if self.kind == "ellipsoid":
            return size**2 * n / np.linalg.norm(size * n)
        if self.kind == "sphere":
            return size[0] * n
        along = np.array([0.0, 0.0, 0.5 * size[1] * np.sign(n[2])])
        if self.kind == "capsule":
            return along + size[0] * n
        radial = np.array([n[0], n[1], 0.0])
        length = np.linalg.norm(radial)
        return along + size[0] * radial / length if length else along


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """A convex shape at a pose in the world."""

    support: Support
    R: np.ndarray
    p: np.ndarray

    def point(self, n: np.ndarray) -> np.ndarray:
        """The point farthest along n, in the world [m]."""
        return self.p + self.R @ self.support.point(self.R.T @ n)


def separation(first: Placed, second: Placed, n: np.ndarray) -> float:
    """Distance of the planes across n that touch both shapes [m]."""
    return float(n @ (second.point(-n) - first.point(n)))


def likely_normals(first: Placed, second: Placed) -> np.ndarray:
    """Directions among which that of two penetrating shapes with faces or straight sides is, (k, 3)."""
    own = [shape.support.axes @ shape.R.T for shape in (first, second)]
    found = [*own[0], *own[1], *(np.cross(a, b) for a, b in product(*own)), second.p - first.p]
    for shape, other in ((first, second), (second, first)):
        if shape.support.kind in ROUND:  # from the axis to the center of the other
            axis, offset = shape.R[:, 2], other.p - shape.p
            found.append(offset - axis * (axis @ offset))
    lengths = np.linalg.norm(found, axis=1)
    units = np.array(found)[lengths > 1e-9] / lengths[lengths > 1e-9, None]
    return np.concatenate([units, -units])
