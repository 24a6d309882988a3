"""Plane and convex hull of a few vertices."""

from __future__ import annotations

from kinetree.collision.laws import between, pair_law
from kinetree.spatial import Vector3
from kinetree.spatial.scalar import where

ALL = 8
"""So many vertices are candidates all of them."""
TILT = 0.02
"""Slope of the planes whose lowest vertices are taken of more vertices [rad]."""


@pair_law("plane", "hull", count=lambda plane, hull: len(hull.vertices) if len(hull.vertices) <= ALL else 5)
def plane_hull(plane, hull):
    """All vertices; of many the lowest one, and the lowest ones above four planes that are tilted a little.

    So a face that lies on the plane is held at four vertices that are far from each other.
    """
    n = plane.axis(2)
    lines = [hull.R.T @ plane.axis(k) for k in range(3)]  # axes of the plane in those of the hull
    height = n.dot(hull.p - plane.p)
    vertices = [Vector3(*x) for x in hull.vertices]
    heights = [lines[2].dot(x) for x in vertices]
    if len(vertices) <= ALL:
        chosen = list(zip(heights, vertices, strict=True))
    else:
        chosen = [_lowest(heights, heights, vertices)]
        places = [(lines[0].dot(x) * TILT, lines[1].dot(x) * TILT) for x in vertices]
        for s, t in ((1.0, 0.8), (-0.8, 1.0), (-1.0, -0.8), (0.8, -1.0)):  # no direction of an edge that is likely
            keys = [z - s * x - t * y for z, (x, y) in zip(heights, places, strict=True)]
            chosen.append(_lowest(keys, heights, vertices))
    return [between(height + z, hull.p + hull.R @ x, n) for z, x in chosen]


def _lowest(keys, heights, vertices):
    """Height and place of the vertex with the least key."""
    key, found = keys[0], [heights[0], *vertices[0]]
    for k in range(1, len(keys)):
        lower = keys[k] < key
        key = where(lower, keys[k], key)
        found = [where(lower, a, b) for a, b in zip((heights[k], *vertices[k]), found, strict=True)]
    return found[0], Vector3(*found[1:])
