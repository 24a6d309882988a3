"""The rows of a model's equality constraints as numbers: names, closed positions, and singular values.

Rows and velocities have units, so singular values are those of rows divided by their typical size, in the metric of the
mass matrix: of ``D^-1 G M^-1/2``.
"""

from __future__ import annotations

import functools

import numpy as np

from kinetree.algorithms.crba import crba
from kinetree.constraints import Kinematics
from kinetree.constraints.contract import dense
from kinetree.model.closing import Closing, closed_position, usual_position

SAMPLES, SPREAD = 8, 0.6  # closed positions about one, and how far the guess of each is from it [rad, m]
CLOSED = 1e-11  # [m, rad]
NOISE = 1e-6  # of a constraint's largest row: smaller rows come from the decimals of a file
ROUNDING = 1e-12  # of the largest row of all constraints
SINGULAR = 1e-8  # singular values below this part of the typical ones are zero


def equalities(model) -> list[tuple]:
    """The constraints with equality rows, and the numbers of the rows of each."""
    return [(c, numbers) for c, numbers in model.constraint_rows() if c.row_kind == "equality"]


def equality_jacobian(model, q) -> np.ndarray:
    """G of the equality rows."""
    kin = Kinematics(model, q.tolist())
    return dense([row for c, _ in equalities(model) for row in c.rows(kin)], model.nv)


def check_closed(model, q, tolerance: float = 1e-6) -> None:
    """Raise ConstraintError, which names the constraint and its error, unless rows hold at q that dynamics keep."""
    kin, left_out = Kinematics(model, q.tolist()), model.loop_rows().inexact
    for c, numbers in equalities(model):
        for n, x in enumerate(c.residual(kin) or ()):
            if numbers[n] not in left_out and not abs(float(x)) <= tolerance:
                raise c.violation("q", n, float(x))


class LoopRows:
    """Rows of equality constraints near a closed position.

    Parameters
    ----------
    model : Model
        Of models that depend on time, at t = 0.
    q : (nq,) array
        Closed [rad or m].

    Attributes
    ----------
    G : (rows, nv) array
        At q.
    places : list of (nq,) arrays
        Closed positions about q, and q as the first.
    """

    def __init__(self, model, q) -> None:
        self.model, closing = model.at(0.0), Closing(model, limits=False)
        rng = np.random.default_rng(0)
        starts = (closing.moved(q, SPREAD * rng.standard_normal(len(closing.free))) for _ in range(SAMPLES))
        found = map(closing.near, starts)
        self.places = [q, *(x for x in found if closing.gap(x) < CLOSED)]
        self.roots = [np.linalg.inv(np.linalg.cholesky(self._mass_matrix(x))).T for x in self.places]
        self.at = [equality_jacobian(self.model, x) for x in self.places]
        self.G = self.at[0]

    def _mass_matrix(self, q) -> np.ndarray:
        M = np.array(crba(self.model, q.tolist()), dtype=float)
        return M + np.diag(np.asarray(self.model.armature, dtype=float))

    @functools.cached_property
    def typical_size(self) -> np.ndarray:
        """The largest of each row over the positions, in the metric of M; infinite for rows that do not count."""
        sizes = np.array([np.linalg.norm(G @ root, axis=1) for G, root in zip(self.at, self.roots, strict=True)])
        size, first = sizes.max(axis=0), 0
        largest = size.max(initial=0.0)
        for _, numbers in equalities(self.model):
            own = slice(first, first := first + len(numbers))
            least = max(NOISE * size[own].max(initial=0.0), ROUNDING * largest)
            size[own] = np.where(size[own] > least, size[own], np.inf)
        numbers = [n for _, of in equalities(self.model) for n in of]
        return np.where(np.isin(numbers, self.model.loop_rows().inexact), np.inf, size)

    @functools.cached_property
    def scaled(self) -> list[np.ndarray]:
        """``D^-1 G M^-1/2`` at every position."""
        size = self.typical_size[:, None]
        return [(G @ root) / size for G, root in zip(self.at, self.roots, strict=True)]

    @functools.cached_property
    def singular_values(self) -> np.ndarray:
        """(positions, min(rows, nv)), descending."""
        return np.array([np.linalg.svd(K, compute_uv=False) for K in self.scaled])

    @functools.cached_property
    def generic_rank(self) -> int:
        """The number of rows that are solved for: the rank but for the decimals of files."""
        kept = set(self.model.independent_rows())
        return sum(n in kept for _, numbers in equalities(self.model) for n in numbers)

    @functools.cached_property
    def ranks(self) -> np.ndarray:
        """The rank of the rows at every position."""
        s = self.singular_values
        return np.minimum((s > SINGULAR * max(1.0, float(s.max(initial=0.0)))).sum(axis=1), self.generic_rank)


def require_closed(model, q) -> np.ndarray:
    """The given position, which has to be closed; by default the keyframe "initial", or a closed one near neutral."""
    if q is None:
        return closed_position(model, usual_position(model))
    check_closed(model.at(0.0), q)
    return q
