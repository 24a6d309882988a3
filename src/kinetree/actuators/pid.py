"""Controllers of position and velocity within an actuator: proportional, integral and derivative action.

Source: MuJoCo, XML reference, ``actuator/pid``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kinetree.actuators.dynamics import clipped
from kinetree.actuators.law import Law, nearest
from kinetree.spatial.scalar import maximum, minimum, where

INPUTS = ("position", "velocity", "feedforward")


@dataclass(frozen=True)
class PIDLaw(Law):
    """``F = kp (r - L) + ki z + kv (r' - V) + f``, z the integral of r - L; inputs that are not there are zero.

    Parameters
    ----------
    name : str
    gear : float
    present : tuple of str
        Those of the inputs r, r' and f, "position", "velocity" and "feedforward", that it has.
    kp, kv : float
        Gains [N/m, N s/m, or N m/rad and N m s/rad].
    ki : float, optional
        Gain of the integral, an internal state [N/(m s)].
    integral_limit : float, optional
        The integral does not grow beyond it [m s].
    slew : float, optional
        The fastest change of the position set point, which is an internal state then [m/s].
    step : float, optional
        Over which that set point changes [s].
    position_range, velocity_range, feedforward_range, force_range : tuple of 2 floats, optional
    """

    name: str
    gear: float
    present: tuple[str, ...]
    kp: float
    kv: float
    ki: float | None = None
    integral_limit: float | None = None
    slew: float | None = None
    step: float | None = None
    position_range: tuple | None = None
    velocity_range: tuple | None = None
    feedforward_range: tuple | None = None
    force_range: tuple | None = None

    measures = (
        "gear", "kp", "kv", "ki", "integral_limit", "slew", "step", "position_range", "velocity_range",
        "feedforward_range", "force_range",
    )  # fmt: skip
    reads_motion = True

    @property
    def inputs(self) -> tuple[str, ...]:
        return self.present if len(self.present) > 1 else ("control",)

    @property
    def states(self) -> tuple[str, ...]:
        slew, integral = ("set_point",) * (self.slew is not None), ("integral",) * (self.ki is not None)
        return slew + integral

    def state_rate(self, length, velocity, x, u, period=None):
        rates, error = self._error(length, x, u, period)
        return rates if self.ki is None else [*rates, wound(x[-1], error, self.integral_limit)]

    def unclamped(self, length, velocity, x, u, period=None):
        _, error = self._error(length, x, u, period)
        force = self.kp * error + self.kv * (self._input("velocity", u) - velocity) + self._input("feedforward", u)
        return force if self.ki is None else force + self.ki * x[-1]

    def _error(self, length, x: Sequence, u: Sequence, period) -> tuple[list, object]:
        """The rate of the set point, if it is a state, and its error."""
        target, rates = self._input("position", u), []
        if self.slew is not None:
            rates = [slewed(nearest(target - x[0], period), self.slew, self.step)]
            target = x[0] + self.step * rates[0]
        return rates, nearest(target - length, period)

    def _input(self, what: str, u: Sequence):
        given = dict(zip(self.present, u, strict=True)).get(what, 0.0)
        return clipped(given, getattr(self, f"{what}_range"))


def slewed(change, slew, step):
    """The rate of a change in a step, or as fast as it may."""
    return clipped(change / step, (-slew, slew))


def wound(integral, rate, limit):
    """The rate of an integral that does not grow beyond a limit."""
    if limit is None:
        return rate
    return where(integral >= limit, minimum(rate, 0.0), where(integral <= -limit, maximum(rate, 0.0), rate))
