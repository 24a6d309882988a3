r"""Contact with friction pyramids as a linear complementarity problem, for Lemke's method.

The tangential impulse is a combination of k directions with weights beta >= 0, whose sum is at most ``mu lambda_n``;
sigma is the speed of slip:

    lambda_n >= 0    perp  u_n >= 0
    beta >= 0        perp  sigma + D^T u_t >= 0
    sigma >= 0       perp  mu lambda_n - sum(beta) >= 0

The matrix is copositive, so that Lemke's method ends at a solution if velocities that separate all contacts exist.
With ``u_n - mu sigma`` in place of u_n the problem is the convex one of Anitescu and Hart; its matrix is semidefinite.

Source: D. E. Stewart, J. C. Trinkle, An implicit time-stepping scheme for rigid body dynamics (1996); M. Anitescu,
F. A. Potra (1997); M. Anitescu, G. D. Hart (2004); Sueda, eq. 1.83-1.88.
"""

from __future__ import annotations

import numpy as np

from kinetree.contact.lcp import solve_lcp
from kinetree.contact.lcp_sets import least_norm
from kinetree.contact.terms import Found, Terms


def regular(terms: Terms, sides: int) -> np.ndarray:
    """The angles of the directions of regular pyramids, (n, sides); of four sides along t1 and t2."""
    return np.broadcast_to(2.0 * np.pi * np.arange(sides) / sides, (terms.count, sides))


def refined(terms: Terms, sides: int, impulses: np.ndarray, opening: float) -> np.ndarray:
    """Directions of regular pyramids, and others within an angle around those of given tangential impulses."""
    contacts = impulses[: 3 * terms.count].reshape(-1, 3)
    around = np.arctan2(contacts[:, 1], contacts[:, 0])[:, None] + opening * np.linspace(-1.0, 1.0, 5)
    return np.concatenate([regular(terms, sides), around], axis=1)


def pyramid(terms: Terms, angles: np.ndarray, convex: bool, method: str) -> Found:
    """The impulses by pyramids whose directions have these angles, (n, k)."""
    n, directions = terms.count, angles.shape[1]
    reduced, free = _without_equations(terms)
    E, offset, boxed = _columns(reduced, angles)
    A, b = reduced.A, reduced.b + reduced.A @ offset
    count, normals = E.shape[1], np.arange(n)
    caps = _caps(reduced, directions, count, boxed)
    M = np.block([[E.T @ A @ E, caps[0].T], [caps[0], np.zeros((len(caps[0]), len(caps[0])))]])
    M[:count, count:] *= -1.0
    if not convex:
        M[normals, count : count + n] = 0.0  # no mu sigma in the row of the normal
    d = np.concatenate([E.T @ b, caps[1]])
    solved = solve_lcp(M, d, method)
    impulses, status = E @ solved.x[:count] + offset, solved.status
    if status == "failed" and not separable(reduced):
        status = "infeasible"
    return Found(_with_equations(terms, free, impulses), status, solved.iterations)


def separable(terms: Terms) -> bool:
    """Whether some velocities separate all contacts: those without friction have a solution."""
    normals = np.arange(2, 3 * terms.count, 3)
    return solve_lcp(terms.A[np.ix_(normals, normals)], terms.b[normals]).status != "infeasible"


def _columns(terms: Terms, angles: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Impulses as ``E x + offset`` with x >= 0: normals, then the directions of each contact, then rows."""
    n, m, directions = terms.count, len(terms.bounds), angles.shape[1]
    E = np.zeros((3 * n + m, n * (1 + directions) + m))
    E[np.arange(2, 3 * n, 3), np.arange(n)] = 1.0
    for i in range(n):
        columns = slice(n + i * directions, n + (i + 1) * directions)
        E[3 * i, columns], E[3 * i + 1, columns] = np.cos(angles[i]), np.sin(angles[i])
    offset = np.zeros(3 * n + m)
    lower, upper = terms.bounds.T
    below = np.isfinite(lower)
    signs = np.where(below, 1.0, -1.0)
    offset[3 * n :] = np.where(below, lower, np.where(np.isfinite(upper), upper, 0.0))
    E[3 * n + np.arange(m), n * (1 + directions) + np.arange(m)] = signs
    return E, offset, below & np.isfinite(upper)


def _caps(terms: Terms, directions: int, count: int, boxed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """``C x + c >= 0``: friction, and the upper ends of rows that have both."""
    n = terms.count
    C = np.zeros((n + boxed.sum(), count))
    C[np.arange(n), np.arange(n)] = terms.friction
    for i in range(n):
        C[i, n + i * directions : n + (i + 1) * directions] = -1.0
    rows = np.flatnonzero(boxed)
    C[n + np.arange(len(rows)), n * (1 + directions) + rows] = -1.0
    return C, np.concatenate([np.zeros(n), np.diff(terms.bounds[boxed], axis=1).ravel()])


def _without_equations(terms: Terms) -> tuple[Terms, np.ndarray]:
    """The problem without rows that have no bounds, whose impulses are eliminated; and which rows these are."""
    free = np.zeros(len(terms.b), bool)
    free[3 * terms.count :] = np.isinf(terms.bounds).all(axis=1)
    if not free.any():
        return terms, free
    A, b, kept = terms.A, terms.b, ~free
    inverse = np.linalg.pinv(A[np.ix_(free, free)], rcond=1e-13, hermitian=True)
    cross = A[np.ix_(kept, free)] @ inverse
    return Terms(
        A[np.ix_(kept, kept)] - cross @ A[np.ix_(free, kept)],
        b[kept] - cross @ b[free],
        terms.friction,
        terms.bounds[~free[3 * terms.count :]],
    ), free


def _with_equations(terms: Terms, free: np.ndarray, impulses: np.ndarray) -> np.ndarray:
    if not free.any():
        return impulses
    found = np.zeros(len(free))
    found[~free] = impulses
    found[free] = least_norm(terms.A[np.ix_(free, free)], -(terms.velocities(found)[free]))
    return found
