"""Motions through singular positions, where rows of loops depend on each other that are independent elsewhere.

At a flat four-bar a combination w of the rows has no entries, ``w^T K = 0``, and the rows leave an acceleration open.
The motion is determined there by the rates of the rows, since ``K a + b = 0`` holds before and after:

    (Kdot + db/dv) a = -(db/dq) v - K da/dt,

whose last term vanishes for w. `PassingSystem` takes the rows, and these with a small weight: they matter next to
singular positions alone, where a pivot of the rows is smaller than the square of the weight. At rest they vanish, and
the accelerations are those of least multipliers. Forces along the rates do no work at a singular position.
"""

from __future__ import annotations

import functools

from kinetree.algorithms.constrained import constrained_system
from kinetree.algorithms.couplings import typical_pivots
from kinetree.algorithms.manifold import integrate
from kinetree.algorithms.pivoted_rows import PivotedSystem
from kinetree.algorithms.state_slopes import state_slopes
from kinetree.spatial.scalar import minimum, sqrt, where
from kinetree.state_kinematics import Kinematics

WEIGHT = 1e-3  # of rates along a unit of velocity, relative to the rows: about a tenth of the motion in a step
SLOW = 1e-3  # [rad/s or m/s] rates of slower motions have less weight
NEAR = 1e-3  # of typical pivots: where they are larger, the rates have no weight at all
LEAST = 1e-8  # of the largest pivot: smaller ones move no state by projection, which errors of steps would amplify


def passing_solver(model):
    """The class of the system for a model whose steps go through singular positions; None for others."""
    return PassingSystem if model._is_passing else None


class PassingSystem(PivotedSystem):
    """The system of the rows, and of their rates next to singular positions; see `PivotedSystem`."""

    least = LEAST

    def __init__(self, model, M, kin, given=None, columns=None) -> None:
        super().__init__(model, M, kin, given, columns)
        self._kin, self._given = kin, given or {}

    def accelerations(self, f, k) -> tuple[list, list]:
        """``G y`` of all velocity coordinates, and lambda of the rows."""
        a, lam = RatedSystem(self).accelerations(f, [*k, *self.rates[1]])
        return a, lam[: len(self.rows)]

    @functools.cached_property
    def rates(self) -> tuple[list, list]:
        """Rows of the rates, with their weight, and their right-hand sides."""
        kin, n, m = self._kin, self.model.nv, len(self.rows)
        entries = [(r, j) for r, row in enumerate(self.rows) for j in row]

        def formulas(model, q, v, given):
            here = Kinematics(model, q, v)
            rows, bias = _rows_of(model, here, self.numbers)
            return [*bias, *(rows[r][j] for r, j in entries)]

        slopes = state_slopes(self.model, kin.q, kin.v, formulas)
        along = [sum((x * kin.v[d] for d, x in slope.items() if d < n), start=0.0) for slope in slopes]
        found = [{d - n: x for d, x in slope.items() if d >= n} for slope in slopes[:m]]
        for (r, j), x in zip(entries, along[m:], strict=True):
            found[r][j] = found[r].get(j, 0.0) + x
        weight = self._weight()
        right = [-weight * (x + sum((row[j] * a for j, a in self._given.items() if j in row), start=0.0))
                 for x, row in zip(along[:m], found, strict=True)]  # fmt: skip
        return [{j: weight * x for j, x in row.items()} for row in found], right

    def _weight(self):
        """The weight of the rates, for the velocities in loops; zero away from singular positions."""
        moving = sorted({j for row in self.rows for j in row})
        weight = WEIGHT / sqrt(sum((self._kin.v[j] * self._kin.v[j] for j in moving), start=SLOW * SLOW))
        place = [m for m, n in enumerate(self.numbers) if n in self.model.loop_rows().coordinates]
        typical = typical_pivots(self.model, [self.numbers[m] for m in place], self.columns)
        size = functools.reduce(minimum, [x / self.sizes[m] ** 2 for m, x in zip(place, typical, strict=True)])
        return where(self.pivots.sizes[-1] < NEAR * size, weight, 0.0)


class RatedSystem(PivotedSystem):
    """The rows of a `PassingSystem` and their rates, as one system."""

    def __init__(self, system: PassingSystem) -> None:
        self.model, self.columns, self.above, self.H = system.model, system.columns, system.above, system.H
        self.factors, self.steps = system.factors, system.steps
        self.rows, self.sizes = [*system.rows, *system.rates[0]], system.sizes * 2
        self.numbers = system.numbers * 2


def _rows_of(model, kin, numbers) -> tuple[list, list]:
    """Entries and biases of the rows of these numbers."""
    rows, bias, first = [], [], 0
    for c in model.constraints:
        mine = [n - first for n in numbers if first <= n < first + c.count(model)]
        if mine:
            of, rates = c.rows(kin), c.bias(kin)
            rows += [of[n] for n in mine]
            bias += [rates[n] for n in mine]
        first += c.count(model)
    return rows, bias


def loop_pivot(model, q):
    """The smallest pivot of the rows of loops, relative to typical positions: about the square of the distance [rad]
    to a singular position."""
    return functools.reduce(minimum, constrained_system(model, Kinematics(model, q), given={}).relative_pivots(), 1.0)


def pivots_around(model, q, v, h):
    """`loop_pivot` at a position, and at those a time h later and earlier at the same velocities."""
    ahead, behind = (integrate(model, q, [x * v_k for v_k in v[: model.nv]]) for x in (h, -h))
    return loop_pivot(model, q), loop_pivot(model.after(h), ahead), loop_pivot(model.after(-h), behind)
