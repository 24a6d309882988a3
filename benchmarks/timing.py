"""Interleaved timing in CPU time: every contender runs once per repeat, so a slow spell of the machine hits all."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Mapping, Sequence

BLOCK = 0.03  # seconds of CPU time per timed block: a thousand times the clock's resolution and call overhead
REPEATS = 11


def block_size(run: Callable[[int], None], block: float = BLOCK) -> int:
    """How often ``run(n)`` must repeat its work to take at least ``block`` seconds; also warms everything up."""
    run(1)  # compiles: its time is that of no block
    n = 1
    while True:
        start = time.process_time()
        run(n)
        spent = time.process_time() - start
        if spent >= block:
            return n
        n = max(2 * n, int(1.2 * n * block / spent)) if spent > 1e-4 else 10 * n


def interleaved(
    contenders: Mapping[str, Callable[[int], None]],
    units: int | Mapping[str, int] = 1,
    repeats: int = REPEATS,
    block: float = BLOCK,
    clock: Callable[[], float] = time.process_time,
) -> dict[str, list[float]]:
    """Seconds of CPU time per unit of work, one number per repeat and contender.

    Parameters
    ----------
    contenders : mapping of str to callable
        ``run(n)`` does its work n times.
    units : int or mapping of str to int
        How many units (states) the work done once consists of, for all or for each.
    repeats : int
        Rounds; in each one every contender runs one block, in an order that rotates from round to round.
    block : float
        Least duration of a block [s].
    clock : callable
        Seconds; the default counts all threads of the process: work handed to a thread is not free.
    """
    sizes = {name: block_size(run, block) for name, run in contenders.items()}
    works = {name: n * (units if isinstance(units, int) else units[name]) for name, n in sizes.items()}
    times: dict[str, list[float]] = {name: [] for name in contenders}
    names = list(contenders)
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        for k in range(repeats):
            for name in names[k % len(names) :] + names[: k % len(names)]:
                run, n = contenders[name], sizes[name]
                start = clock()
                run(n)
                times[name].append((clock() - start) / works[name])
            gc.collect()
    finally:
        if was_enabled:
            gc.enable()
    return times


def summary(times: Sequence[float]) -> dict[str, float]:
    """Best, median and spread (interquartile range over median) of repeated times."""
    quarter, half, three_quarters = statistics.quantiles(times, n=4)
    return {"best": min(times), "median": half, "spread": (three_quarters - quarter) / half}


def ratios(slow: Sequence[float], fast: Sequence[float]) -> dict[str, object]:
    """How many times as long ``slow`` takes as ``fast``: per repeat, and the median over repeats."""
    each = [s / f for s, f in zip(slow, fast, strict=True)]
    return {"median": statistics.median(each), "lowest": min(each), "highest": max(each), "repeats": each}
