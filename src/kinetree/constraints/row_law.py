"""The force of a bounded row as a function of its rate: friction that sticks, hard limits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from kinetree.forces.contract import present
from kinetree.spatial.scalar import absolute, is_zero, maximum, minimum, where


@dataclass(frozen=True, slots=True)
class RowLaw:
    """A decreasing relation of force and rate, with steps: ``force + [-resistance, resistance]`` at rest.

    Attributes
    ----------
    rest : scalar
        The rate at which the row sticks.
    resistance : scalar
        The largest force that keeps it there; the force against faster and slower rates. Structural zero for none.
    force : scalar
        A force that acts in any case.
    lower, upper : scalar
        The least and the greatest rate; infinite for none.

    Notes
    -----
    Source: the graphs of set-valued laws in Moreau (1988) and Acary, Brogliato (2008), section 3.9: a rate y and a
    force f obey the law if, for any ``rho > 0``, f is the projection of ``y - rho f``, see `projected`.
    """

    rest: object = 0.0
    resistance: object = 0.0
    force: object = 0.0
    lower: object = -math.inf
    upper: object = math.inf

    def scaled(self, ratio) -> RowLaw:
        """The law of a row with ``1 / ratio`` of this one's rate, and ``ratio`` times the force."""
        lower, upper = self.lower, self.upper
        if not (infinite(lower) and infinite(upper)):
            bounds = [_over(x, ratio) for x in (lower, upper)]
            if isinstance(ratio, (int, float)):
                lower, upper = bounds if ratio > 0.0 else reversed(bounds)
            else:
                lower, upper = (where(ratio > 0.0, *each) for each in (bounds, bounds[::-1]))
        return RowLaw(_over(self.rest, ratio), self.resistance * absolute(ratio), self.force * ratio, lower, upper)

    def __add__(self, other: RowLaw) -> RowLaw:
        """Both laws at once; they stick at the same rate, if both do."""
        rest = other.rest if is_zero(self.resistance) else self.rest
        lower = self.lower if infinite(other.lower) else _tighter(maximum, self.lower, other.lower)
        upper = self.upper if infinite(other.upper) else _tighter(minimum, self.upper, other.upper)
        return RowLaw(rest, self.resistance + other.resistance, self.force + other.force, lower, upper)

    @property
    def bounds(self) -> bool:
        """Whether it has more than a known force, by structure."""
        return not (is_zero(self.resistance) and infinite(self.lower) and infinite(self.upper))

    def projected(self, u, rho):
        """The force f (without ``force``) whose rate is ``u + rho f``; whether a rate is held, and which one.

        Without a bound that holds, f is one of ``-resistance``, ``resistance``.
        """
        force, held, rate = 0.0, False, 0.0
        if not is_zero(self.resistance):
            x = (self.rest - u) / rho
            held, rate = absolute(x) <= self.resistance, self.rest
            force = where(held, x, where(x > 0.0, self.resistance, -self.resistance))
        for bound, sign in ((self.lower, 1.0), (self.upper, -1.0)):
            if not infinite(bound):
                x = (bound - u) / rho
                beyond = (x - force) * sign > 0.0
                force, rate = where(beyond, x, force), where(beyond, bound, rate)
                held = beyond if held is False else held | beyond
        return force, held, rate

    def of(self, y):
        """The whole force at a rate that is allowed; of those possible at rest the least."""
        if is_zero(self.resistance):
            return self.force
        c = self.resistance
        return self.force + where(y > self.rest, -c, where(y < self.rest, c, 0.0))

    def frictional(self, force):
        """The part of a force (without ``force``) that friction gives, as far as it can."""
        return 0.0 if is_zero(self.resistance) else minimum(maximum(force, -self.resistance), self.resistance)


def sticking(load, v, dt=None) -> RowLaw:
    """Dry friction up to a load: resistance at rest, or to the impulse of a step; against a motion all of it."""
    if dt is not None:
        return RowLaw(resistance=dt * load)
    moves = absolute(v) > 0.0
    return RowLaw(resistance=where(moves, 0.0, load), force=where(moves, where(v > 0.0, -load, load), 0.0))


def limited(limits: Sequence, x, v, dt=None, restitution=0.0, predicted=None, recovery: float = 0.0) -> RowLaw:
    """Hard limits of a coordinate: at one, rates that do not leave it; in a step, those that do not pass it.

    Parameters
    ----------
    limits : sequence of 2 scalars
        The lower and the upper limit; infinite where there is none [rad or m].
    x, v : scalar
        The coordinate and its rate.
    dt : scalar, optional
        The step [s].
    restitution : scalar
        The rate after an impact over the one of arrival, where that lasts for two steps.
    predicted : scalar, optional
        The rate at the end of the step without the limits.
    recovery : float
        The part of a distance beyond a limit that a step makes up for.
    """
    bounds = []
    for limit, sign in zip(limits, (1.0, -1.0), strict=True):
        if infinite(limit):
            bounds.append(limit)
            continue
        gap, away = sign * (x - limit), sign * v
        if dt is None:
            bound = where((gap <= 0.0) & (away <= 0.0), 0.0, -math.inf)
        else:
            bound = -(where(gap > 0.0, gap, recovery * gap if recovery else 0.0) / dt)
            if present(restitution):
                back, then = -(restitution * away), sign * predicted
                hits = (gap + dt * then < 0.0) & (away < 0.0) & (back > away - then)
                bound = where(hits, back, bound)
        bounds.append(sign * bound)
    return RowLaw(lower=bounds[0], upper=bounds[1])


def infinite(x) -> bool:
    """Whether a bound is absent, by structure."""
    return isinstance(x, float) and math.isinf(x)


def _over(x, ratio: float):
    return x / ratio if not is_zero(x) else x


def _tighter(choose, x, y):
    return y if infinite(x) else choose(x, y)
