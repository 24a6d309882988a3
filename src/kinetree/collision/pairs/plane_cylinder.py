"""Plane and cylinder."""

from __future__ import annotations

from kinetree.collision.laws import between, pair_law
from kinetree.spatial.scalar import sqrt, where

UPRIGHT = 1e-6
"""Sine of the tilt below which the directions on the rim are those of the shape's axes."""


@pair_law("plane", "cylinder", count=4)
def plane_cylinder(plane, cylinder):
    """The lowest point of the lower rim, the one above it on the other rim, and two more of the lower rim.

    Upright the three points of the lower rim make an equal triangle, lying the first two are the line of contact. The
    last two slide along the rim as the direction of the tilt turns, so their gaps change by the tilt times this turn
    besides the motion of the body; where they touch the tilt is zero.
    """
    n, (radius, length) = plane.axis(2), cylinder.size
    axis = cylinder.axis(2)
    rise = n.dot(axis)
    down = where(rise >= 0.0, -1.0, 1.0)
    across = n - axis * rise  # points up along the discs
    tilt = across.dot(across)
    tilted = tilt > UPRIGHT * UPRIGHT
    scale = 1.0 / sqrt(where(tilted, tilt, 1.0))
    x = cylinder.axis(0)
    lowest = type(n)(*(where(tilted, -(scale * a), b) for a, b in zip(across, x, strict=True))) * radius
    side = axis.cross(lowest) * (0.5 * sqrt(3.0))
    center, half = cylinder.p, axis * (0.5 * length * down)
    points = [center + half + lowest, center - half + lowest]
    points += [center + half - lowest * 0.5 + side * s for s in (1.0, -1.0)]
    return [between(n.dot(point - plane.p), point, n) for point in points]
