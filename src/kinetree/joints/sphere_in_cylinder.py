"""Sphere in a cylinder: a ball joint whose center slides along a line of the predecessor."""

from __future__ import annotations

from dataclasses import dataclass

from kinetree.joints.contract import Joint
from kinetree.joints.spherical import QUATERNION, norm_defect, quaternion_rate, random_quaternion, turn_between, turned
from kinetree.liegroup.so3 import right_jacobian_solve
from kinetree.spatial import Force, Motion, Transform, Vector3
from kinetree.spatial.rotations import quaternion_normalize, quaternion_to_rotation


@dataclass(frozen=True, slots=True, eq=False)
class SphereInCylinder(Joint):
    """q = (displacement along the predecessor's z axis, unit quaternion), v = (its rate, angular velocity).

    The displacement's rate is in m/s along the cylinder, the angular velocity in successor coordinates. It is the loop
    joint that replaces a revolute one where a planar loop would be overconstrained: reversed, the cylinder is in the
    successor.

    Notes
    -----
    *Source* Featherstone, section 8.10: four freedoms, two constraint forces, through the center across the cylinder.

    Examples
    --------
    >>> len(SphereInCylinder().motion_subspace(SphereInCylinder().neutral()))
    4
    """

    kind = "sphere_in_cylinder"
    nq, nv = 5, 4
    position_names, position_units = ("displacement", *QUATERNION), ("m", "1", "1", "1", "1")
    velocity_names, velocity_units = ("speed", "wx", "wy", "wz"), ("m/s", "rad/s", "rad/s", "rad/s")

    def transform(self, q):
        return Transform(quaternion_to_rotation(q[1:5]), Vector3(0.0, 0.0, q[0]))

    def motion_subspace(self, q):
        cylinder = quaternion_to_rotation(q[1:5]) @ Vector3.unit(2)
        return (
            Motion(Vector3.zero(), cylinder),
            *(Motion(Vector3.unit(k), Vector3.zero()) for k in range(3)),
        )

    def bias(self, q, v):
        cylinder = quaternion_to_rotation(q[1:5]) @ Vector3.unit(2)
        return Motion(Vector3.zero(), (cylinder * v[0]).cross(Vector3(*v[1:])))

    def q_dot(self, q, v):
        return [v[0], *quaternion_rate(q[1:5], v[1:])]

    def integrate(self, q, dv):
        return [q[0] + dv[0], *turned(q[1:5], dv[1:])]

    def difference(self, q0, q1):
        return [q1[0] - q0[0], *turn_between(q0[1:5], q1[1:5])]

    def tangent_rate(self, xi, v):
        return [v[0], *right_jacobian_solve(Vector3(*xi[1:]), Vector3(*v[1:]))]

    def neutral(self):
        return [0.0, 1.0, 0.0, 0.0, 0.0]

    def random(self, rng):
        return [float(rng.uniform(-1.0, 1.0)), *random_quaternion(rng)]

    def normalize(self, q):
        return [q[0], *quaternion_normalize(q[1:5])]

    def defect(self, q):
        return [norm_defect(q[1:5])]

    def implicit(self, X):
        across = (Vector3.unit(0), Vector3.unit(1))
        return [X.r.x, X.r.y], tuple(Force(Vector3.zero(), X.E @ e) for e in across)
