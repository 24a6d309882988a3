"""Large batches in several threads, the GIL during batches, and the builtin that takes batches."""

from __future__ import annotations

import multiprocessing
import sys
import threading
import time

import numpy as np
import pytest

import kinetree as kt
from kinetree.native import kernel as kernel_module
from kinetree.native import threads


@pytest.fixture(scope="module")
def arm():
    """Two links of a spatial chain on a free base: nq = 9, nv = 8."""
    b = kt.ModelBuilder("flyer")
    b.add_body("trunk", joint=kt.joints.Free(), mass=2.0, inertia=(0.1, 0.2, 0.25))
    b.add_body("upper", "trunk", kt.joints.Revolute(), "one", mass=1.0, com=(0.3, 0, 0), inertia=(0.01, 0.02, 0.02))
    b.add_body("lower", "upper", kt.joints.Prismatic(), "two", mass=1.0, com=(0, 0.1, 0), inertia=(0.01, 0.02, 0.02))
    return b.build()


def states(model, n, seed=3):
    """q, v and tau of n random states."""
    rng = np.random.default_rng(seed)
    q = np.array([model.random_q(rng) for _ in range(min(n, 500))])
    q = np.resize(q, (n, model.nq))
    return q, rng.normal(size=(n, model.nv)), rng.normal(size=(n, model.nv))


@pytest.fixture
def eager(monkeypatch):
    """Every batch is worth all threads, in blocks of about one tile."""
    monkeypatch.setattr(kernel_module, "WORTH", 0.0)
    monkeypatch.setattr(kernel_module, "BLOCK", 50.0)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("n", [1, 7, 9, 64, 1003])
def test_the_number_of_threads_changes_no_bit(arm, eager, n, dtype):
    """States in a block of a thread, in a tile, and alone: the same bits, in new and in given arrays."""
    arrays = [x.astype(dtype) for x in states(arm, n)]
    reference = np.array([kt.compile(arm, "aba")(*row) for row in zip(*arrays, strict=True)])
    assert reference.dtype == dtype
    for count in (1, 2, 3, 8):
        f = kt.compile(arm, "aba", threads=count)
        assert np.array_equal(f(*arrays), reference)
        out = np.full((n, arm.nv), np.nan, dtype)
        assert f(*arrays, out=out) is out
        assert np.array_equal(out, reference)


def test_shared_inputs_and_several_outputs_by_threads(arm, eager):
    """An input that all states share, results in a named tuple, leading axes of any number."""
    q, v, tau = states(arm, 60)
    one, many = kt.compile(arm, "rnea", threads=1), kt.compile(arm, "rnea", threads=3)
    assert np.array_equal(many(q.reshape(3, 20, -1), v[0], tau.reshape(3, 20, -1)).reshape(60, -1), one(q, v[0], tau))
    poses = kt.compile(arm, "forward_kinematics", threads=3)(q)
    assert np.array_equal(poses.R_WB, kt.compile(arm, "forward_kinematics", threads=1)(q).R_WB)


def test_a_bad_state_is_found_whichever_thread_has_it(arm, eager):
    """The statuses of all threads are united, and the error names the state."""
    f = kt.compile(arm, "aba", threads=4)
    for k in (0, 333, 999):
        q, v, tau = states(arm, 1000)
        v[k, 6] = np.nan
        with pytest.raises(kt.errors.NonFiniteError, match=rf"aba at batch index {k}: v\[6\] is nan"):
            f(q, v, tau)
        v[k, 6], q[k, 3:7] = 0.0, 2.0
        with pytest.raises(kt.errors.QuaternionError, match=f"aba at batch index {k}"):
            f(q, v, tau)


def test_large_batches_are_shared_and_small_ones_are_not(arm, monkeypatch):
    """One thread below about a millisecond of work; above it what KINETREE_NUM_THREADS or threads= allows."""
    f = kt.compile(arm, "aba")
    f(*states(arm, 2))
    kernel = f._kernels[np.dtype(float)]
    monkeypatch.setenv("KINETREE_NUM_THREADS", "5")
    assert (kernel.threads(100), kernel.threads(10**6), kernel.threads(10**6, 3)) == (1, 5, 3)
    monkeypatch.setenv("KINETREE_NUM_THREADS", "none")
    with pytest.raises(ValueError, match="KINETREE_NUM_THREADS is 'none', expected a whole number above 0"):
        kernel.threads(10**6)
    monkeypatch.delenv("KINETREE_NUM_THREADS")
    assert kernel.threads(10**6) == threads.available() >= 1


def test_other_python_threads_run_during_a_batch(arm):
    """With the GIL held, a thread that counts would stand still during each call: 20 ms and more without a step."""
    f = kt.compile(arm, "aba", threads=1)
    arrays = states(arm, 300_000)
    out = np.empty((300_000, arm.nv))
    f(*arrays, out=out)
    stamps, stop = [], threading.Event()

    def count():
        while not stop.is_set():
            stamps.append(time.perf_counter())
            time.sleep(0.0005)

    counter = threading.Thread(target=count)
    interval = sys.getswitchinterval()
    counter.start()
    try:
        inside = []
        for _ in range(5):
            start = time.perf_counter()
            f(*arrays, out=out)
            end = time.perf_counter()
            inside.append(sum(start + 0.1 * (end - start) < t < end - 0.1 * (end - start) for t in stamps))
    finally:
        stop.set()
        counter.join()
        sys.setswitchinterval(interval)
    assert max(inside) >= 3


def test_two_python_threads_compute_at_the_same_time(arm):
    """Each call begins before the other has ended, and both give their own results."""
    f = kt.compile(arm, "aba", threads=1)
    given = [states(arm, 200_000, seed) for seed in (1, 2)]
    expected = [f(*arrays) for arrays in given]
    together, spans, found = threading.Barrier(2), [None, None], [None, None]

    def run(k):
        together.wait()
        start = time.perf_counter()
        found[k] = f(*given[k])
        spans[k] = (start, time.perf_counter())

    overlaps = []
    for _ in range(20):  # a busy machine may run one thread after the other
        both = [threading.Thread(target=run, args=(k,)) for k in (0, 1)]
        for thread in both:
            thread.start()
        for thread in both:
            thread.join()
        assert all(np.array_equal(x, y) for x, y in zip(found, expected, strict=True))
        overlaps.append(max(spans[0][0], spans[1][0]) < min(spans[0][1], spans[1][1]))
        if overlaps[-1]:
            break
    assert any(overlaps)


def test_calls_from_several_threads_share_the_helpers(arm, eager):
    """More callers than helpers: every call ends, with its own results."""
    f = kt.compile(arm, "aba", threads=3)
    given = [states(arm, 500, seed) for seed in range(6)]
    expected = [kt.compile(arm, "aba", threads=1)(*arrays) for arrays in given]
    failures = []

    def run(k):
        for _ in range(30):
            if not np.array_equal(f(*given[k]), expected[k]):
                failures.append(k)

    callers = [threading.Thread(target=run, args=(k,)) for k in range(6)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join(120)
    assert not failures and not any(caller.is_alive() for caller in callers)


def test_an_error_in_a_helper_reaches_the_caller():
    """Work that fails in any thread fails as a whole."""
    caller = threading.current_thread()
    begun = threading.Event()

    def work():
        if threading.current_thread() is caller:
            begun.wait(60)
            return 1
        begun.set()
        raise ZeroDivisionError("in a helper")

    with pytest.raises(ZeroDivisionError, match="in a helper"):
        threads.together(work, 2)
    assert threads.together(lambda: 4, 3) == 4


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork on this platform")
def test_threads_after_a_fork(arm, eager):
    """A child of a process whose helpers have begun makes its own."""
    f = kt.compile(arm, "aba", threads=2)
    arrays = states(arm, 300)
    expected = f(*arrays)
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    child = context.Process(target=lambda: queue.put(np.array_equal(f(*arrays), expected)))
    child.start()
    child.join(120)
    assert child.exitcode == 0 and queue.get()


# The builtin for batches ---------------------------------------------------------------------------------------------


def test_batches_that_the_builtin_refuses(arm):
    """It takes plain arrays with equal leading axes only; for all else it says so and reads no foreign memory."""
    q, v, tau = states(arm, 6)
    f = kt.compile(arm, "aba")
    expected = f(q, v, tau)
    rows = f._kernels[np.dtype(float)].batch_entry
    assert np.array_equal(rows(q, v, tau), expected)
    assert np.array_equal(rows(q, v[0], tau), f(q, np.tile(v[0], (6, 1)), tau))
    read_only = np.empty((6, 8))
    read_only.flags.writeable = False
    refused = [
        (), (q, v), (q, v, tau, expected.copy(), expected), (None, v, tau), ([1.0], v, tau), (q[0], v[0], tau[0]),
        (q[:5], v, tau), (q, v, tau[:0]), (q[:0], v[:0], tau[:0]), (q[::2], v[::2], tau[::2]), (v, v, tau),
        (q.astype(np.float32), v, tau), (q.reshape(2, 3, 9), v, tau), (q, v, tau, v), (q, v, tau, tau),
        (q, v, tau, np.empty((5, 8))), (q, v, tau, np.empty(8)), (q, v, tau, read_only), (np.array(1.0), v, tau),
        (q * np.nan, v, tau),
    ]  # fmt: skip
    for arguments in refused:
        assert rows(*arguments) is NotImplemented


def test_the_builtin_keeps_references_in_balance(arm):
    """Calls that succeed and calls that are refused leave the counts of all arrays as they were."""
    q, v, tau = states(arm, 6)
    out = np.empty((6, 8))
    f = kt.compile(arm, "aba")
    f(q, v, tau)
    rows = f._kernels[np.dtype(float)].batch_entry
    bad = v * np.nan
    watched = (q, v, tau, out, bad, np.dtype(float), NotImplemented)
    before = [sys.getrefcount(x) for x in watched]
    for _ in range(50):
        rows(q, v, tau)
        rows(q, v, tau, out)
        rows(q, bad, tau)
        rows(q, bad, tau, out)
        rows(q, v, v, v)
    assert [sys.getrefcount(x) for x in watched] == before


def test_the_builtin_outlives_function_and_model():
    """It holds the code and the params that it uses."""
    model = kt.models.double_pendulum()
    f = kt.compile(model, "rnea")
    x = np.ones((9, 2))
    expected = f(x, x, x)
    rows = f._kernels[np.dtype(float)].batch_entry
    kernel_module_free = kt.compile(model.replace(gravity=(0.0, 0.0, -1.0)), "rnea")
    kernel_module_free(x, x, x)
    del f, model
    assert np.array_equal(rows(x, x, x), expected)


def test_results_in_any_number_of_leading_axes(arm):
    """Batches of 2 x 1 x 3 states come back as such."""
    q, v, tau = (x.reshape(2, 1, 3, -1) for x in states(arm, 6))
    f = kt.compile(arm, "crba")
    assert f(q).shape == (2, 1, 3, 8, 8)
    assert np.array_equal(f(q)[1, 0, 2], f(q[1, 0, 2]))
    assert kt.compile(arm, "kinetic_energy")(q, v).shape == (2, 1, 3)


@pytest.mark.parametrize(("threads", "error"), [(0, ValueError), (-2, ValueError), (1.5, TypeError), ("2", TypeError)])
def test_threads_must_be_a_whole_number_above_zero(arm, threads, error):
    """What cannot be a number of threads is refused when it is given, not in the first large call, or never."""
    with pytest.raises(error, match=f"threads is {threads!r}, expected a whole number above 0"):
        kt.compile(arm, "rnea", threads=threads)


def test_numpy_integers_count_threads(arm):
    """Any integer type will do."""
    assert kt.compile(arm, "rnea", threads=np.int64(2)).threads == 2
