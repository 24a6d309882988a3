"""Loop clusters: the joints that constraints connect, in groups that are eliminated together.

Two loops are coupled if they share a joint (Featherstone, section 8.9). The joints of a cluster are a connected part of
the tree beneath one body, its *base*; no other joint stands between them, so that a cluster is to its base as a single
joint is to the parent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from kinetree.model.topology import Groups, common_ancestor


class Cluster(NamedTuple):
    """Joints that are eliminated together; a joint that no constraint connects to others is one by itself.

    Attributes
    ----------
    base : int
        The body beneath which they stand.
    bodies : tuple of int
        Those that the joints move, ascending.
    rows : tuple of int
        The numbers of their constraints' rows.
    """

    base: int
    bodies: tuple[int, ...]
    rows: tuple[int, ...] = ()


def minimal_clusters(parent: Sequence[int], rows: Mapping[int, Sequence[int]], ties=()) -> tuple[Cluster, ...]:
    """The smallest clusters of a tree, from the root outward.

    Parameters
    ----------
    parent : sequence of int
        ``parent[0]`` is -1.
    rows : mapping
        For the number of each row the bodies whose joints it constrains.
    ties : iterable of sequence of int
        Further joints that are eliminated together, by their bodies.

    Notes
    -----
    Source: Featherstone (2008), section 8.9. Differs: joints on the paths between constrained joints are members, so
    that rows may connect any joints. A cluster whose base another one moves comes after that one.

    Examples
    --------
    Two limbs of two joints each on body 1, closed by one row, and a third joint on the first limb:

    >>> minimal_clusters((-1, 0, 1, 2, 1, 4, 3), {7: (2, 3, 4, 5)})
    (Cluster(base=0, bodies=(1,), rows=()), Cluster(base=1, bodies=(2, 3, 4, 5), rows=(7,)), Cluster(base=3, \
bodies=(6,), rows=()))
    """
    groups = Groups(range(1, len(parent)))
    for bodies in (*rows.values(), *ties):
        for i in _paths(parent, bodies):
            groups.join(i, bodies[0])
    members: dict[int, list[int]] = {}
    for i in range(1, len(parent)):
        members.setdefault(groups.top(i), []).append(i)
    numbers: dict[int, list[int]] = {}
    for n, bodies in rows.items():
        if bodies:
            numbers.setdefault(groups.top(bodies[0]), []).append(n)
    found = [
        Cluster(min(parent[i] for i in bodies), tuple(bodies), tuple(sorted(numbers.get(top, ()))))
        for top, bodies in members.items()
    ]
    return tuple(sorted(found))


def _paths(parent: Sequence[int], bodies: Sequence[int]) -> set[int]:
    """The bodies between these and the nearest body that supports all of them and is none of them."""
    found: set[int] = set()
    if not bodies:
        return found
    base = parent[bodies[0]]
    for i in bodies:
        base = common_ancestor(parent, base, parent[i])
    for i in bodies:
        while i != base:
            found.add(i)
            i = parent[i]
    return found
