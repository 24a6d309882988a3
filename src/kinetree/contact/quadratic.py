r"""Frictionless contact as quadratic programs, by the library Clarabel.

``min x^T M x / 2 + x^T d`` over x >= 0                       Featherstone, eq. 11.43; symmetric M
``min x^T (M x + d)`` over x >= 0, ``M x + d >= 0``           the complementarity itself; zero at solutions
``min (a - a0)^T H (a - a0) / 2`` over ``T^T a + bias >= 0``  eq. 11.44, Gauss' principle of least constraint

Interior points end near a solution; the set of positive variables is read from there and its equations are solved once
more, which gives the digits of a pivoting method.

Source: Featherstone (2008), section 11.5; P. Lötstedt (1982); P. Goulart, Y. Chen, Clarabel (2024).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kinetree.arguments import an_array, array, checked, refuse
from kinetree.contact.lcp_sets import refined
from kinetree.errors import MissingDependencyError, NonFiniteError, ShapeError

TOLERANCES = 1e-12, 1e-11, 1e-10, 1e-8
"""Of Clarabel, in turn: below the accuracy that it reaches on a problem its iterates leave the solution again."""

ENDED = ("Solved", "AlmostSolved", "InsufficientProgress")
NEAR = 1e-6
"""Largest residual, relative, with which the end of an interior point method is taken."""


class LeastConstraint(NamedTuple):
    """Accelerations under contact constraints.

    Attributes
    ----------
    accelerations : (nv,) array
        Unique [rad/s^2 or m/s^2]; NaN unless solved.
    forces : (n,) array
        Normal forces that give the accelerations, not unique if normals depend on each other [N]; NaN unless solved.
    status : str
        "solved", "infeasible", or "failed": the program ended where the conditions of the optimum do not hold.
    """

    accelerations: np.ndarray
    forces: np.ndarray
    status: str


def lcp_as_program(M: np.ndarray, d: np.ndarray, both: bool) -> tuple[np.ndarray, str, int]:
    """x of a linear complementarity problem: by eq. 11.43, or with both conditions and the product as the goal."""
    n = len(d)
    if both:
        P, G, h = M + M.T, np.vstack([-np.eye(n), -M]), np.concatenate([np.zeros(n), d])
    else:
        P, G, h = M, -np.eye(n), np.zeros(n)
    x, _, status, count = program(P, d, G, h)
    if status not in ENDED:
        return np.zeros(n), "infeasible" if status.endswith("Infeasible") else "failed", count
    x, near = nearest(M, d, x)
    return x, "solved" if near else "failed", count


def nearest(M: np.ndarray, d: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, bool]:
    """The end of an interior point method, or the values of its set if they are nearer; whether that is a solution."""
    x = np.maximum(x, 0.0)
    candidates = (refined(M, d, x > M @ x + d), x)
    errors = [np.abs(np.minimum(y, M @ y + d)).max(initial=0.0) for y in candidates]
    best = int(np.argmin(errors))
    return candidates[best], errors[best] <= NEAR * np.abs(d).max(initial=0.0)


def program(P, q, G, h) -> tuple[np.ndarray, np.ndarray, str, int]:
    """``min x^T P x / 2 + q^T x`` over ``G x <= h``: x, multipliers, Clarabel's status, iterations."""
    try:
        import clarabel
    except ImportError:
        raise MissingDependencyError(
            "quadratic programs of contact need the package clarabel: pip install clarabel"
        ) from None
    from scipy.sparse import csc_matrix, triu

    settings, count = clarabel.DefaultSettings(), 0
    settings.verbose = False
    settings.max_threads = 1
    args = csc_matrix(triu(P)), q, csc_matrix(G), h, [clarabel.NonnegativeConeT(len(h))], settings
    for tolerance in TOLERANCES:
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tolerance
        found = clarabel.DefaultSolver(*args).solve()
        count += found.iterations
        if (status := str(found.status)) == "Solved" or status.endswith("Infeasible"):
            break
    return np.array(found.x), np.array(found.z), status, count


@checked(H=an_array, free=an_array, T=an_array, bias=an_array)
def least_constraint(H, free, T, bias) -> LeastConstraint:
    r"""Accelerations by Gauss' principle of least constraint under contacts without friction.

    .. math:: \min_{\ddot q} \tfrac12 (\ddot q - a_0)^T H (\ddot q - a_0) \quad
       \text{subject to} \quad T^T \ddot q + \dot T^T \dot q \ge 0

    Parameters
    ----------
    H : (nv, nv) array
        Mass matrix [kg m^2 or kg], positive definite.
    free : (nv,) array
        a_0: accelerations without contact forces [rad/s^2 or m/s^2].
    T : (nv, n) array
        Columns are the contact normals in joint space [m or 1].
    bias : (n,) array
        ``Tdot^T qd`` [m/s^2].

    Returns
    -------
    LeastConstraint

    Raises
    ------
    ArgumentError, ShapeError, NonFiniteError, MissingDependencyError

    Notes
    -----
    Source: Featherstone (2008), eq. 11.44. It has nv variables however many contacts there are. Needs the package
    clarabel. The same accelerations follow from `solve_lcp` with ``M = T^T H^-1 T``, ``d = T^T a_0 + bias``.

    See Also
    --------
    kinetree.contact.solve_lcp

    Examples
    --------
    >>> import kinetree as kt
    >>> ball = [[2.0]], [-9.81], [[1.0]], [0.0]  # mass, gravity, the ground's normal
    >>> kt.contact.least_constraint(*ball).forces.round(6)  # doctest: +SKIP
    array([19.62])
    """
    H, free, T, bias = (
        array(f"least_constraint: {name}", x)
        for name, x in (("H", H), ("free", free), ("T", T), ("bias", bias))
    )
    if free.ndim != 1 or bias.ndim != 1 or H.shape != 2 * free.shape or T.shape != (*free.shape, *bias.shape):
        shapes = f"H {H.shape}, free {free.shape}, T {T.shape}, bias {bias.shape}"
        raise ShapeError(f"least_constraint: {shapes}, expected (nv, nv), (nv,), (nv, n), (n,).", found=H.shape)
    for name, x in (("H", H), ("free", free), ("T", T), ("bias", bias)):
        if not np.isfinite(x).all():
            raise NonFiniteError(f"least_constraint: {name} contains NaN or infinity.", argument=name)
    try:
        L = np.linalg.cholesky(H)
    except np.linalg.LinAlgError:
        refuse("least_constraint: H", H, "a positive definite mass matrix")
    W, d = np.linalg.solve(L, T), T.T @ free + bias  # in y = L^T (a - a_0): min y^T y / 2 over W^T y + d >= 0
    lengths = np.linalg.norm(W, axis=0)
    lengths[lengths == 0.0] = 1.0
    size = np.abs(d / lengths).max(initial=0.0) or 1.0
    W, d = W / lengths, d / lengths / size
    _, forces, status, _ = program(np.eye(len(free)), np.zeros(len(free)), -W.T, d)
    near = False
    if status in ENDED:
        forces, near = nearest(W.T @ W, d, forces)  # the conditions of the optimum, as y = W forces
    if not near:
        nothing = np.full(len(free), np.nan), np.full(len(bias), np.nan)
        return LeastConstraint(*nothing, "infeasible" if status.endswith("Infeasible") else "failed")
    return LeastConstraint(free + np.linalg.solve(L.T, W @ forces) * size, forces * size / lengths, "solved")
