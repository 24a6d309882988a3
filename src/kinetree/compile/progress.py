"""The line on stderr that tells, in a terminal, that compiling takes its time and how far it is."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

SHOW_AFTER = 1.0  # [s] of wall time: shorter work needs no line

_line: _Line | None = None  # of the work that is under way in this process; a second thread's work shows none


class _Line:
    """A spinner, what is done, and the time it has taken; drawn by a thread, since the compiler does not call back."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._stage = ""
        self._bar = self._task = None
        self._closed = False
        self._lock = threading.Lock()
        self._timer = threading.Timer(SHOW_AFTER, self._show)
        self._timer.daemon = True

    def begin(self) -> None:
        """Show the line in a while."""
        self._timer.start()

    def stage(self, text: str) -> None:
        self._stage = text
        if self._bar is not None:
            self._bar.update(self._task, description=self._text())

    def close(self) -> None:
        self._timer.cancel()
        with self._lock:
            self._closed = True
            if self._bar is not None:
                self._bar.stop()

    def _text(self) -> str:
        return f"{self._what}: {self._stage}" if self._stage else self._what

    def _show(self) -> None:
        from rich.console import Console
        from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        columns = SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn()
        bar = Progress(*columns, console=Console(stderr=True), transient=True)
        with self._lock:
            if self._closed:
                return
            self._task = bar.add_task(self._text(), total=None)
            bar.start()
            self._bar = bar


@contextmanager
def shown(what: str) -> Iterator[None]:
    """Show a line while the body of the ``with`` statement runs, if that takes long and stderr is a terminal.

    Parameters
    ----------
    what : str
        What is done: "compiling aba for model 'arm'".
    """
    global _line
    mine = _Line(what) if sys.stderr is not None and sys.stderr.isatty() else None
    try:
        if mine is not None and _line is None:
            _line = mine
            mine.begin()
        yield
    finally:
        if mine is not None:
            if _line is mine:
                _line = None
            mine.close()


def stage(text: str) -> None:
    """Say what is being done now; without a line to show it this costs nothing.

    Parameters
    ----------
    text : str
        "body 317 of 1000".
    """
    line = _line
    if line is not None:
        line.stage(text)


def _after_fork() -> None:
    """The line belongs to the parent, and the thread that draws it is no more."""
    global _line
    _line = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
