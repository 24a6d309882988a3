"""Calls of a Function with arrays that its compiled entries do not take as they are."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

import numpy as np

from kinetree.compiler.fused import flattened
from kinetree.compiler.interpret import interpret
from kinetree.compiler.output_buffers import checked_outs, writable_apart
from kinetree.native.arrays import WEAK, as_arrays, explain, is_number, wrenches_by_name
from kinetree.native.singularity import singularity


class ArrayCalls:
    """From the cheapest way to the one that explains; each answers, or leaves it to the next with NotImplemented.

    The base of `Function`, whose names and shapes, results and kernels it uses.
    """

    __slots__ = ()

    def _converted(self, args, outs):
        """Numbers in any other form, made plain arrays of doubles; NotImplemented where that could go wrong."""
        arrays, double, wrenches = [], False, (self.model.nb, self.model.algebra.dimension)
        try:
            for name, shape, x in zip(self.input_names, self._shapes, args, strict=True):
                if shape == wrenches and isinstance(x, Mapping):
                    x = wrenches_by_name(self.name, self.model, name, x)
                weak = type(x) in WEAK
                x = np.asarray(x)
                if x.dtype.kind not in "fiub" or x.dtype.itemsize > 8:
                    return NotImplemented
                double = double or not weak and (x.dtype.kind != "f" or x.dtype.itemsize == 8)
                arrays.append(x)
        except ValueError:  # rows of different lengths
            return NotImplemented
        if not double:
            return NotImplemented
        found = self._plain([np.ascontiguousarray(x, float).reshape(x.shape) for x in arrays], outs)
        spread = self._spread(arrays) if found is NotImplemented else None
        return found if spread is None else self._plain(spread, outs)

    def _spread(self, arrays) -> list[np.ndarray] | None:
        """Arrays whose leading axes broadcast, over those of the batch; None where that is not what is wrong."""
        leading = [x.shape[: x.ndim - len(shape)] for x, shape in zip(arrays, self._shapes, strict=True)]
        try:
            batch = np.broadcast_shapes(*leading)
            if all(axes in ((), batch) for axes in leading):
                return None
            whole, spread = batch in leading, []
            for x, axes, shape in zip(arrays, leading, self._shapes, strict=True):
                if axes != batch:  # one state stays alone
                    x = x.reshape(shape) if prod(axes) == 1 and whole else np.broadcast_to(x, batch + shape)
                spread.append(np.require(x, float, ("C", "A")))
        except ValueError:
            return None
        return spread

    def _rows(self, args, outs, dtype):
        """Batches that are shared by several threads; NotImplemented for what is no batch of plain arrays."""
        batch, strides = None, []
        if len(args) != len(self._shapes):
            return NotImplemented
        args = [
            np.array(x, dtype) if type(x) is not int and is_number(x, dtype) and shape == () else x
            for x, shape in zip(args, self._shapes, strict=True)
        ]
        for x, shape in zip(args, self._shapes, strict=True):
            if type(x) is not np.ndarray or x.dtype != dtype or not (x.flags.c_contiguous and x.flags.aligned):
                return NotImplemented
            leading = x.shape[: x.ndim - len(shape)]
            if x.shape != leading + shape or (leading and batch is not None and leading != batch):
                return NotImplemented
            if leading:
                batch = leading
            strides.append(prod(shape) if leading else 0)
        if batch is None or 0 in batch:
            return NotImplemented
        results = list(outs) or [np.empty(batch + shape, dtype) for shape in self._out_shapes]
        if len(results) != len(self._out_shapes):
            return NotImplemented
        for x, shape in zip(results, self._out_shapes, strict=True):
            if type(x) is not np.ndarray or x.dtype != dtype or x.shape != batch + shape or not x.flags.carray:
                return NotImplemented
        if any(np.may_share_memory(x, y) for k, x in enumerate(outs) for y in outs[:k]):
            return NotImplemented
        kernel, n = self._kernels[dtype], prod(batch)
        if kernel.batch(args, results, n, strides, kernel.threads(n, self.threads)):
            return NotImplemented  # the general way says what is wrong
        return results[0] if self._result is None else self._result(*results)

    def _general(self, given, out):
        """The explaining way: any array-like arguments, batches, other precisions, errors with names."""
        arrays, batch, dtype = as_arrays(self.spec, self.model, given)
        if dtype == np.longdouble and dtype != np.float64:
            results = interpret(self.spec, self.model, arrays, batch, dtype, self.static, self.checks)
            results = self._into(out, results, dtype) if out is not None else results
            return self._packed(results, given_out=out is not None)
        kernel = self._kernel(dtype)
        count = prod(batch)
        rows, strides = [], []
        for x, shape in zip(arrays.values(), self._shapes, strict=True):
            width = prod(shape)
            if x.shape == shape:  # one state for the whole batch
                rows.append(np.require(x, dtype, ("C", "A")).reshape(width))
                strides.append(0)
            else:
                full = np.broadcast_to(x, (*batch, *shape))
                rows.append(np.require(full, dtype, ("C", "A")).reshape(count, width))
                strides.append(width)
        results = self._outputs(out, batch, dtype)
        targets = [writable_apart(r, rows) for r in results]
        flat = [t.reshape(count, prod(shape)) for t, shape in zip(targets, self._out_shapes, strict=True)]
        status = kernel.batch(rows, flat, count, strides, kernel.threads(count, self.threads))
        if status:
            raise explain(self.spec, self.model, arrays, batch) or singularity(self.spec, self.model, arrays, batch)
        for r, t in zip(results, targets, strict=True):
            if t is not r:
                r[...] = t
        return self._packed(results, given_out=out is not None)

    def _outputs(self, out, batch, dtype) -> list[np.ndarray]:
        shapes = [(*batch, *shape) for shape in self._out_shapes]
        if out is None:
            return [np.empty(shape, dtype) for shape in shapes]
        return checked_outs(self.name, self.output_names, list(flattened(out)), shapes, dtype)

    def _into(self, out, results, dtype):
        targets = self._outputs(out, results[0].shape[: results[0].ndim - len(self._out_shapes[0])], dtype)
        for target, result in zip(targets, results, strict=True):
            target[...] = result
        return targets

    def _packed(self, results, given_out: bool):
        """Results as a call returns them; a single number as a number, unless it was asked to fill an array."""
        if not given_out:
            results = [r if r.ndim else r[()] for r in results]
        return results[0] if self._result is None else self._result(*results)
