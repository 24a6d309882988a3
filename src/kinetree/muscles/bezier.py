"""Chains of quintic Bezier pieces that bend towards corners, evaluated in a form with one parameter.

A piece has the control points A, P, P, R, R, B; P and R divide the lines from A and B to a corner C by one ratio c, the
bend. With s from -1 to 1 and w = s^2 both coordinates are

    x = M + H V(s) + D G(s),   V = s (o_0 + o_1 w + o_2 w^2),   G = (1 - w) (3 + w),

M the middle of A and B, H half of B - A, and D = 5 c (C - M) / 16. The o are linear in c. So a piece is six numbers,
and the equation for s at a given x, or at a sum of x and y with positive weights, is ``V(s) + (D / H) G(s) = z`` with
``z = (x - M) / H``.
"""

from __future__ import annotations

from dataclasses import dataclass

from kinetree.muscles.curve import with_balance_slopes
from kinetree.muscles.polynomials import Coefficients, Piecewise
from kinetree.once import once
from kinetree.spatial.scalar import absolute, detach, where, with_slopes


@dataclass(frozen=True, slots=True)
class BezierChain(Piecewise):
    """A curve in quintic Bezier pieces with corners; beyond its ends it goes on straight, with the slopes there.

    Parameters
    ----------
    knots, pieces
        As of `Piecewise`.
    bends : tuple of float
        c of each piece, positive and at most 1.
    """

    bends: tuple[float, ...]

    def __call__(self, x):
        s, x_0, _, y_row, shape = self._place(x)
        return self._continued(_coordinate(y_row, *_functions(s, shape)), x, x_0)

    def slope(self, x):
        s, _, x_rate, y_row, shape = self._place(x)
        return _rate(y_row, *_rates(s, shape)) / x_rate(s)

    def balance(self, gain, damping, force):
        # On each piece the weighted sum of both coordinates is a coordinate, which is inverted like the others.
        given = [detach(value) for value in (gain, damping, force)]
        values = [given[0] * y + given[1] * x for x, y in zip(self.knots, self._at_knots, strict=True)]
        inside = where(given[2] < values[0], values[0], given[2])
        inside = where(inside > values[-1], values[-1], inside)
        x_row, y_row, shape = _parted(self._select(inside, values, _rows(self)))
        M, H, D = (given[0] * y + given[1] * x for x, y in zip(x_row, y_row, strict=True))
        scale = 1.0 / H
        s = _parameter((inside - M) * scale, D * scale, shape)
        low, high = self._end_slopes
        outer = given[2] - inside
        end = where(outer < 0.0, low, high) if low or high else 0.0
        beyond = outer / (given[1] + given[0] * end if low or high else given[1])
        both = _functions(s, shape)
        v = _coordinate(x_row, *both) + beyond
        f = _coordinate(y_row, *both) + (end * beyond if low or high else 0.0)

        def slope_at(dv):
            here = s + dv / _rate(x_row, *_rates(s, shape))
            rates = _rates(here, shape)
            return where(absolute(outer) > 0.0, end, _rate(y_row, *rates) / _rate(x_row, *rates))

        return with_balance_slopes(v, f, slope_at(0.0), slope_at, gain, damping, force)

    def _place(self, x) -> tuple:
        """The parameter s, x within the ends, and of its piece dx/ds, (M, H, D) of y and the shape."""
        x_0 = self._clamped(x)
        (M, scale, d), y_row, shape = _parted(self._chosen(x_0, _scaled_rows(self)))
        plain = detach(x_0)
        s = _parameter((plain - M) * scale, d, shape)

        def x_rate(s):
            dV, dG = _rates(s, shape)
            return (dV + d * dG) / scale

        s = with_slopes(s, lambda x: [1.0 / x_rate(s + (x - plain) / x_rate(s))], x_0)
        return s, x_0, x_rate, y_row, shape

    def _unit_parameter(self, x):
        return 0.5 + 0.5 * self._place(x)[0]


# Coordinates of one piece ---------------------------------------------------------------------------------------------


def _functions(s, shape) -> tuple:
    """V and G."""
    o_0, o_1, o_2, _ = shape
    w = s * s
    return s * (o_0 + w * (o_1 + w * o_2)), 3.0 - w * (2.0 + w)


def _rates(s, shape) -> tuple:
    """dV/ds and dG/ds."""
    o_0, o_1, o_2, _ = shape
    w = s * s
    return o_0 + w * (3.0 * o_1 + w * (5.0 * o_2)), -4.0 * (s + s * w)


def _coordinate(row, V, G):
    M, H, D = row
    return M + H * V + D * G


def _rate(row, dV, dG):
    _, H, D = row
    return H * dV + D * dG


def _parameter(z, d, shape):
    """The s in [-1, 1] with ``V(s) + d G(s) = z``.

    Notes
    -----
    The start is monotone and rational in each half of the interval, with the values and slopes of the inverse at the
    ends (Gregory and Delbourgo 1982); one step of Householder's method of second order and one of third follow. Slopes
    at the ends must be positive. What is left grows with ``8 |d| / (2.5 c)``, which is 1 where a slope is zero: 5e-11
    at 0.8 and 7e-9 at 0.95 for bends of 0.58 and more. The four curves of Millard are exact to 2e-15; with a damping
    of 0.1, 0.01 and 0.001 forces in balance are equal to 1e-15, 2e-11 and 2e-6.
    """
    o_0, o_1, o_2, steepest = shape
    middle, bent = 3.0 * d, 8.0 * d
    lower = z < middle
    a, b = where(lower, -1.0, middle), where(lower, middle, 1.0)
    s_a, s_b = where(lower, steepest + bent, o_0), where(lower, o_0, steepest - bent)
    below, above, width = z - a, b - z, b - a
    across = width * (below * above)
    top = s_b * (s_a * (below * below) + across)
    bottom = (s_a * s_b) * (below * below + above * above) + (s_a + s_b) * across
    s = where(lower, -1.0, 0.0) + top / bottom
    d_4 = 4.0 * d
    for n in range(2):
        w = s * s
        V, G = _functions(s, shape)
        factor = 1.0 / (o_0 + w * (3.0 * o_1 + w * (5.0 * o_2)) - d_4 * (s + s * w))
        step = (z - V - d * G) * factor
        h = (s * (3.0 * o_1 + w * (10.0 * o_2)) - d_4 * (0.5 + 1.5 * w)) * factor
        if n:  # of third order, the first step of second order
            h = h - step * (2.0 * h * h - (o_1 + w * (10.0 * o_2) - d_4 * s) * factor)
        s = s + step * (1.0 - step * h)
    return s


# Numbers of the pieces -----------------------------------------------------------------------------------------------


def _parted(row) -> tuple:
    """(M, H, D) of x, of y, and the shape."""
    return row[:3], row[3:6], row[6:]


@once(most=64)
def _rows(curve: BezierChain) -> tuple[Coefficients, ...]:
    """M, H, D of x and of y, and the shape of each piece."""
    return tuple(
        tuple(map(float, (*_numbers(x_c, c), *_numbers(y_c, c), *_shape(c))))
        for (x_c, y_c), c in zip(curve.pieces, curve.bends, strict=True)
    )


@once(most=64)
def _scaled_rows(curve: BezierChain) -> tuple[Coefficients, ...]:
    """The same with M, 1 / H and D / H of x."""
    return tuple((M, 1.0 / H, D / H, *rest) for M, H, D, *rest in _rows(curve))


def _numbers(coefficients: Coefficients, bend: float) -> tuple[float, float, float]:
    a, b = coefficients[0], sum(coefficients)
    corner, middle = a + 0.2 * coefficients[1] / bend, 0.5 * (a + b)
    return middle, 0.5 * (b - a), 0.3125 * bend * (corner - middle)


def _shape(bend: float) -> tuple[float, float, float, float]:
    rest = 1.0 - bend
    return (5.0 + 25.0 * rest) / 16.0, (10.0 - 30.0 * rest) / 16.0, (1.0 + 5.0 * rest) / 16.0, 2.5 * bend
