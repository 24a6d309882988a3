"""The scalar functions of the exponential and tangent maps, with their derivatives, over any scalar.

All are analytic functions of the *squared* angle t = a^2, so a rotation vector of length zero needs no special case:

=====  ===========================  ==============================================
name   function                     where it occurs
=====  ===========================  ==============================================
A      sin(a) / a                   exponential
B      (1 - cos a) / a^2            exponential, tangent maps
C      (a - sin a) / a^3            tangent maps
D      (1 - (a/2) cot(a/2)) / a^2   inverse tangent maps; singular at a full turn
=====  ===========================  ==============================================

Below t = 1 the closed forms cancel, and their series take over, chosen by :func:`where` with guarded arguments. The
coefficients are rational numbers; extended precision uses more of them, in its own rounding.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from math import comb, factorial

import numpy as np

from kinetree.errors import SingularityError
from kinetree.spatial.scalar import sincos, sqrt, where

TERMS = 10  # of the trigonometric series: the first omitted term is below 1e-20 of the sum for t < 1
MORE = 4  # further terms in extended precision, for second derivatives


class Series:
    """A power series with rational coefficients, evaluated by Horner's rule; the last ones serve long doubles only."""

    def __init__(self, coefficients) -> None:
        self.coefficients = tuple(coefficients)
        self.floats = tuple(float(c) for c in self.coefficients[:-MORE])

    @cached_property
    def extended(self) -> tuple:
        """The coefficients as long doubles, which parse integers of any length exactly only from text."""
        long = np.longdouble
        return tuple(long(str(c.numerator)) / long(str(c.denominator)) for c in self.coefficients)

    @cached_property
    def rate(self) -> Series:
        """The series of the derivative."""
        return Series([k * c for k, c in enumerate(self.coefficients)][1:])

    def derivative(self, order: int) -> Series:
        """The series of the derivative of an order."""
        return self if order == 0 else self.rate.derivative(order - 1)

    def __call__(self, t):
        coefficients = self.extended if _is_extended(t) else self.floats
        value = coefficients[-1]
        for c in reversed(coefficients[:-1]):
            value = value * t + c
        return value


def _is_extended(t) -> bool:
    """Whether t, or the value of a number with a rate, is a long double."""
    while hasattr(t, "value"):
        t = t.value
    return getattr(t, "dtype", None) == np.longdouble


def _trigonometric(first):
    """sum (-1)^k t^k / (first + 2k)!."""
    return Series(Fraction((-1) ** k, factorial(first + 2 * k)) for k in range(TERMS + MORE))


def _bernoulli(count):
    """B_0, B_1, ... by their recursion."""
    numbers = [Fraction(1)]
    for n in range(1, count):
        numbers.append(-sum((comb(n + 1, k) * numbers[k] for k in range(n)), Fraction(0)) / (n + 1))
    return numbers


COS = Series([Fraction(1), *(-c for c in _trigonometric(2).coefficients)])  # cos(sqrt(t))
SINC = _trigonometric(1)  # A
COSC = _trigonometric(2)  # B
SINCC = _trigonometric(3)  # C
COTC = Series(abs(B) / factorial(2 * k) for k, B in list(enumerate(_bernoulli(34)[::2]))[1:])  # D, ratio t / 39.5
ARCTAN = Series(Fraction((-1) ** k, 2 * k + 1) for k in range(10 + MORE))  # arctan(x) / x, used below x^2 = 0.01


def _guarded(t):
    """(t < 1, t with 1 in place of the small ones, sin and cos of its root, the root)."""
    small = t < 1.0
    safe = where(small, 1.0, t)
    angle = sqrt(safe)
    s, c = sincos(angle)
    return small, safe, s, c, angle


def cos_sinc(t):
    """cos(a) and sin(a)/a."""
    small, _, s, c, angle = _guarded(t)
    return where(small, COS(t), c), where(small, SINC(t), s / angle)


def exp_coefficients(t, order: int = 0) -> tuple:
    """A, B, C of the exponential and its tangent maps, or their derivatives of order 1 or 2 with respect to t."""
    small, safe, s, c, angle = _guarded(t)
    values = _exp_closed(safe, s, c, angle, order)[order]
    return tuple(where(small, f.derivative(order)(t), x) for f, x in zip((SINC, COSC, SINCC), values, strict=True))


def log_coefficient(t, order: int = 0):
    """D of the inverse tangent maps, or its derivative; singular at a full turn, where the logarithm is."""
    small, safe, s, c, angle = _guarded(t)
    _refuse_full_turns(angle, c)
    value = _log_closed(safe, s, c, angle, order)
    return where(small, COTC.derivative(order)(t), value)


def _refuse_full_turns(angle, cosine):
    """Numbers, also dual ones, at a full turn: D is infinite there. Traced code cannot raise."""
    while hasattr(angle, "value"):
        angle, cosine = angle.value, cosine.value
    if isinstance(cosine, (float, np.ndarray, np.generic)) and np.any(cosine == 1.0):
        raise SingularityError(
            f"a rotation vector of {np.ravel(np.abs(angle))[np.argmax(cosine)]:.9g} rad is a full turn, where the "
            "logarithm and the inverse tangent maps are singular. Take the rotation vector of the same rotation with a "
            "length of at most pi.",
        )


def _exp_closed(t, s, c, angle, order: int) -> list[tuple]:
    """(A, B, C) and their derivatives up to an order in closed form, away from zero."""
    A = s / angle
    B = (1.0 - c) / t
    C = (1.0 - A) / t
    found = [(A, B, C)]
    if order > 0:
        dA = (c - A) / (2.0 * t)
        dB = (0.5 * A - B) / t
        dC = (-dA - C) / t
        found.append((dA, dB, dC))
    if order > 1:
        ddA = (-0.5 * A - 3.0 * dA) / (2.0 * t)
        found.append((ddA, (0.5 * dA - 2.0 * dB) / t, (-ddA - 2.0 * dC) / t))
    return found


def _log_closed(t, s, c, angle, order: int):
    """D or its derivative of an order in closed form, away from zero."""
    if order == 0:
        return (1.0 - 0.5 * angle * s / (1.0 - c)) / t
    (A, B, _), (dA, dB, _), *second = _exp_closed(t, s, c, angle, order)
    G = A / (2.0 * B)  # (a/2) cot(a/2) = 1 - t D
    dG = (dA * B - A * dB) / (2.0 * B * B)
    dD = (-dG - (1.0 - G) / t) / t
    if order == 1:
        return dD
    ((ddA, ddB, _),) = second
    ddG = (ddA * B - A * ddB) / (2.0 * B * B) - 2.0 * dB / B * dG
    return (-ddG - 2.0 * dD) / t
