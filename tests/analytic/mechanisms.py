"""The mechanisms of the closed-form problems."""

from __future__ import annotations

import numpy as np

import kinetree as kt
from kinetree.joints import Free, Prismatic, Revolute, Spherical

G = 9.81


def pendulum(length: float = 1.0, mass: float = 1.0, **passive):
    """A point mass on a rod that turns about -y: hanging at q = 0, at (sin q, 0, -cos q) times the length."""
    b = kt.ModelBuilder("pendulum")
    b.add_body("bob", joint=Revolute((0, -1, 0)), joint_name="hinge", mass=mass, com=(0, 0, -length),
               inertia=np.zeros((3, 3)), **passive)  # fmt: skip
    return b.build()


def slider(mass: float = 2.0, axis=(1.0, 0.0, 0.0), **passive):
    """A mass on a rail along the axis."""
    b = kt.ModelBuilder("slider")
    b.add_body("mass", joint=Prismatic(axis), joint_name="rail", mass=mass, inertia=np.eye(3), **passive)
    return b.build()


def rigid_body(moments, mass: float = 1.0, joint=None):
    """One body with these principal moments about its origin, free or on a spherical joint, without gravity."""
    b = kt.ModelBuilder("top")
    b.add_body("body", joint=joint or Free(), joint_name="joint", mass=mass, inertia=np.diag(moments))
    return b.build().replace(gravity=(0.0, 0.0, 0.0))


def ball(moments):
    """One body on a spherical joint through its center of mass."""
    return rigid_body(moments, joint=Spherical())


def rotation_matrix(quaternion) -> np.ndarray:
    """R_WB of unit quaternions (w, x, y, z), shape (..., 3, 3)."""
    w, x, y, z = np.moveaxis(np.asarray(quaternion), -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))
