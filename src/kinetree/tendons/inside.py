"""The shortest path over a point of a circle, for tendons that pass inside a ring.

At that point both parts of the path have the same angle i to the normal: ``i - asin(A sin i)`` and ``i - asin(B sin
i)``, with ``A = r / l0`` and ``B = r / l1``, are the angles from the ends to the point, whose sum G is given.
"""

from __future__ import annotations

import math

from kinetree.spatial.scalar import arctan2, minimum, sincos, sqrt, where

STEPS = 8


def inside_length(s0, s1, angle, r):
    """The length over the point, for ends outside of the circle that see each other past it.

    Parameters
    ----------
    s0, s1 : scalar
        Squared distances of the ends from the center [m^2].
    angle : scalar
        G, between the ends [rad].
    r : scalar
        Radius [m].

    Notes
    -----
    The equation is convex and increasing in i, and Newton's method starts beyond its root: it decreases to it. The
    length is stated so that its derivative with respect to i is zero at the root.

    Source: MuJoCo 4.0, ``engine_util_misc.c``, ``wrap_inside``, which has sin i as the unknown and ends at 1e-6.
    """

    def error(i):
        sine, cosine = sincos(i)
        x = r * sine
        legs = [sqrt(s - x * x) for s in (s0, s1)]
        turned = 2.0 * i - arctan2(x, legs[0]) - arctan2(x, legs[1]) - angle
        return turned, 2.0 - r * cosine * (1.0 / legs[0] + 1.0 / legs[1]), legs, sine, cosine

    i = minimum(angle / (2.0 - r / sqrt(s0) - r / sqrt(s1)), 0.5 * math.pi)
    for _ in range(STEPS):
        h, slope, *_ = error(i)
        i = i - h / slope
    h, _, legs, sine, cosine = error(i)
    return legs[0] + legs[1] - r * (2.0 * cosine + sine * h)
