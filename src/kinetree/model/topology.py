"""Pure graph code: everything about a rooted tree that follows from its parent array alone.

Node 0 is the world, ``parent[0]`` is -1, and the numbering is *regular*: every node has a higher number than its
parent. The book writes lambda(i) for ``parent[i]``, mu(i) for the children, kappa(i) for the support and nu(i) for the
subtree.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence

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
        raise TopologyError(f"{path[-1]!r} hangs on {node!r}, which does not exist", node=path[-1], parent=node)
    cycle = path[path.index(node) :] + [node]
    raise TopologyError(
        f"bodies in a circle that is not connected to {root!r}: {' -> '.join(map(str, cycle))} (each hangs on the "
        "next). A tree needs one of them on the world; a closed loop is a tree plus loop joints.",
        cycle=cycle,
    )
