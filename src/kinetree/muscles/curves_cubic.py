"""The curves of Sueda's notes, section 1.5: piecewise cubics, once differentiable."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinetree.muscles.curve_set import MuscleCurves
from kinetree.muscles.curves_millard import tendon_force_length
from kinetree.muscles.polynomials import Piecewise


def cubic_chain(knots: Sequence[tuple[float, float, float]]) -> Piecewise:
    """Cubic pieces through knots (x, y, slope)."""
    pieces = []
    for (x_a, y_a, s_a), (x_b, y_b, s_b) in zip(knots, knots[1:], strict=False):
        h, d = x_b - x_a, y_b - y_a
        pieces.append(((x_a, h), (y_a, h * s_a, 3.0 * d - h * (2.0 * s_a + s_b), h * (s_a + s_b) - 2.0 * d)))
    return Piecewise(tuple(x for x, _, _ in knots), tuple(pieces))


def passive_force_length() -> Piecewise:
    """Eq. 1.41, with the end at 1.7: the printed coefficients (1.42) reach 1 there, not at 1.8."""
    return cubic_chain([(1.0, 0.0, 0.0), (1.3, 0.126110265892917, 1.07051016402631), (1.7, 1.0, 2.85714285714286)])


def active_force_length() -> Piecewise:
    """Eq. 1.43: the middle cubic passes three points, with slope 0 at 1; its slopes continue in the others."""
    left, right = (0.7, 0.767020368396388), (1.2, 0.89)
    rows = [[x**3, x**2, x, 1.0] for x in (left[0], 1.0, right[0])] + [[3.0, 2.0, 1.0, 0.0]]
    a, b, c, _ = np.linalg.solve(rows, [left[1], 1.0, right[1], 0.0]).tolist()
    slopes = [3.0 * a * x**2 + 2.0 * b * x + c for x in (left[0], right[0])]
    return cubic_chain([(0.4, 0.0, 0.0), (*left, slopes[0]), (*right, slopes[1]), (1.81, 0.0, 0.0)])


def force_velocity() -> Piecewise:
    """Eq. 1.45: k1 (v + 1)^3, a cubic with value 1 and slope 5 at 0, and 1.4 + k3 (v - 1)^3, joined at -0.05, 0.05."""
    v, w = -0.05, 0.05
    rows = [
        [(v + 1.0) ** 3, -(v**3), -(v**2), 0.0],
        [3.0 * (v + 1.0) ** 2, -3.0 * v**2, -2.0 * v, 0.0],
        [0.0, w**3, w**2, -((w - 1.0) ** 3)],
        [0.0, 3.0 * w**2, 2.0 * w, -3.0 * (w - 1.0) ** 2],
    ]
    k_1, _, _, k_3 = np.linalg.solve(rows, [5.0 * v + 1.0, 5.0, 1.4 - 5.0 * w - 1.0, -5.0]).tolist()
    joined = [
        (v, k_1 * (v + 1.0) ** 3, 3.0 * k_1 * (v + 1.0) ** 2),
        (w, 1.4 + k_3 * (w - 1.0) ** 3, 3.0 * k_3 * (w - 1.0) ** 2),
    ]
    return cubic_chain([(-1.0, 0.0, 0.0), *joined, (1.0, 1.4, 0.0)])


def cubic() -> MuscleCurves:
    """The three curves of the notes, which have rigid tendons, and Millard's tendon."""
    return MuscleCurves("cubic", active_force_length(), passive_force_length(), force_velocity(), tendon_force_length())
