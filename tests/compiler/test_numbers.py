"""A single number among the inputs, such as a step, may be a number of Python: compiled entries take it as it is."""

import sys

import numpy as np
import pytest

import kinetree as kt
from kinetree.compiler.function import Function
from kinetree.errors import NonFiniteError, ShapeError
from kinetree.native import builtin

builtins = pytest.mark.skipif(not builtin.available(), reason="no builtins on this interpreter")


@pytest.fixture(scope="module")
def f():
    return kt.compile(kt.models.double_pendulum(), "semi_implicit_step")


def states(*batch, dtype="f8"):
    return tuple(np.random.default_rng(3).normal(size=(3, *batch, 2)).astype(dtype))


def same(found, expected):
    for x, y in zip(found, expected, strict=True):
        assert x.dtype == y.dtype
        np.testing.assert_array_equal(x, y)


@builtins
@pytest.mark.parametrize("number", [0.01, 1, 0, np.float64(0.01)])
def test_compiled_entries_take_numbers(f, number):
    """Single states and batches, the first call too: nothing is left to the general way, and the bits are the same."""
    f = kt.compile(f.model, "semi_implicit_step")
    q, v, tau = states()
    expected = f(q, v, tau, np.array(number, float))
    assert f.single(q, v, tau, number) is not NotImplemented
    same(f.single(q, v, tau, number), expected)
    Q, V, T = states(5)
    expected = f(Q, V, T, np.array(number, float))
    rows = f._batches[np.dtype("f8")](Q, V, T, number)
    assert rows is not NotImplemented
    same(rows, expected)


@builtins
@pytest.mark.parametrize("number", [0.1, 3, np.float32(0.1)])
def test_single_precision_takes_numbers(f, number):
    """A number of Python is rounded to the precision of the arrays."""
    arrays, dtype = states(dtype="f4"), np.dtype("f4")
    expected = f(*arrays, np.array(number, "f4"))
    assert f._singles[dtype](*arrays, number) is not NotImplemented
    same(f(*arrays, number), expected)
    many = states(6, dtype="f4")
    expected = f(*many, np.array(number, "f4"))
    assert f._batches[dtype](*many, number) is not NotImplemented
    same(f(*many, number), expected)


@builtins
def test_a_function_first_called_with_a_number_has_its_entry(f):
    """Nobody need give an array once."""
    f = kt.compile(f.model, "semi_implicit_step")
    f(*states(), 0.01)
    assert f.single(*states(), 0.01) is not NotImplemented


@pytest.mark.parametrize("number", [2**53 + 1, -1, -1.0, True, np.float32(0.1), np.float16(0.1), np.int64(2), -(2**60)])
def test_other_numbers_are_converted_as_before(f, number):
    """What machine code leaves alone gives what an array of it gives."""
    same(f(*states(), number), f(*states(), np.asarray(number).astype(float)))
    same(f(*states(4), number), f(*states(4), np.asarray(number).astype(float)))


@pytest.mark.parametrize("batch", [(), (4,)])
def test_bad_numbers_are_named(f, batch):
    """Not finite, or no number: the same errors as for arrays, and none is left behind by a refused int."""
    for bad in (np.nan, np.inf, np.float64("nan")):
        with pytest.raises(NonFiniteError, match="dt"):
            f(*states(*batch), bad)
    for bad in (10**400, -(10**400), "0.01", None, 1j):
        with pytest.raises(ShapeError, match="dt"):
            f(*states(*batch), bad)
    with pytest.raises(ShapeError, match="tau"):
        f(*states(*batch)[:2], 0.0, 0.01)
    with pytest.raises(ShapeError, match="out"):
        f(*states(), 0.01, out=(0.0, 0.0))


def test_numbers_stay_where_they_are(f):
    """A thousand calls change no count of references."""
    arrays, dt, one = states(), 0.0137, 2**40
    counts = [sys.getrefcount(x) for x in (dt, one, *arrays)]
    for _ in range(1000):
        f(*arrays, dt)
        f(*arrays, one)
    assert [sys.getrefcount(x) for x in (dt, one, *arrays)] == counts


def test_threads_take_numbers(f):
    """Batches that several threads share too."""
    g = kt.compile(f.model, "semi_implicit_step", threads=2)
    many = states(100_000)
    same(g(*many, 0.01), g(*many, np.array(0.01)))


def test_the_twin_in_python_takes_numbers(f):
    """On interpreters whose arrays cannot be read from machine code."""
    from kinetree.native.kernel import _entry

    assert isinstance(f, Function)
    kernel = f._kernel(np.dtype("f8"))
    same(_entry(kernel, *states(), 0.01), f(*states(), np.array(0.01)))
    assert _entry(kernel, *states(), 10**400) is NotImplemented
