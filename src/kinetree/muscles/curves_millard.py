"""The curves of Millard, Uchida, Seth and Delp (2013): chains of quintic Bezier pieces, twice differentiable."""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.muscles.bezier import BezierChain
from kinetree.muscles.curve_set import MuscleCurves
from kinetree.muscles.polynomials import Coefficients

Knot = tuple[float, float, float]
"""x, y and slope."""


def bezier_chain(knots: Sequence[Knot], curviness: Sequence[float]) -> BezierChain:
    """Quintic pieces between knots that bend towards the corner of the tangents; curviness 0 to 1 of each piece."""
    pieces, bends = [], []
    for (x_a, y_a, s_a), (x_b, y_b, s_b), bend in zip(knots, knots[1:], curviness, strict=False):
        c = 0.1 + 0.8 * bend
        x_c = (y_b - y_a - x_b * s_b + x_a * s_a) / (s_a - s_b)
        y_c = y_b + s_b * (x_c - x_b)
        pieces.append((_quintic(x_a, x_c, x_b, c), _quintic(y_a, y_c, y_b, c)))
        bends.append(c)
    return BezierChain(tuple(x for x, _, _ in knots), tuple(pieces), tuple(bends))


def _quintic(a: float, corner: float, b: float, c: float) -> Coefficients:
    """The polynomial of the control points a, p, p, r, r, b, where p and r are moved to the corner by c."""
    p, r, d = c * (corner - a), c * (corner - b), b - a
    end = d + r
    return a, 5.0 * p, -10.0 * p, 10.0 * end, 10.0 * p - 15.0 * end, d + 5.0 * end - 5.0 * p


def active_force_length(least: float = 0.0) -> BezierChain:
    """Active force over fiber length, with its least value.

    OpenSim's curve has 0.1 by default; its muscle sets 0 where the fiber is damped, which needs no active force.
    """
    x_0, x_1, x_3, slope = 0.4441, 0.73, 1.8123, 0.8616
    y_1 = 1.0 - slope * (0.95 - x_1)
    knots = [
        (x_0, least, 0.0),
        (0.5 * (x_0 + x_1), 0.5 * y_1, 1.25 * y_1 / (x_1 - x_0)),
        (0.5 * (x_1 + 0.95), 0.5 * (1.0 + y_1), slope),
        (1.0, 1.0, 0.0),
        (0.5 * (1.05 + x_3), 0.5, -1.0 / (x_3 - 0.05 - 1.05)),
        (x_3, least, 0.0),
    ]
    return bezier_chain(knots, [1.0] * 5)


def passive_force_length() -> BezierChain:
    """Passive force over fiber length: strain 0.7 at the isometric force."""
    low, stiffness = 0.2, 2.857142857142857
    d = min(0.1 / stiffness, 0.07)
    return bezier_chain([(1.0, 0.0, 0.0), (1.0 + d, 0.5 * low * d, low), (1.7, 1.0, stiffness)], [0.75] * 2)


def force_velocity() -> BezierChain:
    """Force over fiber velocity."""
    knots = [(-1.0, 0.0, 0.0), (-0.9, 0.0125, 0.25), (0.0, 1.0, 5.0), (0.9, 1.3925, 0.15), (1.0, 1.4, 0.0)]
    return bezier_chain(knots, [0.6, 0.6, 0.9, 0.9])


def tendon_force_length() -> BezierChain:
    """Tendon force over tendon length: strain 0.049 at the isometric force."""
    k = 28.06122448979592
    x_t = 1.049 - 1.0 / (3.0 * k)
    foot, x_m = 1.0 + 0.1 * (x_t - 1.0), 1.049 - 2.0 / (3.0 * k)
    slope = 1.0 / (3.0 * (x_m - foot))
    knots = [(1.0, 0.0, 0.0), (0.5 * (foot + x_m), 0.5 * slope * (x_m - foot), slope), (x_t, 2.0 / 3.0, k)]
    return bezier_chain(knots, [0.5] * 2)


def millard() -> MuscleCurves:
    """The four curves with the defaults of OpenSim 4.6."""
    return MuscleCurves(
        "millard", active_force_length(), passive_force_length(), force_velocity(), tendon_force_length()
    )
