"""Revolute joint: rotation about one axis."""

from __future__ import annotations

import math
from dataclasses import dataclass

from kinetree.joints.axes import Axis, alignment, along, cardinal, moments_about, rotation_about, transverse, unit_axis
from kinetree.joints.contract import Joint
from kinetree.spatial import Force, Motion, Transform, Vector3


@dataclass(frozen=True, slots=True, eq=False)
class Revolute(Joint):
    """Rotation by the angle q about an axis through both origins.

    Parameters
    ----------
    axis : sequence of 3 floats
        Direction of the axis, the same in predecessor and successor coordinates; normalized.

    Notes
    -----
    *Source* Featherstone, table 4.1: E = rz(q), r = 0, S = e3, T = (e1, e2, e4, e5, e6); implicit form table 8.1,
    written with p = E r, the successor's origin in successor coordinates, so that delta vanishes only on the joint.

    Examples
    --------
    >>> joint = Revolute(axis=(0, 0, 2))
    >>> joint
    Revolute(axis=(0.0, 0.0, 1.0))
    >>> [float(x) for x in joint.motion_subspace([0.3])[0]]
    [0.0, 0.0, 1.0, 0.0, 0.0, 0.0]
    """

    axis: Axis = (0.0, 0.0, 1.0)

    kind = "revolute"
    nq = nv = 1
    constant_subspace = True
    position_names, position_units = ("angle",), ("rad",)
    velocity_names, velocity_units = ("angular velocity",), ("rad/s",)

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", unit_axis(self.axis, "revolute"))

    @property
    def regroupable(self) -> tuple[str, ...]:
        """Masses on the axis, first and second moments along it."""
        return ("m", *moments_about(self.axis, "h", "P"))

    def transform(self, q):
        return Transform(rotation_about(self.axis, q[0]), Vector3.zero())

    def motion_subspace(self, q):
        return (Motion(Vector3(*self.axis), Vector3.zero()),)

    def velocity(self, q, v):
        return Motion(along(self.axis, v[0]), Vector3.zero())

    def random(self, rng):
        return [float(rng.uniform(-math.pi, math.pi))]

    def implicit(self, X):
        n, zero = Vector3(*self.axis), Vector3.zero()
        a, b = transverse(self.axis)
        u = X.E @ n  # the predecessor's axis
        p = X.E @ X.r
        delta = [b.dot(u), -a.dot(u), a.dot(p), b.dot(p), n.dot(p)]
        return delta, (Force(a, zero), Force(b, zero), Force(zero, a), Force(zero, b), Force(zero, n))

    def canonical(self):
        return canonical_about_z(self)

    @classmethod
    def examples(cls, rng):
        yield from (cls(axis) for axis in ((0, 0, 1), (1, 0, 0), (0, -1, 0), (0, 0, -1), tuple(rng.normal(size=3))))
        yield cls((0.6, 0.0, -0.8))


def canonical_about_z(joint, *parameters):
    """The joint with its axis along z; a joint along x, y or z costs the same as it is."""
    if cardinal(joint.axis) is not None:
        return Joint.canonical(joint)
    return alignment(joint.axis), type(joint)((0.0, 0.0, 1.0), *parameters)
