"""Parts that closed mechanisms share: rods, checked dimensions, and keyframes of closed positions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from kinetree.arguments import array, refuse
from kinetree.constraints import Constraint
from kinetree.joints import Joint
from kinetree.model.builder import ModelBuilder
from kinetree.model.equipment import Equipment, Keyframe
from kinetree.model.model import Model

DOWN = (0.0, -9.81, 0.0)
"""Gravity of mechanisms in the x-y plane [m/s^2]."""


def at(x: float = 0.0, y: float = 0.0, z: float = 0.0, turn: float = 0.0) -> tuple:
    """The placement at a point, turned about z [m, rad]."""
    return (x, y, z), (0.0, 0.0, turn)


def positive(what: str, values, *names: str) -> list[float]:
    """As many positive numbers as names."""
    found = array(what, values, f"{len(names)} positive numbers ({', '.join(names)})", shape=(len(names),))
    if not (found > 0.0).all() or not np.isfinite(found).all():
        refuse(what, values, f"{len(names)} positive numbers ({', '.join(names)})")
    return found.tolist()


def direction(what: str, value) -> list[float]:
    """Three finite numbers."""
    found = array(what, value, "three finite numbers", shape=(3,))
    if not np.isfinite(found).all():
        refuse(what, value, "three finite numbers")
    return found.tolist()


def add_rod(
    b: ModelBuilder, name: str, parent: str, kind: Joint, placement, length: float, mass: float, joint=""
) -> None:
    """A thin rod along its x axis, on a joint of the same or another name, with the frame "<name>_tip" at its end."""
    thin = np.array([0.0, 1.0, 1.0]) * mass * length**2 / 12.0
    b.add_body(name, parent, kind, joint or name, placement, mass=mass, com=(length / 2, 0, 0), inertia=thin)
    b.add_frame(f"{name}_tip", name, at(length))


def closed(
    b: ModelBuilder,
    q: Mapping[str, float | Sequence[float]],
    loops: Sequence[Constraint],
    v: Mapping[str, float | Sequence[float]] | None = None,
) -> Model:
    """The model with its loops, and with this state as the keyframe "initial"."""
    position, velocity = (
        {joint: tuple(np.atleast_1d(np.asarray(x, dtype=float)).tolist()) for joint, x in values.items()}
        for values in (q, v or {})
    )
    b.equipment += Equipment(keyframes=(Keyframe("initial", position, velocity),))
    return b.build().with_constraints(*loops)
