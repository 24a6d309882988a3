"""The curves of De Groote, Kinney, Rao and Fregly (2016): smooth functions in closed form."""

from __future__ import annotations

import math
from dataclasses import dataclass

from kinetree.muscles.curve import Curve, VelocityCurve, with_balance_slopes
from kinetree.muscles.curve_set import MuscleCurves
from kinetree.spatial.scalar import absolute, detach, exp, log, sqrt, where, with_slopes

GAUSSIANS = (
    (0.8150671134243542, 1.055033428970575, 0.162384573599574, 0.063303448465465),
    (0.433004984392647, 0.716775413397760, -0.029947116970696, 0.200356847296188),
    (0.1, 1.0, 0.353553390593274, 0.0),
)
"""Height, center, width and growth of the width of each term of the active curve."""

NARROWEST = 0.03
"""Least width of a term, reached at length 0.3, where the term is 1e-42: at zero width it would not be defined."""

FACTOR, OFFSET = -0.3211346127989808, 0.8825327733249912
RATE, SHIFT = -8.149, -0.374
"""Force over velocity: FACTOR asinh(RATE v + SHIFT) + OFFSET."""

STEPS = 2
"""Of Householder's method of third order from the nearer of two bounds, and a last one of Newton's; residuals are 1e-14
for gains of 1e-4 and damping of 1e-3 and more."""


@dataclass(frozen=True, slots=True)
class Gaussians(Curve):
    """Active force over length: a sum of bell curves whose widths grow with the length."""

    def __call__(self, x):
        return sum((b * exp(-0.5 * z * z) for b, z, _, _ in self._terms(x)), start=0.0)

    def slope(self, x):
        terms = self._terms(x)
        return sum((b * exp(-0.5 * z * z) * -z * (1.0 - z * growth) / w for b, z, w, growth in terms), start=0.0)

    def _terms(self, x):
        for b, center, width, growth in GAUSSIANS:
            w = width + growth * x if growth else width
            if growth and width < 0.0:
                wide = w > NARROWEST
                w, growth = where(wide, w, NARROWEST), where(wide, growth, 0.0)
            yield b, (x - center) / w, w, growth


@dataclass(frozen=True, slots=True)
class Exponential(Curve):
    """``height (exp(rate (x - 1)) - base)``, from zero at ``1 + log(base) / rate``."""

    height: float
    rate: float
    base: float

    def __call__(self, x):
        return self.height * (exp(self.rate * (x - 1.0)) - self.base)

    def slope(self, x):
        return self.height * self.rate * exp(self.rate * (x - 1.0))

    def integral(self, x):
        start = 1.0 + math.log(self.base) / self.rate
        value = self.height * ((exp(self.rate * (x - 1.0)) - self.base) / self.rate - self.base * (x - start))
        return with_slopes(value, lambda x: [self(x)], x)


@dataclass(frozen=True, slots=True)
class ArcSinh(VelocityCurve):
    """``FACTOR asinh(RATE v + SHIFT) + OFFSET``."""

    def __call__(self, x):
        return FACTOR * _asinh(RATE * x + SHIFT) + OFFSET

    def slope(self, x):
        z = RATE * x + SHIFT
        return FACTOR * RATE / sqrt(z * z + 1.0)

    def balance(self, gain, damping, force):
        # With w = -asinh(RATE v + SHIFT): A w + B sinh(w) = C, of which both terms alone give a bound of w.
        A, B = -FACTOR * detach(gain), detach(damping) / -RATE
        C = detach(force) - OFFSET * detach(gain) - SHIFT * B
        size = absolute(C)
        tiny = 1e-30
        linear, other = size / (A + tiny), _asinh(size / (B + tiny))
        w = where(linear < other, linear, other)
        for _ in range(STEPS):
            excess, sinh, cosh = _excess(A, B, w, size)
            f1, f2, f3 = A + B * cosh, B * sinh, B * cosh
            step = excess * (6.0 * f1 * f1 - 3.0 * excess * f2)
            w = w - step / (6.0 * f1 * f1 * f1 - excess * (6.0 * f1 * f2 - excess * f3))
        excess, sinh, cosh = _excess(A, B, w, size)
        change = excess / (A + B * cosh)
        w, sinh, cosh = w - change, sinh - change * (cosh - 0.5 * change * sinh), cosh - change * sinh
        w, sinh = (where(C < 0.0, -y, y) for y in (w, sinh))
        v, f = (-sinh - SHIFT) / RATE, OFFSET - FACTOR * w
        slope = FACTOR * RATE / cosh
        return with_balance_slopes(v, f, slope, lambda dv: self.slope(v + dv), gain, damping, force)


def _excess(A, B, w, C) -> tuple:
    """``A w + B sinh(w) - C``, and sinh and cosh of w."""
    grown = exp(w)
    shrunk = 1.0 / grown
    sinh, cosh = 0.5 * (grown - shrunk), 0.5 * (grown + shrunk)
    return A * w + B * sinh - C, sinh, cosh


def _asinh(z):
    plain = detach(z)
    size = absolute(plain)
    value = log(size + sqrt(size * size + 1.0))
    return with_slopes(where(plain < 0.0, -value, value), lambda z: [1.0 / sqrt(z * z + 1.0)], z)


def degroote_fregly() -> MuscleCurves:
    """The four curves with the defaults of OpenSim's DeGrooteFregly2016Muscle.

    The passive force begins at length 0.2; the tendon pushes where it is shorter than slack.
    """
    shape, strain, least = 4.0, 0.6, 0.2
    base = math.exp(shape * (least - 1.0) / strain)
    passive = Exponential(1.0 / (math.exp(shape) - base), shape / strain, base)
    tendon = Exponential(0.2, math.log(1.2 / 0.2) / 0.049, 1.0)
    return MuscleCurves("degroote_fregly", Gaussians(), passive, ArcSinh(), tendon)
