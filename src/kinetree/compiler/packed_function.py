"""Packed results: of matrices with structural zeros and equal entries only the distinct values are written.

Derivatives and inertia matrices of trees are sparse: entries of two joints of which neither supports the other
are zero, and M is symmetric. On large batches the stores of whole matrices take longer than the arithmetic. A program
has constant zeros and equal values marked, so that these stores can be left out.

The entries stand in the order in which the program computes them, and long vectors end with zeros, up to the end of a
cache line: so they can be stored while the rest is computed (`llvm_stream`).
"""

from __future__ import annotations

import dataclasses
from types import MappingProxyType

import numpy as np

from kinetree.compiler.function import Function
from kinetree.compiler.fused import flattened
from kinetree.compiler.tracing import numbers_model
from kinetree.errors import ShapeError
from kinetree.trace.program import Program

ZERO = ("const", 0.0)

LINE = 16
"""Entries of a cache line, of the smaller type."""

LONG = 128
"""Entries from which a vector ends where a line ends; shorter ones do not leave early (`llvm_stream.LEAST`)."""


def distinct(program: Program) -> tuple[list[list[int]], list[np.ndarray]]:
    """For each output the values that are not the constant zero, once each, and the place of every entry among them.

    The values come in the order of the code.

    Examples
    --------
    >>> from kinetree.trace.program import Program
    >>> code = ("const", 0.0), ("input", 0, 0), ("input", 0, 1)
    >>> values, places = distinct(Program((("x", (2,)),), (("M", (2, 2)),), code, ((1, 0, 0, 1),)))
    >>> values, places[0].tolist()
    ([[1]], [[0, -1], [-1, 0]])
    """
    values, places = [], []
    for (_, shape), result in zip(program.outputs, program.results, strict=True):
        made = sorted({value for value in result if program.code[value] != ZERO})
        numbered = {value: k for k, value in enumerate(made)}
        values.append(made)
        places.append(np.array([numbered.get(value, -1) for value in result], dtype=np.intp).reshape(shape))
    return values, places


def padded_length(count: int) -> int:
    """Length of the vector of so many distinct entries, zeros at its end included."""
    return count if count < LONG else -(-count // LINE) * LINE


def packed_program(program: Program) -> Program:
    """The same code; each output is the vector of its distinct values, long ones with zeros at the end."""
    values, _ = distinct(program)
    code, zero = (*program.code, ZERO), len(program.code)
    rows = [(*part, *[zero] * (padded_length(len(part)) - len(part))) for part in values]
    return dataclasses.replace(
        program,
        code=code,
        outputs=tuple((name, (len(row),)) for (name, _), row in zip(program.outputs, rows, strict=True)),
        results=tuple(rows),
    )


class PackedFunction(Function):
    """A Function whose results are vectors of their distinct entries that are not structural zeros.

    Attributes
    ----------
    whole : Function
        The function for the whole arrays.
    places : dict of str to array of int
        For each output an array of its shape: the entry's place in the vector, -1 for a structural zero. In vectors
        of 128 entries and more, some places at the end hold zeros that stand for no entry.
    """

    def __init__(self, whole: Function) -> None:
        if not isinstance(whole, Function):
            raise TypeError(f"packed takes a compiled function, found {type(whole).__name__}")
        if np.ndim(getattr(whole, "values", ())) > 1:
            raise TypeError(f"{whole.name}: a packed function takes one set of numbers; pack for each, or do not pack")
        program = whole.program
        values, places = distinct(program)
        self.whole = whole
        self.places = dict(zip(whole.output_names, places, strict=True))
        self._first = [_first_places(part, len(v)) for part, v in zip(places, values, strict=True)]
        lengths = {name: (str(padded_length(len(v))),) for name, v in zip(whole.output_names, values, strict=True)}
        name, outputs = f"{whole.spec.name}_packed", MappingProxyType(lengths)
        spec = whole.declared(name=name, outputs=outputs, function=self._interpreted)
        super().__init__(spec, whole.model, (), whole.static, whole.checks, whole.threads)
        self.structure_model, self._numbers = whole.structure_model, whole._numbers
        self._packed_program = packed_program(program)

    def unpack(self, *vectors):
        """Whole arrays from the vectors of one call.

        Parameters
        ----------
        *vectors : (..., n) arrays
            As a call returned them: ``f.unpack(f(q, v, a))`` or ``f.unpack(*f(q, v, a))``.

        Returns
        -------
        array or tuple of arrays
            The results of the function before it was packed.
        """
        vectors = flattened(flattened(vectors))
        if len(vectors) != len(self.places):
            raise TypeError(f"{self.name}: unpack takes {len(self.places)} vectors, {len(vectors)} were given")
        found = []
        for (name, places), (size,), x in zip(
            self.places.items(), self._out_shapes, map(np.asarray, vectors), strict=True
        ):
            if x.shape[-1:] != (size,):
                raise ShapeError(
                    f"{self.name}: the vector of {name} has shape {x.shape}, expected (..., {size}).",
                    name=name,
                    found=x.shape,
                    expected=(size,),
                )
            found.append(np.zeros((*x.shape[:-1], *places.shape), x.dtype))
            here = places >= 0
            found[-1][..., here] = x[..., places[here]]
        return self.whole._packed(found, given_out=True)

    def with_parameters(self, parameters) -> PackedFunction:
        """The same for other numbers, one set of them; see `Function.with_parameters`."""
        return PackedFunction(self.whole.with_parameters(parameters))

    def _interpreted(self, model, *arrays, **named):
        results = self.whole.spec.function(model, *arrays, **named)
        results = results if len(self.places) > 1 else (results,)
        vectors = [
            [_entry(result, index) for index in first] + [0.0] * (padded_length(len(first)) - len(first))
            for result, first in zip(results, self._first, strict=True)
        ]
        return vectors if len(vectors) > 1 else vectors[0]

    def _built(self, dtype: str):
        from kinetree.native.kernel import Kernel

        basis = numbers_model(self.whole.spec, self.structure_model)
        numbers = basis.number_values() if self._numbers is None else self._numbers
        return Kernel(self._packed_program, dtype, self.checks, numbers, what=self._doing, seconds=self.seconds)

    def _program(self, signature):
        return self._packed_program

    def __reduce__(self):
        return PackedFunction, (self.whole,)


def _first_places(places: np.ndarray, count: int) -> list[tuple[int, ...]]:
    """Where in the whole array each entry of the vector stands first."""
    _, first = np.unique(places, return_index=True)  # structural zeros, -1, before all others
    return [np.unravel_index(k, places.shape) for k in first[len(first) - count :]]


def _entry(nested, index: tuple[int, ...]):
    for k in index:
        nested = nested[k]
    return nested


def packed(function: Function) -> PackedFunction:
    """A compiled function that writes only the distinct entries of its results.

    Parameters
    ----------
    function : Function
        From :func:`kinetree.compile`, :func:`kinetree.differentiate`.

    Returns
    -------
    PackedFunction
        Called like the function; every result is a vector (..., n) of the entries that are neither structural zeros nor
        equal by structure to one before, in the order in which they are computed; long vectors end with zeros.
        ``f.places[name]`` is the place of each entry of the whole array in it, -1 for a zero; ``f.unpack(*results)``
        gives the whole arrays.

    Notes
    -----
    The values are the same bits. Useful for large batches of matrices, which are limited by memory bandwidth: of
    the derivatives of a humanoid's inverse dynamics a third of the entries is left, and they are written while the
    rest is computed.

    Examples
    --------
    >>> import kinetree as kt, numpy as np
    >>> model = kt.models.double_pendulum()
    >>> f = kt.compile(model, "crba")
    >>> g = kt.compiler.packed(f)
    >>> g([0.1, 0.2]).shape, g.places["M"].tolist()
    ((3,), [[2, 1], [1, 0]])
    >>> bool(np.array_equal(g.unpack(g([0.1, 0.2])), f([0.1, 0.2])))
    True
    """
    return PackedFunction(function)
