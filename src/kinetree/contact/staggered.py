r"""Staggered projections: the quadratic program of the normal impulses and that of friction in turn.

Kaufman et al.                              here
alpha, N: contact QP (Sueda, eq. 2.113)     normal impulses, by pivoting: rows with bounds (0, inf)
beta, T: friction QP (eq. 2.114)            tangential impulses: boxes by pivoting, disks by ADMM and Newton's method
``|f - f0|`` in the norm of M^-1            ``sqrt(dlambda^T A dlambda)`` over the root of the masses: a velocity

Source: D. M. Kaufman, S. Sueda, D. L. James, D. K. Pai, Staggered projections for frictional contact in multibody
systems (2008); Sueda, section 2.11, algorithm 7. A fixed point with disks solves Coulomb's law; nothing proves that the
iteration has a limit, and with large friction it may have none.
"""

from __future__ import annotations

import numpy as np

from kinetree.contact.admm import iterated
from kinetree.contact.laws import deviation, given_radii
from kinetree.contact.newton import polished, scaled
from kinetree.contact.pyramids import pyramid, regular
from kinetree.contact.residuals import disk_projection
from kinetree.contact.terms import Found, Terms


def staggered(terms: Terms, start: np.ndarray, tolerance: float, most: int) -> Found:
    """With disks of friction."""
    return _alternated(terms, start, tolerance, most, _friction_in_disks)


def staggered_pyramid(terms: Terms, start: np.ndarray, tolerance: float, most: int) -> Found:
    """With boxes ``|beta| <= mu alpha`` along t1 and t2, as in algorithm 7."""
    return _alternated(terms, start, tolerance, most, _friction_in_boxes)


def _alternated(terms: Terms, start: np.ndarray, tolerance: float, most: int, friction) -> Found:
    problem, roots = scaled(terms)
    normals = np.arange(2, 3 * problem.count, 3)
    x, limit = start / roots, tolerance * roots.min(initial=np.inf)
    x[normals] = 0.0  # friction is the warm start
    for count in range(1, most + 1):
        old = x
        x, status = _normal(problem, x, normals)
        if status != "solved":
            return Found(roots * x, status, count)
        change = x - old
        if count > 1 and np.sqrt(max(change @ problem.A @ change, 0.0)) <= limit:
            return Found(roots * x, "solved", count)
        x = friction(problem, x, normals)
    return Found(roots * x, "not_converged", most)


def _part(problem: Terms, x: np.ndarray, chosen: np.ndarray, bounds: np.ndarray) -> tuple[np.ndarray, str]:
    """The rows chosen of the contacts, with bounds, and all further rows; the other impulses stay."""
    part = np.concatenate([chosen, np.arange(3 * problem.count, len(x))])
    kept = x.copy()
    kept[part] = 0.0
    rows = Terms(
        problem.A[np.ix_(part, part)],
        problem.velocities(kept)[part],
        np.zeros(0),
        np.concatenate([bounds, problem.bounds]),
    )
    found = pyramid(rows, regular(rows, 0), True, "principal_pivoting")
    if found.status not in ("solved", "infeasible"):
        found = pyramid(rows, regular(rows, 0), True, "lemke")
    kept[part] = found.impulses
    return kept, found.status


def _normal(problem: Terms, x: np.ndarray, normals: np.ndarray) -> tuple[np.ndarray, str]:
    return _part(problem, x, normals, np.tile([0.0, np.inf], (len(normals), 1)))


def _friction_in_boxes(problem: Terms, x: np.ndarray, normals: np.ndarray) -> np.ndarray:
    tangents = np.sort(np.concatenate([normals - 2, normals - 1]))
    radii = np.repeat(problem.friction * x[normals], 2)
    return _part(problem, x, tangents, np.column_stack([-radii, radii]))[0]


def _friction_in_disks(problem: Terms, x: np.ndarray, normals: np.ndarray) -> np.ndarray:
    n, alpha = problem.count, x[normals]
    radii = problem.friction * alpha
    law, inner = given_radii(radii, alpha), 1e-13 * (problem.speed or 1.0)

    def admissible(terms, y):
        contacts = y[: 3 * n].reshape(n, 3)
        tangential = disk_projection(contacts[:, :2], radii)
        rows = np.clip(y[3 * n :], terms.bounds[:, 0], terms.bounds[:, 1])
        return np.concatenate([np.column_stack([tangential, alpha]).ravel(), rows])

    for steps in (0, 50, 500, 5000):
        if steps:
            x = iterated(problem, x, inner, steps, False, admissible).impulses
        y, _ = polished(problem, x, inner, law=law)
        if np.abs(deviation(problem, y, law)[0]).max(initial=0.0) <= 100.0 * inner:
            return y
    return x
