"""Linear complementarity problems, by pivoting, by sweeps, and as quadratic programs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kinetree.arguments import an_array, array, checked, choice, number, refuse, whole
from kinetree.contact.lemke import lemke
from kinetree.contact.principal_pivoting import principal_pivoting
from kinetree.errors import NonFiniteError, ShapeError

METHODS = ("lemke", "principal_pivoting", "gauss_seidel")


class LCPSolution(NamedTuple):
    """A solution of a linear complementarity problem, or the reason why there is none.

    Attributes
    ----------
    x : (n,) array
        Not negative [as impulses or forces: N s or N].
    w : (n,) array
        ``M x + d`` [as velocities or accelerations: m/s or m/s^2].
    status : str
        "solved"; "infeasible": no x has ``M x + d >= 0`` and x >= 0; "failed": the method ended without a solution on a
        matrix for which that proves nothing; "iteration_limit".
    iterations : int
        Pivots, or sweeps.
    residual : float
        The largest ``|min(x, w)|`` of the problem scaled to a unit diagonal, relative to the largest ``|d|`` [1].
    """

    x: np.ndarray
    w: np.ndarray
    status: str
    iterations: int
    residual: float


@checked(M=an_array, d=an_array)
def solve_lcp(M, d, method: str = "lemke", *, tolerance: float = 1e-12, iterations: int | None = None) -> LCPSolution:
    r"""Solve a linear complementarity problem.

    .. math:: w = M x + d, \quad x \ge 0, \quad w \ge 0, \quad x^T w = 0

    Frictionless contact is one: M is ``T^T H^-1 T`` over the contact normals, d the free accelerations or velocities
    along them, x the forces or impulses.

    Parameters
    ----------
    M : (n, n) array
        Positive semidefinite for contact [1/kg]; it need not be symmetric.
    d : (n,) array
        [m/s or m/s^2]
    method : {"lemke", "principal_pivoting", "gauss_seidel"}
        "lemke": lexicographic, for semidefinite and for copositive M; ends at a solution or proves that there is none.
        "principal_pivoting": blocks of pivots, then the criss-cross rule; for M semidefinite or with positive principal
        minors, the same guarantees, usually fewer operations. "gauss_seidel": projected sweeps; positive diagonal.
    tolerance : float
        Of "gauss_seidel", the residual at which sweeps end [1].
    iterations : int, optional
        Most pivots or sweeps; by default 50 n + 1000 pivots, 10000 sweeps.

    Returns
    -------
    LCPSolution
        Of the pivoting methods a basic solution: columns of M with x > 0 are independent if M is symmetric. If M is
        singular, x need not be unique; w is, for symmetric semidefinite M.

    Raises
    ------
    ArgumentError, ShapeError, NonFiniteError

    Notes
    -----
    Source: Featherstone (2008), eq. 11.42, and the properties below it. Rows and columns are scaled to a unit diagonal;
    pivots decide the set of positive variables, whose values are then solved for once more with M itself.

    See Also
    --------
    kinetree.contact.ContactProblem

    Examples
    --------
    A disc in a slot that narrows (example 11.1): infeasible if and only if ``d1 + d2 < 0``.

    >>> import kinetree as kt
    >>> M = [[1.0, -1.0], [-1.0, 1.0]]
    >>> [kt.contact.solve_lcp(M, d).status for d in ([-1.0, 1.5], [-1.0, 0.5])]
    ['solved', 'infeasible']
    """
    choice("solve_lcp: method", method, METHODS)
    M, d = _square(M, d)
    most = (10000 if method == "gauss_seidel" else 50 * len(d) + 1000) if iterations is None else iterations
    most = whole("solve_lcp: iterations", most, "a positive number of iterations", least=1)
    tolerance = number("solve_lcp: tolerance", tolerance, "a positive number", above=0.0)
    diagonal = np.diag(M)
    scale = 1.0 / np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))
    size = np.abs(scale * d).max(initial=0.0) or 1.0
    A, b = M * np.outer(scale, scale), scale * d / size
    if method == "gauss_seidel":
        if (diagonal <= 0.0).any():
            refuse("solve_lcp: M", M, 'a matrix with positive diagonal for "gauss_seidel"')
        x, status, count = _sweeps(A, b, tolerance, most)
    else:
        solver = lemke if method == "lemke" else principal_pivoting
        positive, status, count = solver(A, b, most)
        if status == "ray":
            status = "infeasible" if semidefinite(A) else "failed"
        x = np.zeros(len(d)) if status != "solved" else refined(A, b, positive)
    residual = float(np.abs(np.minimum(x, A @ x + b)).max(initial=0.0))
    x = size * scale * x
    return LCPSolution(x, M @ x + d, status, count, residual)


def _square(M, d) -> tuple[np.ndarray, np.ndarray]:
    M, d = array("solve_lcp: M", M), array("solve_lcp: d", d)
    if d.ndim != 1 or M.shape != (len(d), len(d)):
        raise ShapeError(f"solve_lcp: M has shape {M.shape}, d {d.shape}, expected (n, n) and (n,).", found=M.shape)
    for name, x in (("M", M), ("d", d)):
        if not np.isfinite(x).all():
            raise NonFiniteError(f"solve_lcp: {name} contains NaN or infinity.", argument=name)
    return M, d


def semidefinite(M: np.ndarray) -> bool:
    """Whether the symmetric part of M has no negative eigenvalue, to rounding."""
    values = np.linalg.eigvalsh(M + M.T)
    return bool(values[0] >= -1e-12 * len(M) * max(values[-1], 0.0)) if len(values) else True


def refined(M: np.ndarray, d: np.ndarray, positive: np.ndarray) -> np.ndarray:
    """The variables of the set, of least norm if their block is singular; rounding below zero is cut."""
    x = np.zeros(len(d))
    x[positive] = least_norm(M[np.ix_(positive, positive)], -d[positive])
    return np.maximum(x, 0.0)


def least_norm(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The solution of a square system; of least norm where the matrix is singular."""
    try:
        x = np.linalg.solve(A, b)
        if np.abs(A @ x - b).max(initial=0.0) <= 1e-13 * (np.abs(b).max(initial=0.0) + np.abs(x).max(initial=0.0)):
            return x
    except np.linalg.LinAlgError:
        pass
    return np.linalg.lstsq(A, b, rcond=1e-13)[0]


def _sweeps(M: np.ndarray, d: np.ndarray, tolerance: float, most: int) -> tuple[np.ndarray, str, int]:
    """Projected Gauss-Seidel: each variable in turn solves its own row."""
    x, w = np.zeros(len(d)), d.copy()
    for count in range(1, most + 1):
        for i in range(len(d)):
            step = max(-x[i], -w[i] / M[i, i])
            if step:
                x[i] += step
                w += step * M[:, i]
        if np.abs(np.minimum(x, w)).max(initial=0.0) <= tolerance:
            return x, "solved", count
        if not np.isfinite(x).all():
            break
    return x, "iteration_limit", most
