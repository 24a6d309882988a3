"""The clock of a replay: which time is shown at which instant of wall time."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

FRAME = 1.0 / 60.0  # [s] between the samples that are drawn


class Clock:
    """Time that passes at a speed between a start and an end, and begins again.

    Parameters
    ----------
    start, end : float
        [s]
    now : callable
        Wall time [s].
    """

    def __init__(self, start: float, end: float, now: Callable[[], float] = time.perf_counter) -> None:
        self.start, self.end = float(start), float(end)
        self._now, self._since, self._time = now, None, self.start
        self._speed = 1.0

    @property
    def playing(self) -> bool:
        """Whether the time passes."""
        return self._since is not None

    @property
    def time(self) -> float:
        """The time that is shown [s]; behind the end it begins again at the start."""
        if self._since is None:
            return self._time
        passed = self._time + (self._now() - self._since) * self._speed - self.start
        length = self.end - self.start
        return self.start + (passed % length if length > 0.0 else 0.0)

    @property
    def speed(self) -> float:
        """Simulated seconds in a second."""
        return self._speed

    @speed.setter
    def speed(self, value: float) -> None:
        self.seek(self.time)
        self._speed = float(value)

    def play(self) -> None:
        """Let the time pass; from the start if it is at the end."""
        if self._since is None:
            self._time = self.start if self._time >= self.end else self._time
            self._since = self._now()

    def pause(self) -> None:
        """Stop the time."""
        self._time, self._since = self.time, None

    def seek(self, t: float) -> None:
        """Go to a time."""
        self._time = min(max(float(t), self.start), self.end)
        self._since = None if self._since is None else self._now()


def thinned(run):
    """The run with samples about ``FRAME`` apart: some of its own, or interpolated ones where they are far apart.

    Parameters
    ----------
    run : Trajectory or CoupledRun
    """
    if len(run.time) < 3:
        return run
    distance = float(np.median(np.diff(run.time)))
    if not hasattr(run, "resample"):
        return run
    if distance > 2.5 * FRAME and run.model is not None:
        return run.resample(dt=FRAME)
    step = max(int(FRAME / distance + 1e-6), 1)
    return run if step == 1 else run[::step]


def sample_at(times: np.ndarray, t: float) -> int:
    """The number of the sample next to a time."""
    k = int(np.searchsorted(times, t))
    if k == 0 or k == len(times):
        return min(k, len(times) - 1)
    return k if times[k] - t < t - times[k - 1] else k - 1
