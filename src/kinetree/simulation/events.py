"""Events as a component of a simulation: every step is checked, and shortened to the first event."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from kinetree.errors import SimulationError
from kinetree.integrators.dense import hermite
from kinetree.integrators.events import Event, EventLocator, Occurrence
from kinetree.simulation.components import Component, StateReset, Step


class Events(Component):
    """Locates events, executes their actions and keeps a list of them.

    Parameters
    ----------
    events : sequence of Event

    Attributes
    ----------
    occurrences : list of Occurrence
        The events so far.
    """

    name = "events"

    def __init__(self, events: Sequence[Event] | Event) -> None:
        self._events = (events,) if isinstance(events, Event) else tuple(events)
        self._locator, self._run = EventLocator(self._events), None
        self.occurrences: list[Occurrence] = []

    def reset(self, simulation) -> None:
        """Before the first step."""
        self._run, self._locator, self.occurrences = simulation, EventLocator(self._events), []
        self._locator.begin(simulation.time, simulation.q, simulation.v)

    def after_step(self, step: Step) -> StateReset | None:
        """State reset at the first events of the step, with the state from which the run continues."""
        nv, x, made = len(step.v0), step.x1, []

        def motion(t):  # made where it is first needed: most steps are far from all events
            if not made:
                made.append(self._run.motion(step))
            return made[0](t)

        shortened = self._shortened(step)
        ways = (_cut(motion, nv), shortened and _cut(shortened, nv)) if len(x) else (motion, shortened)
        found = self._locator.look(step.t0, step.t1, (step.q1, step.v1), *ways)
        if found is None:
            return None
        if len(x) and found.t < step.t1:
            x = (shortened or motion)(found.t)[1][nv:]
        q, v, occurrences, stop = self._locator.act(found, step.t1 - step.t0, self._run.closed)
        self.occurrences += occurrences
        impulses = any(x.q_after is not x.q for x in occurrences)
        label = ", ".join(x.name for x in occurrences)
        return StateReset(found.t, q, v, label, stop, found.v if impulses else None, x=x)

    def get_state(self) -> tuple:
        """The state for snapshots."""
        return self._locator.get_state(), list(self.occurrences)

    def set_state(self, state: tuple) -> None:
        """Restore a state of `get_state`."""
        locator, self.occurrences = state[0], list(state[1])
        self._locator.set_state(locator)

    def _shortened(self, step: Step) -> Callable | None:
        """The method's own step to a time within this one; none for multistep methods."""
        return (lambda t: self._run.shortened(step, t)) if self._run.can_shorten else None


def _cut(motion: Callable, nv: int) -> Callable:
    """The motion without the internal states that follow the velocities."""

    def positions_and_velocities(t):
        q, w = motion(t)
        return q, w[..., :nv]

    return positions_and_velocities


class Motion:
    """The motion within a step, made on first use.

    Parameters
    ----------
    make : callable
        ``make() -> Interpolant``.
    closed : callable
        ``closed(q, v, t)``: the state with its loops closed.
    """

    def __init__(self, make: Callable, closed: Callable) -> None:
        self._make, self._closed, self._interpolant = make, closed, None

    def __call__(self, t: float) -> tuple[np.ndarray, np.ndarray]:
        if self._interpolant is None:
            self._interpolant = self._make()
        return self._closed(*self._interpolant(t), t)


def interpolated(system, step: Step, stepper, tau: Callable, f_ext: Callable) -> Motion:
    """The motion within a step: the method's own continuous solution, or the cubic through both ends.

    Parameters
    ----------
    system : System
    step : Step
    stepper : object or None
        The fixed-step method.
    tau : callable
        ``tau(t, q, v)``: the joint forces within the step.
    f_ext : callable
    """

    def make():
        own = stepper.interpolant() if hasattr(stepper, "interpolant") else None
        if own is not None and own.t0 == step.t0 and own.q0 is step.q0:
            return own
        dynamics = system.function(system.rate, checks=False)
        ends = [(q, w, dynamics(q, w, tau(t, q, w), *f_ext(t))) for t, q, w in step.ends]
        return hermite(system, step.t0, step.t1, *ends)

    return Motion(make, system.closed)


def checked_events(events) -> tuple[Events, ...]:
    """The component that locates these events, in a tuple; empty without events."""
    if isinstance(events, Event):
        return (Events(events),)
    try:
        events = tuple(events)
    except TypeError:
        raise SimulationError(
            f"simulate: events is {events!r}, expected kinetree.Event(function, ...) or a sequence of them.",
            found=events,
        ) from None
    return (Events(events),) if events else ()
