"""The shortest path over a point of a circle, for tendons that pass inside a ring.

At that point both parts of the path have the same angle i to the normal: ``i - asin(A sin i)`` and ``i - asin(B sin
i)``, with ``A = r / l0`` and ``B = r / l1``, are the angles from the ends to the point, whose sum G is given.
"""

from __future__ import annotations

import math

from kinetree.spatial.scalar import arctan2, detach, minimum, sincos, sqrt, with_slopes

STEPS = 12


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
    The equation is convex and increasing in i; Newton's method starts beyond its root, and decreases to it.

    Source: MuJoCo 4.0, ``engine_util_misc.c``, ``wrap_inside``, which has sin i as the unknown and ends at 1e-6.
    """

    def slopes(s0, s1, angle, r):  # the length is least in i, so i counts as constant
        i = incidence(s0, s1, angle, r)
        (leg0, leg1), x, cosine = _legs(i, s0, s1, r)
        return [0.5 * leg0 / s0, 0.5 * leg1 / s1, x, -2.0 * cosine]

    given = s0, s1, angle, r
    (leg0, leg1), _, cosine = _legs(incidence(*given), s0, s1, r)
    return with_slopes(leg0 + leg1 - 2.0 * r * cosine, slopes, *given)


def _legs(i, s0, s1, r) -> tuple:
    """From the ends to the nearest points of the normal at the point; ``r sin i`` and ``cos i``."""
    sine, cosine = sincos(i)
    x = r * sine
    return [sqrt(s - x * x) for s in (s0, s1)], x, cosine


def incidence(*given):
    """The angle i, by a last step with derivatives."""

    def step(i, s0, s1, angle, r):
        legs, x, cosine = _legs(i, s0, s1, r)
        error = 2.0 * i - arctan2(x, legs[0]) - arctan2(x, legs[1]) - angle
        return i - error / (2.0 - r * cosine * (1.0 / legs[0] + 1.0 / legs[1]))

    s0, s1, angle, r = fixed = [detach(x) for x in given]
    i = minimum(angle / (2.0 - r / sqrt(s0) - r / sqrt(s1)), 0.5 * math.pi)
    for _ in range(STEPS):
        i = step(i, *fixed)
    return step(detach(i), *given)
