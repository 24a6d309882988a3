"""Rows with bounded forces (sticking friction, limits), solved exactly: the active set, then a linear system.

With ``H y = f + lambda`` (`kinetree.algorithms.constrained`) and a law between each force and its rate y_m, a rate is
either held at a known value or free under a known force. For a guess of that the solution is one of the tree's linear
systems, in which the coordinates that are held are no unknowns: their rows and columns leave H, and its zeros stay. The
forces found give the next guess, by the projection of each law (`kinetree.constraints.row_law`): Newton's method for
functions with kinks, which ends at the exact solution when no guess changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import sin

from kinetree.algorithms.regularity import collected_pivots, require_regular
from kinetree.algorithms.sparse import ltdl_factors, solve_lower_transpose, solve_ltdl, times_symmetric
from kinetree.constraints.row_law import RowLaw, infinite
from kinetree.errors import UnsupportedError
from kinetree.forces.contract import present
from kinetree.spatial.scalar import absolute, is_zero, where

EXCHANGES = 10  # of guesses at most; 3 on average where all laws of 9 to 33 joints act at once
REGULAR = 4  # exchanges before some projections vary, which ends cycles
LARGEST = 30_000  # products in one factorization: a chain of 45 velocities, which take a minute to compile
CHANGED = 1e-6, 1e-3  # of a rate, in double and in single precision: where a guess changes less, rounding decides


def bounded_constraints(model) -> list:
    """The constraints with bounded rows."""
    return [c for c in model.constraints if c.row_kind == "box"]


def bounded_places(model) -> dict[int, int]:
    """The place of each bounded row among the impulses of a step, by its number among all rows."""
    numbers = [n for c, rows in model.constraint_rows() if c.row_kind == "box" for n in rows]
    return {n: place for place, n in enumerate(numbers, model.n_contact_rows)}


def row_laws(model, kin, dt=None, predicted=None) -> dict[int, list[tuple[int, RowLaw]]]:
    """For each velocity coordinate with bounded rows their numbers among all rows, and their laws."""
    found = {}
    for c, numbers in model.constraint_rows():
        if c.row_kind == "box":
            for n, row, law in zip(numbers, c.rows(kin), c.laws(kin, dt, predicted), strict=True):
                if is_single(row):
                    found.setdefault(next(iter(row)), []).append((n, law))
    return found


def is_single(row: Mapping) -> bool:
    """Whether a row is a velocity, by structure; else it is of several."""
    return list(row.values()) == [1.0]


@dataclass(frozen=True)
class WideRow:
    """A bounded row over several velocities.

    Attributes
    ----------
    row : dict
        Its entries by velocity coordinate.
    offset : scalar
        The part of its rate that does not depend on the unknowns.
    law : RowLaw
    """

    row: Mapping
    offset: object
    law: RowLaw

    def rate(self, a):
        """Its rate at given rates of the velocities."""
        return sum((x * a[k] for k, x in self.row.items()), start=self.offset)


def has_wide_rows(model, kin) -> bool:
    """Whether bounded rows are of several velocities, by structure."""
    return any(not is_single(row) for c in bounded_constraints(model) for row in c.rows(kin))


def wide_rows(model, kin, dt=None, predicted=None) -> dict[int, WideRow]:
    """The bounded rows over several velocities by number; of accelerations, or of velocities after dt."""
    found = {}
    for c, numbers in model.constraint_rows():
        if c.row_kind == "box":
            rows = c.rows(kin)
            wide = [n for n, row in enumerate(rows) if not is_single(row)]
            laws, bias = (c.laws(kin, dt, predicted), c.bias(kin)) if wide else ((), ())
            found |= {numbers[n]: WideRow(rows[n], bias[n] if dt is None else 0.0, laws[n]) for n in wide}
    return found


def given_row_forces(model, kin, a) -> dict[int, list[tuple[int, object]]]:
    """As `row_laws`, with the forces at given accelerations: friction against incipient motion, and none at rest."""
    laws = row_laws(model, kin)
    return {k: [(n, law.of(a[k])) for n, law in rows] for k, rows in laws.items()}


def given_wide_forces(model, kin, a) -> dict[int, object]:
    """The same forces of `wide_rows`, by number."""
    return {n: each.law.of(each.rate(a)) for n, each in wide_rows(model, kin).items()}


def without_rows(model, kin, force, found: Mapping, wide: Mapping) -> list:
    """Joint forces without those of rows of single velocities, and of wide rows by number."""
    force = [sum((-x for _, x in found.get(k, ())), start=f) for k, f in enumerate(force)]
    for n, each in wide_rows(model, kin).items() if wide else ():
        force = [f - each.row[k] * wide[n] if k in each.row else f for k, f in enumerate(force)]
    return force


def column_laws(laws: Mapping, columns) -> dict[int, RowLaw]:
    """The laws of independent velocities: of each, those of all coordinates that move with it."""
    found = {}
    for m, column in enumerate(columns):
        parts = [law.scaled(ratio) for k, ratio in column if present(ratio) for _, law in laws.get(k, ())]
        if parts:
            found[m] = sum(parts[1:], start=parts[0])
    return found


def bounded_solution(H, above, factors, f, y, laws: Mapping[int, RowLaw]):
    """Rates and forces (besides the laws' known ones) of ``H y = f + lambda``.

    Parameters
    ----------
    H : nested sequence of scalars
        Its lower triangle within ``above``.
    above : sequence of sequence of int
    factors : tuple
        L and D of H.
    f, y : sequence of scalars
        The known forces, and ``H^-1 f``.
    laws : mapping
        By the number of a rate.

    Returns
    -------
    y : list
        Exactly the rate of the law where one is held; infinite if no solution was found in so many exchanges.
    force : dict
        By the number of a rate.

    Notes
    -----
    Source: Hintermueller, Ito, Kunisch, SIAM J. Optim. 13 (2002), the primal-dual active set method as Newton's method;
    Judice and Pires (1994), exchanges of whole blocks in box-constrained problems. The solution is unique, H being
    positive definite. The first projections take ``rho`` of each law from the diagonal of ``H^-1``.
    """
    laws = {m: law for m, law in laws.items() if law.bounds}
    if not laws:
        return y, {}
    if sum(len(columns) ** 2 for columns in above) > LARGEST:
        raise UnsupportedError(
            f"bounded forces (sticking friction, hard limits) of a mechanism with {len(above)} velocities, most of "
            "them in one chain: compiled code would have about a million operations. Steps of kt.simulate find them"
        )
    rho = {m: response(factors, above, [float(n == m) for n in range(len(f))]) for m in laws}
    force, before = dict.fromkeys(laws, 0.0), None
    scale = {m: absolute(y[m]) for m in laws}
    with collected_pivots():  # parts of H are regular if H is
        for n in range(min(2 + len(laws), EXCHANGES)):
            guess = {m: guessed(law, y[m], force[m], rho[m] * variation(n, m)) for m, law in laws.items()}
            y, force = _exchanged(H, above, f, guess)
            before = guess
    unsolved = require_settled(laws, before, y, force, rho, scale)
    for m in laws:
        y[m] = where(unsolved, float("inf"), y[m])
    return y, force


def require_settled(laws, before, y, force, rho, scale):
    """Whether the last guesses are no solution; then a check of the compiled function fails."""
    unsolved = False
    for m, law in laws.items():
        now = guessed(law, y[m], force[m], rho[m])
        unsolved = unsolved | (unsettled(now, y[m], force[m], rho[m], scale[m]) & differ(before[m], now))
    require_regular(where(unsolved, -1.0, 1.0), 1.0)
    return unsolved


def unsettled(now, y, force, rho, scale):
    """Whether a guess changes the force by more than rounding."""
    error, size = absolute(now[0] - force) * rho, absolute(y) + rho * absolute(force) + scale
    return error > where(size * (1.0 + 1e-9) > size, CHANGED[0], CHANGED[1]) * size


def response(factors, above, along):
    """``x^T H^-1 x`` of the rates x."""
    L, D = factors
    x = solve_lower_transpose(L, along, above, unit=True)
    return sum((x_k * x_k / d for x_k, d in zip(x, D, strict=True) if not is_zero(x_k)), start=0.0)


def variation(n: int, m: int) -> float:
    """Factors of ``rho``: 1, and in every other late exchange between 0.01 and 1 without any order.

    Strongly coupled rates respond the less to their own forces, the more of the others are held.
    """
    if n < REGULAR or n % 2:
        return 1.0
    return 0.01 ** (43758.5453 * sin(12.9898 * n + 78.233 * m) % 1.0)


def guessed(law: RowLaw, y, force, rho):
    """The force, whether the rate is held, and the rate."""
    return law.projected(y - rho * force, rho)


def _exchanged(H, above, f, guess):
    """Rates and forces if some rates are held and the others have given forces."""
    held = {m: holds for m, (_, holds, _) in guess.items()}
    known = [where(held[m], guess[m][2], 0.0) if m in guess else 0.0 for m in range(len(f))]
    reactions = times_symmetric(H, known, above)
    right = [x - r for x, r in zip(f, reactions, strict=True)]
    for m, (force, _, _) in guess.items():
        right[m] = right[m] + where(held[m], 0.0, force)
    rest = [[0.0] * len(f) for _ in f]
    for i, columns in enumerate(above):
        rest[i][i] = H[i][i]
        for j in columns:
            away = [held[m] for m in (i, j) if m in held]
            rest[i][j] = where(away[0] | away[-1], 0.0, H[i][j]) if away else H[i][j]
    y = solve_ltdl(*ltdl_factors(rest, above), right, above)
    for m, (_, _, rate) in guess.items():
        y[m] = where(held[m], rate, y[m])
    product = times_symmetric(H, y, above)
    return y, {m: where(held[m], product[m] - f[m], force) for m, (force, _, _) in guess.items()}


def differ(one, other):
    """Whether two guesses are not the same."""
    (force, held, rate), (other_force, other_held, other_rate) = one, other
    pairs = [[where(a, 1.0, 0.0) for a in (held, other_held)],
             [where(held, rate, force), where(other_held, other_rate, other_force)]]  # fmt: skip
    found = [(a < b) | (a > b) for a, b in pairs]
    return found[0] | found[1]


def split_forces(laws: Mapping, columns, totals: Mapping) -> dict[int, object]:
    """The forces of single rows, by number, from those of independent velocities (besides the laws' known ones).

    Friction comes first, up to its limit and shared in proportion to the rows' limits; the rest is that of the tightest
    position limit.
    """
    found = {n: law.force for rows in laws.values() for n, law in rows}
    for m, total in totals.items():
        if isinstance(m, tuple):
            continue
        column = [(k, ratio) for k, ratio in columns[m] if present(ratio)]
        rows = [(n, law.scaled(ratio), ratio) for k, ratio in column for n, law in laws.get(k, ())]
        whole = sum((law for _, law, _ in rows[1:]), start=rows[0][1])
        friction = whole.frictional(total)
        rest, taken = total - friction, 0.0
        for n, law, ratio in rows:
            if not is_zero(law.resistance):
                most = where(whole.resistance > 0.0, whole.resistance, 1.0)
                found[n] = found[n] + law.resistance * friction / (most * ratio)
            for bound, tightest, pushed in ((law.lower, whole.lower, rest > 0.0), (law.upper, whole.upper, rest < 0.0)):
                if not infinite(bound):
                    mine = where((bound >= tightest) & (bound <= tightest) & pushed, 1.0 - taken, 0.0)
                    found[n] = found[n] + mine * rest / ratio
                    taken = taken + mine
    return found
