"""The end of a command: errors in one line, signals, closed output streams."""

from __future__ import annotations

import errno
import io
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

import typer

from kinetree.cli.wording import as_options
from kinetree.errors import KinetreeError

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
    json_of : str, optional
        The command, if its output is JSON: the error is part of it, too.
    options : sequence of str
        Keywords of the command: messages name its options instead.

    Notes
    -----
    The exit code is 2 for an impossible request, 1 for a failure of the machine or of kinetree itself, and
    128 plus the number of the signal for Ctrl-C and its like.
    """

    def __init__(self, debug: bool, json_of: str | None = None, options: Sequence[str] = ()) -> None:
        self._debug, self._json_of, self._options = debug, json_of, options

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind, error, traceback) -> None:
        if kind is None or isinstance(error, (typer.Exit, SystemExit, GeneratorExit)):
            return
        if self._debug:
            error.with_traceback_shown = True
            return
        message, code = _message_of(error, self._options)
        if message and self._json_of is not None:
            from kinetree.cli.printing import envelope

            typer.echo(envelope(self._json_of, code, error=message))
        if message:
            print_error(message)
        raise typer.Exit(code=code) from error


def _message_of(error: BaseException, options: Sequence[str]) -> tuple[str, int]:
    """The message of an error, and the exit code."""
    if isinstance(error, KeyboardInterrupt):
        kept = getattr(error, "kept", "")
        return f"interrupted{f'; {kept}' if kept else ''}", 128 + getattr(error, "number", signal.SIGINT)
    if isinstance(error, OSError) and error.filename is None and error.errno in (errno.EPIPE, errno.ENOSPC):
        return _not_printed(error)
    if isinstance(error, OSError) and not isinstance(error, KinetreeError) and error.filename is not None:
        return f"{error.filename}: {(error.strerror or str(error)).lower()}; give another path.", USAGE
    if isinstance(error, (KinetreeError, OSError)):
        kept = f" {kept}" if (kept := getattr(error, "kept", "")) else ""
        # Errors of simulation files name entries of the file.
        in_file = getattr(error, "code", "") == "simulation-file"
        return f"{error}{kept}" if in_file else as_options(f"{error}{kept}", options), USAGE
    if isinstance(error, MemoryError):
        return f"there is not enough memory for that ({error})", FAILURE
    text = f"{type(error).__name__}: {error}".rstrip(": ")
    return f"internal error, {text}; please report it with the output of --debug", FAILURE


def print_error(message: str) -> None:
    """One red line on stderr; in a terminal it wraps between words.

    Parameters
    ----------
    message : str
    """
    from rich.console import Console
    from rich.text import Text

    with suppress(OSError):
        line = Text(f"error: {' '.join(message.split())}", style="bold red")
        output = Console(stderr=True)
        output.print(line, soft_wrap=not output.is_terminal)


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
