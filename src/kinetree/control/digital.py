"""Digital controllers: sampled at a rate, delayed, sums of several; and their states for snapshots.

A controller is any callable ``controller(t, q, v) -> tau``; q and v are read-only, tau is copied. With fixed steps it
is called at the beginning of every step, with adaptive methods whenever the solver needs it. The controllers of this
file are called at instants of their own: `begin` is called at the beginning of every step, and the call itself only
returns the value computed there.
"""

from __future__ import annotations

import copy
import math
import sys
import types
from collections import deque

import numpy as np

from kinetree.arguments import a_positive_number, an_array, checked
from kinetree.errors import NonFiniteError, SimulationError
from kinetree.integrators.user_code import copied

__all__ = ["Delayed", "Sampled", "Sum"]  # for users; the rest is the interface of simulate

CLOSE = 1e-9  # of a period: instants closer than that are the same
_DATA = (bool, int, float, complex, str, bytes, type(None), np.generic)


class Sampled:
    """A controller that is called at a rate; between its samples the last value is constant (zero-order hold).

    Steps end at the sampling times: where these are no multiples of dt, a step is shortened.

    Parameters
    ----------
    controller : callable
        ``controller(t, q, v) -> tau``.
    sample_time : float
        Time between two samples [s].
    offset : float
        Time of the first sample [s]; before it the value is zero.

    Examples
    --------
    >>> import kinetree as kt
    >>> arm, times = kt.load("double_pendulum"), []
    >>> slow = kt.control.Sampled(lambda t, q, v: times.append(t) or -q, sample_time=0.02)
    >>> run = kt.simulate(arm, [0.3, 0.1], duration=0.1, controller=slow)
    >>> [round(t, 9) for t in times]
    [0.0, 0.02, 0.04, 0.06, 0.08, 0.1]
    """

    def __init__(self, controller, sample_time: float, offset: float = 0.0) -> None:
        _time("sample_time", sample_time, positive=True)
        _time("offset", offset)
        self.controller, self.sample_time, self._offset = controller, float(sample_time), float(offset)
        self._next, self._output = 0, None

    def reset(self) -> None:
        """Discard all samples."""
        self._next, self._output = 0, None
        _reset(self.controller)

    def begin(self, t, q, v) -> None:
        """Take a sample if it is due."""
        if t < self._due(t):
            return
        if keeps_time(self.controller):
            self.controller.begin(t, q, v)
        self._output = _copied(self.controller(t, q, v))
        self._next = math.floor((t - self._offset) / self.sample_time + 2.0 * CLOSE) + 1

    def __call__(self, t, q, v):
        """The value of the last sample."""
        return np.zeros(len(v)) if self._output is None else self._output

    def next_time(self, t) -> float:
        """The time of the next sample [s]."""
        own = self._offset + self._next * self.sample_time
        return min(own if own > t else math.inf, next_time(self.controller, t))

    def get_state(self) -> dict:
        """The last sample and the state of the controller."""
        return {"next": self._next, "output": self._output, "controller": get_state(self.controller)}

    def set_state(self, state: dict) -> None:
        """Restore a state of `get_state`."""
        self._next, self._output = state["next"], _copied(state["output"])
        set_state(self.controller, state["controller"])

    def _due(self, t) -> float:
        return self._offset + self._next * self.sample_time - CLOSE * self.sample_time - 4e-16 * abs(t)


class Delayed:
    """A controller with a delay: its value at t acts from t + delay on.

    A controller without a rate of its own is called at every step, and its values act from the first step that begins
    no earlier than they are due. With adaptive methods only a sampled controller can be delayed.

    Parameters
    ----------
    controller : callable
        ``controller(t, q, v) -> tau``.
    delay : float
        [s]
    initial : (nv,) array_like, optional
        Joint forces until the first value [N m or N]; default zero.
    """

    @checked(initial=an_array)
    def __init__(self, controller, delay: float, initial=None) -> None:
        _time("delay", delay)
        self.controller, self.delay = controller, float(delay)
        self._initial = None if initial is None else copied(initial)
        self._waiting, self._output, self._last = deque(), self._initial, None

    def reset(self) -> None:
        """Discard all values."""
        self._waiting, self._output, self._last = deque(), self._initial, None
        _reset(self.controller)

    def begin(self, t, q, v) -> None:
        """Call the controller, and apply the values that are due."""
        if keeps_time(self.controller):
            self.controller.begin(t, q, v)
        value = _copied(self.controller(t, q, v))
        if self._last is None or not np.array_equal(self._last, value):
            self._waiting.append((t + self.delay, value))
            self._last = value
        while self._waiting and self._waiting[0][0] <= t + CLOSE * max(self.delay, 1e-3):
            self._output = self._waiting.popleft()[1]

    def __call__(self, t, q, v):
        """The value that acts now."""
        return np.zeros(len(v)) if self._output is None else self._output

    def next_time(self, t) -> float:
        """The time of the next value [s], also of the controller itself."""
        inner = next_time(self.controller, t)
        own = math.inf
        if inner < math.inf:  # else every step would be cut in two
            own = next((due for due, _ in self._waiting if due > t + CLOSE * max(self.delay, 1e-3)), math.inf)
        return min(own, inner)

    def get_state(self) -> dict:
        """The pending values and the state of the controller."""
        own = {"waiting": list(self._waiting), "output": self._output, "last": self._last}
        return own | {"controller": get_state(self.controller)}

    def set_state(self, state: dict) -> None:
        """Restore a state of `get_state`."""
        self._waiting = deque((due, _copied(value)) for due, value in state["waiting"])
        self._output, self._last = _copied(state["output"]), _copied(state["last"])
        set_state(self.controller, state["controller"])


class Sum:
    """Several controllers at once: the joint forces are the sum of theirs.

    Parameters
    ----------
    *controllers : callable
        Each ``controller(t, q, v) -> tau``, sampled, delayed, or neither.
    """

    def __init__(self, *controllers) -> None:
        if not controllers:
            raise SimulationError("simulate: a Sum of no controllers; leave the controller out instead.")
        self.controllers = controllers

    def reset(self) -> None:
        """Reset all."""
        for controller in self.controllers:
            _reset(controller)

    def begin(self, t, q, v) -> None:
        """Call `begin` of the controllers with instants of their own."""
        for controller in self.controllers:
            if keeps_time(controller):
                controller.begin(t, q, v)

    def __call__(self, t, q, v):
        """The sum of the values."""
        return sum(np.asarray(controller(t, q, v), dtype=float) for controller in self.controllers)

    def next_time(self, t) -> float:
        """The earliest next time of all controllers [s]."""
        return min(next_time(controller, t) for controller in self.controllers)

    def get_state(self) -> list:
        """The states of all."""
        return [get_state(controller) for controller in self.controllers]

    def set_state(self, state: list) -> None:
        """Restore a state of `get_state`."""
        for controller, own in zip(self.controllers, state, strict=True):
            set_state(controller, own)


@checked(dt=a_positive_number)
def check_delays(controller, dt: float) -> None:
    """Raise an error for delays that fixed steps would round up: those of controllers called at every step.

    Parameters
    ----------
    controller : callable
        As `composed` gives it.
    dt : float
        [s]
    """
    for part in parts(controller):
        if isinstance(part, Delayed):
            steps = part.delay / dt
            if not keeps_time(part.controller) and abs(steps - round(steps)) > CLOSE * max(steps, 1.0):
                raise SimulationError(
                    f"simulate: delay = {part.delay:g} s is no multiple of dt = {dt:g} s, and the controller is called "
                    f"and acts at every step only; the closest are {math.floor(steps) * dt:g} and "
                    f"{math.ceil(steps) * dt:g} s. With a controller that is Sampled, any delay is kept.",
                    delay=part.delay,
                )


def composed(controller):
    """The controller: a sequence of several is their sum."""
    return Sum(*controller) if isinstance(controller, (list, tuple)) else controller


def keeps_time(controller) -> bool:
    """Whether a controller has instants of its own: ``begin(t, q, v)`` and ``next_time(t)``."""
    return hasattr(controller, "begin") and hasattr(controller, "next_time")


def check_continuous(controller) -> None:
    """Raise an error for a delayed controller without samples: adaptive methods have no steps at which to call it."""
    for part in parts(controller):
        if isinstance(part, Delayed) and not any(isinstance(inner, Sampled) for inner in parts(part.controller)):
            raise SimulationError(
                "simulate: with an adaptive method a late controller has to be sampled, because there are no steps at "
                "which it could be called: make it a kt.control.Sampled, or use a fixed-step integrator.",
                controller=part,
            )


def parts(controller):
    """All controllers that one is made of, the outermost first."""
    yield controller
    for inner in getattr(controller, "controllers", ()) or ():
        yield from parts(inner)
    if isinstance(controller, (Sampled, Delayed)):
        yield from parts(controller.controller)


def next_time(controller, t: float) -> float:
    """The first time after t at which a controller has to be called [s]; infinity if it has no such time."""
    own = getattr(controller, "next_time", None)
    return math.inf if own is None else own(t)


def get_state(source):
    """The state of a controller or signal: by its own ``get_state``, else the data among its attributes.

    Functions are assumed to have none.
    """
    if source is None or isinstance(source, (types.FunctionType, types.BuiltinFunctionType)):
        return None
    if isinstance(source, types.MethodType):
        return get_state(source.__self__)
    if hasattr(source, "get_state"):
        return copy.deepcopy(source.get_state())
    return {name: copy.deepcopy(value) for name, value in _attributes(source).items() if _is_data(value)}


def set_state(source, state) -> None:
    """Restore a state of `get_state`."""
    if source is None or state is None:
        return
    if isinstance(source, types.MethodType):
        source = source.__self__
    if hasattr(source, "set_state"):
        source.set_state(copy.deepcopy(state))
        return
    for name, value in state.items():
        object.__setattr__(source, name, copy.deepcopy(value))


def _attributes(source) -> dict[str, object]:
    named = dict(getattr(source, "__dict__", {}))
    for kind in type(source).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if hasattr(source, name):
                named[name] = getattr(source, name)
    return named


def _is_data(value) -> bool:
    """Whether an attribute is data that may change: not a model, a compiled function, a file."""
    if isinstance(value, _DATA) or isinstance(value, (np.random.Generator, np.random.RandomState)):
        return True
    if isinstance(value, np.ndarray):
        return value.dtype != object
    if isinstance(value, dict):
        return all(_is_data(k) and _is_data(v) for k, v in value.items())
    return isinstance(value, (list, tuple, set, frozenset, deque)) and all(map(_is_data, value))


def _reset(controller) -> None:
    if hasattr(controller, "reset"):
        controller.reset()


def _copied(value):
    """A read-only copy of a controller's value."""
    if value is None:
        return None
    value = np.array(value)
    value.setflags(False)
    return value


def _time(name: str, value, *, positive: bool = False) -> None:
    known = isinstance(value, (int, float, np.integer, np.floating)) and 0 <= value <= sys.float_info.max
    if not known or (positive and value == 0):
        expected = "a positive time in seconds" if positive else "a time in seconds, not negative"
        raise NonFiniteError(f"simulate: {name} is {value!r}, expected {expected}.", name=name)
