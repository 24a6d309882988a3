"""Planar joints: the successor slides and turns in the xy plane of the predecessor."""

from __future__ import annotations

import math
from dataclasses import dataclass

from kinetree.joints.contract import Joint
from kinetree.joints.elementary import angle_about
from kinetree.spatial import Force, Motion, Transform, Vector3
from kinetree.spatial.rotations import rz
from kinetree.spatial.scalar import sincos, where


@dataclass(frozen=True, slots=True, eq=False)
class Planar(Joint):
    """Motion in the plane: q = (angle, x, y), v = (w, vx, vy).

    The position (x, y) of the successor's origin is in predecessor coordinates; the velocity is in successor
    coordinates. So q_dot is not v, although nq = nv = 3.

    Notes
    -----
    *Source* Featherstone, table 4.1 and example 4.5. *Differs* With the printed r, the constant S = (e3, e4, e5) is not
    the subspace of q_dot, and the printed rate matrix belongs to other velocity variables; here (q2, q3)-dot =
    [[c, -s], [s, c]] (vx, vy), and a body that spins far from the origin has a slow position.
    ``integrate`` is the exponential of SE(2), exact for constant v; ``difference`` keeps whole turns of the angle.

    Examples
    --------
    >>> import math
    >>> [round(rate, 12) for rate in Planar().q_dot([math.pi / 2, 5.0, 0.0], [1.0, 2.0, 0.0])]
    [1.0, 0.0, 2.0]
    """

    kind = "planar"
    nq = nv = 3
    constant_subspace = True
    regroupable = ("P.zz",)
    position_names, position_units = ("angle", "x", "y"), ("rad", "m", "m")
    velocity_names, velocity_units = ("angular velocity", "vx", "vy"), ("rad/s", "m/s", "m/s")

    def transform(self, q):
        return Transform(rz(q[0]), Vector3(q[1], q[2], 0.0))

    def motion_subspace(self, q):
        zero = Vector3.zero()
        return (
            Motion(Vector3(0.0, 0.0, 1.0), zero),
            Motion(zero, Vector3(1.0, 0.0, 0.0)),
            Motion(zero, Vector3(0.0, 1.0, 0.0)),
        )

    def velocity(self, q, v):
        return Motion(Vector3(0.0, 0.0, v[0]), Vector3(v[1], v[2], 0.0))

    def q_dot(self, q, v):
        x_dot, y_dot = _turned(q[0], v[1], v[2])
        return [v[0], x_dot, y_dot]

    def integrate(self, q, dv):
        # The path for constant v is an arc; its chord has the direction of half the turn and the length v sinc(w / 2).
        half = 0.5 * dv[0]
        x, y = _turned(q[0] + half, dv[1], dv[2])
        chord = _sinc(half)
        return [q[0] + dv[0], q[1] + chord * x, q[2] + chord * y]

    def straight_step(self, q, v, h):
        x, y = _turned(q[0], h * v[1], h * v[2])
        return [q[0] + h * v[0], q[1] + x, q[2] + y], [v[0], *_turned(-(h * v[0]), v[1], v[2])]

    def straight_rate(self, q, v):
        return [0.0, v[0] * v[2], -(v[0] * v[1])]

    def difference(self, q0, q1):
        turn = q1[0] - q0[0]
        half = 0.5 * turn
        x, y = _turned(-(q0[0] + half), q1[1] - q0[1], q1[2] - q0[2])
        chord = _sinc(half)
        return [turn, x / chord, y / chord]

    def random(self, rng):
        return [float(rng.uniform(-math.pi, math.pi)), *map(float, rng.uniform(-1.0, 1.0, 2))]

    def implicit(self, X):
        u = X.E @ Vector3(0.0, 0.0, 1.0)  # the predecessor's normal
        basis = tuple(Force.of([float(k == row) for k in range(6)]) for row in (0, 1, 5))
        return [u.y, -u.x, X.r.z], basis

    wraps = (True, False, False)

    def loop_coordinates(self, X):
        angle, turn = angle_about(X, Vector3.unit(0), Vector3.unit(1))
        s, c = sincos(angle)
        slides = (Force(Vector3.zero(), X.E @ e) for e in (Vector3(c, s, 0.0), Vector3(-s, c, 0.0)))
        return [angle, X.r.x, X.r.y], (turn, *slides)


@dataclass(frozen=True, slots=True, eq=False)
class PlanarLocal(Joint):
    """Motion in the plane: q = (angle, x, y), v = (w, vx, vy), all but the angle in successor coordinates.

    The position (x, y) of the successor's origin is in the axes of the successor, so it moves when the body spins, the
    faster the farther it is: `Planar` is the better choice for bodies that go far.

    Notes
    -----
    *Source* Featherstone, table 4.1: E = rz(q1), r = (c q2 - s q3, s q2 + c q3, 0), S = (e3, e4, e5). *Differs* Example
    4.5 gives the rates for other velocity variables than those of this S, which are those of
    :class:`~kinetree.joints.split.PlanarSplit`; here q2-dot = vx + w q3, q3-dot = vy - w q2.

    Examples
    --------
    >>> PlanarLocal().q_dot([0.0, 5.0, 0.0], [1.0, 2.0, 0.0])
    [1.0, 2.0, -5.0]
    """

    kind = "planar_local"
    nq = nv = 3
    constant_subspace = True
    regroupable = Planar.regroupable
    position_names, position_units = Planar.position_names, Planar.position_units
    velocity_names, velocity_units = Planar.velocity_names, Planar.velocity_units
    motion_subspace, velocity = Planar.motion_subspace, Planar.velocity
    random, implicit, wraps = Planar.random, Planar.implicit, Planar.wraps

    def loop_coordinates(self, X):
        (angle, x, y), W = Planar().loop_coordinates(X)
        return [angle, *_turned(-angle, x, y)], W

    def transform(self, q):
        E = rz(q[0])
        return Transform(E, E.inverse_apply(Vector3(q[1], q[2], 0.0)))

    def q_dot(self, q, v):
        return [v[0], v[1] + v[0] * q[2], v[2] - v[0] * q[1]]

    def integrate(self, q, dv):
        # The chord of the arc in the axes of the start, and all of it seen from the axes of the end.
        _, x, y = Planar().integrate([0.0, q[1], q[2]], dv)
        return [q[0] + dv[0], *_turned(-dv[0], x, y)]

    straight_rate = Planar.straight_rate

    def straight_step(self, q, v, h):
        x, y = _turned(-(h * v[0]), q[1] + h * v[1], q[2] + h * v[2])
        return [q[0] + h * v[0], x, y], [v[0], *_turned(-(h * v[0]), v[1], v[2])]

    def difference(self, q0, q1):
        turn = q1[0] - q0[0]
        return Planar().difference([0.0, q0[1], q0[2]], [turn, *_turned(turn, q1[1], q1[2])])


def _turned(angle, x, y):
    s, c = sincos(angle)
    return c * x - s * y, s * x + c * y


def _sinc(x):
    """sin(x) / x; the series below 0.01 is exact to round-off (next term x^8 / 9! < 3e-22)."""
    square = x * x
    small = square < 1e-4
    s, _ = sincos(x)
    series = 1.0 - square / 6.0 * (1.0 - square / 20.0 * (1.0 - square / 42.0))
    return where(small, series, s / where(small, 1.0, x))
