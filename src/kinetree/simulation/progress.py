"""The progress bar of simulations, searches and fits."""

from __future__ import annotations

import sys
import time

SHOW_AFTER = 1.0  # [s] of wall time: shorter work needs no bar


class Progress:
    """A bar on stderr that appears when work takes longer than a second and stderr is a terminal.

    Parameters
    ----------
    title : str
    total : float
        Simulated time of the whole run [s], or the number of steps of the work, at most.
    show : bool or None
        True or False force the bar on or off; None decides as above.
    is_time : bool
        Whether the total is simulated time. The time left is shown only then: steps of a search may end early.
    """

    def __init__(self, title: str, total: float, show: bool | None, is_time: bool = False) -> None:
        self._title, self._total, self._is_time = title, total, is_time
        self._show = sys.stderr is not None and sys.stderr.isatty() if show is None else show
        self._bar = self._task = None
        self._next = time.perf_counter() + (0.0 if show else SHOW_AFTER)

    def tick(self, done: float, note: str = "") -> None:
        """Report the simulated time [s] or the number of completed steps, with a note."""
        if self._show and (now := time.perf_counter()) >= self._next:
            self._next = now + 0.1
            self._update(done, note)

    def close(self) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar.stop()

    def _update(self, done: float, note: str) -> None:
        if self._bar is None:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

            columns = (TextColumn("{task.completed} / {task.total}"), TextColumn("{task.fields[note]}"))
            if self._is_time:
                columns = (TextColumn("{task.completed:.2f} / {task.total:.2f} s"), TimeRemainingColumn())
            bar = Progress(TextColumn(self._title), BarColumn(), *columns, console=Console(stderr=True), transient=True)
            self._bar, self._task = bar, bar.add_task(self._title, total=self._total, note="")
            self._bar.start()
        self._bar.update(self._task, completed=done, note=note)
