"""Free joints: six degrees of freedom, for bodies that float; velocities are twists, or those of six points."""

from __future__ import annotations

from dataclasses import dataclass

from kinetree.joints.contract import Joint
from kinetree.joints.spherical import QUATERNION, norm_defect, quaternion_rate, random_quaternion, turn_between, turned
from kinetree.liegroup.se3 import right_jacobian_solve
from kinetree.liegroup.so3 import exp_so3, left_jacobian_apply, left_jacobian_solve
from kinetree.liegroup.unified import Projection
from kinetree.spatial import Force, Motion, Transform, Vector3
from kinetree.spatial.rotations import quaternion_from_rotation, quaternion_normalize, quaternion_to_rotation


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
        # The path of a constant twist is a screw, whose chord is the left Jacobian of SO(3) times the linear step.
        turn, step = Vector3(*dv[:3]), Vector3(*dv[3:])
        chord = left_jacobian_apply(turn, step)
        moved = Vector3(*q[:3]) + quaternion_to_rotation(q[3:7]).inverse_apply(chord)
        return [*moved, *turned(q[3:7], dv[:3])]

    def straight_step(self, q, v, h):
        turn, u = [h * w for w in v[:3]], Vector3(*v[3:])
        moved = Vector3(*q[:3]) + quaternion_to_rotation(q[3:7]).inverse_apply(h * u)
        return [*moved, *turned(q[3:7], turn)], [*v[:3], *(exp_so3(Vector3(*turn)) @ u)]

    def straight_rate(self, q, v):
        return [0.0, 0.0, 0.0, *Vector3(*v[3:]).cross(Vector3(*v[:3]))]

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

    def loop_coordinates(self, X):
        units = tuple(Force.of([float(k == n) for k in range(6)]) for n in range(6))
        return [*X.r, *quaternion_from_rotation(X.E)], units


@dataclass(frozen=True, slots=True, eq=False)
class FreeLocal(Joint):
    """Unrestrained motion: q = (position in successor coordinates, quaternion), v = twist in successor coordinates.

    The position (x, y, z) [m] is E r: it moves when the body spins, the faster the farther it is. `Free` is the better
    choice for bodies that go far.

    Notes
    -----
    *Source* Featherstone, table 4.1 (6-DoF): r = E^-1 (q5, q6, q7), S = 1. Example 4.5 does not print its rates:
    ``r-dot = v - w x r`` with the position as stored here.

    Examples
    --------
    >>> FreeLocal().q_dot([5.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0, 0.0, 0.0])[:3]
    [0.0, -5.0, 0.0]
    """

    kind = "free_local"
    nq, nv = 7, 6
    constant_subspace = True
    position_names, position_units = Free.position_names, Free.position_units
    velocity_names, velocity_units = Free.velocity_names, Free.velocity_units
    motion_subspace, velocity, tangent_rate, implicit = (
        Free.motion_subspace, Free.velocity, Free.tangent_rate, Free.implicit,
    )  # fmt: skip
    neutral, random, normalize, defect = Free.neutral, Free.random, Free.normalize, Free.defect

    def loop_coordinates(self, X):
        (_, _, _, *quaternion), W = FREE.loop_coordinates(X)
        return [*(X.E @ X.r), *quaternion], W

    def transform(self, q):
        E = quaternion_to_rotation(q[3:7])
        return Transform(E, E.inverse_apply(Vector3(*q[:3])))

    def q_dot(self, q, v):
        w, p = Vector3(*v[:3]), Vector3(*q[:3])
        return [*(Vector3(*v[3:]) - w.cross(p)), *quaternion_rate(q[3:7], v[:3])]

    def integrate(self, q, dv):
        # The chord of the screw in the axes of the start, and all of it seen from the axes of the end.
        turn, step = Vector3(*dv[:3]), Vector3(*dv[3:])
        reached = Vector3(*q[:3]) + left_jacobian_apply(turn, step)
        return [*(exp_so3(turn) @ reached), *turned(q[3:7], dv[:3])]

    straight_rate = Free.straight_rate

    def straight_step(self, q, v, h):
        turn = Vector3(*(h * w for w in v[:3]))
        E, u = exp_so3(turn), Vector3(*v[3:])
        return [*(E @ (Vector3(*q[:3]) + h * u)), *turned(q[3:7], list(turn))], [*v[:3], *(E @ u)]

    def difference(self, q0, q1):
        turn = Vector3(*turn_between(q0[3:7], q1[3:7]))
        chord = exp_so3(turn).inverse_apply(Vector3(*q1[:3])) - Vector3(*q0[:3])
        return [*turn, *left_jacobian_solve(turn, chord)]


FREE = Free()
CUBE = Projection.hexahedral()


@dataclass(frozen=True, slots=True, eq=False)
class FreeUnified(Joint):
    """Unrestrained motion: q = (position, quaternion), v = w, the velocities ``b_i . v(y_i)`` of six points.

    Positions are those of `Free`. The columns of S are those of D^-1, which are constant, so every algorithm and every
    integrator runs in these coordinates: `crba` gives M, `rnea` the force M dw/dt + Gamma(w) w, and generalized forces
    are forces [N] along b_i at y_i.

    Parameters
    ----------
    projection : Projection
        Points and directions in successor coordinates; by default the hexahedral one with half edges of 1 m, whose D
        is orthogonal.

    Notes
    -----
    *Source* Holzinger, Gerstmayr, Schoeberl, eqs. 18 to 27, 51 to 56, 71, 72. *Differs* see
    :mod:`kinetree.liegroup.unified`.

    *Identities* S = D^-1; M = D^-T I D^-1; energy and motion do not depend on the projection.

    See Also
    --------
    Free : the same motion with the twist as its velocity.

    Examples
    --------
    >>> joint = FreeUnified()
    >>> joint.q_dot(joint.neutral(), joint.projection.coordinates(Motion.of([0.0, 0.0, 2.0, 0.5, 0.0, 0.0])))[0]
    0.5
    """

    projection: Projection = CUBE

    kind = "free_unified"
    nq, nv = 7, 6
    constant_subspace = True
    position_names, position_units = Free.position_names, Free.position_units
    velocity_names, velocity_units = ("w1", "w2", "w3", "w4", "w5", "w6"), ("m/s",) * 6
    transform, neutral, random, normalize, defect, implicit = (
        Free.transform, Free.neutral, Free.random, Free.normalize, Free.defect, Free.implicit,
    )  # fmt: skip

    def loop_coordinates(self, X):
        return FREE.loop_coordinates(X)[0], self.projection.forces

    def motion_subspace(self, q):
        return self.projection.motions

    def velocity(self, q, v):
        return self.projection.twist(v)

    def q_dot(self, q, v):
        return FREE.q_dot(q, list(self.projection.twist(v)))

    def integrate(self, q, dv):
        return FREE.integrate(q, list(self.projection.twist(dv)))

    def straight_step(self, q, v, h):
        q, V = FREE.straight_step(q, list(self.projection.twist(v)), h)
        return q, self.projection.coordinates(Motion.of(V))

    def straight_rate(self, q, v):
        return self.projection.coordinates(Motion.of(FREE.straight_rate(q, list(self.projection.twist(v)))))

    def difference(self, q0, q1):
        return self.projection.coordinates(Motion.of(FREE.difference(q0, q1)))

    def tangent_rate(self, xi, v):
        n, V = self.projection.twist(xi), self.projection.twist(v)
        return self.projection.coordinates(right_jacobian_solve(n, V))

    @classmethod
    def examples(cls, rng):
        yield cls()
        yield cls(Projection.hexahedral(0.3, 0.2, 0.5))
        yield cls(Projection.tetrahedral())
        yield cls(Projection(rng.normal(size=(6, 3)).tolist(), rng.normal(size=(6, 3)).tolist()))
