r"""Solutions of the KKT system of bodies and rows, ``[[A, G^T], [G, 0]]``, dense or in the order of the tree."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinetree.arguments import choice
from kinetree.errors import SingularityError
from kinetree.maximal_coordinates import free_bodies
from kinetree.maximal_coordinates.sparse_solution import SINGULAR, Factors, elimination_order

METHODS = ("sparse", "dense")
TINY = 1e-200


class SaddlePoint:
    """The places of the unknowns of a system, and its solutions.

    Parameters
    ----------
    n : int
        Number of bodies.
    blocks : sequence of (list of int, list of int)
        Blocks of rows by the numbers of the rows, with the bodies that they connect.
    kept : array of int
        The rows that are solved for.
    weight : float
        Of ``G^T G`` in the first block [kg m^2]; more than zero where inertias are singular.
    names : tuple of str, sequence of str, sequence of str
        Of the system, its bodies and its rows, for messages.
    """

    def __init__(self, n: int, blocks: Sequence, kept, weight: float, names) -> None:
        self.nv, self.kept, self._weight = 6 * n, kept, weight
        self.who, self._body_names, self._row_names = names
        place = {row: self.nv + k for k, row in enumerate(kept.tolist())}
        order: list[int] = []
        for kind, m in elimination_order(n, [bodies for _, bodies in blocks]):
            if kind == "body":
                order += range(6 * m - 6, 6 * m)
            else:
                order += [place[row] for row in blocks[m][0] if row in place]
        self.order = np.array(order, int)

    def matrix(self, A, G):
        """The matrix over the twists and the kept rows, as a sparse array."""
        from scipy.sparse import block_array

        G = G[self.kept]
        return block_array([[A, G.T], [G, None]], format="csc") if G.shape[0] else A.tocsc()

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
            A = A + self._weight * (G[self.kept].T @ G[self.kept])
        matrix = self.matrix(A, G)
        if method == "dense":
            dense = matrix.toarray()
            return Factorized(self, G, lambda right: np.linalg.solve(dense, right))
        factors = Factors(matrix[self.order][:, self.order].tocsc())
        self._require_regular(factors, A, G)

        def solve(right):
            found = np.empty_like(right)
            found[self.order] = factors.solve(right[self.order])
            return found

        return Factorized(self, G, solve)

    def lifted(self, G, right, rows):
        """The right-hand side that belongs to the matrix."""
        if self._weight:
            right = right + self._weight * (G[self.kept].T @ rows[self.kept])
        return np.concatenate([right, rows[self.kept]])

    def _require_regular(self, factors: Factors, A, G) -> None:
        """Refuse rows and motions whose pivots are nothing but rounding."""
        D, G = np.empty(len(self.order)), G[self.kept]
        D[self.order] = factors.D
        inertia = np.maximum(A.diagonal(), TINY * A.diagonal().max())
        first = np.concatenate([inertia, G.power(2) @ (1.0 / inertia)])
        if (np.abs(D) > SINGULAR * first).all():  # not so for NaN
            return
        if names := self._dependent(G.toarray()):
            raise free_bodies.redundant(names, self.who)
        pivots = D if np.isfinite(D).all() else A.diagonal()
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
