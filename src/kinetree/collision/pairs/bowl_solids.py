"""A bowl and solids in it: a convex body touches a hollow sphere with its farthest points from the center."""

from __future__ import annotations

from itertools import product

from kinetree.collision.laws import between, pair_law
from kinetree.collision.point_distance import from_sphere


def _within(bowl, point, reach=0.0):
    """The contact of a sphere of radius ``reach`` around a point; in the center of the bowl along its z axis."""
    d, outward = from_sphere(bowl, point)
    return between(-(d + reach), point + outward * reach, -outward)


@pair_law("bowl", "sphere", count=1)
def bowl_sphere(bowl, sphere):
    """Along the line through both centers."""
    return [_within(bowl, sphere.p, sphere.size[0])]


@pair_law("bowl", "capsule", count=2)
def bowl_capsule(bowl, capsule):
    """The spheres at both ends."""
    radius, length = capsule.size
    half = capsule.axis(2) * (0.5 * length)
    return [_within(bowl, capsule.p + half * s, radius) for s in (1.0, -1.0)]


@pair_law("bowl", "box", count=8)
def bowl_box(bowl, box):
    """All corners."""
    x, y, z = (box.axis(k) * (0.5 * size) for k, size in enumerate(box.size))
    return [_within(bowl, box.p + x * s + y * t + z * w) for s, t, w in product((1.0, -1.0), repeat=3)]
