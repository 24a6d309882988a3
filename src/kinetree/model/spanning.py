"""Spanning trees of a mechanism: their parents, the loops that chords close, and their regular numberings."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from kinetree.errors import TopologyError, unknown_name
from kinetree.model.topology import Rooted, children_of, depths_of, expanded_parent, regular_order


@dataclass(frozen=True, slots=True)
class Numbering(Rooted):
    """Numbers of bodies and joints: the base is 0, children come after their parents, chords after the tree.

    Parameters
    ----------
    bodies : tuple of str
        Body i is ``bodies[i]``; the base is first.
    joints : tuple of str
        Joint i is ``joints[i]``; ``joints[0]`` is None, joints 1 to N_B are those of the bodies of these numbers, the
        others are chords.
    p, s : tuple of int
        Predecessor and successor of joint i; -1 at index 0.

    Attributes
    ----------
    parent : tuple of int
        lambda(i) = min(p(i), s(i)), with -1 for the base.
    depth : tuple of int
        Number of joints between the base and body i.

    Raises
    ------
    TopologyError
        If the numbering is not regular.

    Notes
    -----
    Source: Featherstone (2008), sections 4.1.2-4.1.4, eq. 4.2. The book's kappa, mu and nu are `support`, `children`
    and `subtree`, as in a Model.

    Examples
    --------
    Joint "b" leads from body 2 to body 1, so the tree traverses it in reverse:

    >>> n = Numbering(("world", "A", "B"), (None, "a", "b"), (-1, 0, 2), (-1, 1, 1))
    >>> n.parent, n.is_reversed(2)
    ((-1, 0, 1), True)
    """

    bodies: tuple[str, ...]
    joints: tuple[str | None, ...]
    p: tuple[int, ...]
    s: tuple[int, ...]
    parent: tuple[int, ...] = field(init=False)
    depth: tuple[int, ...] = field(init=False)
    _children: tuple[tuple[int, ...], ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_numbering(self.bodies, self.joints, self.p, self.s)
        parent = (-1, *(min(self.p[i], self.s[i]) for i in range(1, len(self.bodies))))
        object.__setattr__(self, "parent", parent)
        object.__setattr__(self, "depth", depths_of(parent))
        object.__setattr__(self, "_children", children_of(parent))

    @property
    def nb(self) -> int:
        """Number of bodies, the base among them (N_B + 1 of the book)."""
        return len(self.bodies)

    @property
    def nj(self) -> int:
        """Number of joints, N_J."""
        return len(self.joints) - 1

    @property
    def n_loops(self) -> int:
        """Number of chords, N_L = N_J - N_B."""
        return self.nj - (self.nb - 1)

    @property
    def chords(self) -> range:
        """The numbers of the chords."""
        return range(self.nb, self.nj + 1)

    def is_reversed(self, i: int) -> bool:
        """Whether body i is the predecessor of its joint: the tree traverses joint i in reverse."""
        return i < self.nb and self.p[i] == i

    def expanded_parent(self, freedoms: Sequence[int]) -> tuple[int, ...]:
        """The parent array of the tree in which joint i of ``freedoms[i - 1]`` freedoms is a chain of single ones.

        Parameters
        ----------
        freedoms : sequence of int
            Of joints 1 to N_B.

        Returns
        -------
        tuple of int
            Entry k is the parent of freedom k, both counted from 1; 0 is the base, entry 0 is -1.

        Notes
        -----
        Source: Featherstone (2008), table 6.4.

        Examples
        --------
        >>> chain = ("world", "A", "B"), (None, "a", "b"), (-1, 0, 1), (-1, 1, 2)
        >>> Numbering(*chain).expanded_parent((1, 3))
        (-1, 0, 1, 2, 3)
        """
        if len(freedoms) != self.nb - 1:
            raise TopologyError(f"freedoms has {len(freedoms)} entries, expected {self.nb - 1}, one per moving body")
        return expanded_parent(self.parent, (0, *freedoms))[0]

    def renumbered(self, bodies: Sequence[str], chords: Sequence[str] | None = None) -> Numbering:
        """The same tree with its bodies, and its chords, in another regular order.

        Parameters
        ----------
        bodies : sequence of str
            The moving bodies in the order of their new numbers.
        chords : sequence of str, optional
            By default in their present order.

        Returns
        -------
        Numbering

        Raises
        ------
        TopologyError
            If the order is not regular, or leaves something out.
        """
        old_body = {name: i for i, name in enumerate(self.bodies)}
        old_chords = [self.joints[k] for k in self.chords]
        chords = old_chords if chords is None else list(chords)
        if sorted(bodies) != sorted(self.bodies[1:]) or sorted(chords) != sorted(old_chords):
            raise TopologyError(
                f"renumbered: {list(bodies)} and {chords} are not the bodies {list(self.bodies[1:])} and the chords "
                f"{old_chords} in another order"
            )
        order = (self.bodies[0], *bodies)
        old_joint = {name: k for k, name in enumerate(self.joints) if k}
        numbers = [*(old_body[name] for name in bodies), *(old_joint[name] for name in chords)]
        new = {old_body[name]: i for i, name in enumerate(order)}
        p, s = ((-1, *(new[ends[k]] for k in numbers)) for ends in (self.p, self.s))
        return Numbering(order, (None, *(self.joints[k] for k in numbers)), p, s)


def check_numbering(bodies: Sequence[str], joints: Sequence[str | None], p: Sequence[int], s: Sequence[int]) -> None:
    """Refuse a numbering that is not regular.

    Raises
    ------
    TopologyError
        Names the joint and the rule.

    Notes
    -----
    Source: Featherstone (2008), section 4.1.2: the base is 0; joints 1 to N_B are those of the tree; joint i connects
    body i to a body with a smaller number; chords have the numbers from N_B + 1 on.
    """
    nb, nj = len(bodies), len(joints) - 1
    if not len(p) == len(s) == nj + 1 or nj < nb - 1 or joints[:1] != (None,) or p[0] != -1 or s[0] != -1:
        raise TopologyError(
            f"a numbering of {nb} bodies and {nj} joints needs arrays p and s of {nj + 1} entries, the first of them "
            f"-1, and at least {nb - 1} joints after joints[0] = None; found {len(p)} and {len(s)} entries"
        )
    for i in range(1, nj + 1):
        ends = (p[i], s[i])
        if not all(0 <= end < nb for end in ends) or p[i] == s[i]:
            raise TopologyError(
                f"joint {i} ({joints[i]!r}) connects {ends}, expected two different bodies of 0 to {nb - 1}",
                joint=joints[i],
            )
        if i < nb and max(ends) != i:
            raise TopologyError(
                f"joint {i} ({joints[i]!r}) connects {ends}: in a regular numbering joint {i} connects body {i} to a "
                "body with a smaller number",
                joint=joints[i],
            )


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
        for arc, body in graph._search(self.chords):
            self.parent_of[body] = (arc.joint, graph.neighbor(arc, body))
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
        """Whether the tree traverses a joint from its successor; False for chords, which have no direction in it."""
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
        """The number of regular numberings of the tree's bodies, without enumerating them.

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
