"""Untrusted files are read in a child process, with limits of time and memory.

MuJoCo's compiler and the readers of meshes are libraries in C: a file may make them crash, run for ever or fill the
memory, and no exception could be raised. In a child, only the child ends. It is no sandbox: the child has the rights of
its user.

A child is a fresh interpreter that waits for one call after the other, so that a folder of files costs one start (half
a second). Nothing of the caller's own script runs in it. One that failed is never used again.
"""

from __future__ import annotations

import atexit
import importlib
import os
import pickle
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from kinetree.errors import KinetreeError

try:
    import resource
except ImportError:  # Windows: then the time is limited, and the memory is not
    resource = None

_START = 60.0  # s that a child may take to start
_IDLE = 60.0  # s after which an unused child ends
_KEPT = 2  # children that wait for another call
_PROGRAM = "import sys; sys.path[:] = sys.argv[2:]; from kinetree.io.isolated import serve; serve(sys.argv[1])"
_OUT_OF_MEMORY = re.compile(r"allocate memory|unknown exception|bad_alloc|Memory allocation failed")


@dataclass(frozen=True, slots=True)
class Isolation:
    """Limits of a child process that reads a file.

    Parameters
    ----------
    seconds : float
        Time for one file [s].
    memory : float
        Memory beyond that of the interpreter [bytes]; not limited on Windows.

    Examples
    --------
    >>> import kinetree as kt
    >>> kt.load("arm7", isolate=Isolation(seconds=600.0, memory=16 * 2**30)).nv
    9
    """

    seconds: float = 60.0
    memory: float = 4 * 2**30

    def __post_init__(self) -> None:
        for name, unit in (("seconds", "s"), ("memory", "bytes")):
            value = getattr(self, name)
            if not isinstance(value, (int, float)) or isinstance(value, bool) or not 0.0 < value < 1e18:
                raise KinetreeError(f"Isolation: {name} is {value!r}, expected a finite number above 0 [{unit}]")


class ChildFailed(Exception):
    """A child ended, or was ended, before it had a result.

    Parameters
    ----------
    code : {"time-limit", "memory-limit", "crash"}
    message, repair : str
        The fault, to follow the name of a file, and the repair.
    """

    def __init__(self, code: str, message: str, repair: str) -> None:
        super().__init__(message)
        self.code, self.message, self.repair = code, message, repair


def as_isolation(isolate: bool | Isolation) -> Isolation | None:
    """The limits of an option ``isolate``; None for False."""
    if isinstance(isolate, Isolation):
        return isolate
    if isinstance(isolate, bool):
        return Isolation() if isolate else None
    raise KinetreeError(f"isolate is {isolate!r}, expected True, False or kinetree.io.Isolation(seconds=, memory=)")


def isolated(limits: Isolation, function: Callable, *arguments: object, **options: object) -> object:
    """``function(*arguments, **options)``, called in a child process.

    Parameters
    ----------
    limits : Isolation
    function : callable
        Of a module; it, its arguments and its result can be pickled.
    *arguments, **options
        Those of the function. Relative paths and environment variables are those of this process.

    Raises
    ------
    ChildFailed
        If the child took too long or too much memory, or crashed.
    Exception
        As raised by the function.
    """
    request = pickle.dumps((function, arguments, options, os.getcwd(), dict(os.environ), limits))
    child = _taken(function.__module__)
    try:
        answer = child.answer(request, limits.seconds)
        if answer is None and not child.fresh:
            child.end()  # it may have been idle for too long, or the one before may have left something behind
            child = _Child(function.__module__)
            answer = child.answer(request, limits.seconds)
        if answer is None:
            raise child.failure(limits)
        found, result = pickle.loads(answer)
        if found == "memory":
            raise _out_of_memory(limits)
    except BaseException:
        child.end()
        raise
    _give_back(child)
    if found == "error":
        raise result
    return result


# In the parent --------------------------------------------------------------------------------------------------------


def _out_of_memory(limits: Isolation) -> ChildFailed:
    message = f"reading it takes more than {limits.memory / 2**30:.3g} GiB of memory"
    repair = f"if the file is trusted: isolate=kinetree.io.Isolation(memory={4 * limits.memory:.3g}), or False"
    return ChildFailed("memory-limit", message, repair)


class _Child:
    """A process that handles one request at a time."""

    def __init__(self, module: str) -> None:
        if not sys.executable:
            raise KinetreeError(
                "a file can be read in a child process only where a Python interpreter is known, and sys.executable is "
                "empty; isolate=False reads it in this process"
            )
        # -P: nothing is imported from the current folder, which may be that of the files.
        folders = [os.path.abspath(folder) for folder in sys.path]
        self.fresh, self._late = True, False
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", _PROGRAM, module, *folders],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        )  # fmt: skip
        try:
            if self._read(_START) is None:
                raise KinetreeError(
                    f"the child process that reads files did not start ({sys.executable}); isolate=False reads them in "
                    "this process"
                )
        except BaseException:
            self.end()
            raise

    def answer(self, request: bytes, seconds: float) -> bytes | None:
        """The child's response; None if the child ends before it sends one."""
        try:
            _send(self._process.stdin, request)
        except OSError:
            return None
        answer = self._read(seconds)
        self.fresh = self.fresh and answer is None
        return answer

    def _read(self, seconds: float) -> bytes | None:
        def end() -> None:
            self._late = True
            self._process.kill()

        clock = threading.Timer(seconds, end)
        clock.daemon = True
        clock.start()
        try:
            answer = _receive(self._process.stdout)
        finally:
            clock.cancel()
        if answer is None:
            self._process.wait()
        return answer

    def failure(self, limits: Isolation) -> ChildFailed:
        """The reason for a missing response."""
        status = self._process.poll()
        if self._late:
            message = f"not read within {limits.seconds:g} s, so the child process that read it was ended"
            repair = f"if the file is trusted: isolate=kinetree.io.Isolation(seconds={10 * limits.seconds:g}), or False"
            return ChildFailed("time-limit", message, repair)
        if status == -getattr(signal, "SIGKILL", 9):  # sent by the system, for want of memory
            return _out_of_memory(limits)
        how = f"exit code {status}"
        if status is not None and status < 0:
            with suppress(ValueError):
                how = signal.Signals(-status).name
        message = f"the library that reads it crashed in its child process ({how})"
        return ChildFailed("crash", message, "this process is unharmed; isolate=False would end it")

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                pipe.close()


_waiting: list[_Child] = []  # appending and popping are atomic


def _taken(module: str) -> _Child:
    with suppress(IndexError):
        return _waiting.pop()
    return _Child(module)


def _give_back(child: _Child) -> None:
    _waiting.append(child)
    if len(_waiting) > _KEPT:
        with suppress(IndexError):
            _waiting.pop(0).end()


@atexit.register
def _end_all() -> None:
    while _waiting:
        _waiting.pop().end()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_waiting.clear)  # they are the parent's


def _send(pipe, message: bytes) -> None:
    pipe.write(len(message).to_bytes(8, "little") + message)
    pipe.flush()


def _receive(pipe) -> bytes | None:
    head = pipe.read(8)
    size = int.from_bytes(head, "little")
    message = pipe.read(size) if len(head) == 8 else b""
    return message if len(head) == 8 and len(message) == size else None


# In the child ---------------------------------------------------------------------------------------------------------


def serve(module: str) -> None:
    """Process the requests of the parent, which are for a module, until it closes the pipe or has none for a while."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the parent, who ends this process
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # output of libraries is kept apart from responses
    if resource is not None:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    importlib.import_module(module)  # so that no request includes its time
    _send(answers, b"")
    while _wait_for(requests) and (request := _receive(requests)) is not None:
        _send(answers, _answer(request))


def _wait_for(requests) -> bool:
    if os.name == "nt":
        return True
    import select

    return bool(select.select([requests], [], [], _IDLE)[0])


def _answer(request: bytes) -> bytes:
    function, arguments, options, folder, environment, limits = pickle.loads(request)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    try:
        with _limited(limits):
            answer = pickle.dumps(("result", function(*arguments, **options)))
    except Exception as error:
        short = isinstance(error, MemoryError) or _OUT_OF_MEMORY.search(str(error))
        answer = pickle.dumps(("memory", None) if short else ("error", error))
    return answer


@contextmanager
def _limited(limits: Isolation) -> Iterator[None]:
    """Limit the memory of one request, and processor time too: a parent that was killed ends no child."""
    if resource is None:
        yield
        return
    spent = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
    wanted = {
        resource.RLIMIT_AS: _address_space() + limits.memory,
        resource.RLIMIT_CPU: spent + 10.0 + (os.cpu_count() or 1) * limits.seconds,
    }
    before = {kind: resource.getrlimit(kind) for kind in wanted}
    for kind, (soft, hard) in before.items():
        most = [limit for limit in (soft, hard) if limit != resource.RLIM_INFINITY]
        with suppress(ValueError, OSError):  # where the system has no such limit
            resource.setrlimit(kind, (int(min([wanted[kind], *most])), hard))
    try:
        yield
    finally:
        for kind, limit in before.items():
            with suppress(ValueError, OSError):
                resource.setrlimit(kind, limit)


def _address_space() -> int:
    """Address space in use [bytes]; where the system does not report it, that of an interpreter with all libraries."""
    with suppress(OSError), open("/proc/self/statm") as stream:
        return int(stream.read().split()[0]) * resource.getpagesize()
    return 4 * 2**30
