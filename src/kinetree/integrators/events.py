"""Events: instants at which a function of time and state crosses zero, found within the steps of any method."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from kinetree.arguments import number
from kinetree.errors import NonFiniteError, ShapeError, SimulationError
from kinetree.integrators.user_code import copied_state, explain, lock

JUST_AFTER = 1e-6
"""Fraction of the step: delay after an event at which its function is evaluated for the sign that follows."""

TOO_SOON = 1e-3
"""Fraction of the step: an event with an action that recurs within this time accumulates."""

ACCUMULATION = "accumulation"
"""Value of ``terminal``: end the run where the occurrences of an event accumulate in a finite time."""

FAR = 4.0
"""A function is far from zero if its value is more than this multiple of its last two changes."""

SECANTS = 10  # more than a smooth motion needs: a stiff stop may come into contact at the event

TOGETHER = 1e-10
"""Fraction of the step: events closer together are simultaneous, in the order in which they were given."""


@dataclass(frozen=True, slots=True, eq=False)
class Event:
    """A function whose zeros are located, and an action there.

    Parameters
    ----------
    function : callable
        ``function(t, q, v) -> float``; the event is where it crosses zero. It must depend on its arguments only, whose
        arrays are read-only.
    direction : {0, 1, -1}
        Count crossings of either sign (0), only those from below (1), or only those from above (-1).
    terminal : bool, int or "accumulation"
        End the run at the event, or when it has happened so many times, or where it is about to happen infinitely
        often in a finite time, as bounces of a ball do.
    action : callable, optional
        ``action(t, q, v) -> (q, v)``: the state from which the run continues, after an impact for example; None for the
        same.
    name : str
        Name of the occurrences.

    Examples
    --------
    >>> bounce = Event(lambda t, q, v: q[0], direction=-1, action=lambda t, q, v: (q, -0.8 * v), name="bounce")
    >>> bounce.direction, bounce.terminal
    (-1, False)
    """

    function: Callable
    direction: int = 0
    terminal: bool | int | str = False
    action: Callable | None = None
    name: str = "event"

    def __post_init__(self) -> None:
        number, terminal = isinstance(self.direction, (int, float, np.number)), self.terminal
        accumulation = isinstance(terminal, str) and terminal == ACCUMULATION
        is_count = isinstance(terminal, (bool, int, np.bool_, np.integer)) and terminal >= 0
        for name, is_right, expected in (
            ("function", callable(self.function), "a callable function(t, q, v) -> float"),
            ("direction", number and self.direction in (0, 1, -1), "0 (either), 1 (rising) or -1 (falling)"),
            ("terminal", accumulation or is_count, f"True, False, a number of occurrences or {ACCUMULATION!r}"),
            ("action", self.action is None or callable(self.action), "a callable action(t, q, v) -> (q, v)"),
        ):
            if not is_right:
                found = getattr(self, name)
                text = f"Event {self.name!r}: {name} is {found!r}, expected {expected}."
                raise SimulationError(text, event=self.name, found=found)

    def value(self, t: float, q: np.ndarray, v: np.ndarray) -> float:
        """The function, as a finite float."""
        lock(q, v)
        try:
            found = self.function(t, q, v)
        except Exception as error:
            explain(error, f"the function of event {self.name!r} at t = {t:.9g} s")
            raise
        if not isinstance(found, float):
            found = _number(found, self.name, t)
        if not math.isfinite(found):
            raise NonFiniteError(f"Event {self.name!r}: its function is {found} at t = {t:.9g} s.", time=t)
        return found


def _number(value, name: str, t: float) -> float:
    if isinstance(value, (bool, np.bool_)):
        return float(value)
    expected = "a number: of an array return one entry, as q[0]"
    return number(f"Event {name!r}: the result of its function at t = {t:.9g} s", value, expected, finite=False)


@dataclass(frozen=True, slots=True, eq=False)
class Occurrence:
    """An event that happened.

    Attributes
    ----------
    name : str
    time : float
        [s]
    q, v : numpy.ndarray
        The state just before; read-only, as are the others.
    q_after, v_after : numpy.ndarray
        The state from which the run continued.
    joint, side : str
        Of an impact at a hard stop: the joint, and "lower" or "upper"; empty for other events.
    """

    name: str
    time: float
    q: np.ndarray
    v: np.ndarray
    q_after: np.ndarray
    v_after: np.ndarray
    joint: str = ""
    side: str = ""

    def __repr__(self) -> str:
        where = f" of joint {self.joint!r} at its {self.side} stop" if self.joint else ""
        return f"<{self.name}{where} at t = {self.time:.9g} s>"


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """The first events of a step: their time, the state, and the indices of simultaneous events."""

    t: float
    q: np.ndarray
    v: np.ndarray
    which: tuple[int, ...]


class EventLocator:
    """Locates events in every step.

    Parameters
    ----------
    events : sequence of Event

    Notes
    -----
    Source: Featherstone (2008), section 11.5: interpolate the step back to the moment of the earliest event. A function
    is evaluated at the end of every step, in its middle unless it is far from zero, and where a parabola through these
    values comes close to zero, at its extremum: so two crossings within a step are seen as well. A function that
    touches zero without crossing it, up to rounding, is no event. The time is a root (Brent) on the interpolant, then
    on the method itself: the step is shortened until its end lies on the event.
    """

    def __init__(self, events: Sequence[Event]) -> None:
        self.events = tuple(events)
        for event in self.events:
            if not isinstance(event, Event):
                raise SimulationError(
                    f"simulate: events has {event!r}, expected kinetree.Event(function, ...).", found=event
                )
        self._values: list[float | None] = [None] * len(self.events)
        self._changes: list[float] = [math.inf] * len(self.events)  # over the last step
        self._fresh: set[int] = set()  # events that have just happened, or begin at zero
        self._last: dict[int, float] = {}  # when those with an action happened last
        self._counts = [0] * len(self.events)

    def begin(self, t: float, q: np.ndarray, v: np.ndarray) -> None:
        """Where a run or a segment of it begins."""
        self._values = [event.value(t, q, v) for event in self.events]
        self._changes = [math.inf] * len(self.events)
        self._fresh |= {k for k, g in enumerate(self._values) if g == 0.0}

    def get_state(self) -> tuple:
        """The state for snapshots."""
        return copy.deepcopy((self._values, self._changes, self._fresh, self._last, self._counts))

    def set_state(self, state: tuple) -> None:
        """Restore a state of `get_state`."""
        self._values, self._changes, self._fresh, self._last, self._counts = copy.deepcopy(state)

    def look(
        self, t0: float, t1: float, end: tuple, motion: Callable, shortened: Callable | None = None
    ) -> Found | None:
        """The first events of the step from t0 to t1; None if there is none.

        Parameters
        ----------
        t0, t1 : float
            Ends of the step [s].
        end : tuple of (q, v)
            The state at t1.
        motion : callable
            ``motion(t) -> (q, v)`` within the step: the interpolant.
        shortened : callable, optional
            ``shortened(t) -> (q, v)``: the end of a step from t0 to t by the method itself.
        """
        h, middle = t1 - t0, 0.5 * (t0 + t1)
        half, roots = None, {}
        last = [event.value(t1, *end) for event in self.events]
        changes = [abs(g1 - g0) for g0, g1 in zip(self._values, last, strict=True)]
        for k, event in enumerate(self.events):
            g0, g1, times = self._values[k], last[k], [t0, middle, t1]
            far = min(abs(g0), abs(g1)) > FAR * (changes[k] + self._changes[k])
            if far and g0 * g1 > 0.0 and k not in self._fresh:
                continue
            half = half or motion(middle)
            values = [g0, event.value(middle, *half), g1]
            if k in self._fresh:
                times[0] = t0 + JUST_AFTER * h
                values[0] = event.value(times[0], *motion(times[0]))

            def g(t, event=event):
                return event.value(t, *motion(t))

            root = first_crossing(g, times, values, event.direction)
            if root is not None:
                roots[k] = root
        if not roots:
            self._values, self._changes = last, changes
            self._fresh = {k for k in self._fresh if last[k] == 0.0}
            return None
        first = min(roots, key=roots.get)
        t = roots[first]
        q, v = end if t == t1 else motion(t)
        if shortened is not None and t < t1:
            t, q, v = _refined(self.events[first], t, t0, t1, motion, shortened)
        slack = TOGETHER * h
        which = tuple(k for k, root in roots.items() if abs(root - roots[first]) <= slack)
        return Found(t, q, v, which)

    def act(self, found: Found, h: float, closed: Callable) -> tuple[np.ndarray, np.ndarray, list[Occurrence], bool]:
        """Carry out the actions of these events.

        Parameters
        ----------
        found : Found
        h : float
            The step in which they were found [s].
        closed : callable
            ``closed(q, v, t)``: the state with its loops closed; actions act on closed loops.

        Returns
        -------
        q, v : numpy.ndarray
            The state from which the run continues.
        occurrences : list of Occurrence
        stop : bool
            Whether the run ends here.
        """
        q, v, occurrences, stop = found.q, found.v, [], False
        for k in found.which:
            event = self.events[k]
            q_after, v_after = _acted(event, found.t, q, v)
            if v_after is not v:
                q_after, v_after = closed(q_after, v_after, found.t)
            occurrences.append(Occurrence(event.name, found.t, q, v, q_after, v_after))
            self._counts[k] += 1
            if event.terminal != ACCUMULATION:
                stop |= bool(event.terminal) and self._counts[k] >= int(event.terminal)
            if event.action is not None:
                if found.t - self._last.get(k, -math.inf) < TOO_SOON * h and not stop:
                    if event.terminal != ACCUMULATION:
                        raise _accumulation(event, found.t, found.t - self._last[k])
                    stop = True
                self._last[k] = found.t
            q, v = q_after, v_after
        self._fresh = set(found.which)
        self.begin(found.t, q, v)
        return q, v, occurrences, stop


def _accumulation(event: Event, t: float, after: float) -> SimulationError:
    return SimulationError(
        f"simulate: event {event.name!r} happens again after {after:.3g} s, at t = {t:.9g} s: its occurrences "
        "accumulate, as bounces of a ball that comes to rest do, and no action can hold it there. For a joint that "
        "meets a stop, give the joint that limit and the model kt.constraints.HardLimits(restitution), where it rests; "
        f"else end the run there, with Event(..., terminal={ACCUMULATION!r}).",
        time=t,
        event=event.name,
    )


def first_crossing(g: Callable, times: Sequence[float], values: Sequence[float], direction: int) -> float | None:
    """The first zero that a function crosses in a direction, given its values at a few times; None if none is seen."""
    from scipy.optimize import brentq

    times, values = _with_dips(g, list(times), list(values))
    for (a, ga), (b, gb) in zip(zip(times, values, strict=True), zip(times[1:], values[1:], strict=True), strict=False):
        rising = ga < 0.0 <= gb
        falling = ga > 0.0 >= gb
        if not (rising or falling) or (direction != 0 and rising != (direction > 0)):
            continue
        if gb == 0.0:
            return b
        span = b - a
        if not (gb < 0.0 < ga or ga < 0.0 < gb) or g(a + span) * ga > 0.0:  # but for the rounding of its end
            return b
        root = brentq(lambda s, a=a, span=span: g(a + s * span), 0.0, 1.0, xtol=1e-16, rtol=8.9e-16, maxiter=1000)
        return a + root * span
    return None


def _with_dips(g, times, values):
    """The same with the extremum between them, where a function without a change of sign comes close to zero."""
    side = math.copysign(1.0, values[0])
    if values[0] == 0.0 or any(side * y <= 0.0 for y in values):
        return times, values
    (t0, t1, t2), (y0, y1, y2) = times, (side * y for y in values)
    slope0, slope1 = (y1 - y0) / (t1 - t0), (y2 - y1) / (t2 - t1)
    curvature = (slope1 - slope0) / (t2 - t0)
    if curvature <= 0.0:
        return times, values
    vertex = 0.5 * (t0 + t1) - 0.5 * slope0 / curvature
    if not t0 < vertex < t2:
        return times, values
    lowest = y0 + (vertex - t0) * (slope0 + curvature * (vertex - t1))
    if lowest > 0.25 * (max(y0, y1, y2) - lowest):  # far from zero, judging by three values
        return times, values
    from scipy.optimize import minimize_scalar

    found = minimize_scalar(
        lambda t: side * g(t), bounds=(t0, t2), method="bounded", options={"xatol": 1e-9 * (t2 - t0)}
    )
    dip, depth = float(found.x), side * g(float(found.x))
    rounding = 16.0 * np.finfo(float).eps * max(y0, y1, y2)
    if depth >= -rounding:
        return times, values
    at = 1 if dip < t1 else 2
    return [*times[:at], dip, *times[at:]], [*values[:at], side * depth, *values[at:]]


def _refined(event: Event, t: float, t0: float, t1: float, motion, shortened):
    """The time at which a step of the method itself ends on the event, by secants from the interpolant's root."""
    width = 1e-3 * (t1 - t0)
    a, b = max(t0, t - width), min(t1, t + width)
    slope = (event.value(b, *motion(b)) - event.value(a, *motion(a))) / (b - a)
    best, before = None, None
    for _ in range(SECANTS):
        state = shortened(t)
        g = event.value(t, *state)
        if best is None or abs(g) < abs(best[0]):
            best = g, t, state
        if g == 0.0:
            break
        if before is not None and before[0] != t and before[1] != g:
            slope = (g - before[1]) / (t - before[0])
        if slope == 0.0:
            break
        before, following = (t, g), t - g / slope
        if not t0 < following <= t1 or following == t:
            break
        t = following
    _, t, (q, v) = best
    return t, q, v


def _acted(event: Event, t: float, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The state after the action, checked."""
    if event.action is None:
        return q, v
    lock(q, v)
    try:
        result = event.action(t, q, v)
    except Exception as error:
        explain(error, f"the action of event {event.name!r} at t = {t:.9g} s")
        raise
    if result is None:
        return q, v
    q_after, v_after = copied_state(result, q, v) or (None, None)
    if q_after is None:
        raise ShapeError(
            f"simulate: the action of event {event.name!r} returned {result!r}, expected (q, v) of shapes {q.shape} "
            f"and {v.shape}, or None for the same state.",
            event=event.name,
            time=t,
        )
    if not (np.isfinite(q_after).all() and np.isfinite(v_after).all()):
        raise NonFiniteError(
            f"simulate: the action of event {event.name!r} returned a state that is not finite, at t = {t:.9g} s.",
            event=event.name,
            time=t,
        )
    return q_after, v_after
