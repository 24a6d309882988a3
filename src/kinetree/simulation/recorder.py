"""The samples of a run as they come: arrays that grow."""

from __future__ import annotations

import numpy as np

LEAST = 64  # rows


class Recorder:
    """Times, positions, velocities and joint forces of the samples.

    Parameters
    ----------
    nq, nv : int
    nb : int
        Number of bodies if their wrenches are recorded, too: those that depend on the state; else zero.

    Attributes
    ----------
    time, q, v, tau, wrenches : numpy.ndarray
        Rows; only the first ``rows`` are filled. ``wrenches`` has none if they are not recorded.
    rows : int
    """

    __slots__ = ("_columns", "q", "rows", "tau", "time", "v", "wrenches")

    def __init__(self, nq: int, nv: int, nb: int = 0) -> None:
        self.rows = 0
        self.time, self.q, self.v, self.tau = np.empty(0), np.empty((0, nq)), np.empty((0, nv)), np.empty((0, nv))
        self.wrenches = np.empty((0, nb, 6))
        self._columns = ("time", "q", "v", "tau", "wrenches") if nb else ("time", "q", "v", "tau")

    def reserve(self, more: int) -> None:
        """Make room for so many more rows."""
        needed = self.rows + more
        if needed <= len(self.time):
            return
        size = max(needed, LEAST, 2 * len(self.time) if self.rows else 0)
        for name in self._columns:
            old = getattr(self, name)
            new = np.empty((size, *old.shape[1:]))
            new[: self.rows] = old[: self.rows]
            setattr(self, name, new)

    def append(self, t: float, q, v, tau, wrenches=None) -> None:
        """Add a row."""
        self.reserve(1)
        row = self.rows
        self.time[row], self.q[row], self.v[row], self.tau[row] = t, q, v, tau
        if wrenches is not None:
            self.wrenches[row] = wrenches
        self.rows = row + 1

    def forget(self, t: float) -> None:
        """Drop the last row if it is of this time: a step from there failed, and it will be recorded again."""
        if self.rows and self.time[self.rows - 1] == t:
            self.rows -= 1

    def get_state(self) -> dict[str, np.ndarray]:
        """The filled rows, as copies."""
        return {name: getattr(self, name)[: self.rows].copy() for name in self._columns}

    def set_state(self, state: dict[str, np.ndarray] | None) -> None:
        """Take up what `get_state` gave; None for no rows."""
        if state is None:
            self.rows = 0
            return
        for name in self._columns:
            setattr(self, name, np.array(state[name]))
        self.rows = len(self.time)
