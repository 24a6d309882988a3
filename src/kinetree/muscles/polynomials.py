"""Curves in polynomial pieces, parametric in u from 0 to 1, and the inverse of a monotone polynomial.

A piece is a pair of polynomials x(u), y(u) with linear x(u); those of Bezier curves, which are not, are in `bezier`.
Pieces are selected by comparisons, so all runs on expressions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.polynomial import polynomial

from kinetree.muscles.curve import VelocityCurve, with_balance_slopes
from kinetree.once import once
from kinetree.spatial.scalar import absolute, detach, where, with_slopes

Coefficients = tuple[float, ...]
"""Of a polynomial in u, the constant first."""


def horner(c: Sequence, u):
    """The polynomial with coefficients c at u."""
    total = c[-1]
    for k in reversed(c[:-1]):
        total = total * u + k
    return total


def derived(c: Sequence) -> list:
    """Coefficients of the derivative."""
    return [x * float(n) for n, x in enumerate(c)][1:]


def inverse(c: Sequence, x, steps: int = 4):
    """The u in [0, 1] at which an increasing polynomial is x, to rounding.

    Notes
    -----
    The start is monotone and rational in each half of the interval, with the values and slopes of the inverse at the
    ends (Gregory and Delbourgo 1982). Of the pieces used here it is off by 0.03 at most; one step of Householder's
    method of second order and one of third then leave 1e-15. Slopes at the ends must be positive; where one is nearly
    zero, of a cubic with damping 1e-3 of its gain, it takes four.
    """
    ends = [horner(c, u) for u in (0.0, 0.5, 1.0)]
    first, second, third = (derived(c), derived(derived(c)), derived(derived(derived(c))))
    slopes = [horner(first, u) for u in (0.0, 0.5, 1.0)]
    lower = x < ends[1]
    a, b, s_a, s_b = (
        where(lower, left, right)
        for left, right in ((ends[0], ends[1]), (ends[1], ends[2]), (slopes[0], slopes[1]), (slopes[1], slopes[2]))
    )
    z, rest = x - a, b - x
    width = 2.0 * (b - a)
    # u = (z^2 s_a s_b + width z rest s_b) / (...): the rational function with slopes width / s_a and width / s_b.
    across = z * rest
    top = s_b * (s_a * z * z + width * across)
    bottom = s_a * s_b * (z * z + rest * rest) + width * (s_a + s_b) * across
    u = where(lower, 0.0, 0.5) + 0.5 * top / bottom
    for n in range(steps):
        scale = 1.0 / horner(first, u)
        d = (x - horner(c, u)) * scale
        h = horner(second, u) * scale * 0.5
        if n and third:  # of third order, the first step of second order
            h = h - d * (2.0 * h * h - horner(third, u) * scale * (1.0 / 6.0))
        u = u + d * (1.0 - d * h)
    return u


@dataclass(frozen=True, slots=True)
class Piecewise(VelocityCurve):
    """A curve in polynomial pieces; beyond its ends it goes on straight, with the slopes there.

    Parameters
    ----------
    knots : tuple of float
        x at the ends of the pieces, ascending.
    pieces : tuple of (Coefficients, Coefficients)
        x(u) and y(u), u from 0 to 1; x(u) is linear.
    """

    knots: tuple[float, ...]
    pieces: tuple[tuple[Coefficients, Coefficients], ...]

    def __call__(self, x):
        u, x_0, x_c, y_c = self._at(x)
        return self._continued(horner(y_c, u), x, x_0)

    def slope(self, x):
        u, _, x_c, y_c = self._at(x)
        return horner(derived(y_c), u) / horner(derived(x_c), u)

    def integral(self, x):
        plain = detach(x)
        inside = self._clamped(plain)
        u = self._unit_parameter(inside)
        beyond = plain - inside
        low, high = self._end_slopes
        y_end = where(beyond < 0.0, self._ends[0], self._ends[1])
        value = horner(self._chosen(inside, self._integrals), u)
        value = value + beyond * (y_end + 0.5 * beyond * where(beyond < 0.0, low, high))
        return with_slopes(value, lambda x: [self(x)], x)

    def balance(self, gain, damping, force):
        # On each piece both sides are polynomials in u, so their weighted sum is inverted as a curve is.
        given = [detach(value) for value in (gain, damping, force)]
        values = [given[0] * y + given[1] * x for x, y in zip(self.knots, self._at_knots, strict=True)]
        inside = where(given[2] < values[0], values[0], given[2])
        inside = where(inside > values[-1], values[-1], inside)
        x_c, y_c = (self._select(inside, values, [piece[n] for piece in self.pieces]) for n in (0, 1))
        x_c += [0.0] * (len(y_c) - len(x_c))
        weighted = [given[0] * y + given[1] * x for x, y in zip(x_c, y_c, strict=True)]
        u = inverse(weighted, inside)
        low, high = self._end_slopes
        outer = given[2] - inside
        outer_slope = given[1] + given[0] * where(outer < 0.0, low, high) if low or high else given[1]
        x_s, y_s = derived(x_c), derived(y_c)
        v, end = horner(x_c, u) + outer / outer_slope, where(outer < 0.0, low, high) if low or high else 0.0
        y = horner(y_c, u) + (end * outer / outer_slope if low or high else 0.0)

        def slope_at(dv):
            here = u + dv / horner(x_s, u)
            return where(absolute(outer) > 0.0, end, horner(y_s, here) / horner(x_s, here))

        return with_balance_slopes(v, y, slope_at(0.0), slope_at, gain, damping, force)

    # Pieces ----------------------------------------------------------------------------------------------------------

    def _at(self, x) -> tuple:
        """The parameter u, x within the ends, and the polynomials of its piece."""
        x_0 = self._clamped(x)
        x_c, y_c = (self._chosen(x_0, [piece[n] for piece in self.pieces]) for n in (0, 1))
        return (x_0 - x_c[0]) / x_c[1], x_0, x_c, y_c

    def _unit_parameter(self, x):
        """The parameter u at an x within the ends."""
        start, width = self._chosen(x, [x_c for x_c, _ in self.pieces])
        return (x - start) / width

    def _clamped(self, x):
        x = where(x < self.knots[0], self.knots[0], x)
        return where(x > self.knots[-1], self.knots[-1], x)

    def _continued(self, y, x, x_0):
        low, high = self._end_slopes
        if low:
            y = y + where(x < self.knots[0], low * (x - x_0), 0.0)
        if high:
            y = y + where(x > self.knots[-1], high * (x - x_0), 0.0)
        return y

    def _chosen(self, x, rows: Sequence[Sequence[float]]) -> list:
        return self._select(x, self.knots, rows)

    def _select(self, x, knots: Sequence, rows: Sequence[Sequence[float]]) -> list:
        """The row of the piece whose knots enclose x."""
        below = [x < knot for knot in knots[1:-1]]
        chosen, after = list(rows[-1]), rows[-1]
        for condition, row in zip(reversed(below), reversed(rows[:-1]), strict=True):
            equal = [a is b or (isinstance(a, float) and a == b) for a, b in zip(row, after, strict=True)]
            chosen = [old if same else where(condition, new, old)
                      for new, old, same in zip(row, chosen, equal, strict=True)]  # fmt: skip
            after = row
        return chosen

    @property
    def _ends(self) -> tuple[float, float]:
        return self._at_knots[0], self._at_knots[-1]

    @property
    def _at_knots(self) -> list[float]:
        return [y_c[0] for _, y_c in self.pieces] + [sum(self.pieces[-1][1])]

    @property
    def _end_slopes(self) -> tuple[float, float]:
        return _end_slopes(self)

    @property
    def _integrals(self) -> tuple[Coefficients, ...]:
        return _integrals(self)


@once(most=64)
def _end_slopes(curve: Piecewise) -> tuple[float, float]:
    """Slopes at the first and at the last knot; residues of rounding are zero."""
    found = []
    for (x_c, y_c), u in ((curve.pieces[0], 0.0), (curve.pieces[-1], 1.0)):
        slope = float(polynomial.polyval(u, derived(y_c)) / polynomial.polyval(u, derived(x_c)))
        found.append(0.0 if abs(slope) < 1e-9 else slope)
    return found[0], found[1]


@once(most=64)
def _integrals(curve: Piecewise) -> tuple[Coefficients, ...]:
    """The integral of y dx in each piece as a polynomial in u, continuous from piece to piece."""
    found, before = [], 0.0
    for x_c, y_c in curve.pieces:
        c = polynomial.polyint(polynomial.polymul(y_c, polynomial.polyder(x_c)))
        c[0] = before
        before = float(np.sum(c))
        found.append(tuple(map(float, c)))
    return tuple(found)
