"""Elementary joints: no freedom, rotation about and displacement along one axis, displacement in all directions.

Their motion subspaces are constant (Featherstone, tables 4.1 and 8.1), but for that of a rolling wheel.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from kinetree.joints.axes import (
    Axis,
    alignment,
    along,
    cardinal,
    finite,
    moments_about,
    rotation_about,
    transverse,
    unit_axis,
)
from kinetree.joints.contract import Joint
from kinetree.spatial import AxialRotation, Force, IdentityRotation, Motion, Transform, Vector3
from kinetree.spatial.rotations import rz
from kinetree.spatial.scalar import arctan2, sincos

SECOND_MOMENTS = ("P.xx", "P.xy", "P.yy", "P.xz", "P.yz", "P.zz")


@dataclass(frozen=True, slots=True, eq=False)
class Fixed(Joint):
    """The zero-DoF joint: both frames coincide.

    Notes
    -----
    *Source* Featherstone, table 8.1, zero-DoF: the universal loop joint.

    Examples
    --------
    >>> Fixed().motion_subspace([])
    ()
    """

    kind = "fixed"
    nq = nv = 0
    constant_subspace = True
    regroupable = ("m", "h.x", "h.y", "h.z", *SECOND_MOMENTS)

    def transform(self, q):
        return Transform.identity()

    def motion_subspace(self, q):
        return ()

    def implicit(self, X):
        basis = tuple(Force.of([float(k == row) for k in range(6)]) for row in range(6))
        return [*half_skew(X), *X.r], basis

    def loop_coordinates(self, X):
        return [], ()


def displacements(X: Transform) -> tuple[Force, ...]:
    """The gradients of the successor's place in predecessor coordinates, for any X."""
    return tuple(Force(Vector3.zero(), X.E @ Vector3.unit(k)) for k in range(3))


def half_skew(X: Transform) -> Vector3:
    """The rotation vector of a nearly identical E, to first order: half the skew-symmetric part of E."""
    E = X.E.matrix
    return Vector3(E[1, 2] - E[2, 1], E[2, 0] - E[0, 2], E[0, 1] - E[1, 0]) * 0.5


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
    regroupable = SECOND_MOMENTS
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

    def loop_coordinates(self, X):
        return list(X.r), displacements(X)


@dataclass(frozen=True, slots=True, eq=False)
class AlongAxis:
    """Joints along one axis, which has the same coordinates in predecessor and successor; a base before ``Joint``.

    Parameters
    ----------
    axis : sequence of 3 floats
        Normalized.
    """

    axis: Axis = (0.0, 0.0, 1.0)

    nq = nv = 1
    constant_subspace = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", unit_axis(self.axis, self.kind))

    @property
    def regroupable(self) -> tuple[str, ...]:
        return moments_about(self.axis, "P")

    def canonical(self):
        """The joint with its axis along z; a joint along x, y or z costs the same as it is."""
        if cardinal(self.axis) is not None:
            return IdentityRotation(), self
        return alignment(self.axis), replace(self, axis=(0.0, 0.0, 1.0))

    def _line(self, X: Transform) -> tuple[list, list[Force]]:
        """The successor's axis lies on the predecessor's: four errors of X, and the forces that balance them."""
        n, zero = Vector3(*self.axis), Vector3.zero()
        a, b = transverse(self.axis)
        u, m = X.E @ n, X.E @ n.cross(X.r)
        delta = [b.dot(u), -a.dot(u), b.dot(m), -a.dot(m)]
        return delta, [Force(a, zero), Force(b, zero), Force(zero, a), Force(zero, b)]


@dataclass(frozen=True, slots=True, eq=False)
class Revolute(AlongAxis, Joint):
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

    kind = "revolute"
    position_names, position_units = ("angle",), ("rad",)
    velocity_names, velocity_units = ("angular velocity",), ("rad/s",)

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

    wraps = (True,)

    def loop_coordinates(self, X):
        return of_one(angle_about(X, *transverse(self.axis)))

    @classmethod
    def examples(cls, rng):
        yield from (cls(axis) for axis in ((0, 0, 1), (1, 0, 0), (0, -1, 0), (0, 0, -1), tuple(rng.normal(size=3))))
        yield cls((0.6, 0.0, -0.8))


@dataclass(frozen=True, slots=True, eq=False)
class Prismatic(AlongAxis, Joint):
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

    kind = "prismatic"
    regroupable = SECOND_MOMENTS
    position_names, position_units = ("displacement",), ("m",)
    velocity_names, velocity_units = ("speed",), ("m/s",)

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

    def loop_coordinates(self, X):
        return of_one(travel_along(X, Vector3(*self.axis), 1.0))

    @classmethod
    def examples(cls, rng):
        yield from (cls(axis) for axis in ((0, 0, 1), (-1, 0, 0), (0, 1, 0), tuple(rng.normal(size=3))))


@dataclass(frozen=True, slots=True, eq=False)
class Helical(AlongAxis, Joint):
    """Rotation by the angle q about an axis, and displacement pitch * q along it.

    Parameters
    ----------
    axis : sequence of 3 floats
        Direction of the screw, the same in predecessor and successor coordinates; normalized.
    pitch : float
        Displacement per angle [m/rad]; a thread of lead L [m per turn] has pitch L / (2 pi).

    Notes
    -----
    *Source* Featherstone, table 4.1: E = rz(q), r = (0, 0, h q), S = (0, 0, 1, 0, 0, h),
    T = (e1, e2, e4, e5, (0, 0, -h, 0, 0, 1)). The implicit form is ours: the displacement determines the turn of the
    thread, so the error along the axis is measured between the angle and displacement / pitch.

    Examples
    --------
    >>> [float(x) for x in Helical((0, 0, 1), pitch=0.1).motion_subspace([0.0])[0]]
    [0.0, 0.0, 1.0, 0.0, 0.0, 0.1]
    """

    pitch: float = 0.0

    kind = "helical"
    position_names, position_units = ("angle",), ("rad",)
    velocity_names, velocity_units = ("angular velocity",), ("rad/s",)

    def __post_init__(self) -> None:
        AlongAxis.__post_init__(self)
        object.__setattr__(self, "pitch", finite(self.pitch, "helical joint: pitch", "m/rad"))

    def transform(self, q):
        return Transform(rotation_about(self.axis, q[0]), along(self.axis, self.pitch * q[0]))

    def motion_subspace(self, q):
        n = Vector3(*self.axis)
        return (Motion(n, n * self.pitch),)

    def velocity(self, q, v):
        return Motion(along(self.axis, v[0]), along(self.axis, self.pitch * v[0]))

    def random(self, rng):
        return [float(rng.uniform(-math.pi, math.pi))]

    def implicit(self, X):
        h, n = self.pitch, Vector3(*self.axis)
        delta, T = self._line(X)
        travel = n.dot(X.r)
        if h != 0.0:  # h sin(displacement / h - angle): the displacement determines the number of turns, E does not
            travel = h * mismatch(X, *transverse(self.axis), travel / h)
        return [*delta, travel], (*T, Force(n * -h, n))

    @property
    def wraps(self):
        return (self.pitch == 0.0,)

    def loop_coordinates(self, X):
        """The displacement over the pitch, which counts whole turns; the angle of a screw without pitch."""
        if self.pitch == 0.0:
            return of_one(angle_about(X, *transverse(self.axis)))
        return of_one(travel_along(X, Vector3(*self.axis), self.pitch))

    @classmethod
    def examples(cls, rng):
        yield from (cls(axis, pitch) for axis, pitch in (((0, 0, 1), 0.3), ((-1, 0, 0), 0.05), ((0, 1, 0), 0.0)))
        yield cls(tuple(rng.normal(size=3)), -0.7)


@dataclass(frozen=True, slots=True, eq=False)
class Cylindrical(AlongAxis, Joint):
    """Rotation by q[0] about an axis and displacement q[1] along it.

    Parameters
    ----------
    axis : sequence of 3 floats
        Direction of the axis, the same in predecessor and successor coordinates; normalized.

    Notes
    -----
    *Source* Featherstone, table 4.1: E = rz(q1), r = (0, 0, q2), S = (e3, e6), T = (e1, e2, e4, e5);
    implicit form table 8.1 and example 8.1: the error is that of the axis as a line, E (n x r).

    Examples
    --------
    >>> Cylindrical().position_names
    ('angle', 'displacement')
    """

    kind = "cylindrical"
    nq = nv = 2
    position_names, position_units = ("angle", "displacement"), ("rad", "m")
    velocity_names, velocity_units = ("angular velocity", "speed"), ("rad/s", "m/s")

    def transform(self, q):
        return Transform(rotation_about(self.axis, q[0]), along(self.axis, q[1]))

    def motion_subspace(self, q):
        n, zero = Vector3(*self.axis), Vector3.zero()
        return Motion(n, zero), Motion(zero, n)

    def velocity(self, q, v):
        return Motion(along(self.axis, v[0]), along(self.axis, v[1]))

    def random(self, rng):
        return [float(rng.uniform(-math.pi, math.pi)), float(rng.uniform(-1.0, 1.0))]

    def implicit(self, X):
        delta, T = self._line(X)
        return delta, tuple(T)

    wraps = (True, False)

    def loop_coordinates(self, X):
        (angle, turn), (x, slide) = angle_about(X, *transverse(self.axis)), travel_along(X, Vector3(*self.axis), 1.0)
        return [angle, x], (turn, slide)

    @classmethod
    def examples(cls, rng):
        yield from (cls(axis) for axis in ((0, 0, 1), (0, -1, 0), tuple(rng.normal(size=3))))


def mismatch(X: Transform, a: Vector3, b: Vector3, angle):
    """sin(angle - angle of X) for a rotation about a x b: smooth, and independent of whole turns."""
    Ea, Eb = X.E @ a, X.E @ b
    sin_X, cos_X = 0.5 * (a.dot(Eb) - b.dot(Ea)), 0.5 * (a.dot(Ea) + b.dot(Eb))
    s, c = sincos(angle)
    return s * cos_X - c * sin_X


def angle_about(X: Transform, a: Vector3, b: Vector3) -> tuple:
    """The angle of X about a x b, from -pi to pi, and its gradient with respect to the successor's twist."""
    Ea, Eb = X.E @ a, X.E @ b
    s, c = a.dot(Eb) - b.dot(Ea), a.dot(Ea) + b.dot(Eb)
    moment = ((Ea.cross(b) - Eb.cross(a)) * c + (Ea.cross(a) + Eb.cross(b)) * s) * (1.0 / (s * s + c * c))
    return arctan2(s, c), Force(moment, Vector3.zero())


def travel_along(X: Transform, n: Vector3, pitch: float) -> tuple:
    """The displacement of X along n over the pitch, and its gradient with respect to the successor's twist."""
    return n.dot(X.r) * (1.0 / pitch), Force(Vector3.zero(), (X.E @ n) * (1.0 / pitch))


@dataclass(frozen=True, slots=True, eq=False)
class RackAndPinion(Joint):
    """The pinion turns by q about z while its center travels radius * q along the x axis of the rack (predecessor).

    Parameters
    ----------
    radius : float
        Travel per angle [m/rad], of either sign.

    Notes
    -----
    An asymmetric joint: reversed, it is another mechanism.

    *Source* Featherstone, example 4.6: E = rz(q), r = (r q, 0, 0), S = (0, 0, 1, r c, -r s, 0),
    c_J = (0, 0, 0, -r s v^2, -r c v^2, 0). The implicit form is ours.

    Examples
    --------
    >>> RackAndPinion(0.5).bias([0.0], [2.0]).linear.y
    -2.0
    """

    radius: float

    kind = "rack_and_pinion"
    nq = nv = 1
    position_names, position_units = ("angle",), ("rad",)
    velocity_names, velocity_units = ("angular velocity",), ("rad/s",)

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", finite(self.radius, "rack_and_pinion joint: radius", "m/rad"))

    def transform(self, q):
        return Transform(rz(q[0]), Vector3(self.radius * q[0], 0.0, 0.0))

    def motion_subspace(self, q):
        return (Motion(Vector3(0.0, 0.0, 1.0), rz(q[0]) @ Vector3(self.radius, 0.0, 0.0)),)

    def random(self, rng):
        return [float(rng.uniform(-math.pi, math.pi))]

    def implicit(self, X):
        x, y, z, zero = Vector3.unit(0), Vector3.unit(1), Vector3.unit(2), Vector3.zero()
        u = X.E @ z
        travel = X.r.x
        if self.radius != 0.0:  # the travel determines the number of turns, E does not
            travel = self.radius * mismatch(X, x, y, travel / self.radius)
        delta = [u.y, -u.x, X.r.y, X.r.z, travel]
        T = (Force(x, zero), Force(y, zero), Force(zero, X.E @ y), Force(zero, u), Force(z * -self.radius, X.E @ x))
        return delta, T

    @property
    def wraps(self):
        return (self.radius == 0.0,)

    def loop_coordinates(self, X):
        x, y = Vector3.unit(0), Vector3.unit(1)
        return of_one(angle_about(X, x, y) if self.radius == 0.0 else travel_along(X, x, self.radius))

    @classmethod
    def examples(cls, rng):
        yield from (cls(radius) for radius in (0.4, -1.3, 0.0))


def of_one(found: tuple) -> tuple:
    """A coordinate and its gradient as those of a joint of one freedom."""
    return [found[0]], (found[1],)


QUARTER = 0.5 * math.pi
EXACT = ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))
"""Cosine and sine of 0, 1, 2 and 3 quarter turns."""


@dataclass(frozen=True, slots=True, eq=False)
class TurnedRevolute(Revolute):
    """Rotation by the angle ``q + zero`` about z.

    Parameters
    ----------
    axis : sequence of 3 floats
        Always (0, 0, 1).
    zero : float
        [rad]. Multiples of a quarter turn cost nothing, others 4m + 2a.

    Notes
    -----
    Not for files or builders: `Model.reframed` makes these joints when it chooses the frames of the links. The sine and
    cosine of q are combined with those of the constant; computed from the sum, they would not be among the sines and
    cosines of inputs, which kernels compute several at a time (humanoid with 29 such joints, one state: `rnea` in
    0.62 us instead of 0.87 us).
    """

    zero: float = 0.0

    kind = "turned revolute"

    @property
    def turn(self) -> AxialRotation:
        """The constant part of the rotation."""
        quarters = round(self.zero / QUARTER)
        exact = self.zero == quarters * QUARTER
        return AxialRotation(2, *(EXACT[quarters % 4] if exact else (math.cos(self.zero), math.sin(self.zero))))

    def transform(self, q):
        return Transform(self.turn @ rz(q[0]), Vector3.zero())

    def canonical(self):
        return Joint.canonical(self)

    def with_turn(self, turn: AxialRotation) -> TurnedBy:
        """The joint with another constant part, whose cosine and sine may be scalars of any kind."""
        return TurnedBy(turn)

    @classmethod
    def examples(cls, rng):
        yield cls(zero=float(rng.uniform(-math.pi, math.pi)))
        yield from (cls(zero=quarters * QUARTER) for quarters in (-1, 1, 2))


class TurnedBy(Joint):
    """Rotation about z, followed by a turn about z that is given by its cosine and sine.

    Parameters
    ----------
    turn : AxialRotation
    """

    kind = "revolute turned by a rotation"
    nq = nv = 1
    constant_subspace = True
    regroupable = Revolute().regroupable

    def __init__(self, turn: AxialRotation) -> None:
        self.turn = turn

    def transform(self, q):
        return Transform(self.turn @ rz(q[0]), Vector3.zero())

    def motion_subspace(self, q):
        return (Motion(Vector3(0.0, 0.0, 1.0), Vector3.zero()),)
