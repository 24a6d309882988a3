"""Projected Gauss-Seidel: contacts in turn, by one projection each, or each solved exactly.

Source: M. Jean, The non-smooth contact dynamics method (1999); P. Preclik, U. Rüde (2015).
"""

from __future__ import annotations

from math import hypot

import numpy as np

from kinetree.contact.one_contact import solve_contact
from kinetree.contact.terms import Found, Terms

CHECK_EVERY = 4  # sweeps


def projected_gauss_seidel(terms: Terms, start: np.ndarray, tolerance: float, most: int) -> Found:
    """A projection of the normal impulse, then one of the tangential impulse onto its disk."""
    masses = [
        (1.0 / B[2, 2], 1.0 / np.linalg.eigvalsh(B[:2, :2])[1]) if B[2, 2] > 0.0 else (0.0, 0.0)
        for B in _blocks(terms)
    ]

    def contact(i, old, u):
        normal_mass, tangential_mass = masses[i]
        t1, t2, n = old
        new = max(0.0, n - u[2] * normal_mass)
        (_, _, xn), (_, _, yn), _ = blocks[i]
        u1, u2 = u[0] + xn * (new - n), u[1] + yn * (new - n)
        t1, t2 = t1 - tangential_mass * u1, t2 - tangential_mass * u2
        size, radius = hypot(t1, t2), terms.friction[i] * new
        scale = radius / size if size > radius else 1.0
        return t1 * scale, t2 * scale, new

    blocks = [B.tolist() for B in _blocks(terms)]
    return _swept(terms, start, tolerance, most, contact)


def block_gauss_seidel(
    terms: Terms, start: np.ndarray, tolerance: float, most: int, relaxation: float = 1.0
) -> Found:
    """Each contact is solved exactly for the impulses of the others."""
    blocks = [(B + 1e-14 * np.trace(B) * np.eye(3)).tolist() for B in _blocks(terms)]

    def contact(i, old, u):
        B = blocks[i]
        if B[2][2] <= 0.0:
            return old
        b = [u[k] - B[k][0] * old[0] - B[k][1] * old[1] - B[k][2] * old[2] for k in range(3)]
        new = solve_contact(B, b, terms.friction[i])
        return [x + relaxation * (y - x) for x, y in zip(old, new, strict=True)]

    return _swept(terms, start, tolerance, most, contact)


def _blocks(terms: Terms) -> list[np.ndarray]:
    return [terms.A[k : k + 3, k : k + 3] for k in range(0, 3 * terms.count, 3)]


def _swept(terms: Terms, start: np.ndarray, tolerance: float, most: int, contact) -> Found:
    x, A, n = start.copy(), terms.A, terms.count
    u = terms.velocities(x)
    columns = [np.ascontiguousarray(A[:, 3 * i : 3 * i + 3]) for i in range(n)]
    rows = [(3 * n + j, A[3 * n + j, 3 * n + j], *terms.bounds[j].tolist()) for j in range(len(terms.bounds))]
    for sweep in range(1, most + 1):
        for i in range(n):
            here = slice(3 * i, 3 * i + 3)
            new = np.array(contact(i, x[here].tolist(), u[here].tolist()))
            u += columns[i] @ (new - x[here])
            x[here] = new
        for k, a, low, high in rows:
            if a > 0.0:
                new = min(max(x[k] - u[k] / a, low), high)
                u += A[:, k] * (new - x[k])
                x[k] = new
        if sweep % CHECK_EVERY == 0 or sweep in (1, most):
            u = terms.velocities(x)
            if terms.worst(x) <= tolerance:
                return Found(x, "solved", sweep)
            if not np.isfinite(x).all():
                break
    return Found(x, "not_converged", sweep if most else 0)
