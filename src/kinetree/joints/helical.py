"""Helical joint: a screw."""

from __future__ import annotations

import math
from dataclasses import dataclass

from kinetree.errors import JointError
from kinetree.joints.axes import Axis, along, moments_about, rotation_about, transverse, unit_axis
from kinetree.joints.contract import Joint
from kinetree.joints.revolute import canonical_about_z
from kinetree.spatial import Force, Motion, Transform, Vector3
from kinetree.spatial.scalar import sincos


@dataclass(frozen=True, slots=True, eq=False)
class Helical(Joint):
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

    axis: Axis = (0.0, 0.0, 1.0)
    pitch: float = 0.0

    kind = "helical"
    nq = nv = 1
    constant_subspace = True
    position_names, position_units = ("angle",), ("rad",)
    velocity_names, velocity_units = ("angular velocity",), ("rad/s",)

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", unit_axis(self.axis, "helical"))
        object.__setattr__(self, "pitch", finite(self.pitch, "helical", "pitch", "m/rad"))

    @property
    def regroupable(self) -> tuple[str, ...]:
        return moments_about(self.axis, "P")

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
        h, n, zero = self.pitch, Vector3(*self.axis), Vector3.zero()
        a, b = transverse(self.axis)
        u, m = X.E @ n, X.E @ n.cross(X.r)
        travel = n.dot(X.r)
        if h != 0.0:  # h sin(displacement / h - angle): the displacement determines the number of turns, E does not
            travel = h * mismatch(X, a, b, travel / h)
        delta = [b.dot(u), -a.dot(u), b.dot(m), -a.dot(m), travel]
        T = (Force(a, zero), Force(b, zero), Force(zero, a), Force(zero, b), Force(n * -h, n))
        return delta, T

    def canonical(self):
        return canonical_about_z(self, self.pitch)

    @classmethod
    def examples(cls, rng):
        yield from (cls(axis, pitch) for axis, pitch in (((0, 0, 1), 0.3), ((-1, 0, 0), 0.05), ((0, 1, 0), 0.0)))
        yield cls(tuple(rng.normal(size=3)), -0.7)


def finite(value, kind: str, name: str, unit: str) -> float:
    """A parameter of a joint as a float, or a JointError that names it."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise JointError(f"{kind} joint: {name} must be a number [{unit}]; got {value!r}.", value=value) from None
    if not math.isfinite(number):
        raise JointError(f"{kind} joint: {name} must be finite [{unit}]; got {number!r}.", value=value)
    return number


def mismatch(X: Transform, a: Vector3, b: Vector3, angle):
    """sin(angle - angle of X) for a rotation about a x b: smooth, and blind to whole turns."""
    Ea, Eb = X.E @ a, X.E @ b
    sin_X, cos_X = 0.5 * (a.dot(Eb) - b.dot(Ea)), 0.5 * (a.dot(Ea) + b.dot(Eb))
    s, c = sincos(angle)
    return s * cos_X - c * sin_X
