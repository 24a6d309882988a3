"""Cylindrical joint: rotation about an axis and displacement along it, independent of each other."""

from __future__ import annotations

import math
from dataclasses import dataclass

from kinetree.joints.axes import Axis, along, moments_about, rotation_about, transverse, unit_axis
from kinetree.joints.contract import Joint
from kinetree.joints.revolute import canonical_about_z
from kinetree.spatial import Force, Motion, Transform, Vector3


@dataclass(frozen=True, slots=True, eq=False)
class Cylindrical(Joint):
    """Rotation by q[0] about an axis and displacement q[1] along it.

    Parameters
    ----------
    axis : sequence of 3 floats
        Direction of the axis, the same in predecessor and successor coordinates; normalized.

    Notes
    -----
    *Source* Featherstone, table 4.1: E = rz(q1), r = (0, 0, q2), S = (e3, e6), T = (e1, e2, e4, e5);
    implicit form table 8.1 and example 8.1: the error is that of the axis as a line, E (n x r).

    Examples
    --------
    >>> Cylindrical().position_names
    ('angle', 'displacement')
    """

    axis: Axis = (0.0, 0.0, 1.0)

    kind = "cylindrical"
    nq = nv = 2
    constant_subspace = True
    position_names, position_units = ("angle", "displacement"), ("rad", "m")
    velocity_names, velocity_units = ("angular velocity", "speed"), ("rad/s", "m/s")

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", unit_axis(self.axis, "cylindrical"))

    @property
    def regroupable(self) -> tuple[str, ...]:
        return moments_about(self.axis, "P")

    def transform(self, q):
        return Transform(rotation_about(self.axis, q[0]), along(self.axis, q[1]))

    def motion_subspace(self, q):
        n, zero = Vector3(*self.axis), Vector3.zero()
        return Motion(n, zero), Motion(zero, n)

    def velocity(self, q, v):
        return Motion(along(self.axis, v[0]), along(self.axis, v[1]))

    def random(self, rng):
        return [float(rng.uniform(-math.pi, math.pi)), float(rng.uniform(-1.0, 1.0))]

    def implicit(self, X):
        n, zero = Vector3(*self.axis), Vector3.zero()
        a, b = transverse(self.axis)
        u, m = X.E @ n, X.E @ n.cross(X.r)
        delta = [b.dot(u), -a.dot(u), b.dot(m), -a.dot(m)]
        return delta, (Force(a, zero), Force(b, zero), Force(zero, a), Force(zero, b))

    def canonical(self):
        return canonical_about_z(self)

    @classmethod
    def examples(cls, rng):
        yield from (cls(axis) for axis in ((0, 0, 1), (0, -1, 0), tuple(rng.normal(size=3))))
