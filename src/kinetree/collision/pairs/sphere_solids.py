"""A sphere and another solid: the distance of the sphere's center from the solid, less the radius."""

from __future__ import annotations

from kinetree.collision import point_distance
from kinetree.collision.laws import ContactPoint, pair_law


def _enter(kind: str, distance) -> None:
    @pair_law("sphere", kind, count=1)
    def sphere_solid(sphere, solid):
        d, outward = distance(solid, sphere.p)
        (radius,) = sphere.size
        return [ContactPoint(d - radius, sphere.p - outward * (0.5 * (radius + d)), -outward)]


for _kind, _distance in point_distance.DISTANCES.items():
    _enter(_kind, _distance)
