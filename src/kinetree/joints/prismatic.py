"""Prismatic joint: displacement along one axis."""

from __future__ import annotations

from dataclasses import dataclass

from kinetree.joints.axes import Axis, along, transverse, unit_axis
from kinetree.joints.contract import Joint
from kinetree.joints.fixed import half_skew
from kinetree.joints.revolute import canonical_about_z
from kinetree.spatial import Force, IdentityRotation, Motion, Transform, Vector3


@dataclass(frozen=True, slots=True, eq=False)
class Prismatic(Joint):
    """Displacement q [m] along an axis, without rotation.

    Parameters
    ----------
    axis : sequence of 3 floats
        Direction of travel, the same in predecessor and successor coordinates; normalized.

    Notes
    -----
    *Source* Featherstone, table 4.1: E = 1, r = (0, 0, q), S = e6, T = (e1 ... e5); implicit form table 8.1.

    Examples
    --------
    >>> [float(x) for x in Prismatic((1, 0, 0)).transform([0.2]).r]
    [0.2, 0.0, 0.0]
    """

    axis: Axis = (0.0, 0.0, 1.0)

    kind = "prismatic"
    nq = nv = 1
    constant_subspace = True
    regroupable = ("P.xx", "P.xy", "P.yy", "P.xz", "P.yz", "P.zz")
    position_names, position_units = ("displacement",), ("m",)
    velocity_names, velocity_units = ("speed",), ("m/s",)

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", unit_axis(self.axis, "prismatic"))

    def transform(self, q):
        return Transform(IdentityRotation(), along(self.axis, q[0]))

    def motion_subspace(self, q):
        return (Motion(Vector3.zero(), Vector3(*self.axis)),)

    def velocity(self, q, v):
        return Motion(Vector3.zero(), along(self.axis, v[0]))

    def implicit(self, X):
        n, zero = Vector3(*self.axis), Vector3.zero()
        a, b = transverse(self.axis)
        e = half_skew(X)
        delta = [a.dot(e), b.dot(e), n.dot(e), a.dot(X.r), b.dot(X.r)]
        return delta, (Force(a, zero), Force(b, zero), Force(n, zero), Force(zero, a), Force(zero, b))

    def canonical(self):
        return canonical_about_z(self)

    @classmethod
    def examples(cls, rng):
        yield from (cls(axis) for axis in ((0, 0, 1), (-1, 0, 0), (0, 1, 0), tuple(rng.normal(size=3))))
