"""Order of assembly for divide and conquer: a binary tree of subassemblies of logarithmic depth.

The tree of bodies is cut into *paths*, each from a body outward along the child with the largest subtree. Links along a
path are joined pairwise, neighbors with neighbors. Branches beside a path are parts of the body that supports them:
complete branches are added pairwise, then they are part of that link. Pairs are chosen by how early their parts are
ready, so that a chain of n bodies takes ceil(log2 n) steps, n branches on one body as many, and every tree O(log n).
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kinetree.arguments import a_model, checked
from kinetree.spatial.scalar import is_zero


@dataclass(frozen=True, slots=True)
class Subassembly:
    """A node of the assembly tree; ``parts`` are numbers of nodes.

    Attributes
    ----------
    kind : {"link", "pair", "sum"}
        A link is a body with its joint (or several in a row, where the inner ones have no inertia of their own); a pair
        is two neighbors along a path, the inner one first; a sum is two branches on one body.
    bodies : tuple of int
        Those of a link, from the inside outward; else empty.
    parts : tuple of int
        Of a pair or sum its two parts; of a link, for each body the node of the branches beside the path, or -1.
    closed : bool
        Nothing is connected at the outer end: it has one handle, the inner one.
    level : int
        0 for a link without parts, else one more than the highest of its parts.
    """

    kind: str
    bodies: tuple[int, ...]
    parts: tuple[int, ...]
    closed: bool
    level: int


@dataclass(frozen=True, slots=True)
class AssemblyTree:
    """The subassemblies of a mechanism, parts before wholes.

    Attributes
    ----------
    nodes : tuple of Subassembly
    roots : tuple of int
        The nodes on the world; they do not influence one another.
    depth : int
        Levels of assembly: the number of sequential steps, for any number of processors.
    """

    nodes: tuple[Subassembly, ...]
    roots: tuple[int, ...]

    @property
    def depth(self) -> int:
        return max((self.nodes[k].level for k in self.roots), default=0)

    def levels(self) -> list[list[int]]:
        """The numbers of the nodes, level by level: those of one level do not depend on one another."""
        found = [[] for _ in range(self.depth + 1)]
        for k, node in enumerate(self.nodes):
            found[node.level].append(k)
        return found


@checked(model=a_model)
def assembly_tree(model) -> AssemblyTree:
    """The order in which `divide_and_conquer` puts a mechanism together.

    Parameters
    ----------
    model : Model

    Returns
    -------
    AssemblyTree
        ``tree.depth`` is the number of levels, ``tree.nodes`` the subassemblies.

    Notes
    -----
    Source: Featherstone (2008), section 7.5, for chains; for trees, paths as in Sleator and Tarjan (1983). A body
    without inertia about its own joint (a massless link) is put together with the next one along its path.

    Examples
    --------
    >>> import kinetree as kt
    >>> [kt.dynamics.assembly_tree(kt.models.chain_gu(n)).depth for n in (1, 2, 8, 9, 100)]
    [0, 1, 3, 4, 7]
    >>> kt.dynamics.assembly_tree(kt.models.star(50)).depth  # branches on the world are mechanisms of their own
    0
    """
    return tree_of(model.parent, lambda i: _needs_the_next(model, i))


def tree_of(parent: Sequence[int], needs_the_next: Callable[[int], bool] = lambda i: False) -> AssemblyTree:
    """The assembly tree of a parent array; ``needs_the_next(i)``: body i cannot be a link of its own."""
    children = [[] for _ in parent]
    for i, p in enumerate(parent[1:], 1):
        children[p].append(i)
    weight = [1] * len(parent)
    for i in range(len(parent) - 1, 0, -1):
        weight[parent[i]] += weight[i]

    nodes: list[Subassembly] = []
    complete: dict[int, int] = {}  # the node of a path, by the path's first body

    def add(*node) -> int:
        nodes.append(Subassembly(*node))
        return len(nodes) - 1

    def beside(i, onward) -> int:
        """The branches on body i beside its path: those of one body, the earliest two first."""
        ready = [(nodes[complete[c]].level, complete[c]) for c in children[i] if c != onward]
        heapq.heapify(ready)
        while len(ready) > 1:
            (_, a), (level, b) = heapq.heappop(ready), heapq.heappop(ready)
            heapq.heappush(ready, (level + 1, add("sum", (), (a, b), True, level + 1)))
        return ready[0][1] if ready else -1

    def pairs(links) -> int:
        if len(links) == 1:
            return links[0]
        # Half of the weight on each side: a part that is ready at level l weighs as much as 2^l links.
        total, before, best, cut = sum(1 << nodes[k].level for k in links), 0, None, 1
        for n, k in enumerate(links[:-1], 1):
            before += 1 << nodes[k].level
            heavier = max(before, total - before)
            if best is None or heavier < best:
                best, cut = heavier, n
        a, b = pairs(links[:cut]), pairs(links[cut:])
        return add("pair", (), (a, b), nodes[b].closed, 1 + max(nodes[a].level, nodes[b].level))

    heads = []
    for i in range(1, len(parent)):
        p = parent[i]
        if p == 0 or i != _heaviest(children[p], weight):
            heads.append(i)
    for head in reversed(heads):  # outer paths before those on which they hang
        path = [head]
        while children[path[-1]]:
            path.append(_heaviest(children[path[-1]], weight))
        links, group, parts = [], [], []
        for i, onward in zip(path, [*path[1:], -1], strict=True):
            group.append(i)
            parts.append(beside(i, onward))
            if onward == -1 or not needs_the_next(i):
                level = max((nodes[k].level + 1 for k in parts if k >= 0), default=0)
                links.append(add("link", tuple(group), tuple(parts), onward == -1, level))
                group, parts = [], []
        complete[head] = pairs(links)
    return AssemblyTree(tuple(nodes), tuple(complete[i] for i in children[0]))


def _heaviest(bodies, weight):
    return max(bodies, key=lambda i: (weight[i], -i))


def _needs_the_next(model, i) -> bool:
    """Whether D of joint i is singular for the body alone, as far as the structure determines it."""
    joint, I = model.joints[i], model.I[i]
    bare = [n for n, x in enumerate(model.armature[model.v_slice[i]]) if is_zero(x)]
    if not bare:
        return False
    if is_zero(I.m) and all(is_zero(x) for x in _entries(I.I)):
        return True
    if not getattr(joint, "constant_subspace", False):  # unknown for planar models
        return False
    S = joint.motion_subspace(joint.neutral())
    return any(is_zero(S[n].dot(I @ S[n])) for n in bare)


def _entries(I):
    return [I] if isinstance(I, float) or not hasattr(I, "__iter__") else list(I)
