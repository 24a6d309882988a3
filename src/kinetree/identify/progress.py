"""The progress bar of searches and fits."""

from __future__ import annotations

import sys
import time

SHOW_AFTER = 1.0  # [s]: shorter work needs no bar


class Progress:
    """A bar on stderr that appears when work takes longer than a second and stderr is a terminal.

    Parameters
    ----------
    title : str
    total : int
        Steps of the work, at most.
    show : bool or None
        True or False force the bar on or off; None decides as above.
    """

    __slots__ = ("_bar", "_next", "_show", "_task", "_title", "_total")

    def __init__(self, title: str, total: int, show: bool | None) -> None:
        self._title, self._total = title, total
        self._show = sys.stderr.isatty() if show is None else show
        self._bar = self._task = None
        self._next = time.perf_counter() + (0.0 if show else SHOW_AFTER)

    def tick(self, done: int, note: str = "") -> None:
        """Report that so many steps are done, and how things stand."""
        if self._show and (now := time.perf_counter()) >= self._next:
            self._next = now + 0.1
            self._update(done, note)

    def close(self) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar.stop()

    def _update(self, done: int, note: str) -> None:
        if self._bar is None:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn

            self._bar = Progress(
                TextColumn(self._title),
                BarColumn(),
                TextColumn("{task.completed} / {task.total}"),
                TextColumn("{task.fields[note]}"),
                console=Console(stderr=True),
                transient=True,
            )
            self._task = self._bar.add_task(self._title, total=self._total, note="")
            self._bar.start()
        self._bar.update(self._task, completed=done, note=note)
