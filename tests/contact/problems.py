"""Random contact problems: definite, semidefinite, with redundant contacts."""

from __future__ import annotations

import numpy as np

from kinetree.contact import ContactProblem

KINDS = ("definite", "semidefinite", "redundant")


def random_problem(seed: int, kind: str | None = None, most: int = 12, frictionless: bool = False) -> ContactProblem:
    """Contacts of a body system with dense random Jacobian, and coefficients of friction up to 1.5.

    "definite": more velocities than contact rows; "semidefinite": fewer; "redundant": contacts that are there twice.
    Free velocities are in the range of the Jacobian, so that a solution exists.
    """
    rng = np.random.default_rng(seed)
    kind = kind or KINDS[seed % 3]
    n = int(rng.integers(1, most + 1))
    nv = 3 * n + int(rng.integers(0, 6)) if kind == "definite" else int(rng.integers(3, max(4, 3 * n)))
    J = rng.normal(size=(n, 3, nv))
    if kind == "redundant" and n > 1:
        for _ in range(int(rng.integers(1, n))):
            J[rng.integers(n)] = J[rng.integers(n)]
    J = J.reshape(3 * n, nv) * np.exp(rng.normal(size=nv))
    friction = np.zeros(n) if frictionless else rng.uniform(0.0, 1.5, size=n)
    return ContactProblem(J @ J.T, J @ rng.normal(size=nv), friction)
