"""Functions of time for prescribed motion, as data, over scalars of any kind.

The motion of a joint as a function of time is one of these, or any callable over scalars, written with the functions of
`kinetree.spatial.scalar`. Rates are never given: they follow by differentiation (`derivatives`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from kinetree.errors import JointError
from kinetree.joints.axes import finite
from kinetree.joints.dual import Dual, rate_of, value_of
from kinetree.joints.spline_basis import Segments, wrapped
from kinetree.once import once
from kinetree.spatial.scalar import sin, sincos

ENDS = ("natural", "rest", "periodic")


@dataclass(frozen=True, slots=True)
class Polynomial:
    """``c_0 + c_1 s + c_2 s^2 + ...`` with ``s = t - start``.

    Parameters
    ----------
    coefficients : sequence of float
        c_0, c_1, ... in the unit of the quantity, per second, per second squared.
    start : float
        [s].

    Examples
    --------
    >>> Polynomial((1.0, 0.0, 0.5))(2.0)
    3.0
    """

    coefficients: tuple[float, ...]
    start: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "coefficients", _floats(self.coefficients, "polynomial", "coefficients"))
        object.__setattr__(self, "start", finite(self.start, "polynomial: start"))

    def __call__(self, t):
        s = t - self.start if self.start else t
        *lower, total = self.coefficients
        for c in reversed(lower):
            total = total * s + c
        return total


@dataclass(frozen=True, slots=True)
class Sinusoid:
    """``offset + amplitude sin(omega t + phase)``.

    Parameters
    ----------
    amplitude : float
    omega : float
        [rad/s].
    phase : float
        [rad].
    offset : float

    Examples
    --------
    >>> Sinusoid(2.0, omega=3.0, offset=1.0)(0.0)
    1.0
    """

    amplitude: float
    omega: float
    phase: float = 0.0
    offset: float = 0.0

    def __post_init__(self) -> None:
        for name in self.__slots__:
            object.__setattr__(self, name, finite(getattr(self, name), f"sinusoid: {name}"))

    def __call__(self, t):
        angle = t * self.omega
        wave = sin(angle + self.phase if self.phase else angle) * self.amplitude
        return wave + self.offset if self.offset else wave


@dataclass(frozen=True, slots=True)
class FourierSeries:
    """``offset + sum_k a_k cos(k omega t) + b_k sin(k omega t)``, k = 1, 2, ...

    Parameters
    ----------
    omega : float
        Of the fundamental [rad/s].
    cosines, sines : sequence of float
        a_1, a_2, ... and b_1, b_2, ...; either may be shorter.
    offset : float

    Examples
    --------
    >>> FourierSeries(2.0, cosines=(0.5,), sines=(0.0, 1.0))(0.0)
    0.5
    """

    omega: float
    cosines: tuple[float, ...] = ()
    sines: tuple[float, ...] = ()
    offset: float = 0.0

    def __post_init__(self) -> None:
        for name in ("omega", "offset"):
            object.__setattr__(self, name, finite(getattr(self, name), f"Fourier series: {name}"))
        for name in ("cosines", "sines"):
            object.__setattr__(self, name, _floats(getattr(self, name), "Fourier series", name, least=0))

    def __call__(self, t):
        count = max(len(self.cosines), len(self.sines))
        if not count:
            return self.offset
        s_1, c_1 = sincos(t * self.omega)
        s, c, total = s_1, c_1, self.offset
        for k in range(count):
            if k:  # the next multiple of the angle
                s, c = s * c_1 + c * s_1, c * c_1 - s * s_1
            for amplitude, wave in ((self.cosines[k : k + 1], c), (self.sines[k : k + 1], s)):
                if amplitude and amplitude[0] != 0.0:
                    total = total + wave * amplitude[0]
        return total


@dataclass(frozen=True, slots=True)
class TimeSpline:
    """The cubic spline through given values at given times: positions, velocities and accelerations are continuous.

    Parameters
    ----------
    times : sequence of at least 2 floats
        Increasing [s].
    values : sequence of float
        As many.
    ends : {"natural", "rest", "periodic"}
        "natural": no acceleration at the ends, and a straight line beyond them. "rest": no velocity at the ends, and
        the values of the ends beyond them; there the acceleration jumps. "periodic": the values repeat for ever; the
        first and the last are the same.

    Notes
    -----
    Source: the interpolating cubic spline, from its second derivatives (de Boor, *A Practical Guide to Splines*).

    Examples
    --------
    >>> f = TimeSpline((0.0, 1.0, 3.0), (0.0, 2.0, 1.0), ends="rest")
    >>> f(1.0), f(5.0)
    (2.0, 1.0)
    """

    times: tuple[float, ...]
    values: tuple[float, ...]
    ends: str = "natural"

    def __post_init__(self) -> None:
        for name in ("times", "values"):
            object.__setattr__(self, name, _floats(getattr(self, name), "time spline", name))
        times, values = self.times, self.values
        if not isinstance(self.ends, str) or self.ends not in ENDS:
            raise JointError(f"time spline: ends is {self.ends!r}, expected one of {', '.join(ENDS)}.", ends=self.ends)
        if len(times) < 2 or len(times) != len(values):
            raise JointError(
                f"time spline: {len(times)} times and {len(values)} values, expected as many of both, at least 2.",
                times=times,
            )
        if any(b <= a for a, b in zip(times, times[1:], strict=False)):
            raise JointError(f"time spline: the times {times} do not increase.", times=times)
        if self.ends == "periodic" and values[0] != values[-1]:
            raise JointError(
                f"time spline: a periodic one ends where it began, but its first value is {values[0]!r} and its last "
                f"{values[-1]!r}.",
                values=values,
            )

    def __call__(self, t):
        starts, pieces = _pieces(self.times, self.values, self.ends)
        if self.ends == "periodic":
            begin = self.times[0]
            t = wrapped(t - begin, self.times[-1] - begin) + begin
        segments = Segments(t, starts[1:])
        s = t - segments.choose(starts)
        a, b, c, d = (segments.choose(column) for column in pieces)
        return ((d * s + c) * s + b) * s + a


@once(most=256)
def _pieces(times: tuple, values: tuple, ends: str) -> tuple[list, tuple[list, ...]]:
    """Where the pieces begin, those outside the ends included, and the four coefficients of each."""
    t, y = np.array(times), np.array(values)
    h, slope = np.diff(t), np.diff(y) / np.diff(t)
    n = len(h)
    A, rhs = np.zeros((n + 1, n + 1)), np.zeros(n + 1)
    for k in range(1, n):
        A[k, k - 1 : k + 2] = h[k - 1], 2.0 * (h[k - 1] + h[k]), h[k]
        rhs[k] = 6.0 * (slope[k] - slope[k - 1])
    if ends == "natural":
        A[0, 0] = A[n, n] = 1.0
    elif ends == "rest":
        A[0, :2], rhs[0] = (2.0 * h[0], h[0]), 6.0 * slope[0]
        A[n, n - 1 :], rhs[n] = (h[-1], 2.0 * h[-1]), -6.0 * slope[-1]
    else:
        A[0, [0, -1]] = 1.0, -1.0
        A[n, 0] += 2.0 * h[0]
        A[n, 1] += h[0]
        A[n, n - 1] += h[-1]
        A[n, n] += 2.0 * h[-1]
        rhs[n] = 6.0 * (slope[0] - slope[-1])
    M = np.linalg.lstsq(A, rhs, rcond=None)[0] if n == 1 and ends == "periodic" else np.linalg.solve(A, rhs)
    b = slope - h * (2.0 * M[:-1] + M[1:]) / 6.0
    rows = [(y[k], b[k], M[k] / 2.0, (M[k + 1] - M[k]) / (6.0 * h[k])) for k in range(n)]
    starts = list(t[:-1])
    if ends != "periodic":
        last = slope[-1] + h[-1] * (M[-2] + 2.0 * M[-1]) / 6.0
        before, after = (b[0], last) if ends == "natural" else (0.0, 0.0)
        rows = [(y[0], before, 0.0, 0.0), *rows, (y[-1], after, 0.0, 0.0)]
        starts = [t[0], *t]
    return [float(x) for x in starts], tuple([float(row[k]) for row in rows] for k in range(4))


TIME_FUNCTIONS = {
    "polynomial": Polynomial, "sinusoid": Sinusoid, "fourier_series": FourierSeries, "time_spline": TimeSpline,
}  # fmt: skip
"""The functions that are data, by the words by which files name them."""


def value_at(f: Callable | float, t):
    """The value of a function of time, or the number itself."""
    return f if isinstance(f, float) else f(t)


def derivatives(f: Callable | float, t) -> tuple:
    """Value, first and second derivative of a function of time, exact.

    Parameters
    ----------
    f : callable or float
        Over scalars.
    t : scalar
        [s].

    Returns
    -------
    tuple of 3 scalars

    Notes
    -----
    Source: dual numbers (`kinetree.joints.dual`), nested.

    Examples
    --------
    >>> derivatives(lambda t: t * t, 3.0)
    (9.0, 6.0, 2.0)
    """
    if isinstance(f, float):
        return f, 0.0, 0.0
    y = f(Dual(Dual(t, 1.0), 1.0))
    x, rate = value_of(y), rate_of(y)
    return value_of(x), rate_of(x), rate_of(rate)


def time_function(f, what: str) -> Callable | float:
    """A function of time from a user's argument: a number, one of this module's, or any callable over scalars.

    Raises
    ------
    JointError
        If it is neither, or cannot be differentiated.
    """
    if isinstance(f, (int, float, np.number)) and not isinstance(f, bool):
        return finite(f, f"{what}: the number")
    if not callable(f):
        raise JointError(
            f"{what} is {f!r}, expected a number or a function of time: Polynomial, Sinusoid, FourierSeries, "
            "TimeSpline, or any callable over scalars.",
            found=f,
        )
    if isinstance(f, tuple(TIME_FUNCTIONS.values())):
        return f
    try:
        rates = [float(x) for x in derivatives(f, 0.375)]
    except (TypeError, AttributeError, ValueError) as failure:
        raise JointError(
            f"{what}: {f!r} cannot be differentiated ({failure}). A function of time takes one scalar of any kind and "
            "gives one: use sin, cos, sqrt, where and so on of kinetree.spatial.scalar instead of those of math or "
            "numpy, and no branch on the time.",
            found=f,
        ) from failure
    if len(rates) != 3:
        raise JointError(f"{what}: {f!r} does not give one number.", found=f)
    return f


def _floats(values: Sequence, kind: str, what: str, least: int = 1) -> tuple[float, ...]:
    try:
        found = None if isinstance(values, (str, bytes)) else tuple(finite(x, f"{kind}: one of {what}") for x in values)
    except TypeError:
        found = None
    if found is None or len(found) < least:
        raise JointError(f"{kind}: {what} is {values!r}, expected numbers.", found=values)
    return found
