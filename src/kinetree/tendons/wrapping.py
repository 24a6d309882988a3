"""Shortest paths around spheres and cylinders, without branches and without tangent points.

In the plane, seen from the center: with ends at squared distances s0 and s1 the tangents have the lengths ``t =
sqrt(s - r^2)`` and span the angles ``atan2(t, r)``; the rest of the angle between the ends is the arc. The path touches
the shape where both ends are outside and the arc is positive.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from kinetree.spatial import Vector3
from kinetree.spatial.scalar import arctan2, sqrt, where, with_slopes
from kinetree.tendons.inside import inside_length

FULL_TURN = 2.0 * math.pi


def wrapped_length(shape, start: Vector3, end: Vector3, side: Vector3 | None):
    """The length from one point to another over a shape.

    Parameters
    ----------
    shape : WrapShape
    start, end, side : Vector3
        From the center of the shape; for a cylinder in its axes [m].

    Notes
    -----
    With a side the path winds from the start over the side's direction to the end, by the smaller angle from each to
    the next; without one by the smaller angle.

    Source: MuJoCo 4.0, ``engine_util_misc.c``, ``mju_wrap``, whose lengths these are.
    """
    seen = winding(shape, start, end, side)
    touching, length = _flat(shape, seen)
    if shape.kind == "cylinder":
        rise = end.z - start.z
        length = where(touching, length, 1.0)
        length = sqrt(length * length + rise * rise)
    return where(touching, length, magnitude(end - start))


class Winding(NamedTuple):
    """Two ends seen from the center, in their plane, or in that across a cylinder.

    Attributes
    ----------
    s0, s1 : scalar
        Squared distances.
    cross, dot : scalar
        ``l0 l1`` times sine and cosine of the angle between the ends, the sine positive.
    normal : Vector3
        Of the plane, of any length: the path turns about it by that angle, or by the rest of a turn about its opposite.
    is_long : condition
        Whether it is the rest of a turn.
    """

    s0: object
    s1: object
    cross: object
    dot: object
    normal: Vector3
    is_long: object


def winding(shape, start: Vector3, end: Vector3, side: Vector3 | None) -> Winding:
    """From the start over the side to the end; arguments as for `wrapped_length`."""
    planar = shape.kind == "cylinder"
    cross, normal = (_spin_of_plane if planar else _spin)(start, end)
    flat = [Vector3(p.x, p.y, 0.0) if planar else p for p in (start, end)]
    s0, s1, dot = (a.dot(b) for a, b in ((flat[0], flat[0]), (flat[1], flat[1]), flat))
    is_long = False
    if side is not None:
        before, after = (a.cross(b).dot(normal) for a, b in ((start, side), (side, end)))
        is_long = (before <= 0.0) & (after <= 0.0) & (before + after < 0.0)
    return Winding(s0, s1, cross, dot, normal, is_long)


def magnitude(r: Vector3):
    """The length of a vector; its derivative at zero, where it has no direction, is zero."""
    square = r.dot(r)
    apart = square > 0.0
    return where(apart, sqrt(where(apart, square, 1.0)), square)


def _spin(a: Vector3, b: Vector3) -> tuple:
    """``|a x b|``, and a vector on the side of ``a x b``.

    Where that is zero, any plane through the ends is as good: that of the x or z axis which is further from a.
    """
    cross = a.cross(b)
    square = cross.dot(cross)
    apart = square > 0.0
    first = a.x * a.x < a.z * a.z
    along, component = (where(first, v.x, v.z) for v in (a, cross))
    rest = a.dot(a) - along * along
    tilted = component * sqrt(where(rest > 0.0, a.dot(a) / where(rest > 0.0, rest, 1.0), 1.0))
    axis = where(first, 1.0, 0.0), 0.0, where(first, 0.0, 1.0)
    normal = Vector3(*(where(apart, x, y) for x, y in zip(cross, axis, strict=True)))
    return where(apart, sqrt(where(apart, square, 1.0)), tilted), normal


def _spin_of_plane(a: Vector3, b: Vector3) -> tuple:
    """The same in the plane, whose normals are along z."""
    cross = a.x * b.y - a.y * b.x
    turn = where(cross >= 0.0, 1.0, -1.0)
    return turn * cross, Vector3(0.0, 0.0, turn)


def _flat(shape, seen: Winding) -> tuple:
    """Whether the path touches the circle, and its length there.

    The slopes are those of a taut string: the length changes with the ends along the tangents, and with the radius by
    the arc.
    """
    square = shape.radius * shape.radius
    outside, is_long = (seen.s0 > square) & (seen.s1 > square), seen.is_long
    s0, s1 = (where(outside, s, 2.0 * square) for s in (seen.s0, seen.s1))
    cross, dot = where(is_long, -seen.cross, seen.cross), where(outside, seen.dot, square)
    given = s0, s1, cross, dot, shape.radius

    def tangents(s0, s1, cross, dot, r):
        t0, t1 = sqrt(s0 - r * r), sqrt(s1 - r * r)
        sine, cosine = r * (t0 + t1), r * r - t0 * t1  # of the angle that they span
        arc = arctan2(cross * cosine - dot * sine, dot * cosine + cross * sine)
        return t0, t1, where(is_long & (arc < 0.0), arc + FULL_TURN, arc)

    def slopes(s0, s1, cross, dot, r):
        t0, t1, arc = tangents(s0, s1, cross, dot, r)
        turn = r / (s0 * s1)
        return [0.5 * t0 / s0, 0.5 * t1 / s1, turn * dot, -turn * cross, arc]

    t0, t1, arc = tangents(*given)
    if not shape.inside:
        return outside & (arc > 0.0), with_slopes(t0 + t1 + shape.radius * arc, slopes, *given)
    passing = outside & (arc < 0.0)
    angle = where(passing, arctan2(cross, dot), 0.0)
    return passing, inside_length(s0, s1, angle, shape.radius)
