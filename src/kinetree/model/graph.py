"""Bodies and joints as a connectivity graph, and its spanning trees.

Nodes are bodies, arcs are joints, one node is the fixed base. The kinds of the joints are not part of it: the graph
consists of names, and of the predecessor and the successor of each joint. From a graph comes a
`SpanningTree` (its other joints are the chords, one per independent loop), and from a tree a `Numbering`.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

from kinetree.arguments import listed
from kinetree.errors import TopologyError, UnsupportedError, closest, unknown_name
from kinetree.model.loop_joints import named_loops
from kinetree.model.spanning import Numbering, SpanningTree
from kinetree.model.topology import Groups

WORLD = "world"
ORDERS = ("breadth_first", "depth_first", "given")


class Arc(NamedTuple):
    """A joint of a graph: its name, its predecessor and its successor."""

    joint: str
    predecessor: str
    successor: str


class MechanismGraph:
    """The connectivity graph of a mechanism: which joint connects which two bodies.

    Parameters
    ----------
    joints : iterable of (name, predecessor, successor)
        In any order; two joints may connect the same two bodies.
    bodies : iterable of str, optional
        Names of the bodies, in the preferred order of numbering, where that is regular. By default those that
        the joints name, in their order.
    base : str
        The fixed base, the only body that does not move.

    Attributes
    ----------
    bodies : tuple of str
        The base first.
    joints : tuple of Arc
        ``(joint, predecessor, successor)``.

    Raises
    ------
    TopologyError
        If a rule of section 4.1.1 is broken; the message and the attribute ``violations`` name every one.

    Notes
    -----
    Source: Featherstone (2008), section 4.1. *Identities* every spanning tree has N_B joints and leaves N_L chords.

    Examples
    --------
    A crank-slider: three moving bodies, four joints, one loop.

    >>> import kinetree as kt
    >>> graph = kt.model.MechanismGraph([
    ...     ("crank_pivot", "world", "crank"), ("crank_pin", "crank", "rod"), ("wrist_pin", "rod", "slider"),
    ...     ("guide", "world", "slider"),
    ... ])
    >>> graph
    <MechanismGraph: 3 bodies on 'world', 4 joints, 1 loop>
    >>> graph.count_spanning_trees(), graph.count_numberings()
    (4, 8)
    >>> tree = graph.spanning_tree(chords=["guide"])
    >>> tree.numbering().parent
    (-1, 0, 1, 2)
    """

    __slots__ = ("base", "bodies", "joints", "_arcs", "_at")

    def __init__(
        self, joints: Iterable[tuple[str, str, str]], *, bodies: Iterable[str] | None = None, base: str = WORLD
    ) -> None:
        arcs = [_arc(entry) for entry in joints]
        named = [end for arc in arcs for end in arc[1:]] if bodies is None else list(bodies)
        found = violations(arcs, named if bodies is not None else None, base)
        if found:
            rules = "; ".join(found)
            raise TopologyError(f"no mechanism: {rules}", violations=tuple(found))
        self.base = base
        self.bodies = tuple(dict.fromkeys([base, *named]))
        self.joints = tuple(arcs)
        self._arcs = {arc.joint: arc for arc in arcs}
        at: dict[str, list[Arc]] = {body: [] for body in self.bodies}
        for arc in arcs:
            at[arc.predecessor].append(arc)
            at[arc.successor].append(arc)
        self._at = at

    @classmethod
    def of(cls, model) -> MechanismGraph:
        """The graph of a model: its tree joints and its active loop joints.

        Parameters
        ----------
        model : Model

        Returns
        -------
        MechanismGraph
            A joint that the tree traverses in reverse (``Reversed``) has the polarity of the joint itself. A loop joint
            without a name, or with that of a tree joint, is called after its place: "loop 0".
        """
        from kinetree.joints import Reversed

        arcs = []
        for i in model.outward():
            ends = (model.body_names[model.parent[i]], model.body_names[i])
            turned = isinstance(model.joints[i], Reversed)
            arcs.append(Arc(model.joint_name(i), *(reversed(ends) if turned else ends)))
        for name, loop in named_loops(model).items():
            ends = (model.body_names[model.frame(frame).body] for frame in (loop.predecessor, loop.successor))
            arcs.append(Arc(name, *ends))
        return cls(arcs, bodies=model.body_names, base=model.body_names[0])

    @property
    def nb(self) -> int:
        """Number of bodies, the base among them (N_B + 1 of the book)."""
        return len(self.bodies)

    @property
    def nj(self) -> int:
        """Number of joints, N_J."""
        return len(self.joints)

    @property
    def n_loops(self) -> int:
        """Number of independent loops, N_L = N_J - N_B."""
        return self.nj - (self.nb - 1)

    def __repr__(self) -> str:
        loops = f"{self.n_loops} loop" + ("s" if self.n_loops != 1 else "")
        return f"<MechanismGraph: {self.nb - 1} bodies on {self.base!r}, {self.nj} joints, {loops}>"

    def joint(self, name: str) -> Arc:
        """The joint with this name.

        Raises
        ------
        UnknownNameError
        """
        if name not in self._arcs:
            raise unknown_name("joint", name, self._arcs, "the graph")
        return self._arcs[name]

    def joints_of(self, body: str) -> tuple[Arc, ...]:
        """The joints at a body, in the given order.

        Raises
        ------
        UnknownNameError
        """
        if body not in self._at:
            raise unknown_name("body", body, self.bodies, "the graph")
        return tuple(self._at[body])

    def neighbor(self, arc: Arc, body: str) -> str:
        """The body at the other end of a joint."""
        return arc.successor if body == arc.predecessor else arc.predecessor

    def distances(self) -> dict[str, int]:
        """The least number of joints between the base and each body: no spanning tree has a body nearer."""
        distance = {self.base: 0}
        for arc, body in self._search():
            distance[body] = distance[self.neighbor(arc, body)] + 1
        return distance

    # Spanning trees ------------------------------------------------------------------------------------------------

    def spanning_tree(
        self, *, chords: Iterable[str] = (), keep: Iterable[str] = (), order: str = "breadth_first"
    ) -> SpanningTree:
        """One spanning tree.

        Parameters
        ----------
        chords : iterable of str
            Joints that must close loops, such as passive ones: forces of chords are not joint forces of the tree.
        keep : iterable of str
            Joints that must be in the tree.
        order : {"breadth_first", "depth_first", "given"}
            Which joints are taken otherwise. Breadth first gives every body the least depth that the options above
            allow (without ``keep``), which bounds the cost of factorizations; "given" takes each joint that closes no
            loop with those before it.

        Returns
        -------
        SpanningTree

        Raises
        ------
        UnknownNameError
        TopologyError
            If the options allow no spanning tree; the message names the disconnected bodies, or the cycle.

        Notes
        -----
        Source: Featherstone (2008), sections 4.1 and 10.2 (trees of least depth), 8.6 (passive joints as chords).
        """
        if order not in ORDERS:
            raise UnsupportedError(f"spanning_tree: order {order!r}; known: {', '.join(ORDERS)}", order=order)
        out, kept = self._wishes(chords, keep)
        groups = Groups(self.bodies)
        for name in kept:
            groups.join(*self._arcs[name][1:])
        taken = set(kept)
        found = [arc for arc, _ in self._search(out, order == "depth_first")] if order != "given" else []
        for arc in (*found, *self.joints):
            if arc.joint not in out and groups.join(arc.predecessor, arc.successor):
                taken.add(arc.joint)
        return SpanningTree(self, taken)

    def spanning_trees(self, *, chords: Iterable[str] = (), keep: Iterable[str] = ()) -> Iterator[SpanningTree]:
        """All spanning trees, one at a time: there may be astronomically many, and the first ones come early.

        Parameters
        ----------
        chords, keep : iterable of str
            As for `spanning_tree`.

        Yields
        ------
        SpanningTree
            Each once. Time and memory between two of them are polynomial in the number of joints.

        Raises
        ------
        UnknownNameError, TopologyError
        """
        out, kept = self._wishes(chords, keep)
        arcs = [arc for arc in self.joints if arc.joint not in out and arc.joint not in kept]
        return self._enumerate(arcs, tuple(kept))

    def _enumerate(self, arcs: Sequence[Arc], kept: tuple[str, ...]) -> Iterator[SpanningTree]:
        # A branch decides joint k: taken if it closes no loop, left out if the rest still connects everything. So every
        # branch ends in a tree, and no work is wasted.
        open_branches: list[tuple[int, tuple[str, ...]]] = [(0, kept)]
        while open_branches:
            k, taken = open_branches.pop()
            if len(taken) == self.nb - 1:
                yield SpanningTree(self, taken)
                continue
            groups = self._groups(taken)
            arc = arcs[k]
            apart = not groups.same(arc.predecessor, arc.successor)
            for later in arcs[k + 1 :]:
                groups.join(later.predecessor, later.successor)
            if groups.count == 1:
                open_branches.append((k + 1, taken))
            if apart:
                open_branches.append((k + 1, (*taken, arc.joint)))

    def count_spanning_trees(self, *, chords: Iterable[str] = (), keep: Iterable[str] = ()) -> int:
        """The number of spanning trees, without enumerating them.

        Parameters
        ----------
        chords, keep : iterable of str
            As for `spanning_tree`.

        Notes
        -----
        Source: Kirchhoff's matrix-tree theorem: the determinant of the graph's Laplacian without the base's row and
        column; eliminated exactly, the body with the fewest neighbors first, joints that are kept contracted before.
        """
        out, kept = self._wishes(chords, keep)
        groups = self._groups(kept)
        L: dict[str, dict[str, Fraction]] = {groups.top(body): {} for body in self.bodies}
        for arc in self.joints:
            i, j = groups.top(arc.predecessor), groups.top(arc.successor)
            if arc.joint not in out and i != j:
                for a, b, entry in ((i, i, 1), (j, j, 1), (i, j, -1), (j, i, -1)):
                    L[a][b] = L[a].get(b, Fraction(0)) + entry
        for row in [L.pop(groups.top(self.base)), *L.values()]:
            row.pop(groups.top(self.base), None)
        determinant = Fraction(1)
        while L:
            i = min(L, key=lambda node: len(L[node]))
            row = L.pop(i)
            pivot = row.pop(i)
            determinant *= pivot
            for j in row:
                del L[j][i]
                for k, entry in row.items():
                    L[j][k] = L[j].get(k, Fraction(0)) - row[j] * entry / pivot
        return int(determinant)

    # Numberings ----------------------------------------------------------------------------------------------------

    def numberings(self) -> Iterator[Numbering]:
        """All regular numberings of all spanning trees, one at a time.

        Yields
        ------
        Numbering
            Bodies in every order that is regular; chords keep the order of the graph (numbers of chords are free).
        """
        for tree in self.spanning_trees():
            yield from tree.numberings()

    def count_numberings(self) -> int:
        """The number of regular numberings over all spanning trees; it enumerates the trees."""
        return sum(tree.count_numberings() for tree in self.spanning_trees())

    # Parts ---------------------------------------------------------------------------------------------------------

    def _wishes(self, chords: Iterable[str], keep: Iterable[str]) -> tuple[frozenset[str], dict[str, None]]:
        """The two sets of names, if there is a spanning tree with the one and without the other."""
        out = frozenset(self.joint(name).joint for name in _names(chords, "chords"))
        kept = dict.fromkeys(self.joint(name).joint for name in _names(keep, "keep"))
        if both := [name for name in kept if name in out]:
            raise TopologyError(f"joint {both[0]!r} cannot be a chord and be kept in the tree", joint=both[0])
        groups = Groups(self.bodies)
        for name in kept:
            if not groups.join(*self._arcs[name][1:]):
                before = [other for other in kept if other != name]
                raise TopologyError(
                    f"joints {', '.join(map(repr, [*before, name]))} cannot all be in one tree: {name!r} closes a loop "
                    "with the others",
                    joint=name,
                )
        reached = {self.base, *(body for _, body in self._search(out))}
        if lost := [body for body in self.bodies if body not in reached]:
            across = [
                arc.joint for arc in self.joints
                if arc.joint in out and (arc.predecessor in reached) != (arc.successor in reached)
            ]  # fmt: skip
            raise TopologyError(
                f"without the chords {', '.join(map(repr, sorted(out)))} no joint connects {listed(lost)} to the "
                f"base: at least one of {listed(across)} must be in the tree; {self.n_loops} of the {self.nj} joints "
                "are chords",
                bodies=tuple(lost),
            )
        return out, kept

    def _search(self, without: Collection[str] = (), depth_first: bool = False) -> Iterator[tuple[Arc, str]]:
        """The joints by which a search from the base first meets each body, and that body."""
        seen, open_bodies = {self.base}, deque([(self.base, iter(self._at[self.base]))])
        close = open_bodies.pop if depth_first else open_bodies.popleft
        while open_bodies:
            here, arcs = open_bodies[-1 if depth_first else 0]
            for arc in arcs:
                body = self.neighbor(arc, here)
                if arc.joint not in without and body not in seen:
                    seen.add(body)
                    yield arc, body
                    open_bodies.append((body, iter(self._at[body])))
                    if depth_first:
                        break
            else:
                close()

    def _groups(self, joints: Iterable[str]) -> Groups:
        groups = Groups(self.bodies)
        for name in joints:
            groups.join(*self._arcs[name][1:])
        return groups


def violations(
    joints: Iterable[tuple[str, str, str]], bodies: Iterable[str] | None = None, base: str = WORLD
) -> list[str]:
    """Every rule for connectivity graphs that bodies and joints break, each in a sentence that names the thing.

    Parameters
    ----------
    joints : iterable of (name, predecessor, successor)
    bodies : iterable of str, optional
        By default those that the joints name.
    base : str

    Returns
    -------
    list of str
        Empty for a mechanism.

    Notes
    -----
    Source: Featherstone (2008), section 4.1.1: nodes are bodies, arcs are joints, exactly one node is the fixed base,
    the graph is undirected and connected.

    Examples
    --------
    >>> violations([("hinge", "world", "door"), ("knob", "dor", "handle")], ["door", "handle"])
    ["joint 'knob' connects the unknown body 'dor' (did you mean 'door'?)", "nothing connects 'handle' to 'world': ..."]
    """
    arcs = [_arc(entry) for entry in joints]
    ends = [end for arc in arcs for end in arc[1:]]
    named = list(dict.fromkeys(ends)) if bodies is None else list(bodies)
    known = dict.fromkeys([base, *named])
    found = [f"two bodies are named {name!r}" for name in _twice(named)]
    found += [f"two joints are named {name!r}" for name in _twice([arc.joint for arc in arcs])]
    groups = Groups([*known])
    for arc in arcs:
        if unknown := [end for end in arc[1:] if end not in known]:
            close = closest(str(unknown[0]), map(str, known))
            hint = f" (did you mean {close[0]!r}?)" if close else ""
            found.append(f"joint {arc.joint!r} connects the unknown body {unknown[0]!r}{hint}")
        elif arc.predecessor == arc.successor:
            found.append(f"joint {arc.joint!r} connects body {arc.predecessor!r} to itself")
        else:
            groups.join(arc.predecessor, arc.successor)
    apart: dict[str, list[str]] = {}
    for name in known:
        if not groups.same(name, base):
            apart.setdefault(groups.top(name), []).append(name)
    for part in apart.values():
        found.append(
            f"nothing connects {listed(part)} to {base!r}: a part that floats needs a joint of six freedoms from the "
            "base to one of its bodies"
        )
    return found


def _arc(entry) -> Arc:
    try:
        return Arc(*entry)
    except TypeError:
        raise TopologyError(f"{entry!r} is no joint of a graph: give (name, predecessor, successor)") from None


def _names(value, what: str) -> list[str]:
    if isinstance(value, str):
        raise TopologyError(f"{what} is {value!r}, expected a list of joint names: [{value!r}]", names=value)
    return list(value)


def _twice(names: Iterable[str]) -> list[str]:
    return [name for name, count in Counter(names).items() if count > 1]
