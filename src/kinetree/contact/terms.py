"""A contact problem as arrays, in the form that the solvers take, and the result that they give."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kinetree.contact.residuals import misfits, row_misfits


class Found(NamedTuple):
    """Impulses by a solver: contacts by (t1, t2, n), then rows with bounds; "solved" by the solver's own law."""

    impulses: np.ndarray
    status: str
    iterations: int


@dataclass(frozen=True, eq=False)
class Terms:
    """``u = A lambda + b`` with the law's offsets inside b and compliance inside A; n contacts, then m rows."""

    A: np.ndarray
    b: np.ndarray
    friction: np.ndarray
    bounds: np.ndarray

    @property
    def count(self) -> int:
        """Number of contacts n."""
        return len(self.friction)

    @property
    def masses(self) -> np.ndarray:
        """Of contacts ``3 / trace(A_ii)``, of rows ``1 / A_jj``; an immovable one has that of the others."""
        contacts = 3 * self.count
        diagonal = np.diag(self.A)
        sums = np.concatenate([diagonal[:contacts].reshape(-1, 3).sum(axis=1) / 3.0, diagonal[contacts:]])
        moving = sums > 1e-14 * sums.max(initial=0.0)
        mean = sums[moving].mean() if moving.any() else 1.0
        return 1.0 / np.where(moving, sums, mean)

    @property
    def speed(self) -> float:
        """The largest free velocity: the scale of residuals."""
        return float(np.abs(self.b).max(initial=0.0))

    def velocities(self, impulses: np.ndarray) -> np.ndarray:
        """u."""
        return self.A @ impulses + self.b

    def misfits(self, impulses: np.ndarray) -> np.ndarray:
        """The four residuals of each contact and row, (4, n + m)."""
        n, m = self.count, self.masses
        u = self.velocities(impulses)
        contacts = misfits(impulses[: 3 * n].reshape(n, 3), u[: 3 * n].reshape(n, 3), self.friction, m[:n])
        rows = row_misfits(impulses[3 * n :], u[3 * n :], self.bounds, m[n:])
        return np.concatenate([contacts, np.array([rows, 0.0 * rows, 0.0 * rows, rows])], axis=1)

    def worst(self, impulses: np.ndarray) -> float:
        """The largest natural map."""
        return float(self.misfits(impulses)[3].max(initial=0.0))
