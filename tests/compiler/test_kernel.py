"""Calls: batches of any size, broadcast inputs, refusals, checks, threads, fork, run-time params."""

import gc
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

from kinetree.errors import NonFiniteError, ShapeError
from kinetree.native import builtin
from kinetree.native.kernel import Kernel, _entry
from kinetree.trace.program import Program
from tests.compiler.random_programs import STATES, assert_agree, random_program, run_batch


@pytest.fixture(scope="module", autouse=True)
def private_cache(tmp_path_factory):
    """One directory for the kernels of this module."""
    before = os.environ.get("KINETREE_CACHE_DIR")
    os.environ["KINETREE_CACHE_DIR"] = str(tmp_path_factory.mktemp("cache"))
    yield
    os.environ.pop("KINETREE_CACHE_DIR") if before is None else os.environ.update(KINETREE_CACHE_DIR=before)


@pytest.fixture(scope="module")
def case():
    """A program of a few hundred operations, its states and numbers, and its kernel without checks of the domain."""
    program, arrays, numbers = random_program(21, 300)
    return program, arrays, numbers, Kernel(program, numbers=numbers)


def sizes():
    """Numbers of states around the tile."""
    lanes = Kernel(random_program(21, 300)[0]).lanes
    return [0, 1, lanes - 1, lanes, lanes + 1, 2 * lanes, 2 * lanes + 3, 1000]


@pytest.mark.parametrize("which", range(8))
def test_any_number_of_states(case, which):
    """Rows are right, and rows outside the batch untouched, for sizes around the tile and a large one."""
    program, arrays, numbers, kernel = case
    n = sizes()[which]
    many = [np.resize(a, (max(n, 1), *a.shape[1:])) for a in arrays]
    _, y = run_batch(kernel, many, n)
    if n:
        assert_agree(y, [e.reshape(n, -1) for e in program.interpret([a[:n] for a in many], numbers)])


@pytest.mark.parametrize("shared", [(0,), (1, 3), (0, 1, 2, 3)])
@pytest.mark.parametrize("n", [3, 29])
def test_inputs_shared_by_all_states(case, shared, n):
    """Row stride 0 is a broadcast input."""
    program, arrays, numbers, kernel = case
    widths = [int(np.prod(shape)) for _, shape in program.inputs]
    # `random_program` is right for its own states only, so all inputs come from them: state 5 where shared.
    rows = [np.repeat(a[5:6], n, axis=0) for a in arrays]
    given = [np.ascontiguousarray(a[0]) if k in shared else a for k, a in enumerate(rows)]
    outs = [np.full((n, int(np.prod(shape))), np.nan) for _, shape in program.outputs]
    kernel.batch(given, outs, n, [0 if k in shared else w for k, w in enumerate(widths)])
    assert_agree(outs, [e.reshape(n, -1) for e in program.interpret(rows, numbers)])


def test_rows_of_a_larger_array():
    """Inputs may be columns of a wider array; nothing beside them is looked at, not even by the finiteness check."""
    code = tuple(("input", k, j) for k in range(2) for j in range(3)) + tuple(("add", j, 3 + j) for j in range(3))
    kernel = Kernel(Program((("q", (3,)), ("v", (3,))), (("y", (3,)),), code, ((6, 7, 8),)))
    wide = np.full((50, 8), np.nan)
    wide[:, 1:4], wide[:, 4:7] = np.random.default_rng(0).normal(size=(2, 50, 3))
    for n in (2, 50):
        y = np.full((n, 3), np.nan)
        assert kernel.batch([wide[:, 1:4], wide[:, 4:7]], [y], n, (8, 8)) == 0
        np.testing.assert_array_equal(y, wide[:n, 1:4] + wide[:n, 4:7])


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("width", [1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 40])
def test_transposition_of_any_width(width, dtype):
    """Columns go where they belong for every relation between row length and vector width."""
    code = tuple(("input", 0, k) for k in range(width)) + tuple(("neg", k) for k in range(width))
    program = Program((("x", (width,)),), (("y", (width,)), ("z", (2 * width,))), code, (
        tuple(range(width, 2 * width)), tuple(reversed(range(2 * width)))))  # fmt: skip
    x = np.random.default_rng(width).normal(size=(37, width)).astype(dtype)
    kernel = Kernel(program, dtype)
    _, (y, z) = run_batch(kernel, [x], 37)
    np.testing.assert_array_equal(y, -x)
    np.testing.assert_array_equal(z, np.hstack([x, -x])[:, ::-1])


def test_structural_constants_and_repetition_reach_every_row():
    """A symmetric matrix with zeros, minus zeros and a constant: outputs filled with NaN before are complete after."""
    code = (("input", 0, 0), ("const", 0.0), ("const", -0.0), ("const", 3.5), ("mul", 0, 0))
    results = tuple(np.random.default_rng(1).integers(0, 5, 144).tolist())
    results = tuple(1 if k % 3 == 0 else value for k, value in enumerate(results))
    program = Program((("x", (1,)),), (("M", (12, 12)),), code, (results,))
    x = np.linspace(-1, 1, 21).reshape(-1, 1)
    kernel = Kernel(program)
    (expected,) = program.interpret([x])
    _, (y,) = run_batch(kernel, [x], 21)
    assert y.tobytes() == expected.tobytes()
    single = kernel.scalar_entry(x[3].copy(), np.full((12, 12), np.nan))
    assert single.tobytes() == expected[3].tobytes()


def test_program_without_operations():
    """Outputs may be inputs, params and constants alone; inputs and outputs may be empty."""
    prologue = Program((("numbers", (1,)),), (("params", (1,)),), (("input", 0, 0),), ((0,),))
    program = Program(
        (("x", (2,)), ("none", (0,))),
        (("y", (3,)), ("nothing", (0,))),
        (("input", 0, 1), ("param", 0), ("const", 7.0)),
        ((0, 1, 2), ()),
        prologue=prologue,
    )
    kernel = Kernel(program, numbers=[5.0])
    x = np.arange(40.0).reshape(20, 2)
    y = np.full((20, 3), np.nan)
    assert kernel.batch([x, np.empty((20, 0))], [y, np.empty((20, 0))], 20) == 0
    np.testing.assert_array_equal(y, np.column_stack([x[:, 1], np.full(20, 5.0), np.full(20, 7.0)]))
    np.testing.assert_array_equal(kernel.scalar_entry(x[0], np.empty(0))[0], [1, 5, 7])


# The single-call entry ------------------------------------------------------------------------------------------------


def states(arrays, s=0):
    """One state of a case."""
    return [np.array(a[s]) for a in arrays]  # ascontiguousarray would give a scalar an axis


@pytest.fixture(params=["builtin", "python"])
def entry(request, case):
    """Both entries: compiled, and the twin for other interpreters."""
    kernel = Kernel(case[0], numbers=case[2], checks=False)
    if request.param == "python":
        return lambda *args: _entry(kernel, *args)
    assert builtin.available() and type(kernel.scalar_entry).__name__ == "builtin_function_or_method"
    return kernel.scalar_entry


def test_entry_fills_or_makes_outputs(case, entry):
    """Same bits as the batch; given outputs are returned themselves."""
    program, arrays, numbers, kernel = case
    _, batch = run_batch(kernel, arrays, STATES)
    outs = tuple(np.full(shape, np.nan) for _, shape in program.outputs)
    made, filled = entry(*states(arrays, 4)), entry(*states(arrays, 4), *outs)
    assert type(made) is type(filled) is tuple
    for k, y in enumerate(batch):
        assert filled[k] is outs[k]
        assert made[k].shape == outs[k].shape and made[k].dtype == np.float64 and made[k].flags.owndata
        assert made[k].tobytes() == filled[k].tobytes() == y[4].tobytes()


def test_entry_refuses_what_it_cannot_take(case, entry):
    """Wrong type, shape, axes, dtype, layout, alignment or count: NotImplemented, for inputs and for outputs."""
    program, arrays, *_ = case
    good = states(arrays)
    outs = [np.empty(shape) for _, shape in program.outputs]
    assert entry(*good, *outs) is not NotImplemented

    class Sub(np.ndarray):
        pass

    raw = np.zeros(8 * 7 + 1, np.uint8)[1:].view(np.float64)
    bad_q = [
        *([0.0] * 7, None, 3, "text", np.zeros(6), np.zeros(8), np.zeros((1, 7)), np.zeros((7, 1)), np.array(1.0)),
        *(np.zeros(7, np.float32), np.zeros(7, int), np.zeros(14)[::2], good[0].view(Sub), raw, np.zeros(7, ">f8")),
        *(np.zeros(7, object), np.zeros((0, 7)), np.zeros((2, 7))),
    ]
    for q in bad_q:
        assert entry(q, *good[1:]) is NotImplemented, q
    assert entry(good[0], np.zeros((2, 3)), *good[2:]) is NotImplemented
    assert entry(good[0], np.asfortranarray(good[1]), *good[2:]) is NotImplemented
    assert entry() is NotImplemented
    assert entry(*good[:-1]) is NotImplemented
    assert entry(*good, outs[0]) is NotImplemented
    assert entry(*good, *outs, outs[0]) is NotImplemented
    locked = np.empty(5)
    locked.flags.writeable = False
    for y in (locked, np.empty(4), np.empty((5, 1)), np.empty(5, np.float32), [0.0] * 5, np.empty(10)[::2], None):
        assert entry(*good, y, *outs[1:]) is NotImplemented
    x = np.zeros(40)
    assert entry(*good[:3], x[:19], x[10:15], *outs[1:]) is NotImplemented  # overlaps an input
    assert entry(*good, x[:5], x[3:19].reshape(4, 4), *outs[2:]) is NotImplemented  # overlaps another output


def test_entry_keeps_references_in_balance(case):
    """Repeated calls, refused ones too, neither leak nor lose references."""
    program, arrays, numbers, _ = case
    entry = Kernel(program, numbers=numbers, checks=False).scalar_entry
    good, outs = states(arrays), [np.empty(shape) for _, shape in program.outputs]
    own, shared = [*good, *outs], [np.dtype(float), np.ndarray]

    def count(objects):
        return np.array([sys.getrefcount(x) for x in objects])

    entry(*good, *outs), entry(*good), entry(None)
    gc.collect()
    before = count(own), count(shared)
    for _ in range(100):
        entry(*good, *outs)
        entry(*good)
        entry(good[0], None, None, None)
    after = count(own), count(shared)
    assert (after[0] == before[0]).all()
    # Other code of the process may hold or drop some references to these two; one per call would be 100.
    assert (abs(after[1] - before[1]) < 100).all()


def test_entry_outlives_its_kernel(case):
    """The function holds the machine code and all that it points to."""
    program, arrays, numbers, kernel = case
    expected = [y[0].tobytes() for y in run_batch(kernel, arrays, 1)[1]]
    entry = Kernel(program, numbers=numbers, checks=False).scalar_entry
    gc.collect()
    junk = [np.random.default_rng(k).normal(size=1000) for k in range(50)]  # would take the place of freed memory
    assert [y.tobytes() for y in entry(*states(arrays))] == expected
    assert len(junk) == 50


def test_float32_entry():
    """A kernel of single precision takes and returns single precision only."""
    program, arrays, numbers = random_program(22, 100, dtype="float32")
    entry = Kernel(program, "float32", numbers=numbers, checks=False).scalar_entry
    made = entry(*states(arrays))
    assert_agree(made, [y[0] for y in program.interpret(arrays, numbers)], "float32")
    assert all(y.dtype == np.float32 for y in made)
    assert entry(*[a.astype(float) for a in states(arrays)]) is NotImplemented


def test_offsets_are_verified_not_assumed(monkeypatch):
    """With another layout of array objects no builtin is made, and calls go through ctypes."""
    monkeypatch.setattr(builtin, "FIELDS", {**builtin.FIELDS, "nd": 28})
    builtin.available.cache_clear()
    try:
        assert not builtin.available()
        program = Program((("x", (1,)),), (("y", (1,)),), (("input", 0, 0), ("neg", 0)), ((1,),))
        kernel = Kernel(program)
        assert kernel.scalar_entry(np.array([2.0]))[0] == -2.0
        assert kernel.scalar_entry([2.0]) is NotImplemented
    finally:
        builtin.available.cache_clear()


# Checks ---------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def checked():
    """Two inputs; check 0: x0 < 0, check 1: 1 < x1. The last entry of each input is used by nothing."""
    code = (("input", 0, 0), ("input", 0, 1), ("const", 0.0), ("const", 1.0), ("lt", 0, 2), ("lt", 3, 1), ("add", 0, 1))
    program = Program(
        (("x", (3,)), ("w", (11,))), (("y", (1,)),), code, ((6,),), checks=(("x0 negative", 4), ("x1 large", 5))
    )
    return Kernel(program), Kernel(program, checks=False)


@pytest.mark.parametrize("n", [1, 5, 40])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_non_finite_input_sets_bit_0(checked, n, bad):
    """Any entry of any input of any state, used or not; without checks nothing is reported."""
    kernel, unchecked = checked
    rng = np.random.default_rng(0)
    for array, entry in ((0, 0), (0, 2), (1, 0), (1, 10)):
        for s in {0, n - 1, n // 2}:
            arrays = [np.full((n, 3), 0.5), rng.uniform(0, 1, (n, 11))]
            y = np.empty((n, 1))
            assert kernel.batch(arrays, [y], n) == 0
            arrays[array][s, entry] = bad
            assert kernel.batch(arrays, [y], n) & 1
            assert unchecked.batch(arrays, [y], n) == 0
            assert kernel.scalar(*(a[s] for a in arrays), out=y[0]) & 1
            assert kernel.scalar_entry(*(a[s].copy() for a in arrays)) is NotImplemented
            strides = [0, 11] if array == 0 else [3, 0]
            shared = [a[s] if k == 0 else a for a, k in zip(arrays, strides, strict=True)]
            assert kernel.batch(shared, [y], n, strides) & 1


@pytest.mark.parametrize("n", [1, 5, 40])
def test_checks_set_their_bits(checked, n):
    """Bit 1 + k for check k, the union over states; NaN in a comparison is false."""
    kernel, _ = checked
    for x, status in (((0.5, 0.5), 0), ((-1, 0.5), 2), ((0.5, 2), 4), ((-1, 2), 6), ((np.nan, 2), 5)):
        arrays = [np.full((n, 3), 0.5), np.zeros((n, 11))]
        arrays[0][n - 1, :2] = x
        assert kernel.batch(arrays, [np.empty((n, 1))], n) == status
    if n > 1:
        arrays[0][0, :2], arrays[0][n - 1, :2] = (-1, 0), (0, 2)
        assert kernel.batch(arrays, [np.empty((n, 1))], n) == 6


def test_many_checks_share_the_last_bit():
    """The status has 31 bits: checks beyond the 29th report in the last."""
    code = (("input", 0, 0), *(("const", float(k)) for k in range(40)), *(("lt", 1 + k, 0) for k in range(40)))
    program = Program((("x", (1,)),), (("y", (1,)),), code, ((0,),), checks=tuple((f"{k}", 41 + k) for k in range(40)))
    kernel = Kernel(program)
    y = np.empty((20, 1))
    for x, status in ((-1.0, 0), (0.5, 2), (1.5, 6), (28.5, 2**30 - 2), (29.5, 2**31 - 2), (50, 2**31 - 2)):
        assert kernel.batch([np.full((20, 1), float(x))], [y], 20) == status


# Params, memory, threads ----------------------------------------------------------------------------------------------


def test_params_are_given_at_run_time(case):
    """with_numbers changes the results and not the code; the first kernel keeps its numbers."""
    program, arrays, numbers, kernel = case
    other = kernel.with_numbers(numbers * 1.001)
    assert other.variants is kernel.variants
    before = run_batch(kernel, arrays, 9)[1]
    found = run_batch(other, arrays, 9)[1]
    expected = program.interpret([a[:9] for a in arrays], numbers * 1.001)
    scale = max(np.abs(e).max() for e in expected)
    # The perturbed numbers leave the generator's guarantee, hence the looser bound; a mistake would be of order 1e-3.
    assert max(np.abs(y - e.reshape(9, -1)).max() for y, e in zip(found, expected, strict=True)) < 1e-9 * scale
    assert any(y.tobytes() != z.tobytes() for y, z in zip(before, found, strict=True))
    assert [y.tobytes() for y in run_batch(kernel, arrays, 9)[1]] == [y.tobytes() for y in before]


def test_numbers_are_required_and_never_nan(case):
    """A kernel without its numbers says so; NaN is refused by place."""
    program, arrays, numbers, _ = case
    kernel = Kernel(program)
    assert kernel.scalar_entry is None
    with pytest.raises(ShapeError, match="with_numbers"):
        run_batch(kernel, arrays, 3)
    numbers = numbers.copy()
    numbers[2] = np.nan
    with pytest.raises(NonFiniteError, match="model number 2 is NaN"):
        kernel.with_numbers(numbers)


def test_overlapping_output_gives_the_right_result():
    """Outputs that overlap inputs are computed apart and copied."""
    code = tuple(("input", 0, k) for k in range(4)) + (("add", 0, 1), ("add", 4, 2), ("add", 5, 3), ("neg", 0))
    kernel = Kernel(Program((("x", (4,)),), (("y", (4,)),), code, ((7, 4, 5, 6),)))
    x = np.random.default_rng(2).normal(size=(29, 4))
    expected = np.column_stack([-x[:, 0], np.cumsum(x, axis=1)[:, 1:]])
    assert kernel.batch([x], [x], 29) == 0
    np.testing.assert_array_equal(x, expected)


def test_batch_refuses_arrays_that_do_not_fit(case):
    """Too few rows, wrong dtype or layout: an error that names the array, never foreign memory."""
    program, arrays, numbers, kernel = case
    outs = [np.empty((20, int(np.prod(shape)))) for _, shape in program.outputs]
    with pytest.raises(ShapeError, match="q: expected 20 rows of 7 entries"):
        kernel.batch([arrays[0][:19], *arrays[1:]], outs, 20)
    with pytest.raises(ShapeError, match="y1: expected 21 rows"):
        kernel.batch(arrays, [np.empty((21, 5)), *outs[1:]], 21)
    with pytest.raises(ShapeError, match="q: expected an array of float64, found float32"):
        kernel.batch([arrays[0].astype(np.float32), *arrays[1:]], outs, 20)
    with pytest.raises(ShapeError, match="q: expected 20 rows"):
        kernel.batch([np.zeros((20, 14))[:, ::2], *arrays[1:]], outs, 20)
    with pytest.raises(ShapeError, match="4 inputs and 4 outputs"):
        kernel.batch(arrays[:3], outs, 20)


def test_frames_too_large_for_the_stack():
    """Thousands of results need more than the stack allows: the caller's memory is used, in threads too."""
    width = 20003  # no whole vectors: such rows stay in the frame until the end; beyond the stack for 2 lanes and more
    code = [("input", 0, k) for k in range(20)]
    code += [("fma", k % 20, (k * 7) % 20, (k * 3) % 20) for k in range(width)]
    program = Program((("x", (20,)),), (("y", (width,)),), tuple(code), (tuple(range(20, 20 + width)),))
    kernel = Kernel(program)
    assert kernel.heap_bytes > 0
    x = np.random.default_rng(3).normal(size=(19, 20))
    results = []

    def work():
        y = np.full((19, width), np.nan)
        kernel.batch([x], [y], 19)
        results.append(y)

    before = threading.stack_size(512 * 1024)
    try:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    assert np.abs(results[0] - program.interpret([x])[0]).max() < 1e-14


def test_the_builtin_for_batches_finds_memory_for_large_frames(monkeypatch):
    """It asks for memory for each call and gives it back, also where the checks refuse: no bytes are left behind."""
    from kinetree.native import llvm_batch, llvm_builtin, llvm_module, llvm_state

    monkeypatch.setenv("KINETREE_CACHE", "0")
    for module in (llvm_module, llvm_batch, llvm_builtin, llvm_state):
        monkeypatch.setattr(module, "STACK", 0)
    width = 5003
    code = [("input", 0, k) for k in range(20)]
    code += [("fma", k % 20, (k * 7) % 20, (k * 3) % 20) for k in range(width)]
    code += [("lt", 0, 1)]
    results, checks = (tuple(range(20, 20 + width)),), (("disorder", 20 + width),)
    kernel = Kernel(Program((("x", (20,)),), (("y", (width,)),), tuple(code), results, checks))
    x = np.sort(np.random.default_rng(3).normal(size=(19, 20)))[:, ::-1].copy()
    expected = np.full((19, width), np.nan)
    assert kernel.batch([x], [expected], 19) == 0
    assert min(kernel.variants.scalar.heap_bytes, kernel.variants.batch.heap_bytes) > 0
    kernel.scalar(x[0], out=np.empty(width))  # from now on batches of one state take the scalar form
    np.testing.assert_array_equal(kernel.batch_entry(x), expected)
    np.testing.assert_array_equal(kernel.batch_entry(x[:1]), expected[:1])
    before = _resident()
    for _ in range(300):
        kernel.batch_entry(x[:3], expected[:3])
        assert kernel.batch_entry(x[:3, ::-1].copy()) is NotImplemented
    assert _resident() - before < 100 * kernel.heap_bytes


def _resident() -> int:
    """Bytes of memory that this process holds; 0 where the system does not say."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def test_no_frame_on_the_stack(case, monkeypatch):
    """On platforms where frames must not be on the stack all calls work in given memory, with the same bits."""
    from kinetree.native import llvm_batch, llvm_builtin, llvm_module, llvm_state

    program, arrays, numbers, kernel = case
    monkeypatch.setenv("KINETREE_CACHE", "0")
    for module in (llvm_module, llvm_batch, llvm_builtin, llvm_state):
        monkeypatch.setattr(module, "STACK", 0)
    other = Kernel(program, numbers=numbers, checks=False)
    assert min(other.variants.scalar.heap_bytes, other.variants.batch.heap_bytes) > 0
    expected = run_batch(kernel, arrays, 21)[1]
    assert [y.tobytes() for y in run_batch(other, arrays, 21)[1]] == [y.tobytes() for y in expected]
    assert [y.tobytes() for y in other.scalar_entry(*states(arrays, 3))] == [y[3].tobytes() for y in expected]


def test_threads_share_a_kernel(case):
    """Two threads on two halves, again and again: the bits of a single thread."""
    program, arrays, numbers, kernel = case
    many = [np.resize(a, (1000, *a.shape[1:])) for a in arrays]
    _, expected = run_batch(kernel, many, 1000)
    outs = [np.full_like(y, np.nan) for y in expected]

    def work(first, last):
        for _ in range(20):
            kernel.batch([a[first:last] for a in many], [y[first:last] for y in outs], last - first)

    threads = [threading.Thread(target=work, args=half) for half in ((0, 503), (503, 1000))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [y.tobytes() for y in outs] == [y.tobytes() for y in expected]


def test_threads_may_compile_at_once(monkeypatch):
    """Kernels built in two threads are both right."""
    monkeypatch.setenv("KINETREE_CACHE", "0")
    results = {}

    def work(seed):
        program, arrays, numbers = random_program(seed, 200)
        found = run_batch(Kernel(program, numbers=numbers), arrays, STATES)[1]
        results[seed] = found, program.interpret(arrays, numbers)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in (31, 32)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for found, expected in results.values():
        assert_agree(found, expected)
    assert len(results) == 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this platform")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_fork_keeps_kernels_usable(case, monkeypatch):
    """In a forked child compiled code runs, and new code can be compiled."""
    program, arrays, numbers, kernel = case
    expected = [y.tobytes() for y in run_batch(kernel, arrays, 40)[1]]
    monkeypatch.setenv("KINETREE_CACHE", "0")
    child = os.fork()
    if child == 0:  # leave without pytest's own exit handling
        good = False
        try:
            same = [y.tobytes() for y in run_batch(kernel, arrays, 40)[1]] == expected
            fresh = Kernel(program, numbers=numbers, chunk=70)
            good = same and [y.tobytes() for y in run_batch(fresh, arrays, 40)[1]] == expected
        finally:
            os._exit(0 if good else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_importing_the_kernel_loads_no_compiler():
    """llvmlite is imported when the first kernel is built."""
    script = "import sys, kinetree.native.kernel; sys.exit('llvmlite' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script]).returncode == 0


def test_builtins_in_cycles_are_collected(case):
    """The collector may empty a builtin's self before it frees the builtin: definitions outlive both."""
    _, _, numbers, kernel = case
    entry = kernel.with_numbers(numbers).scalar_entry
    definition = entry.__self__.keep[0]
    entry.__self__.cycle = [entry]
    del entry
    gc.collect()
    assert any(free is definition for free in builtin._definitions)
    entries = [kernel.with_numbers(numbers).scalar_entry for _ in range(len(builtin._definitions))]
    assert any(entry.__self__.keep[0] is definition for entry in entries)


def test_builtins_in_cycles_at_the_end_of_the_process():
    """The last collection comes when modules are empty already."""
    script = (
        "import gc, numpy as np\ngc.disable()\n"
        "from kinetree.native.kernel import Kernel\nfrom kinetree.trace.program import Program\n"
        "code = tuple(('input', 0, k) for k in range(2))\n"
        "for width in (1, 2):\n"
        "    kernel = Kernel(Program((('x', (2,)),), (('y', (width,)),), code, ((0, 1)[:width],)))\n"
        "    kernel.scalar_entry(np.ones(2))\n"
        "    for _ in range(200):\n"
        "        entry = kernel.with_numbers(None).scalar_entry\n"
        "        entry.__self__.cycle = [entry]\n"
    )
    assert subprocess.run([sys.executable, "-c", script]).returncode == 0
