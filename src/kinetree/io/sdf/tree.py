"""Trees and loops: which joints of a mechanism carry its bodies, which way round, and which close loops.

SDF describes graphs. Joints become edges of a tree in the order of the file, in two passes: first those whose child no
joint carries yet, then those that connect parts otherwise separate. All others close loops. A joint that the
tree meets from its child's side is reversed: it keeps its name, its variables and their signs.

A `MechanismGraph` is not sufficient: parts of a file may be unconnected, and which link a joint calls its child decides
whether the joint carries it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from kinetree.io.sdf.joints import Connection
from kinetree.model.builder import WORLD
from kinetree.model.topology import Groups


@dataclass(frozen=True, slots=True)
class Edge:
    """A joint of the tree: ``body`` hangs on ``carrier``; reversed, the joint's parent is the body."""

    connection: Connection
    carrier: str
    body: str
    reversed: bool


@dataclass(frozen=True, slots=True)
class SpanningTree:
    """Roots in the order of the links, the edges depth first (``None`` in their place for a root), and the loops."""

    order: tuple[tuple[str, Edge | None], ...]
    loops: tuple[Connection, ...]


def spanning_tree(
    links: Sequence[str], connections: Iterable[Connection], canonical: Sequence[str], wanted: Collection[str] = ()
) -> SpanningTree:
    """Split the joints of a mechanism into a forest and the joints that close loops.

    Parameters
    ----------
    links : sequence of str
        In the order of the file, without the world.
    connections : iterable of Connection
        Joints between two different ones of them, or the world and one.
    canonical : sequence of str
        Links that are taken as roots where nothing else determines another.
    wanted : collection of str
        Joints that come first, because mimics or gearboxes refer to their angles.
    """
    connections = tuple(connections)
    group = Groups([WORLD, *links])
    tree, waiting, carried = set(), [], set()
    for k, c in sorted(enumerate(connections), key=lambda each: each[1].name not in wanted):
        if not c.cut and c.child not in carried and group.join(c.parent, c.child):
            carried.add(c.child)
            tree.add(k)
        else:
            waiting.append(k)
    for k in sorted(waiting, key=lambda k: (connections[k].cut, connections[k].name not in wanted, k)):
        if group.join(connections[k].parent, connections[k].child):
            tree.add(k)
    at: dict[str, list[int]] = {name: [] for name in (WORLD, *links)}
    for k in sorted(tree):
        at[connections[k].parent].append(k)
        at[connections[k].child].append(k)
    has_parent = {c.child for c in connections}
    order: list[tuple[str, Edge | None]] = []
    done: set[str] = set()
    for root in (WORLD, *_roots(links, has_parent, canonical)):
        if root in done:
            continue
        open_edges: list[tuple[str, Edge | None]] = [(root, None)]
        while open_edges:
            name, edge = open_edges.pop()
            if name in done:
                continue
            done.add(name)
            if name != WORLD:
                order.append((name, edge))
            for k in reversed(at[name]):
                c = connections[k]
                other = c.child if c.parent == name else c.parent
                if other not in done:
                    open_edges.append((other, Edge(c, name, other, c.parent == other)))
    return SpanningTree(tuple(order), tuple(c for k, c in enumerate(connections) if k not in tree))


def _roots(links: Sequence[str], has_parent: set[str], canonical: Sequence[str]) -> list[str]:
    """Links from which to start, best first: those that no joint carries, canonical ones before others."""
    chosen = set(canonical)
    return sorted(links, key=lambda link: (link in has_parent, link not in chosen))
