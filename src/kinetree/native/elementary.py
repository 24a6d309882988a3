"""Exponential, logarithm, hyperbolic tangent and arctan2 as formulas that machine code and C write out.

`Elementary` computes with operands that have ``+ - * /``, ``fma``, comparisons, ``select`` and casts to the bits of a
number: `llvm_code.Value` in one lane or many, `several.Several` of them, `CValue` in C and CUDA. No tables, no
branches, the same bits in every form. Errors are below one unit in the last place, for subnormal arguments and results,
too; zeros of both signs, infinities and NaN give what C99 (annex F) lists.

Sources: the reductions of fdlibm (Sun, 1993); minimax polynomials by Remez' algorithm in 60 digits, evaluated in pairs
(G. Estrin, 1960), which halves the time of a single call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

HALF_PI = {
    "double": (1.5707963267948966, 6.123233995736766e-17),
    "float": (1.57079637050628662109375, -4.37113900018624283e-8),
}
"""Half of pi as a sum of two numbers."""

EIGHTHS = {
    "double": tuple((k * HALF_PI["double"][0] / 2, k * HALF_PI["double"][1] / 2) for k in (1, 2, 3, 4)),
    "float": (
        (0.7853981852531433, -2.1855694143368964e-08), (1.5707963705062866, -4.371138828673793e-08),
        (2.356194496154785, -5.962440319251527e-09), (3.1415927410125732, -8.742277657347586e-08),
    ),
}  # fmt: skip
"""One to four eighths of a turn, each as a sum of two numbers."""

ROUNDER = {"double": 1.5 * 2.0**52, "float": 1.5 * 2.0**23}
"""A number that rounds another to an integer when it is added and subtracted again; the sum's low bits hold it."""


@dataclass(frozen=True)
class Format:
    """A floating-point format, and the polynomials that suffice for it.

    Parameters
    ----------
    mantissa, bias : int
        Bits after the point, and the exponent's bias.
    log2 : (float, float)
        log 2 as a sum; products of the first part with exponents are exact.
    largest, smallest : float
        Limits beyond which the exponential is infinite, or zero.
    one : float
        Where the hyperbolic tangent is 1.
    border, lift : float
        Factors that keep divisions away from subnormal numbers: below the border the lift, above it its inverse.
    exp, log, arctan : tuple of float
        Coefficients, the lowest first: of Q in exp(r) = 1 + r + r^2/2 + r^3 Q(r), |r| <= log(2)/2; of P in
        log((1 + s)/(1 - s)) = 2 s + s z P(z), z = s^2, |s| <= 3 - sqrt(8); of P in
        arctan(t) = t + t z P(z), z = t^2, |t| <= sqrt(2) - 1.
    """

    mantissa: int
    bias: int
    log2: tuple[float, float]
    largest: float
    smallest: float
    one: float
    border: float
    lift: float
    exp: tuple[float, ...]
    log: tuple[float, ...]
    arctan: tuple[float, ...]


FORMATS = {
    "double": Format(
        mantissa=52, bias=1023, log2=(6.93147180369123816490e-01, 1.90821492927058770002e-10),
        largest=710.0, smallest=-746.0, one=22.0, border=2.0**900, lift=2.0**100,
        exp=(
            0.16666666666666688, 0.04166666666660239, 0.008333333333313715, 0.0013888888927449906,
            0.00019841269905381608, 2.4801507843130313e-05, 2.7557225653134112e-06, 2.7625526433111734e-07,
            2.5115231031719552e-08,
        ),
        log=(
            0.6666666666666735, 0.3999999999941106, 0.28571428743266947, 0.2222219847565969, 0.18183569755517862,
            0.1531390282030544, 0.14797512481851044,
        ),
        arctan=(
            -0.333333333333332, 0.19999999999953902, -0.142857142802296, 0.11111110785153107, -0.09090897807088161,
            0.0769206109760473, -0.06663114068851532, 0.058479617281431785, -0.05039627668020087, 0.03807266166463794,
            -0.017915953273643773,
        ),
    ),
    "float": Format(
        mantissa=23, bias=127, log2=(0.693359375, -2.12194440e-4),
        largest=89.0, smallest=-104.0, one=10.0, border=2.0**80, lift=2.0**30,
        exp=(0.1666651964187622, 0.041666384786367416, 0.008368795737624168, 0.0013942050281912088),
        log=(0.6666666269302368, 0.4000033736228943, 0.28537240624427795, 0.23583556711673737),
        arctan=(
            -0.33333316445350647, 0.1999848634004593, -0.14243799448013306, 0.10595623403787613, -0.06082452833652496,
        ),
    ),
}  # fmt: skip


class Elementary:
    """The functions over operands of one kind.

    Parameters
    ----------
    element : str
        ``"double"`` or ``"float"``.
    kind, integer : str
        The types of operands and of their bits, as ``operand.cast("bitcast", kind)`` takes them.
    multiply_add : callable
        a b + c, rounded once or twice. Where the result rests on one rounding, ``fma`` of the operands is used.
    """

    def __init__(self, element: str, kind: str, integer: str, multiply_add: Callable) -> None:
        self.element, self.kind, self.integer = element, kind, integer
        self.multiply_add = multiply_add
        self.format = FORMATS[element]
        self.sign = -(1 << self.format.mantissa + (11 if element == "double" else 8))

    def bits(self, x):
        """The bits of a number."""
        return x.cast("bitcast", self.integer)

    def number(self, bits):
        """The number with some bits."""
        return bits.cast("bitcast", self.kind)

    def choose(self, condition, a, b):
        """a where a condition holds, else b."""
        return condition.select(a, b, self.kind)

    def signed(self, x, other):
        """A number that is not negative, with the sign of another."""
        return self.number(self.bits(x) | self.bits(other) & self.sign)

    def polynomial(self, coefficients: Sequence[float], x):
        """The polynomial with coefficients, the lowest first, in pairs, pairs of pairs and so on."""
        values, power = list(coefficients), x
        while len(values) > 1:
            pairs = zip(values[::2], values[1::2], strict=False)
            after = [self.multiply_add(power, b, a) for a, b in pairs]
            values = after + values[len(values) // 2 * 2 :]
            if len(values) > 1:
                power = power * power
        return values[0]

    def power_of_two(self, shifted):
        """2^k of the sum k + ROUNDER."""
        return self.number((self.bits(shifted) + self.format.bias) << self.format.mantissa)

    def reduced(self, x):
        """k + ROUNDER, k, r, and the rest of r's rounding, where x = k log 2 + r."""
        add, (high, low), rounder = self.multiply_add, self.format.log2, ROUNDER[self.element]
        shifted = add(x, 1.4426950408889634, rounder)
        k = shifted - rounder
        first, second = add(k, -high, x), k * low  # the first product is exact
        r = first - second
        return shifted, k, r, (first - r) - second

    def exp(self, x):
        """Exponential: 2^k exp(r), scaled in two steps, so that subnormal results are rounded once."""
        shifted, k, r, rest = self.reduced(x)
        rest = self.multiply_add(r * r, self.polynomial((0.5, *self.format.exp), r), rest)
        half = self.multiply_add(k, 0.5, ROUNDER[self.element])
        other = self.bits(shifted) - self.bits(half)
        first = self.power_of_two(half)
        second = self.number((other + self.format.bias) << self.format.mantissa)
        whole = r + 1.0
        value = self.multiply_add((r - (whole - 1.0)) + rest, first, whole * first) * second
        value = self.choose(x > self.format.largest, float("inf"), value)
        return self.choose(x < self.format.smallest, 0.0, value)

    def log(self, x):
        """Natural logarithm: k log 2 + log(1 + f), 1 + f between sqrt(1/2) and sqrt(2)."""
        form = self.format
        least, far = 2.0 ** (1 - form.bias), float(form.mantissa + 2)
        tiny = x < least
        y = self.choose(tiny, x * 2.0**far, x)
        root, one = (0x3FE6A09E667F3BCD, 0x3FF0 << 48) if self.element == "double" else (0x3F3504F3, 0x3F800000)
        moved = self.bits(y) + (one - root)
        whole = 2.0**form.mantissa
        bits = (form.bias + form.mantissa) << form.mantissa  # of `whole`
        origin = whole + form.bias
        k = self.number((moved >> form.mantissa) | bits) - self.choose(tiny, origin + far, origin)
        f = self.number((moved & ((1 << form.mantissa) - 1)) + root) - 1.0
        s = f / (f + 2.0)
        z = s * s
        half = f * f * 0.5
        series = self.multiply_add(z, self.polynomial(form.log, z), half)
        high, low = form.log2
        tail = self.multiply_add(s, series, k * low)
        found = k * high - ((half - tail) - f)
        found = self.choose(x.equals(float("inf")), x, found)
        none = self.choose(x.equals(0.0), float("-inf"), float("nan"))
        return self.choose(x > 0.0, found, none)

    def tanh(self, x):
        """Hyperbolic tangent: E/(E + 2) with E = exp(2 |x|) - 1, both with the rest of their rounding."""
        y = abs(x)
        shifted, _, r, rest = self.reduced(y + y)
        scale = self.power_of_two(shifted)
        halved, square = r * 0.5, r * r
        half = halved * r
        rest = self.multiply_add(square * r, self.polynomial(self.format.exp, r), rest + halved.fma(r, -half))
        most = r + half
        rest = (half - (most - r)) + rest
        p = most + rest
        small = scale * (rest - (p - most))
        b = scale * p
        less, more = scale - 1.0, scale + 1.0
        over, under = less + b, more + b
        over_rest = b - (over - less) + (scale - less - 1.0) + small
        under_rest = b - (under - more) + (scale - more + 1.0) + small
        inverse = 1.0 / under
        ratio = over * inverse
        left = (-ratio).fma(under, over) + (over_rest - ratio * under_rest)
        value = self.choose(y > self.format.one, 1.0, self.multiply_add(left, inverse, ratio))
        return self.signed(value, x)

    def arctan2(self, y, x):
        """Angle of the point (x, y): a multiple of pi/4, plus or minus an arctan.

        That of the shorter side over the longer one where it is below pi/8, else of their difference over their sum.
        The numbers of the fraction and its value have the rests of their rounding beside them.
        """
        choose, add, form = self.choose, self.multiply_add, self.format
        width, height = abs(x), abs(y)
        steep = height > width
        short, long = choose(steep, width, height), choose(steep, height, width)
        infinite = long.equals(float("inf"))
        short = choose(infinite, choose(short.equals(long), 1.0, short * 0.0), short)
        long = choose(infinite, 1.0, choose(long.equals(0.0), 1.0, long))
        # So that neither the inverse nor the rest of the division is subnormal.
        scale = choose(long > form.border, 1.0 / form.lift, form.lift)
        short, long = short * scale, long * scale
        middle = short > long * 0.41421356237309503
        total, less = long + short, short - long
        above, above_rest = choose(middle, less, short), choose(middle, short - (less + long), 0.0)
        below, below_rest = choose(middle, total, long), choose(middle, short - (total - long), 0.0)
        inverse = 1.0 / below
        t = above * inverse
        z = t * t
        slope = add(z, -0.87, 1.0)  # 1/(1 + z) to two digits
        rest = ((-t).fma(below, above) + (above_rest - t * below_rest)) * inverse * slope
        rest = add(t * z, self.polynomial(form.arctan, z), rest)
        left = self.bits(x) & self.sign
        behind = self.number(left | form.bias << form.mantissa) < 0.0  # -1 or 1
        turned = left ^ self.bits(choose(steep, -0.0, 0.0))
        t, rest = (self.number(self.bits(value) ^ turned) for value in (t, rest))
        base, base_rest = (
            choose(middle, choose(behind, three, one), choose(steep, two, choose(behind, four, 0.0)))
            for one, two, three, four in zip(*EIGHTHS[self.element], strict=True)
        )
        angle = base + t
        return self.signed(angle + ((t - (angle - base)) + (rest + base_rest)), y)
