"""Lemke's method for linear complementarity problems, with the lexicographic rule against cycles.

Source: C. E. Lemke (1965); R. W. Cottle, J.-S. Pang, R. E. Stone, The Linear Complementarity Problem (1992), algorithms
4.4.1 and 4.4.9 (symbols: their ``z`` is ``x`` here, ``q`` is ``d``, ``z_0`` the artificial variable).
"""

from __future__ import annotations

import numpy as np

PIVOT = 1e-11
"""Entries of the tableau below this share of the largest of their column are no pivots."""
TIE = 1e-12


def lemke(M: np.ndarray, d: np.ndarray, most: int) -> tuple[np.ndarray | None, str, int]:
    """The set of positive variables (True for x), "solved", "ray" or "iteration_limit", and the number of pivots."""
    n = len(d)
    basis = np.arange(n)  # w_i is variable i, x_i is n + i, z_0 is 2 n
    if (d >= 0.0).all():
        return basis >= n, "solved", 0
    tableau = np.column_stack([np.eye(n), -M, -np.ones(n), d])
    row = int(np.flatnonzero(d <= d.min() + TIE * np.abs(d).max())[-1])  # keeps the other rows lexicographic positive
    entering = 2 * n
    for pivots in range(1, most + 1):
        leaving = basis[row]
        _pivot(tableau, row, entering)
        basis[row] = entering
        if leaving == 2 * n:
            return _set_of(basis, n), "solved", pivots
        entering = leaving + n if leaving < n else leaving - n  # the complement
        row = _leaving_row(tableau, entering, basis, n)
        if row is None:
            artificial = tableau[np.flatnonzero(basis == 2 * n)[0], -1]
            rounded = artificial <= TIE * np.abs(d).max()
            return _set_of(basis, n), "solved" if rounded else "ray", pivots
    return None, "iteration_limit", most


def _set_of(basis: np.ndarray, n: int) -> np.ndarray:
    positive = np.zeros(n, bool)
    positive[basis[(basis >= n) & (basis < 2 * n)] - n] = True
    return positive


def _pivot(tableau: np.ndarray, row: int, column: int) -> None:
    tableau[row] /= tableau[row, column]
    factors = tableau[:, column].copy()
    factors[row] = 0.0
    tableau -= np.outer(factors, tableau[row])


def _leaving_row(tableau: np.ndarray, entering: int, basis: np.ndarray, n: int) -> int | None:
    """The lexicographically smallest row of ``[rhs, B^-1] / column``; z_0 leaves whenever it can."""
    column = tableau[:, entering]
    rows = np.flatnonzero(column > PIVOT * max(1.0, np.abs(column).max()))
    if not len(rows):
        return None
    for key in (tableau.shape[1] - 1, *range(n)):
        ratios = tableau[rows, key] / column[rows]
        rows = rows[ratios <= ratios.min() + TIE * max(1.0, np.abs(ratios).max())]
        if key >= n and (artificial := rows[basis[rows] == 2 * n]).size:
            return int(artificial[0])
        if len(rows) == 1:
            break
    return int(rows[0])
