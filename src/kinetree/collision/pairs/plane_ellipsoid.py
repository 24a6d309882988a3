"""Plane and ellipsoid."""

from __future__ import annotations

from kinetree.collision.laws import between, pair_law
from kinetree.spatial.scalar import sqrt


@pair_law("plane", "ellipsoid", count=1)
def plane_ellipsoid(plane, ellipsoid):
    """The point whose normal is that of the plane: ``x = -E E n / |E n|``, E the semi-axes."""
    n = plane.axis(2)
    stretched = [size * n.dot(ellipsoid.axis(k)) for k, size in enumerate(ellipsoid.size)]
    reach = sqrt(sum((x * x for x in stretched), start=0.0))
    lowest = ellipsoid.p
    for k, size in enumerate(ellipsoid.size):
        lowest = lowest - ellipsoid.axis(k) * (size * stretched[k] / reach)
    return [between(n.dot(ellipsoid.p - plane.p) - reach, lowest, n)]
