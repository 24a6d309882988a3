"""Embedded pairs for mechanisms with loops, through singular positions.

There rounding and the errors of stages are amplified without bound, so that no step would be short enough. Within
0.005 rad of a singular position, or where steps have become as short as rounding next to one, the same pair takes steps
of a tenth of that with the model that `Model.passing` gives, without a tolerance.
"""

from __future__ import annotations

import math

from kinetree.integrators.singular_steps import AT_REST, Distance, passing

NEAR, STUCK = 5e-3, 0.1  # [rad] distances: of special steps; at most, where steps fail
PART = 0.1  # of NEAR: motion in a special step
LONGEST = 1e-3  # [s] of special steps, from rest
ANY = 1e9  # tolerance of special steps
PROBE = 1e-6  # [s] over which the change of the distance is measured


class PairThroughSingular:
    """An embedded pair, step by step, as `EmbeddedRungeKutta`.

    Parameters
    ----------
    make : callable
        ``make(system, rtol, atol)`` is the pair.
    system : System
    rtol, atol : float
    passages : Passages
        Singular positions are added there.
    """

    def __init__(self, make, system, rtol: float, atol: float, passages) -> None:
        self._make, self._system, self._passages = make, system, passages
        self._usual, self._special = make(system, rtol, atol), None
        self._last = self._usual
        self._distance, self._before = Distance(system), math.inf

    def __getattr__(self, name: str):
        if name == "_last":  # of an object that is being made from a pickle
            raise AttributeError(name)
        return getattr(self._last, name)

    @property
    def evaluations(self) -> int:
        """Since the start."""
        return self._total("evaluations")

    @property
    def steps(self) -> int:
        """Since the start."""
        return self._total("steps")

    @property
    def rejections(self) -> int:
        """Since the start."""
        return self._total("rejections")

    def _total(self, name: str) -> int:
        return sum(getattr(one, name) for one in (self._usual, self._special) if one is not None)

    def start(self, t: float, q, v, end: float) -> None:
        """Begin at a state."""
        distance, _ = self._distance(t, PROBE, q, v)
        if distance < NEAR:
            self._usual.t, self._usual.q, self._usual.v = t, q, v
        else:
            self._usual.start(t, q, v, end)
        self._last, self._before = self._usual, math.inf

    def step(self, end: float) -> bool:
        """One accepted step, at most to ``end`` [s]; False if the steps have become as short as rounding."""
        last = self._last
        distance, change = self._distance(last.t, PROBE, last.q, last.v)
        leaving, self._before = distance > self._before, distance
        if distance >= NEAR and (last is self._usual or leaving):
            if last is not self._usual:
                self._usual.start(last.t, last.q, last.v, end)
                self._last = self._usual
            if self._usual.step(end):
                return True
            if distance > STUCK:
                return False
        return self._special_step(end, distance, change / PROBE)

    def _special_step(self, end: float, distance: float, rate: float) -> bool:
        before = self._last
        if self._special is None:
            self._special = self._make(passing(self._system), ANY, ANY)
        longest = min(LONGEST, PART * NEAR / max(rate, AT_REST))
        self._passages.add(before.t, longest, distance, before.q, before.v)
        self._special.restart(before.t, before.q, before.v, end, longest)
        self._last = self._special
        return self._special.step(end)
