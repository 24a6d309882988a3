"""Two capsules."""

from __future__ import annotations

from kinetree.collision.laws import ContactPoint, pair_law
from kinetree.collision.point_distance import TINY, clamped
from kinetree.spatial import Vector3
from kinetree.spatial.scalar import absolute, sqrt, where

PARALLEL = 1e-10
"""Squared sine of the angle between axes that count as parallel."""


@pair_law("capsule", "capsule", count=2)
def capsule_capsule(first, second):
    """The closest points, and the end of the common stretch that is farther from them.

    Candidates are the closest points of both axes, where these lie on the segments, and for both ends of the stretch
    that projections of the segments onto the first axis have in common the end of the segment that ends there, with the
    nearest point of the other one.
    """
    (r1, l1), (r2, l2) = first.size, second.size
    h1, h2 = 0.5 * l1, 0.5 * l2
    a, b, d = first.axis(2), second.axis(2), second.p - first.p
    c, da, db = a.dot(b), a.dot(d), b.dot(d)
    along = where(c >= 0.0, 1.0, -1.0)
    ends = [_end(s, h1, h2, c, da, db, d, along) for s in (-1.0, 1.0)]
    square = 1.0 - c * c
    crossed = square > PARALLEL
    scale = 1.0 / where(crossed, square, 1.0)
    s, t = (da - c * db) * scale, (c * da - db) * scale
    inner = crossed & (absolute(s) <= h1) & (absolute(t) <= h2)
    gap = _square(s, t, d, c, da, db)
    nearer = ends[0][2] <= ends[1][2]
    close, far = _chosen(nearer, *ends), _chosen(nearer, ends[1], ends[0])
    beside = absolute(ends[0][0] - s) >= absolute(ends[1][0] - s)
    deepest = _chosen(inner, (s, t, gap), close)
    other = _chosen(inner, _chosen(beside, *ends), far)
    return [_point(first.p + a * s, second.p + b * t, r1, r2) for s, t, _ in (deepest, other)]


def _end(side, h1, h2, c, da, db, d, along):
    """Places on both axes at one end of the common stretch, and the squared distance there.

    Of the ends of both segments on this side the one that is closer to the other segment.
    """
    s = side * h1
    mine = s, clamped(c * s - db, h2)
    t = side * h2 * along
    theirs = clamped(da + c * t, h1), t
    mine, theirs = ((*places, _square(*places, d, c, da, db)) for places in (mine, theirs))
    return _chosen(mine[2] <= theirs[2], mine, theirs)


def _square(s, t, d, c, da, db):
    """``|d + t b - s a|^2``."""
    return d.dot(d) + t * t + s * s + 2.0 * (t * db - s * da - s * t * c)


def _chosen(condition, a, b):
    return tuple(where(condition, x, y) for x, y in zip(a, b, strict=True))


def _point(one: Vector3, other: Vector3, r1, r2) -> ContactPoint:
    """The contact of two spheres."""
    r = other - one
    square = r.dot(r)
    apart = square > TINY
    d = sqrt(where(apart, square, 1.0))
    n = Vector3(*(where(apart, x / d, z) for x, z in zip(r, (0.0, 0.0, 1.0), strict=True)))
    d = where(apart, d, 0.0)
    return ContactPoint(d - r1 - r2, one + n * (0.5 * (d + r1 - r2)), n)
