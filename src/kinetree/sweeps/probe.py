"""The first samples of a sweep: shapes of the results, speed, and from these the size of chunks.

They are computed where chunks will be, in this process or in a worker, so a sample that ends its process does not end
the one that asks.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kinetree.errors import KinetreeError, SweepError
from kinetree.model import Model
from kinetree.simulation.memory import available_memory
from kinetree.sweeps.chunk import Variable, described, measured, variable_name
from kinetree.sweeps.plan import Plan

TRIES = 8  # samples that are tried until one gives the shapes
TIMED = 0.02  # s that the measured batch takes at least
MOST_TIMED = 4096  # samples of it
TARGET = 1.0  # s of a chunk, at most on a few workers
OVERHEAD = 0.01  # s that a chunk takes a worker beside its simulations: messages, files
RATE = 200.0  # chunks that client and scheduler handle in a second
MOST_BYTES = 2**28  # of the states of a chunk
COPIES = 4.0  # of the states while measures are computed
LANES = 16  # states that machine code takes together, at most

Call = Callable[..., object]
"""Calls a function of the plan and of further arguments, somewhere."""


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


def first_model(plan: Plan, call: Call) -> Model:
    """The first model that a factory makes.

    Raises
    ------
    KinetreeError
        It makes none of the first samples' models.
    """
    return _first(plan, call, model_of)[1]


def probed(plan: Plan, call: Call) -> Probe:
    """Compute the first samples.

    Parameters
    ----------
    plan : Plan
    call : callable
        ``call(function, *arguments)`` returns ``function(plan, *arguments)``.

    Raises
    ------
    SweepError
        None of them succeeds.
    """
    k, (results, size) = _first(plan, call, results_of)
    labels = {name: x._labels(plan.model) for name, x in plan.measures.items() if hasattr(x, "_labels")}
    measures = tuple(
        Variable(name, shape, dtype, labels.get(name) if len(shape) == 1 else None)
        for name, (shape, dtype) in results.items()
    )
    values = plan.parameters.fitting(plan.design.values(k, k + 1))
    parameters = tuple(Variable(variable_name(name), x.shape[1:], "float64", None) for name, x in values.items())
    names = [v.name for v in (*parameters, *measures)]
    for name in names:
        if names.count(name) > 1 or name in ("status", "sample"):
            raise SweepError(f"sweep: two variables of the store would be named {name!r}; name the measure otherwise.")
    size += 8 * len(plan.model.number_values())
    try:
        seconds = call(seconds_of, size, k or None)
    except SweepError:  # the connection
        raise
    except Exception:  # a sample that ends its process is among the first ones
        seconds = call(seconds_of, size, k)
    return Probe((*parameters, *measures), measures, seconds, size)


def _first(plan: Plan, call: Call, function) -> tuple[int, object]:
    """The first sample that a function can be computed of, and the result."""
    error: Exception | None = None
    tries = min(TRIES, plan.design.count)
    for k in range(tries):
        try:
            return k, call(function, k)
        except Exception as failure:
            if isinstance(failure, SweepError):
                raise
            error = error or failure
    if isinstance(error, KinetreeError):
        raise error
    raise SweepError(f"sweep: none of the first {tries} samples can be computed: {described(error)}") from error


# Where samples are computed -----------------------------------------------------------------------------------------


def here(plan: Plan) -> Call:
    """Calls in this process."""
    return lambda function, *arguments: function(plan, *arguments)


def model_of(plan: Plan, k: int) -> Model:
    """The model that the factory makes of a sample."""
    return plan.made(plan.design.values(k, k + 1), 0)


def results_of(plan: Plan, k: int) -> tuple[dict[str, tuple[tuple[int, ...], str]], int]:
    """Shapes and types of the measures of a sample, bytes of these and of its recorded states."""
    batch = plan.simulated(*_repeated(plan, k, 2))  # two: one alone has code of its own
    found = measured(plan.measures, batch)
    rows = sum(x[:1].nbytes for x in (batch.q, batch.v, batch.x, batch.impulses) if x is not None)
    shapes = {name: (x.shape[1:], x.dtype.name) for name, x in found.items()}
    return shapes, rows + sum(x[:1].nbytes for x in found.values())


def seconds_of(plan: Plan, size: int, k: int | None = None, measures: bool = True) -> float:
    """Time of a sample [s], from a batch that takes long enough to be measured.

    Parameters
    ----------
    plan : Plan
    size : int
        Of a sample [bytes].
    k : int, optional
        Take this sample, many times over, instead of the first ones.
    measures : bool
        Whether measures are computed.
    """
    n, most = LANES, min(MOST_TIMED, plan.design.count, max(1, MOST_BYTES // int(COPIES * size)))
    seconds = None
    while True:
        n = min(n, most)
        start = _clocks()
        try:
            values, index = _repeated(plan, k, n) if k is not None else (plan.design.values(0, n), np.arange(n))
            for group in plan.groups(plan.parameters.fitting(values), n):
                batch = plan.simulated({name: x[group] for name, x in values.items()}, index[group])
                if measures:
                    measured(plan.measures, batch)
        except Exception:  # samples that fail are found when they are computed
            return _since(start) / n
        first, seconds = seconds is None, _since(start)
        if first:  # code was compiled or loaded
            continue
        if seconds > TIMED or n == most:
            return seconds / n
        n = int(n * min(16.0, max(2.0, 1.5 * TIMED / seconds)))


def _clocks() -> tuple[float, float]:
    return time.perf_counter(), time.process_time()


def _since(start: tuple[float, float]) -> float:
    """Time of one core [s]: that of all threads, or more where these wait."""
    return max(now - then for now, then in zip(_clocks(), start, strict=True))


def simulation_seconds(plan: Plan) -> float:
    """Time of a sample [s] without its measures, in this process: no code of the user's takes part but a factory."""
    size = int(8 * (len(plan.times) + 1) * (plan.model.nq + plan.model.nv + plan.model.nx + 1))
    return seconds_of(plan, size, measures=False)


def _repeated(plan: Plan, k: int, n: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Values and index of a sample, n times."""
    n = min(n, plan.design.count)
    return {name: np.repeat(x, n, axis=0) for name, x in plan.design.values(k, k + 1).items()}, np.full(n, k)


# Sizes --------------------------------------------------------------------------------------------------------------


def chunk_size(probe: Probe, count: int, workers: int) -> int:
    """Samples of a chunk: of parts that are as many for each worker.

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
    even one chunk for each worker is too many, c = sqrt(S / rate) is least. Less where memory is short. Each worker
    gets a power of two of chunks, so that equal ones end together and the size depends little on measured times.
    """
    total = count * probe.seconds
    work = total / workers
    few, many = math.sqrt(2.0 * OVERHEAD * work), min(workers / RATE, math.sqrt(total / RATE))
    target = max(min(TARGET, few, work), many)
    share = available_memory() / (4.0 * min(workers, cores()))  # other machines are taken to have as much for a core
    room = min(MOST_BYTES, share) if math.isfinite(share) else MOST_BYTES
    n = max(1.0, min(target / max(probe.seconds, 1e-9), room / (COPIES * probe.bytes), count))
    each = workers if workers * n <= count else 1
    chunks = each * 2 ** math.ceil(math.log2(max(1.0, count / (each * n))) - 1e-9)
    size = -(-count // chunks)
    return min(count, size if size < 4 * LANES else -(-size // LANES) * LANES)


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
