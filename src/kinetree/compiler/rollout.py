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
        Filled with the states at steps 0, every, 2 every, ...; shape (*batch, steps // every + 1, size), the entries of
        a row side by side, apart from all other arrays. Rows may stand in any direction, or all in one place.
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
        rows = _rows(x, batch, 1, 1)
        record = record.reshape(n, *record.shape[-2:])  # a view
        kept += [rows, record]
        between, step, _ = record.strides
        state_table.append((size * item, size, _address(rows), _distance(rows), _address(record), between, step))
    for x, (_, shape) in zip(inputs, kernel.program.inputs[len(states) :], strict=True):
        rows = _rows(x, batch, 1 + len(shape), len(shape))
        kept.append(rows)
        apart = _distance(rows)
        input_table.append((_address(rows), apart, apart // item, 0 if rows.shape[1] == 1 else rows.strides[1]))
    tiles = -(-n // kernel.lanes)
    count = min(kernel.threads(n * steps, f.threads), tiles)
    return kernel.roll(state_table, input_table, n, steps, every, count, kept)


def last_alone(batch: tuple[int, ...], size: int, rows: int, dtype) -> np.ndarray:
    """A record of so many rows that are one place in memory, where the last one stays."""
    x = np.empty((*batch, 1, size), dtype)
    return np.lib.stride_tricks.as_strided(x, (*batch, rows, size), (*x.strides[:-2], 0, x.strides[-1]))


def _address(x: np.ndarray) -> int:
    return x.__array_interface__["data"][0]  # a fifth of the time of x.ctypes.data


def _distance(rows: np.ndarray) -> int:
    """Bytes from the row of one state to that of the next."""
    return 0 if len(rows) == 1 else rows.strides[0]


def _rows(x: np.ndarray, batch: tuple[int, ...], own: int, inner: int) -> np.ndarray:
    """One row per state, or one row if all states share it; ``own`` axes belong to a row, ``inner`` of them, the last
    ones, without gaps."""
    lead, shape = x.shape[: x.ndim - own], x.shape[x.ndim - own :]
    count = prod(lead)
    if count != 1 and (1,) * (len(batch) - len(lead)) + lead != batch:  # some of the batch's axes repeat
        x, count = np.broadcast_to(x, (*batch, *shape)), prod(batch)
    x, size = x.reshape(count, *shape), x.itemsize
    for length, stride in zip(x.shape[:0:-1][:inner], x.strides[:0:-1], strict=False):
        if stride != size and length > 1:
            return np.require(x, requirements=("C", "A"))
        size *= length
    return x if x.flags.aligned else np.require(x, requirements=("C", "A"))
