"""Ball joints: by a unit quaternion, by a rotation vector in charts that overlap, and with the center on a line."""

from __future__ import annotations

import math
from dataclasses import dataclass

from kinetree.joints.contract import Joint
from kinetree.joints.dual import Dual, rate_of
from kinetree.liegroup.so3 import (
    exp_so3,
    quaternion_exp,
    quaternion_log,
    right_jacobian,
    right_jacobian_apply,
    right_jacobian_solve,
)
from kinetree.spatial import Force, Motion, Transform, Vector3
from kinetree.spatial.rotations import (
    quaternion_from_rotation,
    quaternion_inverse,
    quaternion_normalize,
    quaternion_product,
    quaternion_to_rotation,
)
from kinetree.spatial.scalar import sqrt, where

QUATERNION = ("quaternion w", "quaternion x", "quaternion y", "quaternion z")


@dataclass(frozen=True, slots=True, eq=False)
class Spherical(Joint):
    """Ball joint: q is a unit quaternion (w, x, y, z), v the angular velocity in successor coordinates.

    Notes
    -----
    *Source* Featherstone, table 4.1 and eqs. 4.12 (E) and 4.13 (quaternion rates).
    ``integrate`` multiplies by the quaternion exponential, exact for constant v; it keeps the length of q up to
    round-off, so call ``normalize`` from time to time. q and -q are the same orientation, and ``difference`` takes the
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

    def loop_coordinates(self, X):
        return list(quaternion_from_rotation(X.E)), turns()


def turns() -> tuple[Force, ...]:
    """The moments along the components of the angular velocity in successor coordinates."""
    return tuple(Force(Vector3.unit(k), Vector3.zero()) for k in range(3))


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
    """``|q|^2 - 1``."""
    w, x, y, z = q
    return w * w + x * x + y * y + z * z - 1.0


def random_quaternion(rng) -> list[float]:
    """Uniformly distributed over all rotations."""
    q = rng.normal(size=4)
    return [float(x) for x in q / (q @ q) ** 0.5]


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

    def loop_coordinates(self, X):
        along = Force(Vector3.zero(), X.E @ Vector3.unit(2))
        return [X.r.z, *quaternion_from_rotation(X.E)], (along, *turns())


FULL_TURN = 2.0 * math.pi
FAR = 0.75 * FULL_TURN
"""Rotation vectors beyond this length are exchanged for the other one of the same orientation.

There the rates are at most 3.4 times the angular velocity. Well above half a turn, so that a body that sways about half
a turn does not change its coordinates back and forth.
"""


@dataclass(frozen=True, slots=True, eq=False)
class SphericalExponential(Joint):
    """Ball joint: q is the rotation vector, axis times angle [rad], and v its rate.

    Springs, limits and interpolation use three plain coordinates, without a constraint as quaternions have one.

    Notes
    -----
    Singular at full turns, ``|q|`` = 2 pi, 4 pi ...: there S has rank 1. q and ``(1 - 2 pi / |q|) q`` are the same
    orientation, so `reparameterize` goes over to the second where ``|q|`` exceeds 3/2 pi, and gives the v of the same
    angular velocity. The integrators do so after every step, except where the joint has springs or limits: these are
    functions of q. A loop of your own that adds up q calls ``kt.kinematics.reparameterize``.

    *Source* Sueda, section 2.4.8, eqs. 2.42-2.47, after Grassia (1998) and Gallego and Yezzi (2015): Q = exp([q]),
    S = R^T dR/dq, which is the right Jacobian of SO(3), here in closed form with its series at q = 0.

    *Identities* S q = q; S = 1 at q = 0.

    Examples
    --------
    >>> q, v = SphericalExponential().reparameterize([0.0, 0.0, 6.0], [0.0, 0.0, 1.0])
    >>> [round(x, 6) for x in (*q, *v)]
    [-0.0, -0.0, -0.283185, 0.0, 0.0, 1.0]
    """

    kind = "spherical_exponential"
    nq = nv = 3
    several_charts = True
    regroupable = ("m",)
    position_names, position_units = ("rotation x", "rotation y", "rotation z"), ("rad",) * 3
    velocity_names, velocity_units = ("rate x", "rate y", "rate z"), ("rad/s",) * 3

    def transform(self, q):
        return Transform(exp_so3(Vector3(*q)), Vector3.zero())

    def motion_subspace(self, q):
        J = right_jacobian(Vector3(*q))
        return tuple(Motion(Vector3(*(J[i, k] for i in range(3))), Vector3.zero()) for k in range(3))

    def velocity(self, q, v):
        return Motion(right_jacobian_apply(Vector3(*q), Vector3(*v)), Vector3.zero())

    def bias(self, q, v):
        moving = Vector3(*(Dual(x, rate) for x, rate in zip(q, v, strict=True)))
        return Motion(Vector3(*(rate_of(x) for x in right_jacobian_apply(moving, Vector3(*v)))), Vector3.zero())

    def reparameterize(self, q, v):
        q, v = Vector3(*q), Vector3(*v)
        far = q.dot(q) > FAR * FAR
        length = sqrt(where(far, q.dot(q), 1.0))
        other = q * where(far, 1.0 - FULL_TURN / length, 1.0)
        w = right_jacobian_apply(q, v)
        rate = right_jacobian_solve(other, w)  # S^-1 S_prev v_prev
        return list(other), [where(far, new, old) for new, old in zip(rate, v, strict=True)]

    def random(self, rng):
        return [float(x) for x in quaternion_log(random_quaternion(rng))]

    def implicit(self, X):
        return implicit_point(X)

    def loop_coordinates(self, X):
        """The rotation vector of at most half a turn."""
        q, zero = quaternion_log(quaternion_from_rotation(X.E)), Vector3.zero()
        columns = [right_jacobian_solve(q, Vector3.unit(k)) for k in range(3)]
        return list(q), tuple(Force(Vector3(*row), zero) for row in zip(*columns, strict=True))
