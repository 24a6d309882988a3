"""First calls from many threads, and forks meanwhile, in fresh processes with and without a cache.

A race shows as a crash, a wrong number or a process that does not come to an end, and in some processes only. So each
kind runs in several of them, and in ten times as many in the sweep.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import kinetree as kt
from tests.compiler import first_calls

PATIENCE = 120
"""[s]: a process that needs more hangs; it takes about two."""


def in_a_fresh_process(how: str, what: str, cache: Path | None) -> np.ndarray:
    """What `first_calls` computes there."""
    environment = os.environ | {"KINETREE_CACHE": "1" if cache else "0", "KINETREE_CACHE_DIR": str(cache or "")}
    done = subprocess.run(
        [sys.executable, "-W", "error", first_calls.__file__, how, what],
        env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"status {done.returncode}: {done.stderr[-2000:]}"
    return np.frombuffer(bytes.fromhex(done.stdout))


def expected(what: str) -> np.ndarray:
    """The same, one after the other."""
    task = {"batches": first_calls.batches, "simulate": first_calls.run}[what]
    return np.concatenate([task(seed) for seed in range(first_calls.THREADS)])


@pytest.mark.seeds(3)
@pytest.mark.parametrize("what", ["batches", "simulate"])
def test_first_calls_from_threads_that_begin_together(what, seed, tmp_path):
    """Nothing is in the cache, then everything is; the bits are those of one thread."""
    reference = expected(what)
    for _ in range(2):
        assert np.array_equal(in_a_fresh_process("threads", what, tmp_path), reference)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.seeds(2)
@pytest.mark.parametrize("what", ["batches", "simulate"])
def test_forks_while_threads_compile(what, seed):
    """The children compile too and come to an end."""
    assert np.array_equal(in_a_fresh_process("forks", what, None), expected(what))


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers on this system")
@pytest.mark.seeds(20)
def test_an_interrupted_first_call_leaves_nothing_half_done(seed, monkeypatch):
    """Ctrl-C at any moment of the first calls; they are made again, by this thread and by others."""
    monkeypatch.setenv("KINETREE_CACHE", "0")

    def interrupt(number, frame):
        raise KeyboardInterrupt

    previous = signal.signal(signal.SIGALRM, interrupt)
    arm, rng = first_calls.model(seed + 100), np.random.default_rng(seed)
    q, v, a = rng.normal(size=(3, 4, arm.nv))
    try:
        try:
            signal.setitimer(signal.ITIMER_REAL, 10 ** rng.uniform(-3, -0.5))
            kt.rnea(arm, q, v, a)
            kt.aba(arm, q[0], v[0], a[0])
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except KeyboardInterrupt:  # in one of the calls, or between them and the end of the timer
        pass
    signal.signal(signal.SIGALRM, previous)
    try:
        with ThreadPoolExecutor(2) as executor:
            tau, accelerations = executor.submit(kt.rnea, arm, q, v, a), executor.submit(kt.aba, arm, q[0], v[0], a[0])
            with kt.interpreted():
                expected = [kt.rnea(arm, *row) for row in zip(q, v, a, strict=True)]
            assert np.allclose(tau.result(PATIENCE), expected, rtol=1e-10, atol=1e-10)
            assert np.allclose(kt.rnea(arm, q[0], v[0], accelerations.result(PATIENCE)), a[0], rtol=1e-8, atol=1e-8)
    except KeyboardInterrupt as late:  # which would end the whole session of tests
        raise AssertionError("an interrupt of the first calls reached later ones") from late
