r"""Velocities that constraints allow, by independent ones: ``v = G y + g`` with ``K G = 0``.

Couplings give velocities from others at constant ratios, explicit constraints ``q = gamma(y)`` at those of dgamma/dy,
by substitution. Of the other rows K of loops the dependent columns are eliminated (Featherstone, eq. 8.48-8.51), by
rotations of rows, so that no pivots are chosen: G exists wherever the independent velocities determine the others.
"""

from __future__ import annotations

import functools

import numpy as np

from kinetree.algorithms.constrained import equality_rows, given_accelerations
from kinetree.algorithms.couplings import coupling_columns, expanded, weighted_row
from kinetree.algorithms.domain import CLOSED_LOOPS, CONSTRAINTS, UNIT_QUATERNIONS
from kinetree.algorithms.matrices import dot, transposed
from kinetree.algorithms.row_elimination import Triangular, vanishes
from kinetree.algorithms.spec import algorithm
from kinetree.errors import SingularityError
from kinetree.state_kinematics import Kinematics


class NullSpace:
    """G of one position, and accelerations that satisfy ``K a = k``.

    Parameters
    ----------
    model : Model or ScalarModel
    kin : Kinematics
    independent : sequence of int, optional
        Velocity coordinates y, those of ``model.independent_velocities()`` by default.
    given : dict, optional
        Accelerations of velocity coordinates that are known.

    Attributes
    ----------
    numbers, rows : list
        As for `ConstrainedSystem`.
    columns : list
        Of the couplings.
    chosen : sequence of int
        The velocity coordinates y.
    whole : list
        The rows over the columns.
    left : list of int
        The columns that no explicit constraint gives.
    K : list
        The rows without those of explicit constraints, over these columns.
    """

    def __init__(self, model, kin, independent=None, given=None) -> None:
        model.check_held("independent velocities")
        self.model, self.kin, self.given = model, kin, given or {}
        self.chosen = model.independent_velocities() if independent is None else independent
        self.columns = coupling_columns(model)
        number = {column[0][0]: m for m, column in enumerate(self.columns)}
        self.numbers, self.rows, self.k = equality_rows(model, kin, self.given)
        self.whole = [[weighted_row(row, column) for column in self.columns] for row in self.rows]
        self._followers = substitutions(
            self.whole, [(n, number.get(k)) for n, k in self._explicit_rows(kin) if k not in self.chosen]
        )
        gone = dict(self._followers)
        self.left = [m for m in range(len(self.columns)) if m not in gone.values()]
        self._others = [n for n in range(len(self.rows)) if n not in gone]
        self.place = [self.left.index(number[k]) for k in self.chosen]
        self.K = self.whole
        if self._followers:
            units = [self._followed([float(m == j) for j in self.left]) for m in self.left]
            self.K = [[dot(self.whole[n], unit) for unit in units] for n in self._others]

    def _explicit_rows(self, kin):
        """The places of rows that give a velocity from others, and which."""
        place = {n: place for place, n in enumerate(self.numbers)}
        for c, numbers in self.model.constraint_rows():
            for n, joint in zip(numbers, c.followers, strict=False):
                if n in place:
                    yield place[n], kin.dof(joint)

    def _followed(self, x, k=None) -> list:
        """All columns from those that are left, where rows of explicit constraints have these right-hand sides."""
        found = [0.0] * len(self.columns)
        for m, x_m in zip(self.left, x, strict=True):
            found[m] = x_m
        for n, m in self._followers:
            right = 0.0 if k is None else k[n]
            found[m] = right - dot(self.whole[n], found)
        return found

    @functools.cached_property
    def triangular(self) -> Triangular:
        """K, triangular in the dependent columns."""
        found = Triangular(self.K, [m for m in range(len(self.left)) if m not in self.place])
        if found.free or found.rest:
            raise SingularityError("the independent velocities do not determine the others")
        return found

    @functools.cached_property
    def by_column(self) -> list:
        """The columns of G."""
        return [self.solution([float(n == m) for n in self.place]) for m in self.place]

    def expanded(self, x, k=None) -> list:
        """All velocities from those of the columns that are left, for right-hand sides of all rows."""
        return expanded(self.model, self.columns, self._followed(x, k))

    def remaining(self, k) -> list:
        """Right-hand sides of the rows K from those of all rows."""
        constant = self._followed([0.0] * len(self.left), k)
        return [k[n] - dot(self.whole[n], constant) for n in self._others]

    def solution(self, y, k=None) -> list:
        """All velocities with these independent ones, for right-hand sides of all rows, by default zero."""
        x, rest = [0.0] * len(self.left), [0.0] * len(self.K)
        for m, y_m in zip(self.place, y, strict=True):
            x[m] = y_m
        right = rest if k is None else self.triangular.turned(self.remaining(k))
        return self.expanded(self.triangular.solved(x, right), k)

    @property
    def G(self) -> list:
        """G by rows."""
        return transposed(self.by_column) if self.place else [[] for _ in range(self.model.nv)]

    def accelerations(self, y) -> list:
        """All accelerations with these of the independent velocities."""
        a = self.solution(y, self.k)
        for k, a_k in self.given.items():
            a[k] = a[k] + a_k
        return a


def substitutions(K, entries) -> list:
    """Of entries (row, column) that are 1 those which can be solved for one after another, in this order."""
    left, found = [(n, m) for n, m in entries if m is not None and is_one(K[n][m])], []
    while left:
        columns = {m for _, m in left}
        ready = [(n, m) for n, m in left if all(vanishes(K[n][j]) for j in columns - {m})]
        if not ready:
            break
        found += ready
        left = [each for each in left if each not in ready]
    return found


def is_one(x) -> bool:
    return isinstance(x, float) and x == 1.0


def null_space_at(model, q, v=None, independent=None) -> NullSpace:
    """The null space of a state; without v for velocities alone."""
    kin = Kinematics(model, q, v)
    return NullSpace(model, kin, independent, given_accelerations(model, kin) if v is not None else None)


def closed_acceleration(model, q, v, rng) -> np.ndarray:
    """Random accelerations that keep loops closed in a state (nv)."""
    space = null_space_at(model, q.tolist(), v.tolist())
    return np.array(space.accelerations(rng.standard_normal(len(space.place)).tolist()), float)


@algorithm(inputs="q", outputs="G", static=("independent",))
def closed_loops_null_space(model, q, *, independent=None):
    r"""Velocities that all constraints allow, as a linear function of independent ones.

    .. math:: v = G(q)\, y, \qquad K G = 0

    Notes
    -----
    Source: Featherstone (2008), eq. 8.48-8.51. Differs: dependent velocities are eliminated by rotations of rows
    instead of a search for pivots, so compiled code has no branches and fails only where y does not determine v. Rows
    of G at the independent velocities are those of the unit matrix. Prescribed motions add velocities that are not in
    G.
    Identity: ``constraint_jacobian(q) @ G = 0``.

    See Also
    --------
    closed_loops_reduced_mass_matrix, closed_loops_accelerations

    Examples
    --------
    The rates of coupler and rocker of a four-bar for a unit rate of its crank:

    >>> import kinetree as kt
    >>> model = kt.models.four_bar()
    >>> kt.closed_loops.null_space(model, model.keyframe("initial")[0], independent=["crank"]).round(6).tolist()
    [[1.0], [-1.21296], [0.195362]]
    """
    return null_space_at(model, q, None, independent).G


@algorithm(
    inputs="q v a_independent",
    outputs="a",
    static=("independent",),
    domains=(UNIT_QUATERNIONS, CONSTRAINTS, CLOSED_LOOPS),
)
def closed_loops_accelerations(model, q, v, a_independent, *, independent=None):
    r"""Accelerations of all joints that keep loops closed, from those of independent ones.

    .. math:: a = G\, \dot y + \dot G\, y + \dot g

    Notes
    -----
    Source: Featherstone (2008), eq. 8.42 and 8.48-8.51. Identity: ``inverse_dynamics`` takes them.

    See Also
    --------
    closed_loops_null_space, inverse_dynamics

    Examples
    --------
    >>> import kinetree as kt, numpy as np
    >>> model = kt.models.four_bar()
    >>> q, v = model.keyframe("initial")
    >>> a = kt.closed_loops.accelerations(model, q, v, [3.0], independent=["crank"])
    >>> kt.inverse_dynamics(model, q, v, a, actuated=["crank"]).round(6).tolist()
    [17.371044, 0.0, 0.0]
    """
    return null_space_at(model, q, v, independent).accelerations(a_independent)
