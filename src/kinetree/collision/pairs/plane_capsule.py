"""Plane and capsule."""

from __future__ import annotations

from kinetree.collision.laws import between, pair_law


@pair_law("plane", "capsule", count=2)
def plane_capsule(plane, capsule):
    """The lowest points of the spheres at both ends."""
    n, (radius, length) = plane.axis(2), capsule.size
    half = capsule.axis(2) * (0.5 * length)
    height, rise = n.dot(capsule.p - plane.p) - radius, n.dot(half)
    low = capsule.p - n * radius
    return [between(height + s * rise, low + half * s, n) for s in (1.0, -1.0)]
