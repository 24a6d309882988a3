"""Numbers with a rate: the derivative of anything that is written over scalars.

A joint defines its motion subspace S(q). The bias c_J needs its apparent derivative along a motion, which need not be
worked out by hand: S of dual numbers is S and its rate. The components may be scalars of any kind, so the
derivative of a traced subspace is traced, too.
"""

from __future__ import annotations

import operator

from kinetree.spatial import scalar
from kinetree.spatial.scalar import where


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
        return Dual(root, self.rate / (2.0 * root))

    def exp(self):
        power = scalar.exp(self.value)
        return Dual(power, power * self.rate)

    def log(self):
        return Dual(scalar.log(self.value), self.rate / self.value)

    def tanh(self):
        t = scalar.tanh(self.value)
        return Dual(t, (1.0 - t * t) * self.rate)

    def arctan2(self, other):
        x, x_rate = _parts(other)
        y, y_rate = self.value, self.rate
        return Dual(scalar.arctan2(y, x), (x * y_rate - y * x_rate) / (x * x + y * y))

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
        return Dual(where(self.truth, a, b), where(self.truth, a_rate, b_rate))

    def __and__(self, other):
        return _Condition(self.truth & _truth(other))

    __rand__ = __and__

    def __or__(self, other):
        return _Condition(self.truth | _truth(other))

    __ror__ = __or__


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
