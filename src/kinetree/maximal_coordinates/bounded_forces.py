"""Forces with bounds along rows over the coordinates of joints: limits that are not passed, friction that holds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinetree.algorithms.bounded_rows import guessed, variation
from kinetree.constraints.row_law import RowLaw
from kinetree.errors import ConstraintError

EXCHANGES = 100  # of guesses at most; cycles end by varied projections after a few
SETTLED = 1e-10  # of a force and of the rates: where a guess changes less, rounding decides


def forces_of_laws(A, rates, laws: Sequence[RowLaw], rows) -> np.ndarray:
    """The forces of rows with laws, whose rates without them are given, and with forces f are ``rates + A f``.

    Parameters
    ----------
    A : (m, m) array
        Symmetric, positive semidefinite.
    rates : (m,) array
    laws : sequence of RowLaw
    rows : (m, n) array
        Where two are equal, friction takes its part of the force first.

    Returns
    -------
    (m,) array

    Raises
    ------
    ConstraintError
        No forces were found; limits contradict each other.

    Notes
    -----
    Source: the exchanges of `kinetree.algorithms.bounded_rows` (Hintermueller, Ito, Kunisch 2002), over rows instead
    of the velocities: for a guess of the rates that are held, their forces are the solution of a linear system.
    """
    places = _same(rows)
    first = [n for n, *_ in places]
    together = [sum((laws[n] for n in others), start=laws[n]) for n, *others in places]
    total = _solved(A[np.ix_(first, first)], rates[first], together)
    found = np.zeros(len(laws))
    for place, law, force in zip(places, together, total, strict=True):
        _share(found, [(n, laws[n]) for n in place], law, force)
    return found


def _same(rows) -> list[list[int]]:
    """The numbers of equal rows together."""
    found: dict[bytes, list[int]] = {}
    for n, row in enumerate(np.asarray(rows) + 0.0):
        found.setdefault(row.tobytes(), []).append(n)
    return list(found.values())


def _solved(A, rates, laws: Sequence[RowLaw]) -> np.ndarray:
    """Forces of rows that are all different."""
    known = np.array([float(law.force) for law in laws])
    free = rates + A @ known
    rho = np.maximum(np.diag(A), np.finfo(float).tiny)
    y, force, before = free.copy(), np.zeros(len(laws)), None
    bounded = [n for n, law in enumerate(laws) if law.bounds]
    for exchange in range(EXCHANGES):
        guess = [guessed(laws[n], y[n], force[n], rho[n] * variation(exchange, n)) for n in bounded]
        if before is not None and _settled(guess, before, force[bounded], y, rho):
            return force + known
        held = np.array([n for n, (_, holds, _) in zip(bounded, guess, strict=True) if holds], int)
        force = np.zeros(len(laws))
        for n, (value, holds, _) in zip(bounded, guess, strict=True):
            force[n] = 0.0 if holds else value
        goal = np.array([rate for _, holds, rate in guess if holds])
        if len(held):
            force[held] = np.linalg.lstsq(A[np.ix_(held, held)], goal - (free + A @ force)[held], rcond=1e-13)[0]
        y, before = free + A @ force, guess
        y[held] = goal
    raise ConstraintError(
        f"maximal coordinates: no forces of {len(laws)} rows with bounds (limits, sticking friction) were found in "
        f"{EXCHANGES} exchanges: limits contradict each other, or the state is far beyond them"
    )


def _settled(guess, before, force, y, rho) -> bool:
    """Whether the rates that are held are those of the last guess, or nothing but rounding is between the forces."""
    same = all(a[1] == b[1] and (a[2] == b[2] if a[1] else a[0] == b[0]) for a, b in zip(guess, before, strict=True))
    change = max((abs(a[0] - f) for a, f in zip(guess, force, strict=True)), default=0.0)
    size = np.abs(force).max(initial=0.0) + np.max(np.abs(y) / rho, initial=0.0)
    return same or change <= SETTLED * size


def _share(found, rows: Sequence[tuple], law: RowLaw, force: float) -> None:
    """Divide the force of equal rows: friction as far as it goes, shared by its limits, then one position limit."""
    rest = force - law.force
    friction = float(law.frictional(rest))
    rest -= friction
    for n, each in rows:
        found[n] = float(each.force)
        if each.resistance > 0.0:
            found[n] += friction * each.resistance / law.resistance
        if rest > 0.0 and each.lower == law.lower or rest < 0.0 and each.upper == law.upper:
            found[n], rest = found[n] + rest, 0.0
