"""Events of contacts within a step: gaps that close, slip that ends, forces that no longer obey the laws."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from kinetree.contact.accelerations import SPEED
from kinetree.integrators.contact_dynamics import Slip
from kinetree.integrators.events import JUST_AFTER, first_crossing

SECANTS = 4
BISECTIONS = 48


class Found(NamedTuple):
    """An event: its time, and the function whose root it is, or None."""

    t: float
    function: Callable | None


class ContactEvents:
    """Finds the first event of the last step of a pair.

    Parameters
    ----------
    dynamics : ContactDynamics
    pair : ContactPair
    touching : float
        Surfaces at this distance or closer touch [m].

    Attributes
    ----------
    fresh : frozenset of int
        Contacts that touch where the step begins, but separate.
    """

    def __init__(self, dynamics, pair, touching: float) -> None:
        self._dynamics, self._pair, self._touching = dynamics, pair, touching
        self.fresh = frozenset()

    def first(self) -> Found | None:
        """The first event of the last step; None if there is none."""
        pair, found = self._pair, None
        begin, end = pair._before[0], pair.here
        for event in (*self._gains(begin, end), *self._stops(begin, end)):
            if found is None or event.t < found.t:
                found = event
        last = end if found is None else self._at(found.t)
        if pair.modes.current and not self._stays(last):
            return Found(self._bisected(begin.t, last.t), None)
        if found is None:
            self.fresh = frozenset(i for i in self.fresh if end.gaps[i] <= self._touching)
        return found

    def arrive(self, event: Found) -> Found:
        """Step from the beginning of the last step to an event, by the method itself."""
        pair, (t, function) = self._pair, event
        begin, end, before, pace = pair._before[0].t, pair.t, None, pair.pace
        motion = pair.motion()
        for _ in range(SECANTS):
            pair.back()
            start = pair._before
            sums = np.zeros_like(pair.sums)
            while pair.t < t and pair.step(t):
                sums = sums + pair.sums
            pair._before, pair.sums = start, sums
            if function is None:
                break
            g = function(pair.here.gaps, pair.here.u)
            slope = None if before is None or before[0] == t else (g - before[1]) / (t - before[0])
            if slope is None:
                width = 1e-3 * (end - begin)
                a, b = max(begin, t - width), min(end, t + width)
                rise = self._value(function, motion, b) - self._value(function, motion, a)
                slope = rise / (b - a) if b > a else 0.0
            before = t, g
            following = t - g / slope if slope else t
            if abs(following - t) <= 4.0 * np.spacing(t) or not begin < following <= end:
                break
            t = following
        pair.pace = pace  # a short step to an event does not shorten those after it
        return Found(pair.t, function)

    def _gains(self, begin, end):
        """Gaps that close, of contacts that are not held."""
        open_ones = [i for i in range(len(end.gaps)) if i not in self._pair.modes.current]
        if not open_ones:
            return
        h = end.t - begin.t
        for i in open_ones:
            g0, g1, start = begin.gaps[i], end.gaps[i], begin.t
            reach = h * max(abs(begin.u[i, 2]), abs(end.u[i, 2]))
            if not self._dynamics.rows.rigid[i]:
                yield from self._begins(i, begin, end)
                continue
            if min(g0, g1) > 2.0 * reach and i not in self.fresh:
                continue
            if g0 <= 0.0 and begin.u[i, 2] < -SPEED:  # a flight whose end was lost in rounding
                yield Found(begin.t + JUST_AFTER * h, None)
                continue
            if i in self.fresh:  # from the top of its flight on
                fall = float(begin.J[3 * i + 2] @ self._pair._before[1][: begin.J.shape[1]] + begin.bias[3 * i + 2])
                top = -begin.u[i, 2] / fall if fall < 0.0 else np.inf
                if top >= h:
                    if g1 >= 0.0:
                        continue
                    top = JUST_AFTER * h
                start, g0 = begin.t + top, None
            motion = self._pair.motion()
            times = [start, 0.5 * (start + end.t), end.t]

            def function(gaps, u, i=i):
                return gaps[i]

            def g(t, function=function, motion=motion):
                return self._value(function, motion, t)

            values = [g(start) if g0 is None else g0, g(times[1]), g1]
            root = first_crossing(g, times, values, -1)
            if root is None and g1 < -self._touching:  # it began at the surface, on either side by rounding

                def function(gaps, u, i=i):
                    return gaps[i] + 0.5 * self._touching

                shifted = [x + 0.5 * self._touching for x in (begin.gaps[i], *values[1:])]

                def g_shifted(t, function=function, motion=motion):
                    return self._value(function, motion, t)

                root = first_crossing(g_shifted, [begin.t, *times[1:]], shifted, -1)
            if root is not None:
                yield Found(root, function)

    def _begins(self, i: int, begin, end):
        """The begin of the force of a soft contact."""
        middle, motion = 0.5 * (begin.t + end.t), self._pair.motion()

        def function(gaps, u):
            return gaps[i]

        def g(t):
            return self._value(function, motion, t)

        values = [begin.gaps[i], g(middle), end.gaps[i]]
        if values[0] <= 0.0:  # its force has just ended
            values[0] = np.finfo(float).tiny if max(values[1:]) > 0.0 else values[0]
            if values[0] <= 0.0:
                yield Found(begin.t + JUST_AFTER * (end.t - begin.t), None)
                return
        root = first_crossing(g, [begin.t, middle, end.t], values, -1)
        if root is not None:
            yield Found(root, function)

    def _stops(self, begin, end):
        """Slip that reverses, where it may end."""
        for i, mode in self._pair.modes.active.items():
            if not isinstance(mode, Slip):
                continue

            def function(gaps, u, i=i, mode=mode):
                return float(u[i, :2] @ mode.reference) - mode.start

            values = [function(None, begin.u), None, function(None, end.u)]
            if values[2] > 0.0:
                continue
            motion = self._pair.motion()

            def g(t, function=function, motion=motion):
                return self._value(function, motion, t)

            times = [begin.t, 0.5 * (begin.t + end.t), end.t]
            if not values[0] > 0.0:
                times[0] = begin.t + JUST_AFTER * (end.t - begin.t)
                values[0] = g(times[0])
            values[1] = g(times[1])
            root = first_crossing(g, times, values, -1)
            if root is not None:
                yield Found(root, function)
            elif values[0] <= 0.0:
                yield Found(times[0], None)

    def _at(self, t: float):
        """The state at a time of the step."""
        return self._dynamics.at(t, *self._pair.motion()(t))

    def _value(self, function: Callable, motion, t: float) -> float:
        q, w = motion(t)
        return float(function(*self._dynamics.gaps(t, q, w[: self._dynamics._nv])))

    def _stays(self, here) -> bool:
        """Whether the contacts that are held touch, and their forces obey the laws."""
        modes = self._pair.modes
        if here.gaps[list(modes.current)].max() > self._touching:
            return False
        return self._dynamics.is_consistent(here, modes)

    def _bisected(self, begin: float, end: float) -> float:
        """The first time at which it does not stay so."""
        for _ in range(BISECTIONS):
            middle = 0.5 * (begin + end)
            if not begin < middle < end:
                break
            if self._stays(self._at(middle)):
                begin = middle
            else:
                end = middle
        return end
