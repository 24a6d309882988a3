"""The machine code of a kernel's two variants, each compiled or read from the cache when it is first needed.

Most functions are called in one way: a controller evaluates one state at a time and never needs the SIMD variant,
training runs batches and never needs the scalar variant. Each variant takes about half of the compiler's time.
"""

from __future__ import annotations

import ctypes
import time
from contextlib import nullcontext

from kinetree import content
from kinetree.errors import CompilationError
from kinetree.native import builtin, cache
from kinetree.native.engine import Code, Target, assemble
from kinetree.once import made_once, once
from kinetree.trace.collector import collector_off
from kinetree.trace.program import Program
from kinetree.trace.progress import shown

VARIANTS = ("scalar", "batch")
"""One state, and tiles of states."""

_P, _I32, _I64 = ctypes.c_void_p, ctypes.c_int32, ctypes.c_int64
_ARGUMENTS = {"scalar": (_P,) * 4, "batch": (_P, _P, _P, _I64, _P, _P, _I64)}


class Variant:
    """One variant in memory.

    Attributes
    ----------
    code : Code
        Object that must live as long as any address is used.
    address : int
        Of ``kinetree_scalar`` or ``kinetree_batch``.
    run : callable
        The same for ctypes; it lets go of the GIL.
    builtin : int
        Address of ``kinetree_call``, 0 if there is none.
    heap_bytes : int
        Memory that an evaluation needs beside its stack.
    cached : bool
        Whether it came from the disk cache.
    """

    __slots__ = ("code", "address", "run", "builtin", "heap_bytes", "cached")

    def __init__(self, variant: str, data: bytes, builtin: bool, cached: bool) -> None:
        self.code, self.cached = Code(data), cached
        self.address = self.code.function(f"kinetree_{variant}")
        self.run = self.code.callable(f"kinetree_{variant}", _I32, *_ARGUMENTS[variant])
        self.builtin = self.code.function("kinetree_call") if builtin else 0
        (self.heap_bytes,) = self.code.integers("kinetree_layout", 1)


class Variants:
    """Both variants of a program for one machine; kernels that differ in numbers only share them.

    Parameters
    ----------
    program, dtype, checks, target, chunk
        As for `Kernel`.
    what : str
        Text of the progress line while a variant is compiled; none if empty.
    seconds : dict, optional
        Gets the time that each variant took: "compile float64", "compile float64 batch".
    """

    __slots__ = ("program", "dtype", "checks", "target", "builtin", "_chunk", "_what", "_seconds", "_made")

    def __init__(
        self,
        program: Program,
        dtype: str,
        checks: bool,
        target: Target,
        chunk: int | None,
        what: str = "",
        seconds: dict[str, float] | None = None,
    ) -> None:
        self.program, self.dtype, self.checks, self.target = program, dtype, checks, target
        self.builtin = builtin.available() and bool(program.outputs)
        self._chunk, self._what, self._seconds = chunk, what, seconds
        self._made: dict[str, Variant] = {}

    @property
    def scalar(self) -> Variant:
        """The variant for one state."""
        return self._made.get("scalar") or made_once(self._made, "scalar", self._timed, "scalar")

    @property
    def batch(self) -> Variant:
        """The variant for tiles of states."""
        return self._made.get("batch") or made_once(self._made, "batch", self._timed, "batch")

    def made(self, variant: str) -> Variant | None:
        """A variant if it is there already."""
        return self._made.get(variant)

    def ir(self, variant: str) -> str:
        """The LLVM IR of a variant."""
        # Code from the cache needs nothing of the code generator, so it is not imported before.
        from kinetree.native.llvm import emit

        options = {} if self._chunk is None else {"chunk": self._chunk}
        options |= {"builtin": self.builtin, "variant": variant}
        return emit(self.program, self.dtype, self.target, self.checks, **options)

    def _timed(self, variant: str) -> Variant:
        start = time.perf_counter()
        found = self._load_or_compile(variant)
        if self._seconds is not None:
            name = f"compile {self.dtype}" + (" batch" if variant == "batch" else "")
            self._seconds[name] = time.perf_counter() - start
        return found

    def _load_or_compile(self, variant: str) -> Variant:
        options = str(self.checks), str(self._chunk), str(self.builtin), self.target.key
        generator = emitter("kinetree.native.llvm")
        key = "/".join(("kernel", variant, str(generator), self.program.digest(), self.dtype, *options))
        builtin = self.builtin and variant == "scalar"
        data = cache.load(key) if generator is not None else None
        if data is not None:
            try:
                return Variant(variant, data, builtin, cached=True)
            except (CompilationError, RuntimeError):  # an entry that LLVM cannot read is compiled again
                pass
        with (
            shown(self._what) if self._what else nullcontext(),
            nullcontext() if self.program.cuts else collector_off(),
        ):
            data = assemble(self.ir(variant), self.target)
        if generator is not None:
            cache.store(key, data)
        return Variant(variant, data, builtin, cached=False)


@once
def emitter(module: str) -> str | None:
    """Identifies the code generator that begins with a module: LLVM's version and the text of its sources.

    None if they changed since they were loaded, or cannot be read.
    """
    # Not importlib.metadata: importing that alone takes longer than loading a kernel.
    import llvmlite

    try:
        sources = content.sources_digest(module, "kinetree.native.engine")
    except content.Unknown:
        return None
    return f"llvmlite-{llvmlite.__version__}/{sources[:16]}"
