"""The equations of motion under constraints, and their one solution.

Constraints that give velocities from others, ``v = G y + g`` (couplings, locks, prescribed motions), are eliminated
(book, eq. 3.20); the rows ``K y' = k`` of all other equalities join by multipliers (eq. 8.3):

    H y' = f + K^T lambda,    H = G^T M G = L^T D L,    A = K H^-1 K^T = W^T D^-1 W,    W = L^-T K^T,
    A lambda = k - W^T D^-1 L^-T f,    y' = L^-1 D^-1 (L^-T f + W lambda).

One half solve with the factor of the tree's pattern gives A and both right-hand sides. Rows whose forces are bounded
are solved by `kinetree.algorithms.bounded_rows`.
"""

from __future__ import annotations

import functools

from kinetree.algorithms.aba import articulated_accelerations
from kinetree.algorithms.axes import turns_about_several_axes
from kinetree.algorithms.base_inertia import base_inertias_unless_deep
from kinetree.algorithms.bounded_rows import (
    bounded_solution,
    column_laws,
    has_wide_rows,
    response,
    row_laws,
    split_forces,
    wide_rows,
)
from kinetree.algorithms.bounded_rows_in_loops import bounded_forces_in_loops
from kinetree.algorithms.cluster_choice import clusters_pay
from kinetree.algorithms.couplings import (
    coupled_rows,
    coupling_columns,
    expanded,
    projected,
    typical_pivots,
    weighted,
    weighted_row,
    weighted_scales,
)
from kinetree.algorithms.crba import crba
from kinetree.algorithms.inverse_mass import inverse_mass_matrix
from kinetree.algorithms.loop_clusters import ClusterSystem
from kinetree.algorithms.matrices import dot, minus
from kinetree.algorithms.rnea import bias_forces, outward_pass, rnea
from kinetree.algorithms.sparse import ltdl_factors, solve_lower, solve_lower_transpose, solve_ltdl
from kinetree.spatial.scalar import is_zero, where
from kinetree.state_kinematics import Kinematics

WIDE = "wide"


def constrained_accelerations(model, q, v, tau, f_ext, diagonal, added=None, *, multipliers=False, solver=None):
    """``(M + diag(diagonal) + added) a = tau - c + G^T lambda`` under the model's constraints, M that of the bodies.

    With ``multipliers``, a and lambda, one for each row of ``model.constraints``; zero for rows that are left out.
    ``solver`` is the class of the system, by default the one that takes fewer operations.
    """
    if solver is None and not model.constraints and not added and not matrix_pays(model):
        a = articulated_accelerations(model, q, v, tau, f_ext, diagonal)
        return (a, []) if multipliers else a
    if solver is None and not added and clusters_pay(model):
        return cluster_accelerations(model, q, v, tau, f_ext, diagonal, multipliers)
    M, force = stiffened_matrix(model, q, diagonal, added), minus(tau, bias_forces(model, q, v, f_ext))
    kin = Kinematics(model, q, v)
    given = given_accelerations(model, kin)
    system = (solver or ConstrainedSystem)(model, M, kin, given)
    laws, wide = row_laws(model, kin), wide_rows(model, kin)
    f = force
    for k, rows in laws.items():
        for _, law in rows:
            f = [*f[:k], f[k] + law.force, *f[k + 1 :]]
    for each in wide.values():
        f = [x + each.row[k] * each.law.force if k in each.row else x for k, x in enumerate(f)]
    for k, a_k in given.items():
        f = [x - row[k] * a_k for x, row in zip(f, M, strict=True)]
    a, lam, totals = system.bounded_accelerations(f, system.k, laws, wide, given)
    for j, a_j in given.items():
        a[j] = a[j] + a_j
    if not multipliers:
        return a
    found = dict(zip(system.numbers, lam, strict=True)) | split_forces(laws, system.columns, totals)
    found |= {n: totals[WIDE, n] + each.law.force for n, each in wide.items()}
    rest = minus([dot(row, a) for row in M], force)
    bounded = [(n, {k: 1.0}) for k, rows in laws.items() for n, _ in rows]
    bounded += [(n, each.row) for n, each in wide.items()]
    for n, row in (*zip(system.numbers, system.rows, strict=True), *bounded):
        _take(rest, row, found[n])
    return a, eliminated_multipliers(model, kin, rest, found)


def cluster_accelerations(model, q, v, tau, f_ext, diagonal, multipliers=False):
    """The same without bounded forces, by articulated bodies over loop clusters."""
    kin = Kinematics(model, q, v)
    given = given_accelerations(model, kin)
    system = ClusterSystem(model, kin, diagonal, equality_rows(model, kin, given))
    known = [given.get(k, 0.0) for k in range(model.nv)] if given else None
    *_, pA = outward_pass(model, q, v, known, f_ext, base_inertias_unless_deep(model))
    f = [x - diagonal[k] * given[k] if k in given else x for k, x in enumerate(tau)]
    a, lam = system.solve(f, pA, system.k)
    for j, a_j in given.items():
        a[j] = a[j] + a_j
    if not multipliers:
        return a
    found = dict(zip(system.numbers, lam, strict=True))
    if len(found) == model.nc:
        return a, [found[n] for n in range(model.nc)]
    rest = minus(rnea(model, q, v, a, f_ext), tau)
    rest = [x + (d - own) * a_k for x, d, own, a_k in zip(rest, diagonal, model.armature, a, strict=True)]
    for n, row in zip(system.numbers, system.rows, strict=True):
        _take(rest, row, found[n])
    return a, eliminated_multipliers(model, kin, rest, found)


def step_velocities(model, q, v, tau, dt, f_ext, diagonal, added=None):
    """Velocities after a step of ``(M + diag(diagonal) + added) (v+ - v) = dt (tau - c) + impulses`` of bounded rows.

    Velocities at which rows hold are exact, so joints at rest stay at rest.
    """
    M, force = stiffened_matrix(model, q, diagonal, added), minus(tau, bias_forces(model, q, v, f_ext))
    impulse = [dt * x + dot(row, v) for x, row in zip(force, M, strict=True)]
    kin = Kinematics(model, q, v)
    given = {k: v[k] + dt * a_k for k, a_k in given_accelerations(model, kin).items()}
    system = ConstrainedSystem(model, M, kin, {})
    rates = rest_rates(model, system.numbers, q)
    for k, v_k in given.items():
        impulse = [x - row[k] * v_k for x, row in zip(impulse, M, strict=True)]
        rates = [x - row[k] * v_k if k in row else x for x, row in zip(rates, system.rows, strict=True)]
    laws, wide = (functools.partial(rows, model, kin, dt) for rows in (row_laws, wide_rows))
    wide = wide if has_wide_rows(model, kin) else None
    v_next = system.bounded_accelerations(impulse, rates, laws, wide, given)[0]
    return [given.get(k, x) for k, x in enumerate(v_next)]


def rest_rates(model, numbers, q) -> list:
    """``K v`` of velocities that keep rows: zero, but for rows that depend on time."""
    kin, found, first = Kinematics(model, q), {}, 0
    for c in model.constraints:
        count = c.count(model)
        if any(first <= n < first + count for n in numbers):
            found |= {first + n: -x for n, x in enumerate(c.rate(kin))}
        first += count
    return [found[n] for n in numbers]


def stiffened_matrix(model, q, diagonal, added=None):
    """``M + diag(diagonal) + added``, M that of the bodies alone."""
    M = crba(model, q)
    for k in range(model.nv):
        M[k][k] = M[k][k] - model.armature[k] + diagonal[k]
        for m, x in enumerate(added[k] if added else ()):
            M[k][m] = M[k][m] + x
    return M


def constrained_system(model, kin, diagonal=None, added=None, given=None):
    """The `ConstrainedSystem` of a state, or its `ClusterSystem` where that takes fewer operations.

    ``diagonal`` is the armature by default, see `stiffened_matrix`; ``given`` as for `ConstrainedSystem`.
    """
    diagonal = model.armature if diagonal is None else diagonal
    if not added and clusters_pay(model):
        given = given_accelerations(model, kin) if given is None else given
        return ClusterSystem(model, kin, diagonal, equality_rows(model, kin, given))
    return ConstrainedSystem(model, stiffened_matrix(model, kin.q, diagonal, added), kin, given)


class Factorized:
    """``H = G^T M G = L^T D L``: the columns of G, or some of them, the pattern of L, and the factors.

    Row k of the independent system is a joint and all joints that turn with it, weighted by their ratios. Rows stand
    where the innermost of these joints does, so that elimination from the leaves inward fills as little as it can.
    """

    def __init__(self, model, M, columns=None) -> None:
        columns = coupling_columns(model) if columns is None else columns
        self.model, self.columns = model, sorted(columns, key=lambda column: min(k for k, _ in column))
        self.above = coupled_rows(M, self.columns)
        self.H = [[0.0] * len(self.columns) for _ in self.columns]
        for m, column in enumerate(self.columns):
            for n in (m, *self.above[m]):
                self.H[m][n] = projected(M, column, self.columns[n])

    @functools.cached_property
    def factors(self) -> tuple:
        """L and D of ``H = L^T D L``."""
        return ltdl_factors(self.H, self.above, weighted_scales(self.model, self.columns))

    def solve(self, f) -> list:
        """``H^-1 f``."""
        return solve_ltdl(*self.factors, f, self.above)


class ConstrainedSystem(Factorized):
    """``H y = f + K^T lambda``, ``K y = k`` of one position, with the factors of H and of ``A = K H^-1 K^T``.

    Parameters
    ----------
    model : Model or ScalarModel
    M : nested sequence of scalars
        The mass matrix, with all that is added to it.
    kin : Kinematics
        Its velocities are read for k alone.
    given : dict, optional
        Accelerations of velocity coordinates that are known, those of `given_accelerations` by default.
    columns : sequence, optional
        Of G, if some of the velocities are known.
    numbers : collection of int, optional
        Of the rows to take, by default those that do not depend on each other.

    Attributes
    ----------
    numbers : list of int
        Of the rows K among the rows of ``model.constraints``: those of equalities which are not eliminated, without
        rows that others imply.
    rows : list of dict
        Their entries by velocity coordinate.
    k : list
        Right-hand sides of accelerations: minus the bias, and minus the rows times the given accelerations.
    """

    def __init__(self, model, M, kin, given=None, columns=None, numbers=None) -> None:
        super().__init__(model, M, columns)
        given = given_accelerations(model, kin) if given is None else given
        self.numbers, self.rows, self.k = equality_rows(model, kin, given, numbers)
        self.below = [tuple(reversed(range(m))) for m in range(len(self.rows))]

    @functools.cached_property
    def K(self) -> list:
        """The rows over the independent velocities."""
        return [[weighted_row(row, column) for column in self.columns] for row in self.rows]

    @functools.cached_property
    def W(self) -> list:
        """``L^-T K^T``, by rows of K."""
        return [solve_lower_transpose(self.factors[0], row, self.above, unit=True) for row in self.K]

    @functools.cached_property
    def scaled(self) -> list:
        """``D^-1 W``."""
        return [[x if is_zero(x) else x / d for x, d in zip(w, self.factors[1], strict=True)] for w in self.W]

    @functools.cached_property
    def A(self) -> list:
        """The lower triangle of ``K H^-1 K^T = W^T D^-1 W``."""
        return [[dot(w, u) for w in self.scaled[: m + 1]] for m, u in enumerate(self.W)]

    @functools.cached_property
    def factors_A(self) -> tuple:
        """L and D of A."""
        return ltdl_factors(self.A, self.below, typical_pivots(self.model, self.numbers, self.columns))

    def relative_pivots(self) -> list:
        """The pivots of A, relative to those of typical positions."""
        typical = typical_pivots(self.model, self.numbers, self.columns)
        return [x / size for x, size in zip(self.factors_A[1], typical, strict=True)]

    def multipliers(self, right) -> list:
        """``A^-1 b``."""
        return solve_ltdl(*self.factors_A, right, self.below)

    def accelerations(self, f, k) -> tuple[list, list]:
        """``G y`` of all velocity coordinates and lambda, for joint forces f (nv) and one k for each of the rows."""
        y, lam = self._solved([weighted(f, column) for column in self.columns], k)
        return expanded(self.model, self.columns, y), lam

    def correction(self, r) -> list:
        """The change of velocity with ``K dv = -r`` that is least in the metric of M (nv); r one for each of the rows.

        For errors of position the step ``q (+) dv`` is one of Newton's method.
        """
        L, D = self.factors
        y = self._released([0.0] * len(D), self.multipliers([-x for x in r]))
        return expanded(self.model, self.columns, solve_lower(L, y, self.above, unit=True))

    def bounded_accelerations(self, f, k, laws, wide=None, given=None) -> tuple[list, list, dict]:
        """`accelerations`, and the forces of bounded rates by the number of the independent velocity.

        ``laws`` and ``wide`` are those of `row_laws` and `wide_rows`, or functions that take the velocities without the
        forces to them; ``given`` the rates of velocities that have them by themselves. The forces of wide rows have
        keys ``(WIDE, number)``.
        """
        if not any(c.row_kind == "box" for c in self.model.constraints):
            return *self.accelerations(f, k), {}
        if self.rows or wide:
            f = [weighted(f, column) for column in self.columns]
            return self._bounded_in_loops(f, k, laws, wide or {}, given or {})
        f = [weighted(f, column) for column in self.columns]
        y = self.solve(f)
        laws = laws(expanded(self.model, self.columns, y)) if callable(laws) else laws
        laws = column_laws(laws, self.columns)
        y, totals = bounded_solution(self.H, self.above, self.factors, f, y, laws)
        return expanded(self.model, self.columns, y), [], totals

    def _bounded_in_loops(self, f, k, laws, wide, given) -> tuple[list, list, dict]:
        y, lam = self._solved(f, k)
        predicted = expanded(self.model, self.columns, y)
        predicted = [x + given.get(j, 0.0) for j, x in enumerate(predicted)]
        laws = laws(predicted) if callable(laws) else laws
        wide = wide(predicted) if callable(wide) else wide
        still, n = [0.0] * len(self.rows), range(len(self.columns))
        laws = {m: law for m, law in column_laws(laws, self.columns).items() if law.bounds}
        along = {m: [float(j == m) for j in n] for m in laws}  # of each bounded rate its entries in y
        free = {m: y[m] for m in laws}
        for number, each in wide.items():
            key = WIDE, number
            along[key], laws[key] = [weighted_row(each.row, column) for column in self.columns], each.law
            free[key] = each.rate(predicted)
        if not laws:
            return expanded(self.model, self.columns, y), lam, {}
        rates = {m: self._solved(along[m], still)[0] for m in laws}
        W = {m: {j: dot(along[j], rate) for j in laws} for m, rate in rates.items()}
        sizes = {m: response(self.factors, self.above, along[m]) for m in laws}
        forces, held, missed = bounded_forces_in_loops(free, W, sizes, laws)
        for m, force in forces.items():
            f = [x if is_zero(d) else x + d * force for x, d in zip(f, along[m], strict=True)]
        y, lam = self._solved(f, k)
        for m, (holds, rate) in held.items():
            m, exact = (0, y[0]) if isinstance(m, tuple) else (m, where(holds, rate, y[m]))
            y[m] = where(missed, float("inf"), exact)
        return expanded(self.model, self.columns, y), lam, forces

    def _solved(self, f, k) -> tuple[list, list]:
        if not self.rows:
            return self.solve(f), []
        L, D = self.factors
        z = solve_lower_transpose(L, f, self.above, unit=True)
        right = [k_m - dot(w, z) for k_m, w in zip(k, self.scaled, strict=True)]
        lam = self.multipliers(right)
        y = self._released([x / d for x, d in zip(z, D, strict=True)], lam)
        return solve_lower(L, y, self.above, unit=True), lam

    def _released(self, y, lam) -> list:
        """``y + D^-1 W lambda``."""
        for w, lam_m in zip(self.scaled, lam, strict=True):
            y = [x if is_zero(w_k) else x + w_k * lam_m for x, w_k in zip(y, w, strict=True)]
        return y


def velocity_response(model, q, diagonal=None, added=None):
    """``G (G^T A G)^-1 G^T``, the velocities by unit joint impulses, without rows of loops.

    ``A = M + diag(diagonal) + added``, M with the armature.
    """
    if not model.constraints and not added:
        return inverse_mass_matrix(model, q, diagonal)
    rest = diagonal or [0.0] * model.nv
    A = stiffened_matrix(model, q, [x + y for x, y in zip(model.armature, rest, strict=True)], added)
    system = Factorized(model, A)
    found = [[0.0] * model.nv for _ in range(model.nv)]
    for m, column in enumerate(system.columns):
        v = expanded(model, system.columns, system.solve([float(n == m) for n in range(len(system.columns))]))
        for k, ratio in column:
            found[k] = [x * ratio for x in v]
    return found


def given_accelerations(model, kin) -> dict:
    """Accelerations that joints have by themselves, and those that follow them, by velocity coordinate."""
    return {k: rates[1] for k, rates in given_rates(model, kin).items()}


def given_rates(model, kin) -> dict[int, tuple]:
    """``(g, dg/dt)`` of ``v = G y + g`` where it is not zero."""
    found = {k: rates for c in model.constraints for k, rates in c.given_rates(kin).items()}
    for c in model.constraints:
        for k, pairs in c.velocity_map(kin).items():
            for m, ratio in pairs:
                if m in found:
                    found[k] = tuple(ratio * x for x in found[m])
    return found


def remaining_rows(model) -> list:
    """The equality constraints that are not eliminated: loops, and a user's own without a map of velocities."""
    kin = Kinematics(model, ())
    return [c for c in model.constraints if c.row_kind == "equality" and not c.velocity_map(kin)]


def equality_rows(model, kin, given, kept=None, eliminated=False):
    """Rows ``K a = k`` that are not eliminated: their numbers, entries by velocity coordinate, and right-hand sides.

    ``kept`` are the numbers of the rows to take, by default the independent ones; with ``eliminated`` the rows of
    couplings and locks are among them.
    """
    kept, first, found = set(model.independent_rows() if kept is None else kept), 0, []
    for place, c in enumerate(model.visits(model.constraints)):
        numbers = range(first, first + c.count(model))
        first = numbers.stop
        held = eliminated or not c.velocity_map(kin)
        if c.row_kind == "equality" and held and kept.intersection(numbers):
            bias = stabilized_bias(c, kin, model.stabilization(place))
            found += [each for each in zip(numbers, c.rows(kin), bias, strict=True) if each[0] in kept]
    right = [-bias - sum(row[j] * a for j, a in given.items() if j in row) for _, row, bias in found]
    return [n for n, _, _ in found], [row for _, row, _ in found], right


def stabilized_bias(c, kin, gains):
    """The bias of rows, with gains ``(2 alpha, beta^2)`` of the errors of rate and position (book, eq. 8.22)."""
    bias = c.bias(kin)
    if gains is None:
        return bias
    phi = c.residual(kin)
    if phi is None:
        return [b + 0.5 * gains[0] * rate for b, rate in zip(bias, c.rate(kin), strict=True)]
    return [b + gains[0] * rate + gains[1] * x for b, rate, x in zip(bias, c.rate(kin), phi, strict=True)]


def eliminated_multipliers(model, kin, rest, found: dict) -> list:
    """Multipliers of all rows: those found, and of eliminated ones the rest of the forces.

    ``rest`` is ``M a + c - tau - K^T lambda``; each dependent velocity gets its share from its own row alone.
    """
    rest, lam, first = list(rest), [0.0] * model.nc, 0
    for n, x in found.items():
        lam[n] = x
    for c in model.constraints:
        dependent = c.velocity_map(kin)
        for n, (k, row) in enumerate(zip(dependent, c.rows(kin) if dependent else (), strict=True)):
            lam[first + n] = rest[k]
            _take(rest, row, lam[first + n])
        first += c.count(model)
    return lam


def _take(rest, row: dict, lam) -> None:
    for k, x in row.items():
        rest[k] = rest[k] - x * lam


def matrix_pays(model) -> bool:
    """Whether factorizing the mass matrix with the tree's zeros takes fewer operations than articulated bodies.

    A body on another one takes some 90 operations more with articulated bodies than with `crba`; the rest of
    `crba` and the factorization grow with D2. In mechanisms whose joints are all parallel, articulated inertias are
    mostly zeros. Measured on 60 mechanisms: `aba` is faster from 8 joints in a row and with floating bases, the matrix
    on arms of up to 7 joints (5 to 13 %) and where the tree branches early (10 to 25 % on fixed-base quadrupeds).
    """
    branching = model.branching()
    return branching.D2 < (12 if turns_about_several_axes(model) else 4) * branching.D0
