"""A revolute joint whose frames coincide at another angle than zero, for re-framed models."""

from __future__ import annotations

import math
from dataclasses import dataclass

from kinetree.joints.contract import Joint
from kinetree.joints.elementary import Revolute
from kinetree.spatial import AxialRotation, Motion, Transform, Vector3
from kinetree.spatial.rotations import rz

QUARTER = 0.5 * math.pi
EXACT = ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))
"""Cosine and sine of 0, 1, 2 and 3 quarter turns."""


@dataclass(frozen=True, slots=True, eq=False)
class TurnedRevolute(Revolute):
    """Rotation by the angle ``q + zero`` about z.

    Parameters
    ----------
    axis : sequence of 3 floats
        Always (0, 0, 1).
    zero : float
        [rad]. Multiples of a quarter turn cost nothing, others 4m + 2a.

    Notes
    -----
    Not for files or builders: `Model.reframed` makes these joints when it chooses the frames of the links. The sine and
    cosine of q are combined with those of the constant; computed from the sum, they would not be among the sines and
    cosines of inputs, which kernels compute several at a time (humanoid with 29 such joints, one state: `rnea` in
    0.62 us instead of 0.87 us).
    """

    zero: float = 0.0

    kind = "turned revolute"

    @property
    def turn(self) -> AxialRotation:
        """The constant part of the rotation."""
        quarters = round(self.zero / QUARTER)
        exact = self.zero == quarters * QUARTER
        return AxialRotation(2, *(EXACT[quarters % 4] if exact else (math.cos(self.zero), math.sin(self.zero))))

    def transform(self, q):
        return Transform(self.turn @ rz(q[0]), Vector3.zero())

    def canonical(self):
        return Joint.canonical(self)

    def with_turn(self, turn: AxialRotation) -> TurnedBy:
        """The joint with another constant part, whose cosine and sine may be scalars of any kind."""
        return TurnedBy(turn)

    @classmethod
    def examples(cls, rng):
        yield cls(zero=float(rng.uniform(-math.pi, math.pi)))
        yield from (cls(zero=quarters * QUARTER) for quarters in (-1, 1, 2))


class TurnedBy(Joint):
    """Rotation about z, followed by a turn about z that is given by its cosine and sine.

    Parameters
    ----------
    turn : AxialRotation
    """

    kind = "revolute turned by a rotation"
    nq = nv = 1
    constant_subspace = True
    regroupable = Revolute().regroupable

    def __init__(self, turn: AxialRotation) -> None:
        self.turn = turn

    def transform(self, q):
        return Transform(self.turn @ rz(q[0]), Vector3.zero())

    def motion_subspace(self, q):
        return (Motion(Vector3(0.0, 0.0, 1.0), Vector3.zero()),)
