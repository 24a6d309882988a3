"""Linear complementarity problems, by pivoting, by sweeps, and as quadratic programs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kinetree.arguments import an_array, array, checked, choice, number, refuse, whole
from kinetree.contact.lcp_sets import refined, semidefinite
from kinetree.contact.lemke import lemke
from kinetree.contact.principal_pivoting import principal_pivoting
from kinetree.contact.quadratic import lcp_as_program
from kinetree.errors import NonFiniteError, ShapeError

METHODS = ("lemke", "principal_pivoting", "gauss_seidel", "qp", "qp_complementarity")


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
    method : {"lemke", "principal_pivoting", "gauss_seidel", "qp", "qp_complementarity"}
        "lemke": lexicographic, for semidefinite and for copositive M; ends at a solution or proves that there is none.
        "principal_pivoting": blocks of pivots, then the criss-cross rule; for M semidefinite or with positive principal
        minors, the same guarantees, usually fewer operations. "gauss_seidel": projected sweeps; positive diagonal.
        "qp": the quadratic program of eq. 11.43, for symmetric M; "qp_complementarity": that of both conditions with
        ``x^T w`` as the goal, for semidefinite M. Both need the package clarabel.
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
    ArgumentError, ShapeError, NonFiniteError, MissingDependencyError

    Notes
    -----
    Source: Featherstone (2008), eq. 11.42-11.43, and the properties below them. Rows and columns are scaled to a unit
    diagonal; pivots decide the set of positive variables, whose values are then solved for once more with M itself.

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
    elif method.startswith("qp"):
        if method == "qp" and np.abs(A - A.T).max(initial=0.0) > 1e-12 * np.abs(A).max(initial=0.0):
            refuse("solve_lcp: M", M, 'a symmetric matrix for "qp"; "qp_complementarity" takes others')
        x, status, count = lcp_as_program(A, b, method != "qp")
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
