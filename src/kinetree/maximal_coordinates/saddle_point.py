r"""Solutions of the KKT system of bodies and rows, ``[[A, G^T], [G, 0]]``, in the order of the tree or dense."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinetree.arguments import choice
from kinetree.errors import SingularityError
from kinetree.maximal_coordinates import free_bodies
from kinetree.maximal_coordinates.sparse_solution import SINGULAR, Factors, compiled_solution, elimination_order

METHODS = ("sparse", "compiled", "dense")
TINY = 1e-200
ASSEMBLIES = 4  # patterns of zeros that are kept: with and without slopes, and at special positions


class SaddlePoint:
    """The places of the unknowns of a system, and its solutions.

    Parameters
    ----------
    model : Model
        Of the free bodies.
    blocks : sequence of (list of int, list of int)
        Blocks of rows by the numbers of the rows, with the bodies that they connect.
    kept : array of int
        The rows that are solved for.
    weight : float
        Of ``G^T G`` in the first block [kg m^2]; more than zero where inertias are singular.
    names : tuple of str, sequence of str, sequence of str
        Of the system, its bodies and its rows, for messages.
    """

    def __init__(self, model, blocks: Sequence, kept, weight: float, names) -> None:
        n = model.nb - 1
        self._model, self.nv, self.kept, self._weight = model, 6 * n, kept, weight
        self.who, self._body_names, self._row_names = names
        place = {row: self.nv + k for k, row in enumerate(kept.tolist())}
        order: list[int] = []
        for kind, m in elimination_order(n, [bodies for _, bodies in blocks]):
            if kind == "body":
                order += range(6 * m - 6, 6 * m)
            else:
                order += [place[row] for row in blocks[m][0] if row in place]
        self.order = np.array(order, int)
        self._assemblies: list[Assembly] = []

    def assembly(self, A, G) -> Assembly:
        """Where the entries of A and G are in the matrix; found again where their zeros change."""
        found = next((each for each in self._assemblies if each.fits(A, G)), None)
        if found is None:
            found = Assembly(A, G, self.kept, self.order)
            self._assemblies = [found, *self._assemblies[: ASSEMBLIES - 1]]
        return found

    def factorized(self, A, G, method: str) -> Factorized:
        """The factors for these terms by one of `METHODS`.

        Raises
        ------
        ConstraintError
            Rows follow from others; they are named.
        SingularityError
            A body can move without moving mass.
        """
        choice("method", method, METHODS)
        if self._weight:  # which changes no solution of G x = rows, and makes the first block regular
            A = (A + self._weight * (G[self.kept].T @ G[self.kept])).tocsr()
        places = self.assembly(A, G)
        if method == "dense" or not places.size:
            dense = places.matrix(A, G).toarray()
            return self._ordered(G, lambda right: np.linalg.solve(dense, right))
        if method == "compiled":
            return self._ordered(G, self._compiled_solve(A, G, places))
        factors = Factors(places.matrix(A, G))
        self._require_regular(factors.D, A, G, places)
        return self._ordered(G, factors.solve)

    def _compiled_solve(self, A, G, places: Assembly):
        """Solutions by a function of machine code, which factorizes for each right-hand side."""
        if places.compiled is None:
            places.compiled = compiled_solution(self._model, places.rows, places.columns, places.size)
        call, entries = places.compiled, places.values(A, G)[places.rows <= places.columns]

        def solve(right):
            if right.ndim == 2:
                return np.stack([solve(each) for each in right.T], axis=1) if right.shape[1] else right
            try:
                x, D = call(entries, right)
            except SingularityError:
                D = np.full(len(right), np.nan)
            self._require_regular(D, A, G, places)
            return x

        return solve

    def _ordered(self, G, solve) -> Factorized:
        """Solutions in the order of the unknowns from those in the order of elimination."""

        def found(right):
            x = np.empty_like(right)
            x[self.order] = solve(right[self.order])
            return x

        return Factorized(self, G, found)

    def lifted(self, G, right, rows):
        """The right-hand side that belongs to the matrix."""
        if self._weight:
            right = right + self._weight * (G[self.kept].T @ rows[self.kept])
        return np.concatenate([right, rows[self.kept]])

    def _require_regular(self, pivots, A, G, places: Assembly) -> None:
        """Refuse rows and motions whose pivots are nothing but rounding."""
        D = np.empty(len(self.order))
        D[self.order] = pivots
        inertia = places.diagonal_of(A)
        inertia = np.maximum(inertia, TINY * (inertia.max() or 1.0))
        first = np.concatenate([inertia, places.row_sizes(G, 1.0 / inertia)])
        if (np.abs(D) > SINGULAR * first).all():  # not so for NaN
            return
        if names := self._dependent(G[self.kept].toarray()):
            raise free_bodies.redundant(names, self.who)
        pivots = D if np.isfinite(D).all() else inertia
        k = int(np.argmin(np.abs(pivots[: self.nv]) / inertia))
        raise SingularityError(
            f"{self.who}: body {self._body_names[k // 6]!r} or one that it carries can move without moving mass: its "
            "inertia is singular, and no joint holds it. Give it moments of inertia, or a joint of fewer freedoms."
        )

    def _dependent(self, G) -> list[str]:
        """Names of rows that follow from the others."""
        from scipy.linalg import qr

        size = np.linalg.norm(G, axis=1)
        _, R, order = qr((G / np.where(size > 0.0, size, 1.0)[:, None]).T, mode="economic", pivoting=True)
        rank = int((np.abs(np.diag(R)) > 1e-9).sum())
        return [self._row_names[self.kept[n]] for n in sorted(order[rank:])]


class Assembly:
    """Where the entries of A and G are in the matrix ``[[A, G^T], [G, 0]]`` of the kept rows, in an order.

    Parameters
    ----------
    A, G : sparse arrays
    kept, order : arrays of int
    """

    def __init__(self, A, G, kept, order) -> None:
        self._pattern = [each.copy() for each in _pattern(A, G)]
        nv, size = A.shape[0], len(order)
        place = np.empty(size, int)
        place[order] = np.arange(size)
        rows_A, of_G = _rows(A), np.full(G.shape[0], -1)
        of_G[kept] = np.arange(len(kept))
        self._of_row = of_G[_rows(G)]
        self._kept = np.flatnonzero(self._of_row >= 0)
        below, beside = place[nv + self._of_row[self._kept]], place[G.indices[self._kept]]
        rows = np.concatenate([place[rows_A], below, beside])
        columns = np.concatenate([place[A.indices], beside, below])
        self._order = np.lexsort((rows, columns))
        self.rows, self.columns, self.size = rows[self._order], columns[self._order], size
        self._starts = np.concatenate([[0], np.cumsum(np.bincount(columns, minlength=size))]).astype(np.int32)
        self.compiled = None  # the function of `compiled_solution`, once it is needed
        self._diagonal = np.flatnonzero(rows_A == A.indices)

    def fits(self, A, G) -> bool:
        """Whether A and G have their entries in the same places."""
        return all(map(np.array_equal, self._pattern, _pattern(A, G)))

    def diagonal_of(self, A) -> np.ndarray:
        """The diagonal of A, which has no entries where bodies have no mass and no rows hold them."""
        found = np.zeros(A.shape[0])
        found[A.indices[self._diagonal]] = A.data[self._diagonal]
        return found

    def values(self, A, G) -> np.ndarray:
        """The entries of the matrix, column by column."""
        lower = G.data[self._kept]
        return np.concatenate([A.data, lower, lower])[self._order]

    def matrix(self, A, G):
        """The matrix as a sparse array."""
        from scipy.sparse import csc_array

        indices = self.rows.astype(np.int32)
        return csc_array((self.values(A, G), indices, self._starts), shape=(self.size, self.size))

    def row_sizes(self, G, weights) -> np.ndarray:
        """Sums of the squares of the entries of the kept rows, with weights of the columns."""
        k = self._kept
        weighted = G.data[k] ** 2 * weights[G.indices[k]]
        return np.bincount(self._of_row[k], weights=weighted, minlength=self.size - len(weights))


def _pattern(A, G):
    return A.indptr, A.indices, G.indptr, G.indices


def _rows(matrix) -> np.ndarray:
    return np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))


class Factorized:
    """A factorized KKT system.

    Parameters
    ----------
    places : SaddlePoint
    G : (nc, nv) sparse array
    solve : callable
        Of right-hand sides over the twists and the kept rows, one or columns of several.
    """

    def __init__(self, places: SaddlePoint, G, solve) -> None:
        self._places, self._G, self._solve = places, G, solve

    def solve(self, right, rows) -> tuple[np.ndarray, np.ndarray]:
        """Twists or rates x with ``G x = rows``, and multipliers that exert ``G^T lambda``; several as columns."""
        places = self._places
        found = self._solve(places.lifted(self._G, right, rows))
        lam = np.zeros(rows.shape)
        lam[places.kept] = -found[places.nv :]
        return found[: places.nv], lam
