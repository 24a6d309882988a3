r"""The alternating direction method of multipliers for cones, with De Saxcé's shift for Coulomb's law.

``min lambda^T A lambda / 2 + lambda^T (b + s)`` over the cones; the shift ``s = mu |u_t| n`` is renewed in each
iteration, or zero for the convex relaxation, where the method always converges. An iteration is a product with
``(A + eta + rho)^-1``, from one decomposition of A for all penalties rho.

Source: J. Carpentier, Q. Le Lidec, L. Montaut, From compliant to rigid contact simulation: a unified and efficient
approach (2024), algorithm 1; S. Boyd et al. (2011), section 3.4.1, for the penalty.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kinetree.contact.residuals import cone_projection
from kinetree.contact.terms import Found, Terms

Set = Callable[[Terms, np.ndarray], np.ndarray]
"""The nearest admissible impulses."""
ETA = 1e-9
BALANCE, FACTOR = 5.0, 2.0
EVERY = 20
RELAXATION = 1.6


def in_cones(terms: Terms, x: np.ndarray) -> np.ndarray:
    """The nearest admissible impulses."""
    n = terms.count
    cones = cone_projection(x[: 3 * n].reshape(n, 3), terms.friction)
    return np.concatenate([cones.ravel(), np.clip(x[3 * n :], terms.bounds[:, 0], terms.bounds[:, 1])])


def shift(terms: Terms, dual: np.ndarray) -> np.ndarray:
    """``mu |u_t|`` at the normals, zero elsewhere."""
    n, s = terms.count, np.zeros_like(dual)
    s[2 : 3 * n : 3] = terms.friction * np.hypot(dual[0 : 3 * n : 3], dual[1 : 3 * n : 3])
    return s


def iterated(
    terms: Terms, start: np.ndarray, tolerance: float, most: int, shifted: bool, admissible: Set = in_cones
) -> Found:
    """The method on scaled terms; the impulses are admissible, by default in their cones."""
    values, vectors = np.linalg.eigh(terms.A)
    values = np.maximum(values, 0.0)
    positive = values[values > 1e-12 * values.max(initial=0.0)]
    rho = np.sqrt(positive[0] * positive[-1]) if len(positive) else 1.0
    x = z = admissible(terms, start)
    u = terms.velocities(x)
    s = shift(terms, u) if shifted else np.zeros_like(u)
    y = -(u + s)
    for count in range(1, most + 1):
        right = ETA * x + rho * z - y - terms.b - s
        x = vectors @ ((vectors.T @ right) / (values + ETA + rho))
        relaxed, old = RELAXATION * x + (1.0 - RELAXATION) * z, z
        z = admissible(terms, relaxed + y / rho)
        y = y + rho * (relaxed - z)
        if shifted:
            s = shift(terms, y)
        primal, dual = np.abs(x - z).max(initial=0.0), rho * np.abs(z - old).max(initial=0.0)
        if max(primal, dual) <= tolerance:
            return Found(z, "solved", count)
        if count % EVERY == 0:
            if primal > BALANCE * dual:
                rho *= FACTOR
            elif dual > BALANCE * primal:
                rho /= FACTOR
    return Found(z, "not_converged", most)
