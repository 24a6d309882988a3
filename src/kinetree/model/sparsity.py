"""Branch-induced sparsity: the zeros of the mass matrix in every state, and the operations that they save.

The book's expanded parent array lambda' has one entry for each velocity coordinate; here it counts from 0, and -1 is
the world, as `Tree.dof_parent` gives it. kappa(k), the support of coordinate k, is k itself and its ancestors.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np


def ancestors_of(parent: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """Ancestors lambda'(k), lambda'(lambda'(k)), ... of every coordinate, the nearest first.

    >>> ancestors_of((-1, 0, 1, 1))
    ((), (0,), (1, 0), (1, 0))
    """
    above: list[tuple[int, ...]] = []
    for p in parent:
        above.append((p, *above[p]) if p >= 0 else ())
    return tuple(above)


def sparsity_pattern(parent: Sequence[int]) -> np.ndarray:
    """Where the mass matrix of a tree may be other than zero, as an (n, n) array of booleans.

    Notes
    -----
    Source: Featherstone (2008), section 6.4: entry (i, j) is zero unless i is an ancestor or a descendant of j, or j
    itself.

    >>> sparsity_pattern((-1, 0, 0)).astype(int).tolist()
    [[1, 1, 1], [1, 1, 0], [1, 0, 1]]
    """
    n = len(parent)
    pattern = np.eye(n, dtype=bool)
    for k, above in enumerate(ancestors_of(parent)):
        for i in above:
            pattern[k, i] = pattern[i, k] = True
    return pattern


def filled_rows(rows: Sequence[Iterable[int]]) -> tuple[tuple[int, ...], ...]:
    """Columns of the off-diagonal entries of L in ``M = L^T L`` or ``L^T D L``, those that elimination fills included.

    Parameters
    ----------
    rows : sequence of iterable of int
        For row k of a symmetric matrix, the columns below k in which it is not zero.

    Returns
    -------
    tuple of tuple of int
        For each row of L, descending. For a tree these are the ancestors: nothing is filled.

    Notes
    -----
    Source: Featherstone (2008), section 6.4-6.5 for trees, where nothing is filled. Couplings between branches leave
    other patterns. Eliminating row k, the last one first, adds its dyad to all rows it has entries in, so each of them
    inherits the columns before its own.

    Examples
    --------
    A tree keeps its zeros; two branches that are coupled with each other do not:

    >>> filled_rows([(), (0,), (0,), (1,)])
    ((), (0,), (0,), (1,))
    >>> filled_rows([(), (0,), (0,), (1, 2)])
    ((), (0,), (1, 0), (2, 1))
    """
    columns = [set(row) for row in rows]
    for k in reversed(range(len(columns))):
        for i in columns[k]:
            columns[i] |= {j for j in columns[k] if j < i}
    return tuple(tuple(sorted(row, reverse=True)) for row in columns)


class Branching(NamedTuple):
    """Numbers on which the costs of the mass matrix and its factorizations depend.

    Attributes
    ----------
    n : int
        Number of nodes of the tree, the root not counted.
    D0 : int
        Nodes that are no children of the root, ``n - |mu(0)|``: composite inertias that are propagated to a parent.
    D1 : int
        Sum of ``|kappa(k)| - 1``: entries below the diagonal of M, and of L.
    D2 : int
        Sum of ``|kappa(k)| (|kappa(k)| - 1) / 2``: inner steps of a factorization.
    depth : int
        The longest path from the root.
    """

    n: int
    D0: int
    D1: int
    D2: int
    depth: int

    @property
    def nonzeros(self) -> int:
        """Entries of M that are not zero, ``n + 2 D1``."""
        return self.n + 2 * self.D1

    @property
    def density(self) -> float:
        """Their share of all entries; 1 for a chain."""
        return self.nonzeros / self.n**2 if self.n else 1.0


def branching_of(parent: Sequence[int]) -> Branching:
    """The numbers D0, D1 and D2 of a tree.

    Parameters
    ----------
    parent : sequence of int
        Parent of each node, counted from 0; -1 is the root.

    Notes
    -----
    Source: Featherstone (2008), table 6.6, eq. 6.28-6.29 and 10.4-10.8.

    Examples
    --------
    >>> branching_of((-1, 0, 1, 2, 3, 4))
    Branching(n=6, D0=5, D1=15, D2=35, depth=6)
    >>> branching_of((-1, 0, 0, 1, 1, 2, 2))
    Branching(n=7, D0=6, D1=10, D2=14, depth=3)
    """
    sizes = [len(above) + 1 for above in ancestors_of(parent)]
    return Branching(
        n=len(sizes),
        D0=sum(p >= 0 for p in parent),
        D1=sum(d - 1 for d in sizes),
        D2=sum(d * (d - 1) // 2 for d in sizes),
        depth=max(sizes, default=0),
    )
