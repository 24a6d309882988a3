"""Spherical joint: free rotation about a point, by a unit quaternion."""

from __future__ import annotations

from dataclasses import dataclass

from kinetree.joints.contract import Joint
from kinetree.liegroup.so3 import quaternion_exp, quaternion_log, right_jacobian_solve
from kinetree.spatial import Force, Motion, Transform, Vector3
from kinetree.spatial.rotations import (
    quaternion_inverse,
    quaternion_normalize,
    quaternion_product,
    quaternion_to_rotation,
)

QUATERNION = ("quaternion w", "quaternion x", "quaternion y", "quaternion z")


@dataclass(frozen=True, slots=True, eq=False)
class Spherical(Joint):
    """Ball joint: q is a unit quaternion (w, x, y, z), v the angular velocity in successor coordinates.

    Notes
    -----
    *Source* Featherstone, table 4.1 and eqs. 4.12 (E) and 4.13 (quaternion rates).
    ``integrate`` multiplies by the quaternion exponential, exact for constant v; it keeps the length of q up to
    round-off, so call ``normalize`` once in a while. q and -q are the same orientation, and ``difference`` takes the
    shorter way.

    Examples
    --------
    >>> Spherical().neutral()
    [1.0, 0.0, 0.0, 0.0]
    >>> Spherical().q_dot([1.0, 0.0, 0.0, 0.0], [2.0, 0.0, 0.0])[1:]
    [1.0, 0.0, 0.0]
    """

    kind = "spherical"
    nq, nv = 4, 3
    constant_subspace = True
    regroupable = ("m",)
    position_names, position_units = QUATERNION, ("1",) * 4
    velocity_names, velocity_units = ("wx", "wy", "wz"), ("rad/s",) * 3

    def transform(self, q):
        return Transform(quaternion_to_rotation(q), Vector3.zero())

    def motion_subspace(self, q):
        return tuple(Motion(Vector3.unit(k), Vector3.zero()) for k in range(3))

    def velocity(self, q, v):
        return Motion(Vector3(*v), Vector3.zero())

    def q_dot(self, q, v):
        return quaternion_rate(q, v)

    def integrate(self, q, dv):
        return turned(q, dv)

    def difference(self, q0, q1):
        return turn_between(q0, q1)

    def tangent_rate(self, xi, v):
        return list(right_jacobian_solve(Vector3(*xi), Vector3(*v)))

    def neutral(self):
        return [1.0, 0.0, 0.0, 0.0]

    def random(self, rng):
        return random_quaternion(rng)

    def normalize(self, q):
        return list(quaternion_normalize(q))

    def defect(self, q):
        return [norm_defect(q)]

    def implicit(self, X):
        return implicit_point(X)


def implicit_point(X: Transform) -> tuple[list, tuple[Force, ...]]:
    """The origins coincide: delta = E r, and T the three forces through the point (table 8.1, spherical)."""
    return list(X.E @ X.r), tuple(Force(Vector3.zero(), Vector3.unit(k)) for k in range(3))


def quaternion_rate(q, w) -> list:
    """dq/dt = q (0, w) / 2 with w in successor coordinates (eq. 4.13)."""
    a, b, c, d = q
    x, y, z = (0.5 * w_k for w_k in w)
    return [-(b * x + c * y + d * z), a * x + c * z - d * y, a * y + d * x - b * z, a * z + b * y - c * x]


def turned(q, rotation) -> list:
    """q times the exponential of a rotation vector in successor coordinates [rad]."""
    return list(quaternion_product(q, quaternion_exp(Vector3(*rotation))))


def turn_between(q0, q1) -> list:
    """The rotation vector of at most half a turn that takes q0 to q1, in the coordinates of q0."""
    return list(quaternion_log(quaternion_product(quaternion_inverse(q0), q1)))


def norm_defect(q):
    """|q|^2 - 1."""
    w, x, y, z = q
    return w * w + x * x + y * y + z * z - 1.0


def random_quaternion(rng) -> list[float]:
    """Uniformly distributed over all rotations."""
    q = rng.normal(size=4)
    return [float(x) for x in q / (q @ q) ** 0.5]
