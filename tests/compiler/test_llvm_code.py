"""Functions of LLVM IR written with operators compute what Python's operators compute."""

import ctypes

import numpy as np
import pytest

from kinetree.native.engine import Code as Loaded
from kinetree.native.engine import Target, assemble
from kinetree.native.llvm_code import ATTRIBUTES, Code

WORD = 2**64


def compiled(code, result, *arguments):
    """The function, callable."""
    text = "\n".join([f'target triple = "{Target.host().triple}"', code.text(), ATTRIBUTES, ""])
    name = code.signature.partition("@")[2].partition("(")[0]
    return Loaded(assemble(text, Target.host())).callable(name, result, *arguments)


def test_whole_numbers():
    """Arithmetic modulo 2^64, shifts that bring zeros, signed and unsigned comparisons."""
    code = Code("i64 @f", "i64 %a, i64 %b")
    a, b = code.arguments
    mixed = (a + b) * 3 - (a & 255) ^ (b | 17) ^ (a << 5) ^ (b >> 9) ^ -a ^ (7 - b)
    smaller = (a < b).select(a, b)
    unsigned = a.compare("ult", b).cast("zext", "i64")
    code.give(mixed + smaller + unsigned)
    f = compiled(code, ctypes.c_uint64, ctypes.c_int64, ctypes.c_int64)
    rng = np.random.default_rng(3)
    for x, y in rng.integers(-(2**62), 2**62, (50, 2)).tolist():
        u, v = x % WORD, y % WORD
        expected = ((u + v) * 3 - (u & 255)) % WORD ^ (v | 17) ^ (u << 5) % WORD ^ (v >> 9) ^ -u % WORD ^ (7 - v) % WORD
        assert f(x, y) == (expected + min(x, y) + (u < v)) % WORD


def test_floats():
    """Constants are exact, operators are rounded once, a comparison with NaN is false."""
    code = Code("double @f", "double %x, double %y")
    x, y = code.arguments
    code.give((x < y).select(x * 0.1 + y, -(x - y)) * (x > y).select(3.0, 1.0, "double"))
    f = compiled(code, ctypes.c_double, ctypes.c_double, ctypes.c_double)
    for a, b in np.random.default_rng(4).standard_normal((50, 2)).tolist():
        assert f(a, b) == (a * 0.1 + b if a < b else -(a - b)) * (3.0 if a > b else 1.0)
    assert np.isnan(f(np.nan, 1.0))


@pytest.mark.parametrize("n", [0, 1, 4, 5, 11])
def test_loops(n):
    """`loop` runs n times, `count` while k < n but once at least, `cover` reaches the last entry."""
    code = Code("i64 @f", "i64 %n")
    (end,) = code.arguments
    total = code.room("i64")
    total.store(0)
    with code.loop(end) as k:
        total.store(total.load() + k + 1)
    with code.count(end, 2) as k:
        total.store(total.load() + (k + 1) * 1000)
    with code.cover(end - 4, 4) as k:
        total.store(total.load() + (k + 8) * 1000000)
    code.give(total.load())
    covered, k = [0], 0
    while k < n - 4:
        k = min(k + 4, n - 4)
        covered.append(k)
    expected = sum(range(1, n + 1)) + 1000 * sum(k + 1 for k in range(0, max(n, 1), 2))
    assert compiled(code, ctypes.c_int64, ctypes.c_int64)(n) == expected + 1000000 * sum(k + 8 for k in covered)


def test_branches():
    """Either of two blocks runs, and a body that is guarded runs only if its condition holds, or does not."""
    code = Code("i64 @f", "i64 %n")
    (n,) = code.arguments
    found = code.room("i64")
    code.either(n < 10, lambda: found.store(1), lambda: found.store(2))
    with code.only_if(n.equals(5)):
        found.store(found.load() + 10)
    with code.only_if(n.equals(5), holds=False):
        found.store(found.load() + 100)
    code.give(found.load())
    f = compiled(code, ctypes.c_int64, ctypes.c_int64)
    assert [f(n) for n in (5, 6, 10)] == [11, 101, 102]
