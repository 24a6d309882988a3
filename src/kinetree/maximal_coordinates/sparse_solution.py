"""Solutions of symmetric saddle-point systems in an order that keeps the zeros of a tree.

Bodies are eliminated from the leaves to the root, each followed by the rows of its joint: then nothing is filled, and
the cost is linear (Baraff 1996). Rows of a loop follow the last body of the loop below its common ancestor, and fill
along the loop.

Two factorizations in this order: SuperLU's L and U, ready at once, and ``L^T D L`` with half the entries, compiled for
the places of a system. No library on the registries has sparse symmetric indefinite factors in a given order: QDLDL
takes an order of its own (AMD), which puts rows before their bodies, whose pivots are zero there.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Sequence

import numpy as np

from kinetree.algorithms.sparse import ltdl_factors, solve_ltdl
from kinetree.algorithms.spec import Spec
from kinetree.compiler.calls import plain_call

SINGULAR = 1e-11  # of a pivot of rows, relative to its first value


def elimination_order(n: int, blocks: Sequence[Sequence[int]]) -> list[tuple[str, int]]:
    """The order of bodies and blocks of rows.

    Parameters
    ----------
    n : int
        Number of bodies, from 1.
    blocks : sequence of sequences of int
        The bodies that each block of rows connects; with one, it is held by the world.

    Returns
    -------
    list of ("body" or "rows", int)
    """
    beside: dict[int, list[tuple[int, int]]] = {i: [] for i in range(n + 1)}
    for m, bodies in enumerate(blocks):
        if len(bodies) in (1, 2):
            p, s = (0, *bodies)[-2:]
            beside[p].append((s, m))
            beside[s].append((p, m))
    parent, of_tree, visited = {0: 0}, {}, [0]
    for root in range(n + 1):
        if root not in parent:
            parent[root] = 0
            visited.append(root)
        for i in _from(visited):
            for other, m in beside[i]:
                if other not in parent:
                    parent[other], of_tree[other] = i, m
                    visited.append(other)
    closing: dict[int, list[int]] = {}
    for m in sorted(set(range(len(blocks))) - set(of_tree.values())):
        closing.setdefault(_ancestor(parent, blocks[m]), []).append(m)
    order: list[tuple[str, int]] = []
    for i in reversed(visited):
        order += [("rows", m) for m in closing.get(i, ())]
        order += [("body", i)] if i else []
        order += [("rows", of_tree[i])] if i in of_tree else []
    return order


def _from(visited: list[int]):
    """The last of a growing list, and what is added to it."""
    k = len(visited) - 1
    while k < len(visited):
        yield visited[k]
        k += 1


def _ancestor(parent, bodies: Sequence[int]) -> int:
    """The nearest common ancestor of bodies; the world of one."""
    if len(bodies) < 2:
        return 0
    paths = []
    for i in bodies:
        path = [i]
        while path[-1]:
            path.append(parent[path[-1]])
        paths.append(path)
    common = set(paths[0]).intersection(*paths[1:])
    return next(i for i in paths[0] if i in common)


class Pattern:
    """A sparse matrix whose entries have fixed places.

    Parameters
    ----------
    places : iterable of (int, int)
        Row and column of each entry, each place once.
    shape : tuple of two int

    Attributes
    ----------
    places : list of (int, int)
        In the order of the entries of the matrices, row by row.
    """

    def __init__(self, places, shape: tuple[int, int]) -> None:
        rows, columns = np.array([*places], np.int64).reshape(-1, 2).T
        self._order = np.lexsort((columns, rows))
        self.places = list(zip(rows[self._order].tolist(), columns[self._order].tolist(), strict=True))
        self._columns = columns[self._order].astype(np.int32)
        self._starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=shape[0]))]).astype(np.int32)
        self._shape = shape

    def matrix(self, values):
        """The matrix with these values, as a sparse array."""
        from scipy.sparse import csr_array

        return csr_array((np.asarray(values)[self._order], self._columns, self._starts), shape=self._shape)


class Factors:
    """``L D L^T`` of a matrix in its own order, without exchanges of rows, by SuperLU in symmetric mode.

    Parameters
    ----------
    matrix : (n, n) sparse array
        Symmetric, or with a symmetric pattern.

    Attributes
    ----------
    D : (n,) array
        Pivots; NaN where the factorization failed.
    fill : int
        Entries of L and U that are not zero.
    """

    def __init__(self, matrix) -> None:
        from scipy.sparse.linalg import splu

        options = {"SymmetricMode": True}
        try:
            self._lu = splu(matrix, permc_spec="NATURAL", diag_pivot_thresh=0.0, options=options)
        except RuntimeError:
            self._lu, self.D, self.fill = None, np.full(matrix.shape[0], np.nan), 0
            return
        self.D, self.fill = self._lu.U.diagonal()[self._lu.perm_c], self._lu.nnz

    def solve(self, b) -> np.ndarray:
        """The solution for one right-hand side."""
        return self._lu.solve(b)


def compiled_solution(model, rows, columns, size: int):
    """A compiled ``L^T D L`` of symmetric matrices with entries in these places, and its solution.

    Parameters
    ----------
    model : Model
        Beside which the function is kept.
    rows, columns : arrays of int
        Of the entries of both triangles, in an order that needs no exchange of rows.
    size : int

    Returns
    -------
    callable
        From the entries on and above the diagonal, in this order, and a right-hand side to the solution and the pivots.
    """
    last = size - 1  # `ltdl_factors` begins at the end
    places = [(last - r, last - c) for r, c in zip(rows.tolist(), columns.tolist(), strict=True) if r <= c]
    above = filled([(i, j) for i, j in places if i > j], size)

    def solution(model, entries, right):
        H = [[0.0] * (k + 1) for k in range(size)]
        for (i, j), x in zip(places, entries, strict=True):
            H[i][j] = x
        L, D = ltdl_factors(H, above)
        return solve_ltdl(L, D, right[::-1], above)[::-1], D[::-1]

    inputs, outputs = {"entries": (len(places),), "right": (size,)}, {"x": (size,), "D": (size,)}
    name = f"maximal_solution_{hashlib.sha256(repr((size, places)).encode()).hexdigest()[:16]}"
    return functools.partial(plain_call(Spec(name, solution, inputs, {}, outputs)), model)


def filled(places, size: int) -> list[list[int]]:
    """The columns before the diagonal of each row of L, the nearest first."""
    above: list[set[int]] = [set() for _ in range(size)]
    for i, j in places:
        above[i].add(j)
    for k in reversed(range(size)):
        if above[k]:
            nearest = max(above[k])
            above[nearest] |= above[k] - {nearest}
    return [sorted(columns, reverse=True) for columns in above]
