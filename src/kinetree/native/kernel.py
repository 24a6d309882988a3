"""Kernel: a Program as machine code, called with arrays.

The lowest layer that takes arrays: it checks arguments that could read or write foreign memory, and reports the state
of the inputs as an integer. Shapes with names, broadcasting, and errors that explain belong to `Function`.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Sequence
from itertools import zip_longest
from math import prod

import numpy as np

from kinetree.errors import CompilationError, NonFiniteError, ShapeError
from kinetree.native import builtin, drivers
from kinetree.native.arrays import is_number
from kinetree.native.builtin import MAX_ARRAYS
from kinetree.native.drivers import aligned
from kinetree.native.engine import Target
from kinetree.native.llvm_plan import tiles_together
from kinetree.native.threads import available
from kinetree.native.variants import VARIANTS, Variant, Variants
from kinetree.once import made_once
from kinetree.trace.program import Program

WORTH = 1e6
"""Nanoseconds of work from which a batch is given to all threads."""

BLOCK = 1e5
"""Nanoseconds of work that a thread takes at a time."""

RELEASE = 2e4
"""Nanoseconds of work from which other Python threads may run meanwhile; letting go and coming back costs 0.1 us."""


class Kernel:
    """A program compiled for this machine.

    Parameters
    ----------
    program : Program
        The program to evaluate.
    dtype : str
        ``"float64"`` or ``"float32"``, the type of all arrays.
    checks : bool
        Whether calls report inputs that are not finite and the program's own checks.
    numbers : array_like, optional
        The model's numbers, from which the prologue computes the params. They can also be given later, by
        `with_numbers`.
    target : Target, optional
        The processor to compile for; default the one at hand.
    chunk : int, optional
        Operations per machine function.
    what : str
        Text of the progress line while a variant is compiled, for example "compiling aba for model 'arm'".
    seconds : dict, optional
        Gets the time that each variant took.
    result : type
        Class of several outputs that the entries make: a named tuple instead of tuple.

    Attributes
    ----------
    scalar_entry : callable or None
        ``entry(a0, a1, ...)`` returns new outputs, ``entry(a0, a1, ..., out0, ...)`` fills those given and returns
        them; several outputs come as a tuple. Arrays must be plain C-contiguous arrays of one state, of exactly the
        declared shapes and dtype. For all else, and for inputs that the checks refuse, it returns ``NotImplemented``.
        None while the numbers are missing. Asking for it compiles the scalar variant.
    params : numpy.ndarray or None
        The values of the prologue.
    params_address : int or None
        Where the params stand, 0 if the program has none, None while the numbers are missing.
    variants : Variants
        The machine code, shared by all kernels that `with_numbers` makes.

    Notes
    -----
    The scalar and the SIMD variant are compiled, or read from the disk cache, when they are first needed. A batch of
    one state takes the variant that is there, the scalar one if there is none.

    Calls keep their state on the stack (large ones in memory of their own), so kernels may be called from many threads;
    `scalar` and `batch` release the GIL. All widths and chunk sizes give the same bits, on processors that have FMA
    also the same as any other such processor.
    """

    __slots__ = ("program", "dtype", "checks", "target", "params", "params_address", "variants", "result")
    __slots__ += ("_made", "_in_sizes", "_out_sizes", "_cost")

    def __init__(
        self,
        program: Program,
        dtype: str = "float64",
        checks: bool = True,
        numbers: object = None,
        *,
        target: Target | None = None,
        chunk: int | None = None,
        what: str = "",
        seconds: dict[str, float] | None = None,
        result: type = tuple,
    ) -> None:
        if dtype not in ("float64", "float32"):
            raise CompilationError(f"no kernel for dtype {dtype!r}; known: float64, float32.", dtype=dtype)
        self.program, self.checks, self.result = program, bool(checks), result
        self.dtype = np.dtype(dtype)
        self.target = target or Target.host()
        self.variants = Variants(program, dtype, self.checks, self.target, chunk, what, seconds)
        self._in_sizes = tuple(prod(shape) for _, shape in program.inputs)
        self._out_sizes = tuple(prod(shape) for _, shape in program.outputs)
        work = program.size / 4 + sum(self._in_sizes) + 4 * sum(self._out_sizes)
        self._cost = max(work, 1.0) / self.lanes  # a model without freedoms leaves nothing to do
        self._set_numbers(numbers)

    def with_numbers(self, numbers: object) -> Kernel:
        """The same machine code with other model numbers.

        Parameters
        ----------
        numbers : array_like
            The model's numbers, flat.

        Raises
        ------
        NonFiniteError
            One of the numbers is NaN.
        """
        other = self._copy()
        other._set_numbers(numbers)
        return other

    def scalar(self, *arrays: np.ndarray, out: np.ndarray | tuple[np.ndarray, ...]) -> int:
        """Evaluate one state.

        Parameters
        ----------
        *arrays : ndarray
            The inputs, C-contiguous.
        out : ndarray or tuple of ndarray
            The outputs, C-contiguous.

        Returns
        -------
        int
            0 if all is well; bit 0: an input holds NaN or infinity; bit 1 + k: check k holds (those beyond 29 share the
            last bit).
        """
        outputs = out if isinstance(out, tuple) else (out,)
        return self._run(arrays, outputs, 1, (0,) * len(arrays), single=True)

    def batch(
        self,
        arrays: Sequence[np.ndarray],
        outputs: Sequence[np.ndarray],
        n: int,
        row_strides: Sequence[int] | None = None,
        threads: int | None = 1,
    ) -> int:
        """Evaluate n states.

        Parameters
        ----------
        arrays : sequence of ndarray
            The inputs; row s of input k starts ``s * row_strides[k]`` entries after its first entry.
        outputs : sequence of ndarray
            The outputs, C-contiguous with n rows.
        n : int
            Number of states.
        row_strides : sequence of int, optional
            Entries from one row to the next, 0 for an input that all states share. Default: rows without gaps.
        threads : int, optional
            How many threads share the states; None leaves it to the size of the batch. The results are the same bits.

        Returns
        -------
        int
            As for `scalar`, the union over all states.
        """
        strides = self._in_sizes if row_strides is None else tuple(row_strides)
        if threads is None:
            threads = self.threads(n)
        return self._run(arrays, outputs, n, strides, single=False, threads=threads)

    @property
    def scalar_entry(self):
        """The call for one state, or None; see the attributes."""
        entry = self._made.get("scalar")
        if entry is None and self.params_address is not None:
            entry = made_once(self._made, "scalar", self._make_scalar_entry)
        return entry

    def _make_scalar_entry(self):
        variant = self.variants.scalar
        if not variant.builtin:
            return functools.partial(_entry, self._copy())  # an entry must not keep alive the kernel that has it
        heap = aligned(variant.heap_bytes) if variant.heap_bytes else None
        return builtin.make_builtin(variant.builtin, self.dtype, self.params, heap, self.result, variant.code)

    @property
    def batch_entry(self):
        """The builtin for batches in one thread, ``entry(a0, ..., [out0, ...])``; see `drivers.make_batch_entry`.

        It compiles nothing: it refuses all batches until `batch` has done one.
        """
        entry = self._made.get("batch")
        if entry is None:
            entry = made_once(self._made, "batch", self._make_batch_entry)
            self._connect()
        return entry

    def _make_batch_entry(self):
        if not (self.variants.builtin and drivers.fits(self.program.inputs, self.program.outputs)):
            return _refuse
        release, most = (int(work / self._cost) + 1 for work in (RELEASE, WORTH))
        return drivers.make_batch_entry(self, release, most)

    def _connect(self) -> None:
        """Let the builtin for batches have the variants that are there by now."""
        entry = self._made.get("batch", _refuse)
        if entry is _refuse:
            return
        for name in VARIANTS:
            variant = self.variants.made(name)
            if variant is not None:
                drivers.connect(entry, name, variant.address, variant.heap_bytes)

    def threads(self, n: int, most: int | None = None) -> int:
        """How many threads a batch of n states gets: one, or as many as may be used where the work is worth it."""
        if n * self._cost < WORTH:
            return 1
        return available() if most is None else most

    def roll(self, states, inputs, n: int, steps: int, every: int, threads: int | None, owners=()) -> int:
        """Take n states through time; see `drivers.rollout`."""
        if threads is None:
            threads = self.threads(n * steps)
        return drivers.rollout(self, self.variants.batch.address, states, inputs, n, steps, every, threads, owners)

    @property
    def cached(self) -> bool:
        """Whether all variants that are there came from the disk cache."""
        made = [variant for variant in map(self.variants.made, VARIANTS) if variant is not None]
        return bool(made) and all(variant.cached for variant in made)

    @property
    def heap_bytes(self) -> int:
        """Memory that an evaluation of a batch needs beside its stack."""
        return self.variants.batch.heap_bytes

    @property
    def lanes(self) -> int:
        """States in a tile."""
        return self.target.vector_bytes // self.dtype.itemsize

    def block(self, n: int) -> int:
        """States of n that are best evaluated together in one thread: whole tiles."""
        return self.lanes * (tiles_together(self.program, self.lanes) if n > self.lanes else 1)

    def ir(self, variant: str = "scalar") -> str:
        """The LLVM IR of the ``"scalar"`` or the ``"batch"`` variant, for inspection."""
        return self.variants.ir(variant)

    def _variant(self, single: bool, n: int) -> tuple[Variant, bool]:
        """The variant that evaluates n states, and whether it is the scalar one."""
        variants = self.variants
        if not single:
            single = n == 1 and (variants.made("batch") is None or variants.made("scalar") is not None)
        variant = variants.scalar if single else variants.batch
        self._connect()
        return variant, single

    def _run(self, arrays, outputs, n: int, strides: tuple[int, ...], single: bool, threads: int = 1) -> int:
        if len(arrays) != len(self._in_sizes) or len(outputs) != len(self._out_sizes) or len(strides) != len(arrays):
            raise ShapeError(
                f"kernel takes {len(self._in_sizes)} inputs and {len(self._out_sizes)} outputs, "
                f"found {len(arrays)} and {len(outputs)} ({len(strides)} row strides)."
            )
        if self.params_address is None:
            raise ShapeError("kernel depends on model numbers, but none were given: use with_numbers(numbers).")
        if n < 1:
            return 0
        item = self.dtype.itemsize
        starts, ends = [], []
        for array, (name, _), size, stride in zip(arrays, self.program.inputs, self._in_sizes, strides, strict=True):
            extent = (n - 1) * stride + size if size else 0
            start = self._address(array, name, extent, n, stride, size)
            starts.append(start)
            ends.append(start + extent * item)
        targets, copies = [], []
        for array, (name, _), size in zip(outputs, self.program.outputs, self._out_sizes, strict=True):
            start = self._address(array, name, n * size, n, size, size, written=True)
            end = start + n * size * item
            if any(start < e and s < end for s, e in zip(starts, ends, strict=True)):
                # Results are stored before all inputs are read, so they go through memory of their own.
                copies.append((array, np.empty(n * size, self.dtype)))
                start = copies[-1][1].ctypes.data
            targets.append(start)
        variant, single = self._variant(single, n)
        heap_bytes = variant.heap_bytes
        if threads > 1 and n > self.lanes and len(starts) + len(targets) <= MAX_ARRAYS:
            status = drivers.share(
                variant.address,
                self.params_address,
                [(start, stride * item, stride) for start, stride in zip(starts, strides, strict=True)],
                [(target, size * item, 0) for target, size in zip(targets, self._out_sizes, strict=True)],
                n,
                self._block(n, threads),
                heap_bytes,
                threads,
                (arrays, outputs, copies, self.params, variant),
            )
        else:
            sources = (ctypes.c_void_p * len(starts))(*starts)
            sinks = (ctypes.c_void_p * len(targets))(*targets)
            heap = aligned(heap_bytes) if heap_bytes else None
            place = heap.ctypes.data if heap_bytes else None
            if single:
                status = variant.run(sources, sinks, self.params_address, place)
            else:
                steps = (ctypes.c_int64 * len(strides))(*strides)
                status = variant.run(sources, steps, sinks, n, self.params_address, place, n)
        for array, copy in copies:
            array.reshape(-1)[: copy.size] = copy
        return status

    def _block(self, n: int, threads: int) -> int:
        """States that a thread takes at a time: whole tiles, about `BLOCK` ns of work, enough blocks for all."""
        block = min(BLOCK / self._cost, n / (4 * threads))
        return max(1, round(block / self.lanes)) * self.lanes

    def _address(self, array, name: str, extent: int, n: int, stride: int, size: int, written: bool = False) -> int:
        """Where an array's entries begin, once it is certain that `extent` of them may be used."""
        if not isinstance(array, np.ndarray) or array.dtype != self.dtype:
            found = array.dtype if isinstance(array, np.ndarray) else type(array).__name__
            raise ShapeError(f"{name}: expected an array of {self.dtype}, found {found}.", name=name)
        flags = array.flags
        if flags.c_contiguous:
            fits = array.size >= extent
        else:  # rows of a larger array
            item = self.dtype.itemsize
            fits = (
                not written
                and array.ndim == 2
                and array.strides == (stride * item, item)
                and array.shape[0] >= n
                and array.shape[1] >= size
            )
        if not fits or stride < 0 or not flags.aligned or (written and not flags.writeable):
            raise ShapeError(
                f"{name}: expected {n} rows of {size} entries, {stride} apart, in aligned"
                f"{', writeable' if written else ''} memory; found shape {array.shape}, strides {array.strides}.",
                name=name,
                expected=(n, size),
                found=array.shape,
            )
        return array.__array_interface__["data"][0]

    def _set_numbers(self, numbers) -> None:
        prologue = self.program.prologue
        self.params = self.params_address = None
        self._made = {}  # the builtins, "scalar" and "batch"
        if prologue is None:
            self.params_address = 0
        elif numbers is not None:
            numbers = np.asarray(numbers, dtype=float)
            if np.isnan(numbers).any():
                place = int(np.flatnonzero(np.isnan(numbers))[0])
                raise NonFiniteError(f"model number {place} is NaN.", place=place)
            (params,) = prologue.interpret([numbers])
            self.params = np.ascontiguousarray(params, self.dtype)
            if self.params.ndim != 1:
                raise ShapeError(f"kernel takes one set of model numbers, found shape {numbers.shape}.")
            self.params.flags.writeable = False
            self.params_address = self.params.ctypes.data

    def _copy(self) -> Kernel:
        """The same without entries."""
        other = object.__new__(Kernel)
        for name in self.__slots__:
            setattr(other, name, getattr(self, name))
        other._made = {}
        return other


def _refuse(*args):
    return NotImplemented


def _entry(kernel: Kernel, *args):
    """The builtin's twin in Python, for interpreters whose arrays cannot be read from machine code."""
    program = kernel.program
    count = len(program.inputs)
    if len(args) not in (count, count + len(program.outputs)):
        return NotImplemented
    declared = (*program.inputs, *program.outputs)
    numbers = [shape == () and is_number(x, kernel.dtype) for x, (_, shape) in zip(args, program.inputs, strict=False)]
    try:
        args = [np.array(x, kernel.dtype) if number else x for x, number in zip_longest(args, numbers)]
    except OverflowError:  # an int beyond all doubles
        return NotImplemented
    for array, (_, shape) in zip(args, declared, strict=False):
        if type(array) is not np.ndarray or array.shape != shape or array.dtype != kernel.dtype:
            return NotImplemented
        if not (array.flags.c_contiguous and array.flags.aligned):
            return NotImplemented
    outputs = args[count:]
    for k, out in enumerate(outputs):
        if not out.flags.writeable or any(np.may_share_memory(out, other) for other in args[: count + k]):
            return NotImplemented
    outputs = outputs or tuple(np.empty(shape, kernel.dtype) for _, shape in program.outputs)
    if kernel.scalar(*args[:count], out=tuple(outputs)):
        return NotImplemented
    return outputs[0] if len(outputs) == 1 else tuple.__new__(kernel.result, outputs)
