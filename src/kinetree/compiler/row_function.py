"""Functions over the rows of arrays, compiled: for code whose data are arrays of many alike parts, without a model."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from math import prod

import numpy as np

from kinetree.errors import ShapeError
from kinetree.native.drivers import Indexed
from kinetree.native.kernel import Kernel
from kinetree.once import made_once
from kinetree.trace.graph import Graph
from kinetree.trace.lowering import lower

GROUP = 8
"""Consecutive rows that an indexed call may evaluate at the same time; a multiple of the lanes of all machines."""


class RowFunction:
    """A function over scalars, evaluated for each row of arrays.

    Parameters
    ----------
    name : str
        For progress lines.
    function : callable
        Takes a list of scalars for each input (one scalar where the shape is empty), returns one for each output; it
        branches on structure only.
    inputs, outputs : str
        Names and sizes: "x[3] R[9] gap".

    Examples
    --------
    >>> import numpy as np
    >>> length = RowFunction("length", lambda x: [(x[0] * x[0] + x[1] * x[1]).sqrt()], "x[2]", "r[1]")
    >>> length(x=np.array([[3.0, 4.0], [6.0, 8.0]])).tolist()
    [[5.0], [10.0]]
    """

    def __init__(self, name: str, function: Callable, inputs: str, outputs: str) -> None:
        self.name, self.function = name, function
        self.inputs, self.outputs = _shapes(inputs), _shapes(outputs)
        self._made: dict[str, Kernel] = {}

    @property
    def kernel(self) -> Kernel:
        """The machine code, made when it is first used."""
        return self._made.get("kernel") or made_once(self._made, "kernel", self._compiled)

    def _compiled(self) -> Kernel:
        graph = Graph()
        arrays = []
        for k, shape in enumerate(self.inputs.values()):
            symbols = [graph.input(k, j) for j in range(prod(shape))]
            arrays.append(symbols if shape else symbols[0])
        results = self.function(*arrays)
        results = (results,) if len(self.outputs) == 1 else results
        outputs = [(name, shape, x) for (name, shape), x in zip(self.outputs.items(), results, strict=True)]
        program = lower(graph, list(self.inputs.items()), outputs)
        return Kernel(program, checks=False, what=f"compiling {self.name}")

    def __call__(self, **arrays: np.ndarray):
        """Evaluate all rows.

        Parameters
        ----------
        **arrays : ndarray of float64
            The inputs by name, C-contiguous, with equal numbers of rows; one row for all if it has no such axis.

        Returns
        -------
        array or tuple of array
        """
        given = [arrays[name] for name in self.inputs]
        shared = [array.ndim == len(shape) for array, shape in zip(given, self.inputs.values(), strict=True)]
        n = max(len(array) for array, alone in zip(given, shared, strict=True) if not alone)
        strides = [0 if alone else prod(s) for alone, s in zip(shared, self.inputs.values(), strict=True)]
        outputs = tuple(np.empty((n, *shape)) for shape in self.outputs.values())
        self.kernel.batch(given, outputs, n, strides)
        return outputs if len(outputs) > 1 else outputs[0]

    def indexed(self, n: int, inputs: Mapping[str, object], outputs: Mapping[str, object]) -> Indexed:
        """A call that evaluates rows found by row numbers, in order: results of a row are inputs of later ones.

        Parameters
        ----------
        n : int
            Evaluations.
        inputs, outputs : mapping
            By name: an array with n rows, a single row for all, or a pair of an array and the int64 row numbers of
            the n evaluations. Rows of `GROUP` consecutive evaluations that are written must differ, and none of them
            may be read by another one of the group.

        Returns
        -------
        Indexed
            Called without arguments, as often as needed; it holds the arrays.

        Raises
        ------
        ShapeError
            An array is not a C-contiguous float64 array of the declared size, or a row number leads out of it.
        """
        tables = []
        for declared, given in ((self.inputs, inputs), (self.outputs, outputs)):
            tables.append([self._checked(n, name, shape, given[name]) for name, shape in declared.items()])
        return Indexed(self.kernel, *tables, n)

    def _checked(self, n: int, name: str, shape: tuple[int, ...], given) -> tuple[np.ndarray, np.ndarray | None]:
        array, rows = given if isinstance(given, tuple) else (given, None)
        plain = array.dtype == np.float64 and array.flags.c_contiguous
        if rows is None:
            right = array.shape in (shape, (n, *shape))
        else:
            right = array.shape[1:] == shape and rows.dtype == np.int64 and rows.shape == (n,) and rows.flags.contiguous
            right = right and (n == 0 or (0 <= rows.min() and rows.max() < len(array)))
        if not (plain and right):
            raise ShapeError(f"{self.name}: {name} has shape {array.shape} and dtype {array.dtype}, expected {shape}")
        return array, rows


def _shapes(text: str) -> dict[str, tuple[int, ...]]:
    found = re.findall(r"(\w+)(?:\[(\d+)\])?", text)
    return {name: (int(size),) if size else () for name, size in found}


def conflict_free(colors: np.ndarray) -> np.ndarray:
    """An order of rows by color, in groups of one color, with -1 where a group is not full.

    Parameters
    ----------
    colors : (n,) array of int
        Rows of one color do not meet.

    Returns
    -------
    (m,) array of int
        Row numbers; m is a multiple of `GROUP`.
    """
    order = np.argsort(colors, kind="stable")
    sizes = np.bincount(colors)
    padded = -(-sizes // GROUP) * GROUP
    first, first_padded = np.cumsum(sizes) - sizes, np.cumsum(padded) - padded
    places = np.full(int(padded.sum()), -1)
    sorted_colors = colors[order]
    places[first_padded[sorted_colors] + np.arange(len(colors)) - first[sorted_colors]] = order
    return places
