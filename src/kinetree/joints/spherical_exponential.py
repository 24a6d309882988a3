"""Spherical joint by a rotation vector: three coordinates for three freedoms, in charts that overlap."""

from __future__ import annotations

import math
from dataclasses import dataclass

from kinetree.joints.contract import Joint
from kinetree.joints.dual import Dual, rate_of
from kinetree.joints.spherical import implicit_point, random_quaternion
from kinetree.liegroup.so3 import exp_so3, quaternion_log, right_jacobian, right_jacobian_apply, right_jacobian_solve
from kinetree.spatial import Motion, Transform, Vector3
from kinetree.spatial.scalar import sqrt, where

FULL_TURN = 2.0 * math.pi
FAR = 0.75 * FULL_TURN
"""Rotation vectors beyond this length are exchanged for the other one of the same orientation.

There the rates are at most 3.4 times the angular velocity. Well above half a turn, so that a body that sways about half
a turn does not change its coordinates back and forth.
"""


@dataclass(frozen=True, slots=True, eq=False)
class SphericalExponential(Joint):
    """Ball joint: q is the rotation vector, axis times angle [rad], and v its rate.

    Springs, limits and interpolation see three plain coordinates, without a constraint as quaternions have one.

    Notes
    -----
    Singular at full turns, |q| = 2 pi, 4 pi ...: there S has rank 1. q and (1 - 2 pi / |q|) q are the same orientation,
    so `reparameterize` goes over to the second where |q| exceeds 3/2 pi, and gives the v of the same angular velocity.
    The integrators do so after every step, except where the joint has springs or limits: these are functions of q. A
    loop of your own that adds up q calls ``kt.kinematics.reparameterize``.

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
