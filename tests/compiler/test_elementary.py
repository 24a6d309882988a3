"""exp, log, tanh and arctan2 of machine code, C and CUDA: within one unit in the last place."""

from __future__ import annotations

import ctypes
import functools
import itertools
import math

import numpy as np
import pytest

from kinetree.export.c_code import Dialect
from kinetree.export.c_elementary import FUNCTIONS, elementary_text
from kinetree.export.cuda_source import emit
from kinetree.native.kernel import Kernel
from kinetree.trace.program import Program
from tests.compiler.cuda_shim import COMPILER, ShimKernel
from tests.compiler.test_c_source import library_of, same_bits

LONG = np.finfo(np.longdouble).nmant >= 63
REFERENCE = {"exp": np.exp, "log": np.log, "tanh": np.tanh, "arctan2": np.arctan2}
EXACT = {"exp": "exp", "log": "log", "tanh": "tanh", "arctan2": "atan2"}
WIDE = {"float64": np.longdouble, "float32": np.float64}
SPECIAL = (0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 5e-324, -1e-310, 1e-45, -1e-40, 3e38, 1e308, -1e308, 800.0)
both = pytest.mark.parametrize("dtype", ["float64", "float32"])
every = pytest.mark.parametrize("op", FUNCTIONS)


@functools.cache
def program(op):
    n = 2 if op == "arctan2" else 1
    code = (*(("input", 0, k) for k in range(n)), (op, *range(n)))
    return Program((("x", (n,)),), (("y", ()),), code, ((n,),))


@functools.cache
def kernel(op, dtype):
    return Kernel(program(op), dtype, checks=False)


def batch(op, dtype, x):
    """The function of rows of arguments, by the SIMD form."""
    found = np.empty(len(x), dtype)
    kernel(op, dtype).batch([x], [found], len(x))
    return found


def arguments(op, dtype, seed=0, count=4000):
    """Rows of arguments: near one, of every size, subnormal ones, and random bits."""
    rng = np.random.default_rng(seed)
    form = np.finfo(dtype)
    shape = count, 2 if op == "arctan2" else 1
    span = 0.99 * np.log(float(form.max))
    bits = rng.integers(0, 2 ** (8 * form.dtype.itemsize), shape, dtype=f"u{form.dtype.itemsize}").view(dtype)
    rows = [
        rng.uniform(-2, 2, shape),
        rng.uniform(-span, span, shape),
        1 + rng.uniform(-1, 1, shape) * 10 ** rng.uniform(-8, 0, shape),
        rng.uniform(-1, 1, shape) * float(form.tiny) * [[4, 1][: shape[1]]],
        rng.uniform(-1.1, 1.1, (count, 1)) ** np.arange(shape[1]) * rng.uniform(-1, 1, (count, 1)),
        -rng.uniform(0.94, 1.1, shape) * span,  # exponentials that are subnormal or zero
    ]
    with np.errstate(over="ignore", invalid="ignore"):
        return np.vstack([*(x.astype(dtype) for x in rows), bits])


@both
@every
def test_several_at_once_have_the_same_bits(op, dtype):
    """Seven in a row, of which machine code for batches calls groups, of arguments of every kind."""
    x = arguments(op, dtype, seed=3)
    n, count = x.shape[1], len(x) // 7
    x = x[: 7 * count]
    code = [("input", 0, k) for k in range(7 * n)] + [(op, *range(k * n, k * n + n)) for k in range(7)]
    several = Program((("x", (7 * n,)),), (("y", (7,)),), tuple(code), (tuple(range(7 * n, 7 * n + 7)),))
    found = np.empty((count, 7), dtype)
    Kernel(several, dtype, checks=False).batch([x.reshape(count, -1)], [found], count)
    alone = batch(op, dtype, x)
    np.testing.assert_array_equal(found.ravel(), alone)
    np.testing.assert_array_equal(np.signbit(found.ravel()), np.signbit(alone))


@pytest.mark.skipif(not LONG, reason="longdouble is no better than double here")
@every
@both
def test_errors_are_below_one_unit_in_the_last_place(op, dtype):
    """Against the C library in the next higher precision; single calls have the bits of batches."""
    x = arguments(op, dtype)
    found = batch(op, dtype, x)
    with np.errstate(all="ignore"):
        expected = REFERENCE[op](*x.T.astype(WIDE[dtype]))
        rounded = expected.astype(dtype)
        finite = np.isfinite(rounded)
        errors = np.abs(found.astype(expected.dtype) - expected)[finite] / np.spacing(np.abs(rounded[finite]))
    np.testing.assert_array_equal(found[~finite], rounded[~finite])
    assert np.count_nonzero(finite) > len(x) / 4
    assert errors.max() < 1.0
    for k in range(0, len(x), 97):
        one = np.empty((), dtype)
        kernel(op, dtype).scalar(x[k], out=one)
        np.testing.assert_array_equal(one, found[k])


@every
def test_errors_against_multiple_precision(op):
    """The same in 60 digits, for fewer arguments."""
    mpmath = pytest.importorskip("mpmath")
    x = arguments(op, "float64", seed=1, count=40)
    with np.errstate(invalid="ignore"):
        x = x[np.isfinite(x).all(axis=1) & ((x > 0).all(axis=1) | (op != "log"))]
    found = batch(op, "float64", x)
    with mpmath.workdps(60):
        for row, y in zip(x, found, strict=True):
            exact = getattr(mpmath, EXACT[op])(*(mpmath.mpf(float(value)) for value in row))
            if abs(exact) < 1.7e308:
                assert abs(mpmath.mpf(float(y)) - exact) < math.ulp(float(exact))


@every
@both
def test_zeros_infinities_and_nan_follow_c99(op, dtype):
    """Annex F of the standard: signs of zeros, quadrants of infinities, NaN where a function is undefined."""
    with np.errstate(all="ignore"):
        x = np.array(list(itertools.product(SPECIAL, repeat=2 if op == "arctan2" else 1))).astype(dtype)
        expected = REFERENCE[op](*x.T.astype(WIDE[dtype])).astype(dtype)
    found = batch(op, dtype, x)
    np.testing.assert_allclose(found, expected, rtol=np.finfo(dtype).eps)
    numbers = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(found)[numbers], np.signbit(expected)[numbers])
    exact = np.isin(expected, [0.0, 1.0, -1.0, np.inf, -np.inf])
    np.testing.assert_array_equal(found[exact], expected[exact])


@same_bits
@both
def test_c_has_the_same_bits(dtype, tmp_path):
    """Generated C, for arguments of every size."""
    real = {"float64": "double", "float32": "float"}[dtype]
    dialect = Dialect(real, own="own")
    calls = [f"void {op}_(const {real} *x, {real} *y)" for op in FUNCTIONS]
    parts = ["#include <math.h>", dialect.preamble(), elementary_text(dialect, set(FUNCTIONS))]
    for op, call in zip(FUNCTIONS, calls, strict=True):
        given = "x[0], x[1]" if op == "arctan2" else "x[0]"
        parts += [f"{call};", f"{call}\n{{ *y = own_{op}({given}); }}\n"]
    library = library_of("\n".join(parts), tmp_path, f"elementary_{dtype}")
    for op in FUNCTIONS:
        x = arguments(op, dtype, seed=2, count=50)
        expected, y = batch(op, dtype, x), np.empty(1, dtype)
        for row, value in zip(x, expected, strict=True):
            getattr(library, f"{op}_")(ctypes.c_void_p(row.ctypes.data), ctypes.c_void_p(y.ctypes.data))
            np.testing.assert_array_equal(y[0], value)


@pytest.mark.skipif(COMPILER is None, reason="runs the emitted code through a C++ compiler")
@same_bits
@both
def test_cuda_has_the_same_bits(dtype, tmp_path):
    """The text of a kernel, run on the CPU."""
    code = [("input", 0, 0), ("input", 0, 1), ("exp", 0), ("log", 1), ("tanh", 0), ("arctan2", 0, 1)]
    whole = Program((("x", (2,)),), (("y", (4,)),), tuple(code), ((2, 3, 4, 5),))
    x = arguments("arctan2", dtype, seed=3, count=50)
    (found,), _ = ShimKernel(emit(whole, dtype, name=f"elementary_{dtype}"), whole, None, tmp_path)([x], len(x))
    expected = np.empty((len(x), 4), dtype)
    Kernel(whole, dtype, False).batch([x], [expected], len(x))
    np.testing.assert_array_equal(found, expected)
