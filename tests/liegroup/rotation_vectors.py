"""Rotation vectors of all lengths that matter, and the series that define the tangent maps."""

import numpy as np

from kinetree.spatial import Vector3

ANGLES = [0.0, 1e-300, 1e-12, 1e-8, 1e-4, 0.1, 0.2, 0.999999, 1.0, 1.000001, 2.0, 3.0, np.pi - 1e-4, np.pi - 1e-9]
RNG = np.random.default_rng(13)


def turn(angle):
    """A rotation vector of this length."""
    v = RNG.normal(size=3)
    return Vector3.of(angle * v / np.linalg.norm(v))


def series(A, offset, terms=40):
    """sum (A^k / (k + offset)!)."""
    total, term = np.zeros_like(A), np.eye(len(A))
    for k in range(1, offset + 1):
        term = term / k
    for k in range(terms):
        total = total + term
        term = term @ A / (k + 1 + offset)
    return total
