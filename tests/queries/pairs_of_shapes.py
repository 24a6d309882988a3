"""Two shapes, one on the world and one that moves freely; and the signed distance by support functions."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation

import kinetree as kt
from kinetree.model import Geometry

SHAPES = {
    "box": (0.3, 0.2, 0.1),
    "sphere": (0.15,),
    "capsule": (0.1, 0.3),
    "cylinder": (0.1, 0.3),
    "ellipsoid": (0.1, 0.2, 0.3),
    "plane": (),
}


def two_shapes(first: Geometry, second: Geometry):
    """A model of the first shape, on the world, and the second on a free body."""
    b = kt.ModelBuilder("two")
    b.add_geometry("world", first)
    b.add_body("free", joint=kt.joints.Free(), mass=1.0, inertia=(1.0, 1.0, 1.0), geometry=[second])
    return b.build()


def pair(a: str, b: str, **options):
    """Two shapes of the table, named "a" and "b"."""
    return two_shapes(Geometry(a, SHAPES[a], name="a", **options), Geometry(b, SHAPES[b], name="b"))


def random_q(rng, least: float = 0.05, most: float = 0.6) -> np.ndarray:
    """A pose at a random distance."""
    x, y, z, w = Rotation.random(random_state=rng).as_quat()
    u = rng.normal(size=3)
    return np.array([*(u / np.linalg.norm(u) * rng.uniform(least, most)), w, x, y, z])


def rotation_of(q) -> np.ndarray:
    return Rotation.from_quat(np.roll(q[3:], -1)).as_matrix()


def support(kind: str, size, n: np.ndarray) -> float:
    """Largest coordinate along n of a shape about its center."""
    size = np.asarray(size)
    if kind == "box":
        return float(np.abs(n) @ size / 2.0)
    if kind == "sphere":
        return size[0] * np.linalg.norm(n)
    if kind == "ellipsoid":
        return float(np.linalg.norm(size * n))
    along = abs(n[2]) * size[1] / 2.0
    return along + size[0] * (np.hypot(n[0], n[1]) if kind == "cylinder" else np.linalg.norm(n))


def separation(a: str, b: str, q, n: np.ndarray) -> float:
    """Distance of the two planes across n that touch both shapes; the signed distance is the largest of all."""
    R = rotation_of(q)
    return float(n @ q[:3] - support(a, SHAPES[a], n) - support(b, SHAPES[b], R.T @ n))


def signed_distance(a: str, b: str, q, start: np.ndarray) -> float:
    """The largest separation near a direction, by a search over two angles."""
    frame = np.linalg.qr(np.column_stack([start, np.eye(3)]))[0]
    frame[:, 0] = start

    def cost(x):
        n = frame @ np.array([1.0, *x])
        return -separation(a, b, q, n / np.linalg.norm(n))

    options = {"xatol": 1e-9, "fatol": 1e-15, "maxiter": 2000}
    return -minimize(cost, [0.0, 0.0], method="Nelder-Mead", options=options).fun
