"""Long rows stored while the rest is computed: the same bits by both kinds of stores, at every alignment."""

import dataclasses
import platform
import re

import numpy as np
import pytest

from kinetree.native import llvm_nontemporal
from kinetree.native.engine import Target, assembly
from kinetree.native.kernel import Kernel
from kinetree.native.llvm import emit
from kinetree.native.llvm_batch import TileMemory
from kinetree.native.llvm_module import Module
from kinetree.trace.program import Program
from tests.compiler.random_programs import STATES, random_program, run_batch, run_scalar

CHUNK = 60  # several chunks, although random programs are short
OUTPUTS = ((16, 8), (5,), (144,), (160,))
X86 = platform.machine() in ("x86_64", "AMD64")


def programs(dtype="float64"):
    """A random program with long rows: shuffled and with repetitions, short, in order, and of few values."""
    program, arrays, numbers = random_program(4, 700, OUTPUTS, dtype)
    shuffled, short, ordered, few = program.results
    return dataclasses.replace(program, results=(shuffled, short, tuple(sorted(ordered)), few)), arrays, numbers


def targets():
    """The host at each vector width that it can run."""
    host = Target.host()
    return [dataclasses.replace(host, vector_bytes=b) for b in (16, 32, 64) if b <= host.vector_bytes]


@pytest.fixture(autouse=True)
def no_cache(monkeypatch):
    """Every kernel here is compiled, none loaded."""
    monkeypatch.setenv("KINETREE_CACHE", "0")


@pytest.fixture(params=["kept in the caches", "past the caches"])
def way(request, monkeypatch):
    """Every batch goes this way."""
    monkeypatch.setattr(llvm_nontemporal, "PAST_CACHES", 1 << 60 if request.param == "kept in the caches" else 0)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_rows_written_early_are_those_of_single_states(way, dtype):
    """Full tiles, a last one that overlaps, and fewer states than lanes; guard rows stay as they are."""
    program, arrays, numbers = programs(dtype)
    expected = run_scalar(Kernel(program, dtype, numbers=numbers), arrays, STATES)
    for target in targets():
        kernel = Kernel(program, dtype, numbers=numbers, target=target, chunk=CHUNK)
        for n in (STATES, STATES - 1, kernel.lanes + 1, kernel.lanes, 2):
            for y, z in zip(run_batch(kernel, arrays, n)[1], expected, strict=True):
                np.testing.assert_array_equal(y, z[:n])


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_results_anywhere_in_a_cache_line(way, dtype):
    """Arrays may begin at any entry of a line; the entries around them stay as they are."""
    program, arrays, numbers = programs(dtype)
    kernel = Kernel(program, dtype, numbers=numbers, chunk=CHUNK)
    sizes = [int(np.prod(shape)) for shape in OUTPUTS]
    expected = run_scalar(kernel, arrays, STATES)
    for begin in range(64 // kernel.dtype.itemsize):
        memory = [np.full(STATES * size + 64, np.nan, dtype) for size in sizes]
        first = [begin + (-y.ctypes.data % 64) // y.itemsize for y in memory]
        outs = [y[k : k + STATES * size] for y, k, size in zip(memory, first, sizes, strict=True)]
        assert outs[0].ctypes.data % 64 == begin * kernel.dtype.itemsize % 64
        kernel.batch(arrays, outs, STATES)
        for whole, out, k, z in zip(memory, outs, first, expected, strict=True):
            np.testing.assert_array_equal(out, z.ravel())
            assert np.isnan(whole[:k]).all() and np.isnan(whole[k + out.size :]).all()


def test_threads_stream_too(way):
    """Two threads, blocks of few states: whether rows go past the caches is decided by the whole batch."""
    program, arrays, numbers = programs()
    kernel = Kernel(program, numbers=numbers, chunk=CHUNK)
    many = [np.resize(a, (500, *a.shape[1:])) for a in arrays]
    alone, shared = ([np.full((500, int(np.prod(s))), np.nan) for s in OUTPUTS] for _ in range(2))
    kernel.batch(many, alone, 500)
    kernel.batch(many, shared, 500, threads=2)
    assert [y.tobytes() for y in alone] == [y.tobytes() for y in shared]


def test_the_size_of_the_batch_decides(monkeypatch):
    """Behind a small batch the results are in the caches. The bits are the same on both sides of the border."""
    program, arrays, numbers = programs()
    row_bytes = 8 * (128 + 144 + 160)
    monkeypatch.setattr(llvm_nontemporal, "PAST_CACHES", 40 * row_bytes)
    kernel = Kernel(program, numbers=numbers, chunk=CHUNK)
    assert re.search(rf"icmp sgt i64 %\w+, {40 * row_bytes}\n", kernel.ir("batch"))
    for n in (40, 41):
        for y, z in zip(run_batch(kernel, arrays, n)[1], run_scalar(kernel, arrays, n), strict=True):
            np.testing.assert_array_equal(y, z)


def test_which_rows_are_streamed():
    """Rows of at least `LEAST` entries, whole vectors long. Without vectors, and where segments repeat, none."""
    program, *_ = programs()
    plan = Module(program, "double", targets()[0], True, CHUNK).plan
    assert llvm_nontemporal.plan_row_stores(plan, 8).outputs == (0, 2, 3)
    assert llvm_nontemporal.plan_row_stores(plan, 32).outputs == (0, 3)
    assert llvm_nontemporal.plan_row_stores(plan, 1).outputs == ()
    cut = dataclasses.replace(plan, program=dataclasses.replace(program, cuts=(200,)))
    assert llvm_nontemporal.plan_row_stores(cut, 8).outputs == ()


def test_every_block_leaves_once_when_it_is_complete():
    """The blocks of a row leave in order, each after the chunk that makes its last entry and not before."""
    program, *_ = programs()
    plan = Module(program, "double", targets()[0], True, CHUNK).plan
    streams = llvm_nontemporal.plan_row_stores(plan, 8)
    made = {value: number for number, chunk in enumerate(plan.chunks) for value in chunk}
    for output in streams.outputs:
        row, reached = program.results[output], 0
        for number, flushes in enumerate(streams.flushes):
            start, stop = flushes.get(output, (reached, reached))
            assert start == reached
            assert all(made.get(value, 0) <= number for value in row[:stop])
            blocked = row[stop : stop + 8]
            assert not blocked or any(made.get(value, 0) > number for value in blocked)
            reached = stop
        assert reached == len(row)


def test_results_take_turns_in_the_frame():
    """Results in the order in which they are made need few places at a time; in reverse, as many as there are."""
    code = [("input", 0, k) for k in range(20)]
    code += [("fma", k % 20, (k * 7) % 20, (k * 3) % 20) for k in range(4800)]
    sizes = []
    for row in (range(20, 4820), range(4819, 19, -1)):
        program = Program((("x", (20,)),), (("y", (4800,)),), tuple(code), (tuple(row),))
        sizes.append(TileMemory(Module(program, "double", targets()[0], True, 400)).scratch)
    assert sizes[0] < sizes[1] / 5


@pytest.mark.skipif(not X86, reason="looks for instructions of x86-64")
@pytest.mark.parametrize("cpu, width, store", [("x86-64", 16, "movnt"), ("haswell", 32, "vmovnt")])
def test_machine_code_for_other_processors(cpu, width, store):
    """LLVM has stores past the caches for older vectors too, and a barrier after them."""
    program, *_ = programs()
    target = Target(Target.host().triple, cpu, "", width, cpu == "haswell")
    text = assembly(emit(program, "float64", target, variant="batch"), target)
    assert store in text
    assert "mfence" in text or "lock" in text
