"""A spanning tree of a mechanism: its parents, and the loops that its chords close."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from kinetree.errors import TopologyError, unknown_name
from kinetree.model.numbering import Numbering
from kinetree.model.topology import regular_order

if TYPE_CHECKING:
    from kinetree.model.graph import MechanismGraph


@dataclass(frozen=True, slots=True)
class Loop:
    """An independent loop: a chord and the one path through the tree that closes it.

    Parameters
    ----------
    chord : str
    joints : tuple of str
        Around the loop, the chord first and then the path from its successor back to its predecessor.
    signs : tuple of int
        +1 where the loop passes a joint from predecessor to successor, else -1.
    bodies : tuple of str
        ``joints[k]`` leads from ``bodies[k]`` to ``bodies[k + 1]``, the last one back to ``bodies[0]``.
    """

    chord: str
    joints: tuple[str, ...]
    signs: tuple[int, ...]
    bodies: tuple[str, ...]


class SpanningTree:
    """The joints of a graph that form a spanning tree; the others are chords.

    Parameters
    ----------
    graph : MechanismGraph
    joints : iterable of str
        The N_B joints of the tree.

    Attributes
    ----------
    joints, chords : tuple of str
        In the order of the graph.
    parent_of : dict
        From each moving body to ``(joint, parent body)``.

    Raises
    ------
    TopologyError
        If these joints are no spanning tree.

    Notes
    -----
    Source: Featherstone (2008), section 4.1.

    Examples
    --------
    >>> from kinetree.model.graph import MechanismGraph
    >>> square = MechanismGraph([("a", "world", "A"), ("b", "A", "B"), ("c", "C", "B"), ("d", "world", "C")])
    >>> tree = square.spanning_tree()
    >>> tree.chords, tree.loop("c").joints, tree.loop("c").signs
    (('c',), ('c', 'b', 'a', 'd'), (1, -1, -1, 1))
    """

    def __init__(self, graph: MechanismGraph, joints: Iterable[str]) -> None:
        inside = {graph.joint(name).joint for name in joints}
        self.graph = graph
        self.joints = tuple(arc.joint for arc in graph.joints if arc.joint in inside)
        self.chords = tuple(arc.joint for arc in graph.joints if arc.joint not in inside)
        self.parent_of: dict[str, tuple[str, str]] = {}
        open_bodies = [graph.base]
        while open_bodies:
            here = open_bodies.pop()
            for arc in graph.joints_of(here):
                body = graph.neighbor(arc, here)
                if arc.joint in inside and body != graph.base and body not in self.parent_of:
                    self.parent_of[body] = (arc.joint, here)
                    open_bodies.append(body)
        lost = [body for body in graph.bodies[1:] if body not in self.parent_of]
        if lost or len(self.joints) != graph.nb - 1:
            found = f"they do not reach {', '.join(map(repr, lost[:6]))}" if lost else "they close a loop"
            raise TopologyError(
                f"joints {', '.join(map(repr, self.joints[:12]))} are no spanning tree of {graph!r}: {found}"
            )

    def __repr__(self) -> str:
        chords = ", ".join(map(repr, self.chords[:6])) + (", ..." if len(self.chords) > 6 else "")
        return f"<SpanningTree: {len(self.joints)} joints, {'chords ' + chords if chords else 'no chords'}>"

    def __eq__(self, other) -> bool:
        return isinstance(other, SpanningTree) and self.graph is other.graph and self.joints == other.joints

    def __hash__(self) -> int:
        return hash(self.joints)

    def is_reversed(self, joint: str) -> bool:
        """Whether the tree meets a joint from its successor's side; False for chords, which have no direction in it."""
        arc = self.graph.joint(joint)
        return self.parent_of.get(arc.predecessor) == (joint, arc.successor)

    def support(self, body: str) -> tuple[str, ...]:
        """The joints on the path from the base to a body.

        Raises
        ------
        UnknownNameError
        """
        if body != self.graph.base and body not in self.parent_of:
            raise unknown_name("body", body, self.graph.bodies, "the tree")
        path = []
        while body != self.graph.base:
            joint, body = self.parent_of[body]
            path.append(joint)
        return tuple(reversed(path))

    def depth(self, body: str) -> int:
        """Number of joints between the base and a body."""
        return len(self.support(body))

    @property
    def height(self) -> int:
        """The largest depth of a body."""
        depth = {self.graph.base: 0}
        for body in self._outward:
            depth[body] = depth[self.parent_of[body][1]] + 1
        return max(depth.values())

    @cached_property
    def _outward(self) -> list[str]:
        """The moving bodies in the order of the graph where that is regular, else depth first."""
        return regular_order({body: self.parent_of[body][1] for body in self.graph.bodies[1:]}, self.graph.base)

    # Loops ---------------------------------------------------------------------------------------------------------

    def loop(self, chord: str) -> Loop:
        """The loop that a chord closes.

        Raises
        ------
        UnknownNameError
            If this joint is no chord of the tree.
        """
        if chord not in self.chords:
            raise unknown_name("chord", chord, self.chords, "the tree")
        arc = self.graph.joint(chord)
        up, down = self.support(arc.successor), self.support(arc.predecessor)
        shared = 0
        while shared < min(len(up), len(down)) and up[shared] == down[shared]:
            shared += 1
        joints = (chord, *reversed(up[shared:]), *down[shared:])
        bodies, signs, here = [], [], arc.predecessor
        for joint in joints:
            step = self.graph.joint(joint)
            bodies.append(here)
            signs.append(1 if step.predecessor == here else -1)
            here = self.graph.neighbor(step, here)
        return Loop(chord, joints, tuple(signs), tuple(bodies))

    @property
    def loops(self) -> tuple[Loop, ...]:
        """The N_L independent loops, in the order of their chords."""
        return tuple(map(self.loop, self.chords))

    @property
    def clusters(self) -> tuple[tuple[Loop, ...], ...]:
        """The loops in groups that share no joint: constraints of different groups are independent.

        Notes
        -----
        Source: Featherstone (2008), section 8.9 (blocks of K). *Identities* the joints of each group are a
        two-connected part of the graph, so they are the same for every spanning tree.
        """
        groups: list[tuple[set[str], list[Loop]]] = []
        for loop in self.loops:
            touching = [group for group in groups if group[0] & set(loop.joints)]
            joints = set(loop.joints).union(*(group[0] for group in touching))
            members = [member for group in touching for member in group[1]]
            groups = [group for group in groups if not any(group is other for other in touching)]
            groups.append((joints, [*members, loop]))
        return tuple(tuple(members) for _, members in groups)

    # Numberings ----------------------------------------------------------------------------------------------------

    def numbering(self) -> Numbering:
        """The canonical regular numbering: bodies as given where that is regular, else depth first.

        Returns
        -------
        Numbering
        """
        return self._numbered(self._outward)

    def numberings(self) -> Iterator[Numbering]:
        """All regular numberings of the bodies, one at a time; chords are numbered in the order of the graph.

        Yields
        ------
        Numbering

        Notes
        -----
        Source: Featherstone (2008), section 4.1.2. The last N_L numbers belong to the chords in any order, which
        changes nothing else; with these permutations there are N_L! times as many.
        """
        children: dict[str, list[str]] = {}
        for body in self._outward:
            children.setdefault(self.parent_of[body][1], []).append(body)
        open_orders = [((), tuple(children.get(self.graph.base, ())))]
        while open_orders:
            order, free = open_orders.pop()
            if not free:
                yield self._numbered(order)
            for k in reversed(range(len(free))):
                body = free[k]
                open_orders.append(((*order, body), (*free[:k], *free[k + 1 :], *children.get(body, ()))))

    def count_numberings(self) -> int:
        """How many regular numberings of its bodies the tree has, without making them.

        Notes
        -----
        Source: the hook-length formula for trees: N_B! over the product of the sizes of all subtrees.
        """
        size = dict.fromkeys(self.graph.bodies, 1)
        for body in reversed(self._outward):
            size[self.parent_of[body][1]] += size[body]
        hooks = math.prod(size[body] for body in self._outward)
        return math.factorial(len(self._outward)) // hooks

    def _numbered(self, order: Iterable[str]) -> Numbering:
        graph = self.graph
        bodies = (graph.base, *order)
        joints = (*(self.parent_of[body][0] for body in bodies[1:]), *self.chords)
        number = {body: i for i, body in enumerate(bodies)}
        arcs = [graph.joint(joint) for joint in joints]
        return Numbering(
            bodies,
            (None, *joints),
            (-1, *(number[arc.predecessor] for arc in arcs)),
            (-1, *(number[arc.successor] for arc in arcs)),
        )
