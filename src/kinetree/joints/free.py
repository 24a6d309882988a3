"""Free joint: six degrees of freedom, for bodies that float."""

from __future__ import annotations

from dataclasses import dataclass

from kinetree.joints.contract import Joint
from kinetree.joints.spherical import (
    QUATERNION,
    norm_defect,
    quaternion_rate,
    random_quaternion,
    turn_between,
    turned,
)
from kinetree.spatial import Motion, Transform, Vector3
from kinetree.spatial.rotations import (
    left_jacobian_apply,
    left_jacobian_solve,
    quaternion_normalize,
    quaternion_to_rotation,
)
from kinetree.spatial.se3 import right_jacobian_solve


@dataclass(frozen=True, slots=True, eq=False)
class Free(Joint):
    """Unrestrained motion: q = (position, quaternion), v = (angular, linear) twist in successor coordinates.

    The position (x, y, z) [m] of the successor's origin is in predecessor coordinates, the unit quaternion is
    (w, x, y, z), and the linear velocity [m/s] is that of the successor's origin.

    Notes
    -----
    *Source* Featherstone, table 4.1 (6-DoF) and eqs. 4.12, 4.13. *Differs* the book stores the position in successor
    coordinates; in predecessor coordinates, as here, it does not move when the body spins in place.
    ``integrate`` is the exponential of SE(3), exact for a constant twist.

    Examples
    --------
    >>> Free().q_dot([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0, 2.0, 3.0])[:3]
    [1.0, 2.0, 3.0]
    """

    kind = "free"
    nq, nv = 7, 6
    constant_subspace = True
    position_names, position_units = ("x", "y", "z", *QUATERNION), ("m", "m", "m", "1", "1", "1", "1")
    velocity_names, velocity_units = ("wx", "wy", "wz", "vx", "vy", "vz"), ("rad/s",) * 3 + ("m/s",) * 3

    def transform(self, q):
        return Transform(quaternion_to_rotation(q[3:7]), Vector3(*q[:3]))

    def motion_subspace(self, q):
        return tuple(Motion.of([float(k == column) for k in range(6)]) for column in range(6))

    def velocity(self, q, v):
        return Motion(Vector3(*v[:3]), Vector3(*v[3:]))

    def q_dot(self, q, v):
        r_dot = quaternion_to_rotation(q[3:7]).inverse_apply(Vector3(*v[3:]))
        return [*r_dot, *quaternion_rate(q[3:7], v[:3])]

    def integrate(self, q, dv):
        # A constant twist draws a screw, whose chord is the left Jacobian of SO(3) times the linear step.
        turn, step = Vector3(*dv[:3]), Vector3(*dv[3:])
        chord = left_jacobian_apply(turn, step)
        moved = Vector3(*q[:3]) + quaternion_to_rotation(q[3:7]).inverse_apply(chord)
        return [*moved, *turned(q[3:7], dv[:3])]

    def difference(self, q0, q1):
        turn = turn_between(q0[3:7], q1[3:7])
        chord = quaternion_to_rotation(q0[3:7]) @ (Vector3(*q1[:3]) - Vector3(*q0[:3]))
        return [*turn, *left_jacobian_solve(Vector3(*turn), chord)]

    def tangent_rate(self, xi, v):
        return list(right_jacobian_solve(Motion.of(xi), Motion.of(v)))

    def neutral(self):
        return [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]

    def random(self, rng):
        return [*map(float, rng.uniform(-1.0, 1.0, 3)), *random_quaternion(rng)]

    def normalize(self, q):
        return [*q[:3], *quaternion_normalize(q[3:7])]

    def defect(self, q):
        return [norm_defect(q[3:7])]

    def implicit(self, X):
        return [], ()
