"""Order conditions of Runge-Kutta methods by rooted trees: the order of given coefficients."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from math import prod

import numpy as np

from kinetree.integrators.tableaus import Tableau
from kinetree.once import once

Tree = tuple  # a root is the sorted tuple of its subtrees; () is the tree with one vertex


@once
def rooted_trees(vertices: int) -> tuple[Tree, ...]:
    """All rooted trees with this many vertices.

    Examples
    --------
    >>> [len(rooted_trees(n)) for n in range(1, 9)]
    [1, 1, 2, 4, 9, 20, 48, 115]
    """
    return tuple(sorted({tuple(sorted(forest)) for forest in _forests(vertices - 1, vertices - 1)}))


def _forests(vertices: int, largest: int) -> Iterator[tuple[Tree, ...]]:
    """Sets of trees with this many vertices in all, the largest first."""
    if vertices == 0:
        yield ()
    for size in range(min(vertices, largest), 0, -1):
        for tree, rest in itertools.product(rooted_trees(size), _forests(vertices - size, size)):
            yield (tree, *rest)


def size(tree: Tree) -> int:
    """Number of vertices."""
    return 1 + sum(map(size, tree))


def density(tree: Tree) -> int:
    """The product over all vertices of the sizes of their subtrees."""
    return size(tree) * prod(map(density, tree))


def elementary_weights(tree: Tree, a) -> list:
    """phi_i(tree) of every stage: the product over the branches of ``sum_j a_ij phi_j(branch)``."""
    stages, result = range(len(a)), [1] * len(a)
    for branch in tree:
        inner = elementary_weights(branch, a)
        result = [result[i] * sum(x * y for x, y in zip(a[i], inner, strict=False)) for i in stages]
    return result


def defects(tableau: Tableau, vertices: int, weights=None) -> list:
    """Residual of each order condition of the trees of this size: ``sum_i b_i phi_i - 1 / density``.

    Parameters
    ----------
    tableau : Tableau
    vertices : int
    weights : sequence, optional
        Other weights than b, for example those of an embedded method.

    Notes
    -----
    Source: Butcher; Hairer, Norsett, Wanner, Solving ODEs I, theorem II.2.13. Exact if the coefficients are fractions.
    """
    b = tableau.b if weights is None else weights
    found = []
    for tree in rooted_trees(vertices):
        phi = elementary_weights(tree, (*tableau.a, *tableau.extra))
        found.append(sum(x * y for x, y in zip(b, phi, strict=False)) - _unit(b) / density(tree))
    return found


def continuous_defects(tableau: Tableau, vertices: int) -> list:
    """The same for the continuous weights: coefficients of powers of s in ``sum_i b_i(s) phi_i - s^n / density``."""
    found = []
    for tree in rooted_trees(vertices):
        phi = elementary_weights(tree, (*tableau.a, *tableau.extra))
        powers = [sum(row[k] * x for row, x in zip(tableau.dense, phi, strict=False))
                  for k in range(len(tableau.dense[0]))]  # fmt: skip
        if vertices > len(powers):
            powers += [0] * (vertices - len(powers))
        powers[vertices - 1] -= _unit(tableau.b) / density(tree)
        found.extend(powers)
    return found


def order(tableau: Tableau, weights=None, tolerance: float = 1e-12, highest: int = 9) -> int:
    """The order of a method: the largest size up to which all conditions hold.

    Examples
    --------
    >>> from kinetree.integrators.tableaus import RK38
    >>> order(RK38)
    4
    """
    for vertices in range(1, highest + 1):
        if np.max(np.abs(np.array(defects(tableau, vertices, weights), dtype=float))) > tolerance:
            return vertices - 1
    return highest


def _unit(numbers):
    """One, as a number of the same kind."""
    return type(numbers[0])(1)
