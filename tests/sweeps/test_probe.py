"""Sizes of chunks: from speed, memory, and the number of workers."""

import math

import pytest

from kinetree.sweeps import probe
from kinetree.sweeps.probe import LANES, MOST_BYTES, OVERHEAD, RATE, TARGET, Probe, chunk_size


@pytest.fixture
def memory(monkeypatch):
    """A function that sets what the machine has, with two cores."""
    monkeypatch.setattr(probe, "cores", lambda: 2)
    return lambda size: monkeypatch.setattr(probe, "available_memory", lambda: size)


@pytest.mark.parametrize(
    ("seconds", "count", "workers", "expected"),
    [
        (1e-4, 10**9, 2, TARGET),  # nothing to gain from longer ones
        (1e-4, 10**5, 2, math.sqrt(2.0 * OVERHEAD * 5.0)),  # the least loss by overheads and the last chunk
        (1e-4, 10**12, 16_000, 16_000 / RATE),  # as many as client and scheduler handle
        (1e-4, 10**8, 16_000, math.sqrt(1e4 / RATE)),  # so little that not all workers are worth it
    ],
)
def test_a_chunk_takes_the_time_with_the_least_loss(memory, seconds, count, workers, expected):
    """Up to half of it, since each worker gets a power of two of chunks, and whole vectors of states."""
    memory(1e12)
    n = chunk_size(Probe((), (), seconds, 10), count, workers)
    assert 0.5 * expected - 1e-9 < n * seconds <= expected + LANES * seconds and n % LANES == 0


@pytest.mark.parametrize("count", [1, 2, 3, 7, 100, 1000, 10**5, 10**5 + 1])
@pytest.mark.parametrize("seconds", [1e-3, 1.0])
def test_workers_end_together(memory, count, seconds):
    """With equal speeds none waits longer than for a vector of states of each chunk."""
    memory(1e12)
    for workers in (1, 2, 3):
        n = chunk_size(Probe((), (), seconds, 10), count, workers)
        chunks = -(-count // n)
        assert 1 <= n <= count
        if count >= workers:
            assert -(-chunks // workers) * n <= count / workers + 1 + chunks * LANES


@pytest.mark.parametrize("workers", [2, 16_000])
def test_memory_limits_a_chunk(memory, workers):
    """By the share of a core, whatever the number of other machines; never below one sample."""
    memory(8e8)
    n = chunk_size(Probe((), (), 1e-9, 1000), 10**12, workers)
    assert 2.5e4 / 2 < n <= 2.5e4  # a quarter of a core's 4e8 bytes, four copies
    memory(math.inf)
    assert MOST_BYTES / 8 < chunk_size(Probe((), (), 1e-9, 1), 10**12, 1) <= MOST_BYTES / 4
    assert chunk_size(Probe((), (), 1.0, 10**12), 10, 2) == 1
