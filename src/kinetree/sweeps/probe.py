"""The first samples of a sweep: shapes of the results, speed, and from these the size of chunks."""

from __future__ import annotations

import math
import os
import time
from dataclasses import dataclass

import numpy as np

from kinetree.simulation.memory import available_memory
from kinetree.sweeps.chunk import Variable, described, measured, variable_name
from kinetree.sweeps.plan import Plan

TRIES = 8  # samples that are tried until one gives the shapes
TIMED = 0.05  # s that the measured batch takes at least
MOST_TIMED = 4096  # samples of it
TARGET = 1.0  # s of a chunk, at most on a few workers
OVERHEAD = 0.01  # s that a chunk takes a worker beside its simulations: messages, files
RATE = 200.0  # chunks that client and scheduler handle in a second
MOST_BYTES = 2**28  # of the states of a chunk
COPIES = 4.0  # of the states while measures are computed
LANES = 16  # states that machine code takes together, at most


@dataclass(frozen=True, slots=True)
class Probe:
    """What the first samples show.

    Attributes
    ----------
    variables : tuple of Variable
        Of parameters, then of measures.
    measures : tuple of Variable
    seconds : float
        For a sample, on one core [s].
    bytes : int
        Of the recorded states and the results of a sample.
    """

    variables: tuple[Variable, ...]
    measures: tuple[Variable, ...]
    seconds: float
    bytes: int


def probed(plan: Plan) -> Probe:
    """Compute the first samples.

    Raises
    ------
    SweepError
        None of them succeeds.
    """
    from kinetree.errors import KinetreeError, SweepError

    error: Exception | None = None
    for k in range(min(TRIES, plan.design.count)):
        values = plan.parameters.fitting(plan.design.values(k, k + 1))
        try:
            batch = plan.simulated(values, np.array([k]))
            found = measured(plan.measures, batch)
            break
        except Exception as failure:
            error = error or failure
    else:
        if isinstance(error, KinetreeError):
            raise error
        raise SweepError(
            f"sweep: none of the first {min(TRIES, plan.design.count)} samples can be computed: {described(error)}"
        ) from error
    labels = {name: x._labels(plan.model) for name, x in plan.measures.items() if hasattr(x, "_labels")}
    measures = tuple(
        Variable(name, x.shape[1:], x.dtype.name, labels.get(name) if x.ndim == 2 else None)
        for name, x in found.items()
    )
    parameters = tuple(Variable(variable_name(name), x.shape[1:], "float64", None) for name, x in values.items())
    names = [v.name for v in (*parameters, *measures)]
    for name in names:
        if names.count(name) > 1 or name in ("status", "sample"):
            raise SweepError(f"sweep: two variables of the store would be named {name!r}; name the measure otherwise.")
    rows = sum(x.nbytes for x in (batch.q, batch.v, batch.x, batch.impulses) if x is not None)
    size = rows + sum(x.nbytes for x in found.values()) + 8 * len(plan.model.number_values())
    return Probe((*parameters, *measures), measures, _seconds(plan, size), size)


def _seconds(plan: Plan, size: int) -> float:
    """Time of a sample [s], from a batch that takes long enough to be measured."""
    n, most = LANES, min(MOST_TIMED, plan.design.count, max(1, MOST_BYTES // int(COPIES * size)))
    seconds = None
    while True:
        n = min(n, most)
        start = time.perf_counter()
        try:
            values = plan.parameters.fitting(plan.design.values(0, n))
            for group in plan.groups(values, n):
                batch = plan.simulated({name: x[group] for name, x in values.items()}, group)
                measured(plan.measures, batch)
        except Exception:  # samples that fail are found when they are computed
            return (time.perf_counter() - start) / n
        first, seconds = seconds is None, time.perf_counter() - start
        if first:  # code was compiled or loaded
            continue
        if seconds > TIMED or n == most:
            return seconds / n
        n = int(n * min(16.0, max(2.0, 2.0 * TIMED / seconds)))


def chunk_size(probe: Probe, count: int, workers: int) -> int:
    """Samples of a chunk, a power of two.

    Parameters
    ----------
    probe : Probe
    count : int
        All samples.
    workers : int
        Threads that compute chunks.

    Notes
    -----
    With W seconds of work for each worker, chunks of c seconds cost W / c overheads, and at the end workers wait for
    the last one, c / 2 on average: least at c = sqrt(2 W overhead). From a second on there is nothing to gain, unless
    workers are so many that client and scheduler do not keep up; with all work S they take S / (c rate), so where
    even one chunk for each worker is too many, c = sqrt(S / rate) is least. Less where memory is short.
    """
    total = count * probe.seconds
    work = total / workers
    few, many = math.sqrt(2.0 * OVERHEAD * work), min(workers / RATE, math.sqrt(total / RATE))
    target = max(min(TARGET, few, work), many)
    share = available_memory() / (4.0 * min(workers, cores()))  # other machines are taken to have as much for a core
    room = min(MOST_BYTES, share) if math.isfinite(share) else MOST_BYTES
    n = min(target / max(probe.seconds, 1e-9), room / (COPIES * probe.bytes), count)
    return min(count, 2 ** max(0, math.floor(math.log2(max(1.0, n)))))


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
