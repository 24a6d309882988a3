"""Chunks: the results of a range of samples, and the failures among them.

A sample that fails does not take the others with it. Motions that blow up stay in their own sample, so these are found
by their last states. Where the simulation or a measure raises an error, the samples are computed once more, then by
halves, until those that fail are alone.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from kinetree.errors import KinetreeError, MemoryLimitError, ShapeError
from kinetree.integrators.coordinates import Coordinates
from kinetree.native.engine import Target
from kinetree.simulation.options import Record
from kinetree.sweeps.batch import Batch
from kinetree.sweeps.plan import Plan

UNFINISHED, FINISHED, FAILED = 0, 1, 2
"""Values of the variable "status"."""
MOST_LOCATED = 8  # motions that blew up, of a chunk, which are simulated once more to find the instant
LONGEST = 1000  # characters of a message


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable of the store.

    Attributes
    ----------
    name : str
    shape : tuple of int
        Of one value.
    dtype : str
    labels : tuple of str or None
        Of the entries of the last axis.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    labels: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    """A sample that failed.

    Attributes
    ----------
    index : int
        Of the sample.
    seed : int
        Of the sweep: with the index it determines the sample.
    message : str
        The error.
    values : dict
        Of the parameters of the sample.
    """

    index: int
    seed: int
    message: str
    values: dict

    def __str__(self) -> str:
        given = ", ".join(f"{name} = {x}" for name, x in self.values.items())
        return f"sample {self.index} (seed {self.seed}; {given}): {self.message}"


@dataclass
class ChunkResult:
    """The results of a range of samples.

    Attributes
    ----------
    start, stop : int
    arrays : dict of str to ndarray
        Values (n, ...) of the variables and of the parameters.
    status : (n,) array of int8
    failures : list of Failure
    cpu : str
        The processor for which the code was compiled, or the device.
    seconds : float
        That it took [s].
    """

    start: int
    stop: int
    arrays: dict[str, np.ndarray]
    status: np.ndarray
    failures: list[Failure] = field(default_factory=list)
    cpu: str = ""
    seconds: float = 0.0


def computed(plan: Plan, variables: tuple[Variable, ...], start: int, stop: int) -> ChunkResult:
    """Simulate and measure a range of samples.

    Parameters
    ----------
    plan : Plan
    variables : tuple of Variable
        Of the measures.
    start, stop : int

    Returns
    -------
    ChunkResult

    Raises
    ------
    MemoryLimitError
        Fewer samples fit.
    """
    began = time.perf_counter()
    n = stop - start
    values = plan.parameters.fitting(plan.design.values(start, stop))
    arrays = {variable_name(name): x for name, x in values.items()}
    arrays |= {v.name: np.full((n, *v.shape), _nothing(v.dtype), v.dtype) for v in variables}
    found = ChunkResult(start, stop, arrays, np.full(n, FINISHED, np.int8), cpu=processor(plan.device))
    index = np.arange(start, stop)

    def fail(places, error: BaseException | str) -> None:
        message = error if isinstance(error, str) else described(error)
        for k in np.atleast_1d(places):
            found.status[k] = FAILED
            given = {name: x[k].tolist() for name, x in values.items()}
            found.failures.append(Failure(int(index[k]), plan.design.seed, message[:LONGEST], given))

    def simulate(places) -> None:
        batch = plan.simulated({name: x[places] for name, x in values.items()}, index[places])
        fine = np.isfinite(batch.q[:, -1]).all(axis=1) & np.isfinite(batch.v[:, -1]).all(axis=1)
        for j, k in enumerate(np.flatnonzero(~fine)):
            fail(places[k], _blown_up(plan, values, index, places[k]) if j < MOST_LOCATED else "no longer finite")
        if not fine.all():
            batch = batch.take(fine)
        kept = places[fine]
        if len(kept):
            _bisected(lambda part: measure(batch, kept, part), np.arange(len(kept)), lambda j, e: fail(kept[j], e))

    def measure(batch: Batch, places, part) -> None:
        chosen = batch if len(part) == len(batch) else batch.take(part)
        for name, x in measured(plan.measures, chosen, variables).items():
            found.arrays[name][places[part]] = x

    for group in plan.groups(values, n):
        _bisected(simulate, group, fail)
    found.failures.sort(key=lambda failure: failure.index)
    for v in variables:
        found.arrays[v.name][found.status == FAILED] = _nothing(v.dtype)
    found.seconds = time.perf_counter() - began
    return found


def emptied(plan: Plan, variables: tuple[Variable, ...], k: int, message: str) -> ChunkResult:
    """The result of a sample that failed before anything of it was known."""
    values = plan.parameters.fitting(plan.design.values(k, k + 1))
    arrays = {variable_name(name): x for name, x in values.items()}
    arrays |= {v.name: np.full((1, *v.shape), _nothing(v.dtype), v.dtype) for v in variables}
    given = {name: x[0].tolist() for name, x in values.items()}
    failure = Failure(k, plan.design.seed, message[:LONGEST], given)
    return ChunkResult(k, k + 1, arrays, np.full(1, FAILED, np.int8), [failure], processor(plan.device))


def _bisected(work: Callable, places: np.ndarray, fail: Callable) -> None:
    """Do work on all places, and on halves where that raises an error; single places that fail are reported."""
    try:
        try:
            work(places)
        except (MemoryError, KeyboardInterrupt):
            raise
        except Exception:
            work(places)  # errors may pass: a file that was busy
    except MemoryLimitError:
        raise
    except (KinetreeError, Exception) as error:
        if isinstance(error, MemoryError) or len(places) == 1:
            if isinstance(error, MemoryError):
                raise
            fail(places[0], error)
            return
        half = len(places) // 2
        _bisected(work, places[:half], fail)
        _bisected(work, places[half:], fail)


def measured(measures: Mapping[str, Callable], batch: Batch, variables=None) -> dict[str, np.ndarray]:
    """The results of all measures, (n, ...) by the names of variables.

    Raises
    ------
    ShapeError
        A result has no value for each sample, or values of another shape than before.
    """
    found: dict[str, np.ndarray] = {}
    for name, measure in measures.items():
        result = measure(batch)
        parts = result if isinstance(result, Mapping) else {name: result}
        for part, x in parts.items():
            x = np.asarray(x)
            if x.dtype.kind not in "fiub" or x.shape[:1] != (len(batch),):
                raise ShapeError(
                    f"sweep: measure {name!r} returns {x.dtype} of shape {x.shape} for {len(batch)} samples, expected "
                    f"numbers of shape ({len(batch)}, ...)."
                )
            found[str(part)] = x
    if variables is not None:
        expected = {v.name: v.shape for v in variables}
        shapes = {name: x.shape[1:] for name, x in found.items()}
        if shapes != expected:
            raise ShapeError(f"sweep: measures give values of shapes {shapes}, those of other samples are {expected}.")
    return found


def variable_name(parameter: str) -> str:
    """The name of the variable of a parameter: names in a store have no slash."""
    return parameter.replace("/", ".")


def processor(device: str = "cpu") -> str:
    """The name of what computes: LLVM's of the processor, or the device."""
    if device == "cuda":
        return "cuda"
    target = Target.host()
    return f"{target.cpu}, vectors of {target.vector_bytes} bytes"


def described(error: BaseException) -> str:
    """An error as text."""
    return str(error) if isinstance(error, KinetreeError) else f"{type(error).__name__}: {error}"


def _nothing(dtype: str):
    """What stands for a value that there is not."""
    kind = np.dtype(dtype).kind
    return np.nan if kind == "f" else False if kind == "b" else np.iinfo(dtype).max if kind == "u" else -1


def _blown_up(plan: Plan, values, index, k: int) -> str:
    """The instant at which a motion is no longer finite, from a second simulation that records all steps."""
    every = Plan(
        plan.source, plan.design, _recording_all(plan.runs), {"path": _path}, plan.device, plan.threads, plan._made
    )
    try:
        batch = every.simulated({name: x[[k]] for name, x in values.items()}, index[[k]])
    except Exception as error:
        return described(error)
    fine = np.isfinite(batch.q[0]).all(axis=1) & np.isfinite(batch.v[0]).all(axis=1)
    step = int(np.argmin(fine))
    bad = Coordinates.of(batch.model).first_bad(batch.q[0, step], batch.v[0, step])
    return (
        f"the motion is no longer finite after step {step} (t = {batch.t[step]:.6g} s); the first bad coordinate is "
        f"the {bad}"
    )


def _path(batch):
    return batch.q


def _recording_all(runs):
    from dataclasses import replace

    return replace(runs, record=Record())
