"""Trees and loops: which joints of a mechanism carry its bodies, which way round, and which close loops.

SDF describes graphs. Joints become edges of a tree in the order of the file, in two passes: first those whose child no
joint carries yet, then those that connect what would fall apart otherwise. What is left closes loops. A joint that the
tree meets from its child's side is reversed: it keeps its name, its variables and their signs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

WORLD = "world"


class Connection(Protocol):
    """What this file asks of a joint."""

    parent: str
    child: str
    cut: bool


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


def spanning_tree(links: Sequence[str], connections: Iterable[Connection], canonical: Sequence[str]) -> SpanningTree:
    """Split the joints of a mechanism into a forest and the joints that close loops.

    Parameters
    ----------
    links : sequence of str
        In the order of the file, without the world.
    connections : iterable of Connection
        Joints between two different ones of them, or the world and one.
    canonical : sequence of str
        Links that are taken as roots where nothing else speaks for another.
    """
    connections = tuple(connections)
    group = _Groups([WORLD, *links])
    tree, waiting, carried = set(), [], set()
    for k, c in enumerate(connections):
        if not c.cut and c.child not in carried and group.join(c.parent, c.child):
            carried.add(c.child)
            tree.add(k)
        else:
            waiting.append(k)
    for k in sorted(waiting, key=lambda k: connections[k].cut):
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


class _Groups:
    """Sets of connected names."""

    def __init__(self, names: Iterable[str]) -> None:
        self._above = {name: name for name in names}

    def join(self, a: str, b: str) -> bool:
        """Make two groups one; False if they are one already."""
        a, b = self._top(a), self._top(b)
        self._above[b] = a
        return a != b

    def _top(self, name: str) -> str:
        while self._above[name] != name:
            self._above[name] = self._above[self._above[name]]
            name = self._above[name]
        return name
