"""Pure graph code: everything about a rooted tree that follows from its parent array alone.

Node 0 is the world, ``parent[0]`` is -1, and the numbering is *regular*: every node has a higher number than its
parent. The book writes lambda(i) for ``parent[i]``, mu(i) for the children, kappa(i) for the support and nu(i) for the
subtree.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from kinetree.arguments import whole
from kinetree.errors import TopologyError


def check_regular(parent: Sequence[int]) -> None:
    """Raise an error for a parent array that is not that of a regularly numbered tree.

    Parameters
    ----------
    parent : sequence of int
        ``parent[0]`` is -1, ``parent[i]`` the number of the parent of node i.

    Raises
    ------
    TopologyError
        If node 0 is not the root, or a parent does not come before its child.

    Notes
    -----
    Source: Featherstone, Rigid Body Dynamics Algorithms, section 4.1.2.
    """
    if len(parent) == 0 or parent[0] != -1:
        found = "an empty array" if len(parent) == 0 else f"parent[0] = {parent[0]}"
        raise TopologyError(f"a parent array starts with -1, the root has no parent; found {found}", parent=parent)
    for i, p in enumerate(parent[1:], start=1):
        if not 0 <= p < i:
            raise TopologyError(
                f"parent[{i}] = {p}, expected a number from 0 to {i - 1}: in a regular numbering every node comes "
                "after its parent. regular_order() renumbers a tree.",
                node=i,
                parent=p,
            )


def children_of(parent: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """Child sets mu(i) of every node, ascending.

    >>> children_of((-1, 0, 1, 1))
    ((1,), (2, 3), (), ())
    """
    children: list[list[int]] = [[] for _ in parent]
    for i, p in enumerate(parent[1:], start=1):
        children[p].append(i)
    return tuple(map(tuple, children))


def support_of(parent: Sequence[int], i: int) -> tuple[int, ...]:
    """Support kappa(i): the joints (named by the body they move) on the path from the root to node i, ascending.

    >>> support_of((-1, 0, 1, 1), 3)
    (1, 3)
    """
    path = []
    while i > 0:
        path.append(i)
        i = parent[i]
    return tuple(reversed(path))


def subtree_of(children: Sequence[Sequence[int]], i: int) -> tuple[int, ...]:
    """Subtree nu(i): node i and all its descendants, ascending.

    >>> subtree_of(children_of((-1, 0, 1, 1)), 1)
    (1, 2, 3)
    """
    found, open_nodes = [], [i]
    while open_nodes:
        node = open_nodes.pop()
        found.append(node)
        open_nodes.extend(children[node])
    return tuple(sorted(found))


def depths_of(parent: Sequence[int]) -> tuple[int, ...]:
    """Number of joints between the root and every node.

    >>> depths_of((-1, 0, 1, 1))
    (0, 1, 2, 2)
    """
    depth = [0] * len(parent)
    for i, p in enumerate(parent[1:], start=1):
        depth[i] = depth[p] + 1
    return tuple(depth)


def common_ancestor(parent: Sequence[int], i: int, j: int) -> int:
    """The node of highest number that supports both i and j (or is one of them).

    >>> common_ancestor((-1, 0, 1, 1), 2, 3)
    1
    """
    while i != j:
        if i > j:
            i = parent[i]
        else:
            j = parent[j]
    return i


class Rooted:
    """Base of trees over numbered bodies, with ``nb``, ``parent`` and the child sets."""

    __slots__ = ()

    def children(self, i: int) -> tuple[int, ...]:
        """Children mu(i) of body i, ascending."""
        return self._children[self._numbered("children: i", i)]

    def support(self, i: int) -> tuple[int, ...]:
        """Joints kappa(i) on the path from the world to body i, ascending; joint i is the last."""
        return support_of(self.parent, self._numbered("support: i", i))

    def ancestors(self, i: int) -> Iterable[int]:
        """The moving bodies between body i and the world, from its parent on."""
        return self.support(i)[-2::-1]

    def subtree(self, i: int) -> tuple[int, ...]:
        """Body i and all bodies that it supports, nu(i), ascending."""
        return subtree_of(self._children, self._numbered("subtree: i", i))

    def common_ancestor(self, i: int, j: int) -> int:
        """The outermost body that supports both i and j, or is one of them."""
        found = self._numbered("common_ancestor: i", i), self._numbered("common_ancestor: j", j)
        return common_ancestor(self.parent, *found)

    def _numbered(self, what: str, i: int) -> int:
        return whole(what, i, "the number of a body: Model.body(name) gives it", least=0, most=self.nb - 1)


def expanded_parent(parent: Sequence[int], freedoms: Sequence[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Expanded parent array: the tree in which every joint of n freedoms became a chain of n joints of one freedom.

    Parameters
    ----------
    parent : sequence of int
        Parent array of the tree, ``parent[0]`` is -1.
    freedoms : sequence of int
        Number of freedoms of the joint of every node; ``freedoms[0]`` is 0.

    Returns
    -------
    expanded : tuple of int
        ``expanded[k]`` is the parent of freedom k, counted from 1; 0 is the root, ``expanded[0]`` is -1.
    last : tuple of int
        ``last[i]`` is the last freedom on the path from the root to node i, that of joint i itself if it has any.

    Notes
    -----
    Source: Featherstone, table 6.4. *Differs*: a joint without freedoms takes its parent's last freedom, so that
    bodies welded to others are allowed.

    Examples
    --------
    >>> expanded_parent((-1, 0, 1, 1, 2, 2, 3), (0, 1, 3, 1, 1, 1, 1))
    ((-1, 0, 1, 2, 3, 1, 4, 4, 5), (0, 1, 4, 5, 6, 7, 8))
    """
    expanded, last = [-1], [0]
    for i, p in enumerate(parent[1:], start=1):
        above = last[p]
        for _ in range(freedoms[i]):
            expanded.append(above)
            above = len(expanded) - 1
        last.append(above)
    return tuple(expanded), tuple(last)


def regular_order(parent_of: Mapping[Hashable, Hashable], root: Hashable) -> list[Hashable]:
    """Order the nodes of a tree so that every parent comes before its children.

    Parameters
    ----------
    parent_of : mapping
        From every node but the root to its parent, in the order in which the nodes were given.
    root : hashable
        The root, not a key of ``parent_of``.

    Returns
    -------
    list
        The nodes without the root: in the given order where that is regular, else depth first with the children in
        the given order, so that subtrees are contiguous.

    Raises
    ------
    TopologyError
        If the nodes do not form one tree with this root; the message names a cycle.

    Examples
    --------
    >>> regular_order({"arm": "base", "leg": "base", "hand": "arm"}, "base")
    ['arm', 'leg', 'hand']
    >>> regular_order({"hand": "arm", "leg": "base", "arm": "base"}, "base")
    ['leg', 'arm', 'hand']
    """
    seen = {root}
    for node, p in parent_of.items():
        if p not in seen:
            break
        seen.add(node)
    else:
        return list(parent_of)

    children: dict[Hashable, list[Hashable]] = {}
    for node, p in parent_of.items():
        children.setdefault(p, []).append(node)
    order: list[Hashable] = []
    open_nodes = list(reversed(children.get(root, [])))
    while open_nodes:
        node = open_nodes.pop()
        order.append(node)
        open_nodes.extend(reversed(children.get(node, [])))
    if len(order) < len(parent_of):
        reached = {root, *order}
        _raise_unreachable([node for node in parent_of if node not in reached], parent_of, root)
    return order


def _raise_unreachable(lost: Iterable[Hashable], parent_of: Mapping[Hashable, Hashable], root: Hashable) -> None:
    """Name the cycle, or the missing parent, that keeps ``lost`` nodes from the root."""
    node, path = next(iter(lost)), []
    while node in parent_of and node not in path:
        path.append(node)
        node = parent_of[node]
    if node not in parent_of:
        raise TopologyError(f"the parent {node!r} of {path[-1]!r} does not exist", node=path[-1], parent=node)
    cycle = path[path.index(node) :] + [node]
    raise TopologyError(
        f"bodies in a circle that is not connected to {root!r}: {' -> '.join(map(str, cycle))} (each is a child of the "
        "next). A tree needs one of them on the world; a closed loop is a tree plus loop joints.",
        cycle=cycle,
    )


class Groups:
    """Sets of connected names: at first each is alone.

    Parameters
    ----------
    names : iterable of str

    Attributes
    ----------
    count : int
        Number of groups.

    Examples
    --------
    >>> groups = Groups(["world", "crank", "rod"])
    >>> groups.join("world", "crank"), groups.join("crank", "world"), groups.count
    (True, False, 2)
    """

    __slots__ = ("_above", "count")

    def __init__(self, names: Iterable[str]) -> None:
        self._above = {name: name for name in names}
        self.count = len(self._above)

    def top(self, name: str) -> str:
        """The representative of its group."""
        while self._above[name] != name:
            self._above[name] = self._above[self._above[name]]
            name = self._above[name]
        return name

    def same(self, a: str, b: str) -> bool:
        """Whether two names are in one group."""
        return self.top(a) == self.top(b)

    def join(self, a: str, b: str) -> bool:
        """Make two groups one; False if they are one already."""
        a, b = self.top(a), self.top(b)
        if a == b:
            return False
        self._above[b] = a
        self.count -= 1
        return True


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
    """Structural nonzeros of the mass matrix of a tree, as an (n, n) array of booleans.

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
    """Columns of the off-diagonal entries of L in ``M = L^T L`` or ``L^T D L``, fill-in included.

    Parameters
    ----------
    rows : sequence of iterable of int
        For row k of a symmetric matrix, the columns below k in which it is not zero.

    Returns
    -------
    tuple of tuple of int
        For each row of L, descending. For a tree these are the ancestors: there is no fill-in.

    Notes
    -----
    Source: Featherstone (2008), section 6.4-6.5 for trees, without fill-in. Couplings between branches leave
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
