"""Rack and pinion: a wheel that rolls along a straight rack."""

from __future__ import annotations

import math
from dataclasses import dataclass

from kinetree.joints.contract import Joint
from kinetree.joints.elementary import finite, mismatch
from kinetree.spatial import Force, Motion, Transform, Vector3
from kinetree.spatial.rotations import rz


@dataclass(frozen=True, slots=True, eq=False)
class RackAndPinion(Joint):
    """The pinion turns by q about z while its center travels radius * q along the x axis of the rack (predecessor).

    Parameters
    ----------
    radius : float
        Travel per angle [m/rad], of either sign.

    Notes
    -----
    An asymmetric joint: reversed, it is another mechanism.

    *Source* Featherstone, example 4.6: E = rz(q), r = (r q, 0, 0), S = (0, 0, 1, r c, -r s, 0),
    c_J = (0, 0, 0, -r s v^2, -r c v^2, 0). The implicit form is ours.

    Examples
    --------
    >>> RackAndPinion(0.5).bias([0.0], [2.0]).linear.y
    -2.0
    """

    radius: float

    kind = "rack_and_pinion"
    nq = nv = 1
    position_names, position_units = ("angle",), ("rad",)
    velocity_names, velocity_units = ("angular velocity",), ("rad/s",)

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", finite(self.radius, "rack_and_pinion", "radius", "m/rad"))

    def transform(self, q):
        return Transform(rz(q[0]), Vector3(self.radius * q[0], 0.0, 0.0))

    def motion_subspace(self, q):
        return (Motion(Vector3(0.0, 0.0, 1.0), rz(q[0]) @ Vector3(self.radius, 0.0, 0.0)),)

    def random(self, rng):
        return [float(rng.uniform(-math.pi, math.pi))]

    def implicit(self, X):
        x, y, z, zero = Vector3.unit(0), Vector3.unit(1), Vector3.unit(2), Vector3.zero()
        u = X.E @ z
        travel = X.r.x
        if self.radius != 0.0:  # the travel determines the number of turns, E does not
            travel = self.radius * mismatch(X, x, y, travel / self.radius)
        delta = [u.y, -u.x, X.r.y, X.r.z, travel]
        T = (Force(x, zero), Force(y, zero), Force(zero, X.E @ y), Force(zero, u), Force(z * -self.radius, X.E @ x))
        return delta, T

    @classmethod
    def examples(cls, rng):
        yield from (cls(radius) for radius in (0.4, -1.3, 0.0))
