"""Equal parts of a program in the lanes of vectors: the bits of the program as it was, in fewer instructions."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import kinetree as kt
from kinetree.native.engine import Target
from kinetree.native.kernel import Kernel
from kinetree.native.llvm import emit
from kinetree.spatial import scalar
from kinetree.trace.graph import Graph
from kinetree.trace.lowering import lower
from kinetree.trace.packing import Packed, operands, pack, packs_of
from kinetree.trace.program import _MEANING
from tests.compiler.random_programs import run_batch, run_scalar

NEEDS = pytest.mark.skipif(Target.host().vector_bytes < 32, reason="vectors of this processor are too short")
ROW, STATES = 5, 20


def part(x, numbers, shared, seed, size, side=1.0):
    """A random formula of one part: of its inputs and numbers, and of values that all parts share; sides mirrored."""
    rng = np.random.default_rng(seed)
    values = [*x, *numbers, *shared]
    for _ in range(size):
        a, b, c = (values[-k] for k in rng.choice(range(1, 1 + min(9, len(values))), 3))
        s, co = scalar.sincos(a)
        chosen = rng.integers(9)
        values.append(
            (
                a * b + side * c, c - side * 0.3 * b, s * b - side * co,
                scalar.where(a < b, b, c * a), scalar.tanh(a) + 0.5,
                scalar.sqrt(1.0 + a * a), scalar.arctan2(b, 2.0 + abs(a)), scalar.exp(-abs(a)), a / (1.5 + b * b),
            )[chosen]
        )  # fmt: skip
        values[-1] = values[-1] * 0.7
    return values


def program_of(parts, seed=0, size=40, before=8, after=12):
    """Some equal parts between what they share and sums over them, and states and numbers for it."""
    rng = np.random.default_rng(seed)
    graph = Graph()
    common = [graph.input(0, k) for k in range(3)]
    shared = part(common, [graph.param(k) for k in range(3)], [], seed + 1, before)[-4:]
    found = [
        part(
            [graph.input(1, p * ROW + k) for k in range(ROW)],
            [graph.param(3 + p * ROW + k) for k in range(ROW)],
            shared, seed + 2, size, (-1.0) ** p,
        )
        for p in range(parts)
    ]  # fmt: skip
    sums = []
    for k in range(3):
        total = shared[k]
        for values in found:
            total = total + values[-1 - k] * values[-4]
        sums.append(total)
    base = part(sums, [graph.param(0)], common, seed + 3, after)[-3:]
    last = [
        part(values[-3:], values[3:5], base, seed + 4, size // 2, (-1.0) ** p)[-2:] for p, values in enumerate(found)
    ]
    too_large = found[0][-1] > 1e3
    program = lower(
        graph,
        [("x", (3,)), ("y", (parts, ROW))],
        [("sums", (3,), base), ("ends", (parts, 2), last)],
        [("large", too_large)],
        3 + parts * ROW,
    )
    numbers = rng.uniform(0.5, 1.5, 3 + parts * ROW)
    return program, [rng.uniform(-1, 1, (STATES, 3)), rng.uniform(-1, 1, (STATES, parts, ROW))], numbers


def interpreted(packed: Packed, arrays, numbers, prologue):
    """The outputs of a packed program, by NumPy: lanes are the first axis."""
    (params,) = ((),) if prologue is None else prologue.interpret([numbers])
    values = []
    for (op, *args), width in zip(packed.code, packed.widths, strict=True):
        if op == "const":
            value = args[0] if width == 1 else np.full((width, 1), args[0])
        elif op == "input":
            value = arrays[args[0]].reshape(STATES, -1)[:, args[1]]
        elif op == "param":
            value = params[args[0]] if width == 1 else params[args[0] : args[0] + width, None]
        elif op == "join":
            value = np.array([np.broadcast_to(values[a], STATES) for a in args])
        elif op == "spread":
            value = np.broadcast_to(values[args[0]], (width, STATES))
        elif op == "part":
            value = np.broadcast_to(values[args[0]], (packed.widths[args[0]], STATES))[args[1]]
        else:
            value = _MEANING[op](*(values[a] for a in args))
        values.append(value)
    return [np.stack([np.broadcast_to(values[v], STATES) for v in result], axis=1) for result in packed.results]


@pytest.mark.parametrize("parts", [2, 3, 4, 6, 8])
@pytest.mark.parametrize("seed", [1, 2])
def test_a_packed_program_computes_the_same(parts, seed):
    """Lane by lane, with NumPy; operands stand before their users, and vectors have the lanes that they need."""
    program, arrays, numbers = program_of(parts, seed)
    packed = pack(program, True)
    assert isinstance(packed, Packed)
    assert any(any(group.flips) for group in packs_of(program))
    for v, operation in enumerate(packed.code):
        assert all(a < v for a in operands(operation))
        if operation[0] not in ("part", "spread", "join"):
            assert {packed.widths[a] for a in operands(operation)} <= {packed.widths[v]}
    found = interpreted(packed, arrays, numbers, program.prologue)
    for x, y in zip(found, program.interpret(arrays, numbers), strict=True):
        np.testing.assert_array_equal(x, y.reshape(STATES, -1))


@NEEDS
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("parts, chunk", [(2, 800), (3, 25), (4, 30), (6, 60)])
def test_single_calls_have_the_bits_of_batches(parts, chunk, dtype, monkeypatch):
    """Also where vectors cross from one function to the next, and leave their registers."""
    monkeypatch.setenv("KINETREE_CACHE", "0")
    program, arrays, numbers = program_of(parts, 1)
    arrays = [x.astype(dtype) for x in arrays]
    targets = [dataclasses.replace(Target.host(), vector_bytes=b) for b in (32, 64) if b <= Target.host().vector_bytes]
    for target in targets:
        kernel = Kernel(program, dtype, numbers=numbers, chunk=chunk, target=target)
        _, batch = run_batch(kernel, arrays, STATES)
        for x, y in zip(run_scalar(kernel, arrays, STATES), batch, strict=True):
            np.testing.assert_array_equal(x, y)


def test_equal_legs_are_found():
    """The legs of a quadruped: most of its instructions are in four lanes, and vectors of params lie in rows."""
    f = kt.compile(kt.load("quadruped", floating_base=True), "aba")
    packed = pack(f.program, False)
    assert isinstance(packed, Packed)
    vectors = [op for (op, *_), width in zip(packed.code, packed.widths, strict=True) if width == 4]
    plain = f.program.operations.instructions
    assert len([op for op in vectors if op not in ("join", "spread", "param")]) > plain / 6
    assert sum(op in ("join", "part") for op, *_ in packed.code) < plain / 10
    assert vectors.count("param") > 2 * vectors.count("join")


def test_what_has_no_equal_parts_stays_as_it_is():
    program = kt.compile(kt.load("arm7"), "rnea").program
    assert pack(program, True) is program and packs_of(program) == []


def curve(x, seed):
    """A formula that takes one value in many places, as a spline of a muscle takes its length."""
    total, rng = x * 0.1, np.random.default_rng(seed)
    for knot in np.linspace(-0.8, 0.8, 8):
        a, b, c = rng.uniform(-1, 1, 3)
        total = scalar.where(x < knot, a * x + b, total * c + scalar.exp(a * total))
    return total * x


@pytest.mark.parametrize("chained", [False, True])
def test_parts_that_begin_alike(chained):
    """Three different values go through one curve, which is packed; not so if each depends on the curve before."""
    graph = Graph()
    q = [graph.input(0, k) for k in range(6)]
    ends = [curve(q[0] * q[1] - 0.2, 3)]
    for source in (scalar.sin(q[2]), q[3] + 0.3 * q[4] * q[5]):
        ends.append(curve(source + 0.1 * ends[-1] if chained else source, 3))
    program = lower(graph, [("x", (6,))], [("y", (3,), ends)])
    packed = pack(program, True)
    assert isinstance(packed, Packed) != chained
    states = np.random.default_rng(4).uniform(-1, 1, (STATES, 6))
    (expected,) = program.interpret([states])
    if not chained:
        assert len(packed.code) < 0.7 * len(program.code)
        np.testing.assert_array_equal(interpreted(packed, [states], None, None)[0], expected)
    kernel = Kernel(program, "float64")
    _, (batch,) = run_batch(kernel, [states], STATES)
    np.testing.assert_array_equal(run_scalar(kernel, [states], STATES)[0], batch)


@NEEDS
def test_checks_and_unused_values_are_left_out_with_them(monkeypatch):
    """Without checks the same results, and no code for the checks."""
    monkeypatch.setenv("KINETREE_CACHE", "0")
    program, arrays, numbers = program_of(4, 1)
    on, off = (Kernel(program, "float64", checks, numbers) for checks in (True, False))
    for x, y in zip(run_scalar(on, arrays, 5), run_scalar(off, arrays, 5), strict=True):
        np.testing.assert_array_equal(x, y)


@NEEDS
def test_code_of_packs_is_vector_code():
    """The code of a state multiplies four lanes at once."""
    program, _, _ = program_of(4, 1)
    text = emit(program, "float64", Target.host(), builtin=False)
    state = text[text.index("i32 @state(") :]
    assert state[: state.index("\n}")].count("fmul <4 x double>") > 5
