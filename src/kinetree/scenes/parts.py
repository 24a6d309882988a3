"""Bodies of the scenes: cuboids of density 1, chains, and the builder that takes them."""

from __future__ import annotations

import math

import numpy as np

from kinetree.joints import Revolute
from kinetree.model.builder import WORLD, ModelBuilder

STRAIGHT = (0.0, 0.0, 0.0)
ABOUT_Y = Revolute((0.0, 1.0, 0.0))
LINK, ALONG = (10.0, 1.0, 1.0), (5.0, 0.0, 0.0)  # the usual body along x, and its center of mass
HANGING, BELOW = (1.0, 1.0, 10.0), (0.0, 0.0, -5.0)  # the usual body along z


def cuboid(a: float, b: float, c: float) -> dict:
    """Mass, and inertia about the center of mass, of a cuboid with these sides."""
    m = a * b * c
    return {"mass": m, "inertia": np.diag([b * b + c * c, a * a + c * c, a * a + b * b]) * (m / 12.0)}


def cylinder_along_y(radius: float, length: float) -> dict:
    """The same of a cylinder."""
    m = math.pi * radius**2 * length
    across = m * (3.0 * radius**2 + length**2) / 12.0
    return {"mass": m, "inertia": np.diag([across, 0.5 * m * radius**2, across])}


def bar(length: float, x: float, z: float, side: float = 0.5) -> dict:
    """The same of a cuboid whose longest side points from the origin to (x, 0, z)."""
    found, (c, s) = cuboid(length, side, side), np.array([x, z]) / math.hypot(x, z)
    R = np.array([[c, 0.0, -s], [0.0, 1.0, 0.0], [s, 0.0, c]])
    return {"mass": found["mass"], "inertia": R @ found["inertia"] @ R.T}


class Bodies(ModelBuilder):
    """A builder whose bodies are "b1", "b2", ... on joints "j1", "j2", ..., numbered as in the source.

    Parameters
    ----------
    name : str
    gravity : (3,) sequence of float
        [cm/s^2]
    """

    def __init__(self, name: str, gravity=(0.0, 0.0, -980.0)) -> None:
        super().__init__(name, gravity=gravity)
        self.centers: dict[str, tuple] = {WORLD: STRAIGHT}

    def add(self, parent: int, joint, at=STRAIGHT, sides=LINK, com=ALONG, rpy=STRAIGHT, **more) -> None:
        """Add the next body on a parent by its number, 0 for the world."""
        n = len(self.centers)
        given = cuboid(*sides) if sides else {}
        self.add_body(
            f"b{n}", WORLD if parent == 0 else f"b{parent}", joint, f"j{n}", (at, rpy), com=com, **given, **more
        )
        self.centers[f"b{n}"] = com

    def point(self, name: str, body: int, at) -> str:
        """A frame in a point of a body, given from its center of mass; its name."""
        owner = WORLD if body == 0 else f"b{body}"
        self.add_frame(name, owner, (tuple(np.add(self.centers[owner], at)), STRAIGHT))
        return name


def chain(name: str, count: int, gravity=(0.0, 0.0, -980.0), turned: float = 0.0, **more) -> Bodies:
    """Links of 10 x 1 x 1 along x on hinges about y; the first frame turned about y."""
    b = Bodies(name, gravity)
    for n in range(count):
        b.add(n, ABOUT_Y, (10.0 if n else 0.0, 0.0, 0.0), rpy=(0.0, 0.0 if n else turned, 0.0), **more)
    return b
