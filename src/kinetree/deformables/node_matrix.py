"""The sparse blocks of the matrix of the nodes, and its solution."""

from __future__ import annotations

import copy
from collections.abc import Callable

import numpy as np

from kinetree.deformables.nodes import Nodes
from kinetree.errors import SimulationError

SOLVERS = ("direct", "cg")
TOLERANCE = 1e-10  # of conjugate gradients, relative
WORTH = 16  # entries of the factors per row and iteration: with more iterations new factors would take less time
FEWEST = 4


class NodeMatrix:
    """The blocks of the nodes' matrix with fixed patterns: free-free, free-attached, attached-attached.

    Parameters
    ----------
    nodes : Nodes
    solver : {"direct", "cg"}
        SuperLU with the ordering of symmetric matrices, or conjugate gradients with the inverse of the 3 x 3 blocks of
        the nodes. Matrices of successive steps differ little: factors of large ones serve several steps, as
        preconditioner of a few conjugate gradients.
    """

    def __init__(self, nodes: Nodes, solver: str) -> None:
        self.nodes, self.solver = nodes, solver
        free = 3 * len(nodes.free)
        nodes.slots  # noqa: B018  the pattern is made on first use
        rows, columns = nodes.rows, nodes.columns
        lower = rows >= columns
        both = lower & (rows < free)
        self._ff = _symmetric_pattern(rows[both], columns[both], np.flatnonzero(both), free)
        mixed = lower & (rows >= free) & (columns < free)
        self._fa = _pattern(columns[mixed], rows[mixed] - free, np.flatnonzero(mixed), (free, 3 * len(nodes.attached)))
        own = lower & (columns >= free)
        attached = rows[own] - free, columns[own] - free
        self._aa = _symmetric_pattern(*attached, np.flatnonzero(own), 3 * len(nodes.attached))
        self._mass = np.repeat(nodes.masses[nodes.moving], 3)
        self._factors, self._last = None, None

    def unused(self) -> NodeMatrix:
        """The same patterns with entries, factors and solutions of their own."""
        other = copy.copy(self)
        other._ff, other._fa, other._aa = (
            (type(matrix)((np.zeros_like(matrix.data), matrix.indices, matrix.indptr), shape=matrix.shape), slots)
            for matrix, slots in (self._ff, self._fa, self._aa)
        )
        other._factors, other._last = None, None
        return other

    def blocks(self, entries: np.ndarray, mass: float):
        """The matrix ``entries + mass M`` as sparse blocks (ff, fa, aa)."""
        entries = entries.copy()
        entries[self.nodes.diagonal] += mass * self._mass
        for pattern in (self._ff, self._fa, self._aa):
            matrix, slots = pattern
            matrix.data = entries[slots]
        return self._ff[0], self._fa[0], self._aa[0]

    def solve(self, ff, right: np.ndarray) -> np.ndarray:
        """``ff^-1 right`` for columns."""
        if not right.size:
            return right
        if self.solver == "cg":
            return self._by_blocks(ff, right)
        most = 0 if self._factors is None else self._factors.nnz // (WORTH * len(right))
        if most >= FEWEST:
            found = _conjugate_gradients(ff, right, self._factors.solve, most, self._start(right))
            if found is not None:
                self._last = found
                return found
        self._factors = _factors(ff)
        # One by one: of several columns SuperLU takes some three times as long.
        self._last = np.column_stack([self._factors.solve(column) for column in right.T])
        return self._last

    def inverse(self, ff) -> Callable[[np.ndarray], np.ndarray]:
        """The product of ``ff^-1`` with vectors, for several of them."""
        if self.solver == "cg":
            return lambda right: self._by_blocks(ff, right[:, None])[:, 0]
        return _factors(ff).solve if ff.shape[0] else np.copy

    def _start(self, right) -> np.ndarray:
        """The last solution, as a start of iterations."""
        return self._last if self._last is not None and self._last.shape == right.shape else np.zeros_like(right)

    def _by_blocks(self, ff, right):
        inverse = np.linalg.inv(_diagonal_blocks(ff))

        def apply(x):
            return np.einsum("nij,nj->ni", inverse, x.reshape(-1, 3)).ravel()

        self._last = _conjugate_gradients(ff, right, apply, 10 * len(right), self._start(right))
        if self._last is None:
            raise SimulationError("conjugate gradients of the nodes do not converge; use solver='direct'.")
        return self._last


def _factors(ff):
    from scipy.sparse.linalg import splu

    try:
        order = {"permc_spec": "MMD_AT_PLUS_A", "diag_pivot_thresh": 0.0, "options": {"SymmetricMode": True}}
        return splu(ff, **order)
    except RuntimeError as error:
        raise SimulationError(f"the matrix of the nodes is singular: {error}") from error


def _conjugate_gradients(matrix, right, preconditioner, most: int, start) -> np.ndarray | None:
    """Solutions for the columns, by so many iterations at most; None if they do not suffice."""
    from scipy.sparse.linalg import LinearOperator, cg

    operator = LinearOperator(matrix.shape, preconditioner, dtype=float)
    found = np.empty_like(right)
    for k in range(right.shape[1]):
        found[:, k], failed = cg(matrix, right[:, k], start[:, k], rtol=TOLERANCE, M=operator, maxiter=most)
        if failed:
            return None
    return found


def _pattern(rows, columns, slots, shape):
    """A sparse matrix (CSC) with these entries, and the place of each in the array of entries."""
    from scipy.sparse import csc_array

    matrix = csc_array((np.arange(1, len(rows) + 1), (rows, columns)), shape=shape)
    order = matrix.data - 1
    return csc_array((np.zeros(len(rows)), matrix.indices, matrix.indptr), shape=shape), slots[order]


def _symmetric_pattern(rows, columns, slots, size):
    """The same of both triangles."""
    below = rows != columns
    return _pattern(
        np.concatenate((rows, columns[below])),
        np.concatenate((columns, rows[below])),
        np.concatenate((slots, slots[below])),
        (size, size),
    )


def _diagonal_blocks(matrix) -> np.ndarray:
    """The 3 x 3 blocks on the diagonal (n, 3, 3)."""
    n = matrix.shape[0] // 3
    columns = np.repeat(np.arange(matrix.shape[1]), np.diff(matrix.indptr))
    inside = matrix.indices // 3 == columns // 3
    found = np.zeros((n, 3, 3))
    rows, columns = matrix.indices[inside], columns[inside]
    found[rows // 3, rows % 3, columns % 3] = matrix.data[inside]
    return found
