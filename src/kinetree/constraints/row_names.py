"""Names of the rows of constraints, and of those that others imply."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kinetree.constraints.loop_joint import LoopJoint
from kinetree.constraints.planar_loop_joint import PlanarLoopJoint


class RedundantRow(NamedTuple):
    """A row of a constraint that others imply.

    Attributes
    ----------
    number : int
        Among the rows of the model.
    name : str
        The constraint and the direction: "closure: moment x".
    misfit : float
        How far others imply it: the part of the row that they do not, or its error of position where they hold,
        relative to the row's natural size; 0 but for rounding in exact mechanisms.
    inexact : bool
        Whether it is left out because of an error of placements, or the decimals of a file: then it is not checked.
    """

    number: int
    name: str
    misfit: float
    inexact: bool

    def __str__(self) -> str:
        return f"{self.name} (but for {self.misfit:.2g})" if self.inexact else self.name


def row_names(model) -> tuple[str, ...]:
    """A name for each row of ``model.constraints``: "closure: force x"; coordinates are those of the successor."""
    names = []
    for c in model.constraints:
        count = c.count(model)
        loop = c.loop if isinstance(c, PlanarLoopJoint) else c
        if isinstance(loop, LoopJoint):
            joint = loop.joint.at(0.0)
            T = joint.implicit(joint.transform(joint.neutral()))[1]
            kept = c.kept if isinstance(c, PlanarLoopJoint) else range(len(T))
            names += [f"{c.label}: {_direction(T[n], n)}" for n in kept]
        else:
            names += [c.label] if count == 1 else [f"{c.label}: row {n}" for n in range(count)]
    return tuple(names)


def _direction(T, n: int) -> str:
    moment, force = (np.array([float(x) for x in part]) for part in (T.angular, T.linear))
    if np.abs(force).max() < 1e-12 or np.abs(moment).max() < 1e-12:
        word, axis = ("moment", moment) if np.abs(force).max() < 1e-12 else ("force", force)
        k = int(np.argmax(np.abs(axis)))
        if abs(axis[k]) > np.linalg.norm(axis) * (1.0 - 1e-12):
            return f"{word} {'xyz'[k]}"
        return f"{word} ({', '.join(f'{x:.3g}' for x in axis / np.linalg.norm(axis))})"
    return f"wrench {n}"
