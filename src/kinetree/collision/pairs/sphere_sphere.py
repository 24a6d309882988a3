"""Sphere and sphere."""

from __future__ import annotations

from kinetree.collision.laws import between, pair_law
from kinetree.spatial import Vector3
from kinetree.spatial.scalar import sqrt, where


@pair_law("sphere", "sphere", count=1)
def sphere_sphere(first, second):
    """The points on the line of both centers; where these coincide, the normal is the world's z axis."""
    d = second.p - first.p
    squared = d.dot(d)
    apart = squared > 1e-300
    distance = sqrt(where(apart, squared, 1.0))
    n = Vector3(*(where(apart, x / distance, up) for x, up in zip(d, (0.0, 0.0, 1.0), strict=True)))
    gap = where(apart, distance, 0.0) - first.size[0] - second.size[0]
    return [between(gap, second.p - n * second.size[0], n)]
