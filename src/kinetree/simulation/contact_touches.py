"""Contacts that begin and end in steps of time stepping, as events of a run: "impact of ..." and "lift-off of ..."."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinetree.integrators.events import Occurrence
from kinetree.integrators.system import time_argument
from kinetree.integrators.user_code import copied

APART = 1e-6  # [m] of a gap without a force: forces of redundant contacts come and go at smaller ones


def is_watched(model) -> bool:
    """Whether contacts of a model are: there are some."""
    return bool(model.n_contacts)


class Touches:
    """Watches steps, some at a time.

    A contact begins in the first step with a force, and ends with its force where the surfaces are more than `APART`
    apart before there is another one. Those that touch at the start do not begin.

    Parameters
    ----------
    system : System

    Attributes
    ----------
    occurrences : list of Occurrence
        So far. Both states are those at the beginning of a step: the first one with a force, or without.
    """

    def __init__(self, system) -> None:
        self._labels, self._rows = system.model.contact_labels, system.model.n_contact_rows
        self._model, self._function = system.model, system.function("contact_gaps", checks=False)
        self.occurrences: list[Occurrence] = []
        self._touching, self._released = None, {}  # 1 or -1 of each; the states where forces ended last

    def get_state(self) -> tuple:
        """For snapshots."""
        return list(self.occurrences), None if self._touching is None else self._touching.copy(), dict(self._released)

    def set_state(self, state: tuple) -> None:
        """Restore a state of `get_state`."""
        occurrences, touching, released = state
        self.occurrences, self._released = list(occurrences), dict(released)
        self._touching = None if touching is None else touching.copy()

    def add(self, time, q, v, impulses) -> None:
        """Watch steps that begin at these times and states, with their impulses; one row for each."""
        presses = impulses[:, 2 : self._rows : 3] > 0.0
        if self._touching is None:
            self._touching = np.where(presses[0] | (self._gaps(time[0], q[0]) <= APART), 1, -1)
        if np.array_equal(presses, np.broadcast_to(self._touching > 0, presses.shape)):
            self._released.clear()
            return
        marks = presses.astype(int) - (~presses & (self._gaps(time, q) > APART))
        for k in np.flatnonzero((marks != self._touching).any(axis=0)).tolist():
            self._watch(k, marks[:, k], np.flatnonzero(presses[:, k]), (time, q, v))
        for k in np.flatnonzero(presses[-1]).tolist():
            self._released.pop(k, None)

    def _gaps(self, time, q) -> np.ndarray:
        return self._function(q, *time_argument(self._model, time))

    def _watch(self, k: int, marks, pressed, states) -> None:
        """Watch one contact: 1 with a force, -1 apart, 0 near without one."""
        known = np.flatnonzero(marks)
        turns = known[marks[known] != np.append(self._touching[k], marks[known][:-1])]
        if self._touching[k] > 0 and k not in self._released and (not len(pressed) or pressed[0] > 0):
            self._released[k] = self._state(0, states)
        for row in turns.tolist():
            if marks[row] > 0:
                self._occur("impact", k, *self._state(row, states))
                continue
            before = pressed[pressed < row]
            at = self._state(int(before[-1]) + 1, states) if len(before) else self._released[k]
            self._occur("lift-off", k, *at)
        if len(known):
            self._touching[k] = marks[known[-1]]
        if len(pressed) and pressed[-1] + 1 < len(marks):
            self._released[k] = self._state(int(pressed[-1]) + 1, states)
        if self._touching[k] < 0:
            self._released.pop(k, None)

    @staticmethod
    def _state(row: int, states: Sequence) -> tuple:
        time, q, v = states
        return float(time[row]), copied(q[row]), copied(v[row])

    def _occur(self, name: str, k: int, t: float, q, v) -> None:
        self.occurrences.append(Occurrence(f"{name} of {self._labels[k]}", t, q, v, q, v))


def recorded_touches(stepper, record, run_state, system) -> RecordedTouches | None:
    """Those of a run by fixed steps whose steps do not find events themselves, if its contacts are watched."""
    watched = stepper is not None and not hasattr(stepper, "occurrences") and is_watched(system.model)
    return RecordedTouches(record, run_state, system) if watched else None


class RecordedTouches:
    """The same of runs that record every step, from the record, where they are asked for: steps take no time for it.

    Parameters
    ----------
    record : Recorder
    run_state : RunState
        Its steps are made until its time.
    system : System
    """

    def __init__(self, record, run_state, system) -> None:
        self._record, self._run_state, self._system = record, run_state, system
        self._touches, self._done = Touches(system), 0
        self._last = None

    @property
    def occurrences(self) -> list[Occurrence]:
        """So far."""
        record, done = self._record, self._done
        made = int(np.searchsorted(record.time[: record.rows], self._run_state.time))
        if done > made or (done and record.time[done - 1] != self._last):  # another record
            self._touches, self._done = Touches(self._system), 0
            return self.occurrences
        if done < made:
            rows, nv = slice(done, made), self._system.model.nv
            self._touches.add(record.time[rows], record.q[rows], record.v[rows, :nv], record.impulses[rows])
            self._done, self._last = made, record.time[made - 1]
        return self._touches.occurrences
