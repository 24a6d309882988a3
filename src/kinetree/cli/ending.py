"""The end of a command: errors in one line, signals, closed output streams."""

from __future__ import annotations

import errno
import io
import os
import re
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import typer

from kinetree.errors import KinetreeError

# Options of functions as messages name them, and their names on the command line.
_SPELLINGS = (
    (re.compile(r"\bunsupported='drop'"), "--drop"),
    (re.compile(r"\bfloating_base=True\b"), "--floating-base"),
    (re.compile(r"\bmodel\.without_unsupported\(\) is a copy without them"), "--tree-only leaves them out"),
    (re.compile(r"\bload (the run|one of them) with Trajectory.load\(path, model=model\)"), "give --robot"),
    (re.compile(r"\bpackage_dirs=(?!\w)"), "--package-dir"),
    (re.compile(r"\bin load_\w+\(\.\.\., (\w+)=\.\.\.\)"), lambda found: f"for --{found[1].replace('_', '-')}"),
    (re.compile(r"\brecord=kt\.Record\(period=([\d.e+-]*\d)\) or kt\.Record\(every=\d+\)"), r"--sample-period \1"),
    (re.compile(r"\bkt\.integrators\.Adaptive\('([\w:]+)'\)"), r"--integrator adaptive --method \1"),
    (
        re.compile(r"\b(inertia|massless|inertia_from|limits|meshes|integrator|method)='([\w:]+)'"),
        lambda found: f"--{found[1].replace('_', '-')} {found[2]}",
    ),
)
USAGE, FAILURE = 2, 1  # exit codes: an impossible request; any other failure
NOBODY_READS = 128 + 13  # as shells report a program that SIGPIPE ended


class Terminated(KeyboardInterrupt):
    """The process was ended by another signal than Ctrl-C's; ``number`` is its number."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.number = number


def signal_code(end: BaseException | None) -> int:
    """128 plus the number of the signal behind an exit; 0 if there was none. typer handles Ctrl-C alone."""
    while end is not None and not isinstance(end, Terminated):
        end = end.__context__
    return 128 + end.number if end is not None else 0


class Errors:
    """Print an error as one red line and exit; ``debug`` lets it through.

    Parameters
    ----------
    debug : bool

    Notes
    -----
    The exit code is 2 for an impossible request, 1 for a failure of the machine or of kinetree itself, and
    128 plus the number of the signal for Ctrl-C and its like.
    """

    def __init__(self, debug: bool) -> None:
        self._debug = debug

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind, error, traceback) -> None:
        if kind is None or isinstance(error, (typer.Exit, SystemExit, GeneratorExit)):
            return
        if self._debug:
            error.with_traceback_shown = True
            return
        message, code = _told(error)
        if message:
            print_error(message)
        raise typer.Exit(code=code) from error


def _told(error: BaseException) -> tuple[str, int]:
    """The message of an error, and the exit code."""
    if isinstance(error, KeyboardInterrupt):
        kept = getattr(error, "kept", "")
        return f"interrupted{f'; {kept}' if kept else ''}", 128 + getattr(error, "number", signal.SIGINT)
    if isinstance(error, OSError) and error.filename is None and error.errno in (errno.EPIPE, errno.ENOSPC):
        return _not_printed(error)
    if isinstance(error, (KinetreeError, OSError)):
        kept = f" {kept}" if (kept := getattr(error, "kept", "")) else ""
        return _as_options(f"{error}{kept}"), USAGE
    if isinstance(error, MemoryError):
        return f"there is not enough memory for that ({error})", FAILURE
    text = f"{type(error).__name__}: {error}".rstrip(": ")
    return f"internal error, {text}; please report it with the output of --debug", FAILURE


def print_error(message: str) -> None:
    """One red line on stderr.

    Parameters
    ----------
    message : str
    """
    from rich.console import Console
    from rich.text import Text

    with suppress(OSError):
        line = Text(f"error: {' '.join(message.split())}", style="bold red")
        Console(stderr=True, soft_wrap=True).print(line)


def _as_options(message: str) -> str:
    """Advice for callers of functions in the words of the command line: ``massless='lock'`` is ``--massless lock``."""
    for pattern, option in _SPELLINGS:
        message = pattern.sub(option, message)
    return message


@contextmanager
def signals() -> Iterator[None]:
    """Let SIGTERM and SIGHUP end the block as Ctrl-C does, where they would end the process."""
    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    if threading.current_thread() is not threading.main_thread():
        numbers = []
    taken = [number for number in numbers if signal.getsignal(number) is signal.SIG_DFL]

    def end(number, frame):
        raise Terminated(number)

    for number in taken:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number in taken:
            signal.signal(number, signal.SIG_DFL)


def make_streams_safe() -> None:
    """Closed streams discard all output, and characters that a terminal lacks are printed as their numbers."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, io.TextIOWrapper(io.FileIO(os.devnull, "w"), encoding="utf-8"))
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def flushed(code: int) -> int:
    """The exit code, after all output is written: a pipe may be closed, a disk full."""
    try:
        sys.stdout.flush()
    except OSError as error:
        message, code = _not_printed(error)
        if message:
            print_error(message)
    return code


def _not_printed(error: OSError) -> tuple[str, int]:
    """The message when stdout is closed, and the exit code; the rest of its buffer is dropped."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
    if error.errno == errno.EPIPE:
        return "", NOBODY_READS
    return f"the output could not be written: {error.strerror or error}", FAILURE
