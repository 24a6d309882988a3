"""Parametric curves and surfaces, and their points next to a given point, over any scalar.

The nearest of some sample points starts Newton's method, whose iterations have a fixed number. Its last two also carry
the derivatives of the parameters, so that these are exact (implicit function theorem).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from kinetree.arguments import number, refuse
from kinetree.joints import Joint, SplineCurve, SplineSurface
from kinetree.joints.dual import Dual, rate_of, value_of
from kinetree.joints.nearest_position import of_least
from kinetree.once import once
from kinetree.spatial import Vector3

SAMPLES = {1: 32, 2: 8}  # along each parameter
NEWTON = 4


@dataclass(frozen=True, slots=True)
class Parametric:
    """A curve ``c(s)`` or a surface ``c(s, t)`` that is given by a function of its parameters.

    Parameters
    ----------
    function : callable or sequence of 3 callables
        Of one or two scalars of any kind: three coordinates [m], or each of them. It also goes on beyond the bounds.
    lower, upper : float or pair of floats
        The range of each parameter in which the nearest point is looked for: for a closed curve, one period.

    Examples
    --------
    >>> from kinetree.spatial.scalar import cos, sin
    >>> circle = Parametric(lambda s: (cos(s), sin(s), 0.0), 0.0, 6.2832)
    >>> circle(0.0)
    Vector3(1.0, 0.0, 0.0)
    """

    function: object
    lower: float | tuple[float, float]
    upper: float | tuple[float, float]

    def __post_init__(self) -> None:
        if isinstance(self.function, (list, tuple)):
            object.__setattr__(self, "function", tuple(self.function))
        parts = self.function if isinstance(self.function, tuple) else (self.function,)
        if len(parts) not in (1, 3) or not all(map(callable, parts)):
            refuse("parametric: function", self.function, "a function that gives three coordinates, or three functions")
        for what in ("lower", "upper"):
            value = getattr(self, what)
            several = isinstance(value, (tuple, list))
            if several and len(value) != 2:
                refuse(f"parametric: {what}", value, "a number, or two for a surface")
            found = tuple(number(f"parametric: {what}", x) for x in (value if several else (value,)))
            object.__setattr__(self, what, found if several else found[0])
        if len(self.ranges[0]) != len(self.ranges[1]) or any(a >= b for a, b in zip(*self.ranges, strict=True)):
            refuse("parametric: upper", self.upper, f"more than lower, {self.lower!r}")

    @property
    def ranges(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Lower and upper bounds of the parameters."""
        return tuple(x if isinstance(x, tuple) else (x,) for x in (self.lower, self.upper))

    def __call__(self, *parameters) -> Vector3:
        if isinstance(self.function, tuple):
            return Vector3(*(f(*parameters) for f in self.function))
        return Vector3(*self.function(*parameters))


def parametric(shape) -> Parametric:
    """The origin's curve or surface of a spline joint; a parametric one is itself."""
    if isinstance(shape, SplineCurve):
        return Parametric(_Origin(shape), 0.0, float(shape.length))
    if isinstance(shape, SplineSurface):
        return Parametric(_Origin(shape), (0.0, 0.0), tuple(map(float, shape.size)))
    return shape


@dataclass(frozen=True, slots=True)
class _Origin:
    """The place of the successor of a joint, as a function of its coordinates."""

    joint: Joint

    def __call__(self, *q) -> Vector3:
        return self.joint.transform(list(q)).r


def nearest(shape: Parametric, p: Vector3) -> list:
    """The parameters of the point of a curve or surface next to p; they carry the derivatives that p carries."""
    plain = Vector3(*map(_without_rates, p))
    found = of_least(((d := plain - c).dot(d), parameters) for parameters, c in _samples(shape))
    for _ in range(NEWTON):
        found = _improved(shape, found, plain)
    for _ in range(2 if plain is not p else 0):
        found = _improved(shape, found, p)
    return found


@once(most=64)
def _samples(shape: Parametric) -> tuple[tuple[tuple[float, ...], Vector3], ...]:
    """Parameters and points, all over the range."""
    lower, upper = shape.ranges
    steps = SAMPLES[len(lower)]
    grids = [[a + (b - a) * (k + 0.5) / steps for k in range(steps)] for a, b in zip(lower, upper, strict=True)]
    return tuple((at, Vector3(*(float(x) for x in shape(*at)))) for at in itertools.product(*grids))


def _without_rates(x):
    while isinstance(x, Dual):
        x = value_of(x)
    return x


def _improved(shape: Parametric, parameters: list, p: Vector3) -> list:
    """A step of Newton's method for ``(c - p) . dc/ds_i = 0``."""
    c, slopes, curvatures = derivatives(shape, parameters)
    d = c - p
    g = [d.dot(slope) for slope in slopes]
    n = len(slopes)
    H = [[slopes[i].dot(slopes[k]) + d.dot(curvatures[i][k]) for k in range(n)] for i in range(n)]
    if n == 1:
        return [parameters[0] - g[0] / H[0][0]]
    scale = 1.0 / (H[0][0] * H[1][1] - H[0][1] * H[0][1])
    s, t = parameters
    return [s - (H[1][1] * g[0] - H[0][1] * g[1]) * scale, t - (H[0][0] * g[1] - H[0][1] * g[0]) * scale]


def derivatives(shape: Parametric, parameters: Sequence) -> tuple[Vector3, list[Vector3], list[list[Vector3]]]:
    """c, its first and its second derivatives at the parameters."""
    n = len(parameters)
    c, slopes, second = None, [], [[None] * n for _ in range(n)]
    for i in range(n):
        for k in range(i, n):
            y = shape(*(Dual(Dual(x, float(m == i)), Dual(float(m == k), 0.0)) for m, x in enumerate(parameters)))
            second[i][k] = second[k][i] = Vector3(*(rate_of(rate_of(x)) for x in y))
            if i == k:
                c = Vector3(*(value_of(value_of(x)) for x in y))
                slopes.append(Vector3(*(rate_of(value_of(x)) for x in y)))
    return c, slopes, second
