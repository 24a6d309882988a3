"""Rollouts of a compiled step in machine code: many states, all steps, one call.

The driver (`llvm_driver`) takes a tile of states through all steps while they stay in the first-level cache; threads
share the tiles. Here arrays of any leading axes become its table of addresses and strides, and nothing is copied that
need not be.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from kinetree.compiler.function import Function, StatewiseFunction


def own_axes(f: Function) -> tuple[int, ...]:
    """Leading axes that a function's own parameters have, which a batch must broadcast with."""
    return f.values.shape[:-1] if isinstance(f, StatewiseFunction) else ()


def roll(
    f: Function,
    batch: tuple[int, ...],
    states: Sequence[np.ndarray],
    inputs: Sequence[np.ndarray],
    records: Sequence[np.ndarray],
    steps: int,
    every: int,
) -> int:
    """Advance a batch of states through all steps.

    Parameters
    ----------
    f : Function
        One step: its first inputs are the state, its outputs the next one, its other inputs are given over time.
    batch : tuple of int
        Leading axes of the rollouts, none of them 0.
    states : sequence of ndarray
        Initial value of each array of the state, shape (*lead, size) with leading axes that broadcast to the batch.
    inputs : sequence of ndarray
        The other inputs over time, shape (*lead, time, *shape), time being ``steps``, or 1 for constants.
    records : sequence of ndarray
        Filled with the states at steps 0, every, 2 every, ...; shape (*batch, steps // every + 1, size), C-contiguous,
        apart from all other arrays.
    steps, every : int

    Returns
    -------
    int
        The status of the kernel, 0 for success. Otherwise the records are not filled in.

    Notes
    -----
    All arrays have one type, float64 or float32. Other Python threads may run meanwhile.
    """
    dtype = records[0].dtype
    kernel = f._kernel(dtype)
    if isinstance(f, StatewiseFunction):
        inputs = [*inputs, f.params[dtype][..., None, :]]
    item, n = dtype.itemsize, prod(batch)
    kept, state_table, input_table = [], [], []  # arrays kept alive as long as their addresses are used
    for x, record in zip(states, records, strict=True):
        size = record.shape[-1]
        rows = _rows(x, batch, 1)
        kept.append(rows)
        apart = 0 if len(rows) == 1 else size * item
        between = record.shape[-2] * size * item
        state_table.append((size * item, size, _address(rows), apart, _address(record), between))
    for x, (_, shape) in zip(inputs, kernel.program.inputs[len(states) :], strict=True):
        rows = _rows(x, batch, 1 + len(shape))
        kept.append(rows)
        size, time = prod(shape), rows.shape[1]
        entries = 0 if len(rows) == 1 else time * size
        input_table.append((_address(rows), entries * item, entries, 0 if time == 1 else size * item))
    tiles = -(-n // kernel.lanes)
    count = min(kernel.threads(n * steps, f.threads), tiles)
    return kernel.roll(state_table, input_table, n, steps, every, count, (kept, records))


def _address(x: np.ndarray) -> int:
    return x.__array_interface__["data"][0]  # a fifth of the time of x.ctypes.data


def _rows(x: np.ndarray, batch: tuple[int, ...], own: int) -> np.ndarray:
    """One row per state, or one row if all states share it; ``own`` axes belong to a row."""
    lead, shape = x.shape[: x.ndim - own], x.shape[x.ndim - own :]
    count = prod(lead)
    if count != 1 and (1,) * (len(batch) - len(lead)) + lead != batch:  # some of the batch's axes repeat
        x, count = np.broadcast_to(x, (*batch, *shape)), prod(batch)
    if not (x.flags.c_contiguous and x.flags.aligned):
        x = np.require(x, requirements=("C", "A"))
    return x.reshape(count, *shape)
