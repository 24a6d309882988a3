"""The functions of the squared angle, with two derivatives, against 40 digits; in double and extended precision."""

import numpy as np
import pytest
from mpmath import cos as mp_cos
from mpmath import cot, diff, mp, mpf, sin, sqrt, taylor

from kinetree.joints.dual import Dual
from kinetree.liegroup import coefficients


@pytest.fixture(autouse=True)
def digits():
    """Sixty of them, so that numerical differentiation has forty left."""
    with mp.workdps(60):
        yield


SQUARES = [1e-300, 1e-16, 1e-6, 0.01, 0.3, 0.999999, 1.0, 1.000001, 2.0, 4.0, 9.0, np.pi**2, 20.0, 36.0]
EXACT = {
    "A": lambda t: sin(sqrt(t)) / sqrt(t),
    "B": lambda t: (1 - mp_cos(sqrt(t))) / t,
    "C": lambda t: (1 - sin(sqrt(t)) / sqrt(t)) / t,
    "D": lambda t: (1 - sqrt(t) / 2 * cot(sqrt(t) / 2)) / t,
}
SIZE = {"A": 1.0, "B": 0.5, "C": 1 / 6, "D": 1 / 12}


def found(t):
    """Values, first and second derivatives of the four functions."""
    orders = (
        (*coefficients.exp_coefficients(t), coefficients.log_coefficient(t)),
        (*coefficients.exp_coefficients(t, 1), coefficients.log_coefficient(t, 1)),
        (*coefficients.exp_coefficients(t, 2), coefficients.log_coefficient(t, 2)),
    )
    return {(name, order): row[k] for order, row in enumerate(orders) for k, name in enumerate(EXACT)}


def exact(name, order, t):
    """By numerical differentiation with 60 digits; at zero, where the functions are 0/0, by the Taylor polynomial."""
    t = mpf(str(t)) if isinstance(t, np.longdouble) else mpf(float(t))
    if t > mpf("1e-8"):
        return diff(EXACT[name], t, order)
    series = {
        "A": taylor(lambda a: sin(a), 0, 9)[1::2],
        "B": [-x for x in taylor(lambda a: mp_cos(a), 0, 9)[2::2]],
        "C": [-x for x in taylor(lambda a: sin(a), 0, 9)[3::2]],
        "D": [mpf(1) / 12, mpf(1) / 720, mpf(1) / 30240, mpf(1) / 1209600],
    }[name]
    derivative = list(series)
    for _ in range(order):
        derivative = [k * c for k, c in enumerate(derivative)][1:]
    return sum(c * t**k for k, c in enumerate(derivative))


@pytest.mark.parametrize("kind", [float, np.longdouble], ids=["double", "extended"])
@pytest.mark.parametrize("square", SQUARES)
def test_values_and_derivatives(square, kind):
    """Each is within 10 roundings of its size, second derivatives, differences of differences near t = 1, within 30.

    D is singular at a full turn, t = 39.5, and magnifies the rounding of t by t / (39.5 - t).
    """
    eps = np.finfo(kind).eps
    t = square if kind is float else np.longdouble(square)
    for (name, order), value in found(t).items():
        expected = exact(name, order, t)
        scale = max(SIZE[name], abs(float(expected)))
        # a double is exact in mpf; a long double is the sum of two
        high = float(value)
        error = mpf(high) + mpf(float(value - kind(high))) - expected
        roundings = 30 if order == 2 else 10
        if name == "D":
            roundings *= max(1.0, square / (4 * np.pi**2 - square))
        assert abs(float(error)) < roundings * scale * eps, (name, order)


def test_derivatives_are_those_of_the_functions():
    """Duals within duals through both sides of the selection give the closed forms of the derivatives."""
    for t in (0.5, 1.5, 8.0):
        moving = Dual(Dual(t, 1.0), Dual(1.0, 0.0))
        values = (*coefficients.exp_coefficients(moving), coefficients.log_coefficient(moving))
        numbers = found(t)
        for name, value in zip(EXACT, values, strict=True):
            assert value.value.rate == pytest.approx(numbers[name, 1], rel=0.0, abs=1e-15)
            assert value.rate.rate == pytest.approx(numbers[name, 2], rel=0.0, abs=1e-14)


def test_nan_is_carried_on():
    """NaN stays NaN in all of them, also where the series is chosen."""
    assert all(np.isnan(x) for x in found(np.array([np.nan])).values())
