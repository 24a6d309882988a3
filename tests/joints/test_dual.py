"""Numbers with rates against differences: the functions and operators that a joint may be written with."""

import numpy as np
import pytest

from kinetree.joints.dual import Dual, rate_of
from kinetree.spatial import scalar

FUNCTIONS = {
    "sum": lambda x: 2.0 + x - 0.5 * x + (1.0 - x) - (x - 3.0),
    "product": lambda x: x * x * 3.0 * x,
    "quotient": lambda x: (1.0 + x) / (2.0 + x * x) + 3.0 / x + x / 4.0,
    "power": lambda x: x**3 - x**0,
    "signs": lambda x: -x + +x * -x,
    "sincos": lambda x: scalar.sin(2.0 * x) * scalar.cos(x) + scalar.sincos(x)[0],
    "sqrt": lambda x: scalar.sqrt(1.0 + x * x),
    "exp and log": lambda x: scalar.exp(-x) * scalar.log(1.0 + x),
    "tanh": lambda x: scalar.tanh(0.7 * x),
    "arctan2": lambda x: scalar.arctan2(x, 1.0 + x) + scalar.arctan2(2.0, x) + scalar.arctan2(x, 3.0),
    "absolute": lambda x: scalar.absolute(-x) * x,
    "where": lambda x: scalar.where(x < 0.5, x * x, scalar.where(x >= 0.7, 2.0 * x, x)),
    "both": lambda x: scalar.where((x > 0.0) & (x <= 9.0), x * x, 1.0),
    "either": lambda x: scalar.where((x < 0.0) | (x > 0.1), x * x, 1.0),
    "extrema": lambda x: scalar.minimum(x, x * x) + scalar.maximum(x, 2.0 - x),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_rate_is_the_derivative(name):
    """f(Dual(x, 1)).rate = f'(x), by central differences of step 1e-5: error about 1e-10."""
    f = FUNCTIONS[name]
    for x in (0.3, 0.9):
        got = f(Dual(x, 1.0))
        assert got.value == pytest.approx(f(x), rel=1e-15)
        assert got.rate == pytest.approx((f(x + 1e-5) - f(x - 1e-5)) / 2e-5, rel=1e-8, abs=1e-9)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_arrays_of_values_and_rates(name):
    """The value and the rate may be NumPy arrays; array and Dual mix on either side."""
    f = FUNCTIONS[name]
    x = np.array([0.3, 0.9])
    got = f(Dual(x, np.ones(2)))
    np.testing.assert_allclose(np.broadcast_to(got.rate, 2), [f(Dual(v, 1.0)).rate for v in (0.3, 0.9)], rtol=1e-14)
    np.testing.assert_array_equal((x * Dual(2.0, 1.0)).rate, x)


def test_numbers_have_no_rate():
    """rate_of a plain scalar is zero."""
    assert rate_of(3.0) == 0.0 and rate_of(Dual(3.0, 2.0)) == 2.0


def test_fractional_powers_are_refused():
    """Only natural exponents: the message tells what to use instead."""
    with pytest.raises(TypeError, match="natural number only; use sqrt, exp and log"):
        Dual(2.0, 1.0) ** 0.5
