"""Machine code computes what the interpreter computes, in every width, chunking and precision."""

import dataclasses
import platform
import re
import warnings

import numpy as np
import pytest

from kinetree.native.engine import Target, assembly
from kinetree.native.kernel import Kernel
from kinetree.native.llvm import emit
from kinetree.native.llvm_math import LIMIT
from kinetree.native.variants import VARIANTS
from kinetree.trace.program import SIGNATURES, Program
from tests.compiler.random_programs import STATES, assert_agree, random_program, run_batch, run_scalar

X86 = platform.machine() in ("x86_64", "AMD64")


@pytest.fixture(autouse=True)
def no_cache(monkeypatch):
    """Every kernel here is compiled, none loaded."""
    monkeypatch.setenv("KINETREE_CACHE", "0")


def widths():
    """The host's target at each vector width that it can run."""
    host = Target.host()
    return [dataclasses.replace(host, vector_bytes=b) for b in (16, 32, 64) if b <= host.vector_bytes]


def bits(arrays):
    """Contents as bytes."""
    return [np.ascontiguousarray(a).tobytes() for a in arrays]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("seed, size", [(0, 60), (1, 400), (2, 1300)])
def test_batch_and_scalar_agree_with_the_interpreter(seed, size, dtype):
    """Random programs: batch = interpreter within rounding errors, scalar = batch bit for bit."""
    program, arrays, numbers = random_program(seed, size, dtype=dtype)
    kernel = Kernel(program, dtype, numbers=numbers)
    _, batch = run_batch(kernel, arrays, STATES)
    assert_agree(batch, program.interpret(arrays, numbers), dtype)
    assert bits(y[:6] for y in batch) == bits(run_scalar(kernel, arrays, 6))


def test_generator_uses_every_operation():
    """The random programs that the other tests rest on contain all operations."""
    used = {operation[0] for seed, size in ((1, 400), (2, 1300)) for operation in random_program(seed, size)[0].code}
    assert set(SIGNATURES) <= used


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_all_widths_give_the_same_bits(dtype):
    """The number of lanes changes no rounding."""
    program, arrays, numbers = random_program(11, 350, dtype=dtype)
    results = [run_batch(Kernel(program, dtype, numbers=numbers, target=t), arrays, STATES) for t in widths()]
    for status, y in results[1:]:
        assert status == results[0][0]
        assert bits(y) == bits(results[0][1])


def test_all_chunk_sizes_give_the_same_bits():
    """Cutting a program into functions changes nothing: values and booleans survive the crossing."""
    program, arrays, numbers = random_program(12, 900)
    results = []
    for chunk in (10**9, 300, 23):
        kernel = Kernel(program, numbers=numbers, chunk=chunk)
        status, y = run_batch(kernel, arrays, STATES)
        results.append((status, bits(y), bits(run_scalar(kernel, arrays, 3))))
    assert results[0] == results[1] == results[2]


def test_checks_do_not_change_results():
    """A kernel without checks gives the same bits and always status 0."""
    program, arrays, numbers = random_program(13, 300)
    status, y = run_batch(Kernel(program, numbers=numbers), arrays, STATES)
    assert status != 0
    status, z = run_batch(Kernel(program, numbers=numbers, checks=False), arrays, STATES)
    assert status == 0
    assert bits(y) == bits(z)


@pytest.mark.skipif(not X86, reason="old processors without FMA exist for x86 only")
def test_processor_without_fma():
    """Code for the oldest x86-64: same results within rounding errors, scalar and SIMD still bit for bit equal."""
    program, arrays, numbers = random_program(14, 300)
    target = Target(Target.host().triple, "x86-64", "", 16, False)
    kernel = Kernel(program, numbers=numbers, target=target)
    _, y = run_batch(kernel, arrays, STATES)
    assert_agree(y, program.interpret(arrays, numbers))
    assert bits(a[:6] for a in y) == bits(run_scalar(kernel, arrays, 6))


@pytest.mark.skipif(not X86, reason="reads x86 assembler")
@pytest.mark.parametrize("cpu, width", [("host", 64), ("haswell", 32), ("x86-64", 16)])
def test_scalar_selection_is_no_branch(cpu, width):
    """`where` and the quadrants of sine and cosine become masks: a branch on the state would be mispredicted."""
    code = [("input", 0, k) for k in range(4)]
    code += [("lt", 0, 1), ("lt", 2, 3), ("and", 4, 5), ("where", 6, 0, 3), ("add", 7, 1)]
    code += [("sin", 8), ("where", 4, 9, 7)]
    program = Program((("q", (4,)),), (("y", (1,)),), tuple(code), ((10,),))
    host = Target.host()
    target = host if cpu == "host" else Target(host.triple, cpu, "", width, cpu == "haswell")
    texts = {
        form: assembly(emit(program, "float64", target, checks=False, builtin=False, variant=form), target)
        for form in VARIANTS
    }
    for form, function in (("scalar", "state"), ("scalar", "sincos1"), ("batch", "tile0")):
        text = texts[form]
        body = re.search(rf"^{function}:(.*?)^\.Lfunc_end", text, re.S | re.M).group(1)
        assert "ret" in body
        jumps = re.findall(r"^\s+j[a-z]+\b", body, re.M)
        assert len(jumps) <= (2 if function == "sincos1" else 0)  # to angles that are too large for the quick reduction


def sincos_kernel(dtype, computed):
    """sin x and cos x; `computed` makes the angle the result of an operation, which takes the other branch."""
    angle = (("neg", 0), ("neg", 1)) if computed else ()
    k = len(angle)
    code = (("input", 0, 0), *angle, ("sin", k), ("cos", k))
    return Kernel(Program((("x", (1,)),), (("y", (2,)),), code, ((k + 1, k + 2),)), dtype, checks=False)


@pytest.mark.parametrize("computed", [False, True])
def test_sincos_accuracy_double(computed):
    """|error| <= 2e-16 up to 1e9 and beyond, near multiples of pi/2 too; reference: the C library's long double."""
    rng = np.random.default_rng(3)
    multiples = rng.integers(-(2**30), 2**30, 4000) * (np.pi / 2)
    x = np.concatenate(
        [rng.uniform(-4, 4, 4000), rng.uniform(-1e9, 1e9, 4000), rng.uniform(-1e12, 1e12, 4000), multiples, [0.0, -0.0]]
    ).reshape(-1, 1)
    y = np.empty((len(x), 2))
    sincos_kernel("float64", computed).batch([x], [y], len(x))
    exact = np.hstack([np.sin(x.astype(np.longdouble)), np.cos(x.astype(np.longdouble))])
    assert np.abs(y - exact).max() < 2e-16  # half an ulp of 1 and a little


def test_sincos_accuracy_against_mpmath():
    """The same at the largest angles, against multiple precision."""
    mpmath = pytest.importorskip("mpmath")
    rng = np.random.default_rng(4)
    x = np.concatenate([10.0 ** rng.uniform(-8, 12, 300), rng.integers(1, 2**39, 100) * (np.pi / 2)]).reshape(-1, 1)
    y = np.empty((len(x), 2))
    sincos_kernel("float64", False).batch([x], [y], len(x))
    with mpmath.workdps(40):
        for xi, (s, c) in zip(x[:, 0], y, strict=True):
            assert abs(mpmath.sin(mpmath.mpf(xi)) - mpmath.mpf(s)) < 2e-16
            assert abs(mpmath.cos(mpmath.mpf(xi)) - mpmath.mpf(c)) < 2e-16


def test_sincos_accuracy_single():
    """|error| <= 2 ulp of 1 in single precision, up to its limit."""
    x = np.random.default_rng(3).uniform(-1.3e5, 1.3e5, (20000, 1)).astype(np.float32)
    x[:8000] /= 1e4
    y = np.empty((len(x), 2), np.float32)
    sincos_kernel("float32", False).batch([x], [y], len(x))
    exact = np.hstack([np.sin(x.astype(float)), np.cos(x.astype(float))])
    assert np.abs(y - exact).max() < 1.2e-7


@pytest.mark.parametrize("dtype, most, tolerance", [("float64", 1023.9, 2e-16), ("float32", 127.9, 1.2e-7)])
def test_sincos_of_angles_of_any_size(dtype, most, tolerance):
    """From the limit of the quick reduction to the largest numbers, against multiple precision; also relative to the
    value next to multiples of pi/2, such as the worst one of double precision, 6381956970095103 * 2^797."""
    mpmath = pytest.importorskip("mpmath")
    rng = np.random.default_rng(6)
    x = 2.0 ** rng.uniform(15, most, 600) * rng.choice([-1, 1], 600)
    if dtype == "float64":
        near = rng.integers(2**40, 2**52, 100) * (np.pi / 2)
        x = np.concatenate([x, near, [6381956970095103 * 2.0**797, 2.0**40, np.nextafter(2.0**40, 0), -(2.0**41)]])
    x = np.append(x, np.finfo(dtype).max).astype(dtype).reshape(-1, 1)
    y = np.empty((len(x), 2), dtype)
    sincos_kernel(dtype, False).batch([x], [y], len(x))
    with mpmath.workprec(1300):
        for xi, (s, c) in zip(x[:, 0].tolist(), y.tolist(), strict=True):
            exact = mpmath.sin(xi), mpmath.cos(xi)
            assert abs(exact[0] - s) < tolerance and abs(exact[1] - c) < tolerance
            if abs(xi) >= 2.0**40:  # r is rounded once and its sine twice
                assert all(abs(a - b) < 2.5 * tolerance * abs(a) for a, b in zip(exact, (s, c), strict=True))


@pytest.mark.parametrize("dtype, element", [("float64", "double"), ("float32", "float")])
@pytest.mark.parametrize("computed", [False, True])
def test_sincos_has_the_same_bits_beside_any_neighbor(dtype, element, computed):
    """Large angles, infinities and NaN in the same tile do not change the others, nor does the scalar form."""
    limit, rng = LIMIT[element], np.random.default_rng(7)
    x = np.concatenate([rng.normal(size=32), [0.0, -0.0], limit * rng.normal(size=32), [np.inf, -np.inf, np.nan, 1e30]])
    x = rng.permutation(x).astype(dtype).reshape(-1, 1)
    kernel, found = sincos_kernel(dtype, computed), np.empty((len(x), 2), dtype)
    kernel.batch([x], [found], len(x))
    finite = np.isfinite(x[:, 0])
    assert np.isnan(found[~finite]).all() and np.isfinite(found[finite]).all()
    one, tile = np.empty((1, 2), dtype), np.empty((64, 2), dtype)
    for xi, expected in zip(x, found, strict=True):
        kernel.scalar(xi, out=one)
        kernel.batch([np.full((64, 1), xi[0], dtype)], [tile], 64)
        assert one[0].tobytes() == tile[-1].tobytes() == expected.tobytes() or np.isnan(xi[0]) or np.isinf(xi[0])


def test_library_functions_are_accurate():
    """exp, log, tanh and arctan2 to 1e-14, in scalar and SIMD form."""
    code = (("input", 0, 0), ("input", 0, 1), ("exp", 0), ("log", 1), ("tanh", 0), ("arctan2", 0, 1), ("arctan2", 1, 0))
    program = Program((("x", (2,)),), (("y", (5,)),), code, ((2, 3, 4, 5, 6),))
    x = np.random.default_rng(5).uniform(0.01, 20, (64, 2)) * [[1, 1]]
    x[::2, 0] *= -1
    y = np.empty((64, 5))
    Kernel(program).batch([x], [y], 64)
    assert np.abs(y / program.interpret([x])[0] - 1).max() < 1e-14


def test_special_values_follow_ieee():
    """Division by zero, roots of negatives, logarithms of zero, comparisons with NaN: as in the interpreter."""
    code = (("input", 0, 0), ("input", 0, 1), ("div", 0, 1), ("sqrt", 0), ("log", 0), ("abs", 0), ("neg", 0))
    code += tuple((op, 0, 1) for op in ("lt", "le", "eq")) + (("not", 7),)
    code += tuple(("where", k, 0, 1) for k in (7, 8, 9, 10))
    program = Program((("x", (2,)),), (("y", (9,)),), code, (tuple(range(2, 7)) + (11, 12, 13, 14),))
    special = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-310]
    x = np.array([(a, b) for a in special for b in special])
    kernel = Kernel(program, checks=False)
    y = np.empty((len(x), 9))
    kernel.batch([x], [y], len(x))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (expected,) = program.interpret([x])
    np.testing.assert_array_equal(y, expected)
    finite = ~np.isnan(expected)
    assert (np.signbit(y) == np.signbit(expected))[finite].all()
    (single,) = run_scalar(kernel, [x], len(x))
    np.testing.assert_array_equal(single, expected)


def test_duplicate_operations_are_allowed():
    """A program may compute one sine twice; both values are there."""
    code = (("input", 0, 0), ("mul", 0, 0), ("sin", 1), ("cos", 1), ("sin", 1))
    code += (("input", 0, 0), ("sin", 5), ("sin", 0))
    program = Program((("x", (1,)),), (("y", (5,)),), code, ((2, 3, 4, 6, 7),))
    x = np.linspace(0.1, 2, 20).reshape(-1, 1)
    y = np.empty((20, 5))
    Kernel(program).batch([x], [y], 20)
    assert np.abs(y - program.interpret([x])[0]).max() < 3e-16
