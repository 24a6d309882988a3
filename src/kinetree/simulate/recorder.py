"""The samples of a run as they come: arrays that grow."""

from __future__ import annotations

import numpy as np

LEAST = 64  # rows


class Recorder:
    """Times, positions, velocities and joint forces of the samples.

    Parameters
    ----------
    nq, nv : int

    Attributes
    ----------
    time, q, v, tau : numpy.ndarray
        Rows; only the first ``rows`` are filled.
    rows : int
    """

    __slots__ = ("q", "rows", "tau", "time", "v")

    def __init__(self, nq: int, nv: int) -> None:
        self.rows = 0
        self.time, self.q, self.v, self.tau = np.empty(0), np.empty((0, nq)), np.empty((0, nv)), np.empty((0, nv))

    def reserve(self, more: int) -> None:
        """Make room for so many more rows."""
        needed = self.rows + more
        if needed <= len(self.time):
            return
        size = max(needed, LEAST, 2 * len(self.time) if self.rows else 0)
        for name in ("time", "q", "v", "tau"):
            old = getattr(self, name)
            new = np.empty((size, *old.shape[1:]))
            new[: self.rows] = old[: self.rows]
            setattr(self, name, new)

    def append(self, t: float, q, v, tau) -> None:
        """Add a row."""
        self.reserve(1)
        row = self.rows
        self.time[row], self.q[row], self.v[row], self.tau[row] = t, q, v, tau
        self.rows = row + 1

    def get_state(self) -> dict[str, np.ndarray]:
        """The filled rows, as copies."""
        return {name: getattr(self, name)[: self.rows].copy() for name in ("time", "q", "v", "tau")}

    def set_state(self, state: dict[str, np.ndarray] | None) -> None:
        """Take up what `get_state` gave; None for no rows."""
        if state is None:
            self.rows = 0
            return
        for name in ("time", "q", "v", "tau"):
            setattr(self, name, np.array(state[name]))
        self.rows = len(self.time)
