"""Translational joint: displacement in all three directions, without rotation."""

from __future__ import annotations

from dataclasses import dataclass

from kinetree.joints.contract import Joint
from kinetree.joints.fixed import half_skew
from kinetree.joints.prismatic import Prismatic
from kinetree.spatial import Force, IdentityRotation, Motion, Transform, Vector3


@dataclass(frozen=True, slots=True, eq=False)
class Translational(Joint):
    """Displacement q = (x, y, z) [m] without rotation; v is its rate.

    Notes
    -----
    *Source* Sueda, section 2.4.4, eqs. 2.27, 2.28; the implicit form is ours: the moments are those of the zero-DoF
    joint in table 8.1 of Featherstone. Sueda's planar joint (2.4.3), a displacement in two directions, is
    ``Composite((Prismatic((1, 0, 0)), Prismatic((0, 1, 0))))``.

    Examples
    --------
    >>> Translational().transform([1.0, 2.0, 3.0]).r
    Vector3(1.0, 2.0, 3.0)
    """

    kind = "translational"
    nq = nv = 3
    constant_subspace = True
    regroupable = Prismatic.regroupable
    position_names, position_units = ("x", "y", "z"), ("m",) * 3
    velocity_names, velocity_units = ("vx", "vy", "vz"), ("m/s",) * 3

    def transform(self, q):
        return Transform(IdentityRotation(), Vector3(*q))

    def motion_subspace(self, q):
        return tuple(Motion(Vector3.zero(), Vector3.unit(k)) for k in range(3))

    def velocity(self, q, v):
        return Motion(Vector3.zero(), Vector3(*v))

    def implicit(self, X):
        return list(half_skew(X)), tuple(Force(Vector3.unit(k), Vector3.zero()) for k in range(3))
