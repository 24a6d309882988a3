"""The curves of Thelen (2003): exponentials, and Hill's hyperbola."""

from __future__ import annotations

import math
from dataclasses import dataclass

from kinetree.muscles.curve import Curve, VelocityCurve, with_balance_slopes
from kinetree.muscles.curve_set import MuscleCurves
from kinetree.spatial.scalar import detach, exp, sqrt, where, with_slopes

WIDTH = 0.45
AF, LARGEST = 0.25, 1.4
TOE_SHAPE, TOE_FORCE = 3.0, 0.33


@dataclass(frozen=True, slots=True)
class Bell(Curve):
    """Active force over length: ``exp(-(x - 1)^2 / 0.45)``."""

    def __call__(self, x):
        return exp((x - 1.0) * (x - 1.0) * (-1.0 / WIDTH))

    def slope(self, x):
        return (x - 1.0) * (-2.0 / WIDTH) * self(x)


@dataclass(frozen=True, slots=True)
class Toe(Curve):
    """An exponential from x = 1 to a transition, then a straight line; zero below 1.

    Parameters
    ----------
    shape : float
        The exponent at the transition.
    force, transition : float
        y there, and its distance from 1.
    stiffness : float
        Slope beyond the transition; None where the exponential does not end.
    """

    shape: float
    force: float
    transition: float
    stiffness: float | None = None

    def __call__(self, x):
        e, exponential, line = self._parts(x)
        y = self._height * (exponential - 1.0)
        if self.stiffness is not None:
            y = y + self.stiffness * line
        return where(x > 1.0, y, where(x <= 1.0, 0.0, x))

    def slope(self, x):
        e, exponential, line = self._parts(x)
        y = self._height * self.shape / self.transition * exponential
        if self.stiffness is not None:
            y = where(x - 1.0 > self.transition, self.stiffness, y)
        return where(x > 1.0, y, where(x <= 1.0, 0.0, x))

    def integral(self, x):
        e, exponential, line = self._parts(x)
        value = self._height * ((exponential - 1.0) * self.transition / self.shape - e)
        if self.stiffness is not None:
            value = value + line * (self.force + 0.5 * self.stiffness * line)
        return with_slopes(where(x > 1.0, value, where(x <= 1.0, 0.0, x)), lambda x: [self(x)], x)

    @property
    def _height(self) -> float:
        return self.force / math.expm1(self.shape)

    def _parts(self, x):
        """Strain up to the transition, its exponential, and the strain beyond."""
        strain = where(x > 1.0, x - 1.0, 0.0)
        e = strain if self.stiffness is None else where(strain > self.transition, self.transition, strain)
        return e, exp(self.shape / self.transition * e), strain - e


@dataclass(frozen=True, slots=True)
class Hill(VelocityCurve):
    """Hyperbolas through 0 at v = -1 and 1 at v = 0 that approach 1.4; zero below -1."""

    def __call__(self, v):
        shortening, lengthening = self._sides(v)
        f = (1.0 + shortening) / (1.0 - shortening * (1.0 / AF))
        k, m = 2.0 + 2.0 / AF, LARGEST - 1.0
        return where(v < 0.0, f, (LARGEST * k * lengthening + m) / (k * lengthening + m))

    def slope(self, v):
        shortening, lengthening = self._sides(v)
        k, m = 2.0 + 2.0 / AF, LARGEST - 1.0
        below, above = 1.0 - shortening * (1.0 / AF), k * lengthening + m
        return where(v < -1.0, 0.0, where(v < 0.0, (1.0 + 1.0 / AF) / (below * below), k * m * m / (above * above)))

    def balance(self, gain, damping, force):
        A, B, C = detach(gain), detach(damping), detach(force)
        k, m = 2.0 + 2.0 / AF, LARGEST - 1.0
        # Each hyperbola gives a v^2 + b v + c = 0 with opposite signs of a and c: one root of the side.
        shortening = _root(B * (-1.0 / AF), A + B + C * (1.0 / AF), A - C)
        lengthening = _root(B * k, k * (LARGEST * A - C) + B * m, (A - C) * m)
        v = where(C < A, where(C + B < 0.0, C / where(C + B < 0.0, B, 1.0), shortening), lengthening)
        slope = self.slope(v)
        return with_balance_slopes(v, self(v), slope, lambda dv: self.slope(v + dv), gain, damping, force)

    @staticmethod
    def _sides(v):
        """v where it is negative, not below -1, and where it is positive."""
        return where(v < 0.0, where(v < -1.0, -1.0, v), 0.0), where(v < 0.0, 0.0, v)


def _root(a, b, c):
    """The root of ``a v^2 + b v + c`` nearest to zero on the side of -c / b for b > 0; a may be zero."""
    square = b * b - 4.0 * a * c
    root = sqrt(where(square > 0.0, square, 0.0))
    forward = b > 0.0
    small = where(forward, b + root, 1.0)
    twice = where(forward, 1.0, 2.0 * a)
    return where(forward, -2.0 * c / small, (root - b) / where(forward, 1.0, twice))


def thelen(passive_shape: float = 5.0) -> MuscleCurves:
    """The four curves with the defaults of OpenSim's Thelen2003Muscle; the largest velocity grows with activation."""
    strain = 0.04
    grown = math.exp(TOE_SHAPE)
    toe = 0.99 * strain * grown / (1.66 * grown - 0.67)
    tendon = Toe(TOE_SHAPE, TOE_FORCE, toe, (1.0 - TOE_FORCE) / (strain - toe))
    return MuscleCurves("thelen", Bell(), Toe(passive_shape, 1.0, 0.6), Hill(), tendon, velocity_at_rest=0.25)
