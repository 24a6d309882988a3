"""The general call of a Function: any array-like arguments are normalized once, then evaluated as one batch."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from kinetree.compiler.fused import flattened
from kinetree.compiler.interpret import interpret
from kinetree.errors import ShapeError
from kinetree.native.arrays import as_arrays, explain
from kinetree.native.singularity import singularity


class ArrayCalls:
    """Calls with lists, other types and precisions, strided arrays, leading axes that broadcast; errors with names.

    The base of `Function`, whose names and shapes, results and kernels it uses.
    """

    __slots__ = ()

    def _general(self, args, out):
        """The result of a call that the compiled entries refused, or the error with the reason."""
        given = dict(zip(self.input_names, args, strict=True))
        arrays, batch, dtype = as_arrays(self.spec, self.model, given, self._shapes)
        if dtype.itemsize > 8:  # extended precision
            return self.interpret(arrays, batch, dtype, out)
        inputs = [_row_major(x, batch, shape, dtype) for x, shape in zip(arrays.values(), self._shapes, strict=True)]
        results = [] if out is None else self._outputs(out, batch, dtype)
        targets = [writable_apart(r, inputs) for r in results]
        result = self._compiled(dtype, batch)(*inputs, *targets)
        if result is NotImplemented:
            results = results or self._outputs(None, batch, dtype)
            targets = targets or results
            self._batch(arrays, batch, inputs, targets)
        elif out is None:
            return result
        for r, t in zip(results, targets, strict=True):
            if t is not r:
                r[...] = t
        return self._packed(results, given_out=out is not None)

    def _batch(self, arrays, batch, inputs, targets) -> None:
        """Evaluate the cases that the entries leave out: large batches, shared by threads, and refused inputs."""
        kernel, count = self._kernel(targets[0].dtype), prod(batch)
        strides = [prod(shape) if x.ndim > len(shape) else 0 for x, shape in zip(inputs, self._shapes, strict=True)]
        if kernel.batch(inputs, targets, count, strides, kernel.threads(count, self.threads)):
            raise explain(self.spec, self.model, arrays, batch) or singularity(self.spec, self.model, arrays, batch)

    def interpret(self, arrays, batch, dtype, out=None):
        """The algorithm run as Python on arrays that `as_arrays` made, its results as a call returns them."""
        results = interpret(self.spec, self.model, arrays, batch, dtype, self.static, self.checks)
        if out is not None:
            targets = self._outputs(out, batch, dtype)
            for target, result in zip(targets, results, strict=True):
                target[...] = result
            results = targets
        return self._packed(results, given_out=out is not None)

    def _outputs(self, out, batch, dtype) -> list[np.ndarray]:
        shapes = [(*batch, *shape) for shape in self._out_shapes]
        if out is None:
            return [np.empty(shape, dtype) for shape in shapes]
        return checked_outs(self.name, self.output_names, list(flattened(out)), shapes, dtype)

    def _packed(self, results, given_out: bool):
        """Results as a call returns them; a single number as a number, unless an array for it is given."""
        if not given_out:
            results = [r if r.ndim else r[()] for r in results]
        return self._pack(results)


def _row_major(x: np.ndarray, batch: tuple[int, ...], shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """An array as machine code reads it: of the whole batch, or of one state for all of it."""
    if x.shape != shape and x.shape != batch + shape:
        one = prod(x.shape) == prod(shape)  # leading axes of length one
        x = x.reshape(shape) if one else np.broadcast_to(x, batch + shape)
    flags = x.flags
    return x if x.dtype == dtype and flags.c_contiguous and flags.aligned else np.array(x, dtype, order="C")


# Arrays that a caller gives for results (``out=``) -------------------------------------------------------------------


def checked_outs(what: str, names: Sequence[str], given: Sequence, shapes: Sequence[tuple], dtype) -> list[np.ndarray]:
    """The arrays, if they can hold the results.

    Parameters
    ----------
    what : str
        The function, for errors.
    names, given, shapes : sequences
        Of the results: their names, the arrays for them and their shapes.
    dtype : numpy.dtype
        Their type.

    Raises
    ------
    ShapeError
        One is no writable array of its shape and type, there are too few or too many, or two share memory.
    """
    if len(given) != len(shapes):
        raise ShapeError(f"{what}: out needs a tuple of {len(shapes)} arrays ({', '.join(names)}).")
    for name, x, shape in zip(names, given, shapes, strict=True):
        if not isinstance(x, np.ndarray) or x.shape != shape or x.dtype != dtype or not x.flags.writeable:
            found = type(x).__name__
            if isinstance(x, np.ndarray):
                found = f"shape {x.shape}, {x.dtype}{'' if x.flags.writeable else ', read-only'}"
            raise ShapeError(
                f"{what}: out for {name} must be a writable array of shape {shape} and type {dtype}, found {found}.",
                expected=shape,
            )
    for k, x in enumerate(given):
        for other, y in zip(names, given[:k], strict=False):
            if np.may_share_memory(x, y) and np.shares_memory(x, y):
                raise ShapeError(f"{what}: out for {names[k]} and for {other} share memory; give each its own.")
    return list(given)


def writable_apart(result: np.ndarray, inputs) -> np.ndarray:
    """The array that machine code may write: the result itself unless it is strided or overlaps an input."""
    if result.flags.carray and not any(np.may_share_memory(result, x) for x in inputs):
        return result
    return np.empty(result.shape, result.dtype)
