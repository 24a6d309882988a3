"""Signals in time: disturbances of the joints and pushes on bodies. Each is a function of time alone.

The noise, too: its value in an interval is drawn by a counter-based generator from the seed and the number of the
interval, so there is no state, the order of calls does not matter, and runs agree to the bit.
"""

from __future__ import annotations

import math

import numpy as np

from kinetree.arguments import a_callable, a_model, a_name, a_number, an_array, checked, number, whole
from kinetree.integrators.user_code import copied
from kinetree.native.arrays import wrenches_by_name
from kinetree.simulation.options import A_TIME


def _a_key(what: str, value: object) -> None:
    whole(what, value, "a whole number from 0 to 2^128 - 1", least=0, most=2**128 - 1)


class Sine:
    """``amplitude sin(2 pi frequency t + phase)``.

    Parameters
    ----------
    amplitude : (n,) array_like
    frequency : float
        [Hz]
    phase : float
        [rad]
    """

    __slots__ = ("_amplitude", "_frequency", "_phase")

    @checked(amplitude=an_array, frequency=a_number, phase=a_number)
    def __init__(self, amplitude, frequency: float, phase: float = 0.0) -> None:
        self._amplitude = copied(amplitude)
        self._frequency, self._phase = float(frequency), float(phase)

    def __call__(self, t: float) -> np.ndarray:
        """The value at t."""
        return self._amplitude * math.sin(2.0 * math.pi * self._frequency * t + self._phase)

    def get_state(self) -> None:
        """None: a signal is a function of time."""


class Pulse:
    """A constant value from ``start`` for ``duration``, zero otherwise. Steps end at both ends.

    Parameters
    ----------
    value : array_like
        (nv,) for joints, (nb, 6) for bodies; see also `push`.
    start, duration : float
        [s]
    """

    __slots__ = ("_end", "_start", "_value")

    @checked(value=an_array, start=a_number)
    def __init__(self, value, start: float, duration: float) -> None:
        self._value = copied(value)
        self._start, self._end = float(start), float(start) + number("duration", duration, A_TIME, above=0.0)

    def __call__(self, t: float) -> np.ndarray:
        """The value at t."""
        return self._value if self._start <= t < self._end else np.zeros_like(self._value)

    def next_time(self, t: float) -> float:
        """The next of its two ends [s]."""
        return next((end for end in (self._start, self._end) if end > t), math.inf)

    def get_state(self) -> None:
        """None: a signal is a function of time."""


class Noise:
    """Normally distributed values, new ones in every interval of ``sample_time``, constant in between.

    Parameters
    ----------
    deviation : array_like
        Standard deviation of each entry.
    sample_time : float
        [s]; steps end where the value changes.
    seed : int

    Examples
    --------
    >>> import kinetree as kt
    >>> noise = kt.signals.Noise([0.1, 0.2], sample_time=0.01, seed=3)
    >>> bool((noise(0.014) == noise(0.011)).all()), bool((noise(0.014) == noise(0.021)).any())
    (True, False)
    """

    __slots__ = ("_deviation", "_kept", "_seed", "sample_time")

    @checked(deviation=an_array, seed=_a_key)
    def __init__(self, deviation, sample_time: float, seed: int) -> None:
        self._deviation = copied(deviation)
        self.sample_time, self._seed = number("sample_time", sample_time, A_TIME, above=0.0), int(seed)
        self._kept = (-1, None)

    def __call__(self, t: float) -> np.ndarray:
        """The value at t."""
        number = self._number(t)
        kept, value = self._kept
        if kept != number:
            key = np.random.Philox(key=self._seed, counter=[0, 0, 0, max(number, 0)])
            value = copied(self._deviation * np.random.Generator(key).standard_normal(self._deviation.shape))
            self._kept = (number, value)
        return value

    def next_time(self, t: float) -> float:
        """Where the next interval begins [s]."""
        return (self._number(t) + 1) * self.sample_time

    def get_state(self) -> None:
        """None: noise is a function of seed and time."""

    def _number(self, t: float) -> int:
        return math.floor(t / self.sample_time + 1e-9 + 4e-16 * abs(t) / self.sample_time)


class _Sum:
    """Several signals at once."""

    __slots__ = ("_signals",)

    def __init__(self, signals) -> None:
        self._signals = signals

    def __call__(self, t: float) -> np.ndarray:
        return sum(signal(t) for signal in self._signals)

    def next_time(self, t: float) -> float:
        return min(s.next_time(t) for s in self._signals if hasattr(s, "next_time"))


def together(*signals):
    """The sum of several signals."""
    for signal in signals:
        a_callable("together: a signal", signal)
    if any(hasattr(signal, "next_time") for signal in signals):
        return _Sum(signals)
    return lambda t: sum(signal(t) for signal in signals)


@checked(model=a_model, body=a_name, force=an_array, start=a_number)
def push(model, body: str, force, start: float, duration: float) -> Pulse:
    """A wrench on one body for a time, for ``f_ext``.

    Parameters
    ----------
    model : Model
    body : str
    force : (6,) array_like
        [moment; force] in world coordinates about the world's origin [N m, N].
    start, duration : float
        [s]

    Returns
    -------
    Pulse

    Examples
    --------
    >>> import kinetree as kt
    >>> arm = kt.load("double_pendulum")
    >>> kick = kt.signals.push(arm, arm.body_names[1], [0, 0, 0, 5, 0, 0], start=0.1, duration=0.02)
    >>> run = kt.simulate(arm, duration=0.2, dt=0.015, inputs=kt.Inputs(f_ext=kick))
    >>> [round(t, 3) for t in run.time[[6, 7, 8, 9, 10]].tolist()]
    [0.09, 0.1, 0.115, 0.12, 0.135]
    """
    return Pulse(wrenches_by_name("signals.push", model, "force", {body: force}), start, duration)
