"""The drivers of `llvm_driver` as functions of this process: batches from Python, batches and rollouts by threads."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from math import prod

import numpy as np

from kinetree.native import builtin, cache, threads
from kinetree.native.builtin import BATCH_ENTRY, INDEXED, MAX_ARRAYS, MAX_AXES, ROLLOUT, SHARE, SWEEPS
from kinetree.native.engine import Code, Target, assemble
from kinetree.native.variants import emitter
from kinetree.once import once

_P, _I = ctypes.c_void_p, ctypes.c_int32


class _Drivers:
    """The loaded code. There is one for the process: others hold its addresses."""

    def __init__(self) -> None:
        target, generator = Target.host(), emitter("kinetree.native.llvm_driver")
        key = f"driver/{generator}/{target.key}"
        data = None if generator is None else cache.load(key)
        try:
            self.code = None if data is None else Code(data)
            self._find()
        except Exception:  # nothing there, or an entry that LLVM cannot read: compile
            from kinetree.native.llvm_driver import driver_ir  # not before: most processes find the code

            data = assemble(driver_ir(target.triple), target)
            if generator is not None:
                cache.store(key, data)
            self.code = Code(data)
            self._find()

    def _find(self) -> None:
        self.batch_entry = self.code.function("kinetree_batch_entry")
        self.vectorcall = self.code.function("kinetree_vectorcall")
        self.share = self.code.callable("kinetree_share", _I, _P, _P)
        self.rollout = self.code.callable("kinetree_rollout", _I, _P, _P, _P)
        self.indexed = self.code.callable("kinetree_indexed", _I, _P, _P, _P)
        self.sweeps = self.code.callable("kinetree_sweeps", _I, _P)


_drivers = once(_Drivers)


def vectorcall_code() -> tuple[int, Code]:
    """Address of ``kinetree_vectorcall``, and the object that must live as long as it is used."""
    drivers = _drivers()
    return drivers.vectorcall, drivers.code


def fits(inputs: Sequence, outputs: Sequence) -> bool:
    """Whether the drivers take arrays of so many and such shapes."""
    return len(inputs) + len(outputs) <= MAX_ARRAYS and all(len(shape) <= MAX_AXES for _, shape in (*inputs, *outputs))


def make_batch_entry(kernel, release: int, most: int):
    """The builtin that evaluates batches of a kernel.

    Parameters
    ----------
    kernel : Kernel
    release : int
        From so many states on other Python threads may run meanwhile.
    most : int
        Larger batches are refused: they are for several threads.

    Returns
    -------
    callable
        ``entry(a0, ..., [out0, ...])``; ``NotImplemented`` for everything but plain C-contiguous arrays of the kernel's
        type with equal leading axes, or none, and for batches that the checks refuse; for all before `connect` gave
        it the kernel's code.
    """
    inputs, outputs = kernel.program.inputs, kernel.program.outputs
    values = dict(builtin.interpreter_pointers(kernel.dtype))
    values |= {"params": kernel.params_address or 0, "tuple_type": id(kernel.result)}
    values |= {"batch": 0, "scalar": 0, "inputs": len(inputs), "outputs": len(outputs)}
    values |= {"item": kernel.dtype.itemsize, "release": release, "most": most, "batch_heap": 0, "scalar_heap": 0}
    table = [values[name] for name in BATCH_ENTRY]
    for _, shape in (*inputs, *outputs):
        table += [len(shape), prod(shape), *shape, *[0] * (MAX_AXES - len(shape))]
    drivers = _drivers()
    owners = (kernel.dtype, kernel.params, kernel.variants, kernel.result, drivers.code)
    return builtin.make_method(drivers.batch_entry, table, owners, b"Evaluate a batch.")


def connect(entry, variant: str, address: int, heap_bytes: int) -> None:
    """Give a variant's code to a builtin made by `make_batch_entry`.

    Parameters
    ----------
    entry : callable
    variant : str
        ``"batch"``, or ``"scalar"``, which does batches of one state.
    address : int
        Of ``kinetree_batch`` or ``kinetree_scalar``.
    heap_bytes : int
        Memory that it needs beside its stack.
    """
    entry.__self__[BATCH_ENTRY.index(f"{variant}_heap")] = heap_bytes
    entry.__self__[BATCH_ENTRY.index(variant)] = address


def share(batch: int, params: int, arrays, outputs, n: int, block: int, heap_bytes: int, count: int, owners) -> int:
    """Evaluate a batch in several threads.

    Parameters
    ----------
    batch, params : int
        Addresses of the kernel's ``kinetree_batch`` and of its params.
    arrays, outputs : sequence of (address, bytes per row, entries per row)
    n, block : int
        States, and how many of them are taken at a time.
    heap_bytes : int
        Memory that each thread gives to the kernel.
    count : int
        Threads.
    owners : object
        Objects that must live as long as a thread works: the arrays, the params, the code.
    """
    values = {"next": 0, "n": n, "block": block, "batch": batch, "params": params}
    values |= {"inputs": len(arrays), "outputs": len(outputs)}
    head = [values[name] for name in SHARE]
    job = np.array([*head, *(x for array in (*arrays, *outputs) for x in array)], np.int64)
    return _together(_drivers().share, job, [heap_bytes], count, owners)


def rollout(kernel, batch: int, states, inputs, n: int, steps: int, every: int, count: int, owners) -> int:
    """Take n states through all steps of time.

    Parameters
    ----------
    kernel : Kernel
        One step: its first inputs are the states, its outputs the next ones, its other inputs are given over time.
    batch : int
        Address of its ``kinetree_batch``.
    states : sequence of (bytes of a row, entries, start, bytes between starts, record, bytes between records, bytes
        between rows)
    inputs : sequence of (address, bytes between states, entries between states, bytes between steps)
    n, steps, every, count : int
        States, steps of time, steps from one recorded state to the next, threads.
    owners : object
        As for `share`: the arrays.
    """
    block = kernel.block(-(-n // count))
    values = {"next": 0, "n": n, "block": block, "batch": batch, "params": kernel.params_address}
    values |= {"states": len(states), "inputs": len(inputs), "steps": steps, "every": every}
    head = [values[name] for name in ROLLOUT]
    job = np.array([*head, *(x for entry in (*states, *inputs) for x in entry)], np.int64)
    sizes = [2 * block * sum(entry[0] for entry in states), kernel.heap_bytes]
    return _together(_drivers().rollout, job, sizes, count, (owners, kernel))


class Indexed:
    """A call that evaluates a batch whose rows are found by row numbers; it holds its arrays.

    Parameters
    ----------
    kernel : Kernel
    inputs, outputs : sequence of (array, row numbers or None)
        An array with one row for each state, a single row for all, or an array and the row of each state. Arrays with
        row numbers may be inputs and outputs at once; where they are, the states of a block of `kernel.lanes` must not
        share rows.
    n : int
        States.
    """

    def __init__(self, kernel, inputs, outputs, n: int) -> None:
        block, item = kernel.lanes, kernel.dtype.itemsize
        values = {"n": n, "block": block, "batch": kernel.variants.batch.address, "params": kernel.params_address or 0}
        values |= {"inputs": len(inputs), "outputs": len(outputs)}
        shapes = [shape for _, shape in (*kernel.program.inputs, *kernel.program.outputs)]
        table, sizes = [values[name] for name in INDEXED], [prod(shape) for shape in shapes]
        for (array, rows), shape, size in zip((*inputs, *outputs), shapes, sizes, strict=True):
            shared = array.ndim == len(shape)
            table += [array.ctypes.data, 0 if shared else size * item, 0 if shared else size]
            table.append(0 if rows is None else rows.ctypes.data)
        memory = [aligned(max(size, 64)) for size in (block * sum(sizes) * item, kernel.heap_bytes)]
        job = np.array(table, np.int64)
        self.places = [array.ctypes.data for array in (job, *memory)]
        self._owners, self._run = (kernel, inputs, outputs, memory, job), _drivers().indexed

    def __call__(self) -> int:
        """Evaluate; returns the status."""
        return self._run(*self.places)


class Sweeps:
    """Repeats a call over rows until it changes little, and extrapolates between as conjugate gradients do.

    Parameters
    ----------
    visit : Indexed
        Writes `change`, `energy` and `step`.
    further : Indexed
        Called where the energy of a sweep's steps falls: with their quotient, a new `factor`. Elsewhere `step` is
        copied to `direction`.
    change, energy : (n,) array
        n is a multiple of 8.
    step, direction : array
        Of equal shapes.
    factor : () array
    """

    def __init__(self, visit: Indexed, further: Indexed, change, energy, step, direction, factor) -> None:
        self._tolerance = np.zeros(())
        arrays = change, energy, step, direction, factor, self._tolerance
        places = [*visit.places, *further.places, *(array.ctypes.data for array in arrays)]
        self._job = np.array([*places, len(change), step.nbytes, 0], np.int64)
        self._place, self._run, self._owners = self._job.ctypes.data, _drivers().sweeps, (visit, further, arrays)

    def __call__(self, tolerance: float, most: int) -> int:
        """Sweep until no entry of `change` is above a tolerance, at most so many times; returns how often."""
        self._tolerance[()], self._job[SWEEPS.index("most")] = tolerance, most
        return self._run(self._place) if most > 0 and self._job[SWEEPS.index("n")] else 0


def _together(run: Callable[..., int], job: np.ndarray, sizes: Sequence[int], count: int, owners: object) -> int:
    """Call a driver in several threads, in each with memory of its own of some sizes [byte]."""

    def work(owners=owners) -> int:
        memory = [aligned(size) if size else None for size in sizes]
        return run(job.ctypes.data, *(None if part is None else part.ctypes.data for part in memory))

    return threads.together(work, count)


def aligned(count: int) -> np.ndarray:
    """Uninitialized bytes that begin on a cache line."""
    memory = np.empty(count + 64, np.uint8)
    start = -memory.__array_interface__["data"][0] % 64
    return memory[start : start + count]
