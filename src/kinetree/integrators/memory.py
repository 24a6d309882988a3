"""The memory of multistep methods, and when it is invalid."""

from __future__ import annotations

import numpy as np

CLOSE = 1e-9  # change by normalized quaternions or evaluated couplings between two steps


class Memory:
    """Data of the last step, valid where the next step begins with that step's end.

    A step that begins elsewhere (a new start, an event, another chart of a joint's coordinates) has none.

    Attributes
    ----------
    end : tuple or None
        Time, positions and velocities at that end.
    data : tuple or None
    """

    __slots__ = ("data", "end")

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Discard all data."""
        self.data = self.end = None

    def keep(self, t: float, q, v, data: tuple) -> None:
        """Store the data of a step that ended in this state at time t [s]."""
        self.end, self.data = (t, q, v), data

    def at(self, t: float, h: float, q, v) -> tuple | None:
        """The data of the last step if it ended in this state, else None."""
        if self.end is None:
            return None
        t_end, q_end, v_end = self.end
        if q is q_end and v is v_end:
            return self.data
        here = abs(t - t_end) <= CLOSE * h and _same(q, q_end) and _same(v, v_end)
        return self.data if here else None

    def get_state(self) -> tuple | None:
        """For snapshots: the same steps follow after `set_state`."""
        return None if self.end is None else (self.end, self.data)

    def set_state(self, state: tuple | None) -> None:
        """Restore a state of `get_state`."""
        self.end, self.data = (None, None) if state is None else state


def _same(x, y) -> bool:
    return x is y or bool(np.all(np.abs(x - y) <= CLOSE * (1.0 + np.abs(y))))
