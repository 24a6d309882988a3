"""The machine code of a kernel's two forms, each compiled or read from the cache when it is first needed.

Most functions are called in one way: a controller asks for one state at a time and never needs the SIMD form, training
runs batches and never needs the scalar form. Each form takes about half of the compiler's time.
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

FORMS = ("scalar", "batch")
"""One state, and tiles of states."""

_P, _I32, _I64 = ctypes.c_void_p, ctypes.c_int32, ctypes.c_int64
_ARGUMENTS = {"scalar": (_P,) * 4, "batch": (_P, _P, _P, _I64, _P, _P, _I64)}


class Form:
    """One form in memory.

    Attributes
    ----------
    code : Code
        What must live as long as any address is used.
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

    def __init__(self, form: str, data: bytes, builtin: bool, cached: bool) -> None:
        self.code, self.cached = Code(data), cached
        self.address = self.code.function(f"kinetree_{form}")
        self.run = self.code.callable(f"kinetree_{form}", _I32, *_ARGUMENTS[form])
        self.builtin = self.code.function("kinetree_call") if builtin else 0
        (self.heap_bytes,) = self.code.integers("kinetree_layout", 1)


class Forms:
    """Both forms of a program for one machine; kernels that differ in numbers only share them.

    Parameters
    ----------
    program, dtype, checks, target, chunk
        As for `Kernel`.
    what : str
        What the progress line says while a form is compiled; none if empty.
    seconds : dict, optional
        Told how long each form took: "compile float64", "compile float64 batch".
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
        self._made: dict[str, Form] = {}

    @property
    def scalar(self) -> Form:
        """The form for one state."""
        return self._made.get("scalar") or made_once(self._made, "scalar", self._timed, "scalar")

    @property
    def batch(self) -> Form:
        """The form for tiles of states."""
        return self._made.get("batch") or made_once(self._made, "batch", self._timed, "batch")

    def made(self, form: str) -> Form | None:
        """A form if it is there already."""
        return self._made.get(form)

    def ir(self, form: str) -> str:
        """The LLVM IR of a form."""
        # Code from the cache needs nothing of the code generator, so it is not imported before.
        from kinetree.native.llvm import emit

        options = {} if self._chunk is None else {"chunk": self._chunk}
        return emit(self.program, self.dtype, self.target, self.checks, builtin=self.builtin, form=form, **options)

    def _timed(self, form: str) -> Form:
        start = time.perf_counter()
        found = self._load_or_compile(form)
        if self._seconds is not None:
            name = f"compile {self.dtype}" + (" batch" if form == "batch" else "")
            self._seconds[name] = time.perf_counter() - start
        return found

    def _load_or_compile(self, form: str) -> Form:
        options = str(self.checks), str(self._chunk), str(self.builtin), self.target.key
        emitter = _emitter()
        key = "/".join(("kernel", form, str(emitter), self.program.digest(), self.dtype, *options))
        builtin = self.builtin and form == "scalar"
        data = cache.load(key) if emitter is not None else None
        if data is not None:
            try:
                return Form(form, data, builtin, cached=True)
            except (CompilationError, RuntimeError):  # an entry that LLVM cannot read is compiled again
                pass
        with (
            shown(self._what) if self._what else nullcontext(),
            nullcontext() if self.program.cuts else collector_off(),
        ):
            data = assemble(self.ir(form), self.target)
        if emitter is not None:
            cache.store(key, data)
        return Form(form, data, builtin, cached=False)


@once
def _emitter() -> str | None:
    """Identifies the code generator: LLVM's version and the text of the sources that emit code; None if they changed
    since they were loaded, or cannot be read."""
    # Not importlib.metadata: importing that alone takes longer than loading a kernel.
    import llvmlite

    try:
        sources = content.sources_digest("kinetree.native.llvm", "kinetree.native.engine")
    except content.Unknown:
        return None
    return f"llvmlite-{llvmlite.__version__}/{sources[:16]}"
