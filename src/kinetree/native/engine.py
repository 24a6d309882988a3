"""From IR text to machine code: the machine compiled for, and objects loaded into the process.

Objects are position independent and hold no address of this process, so the same bytes can be stored, copied to another
process and loaded there (`cache.py`). Fresh and cached objects are loaded in the same way: bytes, then `Code`.

LLVM is called by one thread at a time: llvmlite has a lock for that. A fork waits for it (`once.hold_during_forks`).

llvmlite is imported inside functions: importing kinetree must not load the compiler.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import struct
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from kinetree.errors import CompilationError
from kinetree.once import hold_during_forks, once
from kinetree.trace.progress import stage

LIBM = ("fma",)
"""Functions of the C library that objects may call; with the suffix ``f`` in single precision."""


@dataclass(frozen=True, slots=True)
class Target:
    """The machine that code is compiled for.

    Parameters
    ----------
    triple, cpu, features : str
        LLVM's names of the platform, the processor and its features (``+avx2,-avx512f,...``).
    vector_bytes : int
        Bytes in one SIMD register: a tile holds ``vector_bytes / itemsize`` states.
    fma : bool
        Whether the processor has fused multiply-add. Where it has not (x86 before 2013), the operations ``fma``,
        ``fms`` and ``fnma`` are rounded twice, as in the interpreter: the C library's exact emulation costs fifty
        times more. Only sine and cosine use the emulation there, since their accuracy depends on it.
    """

    triple: str
    cpu: str
    features: str
    vector_bytes: int
    fma: bool

    @staticmethod
    @once
    def host() -> Target:
        """The processor that this process runs on."""
        llvm = _llvm()
        with _interruptible():
            triple, cpu = llvm.get_process_triple(), llvm.get_host_cpu_name()
            features = llvm.get_host_cpu_features().flatten()
        present = set(features.split(","))
        if triple.startswith(("x86_64", "i386", "i686", "amd64")):
            vector_bytes = 64 if "+avx512f" in present and "+avx512dq" in present else 32 if "+avx2" in present else 16
            return Target(triple, cpu, features, vector_bytes, "+fma" in present)
        return Target(triple, cpu, features, 16, True)

    @property
    def registers(self) -> int:
        """How many vector registers there are: 32 with AVX-512 and on other than x86, else 16."""
        x86 = self.triple.startswith(("x86_64", "i386", "i686", "amd64"))
        return 16 if x86 and self.vector_bytes < 64 else 32

    @property
    def scalar_masks(self) -> bool:
        """Whether any truth value can select between two floats without a branch: not on x86 before AVX-512."""
        return self.vector_bytes == 64 or not self.triple.startswith(("x86_64", "i386", "i686", "amd64"))

    @property
    def key(self) -> str:
        """The properties that object code depends on, as one string for the cache."""
        return f"{self.triple}/{self.cpu}/{self.features}/{self.vector_bytes}"


def is_object(data: bytes) -> bool:
    """Whether bytes begin like an object file (ELF, Mach-O, COFF) and have the length in its header.

    LLVM's loader does not check this: other bytes end the process.
    """
    size = len(data)
    if data[:4] == b"\x7fELF" and size >= 64:
        wide = data[4] == 2
        sections = int.from_bytes(data[40:48] if wide else data[32:36], sys.byteorder)
        entry, count = struct.unpack("=2H", data[58:62] if wide else data[46:50])
        return 0 < sections <= size - entry * count
    if data[:4] == b"\xcf\xfa\xed\xfe" and size >= 32:
        return int.from_bytes(data[20:24], "little") <= size - 32  # the load commands
    if data[:2] in (b"\x64\x86", b"\x64\xaa") and size >= 20:  # x86-64, AArch64
        sections, symbols = struct.unpack("<2xH4xI", data[:12])
        return 20 + 40 * sections <= size and symbols <= size
    return False


class Code:
    """An object loaded into the process, alive as long as this instance.

    Whoever keeps an address keeps the instance too: `callable` does so, and builtins hold it among their owners.

    Parameters
    ----------
    data : bytes
        Object code made by `assemble` for this machine.

    Raises
    ------
    CompilationError
        The bytes are not an object file.
    """

    __slots__ = ("_engine",)

    def __init__(self, data: bytes) -> None:
        if not is_object(data):
            raise CompilationError("these bytes are not object code. Clear the cache and compile again.")
        llvm = _llvm()
        _export_libm()
        with _interruptible():
            # An engine owns and frees its target machine, so each gets one of its own.
            engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _new_machine(Target.host()))
            engine.add_object_file(llvm.ObjectFileRef.from_data(data))
            engine.finalize_object()
        self._engine = engine

    def function(self, name: str) -> int:
        """Address of a function."""
        return self._address(self._engine.get_function_address, "function", name)

    def _address(self, find: Callable[[str], int], kind: str, name: str) -> int:
        with _interruptible():
            address = find(name)
        if not address:
            raise CompilationError(f"the object code has no {kind} {name!r}. Clear the cache and compile again.")
        return address

    def callable(self, name: str, result, *arguments):
        """A function for calls by ctypes, with the GIL released; it keeps the code alive."""
        function = ctypes.CFUNCTYPE(result, *arguments)(self.function(name))
        function.code = self
        return function

    def integers(self, name: str, count: int) -> list[int]:
        """The first integers of a global array of 64-bit integers."""
        address = self._address(self._engine.get_global_value_address, "table", name)
        return list((ctypes.c_int64 * count).from_address(address))


def assemble(ir: str, target: Target) -> bytes:
    """Compile IR text to object code.

    No optimisation passes: the program is simplified before it becomes IR, and instruction selection and register
    allocation at level 1 do the rest. Passes cost time and gain nothing on straight-line code; level 2 takes 10 to 20 %
    longer for code that is 0 to 1 % faster.
    """
    stage("making machine code")
    with _interruptible():
        return _machine(target).emit_object(_parse(ir))


def assembly(ir: str, target: Target) -> str:
    """The assembler text of the same code, for inspection."""
    with _interruptible():
        return _machine(target).emit_assembly(_parse(ir))


def _parse(ir: str):
    try:
        return _llvm().parse_assembly(ir)
    except RuntimeError as error:
        raise CompilationError(f"LLVM rejects the generated code: {error}") from error


@once
def _llvm():
    import llvmlite.binding as llvm

    if (held := _llvm_lock()) is not None:
        hold_during_forks(held)
    with _interruptible():
        try:
            llvm.check_jit_execution()
        except OSError as error:
            raise CompilationError(f"{error}. Run uncompiled: with kinetree.interpreted(): ...") from error
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()  # to load objects too: a process may find all its kernels in the cache
    return llvm


@contextmanager
def _interruptible() -> Iterator[None]:
    """Around calls of LLVM: if Ctrl-C ends them, this thread does not keep llvmlite's lock.

    llvmlite takes it and gives it back in methods written in Python, so an exception may come in between.
    """
    held = _llvm_lock()
    outside = held is not None and not held._is_owned()
    try:
        yield
    except BaseException:
        while outside and held._is_owned():
            held.release()
        raise


def _llvm_lock():
    """llvmlite's lock around all calls of LLVM; None where a version keeps it elsewhere."""
    from llvmlite.binding import ffi

    held = getattr(getattr(ffi.lib, "_lock", None), "_lock", None)
    return held if hasattr(held, "_is_owned") else None


@once
def _machine(target: Target):
    return _new_machine(target)


def _new_machine(target: Target):
    # The code model is the large one: the loader does not promise that code and constants lie within 2 GB. The small
    # one gains nothing that could be measured.
    return (
        _llvm()
        .Target.from_triple(target.triple)
        .create_target_machine(
            cpu=target.cpu, features=target.features, opt=1, reloc="pic", codemodel="jitdefault", jit=True
        )
    )


@once
def _export_libm() -> None:
    """Register the C library's functions with the loader, wherever the platform keeps them."""
    llvm = _llvm()
    if sys.platform == "win32":  # large stack frames call a probe that only ntdll has
        library = ctypes.CDLL("ucrtbase")
        with _interruptible():
            llvm.add_symbol("__chkstk", ctypes.cast(ctypes.CDLL("ntdll").__chkstk, ctypes.c_void_p).value)
    elif sys.platform == "darwin":
        library = ctypes.CDLL(None)
    else:
        # libm.so.6 is glibc's name; musl keeps these functions in libc, which the process has loaded already.
        try:
            library = ctypes.CDLL("libm.so.6")
        except OSError:
            library = ctypes.CDLL(ctypes.util.find_library("m") or None)
    with _interruptible():
        for name in LIBM:
            for symbol in (name, name + "f"):
                llvm.add_symbol(symbol, ctypes.cast(getattr(library, symbol), ctypes.c_void_p).value)
