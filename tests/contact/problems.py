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


def bodies_problem(seed: int, bodies: int = 20, contacts: int = 40, friction: float = 0.8) -> ContactProblem:
    """Free bodies that touch each other and the ground at random points with random normals: a sparse matrix."""
    rng = np.random.default_rng(seed)
    J = np.zeros((contacts, 3, 6 * bodies))
    for i in range(contacts):
        second, first = rng.choice(bodies, 2, replace=False)
        E = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        for body, sign in ((second, 1.0), (first, -1.0))[: 1 if i % 4 == 0 else 2]:
            r = 0.5 * rng.normal(size=3)
            J[i, :, 6 * body : 6 * body + 3] = sign * np.cross(r, E.T)
            J[i, :, 6 * body + 3 : 6 * body + 6] = sign * E.T
    J = J.reshape(3 * contacts, -1)
    inverse = np.tile([6.0, 6.0, 6.0, 1.0, 1.0, 1.0], bodies) * np.repeat(np.exp(rng.normal(size=bodies)), 6)
    return ContactProblem((J * inverse) @ J.T, J @ rng.normal(size=6 * bodies), friction)
