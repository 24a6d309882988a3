"""The progress bar of a simulation."""

from __future__ import annotations

import sys
import time

SHOW_AFTER = 1.0  # [s] of wall time: shorter runs need no bar


class Progress:
    """A bar on stderr that appears when a run takes longer than a second and stderr is a terminal.

    Parameters
    ----------
    duration : float
        Simulated time of the whole run [s].
    show : bool or None
        True or False force the bar on or off; None decides as above.
    """

    __slots__ = ("_bar", "_duration", "_next", "_show", "_start", "_task")

    def __init__(self, duration: float, show: bool | None) -> None:
        self._duration = duration
        self._show = sys.stderr.isatty() if show is None else show
        self._bar = self._task = None
        self._start = time.perf_counter()
        self._next = self._start + (0.0 if show else SHOW_AFTER)

    def tick(self, t: float) -> None:
        """Report that the run has reached time t [s]."""
        if self._show and (now := time.perf_counter()) >= self._next:
            self._next = now + 0.1
            self._update(t)

    def close(self) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar.stop()

    def _update(self, t: float) -> None:
        if self._bar is None:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

            self._bar = Progress(
                TextColumn("simulating"),
                BarColumn(),
                TextColumn("{task.completed:.2f} / {task.total:.2f} s"),
                TimeRemainingColumn(),
                console=Console(stderr=True),
                transient=True,
            )
            self._task = self._bar.add_task("simulating", total=self._duration)
            self._bar.start()
        self._bar.update(self._task, completed=t)
