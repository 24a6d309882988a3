"""Numbers with a rate: the derivative of anything that is written over scalars.

A joint defines its motion subspace S(q). The bias c_J needs its apparent derivative along a motion, which need not be
worked out by hand: S of dual numbers is S and its rate. The components may be scalars of any kind, so the
derivative of a traced subspace is traced, too.
"""

from __future__ import annotations

import math
import operator

from kinetree.spatial import scalar
from kinetree.spatial.scalar import is_zero, where


def _compared(comparison):
    return lambda self, other: _Condition(comparison(self.value, _parts(other)[0]))


class Dual:
    """A scalar and its rate of change.

    Parameters
    ----------
    value, rate : scalar
        The scalar x and dx/dt.

    Examples
    --------
    >>> x = Dual(3.0, 1.0)
    >>> (x * x).rate
    6.0
    """

    __slots__ = ("rate", "value")
    __array_ufunc__ = None  # array * Dual is computed by Dual
    __hash__ = None

    def __init__(self, value, rate=0.0):
        self.value = value
        self.rate = rate

    def __repr__(self) -> str:
        return f"Dual({self.value!r}, {self.rate!r})"

    # Sums, products, quotients -----------------------------------------------------------------------------------

    def __neg__(self):
        return Dual(-self.value, -self.rate)

    def __pos__(self):
        return self

    def __add__(self, other):
        value, rate = _parts(other)
        return Dual(self.value + value, self.rate + rate)

    __radd__ = __add__

    def __sub__(self, other):
        value, rate = _parts(other)
        return Dual(self.value - value, self.rate - rate)

    def __rsub__(self, other):
        value, rate = _parts(other)
        return Dual(value - self.value, rate - self.rate)

    def __mul__(self, other):
        value, rate = _parts(other)
        return Dual(self.value * value, self.rate * value + self.value * rate)

    __rmul__ = __mul__

    def __truediv__(self, other):
        value, rate = _parts(other)
        quotient = self.value / value
        return Dual(quotient, (self.rate - quotient * rate) / value)

    def __rtruediv__(self, other):
        return Dual(other) / self

    def __pow__(self, exponent: int):
        if not isinstance(exponent, int) or exponent < 0:
            raise TypeError("a scalar can be raised to a natural number only; use sqrt, exp and log for other powers")
        power = Dual(1.0)
        for _ in range(exponent):
            power = self * power
        return power

    # Comparisons use the value; the condition chooses value and rate together --------------------------------------

    __lt__, __le__, __gt__, __ge__ = map(_compared, (operator.lt, operator.le, operator.gt, operator.ge))

    # The functions of kinetree.spatial.scalar ----------------------------------------------------------------------

    def sincos(self):
        s, c = scalar.sincos(self.value)
        return Dual(s, c * self.rate), Dual(c, -(s * self.rate))

    def sin(self):
        return self.sincos()[0]

    def cos(self):
        return self.sincos()[1]

    def sqrt(self):
        root = scalar.sqrt(self.value)
        return Dual(root, _slope(self.rate, 2.0 * root))

    def exp(self):
        power = scalar.exp(self.value)
        return Dual(power, power * self.rate)

    def log(self):
        return Dual(scalar.log(self.value), self.rate / self.value)

    def tanh(self):
        t = scalar.tanh(self.value)
        return Dual(t, (1.0 - t * t) * self.rate)

    def detach(self):
        return Dual(self.value)

    def arctan2(self, other):
        x, x_rate = _parts(other)
        y, y_rate = self.value, self.rate
        return Dual(scalar.arctan2(y, x), _slope(x * y_rate - y * x_rate, x * x + y * y))

    def absolute(self):
        return Dual(scalar.absolute(self.value), scalar.sign(self.value) * self.rate)

    def lift(self, x):
        """A number that does not change."""
        return Dual(x)


class _Condition:
    """The outcome of a comparison of duals."""

    __slots__ = ("truth",)

    def __init__(self, truth):
        self.truth = truth

    def where(self, a, b):
        (a, a_rate), (b, b_rate) = _parts(a), _parts(b)
        if isinstance(a_rate, Partials) or isinstance(b_rate, Partials):
            return Dual(where(self.truth, a, b), Partials.chosen(self.truth, a_rate, b_rate))
        return Dual(where(self.truth, a, b), where(self.truth, a_rate, b_rate))

    def __and__(self, other):
        return _Condition(self.truth & _truth(other))

    __rand__ = __and__

    def __or__(self, other):
        return _Condition(self.truth | _truth(other))

    __ror__ = __or__


class Partials:
    """Rates along several directions, of which most are zero: a rate of `Dual`.

    Parameters
    ----------
    along : dict
        The rates that are not zero, by direction.

    Notes
    -----
    In sums with anything else the other one is a rate of zero: all rates of one computation are of one kind.

    Examples
    --------
    >>> x, y = Dual(3.0, Partials({"x": 1.0})), Dual(2.0, Partials({"y": 1.0}))
    >>> (x * y).rate.along
    {'x': 2.0, 'y': 3.0}
    """

    __slots__ = ("along",)
    __array_ufunc__ = None

    def __init__(self, along: dict) -> None:
        self.along = {n: x for n, x in along.items() if not vanishes(x)}

    def __neg__(self):
        return Partials({n: -x for n, x in self.along.items()})

    def __add__(self, other):
        if not isinstance(other, Partials):
            return self
        mine, theirs = self.along, other.along
        return Partials({
            n: mine[n] + theirs[n] if n in mine and n in theirs else mine.get(n, theirs.get(n)) for n in mine | theirs
        })  # fmt: skip

    __radd__ = __add__

    def __sub__(self, other):
        return self + -other if isinstance(other, Partials) else self

    def __rsub__(self, other):
        return -self

    def __mul__(self, scale):
        return Partials({n: x * scale for n, x in self.along.items()})

    __rmul__ = __mul__

    def __truediv__(self, scale):
        return self * (1.0 / scale) if len(self.along) > 1 else Partials({n: x / scale for n, x in self.along.items()})

    @staticmethod
    def chosen(truth, a, b) -> Partials:
        """The rates of one of two scalars."""
        a, b = (x.along if isinstance(x, Partials) else {} for x in (a, b))
        return Partials({n: where(truth, a.get(n, 0.0), b.get(n, 0.0)) for n in a | b})


def vanishes(x) -> bool:
    """Whether a scalar is zero by structure: a zero, or an expression that was folded to one."""
    return is_zero(x) or is_zero(getattr(x, "constant", None))


def _slope(rate, by):
    """A quotient; of floats at a point without a slope NaN, as of arrays, or zero for a rate of zero."""
    if type(by) is float and by == 0.0:
        return 0.0 if is_zero(rate) else math.nan
    return rate / by


def _parts(x):
    return (x.value, x.rate) if isinstance(x, Dual) else (x, 0.0)


def _truth(condition):
    return condition.truth if isinstance(condition, _Condition) else condition


def rate_of(x):
    """The rate of change of a scalar: that of a Dual, and 0.0 for anything else, which does not change."""
    return x.rate if isinstance(x, Dual) else 0.0


def value_of(x):
    """The scalar without its rate of change: that of a Dual, and anything else as it is."""
    return x.value if isinstance(x, Dual) else x
