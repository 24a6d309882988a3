"""Plane and sphere."""

from __future__ import annotations

from kinetree.collision.laws import between, pair_law


@pair_law("plane", "sphere", count=1)
def plane_sphere(plane, sphere):
    """The lowest point of the sphere."""
    n, (radius,) = plane.axis(2), sphere.size
    gap = n.dot(sphere.p - plane.p) - radius
    return [between(gap, sphere.p - n * radius, n)]
