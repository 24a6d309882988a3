"""Small models with contact for tests."""

from __future__ import annotations

import functools

import numpy as np

import kinetree as kt

BOX = (0.4, 0.3, 0.2)


@functools.cache
def body(kind: str = "box", mass: float = 2.0):
    """A box or a ball that moves freely."""
    shape = kt.model.Geometry("box", BOX) if kind == "box" else kt.model.Geometry("sphere", (0.1,))
    builder = kt.ModelBuilder(kind)
    squares = np.square(BOX)
    inertia = mass / 12.0 * (squares.sum() - squares) if kind == "box" else np.full(3, 0.4 * mass * 0.01)
    builder.add_body("body", joint=kt.joints.Free(), joint_name="free", mass=mass, inertia=np.diag(inertia))
    builder.add_geometry("body", shape)
    return builder.build()


def at(model, p=(0.0, 0.0, 0.0), turn=(1.0, 0.0, 0.0, 0.0)):
    """Positions of the body."""
    turn = np.asarray(turn) / np.linalg.norm(turn)
    return np.concatenate([p, turn])


def slope(angle: float, directions) -> dict:
    """Gravity on a floor that is inclined by an angle towards each of some directions, as numbers of a model."""
    down = 9.81 * np.sin(angle)
    numbers = down * np.cos(directions), down * np.sin(directions), np.full(len(directions), -9.81 * np.cos(angle))
    return {f"gravity.{axis}": x for axis, x in zip("xyz", numbers, strict=True)}


@functools.cache
def cluster():
    """Eight balls on one body, which is more contacts than are visited without a guard."""
    builder = kt.ModelBuilder("cluster")
    builder.add_body("body", joint=kt.joints.Free(), joint_name="free", mass=2.0, inertia=np.diag([0.02, 0.03, 0.04]))
    for k in range(8):
        p = 0.2 * np.array([(-1.0) ** k, (-1.0) ** (k // 2), 0.7 * (-1.0) ** (k // 4)])
        builder.add_geometry("body", kt.model.Geometry("sphere", (0.03,), p_BG=p, name=f"ball{k}"))
    return builder.build().with_contacts(ground=kt.collision.Ground(friction=0.5))
