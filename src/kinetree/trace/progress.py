"""Progress of compilation on stderr: in a terminal a line with the stage, elsewhere a sentence."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from kinetree.log import LOG

SHOW_AFTER = 1.0  # [s] of wall time: shorter work needs no line
LOGGED = 0.05  # [s] longer work is logged as INFO, shorter (of the cache) as DEBUG
SAY_AFTER = 5.0  # [s] where nothing can be drawn: notebooks, files

_said: set[str] = set()  # a form for batches is compiled later: one sentence is enough
_line: _Line | None = None  # of the work that is under way in this process; a second thread's work shows none


class _Line:
    """A spinner, the task, and the time it has taken; drawn by a thread, since the compiler does not call back."""

    def __init__(self, what: str, terminal: bool) -> None:
        self._what = what
        self._stage = ""
        self._bar = self._task = None
        self._closed = False
        self._lock = threading.Lock()
        self._timer = threading.Timer(*((SHOW_AFTER, self._show) if terminal else (SAY_AFTER, self._say)))
        self._timer.daemon = True

    def begin(self) -> None:
        """Show the line after a delay."""
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

    def _say(self) -> None:
        """One sentence, for notebooks and logs."""
        text = (
            f"kinetree: {self._what} takes more than {SAY_AFTER:g} s. It is done once and kept on disk; "
            "'with kinetree.interpreted():' computes without compiling.\n"
        )
        with self._lock:
            if not self._closed and self._what not in _said:
                _said.add(self._what)
                try:
                    sys.stderr.write(text)
                    sys.stderr.flush()
                except (AttributeError, OSError, ValueError):  # without a reader
                    pass

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
    """Report that the body of the ``with`` statement runs, if that takes long: a line in a terminal, else a sentence.

    Parameters
    ----------
    what : str
        The task: "compiling aba for model 'arm'".
    """
    global _line
    mine, start = _Line(what, _is_terminal()) if sys.stderr is not None else None, time.perf_counter()
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
        spent = time.perf_counter() - start
        LOG.log(20 if spent > LOGGED else 10, "%s: %.3f s", what, spent)  # 20 is INFO


def _is_terminal() -> bool:
    try:
        return sys.stderr.isatty()
    except (AttributeError, ValueError):  # something else in its place, or closed
        return False


def stage(text: str) -> None:
    """Show the current stage; without a line to show it this costs nothing.

    Parameters
    ----------
    text : str
        "body 317 of 1000".
    """
    line = _line
    if line is not None:
        line.stage(text)


def _after_fork() -> None:
    """Reset after a fork: the line belongs to the parent, and the thread that draws it has ended."""
    global _line
    _line = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
