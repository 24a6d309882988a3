"""From a graph to a Program: simplify, split off the prologue, fuse products into sums, order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import TYPE_CHECKING

from kinetree.errors import CompilationError
from kinetree.trace.expr import Condition, Expr, is_number
from kinetree.trace.graph import BOOLEAN, Graph, Node
from kinetree.trace.program import Program
from kinetree.trace.schedule import schedule
from kinetree.trace.simplify import LEAVES, live, simplify

if TYPE_CHECKING:
    from kinetree.trace.outline_trace import Marks

Code = dict[int, Node]
"""Nodes by number; arguments are numbers of nodes of the same dict."""


def lower(
    graph: Graph,
    inputs: Sequence[tuple[str, tuple[int, ...]]],
    outputs: Sequence[tuple[str, tuple[int, ...], object]],
    checks: Sequence[tuple[str, Condition | bool]] = (),
    numbers: int | None = None,
    marks: Marks | None = None,
) -> Program:
    """Turn a trace into a Program.

    Parameters
    ----------
    graph : Graph
        The trace.
    inputs : sequence of (name, shape)
        The arrays that `Graph.input` refers to.
    outputs : sequence of (name, shape, entries)
        Entries are Expr or numbers, flat or nested to any depth, in C order.
    checks : sequence of (label, Condition or bool)
        Conditions under which the input lies outside the domain.
    numbers : int, optional
        How many numbers the model has; default up to the last one used.
    marks : Marks, optional
        Of a model with many bodies: where the trace comes to each. Large traces are lowered in pieces
        (`outline_trace`).

    Returns
    -------
    Program

    Raises
    ------
    CompilationError
        An entry is not a float of this trace, an output has the wrong number of entries, or a check always fails.

    Examples
    --------
    >>> graph = Graph()
    >>> x, m = graph.input(0, 0), graph.param(0)
    >>> program = lower(graph, [("x", (1,))], [("y", (1,), [2.0 * (m * x) + 1.0])])
    >>> program.code
    (('input', 0, 0), ('param', 0), ('const', 1.0), ('fma', 0, 1, 2))
    >>> program.prologue.code
    (('const', 2.0), ('input', 0, 0), ('mul', 0, 1))
    """
    roots, spans = [], []
    for name, shape, entries in outputs:
        start = len(roots)
        roots += [_number(graph, name, entry) for entry in _flat(entries)]
        if len(roots) - start != prod(shape):
            raise CompilationError(f"output {name!r} has {len(roots) - start} entries, expected shape {shape}.")
        spans.append((name, tuple(shape), start, len(roots)))
    end = len(roots)
    labels = []
    for label, condition in checks:
        truth = condition.constant if isinstance(condition, Condition) else bool(condition)
        if truth:
            raise CompilationError(f"check {label!r} fails for every input.", label=label)
        if truth is None:
            labels.append(label)
            roots.append(condition.id)

    if marks is not None:
        from kinetree.trace.outline_trace import lower_pieces

        pieces = lower_pieces(graph, roots, marks)
        if pieces is not None:
            return pieces.program(inputs, spans, labels, end, numbers)
        graph, roots = marks.bake(graph, roots)
    graph, roots = simplify(graph, roots)
    code, fixed, frontier = split(graph, roots)
    program, values = assemble(code, roots)
    prologue = None
    if frontier:
        used = [node[1] for node in fixed.values() if node[0] == "param"]
        size = max(used) + 1 if numbers is None else numbers
        if max(used) >= size:
            raise CompilationError(f"the trace uses model number {max(used)}, but the model has {size}.")
        fixed = {k: ("input", 0, node[1]) if node[0] == "param" else node for k, node in fixed.items()}
        prologue_code, params = assemble(fixed, frontier)
        prologue = Program(
            inputs=(("numbers", (size,)),),
            outputs=(("params", (len(frontier),)),),
            code=prologue_code,
            results=(tuple(params),),
        )
    return Program(
        inputs=tuple((name, tuple(shape)) for name, shape in inputs),
        outputs=tuple((name, shape) for name, shape, _, _ in spans),
        code=program,
        results=tuple(tuple(values[start:stop]) for _, _, start, stop in spans),
        checks=tuple(zip(labels, values[end:], strict=True)),
        prologue=prologue,
    )


def _flat(entries: object) -> Iterable:
    """The scalars of nested iterables, in order."""
    if isinstance(entries, (Expr, Condition)) or not hasattr(entries, "__iter__") or is_number(entries):
        yield entries
    else:
        for entry in entries:
            yield from _flat(entry)


def _number(graph: Graph, name: str, entry: object) -> int:
    if isinstance(entry, Expr):
        if entry.graph is not graph:
            raise CompilationError(f"output {name!r} holds a value of another trace.")
        return entry.id
    if isinstance(entry, Condition):
        raise CompilationError(f"output {name!r} holds a condition; outputs are floats: condition.where(1.0, 0.0).")
    if not is_number(entry):
        raise CompilationError(f"output {name!r} holds a {type(entry).__name__}, expected a traced value or a number.")
    return graph.const(entry)


def split(graph: Graph, roots: Sequence[int]) -> tuple[Code, Code, list[int]]:
    """Split into the code for every state, the code for every model, and the nodes that pass from this to that.

    A pure float that the state's code or an output needs becomes ``("param", j)``, unless it is a constant. A pure
    boolean is computed per state, from pure floats: params are floats.
    """
    nodes, order = graph.nodes, live(graph, roots)
    pure, numbered = bytearray(len(nodes)), bytearray(len(nodes))  # numbered: it depends on the model's numbers
    for k in order:
        node = nodes[k]
        op = node[0]
        if op in LEAVES:
            pure[k] = op != "input"
            numbered[k] = op == "param"
        elif len(node) == 3:
            _, a, b = node
            pure[k] = pure[a] and pure[b]
            numbered[k] = numbered[a] or numbered[b]
        else:
            pure[k] = all([pure[a] for a in node[1:]])
            numbered[k] = any([numbered[a] for a in node[1:]])
    needed = bytearray(len(nodes))
    for k in roots:
        needed[k] = True
    code: Code = {}
    frontier = []
    for k in reversed(order):
        if not needed[k]:
            continue
        node = nodes[k]
        op = node[0]
        if pure[k] and numbered[k] and op not in BOOLEAN:
            frontier.append(k)
            continue
        code[k] = node
        if op not in LEAVES:
            for a in node[1:]:
                needed[a] = True
    frontier.reverse()
    code.update((k, ("param", j)) for j, k in enumerate(frontier))
    return code, {k: nodes[k] for k in live(graph, frontier)}, frontier


def assemble(code: Code, roots: Sequence[int]) -> tuple[tuple[Node, ...], list[int]]:
    """The finished code and the value numbers of the roots."""
    code = fuse(code, roots)
    place: dict[int, int] = {}
    finished: list[Node] = []
    for k in schedule(code):
        node = code[k]
        op = node[0]
        place[k] = len(finished)
        if op in LEAVES:
            finished.append(node)
        elif len(node) == 3:
            finished.append((op, place[node[1]], place[node[2]]))
        else:
            finished.append((op, *[place[a] for a in node[1:]]))
    return tuple(finished), [place[k] for k in roots]


def fuse(code: Code, roots: Sequence[int]) -> Code:
    """a b + c -> fma(a, b, c) and its relatives, for products used once; of two products the later one is fused.

    Sums keep their shape. Threading every sum through its products, a + (b c + d e) -> fma(d, e, fma(b, c, a)), made
    2 to 11 % fewer instructions for `rnea`, `aba` and `crba` of two 7-joint chains (measured once, Zen 4); batch times
    changed by -6 to +10 %, single calls by -5 to +2 %: no clear gain.
    """
    uses = [0] * (max(code, default=-1) + 1)
    for k in roots:
        uses[k] += 1
    for node in code.values():
        if node[0] not in LEAVES:
            for a in node[1:]:
                uses[a] += 1
    fused = dict(code)
    for k, node in code.items():
        op = node[0]
        if op != "add" and op != "sub":
            continue
        _, a, b = node
        first = uses[a] == 1 and code[a][0] == "mul"
        second = uses[b] == 1 and code[b][0] == "mul"
        if first and (a > b or not second):
            _, x, y = fused.pop(a)
            fused[k] = ("fma" if op == "add" else "fms"), x, y, b
        elif second:
            _, x, y = fused.pop(b)
            fused[k] = ("fma" if op == "add" else "fnma"), x, y, a
    return fused
