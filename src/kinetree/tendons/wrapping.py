"""Shortest paths around spheres and cylinders, without branches and without tangent points.

In the plane, seen from the center: with ends at squared distances s0 and s1 the tangents have the lengths ``t =
sqrt(s - r^2)`` and span the angles ``atan2(t, r)``; the rest of the angle between the ends is the arc. The path touches
the shape where both ends are outside and the arc is positive.
"""

from __future__ import annotations

import math

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
    planar = shape.kind == "cylinder"
    spin = _spin_of_plane if planar else _spin
    straight = magnitude(end - start)
    cross, normal = spin(start, end)
    flat = [Vector3(p.x, p.y, 0.0) if planar else p for p in (start, end)]
    s0, s1, dot = (a.dot(b) for a, b in ((flat[0], flat[0]), (flat[1], flat[1]), flat))
    is_long = False
    if side is not None:
        before, after = (a.cross(b).dot(normal) for a, b in ((start, side), (side, end)))
        is_long = (before <= 0.0) & (after <= 0.0) & (before + after < 0.0)
    touching, length = _flat(shape, s0, s1, cross, dot, is_long)
    if planar:
        rise = end.z - start.z
        length = where(touching, length, 1.0)
        length = sqrt(length * length + rise * rise)
    return where(touching, length, straight)


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


def _flat(shape, s0, s1, cross, dot, is_long) -> tuple:
    """Whether the path touches the circle, and its length there.

    The slopes are those of a taut string: the length changes with the ends along the tangents, and with the radius by
    the arc.
    """
    square = shape.radius * shape.radius
    outside = (s0 > square) & (s1 > square)
    s0, s1 = (where(outside, s, 2.0 * square) for s in (s0, s1))
    given = s0, s1, where(is_long, -cross, cross), where(outside, dot, square), shape.radius

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
    angle = where(passing, arctan2(*given[2:4]), 0.0)
    return passing, inside_length(s0, s1, angle, shape.radius)
