"""Large traces in pieces: every different piece is simplified and ordered once, its repetitions are copies.

An algorithm visits the bodies one after the other, and its operations for two bodies of one kind differ in operands
only. A `MarkedModel` notes where in the trace each visit begins; between the marks lie the *pieces*. Two pieces have
one *shape* if they do the same operations on their own values and take values from outside in the same pattern. A
piece is lowered as if it were a program of its own, whose inputs are the values from outside and whose results are the
values that others use; that is done once for every shape. So a thousand links cost little more than their trace.

Simplifications across pieces are lost: a product that is used in another piece is not fused into the sum there. For
chains of revolute joints these are less than 1 % of the operations.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from kinetree.errors import CompilationError
from kinetree.joints.elementary import TurnedRevolute
from kinetree.model import ScalarModel
from kinetree.spatial import PlanarRotation
from kinetree.spatial.rotation import AxialRotation, GeneralRotation, Rotation
from kinetree.trace.assembly import Assembled, assemble, split, stretches
from kinetree.trace.graph import BOOLEAN, Graph, Guard
from kinetree.trace.progress import stage
from kinetree.trace.simplify import LEAVES, Survey, live, purity, simplify

BODIES = 48
"""Bodies from which a model is traced with marks."""

LARGE = 16_000
"""Nodes of a trace from which it is lowered in pieces."""

PIECE = 1200
"""Longest piece; where no mark stands for so long, pieces of this size are cut."""

STEPS = 16
"""Bodies on the way to the root that make a piece: the ways of all bodies are then made of the same few."""

LARGEST = 12_000_000
"""Nodes of a trace, which takes a minute per six million and 400 bytes for each; beyond, compiling is refused."""

GUARDED = 2000
"""The same of a trace with guards."""

REPEATED = 1.5
"""How much smaller the different pieces together must be than the trace, or it is lowered as a whole."""


class Visits(Sequence):
    """Bodies, or other parts, in an order; iterating notes where in the trace each visit begins and the last one ends.

    Parameters
    ----------
    bodies : sequence
    graph : Graph
    marks : list of int
        Gets the length of the graph at each visit.
    what : str
        Name of the trace, for the error.

    Raises
    ------
    CompilationError
        While iterating: the trace grows beyond `LARGEST`.
    """

    __slots__ = ("_bodies", "_graph", "_marks", "_what")

    def __init__(self, bodies: Sequence, graph: Graph, marks: list[int], what: str) -> None:
        self._bodies, self._graph, self._marks, self._what = bodies, graph, marks, what

    def __iter__(self):
        count, begin = len(self._bodies), len(self._graph)
        for k, i in enumerate(self._bodies):
            here = len(self._graph)
            self._marks.append(here)
            if k and k % 16 == 0:
                # The deepest bodies may come first. Where visits cost as much as a body is deep, half of the
                # expectation is right; so one that is too large by half is refused at once.
                expected = here + (here - begin) * (count - k) // k
                if here > LARGEST or expected > 2 * LARGEST:
                    self._refuse(max(here, expected // 2))
            if k and k % 64 == 0:
                stage(f"reading the algorithm, body {k} of {count}")
            yield i
        self._marks.append(len(self._graph))

    def _refuse(self, nodes: int) -> None:
        raise _too_large(
            f"{self._what} would be a program of {nodes / 1e6:.0f} million operations or more, beyond the "
            f"{LARGEST / 1e6:.0f} million up to which kinetree compiles.",
            len(self._bodies),
            operations=nodes,
        )

    def __len__(self) -> int:
        return len(self._bodies)

    def __getitem__(self, k):
        return self._bodies[k]


def refuse_results(what: str, entries: int, bodies: int) -> None:
    """Raise CompilationError if there are more entries of results than a program can have."""
    if entries > LARGEST // 4:
        raise _too_large(
            f"{what} has {entries / 1e6:.0f} million entries, beyond the {LARGEST / 4e6:.0f} million up to which "
            "kinetree compiles.",
            bodies,
            entries=entries,
        )


def _too_large(what: str, bodies: int, **values: int) -> CompilationError:
    return CompilationError(
        f"{what} Matrices of {bodies} bodies grow with their square: take products with vectors instead (a column of M "
        "is rnea of a unit acceleration, a whole batch of them in one call: docs/big_models.md), or evaluate without "
        "compiling, within 'with kinetree.interpreted():'.",
        bodies=bodies,
        **values,
    )


class MarkedModel(ScalarModel):
    """A model with many bodies, as an algorithm reads it while it is traced.

    It notes where the visits of bodies begin, and its rotations are symbols, which otherwise are constants: bodies that
    are turned differently then differ in numbers only.

    Parameters
    ----------
    model : Model
    values : sequence of Expr or float
        The model's numbers.
    graph : Graph
        The trace.
    what : str
        Name of the trace, for errors: "crba of model 'arm'".

    Attributes
    ----------
    marks : Marks
    plain : Model
        The model, its rotations constant.
    """

    __slots__ = ("_graph", "_what", "marks", "plain")

    def __init__(self, model, values: Sequence, graph: Graph, what: str) -> None:
        marks = Marks([], len(values), [])
        self._set(_graph=graph, _what=what, marks=marks, plain=model)
        super().__init__(model, values)
        self._set(
            X_T=(self.X_T[0], *(self.algebra.Transform.of(self._rotation(X.E), X.r) for X in self.X_T[1:])),
            joints=tuple(
                # The constant turn of a re-framed joint is a rotation, too.
                joint.with_turn(self._rotation(joint.turn)) if isinstance(joint, TurnedRevolute) else joint
                for joint in self.joints
            ),
        )

    def _rotation(self, E: Rotation) -> Rotation:
        """A rotation over symbols: a param for every entry that is not 0, 1 or -1.

        Within one rotation equal entries stay equal, opposite ones opposite.
        """
        known: dict[float, object] = {}

        def symbol(x):
            if not isinstance(x, float) or x in (0.0, 1.0, -1.0):
                return x
            if x not in known:
                known[x] = self._graph.param(self.marks.numbers + len(self.marks.constants))
                known[-x] = -known[x]
                self.marks.constants.append(x)
            return known[x]

        if isinstance(E, AxialRotation):
            return AxialRotation(E.axis, symbol(E.c), symbol(E.s))
        if isinstance(E, GeneralRotation):
            return GeneralRotation(tuple(tuple(map(symbol, row)) for row in E.matrix.rows))
        return PlanarRotation(symbol(E.c), symbol(E.s)) if isinstance(E, PlanarRotation) else E

    def outward(self) -> Visits:
        return Visits(super().outward(), self._graph, self.marks.places, self._what)

    def inward(self) -> Visits:
        return Visits(super().inward(), self._graph, self.marks.places, self._what)

    def visits(self, parts: Sequence) -> Visits:
        return Visits(parts, self._graph, self.marks.places, self._what)

    def ancestors(self, i: int) -> Iterator[int]:
        for k, j in enumerate(super().ancestors(i)):
            if k % STEPS == 0:
                self.marks.places.append(len(self._graph))
            yield j


@dataclass(frozen=True, slots=True)
class Marks:
    """Data of the trace of a `MarkedModel` besides the graph.

    Parameters
    ----------
    places : list of int
        Lengths of the graph when a visit began or a pass ended, ascending.
    numbers : int
        How many numbers the model has; params from there on stand for constants.
    constants : list of float
        The constants that the params from `numbers` on stand for.
    """

    places: list[int]
    numbers: int
    constants: list[float]

    def bake(self, graph: Graph, roots: Sequence[int]) -> tuple[Graph, list[int]]:
        """The trace with the constants as constants."""
        nodes = graph.nodes
        edits = {
            k: lambda new, _, x=self.constants[nodes[k][1] - self.numbers]: new.const(x)
            for k in live(graph, roots)
            if nodes[k][0] == "param" and nodes[k][1] >= self.numbers
        }
        survey = Survey(graph, roots).rebuild(edits, needed=True)
        return survey.graph, survey.roots


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of the trace in its own numbering, made by `_describe`.

    Parameters
    ----------
    nodes : sequence of int
        Its operations.
    shape : int
        Number of its shape.
    outside : list of int
        The nodes that the piece takes.
    exported : list of int
        The nodes that others take, in the order in which the shape names them.
    """

    nodes: Sequence[int]
    shape: int
    outside: list[int]
    exported: list[int]


@dataclass(frozen=True, slots=True)
class Stretch:
    """Code that can be copied: operations over places in "leaves, then results".

    Parameters
    ----------
    leaves : list of tuple
        Those that operations use.
    operations : list of tuple
    ends : list of (str, object)
        The kind of each value that others take: ("leaf", node of the leaf) or ("value", place).
    """

    leaves: list[tuple]
    operations: list[tuple]
    ends: list[tuple[str, object]]

    @classmethod
    def of(cls, code: dict, roots: Sequence[int]) -> Stretch:
        """The finished code of some nodes."""
        finished, values = assemble(code, roots)
        used = {a for op, *args in finished if op not in LEAVES for a in args}
        leaves = [k for k, node in enumerate(finished) if node[0] in LEAVES and k in used]
        place = {k: n for n, k in enumerate(leaves)}
        operations = []
        for k, (op, *args) in enumerate(finished):
            if op not in LEAVES:
                place[k] = len(leaves) + len(operations)
                operations.append((op, *(place[a] for a in args)))
        ends = [("leaf", finished[v]) if finished[v][0] in LEAVES else ("value", place[v]) for v in values]
        return cls([finished[k] for k in leaves], operations, ends)

    def copy(self, code: list[tuple], known: list[int]) -> list[int]:
        """Append the operations to some code, given its numbers of the leaves; the numbers of leaves and results."""
        for op, *args in self.operations:
            known.append(len(code))
            code.append((op, *[known[a] for a in args]))
        return known


def _template(shape: tuple) -> tuple[Stretch, Stretch]:
    """The lowered form of a shape: the piece's code for every state and for every model, over its inputs.

    Parameters
    ----------
    shape : tuple
        Operations; arguments count the piece's own values from 0, the values from outside from -1 downward. Then the
        kind of each value from outside, and the values that are used outside.
    """
    operations, kinds, exported = shape
    graph = Graph()
    outside = []
    for k, kind in enumerate(kinds):
        if kind == "state":
            outside.append(graph.node(("input", 0, k)))
        elif kind == "pure":
            outside.append(graph.node(("param", k)))
        else:
            outside.append(graph.boolean(kind[1]) if kind[0] == "boolean" else graph.const(kind[1]))
    own: list[int] = []
    for op, *args in operations:
        own.append(graph.node((op, *(own[a] if a >= 0 else outside[~a] for a in args))))
    graph, roots = simplify(graph, [own[k] for k in exported])
    code, fixed, frontier = split(graph, roots)
    return Stretch.of(code, roots), Stretch.of(fixed, frontier)


def lower_pieces(
    graph: Graph, roots: Sequence[int], marks: Marks | None, numbers: int | None = None
) -> Assembled | None:
    """Lower a large trace in pieces.

    Parameters
    ----------
    graph : Graph
    roots : sequence of int
        Nodes of the results and checks.
    marks : Marks, optional
        Of a `MarkedModel`; without it the loops of the graph alone make pieces, and all else is one piece.
    numbers : int, optional
        How many numbers the model has, where there are no marks.

    Returns
    -------
    Assembled or None
        None if the trace is small or its pieces are too different: then it is to be lowered as a whole.
    """
    least = GUARDED if graph.guards else LARGE
    if len(graph) < least:
        return None
    order = live(graph, roots)
    if len(order) < least:
        return None
    pure = purity(graph, order)
    operations = [k for k in order if graph.nodes[k][0] not in LEAVES]
    longest = PIECE if marks is not None else len(operations)
    if marks is None:
        marks = Marks([], len(graph.nodes) if numbers is None else numbers, [])
    places = [*marks.places, *graph.visits, *(place for guard in graph.guards for place in guard[:2])]
    pieces, shapes = _describe(graph, stretches(operations, places, longest), pure, roots)
    guards = _guards(graph, pieces, roots)
    if not guards and sum(len(operations) for operations, _, _ in shapes) * REPEATED > len(order):
        return None
    return _Copies(graph, pure, marks).all(pieces, shapes, roots, guards)


def _guards(graph: Graph, pieces: Sequence[Piece], roots: Sequence[int]) -> dict[int, Guard]:
    """The guard of each piece that has one.

    A guard holds if no value of its pieces but the results is taken by others, and if none of them computes a sine or
    cosine, which machine code computes together with its twin.
    """
    starts = [guard.start for guard in graph.guards]
    by_piece = {}
    for k, piece in enumerate(pieces):
        g = bisect_right(starts, piece.nodes[0]) - 1
        if g >= 0 and piece.nodes[0] < graph.guards[g].stop:
            by_piece[k] = g
    leaking = set()
    exported = dict.fromkeys(roots)
    for k, piece in enumerate(pieces):
        exported.update((node, None) for node in piece.outside if by_piece.get(k) != _owner(graph, starts, node))
        if k in by_piece and any(graph.nodes[node][0] in ("sin", "cos") for node in piece.nodes):
            leaking.add(by_piece[k])
    for node in exported:
        g = _owner(graph, starts, node)
        if g is not None and node not in graph.guards[g].results and graph.nodes[node][0] not in LEAVES:
            leaking.add(g)
    return {k: graph.guards[g] for k, g in by_piece.items() if g not in leaking}


def _owner(graph: Graph, starts: Sequence[int], node: int) -> int | None:
    """The number of the guard in whose stretch a node stands."""
    g = bisect_right(starts, node) - 1
    return g if g >= 0 and node < graph.guards[g].stop else None


def _describe(
    graph: Graph, pieces: Sequence[Sequence[int]], pure: set[int], roots: Sequence[int]
) -> tuple[list[Piece], list[tuple]]:
    """The pieces, and the shapes they have. Truth values from outside are computed again: a piece takes floats."""
    nodes, value = graph.nodes, graph.value
    described = []
    exported = set(roots)
    for piece in pieces:
        own: dict[int, int] = {}
        outside: dict[int, int] = {}
        kinds: list = []
        operations: list[tuple] = []

        def add(k: int, own=own, outside=outside, kinds=kinds, operations=operations) -> int:
            op, *args = nodes[k]
            coded = [op]
            for a in args:
                place = own.get(a)
                if place is None:
                    place = outside.get(a)
                if place is None:
                    kind = nodes[a][0]
                    if kind in BOOLEAN and kind not in LEAVES:
                        place = add(a)
                    else:
                        place = outside[a] = ~len(kinds)
                        if kind == "const":
                            kinds.append(("const", value[a]))
                        elif kind == "true" or kind == "false":
                            kinds.append(("boolean", kind == "true"))
                        else:
                            kinds.append("pure" if a in pure else "state")
                coded.append(place)
            own[k] = place = len(operations)
            operations.append(tuple(coded))
            return place

        for k in piece:
            if k not in own:
                add(k)
        exported.update(outside)
        described.append((piece, tuple(operations), tuple(kinds), own, list(outside)))
    result = []
    shapes: dict[tuple, int] = {}
    for piece, operations, kinds, own, outside in described:
        mine = [k for k in piece if k in exported]
        shape = operations, kinds, tuple([own[k] for k in mine])
        result.append(Piece(piece, shapes.setdefault(shape, len(shapes)), outside, mine))
    return result, list(shapes)


class _Copies:
    """The code that grows while templates are copied into it."""

    def __init__(self, graph: Graph, pure: set[int], marks: Marks) -> None:
        self.nodes = graph.nodes
        self.pure = pure
        self.marks = marks
        self.code: list[tuple] = []
        self.prologue: list[tuple] = []
        self.cuts: list[int] = []
        self.guards: list[tuple] = []
        self.params: list[int] = []
        self._param: dict[int, int] = {}  # value of the prologue -> number of the param
        self._leaves: dict[tuple, int] = {}
        self._pure_leaves: dict[tuple, int] = {}
        # A node's value in the code is a number, or a leaf (a tuple) that enters the code at its first use.
        self._value: dict[int, int | tuple] = {}
        self._pure_value: dict[int, int] = {}

    def all(
        self, pieces: list[Piece], shapes: list[tuple], roots: Sequence[int], guards: Mapping[int, Guard]
    ) -> Assembled:
        """Copy all pieces, each from the template of its shape."""
        templates = []
        for k, shape in enumerate(shapes):
            if k % 64 == 0:
                stage(f"simplifying, form {k + 1} of {len(shapes)}")
            templates.append(_template(shape))
        for k, piece in enumerate(pieces):
            if k % 256 == 0:
                stage(f"joining the code, piece {k + 1} of {len(pieces)}")
            start = len(self.code)
            if start and (not self.cuts or self.cuts[-1] < start):
                self.cuts.append(start)
            self._copy(templates[piece.shape], piece)
            if k in guards and len(self.code) > start:
                self._guard(guards[k], piece, start)
        if self.cuts and self.cuts[-1] == len(self.code):
            self.cuts.pop()
        stop = len(self.code)
        places = [self._state(k) for k in roots]
        if self.guards and len(self.code) > stop and self.cuts[-1:] != [stop]:
            self.cuts.append(stop)  # a last stretch that may be skipped ends before leaves that are results
        return Assembled(self.code, self.prologue, places, self.params, self.cuts, self.guards)

    def _guard(self, guard: Guard, piece: Piece, start: int) -> None:
        """Note that the code from a place on may be skipped."""
        values, pairs = tuple(map(self._state, guard.values)), {}
        exported = set(piece.exported)
        for result, old in zip(guard.results, guard.old, strict=False):  # the other results have any value
            place = self._value.get(result) if result in exported else None
            if isinstance(place, int) and start <= place and self.code[place][0] not in LEAVES:
                pairs[place] = self._state(old)
        self.guards.append((start, len(self.code), values, tuple(pairs.items())))

    def _copy(self, template: tuple[Stretch, Stretch], piece: Piece) -> None:
        state, pure = template
        outside = piece.outside
        known = pure.copy(self.prologue, [self._pure_leaf(leaf, outside) for leaf in pure.leaves])
        frontier = [known[x] if kind == "value" else self._pure_leaf(x, outside) for kind, x in pure.ends]
        known = state.copy(self.code, [self._leaf(leaf, outside, frontier) for leaf in state.leaves])
        for k, (kind, x) in zip(piece.exported, state.ends, strict=True):
            if kind == "value":
                self._value[k] = known[x]
            elif x[0] == "param":
                self._value[k] = ("pure", frontier[x[1]])
                self._pure_value[k] = frontier[x[1]]
            elif x[0] == "const":
                self._value[k] = x
            else:
                taken = outside[x[2]]
                self._value[k] = self._value.get(taken, self.nodes[taken])

    def _leaf(self, leaf: tuple, outside: list[int], frontier: list[int]) -> int:
        """The value number of a template's leaf."""
        if leaf[0] == "const":
            return self._enter(leaf)
        if leaf[0] == "param":
            return self._enter(("pure", frontier[leaf[1]]))
        return self._state(outside[leaf[2]])

    def _state(self, k: int) -> int:
        """The value number of a node of the trace."""
        value = self._value.get(k)
        if value is None:
            node = self.nodes[k]
            value = ("pure", self._pure(k)) if k in self.pure and node[0] != "const" else node
        return value if isinstance(value, int) else self._enter(value)

    def _enter(self, leaf: tuple) -> int:
        """The value number of a leaf, which may have to be made."""
        if leaf[0] == "pure":
            j = self._param.get(leaf[1])
            if j is None:
                j = self._param[leaf[1]] = len(self.params)
                self.params.append(leaf[1])
            leaf = ("param", j)
        return _numbered(leaf, self.code, self._leaves)

    def _pure_leaf(self, leaf: tuple, outside: list[int]) -> int:
        """The prologue's value number of a template's leaf."""
        return self._pure(outside[leaf[1]]) if leaf[0] == "param" else _numbered(leaf, self.prologue, self._pure_leaves)

    def _pure(self, k: int) -> int:
        """The prologue's value number of a node that depends on model numbers alone."""
        known = self._pure_value.get(k)
        if known is not None:
            return known
        value, node = self._value.get(k), self.nodes[k]
        if value is not None and value[0] == "const":  # simplified to a number
            return _numbered(value, self.prologue, self._pure_leaves)
        if node[0] == "param":
            j, numbers = node[1], self.marks.numbers
            node = ("input", 0, j) if j < numbers else ("const", self.marks.constants[j - numbers])
        return _numbered(node, self.prologue, self._pure_leaves)


def _numbered(leaf: tuple, code: list[tuple], known: dict[tuple, int]) -> int:
    """The value number of a leaf in some code, which it enters at its first use."""
    number = known.get(leaf)
    if number is None:
        number = known[leaf] = len(code)
        code.append(leaf)
    return number
