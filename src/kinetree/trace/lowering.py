"""From a trace to a Program: its results and checks, lowered whole or in pieces (`assembly`, `outline_trace`)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import TYPE_CHECKING

from kinetree.errors import CompilationError
from kinetree.trace.assembly import Assembled, assemble_whole
from kinetree.trace.expr import Condition, Expr, is_number
from kinetree.trace.graph import Graph
from kinetree.trace.packing import with_params_in_rows
from kinetree.trace.program import Program

if TYPE_CHECKING:
    from kinetree.trace.outline_trace import Marks


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

    found = None
    if marks is not None or graph.visits or graph.guards:
        from kinetree.trace.outline_trace import lower_pieces

        found = lower_pieces(graph, roots, marks, numbers)
        if found is None and marks is not None:
            graph, roots = marks.bake(graph, roots)
    found = found or assemble_whole(graph, roots)
    program = Program(
        inputs=tuple((name, tuple(shape)) for name, shape in inputs),
        outputs=tuple((name, shape) for name, shape, _, _ in spans),
        code=tuple(found.code),
        results=tuple(tuple(found.roots[start:stop]) for _, _, start, stop in spans),
        checks=tuple(zip(labels, found.roots[end:], strict=True)),
        prologue=_prologue(found, numbers) if found.params else None,
        cuts=tuple(found.cuts),
        guards=tuple(found.guards),
    )
    return with_params_in_rows(program)


def _prologue(found: Assembled, numbers: int | None) -> Program:
    """The program that computes the params from the model's numbers."""
    size = 1 + max((node[2] for node in found.prologue if node[0] == "input"), default=-1)
    if numbers is not None and size > numbers:
        raise CompilationError(f"the trace uses model number {size - 1}, but the model has {numbers}.")
    return Program(
        inputs=(("numbers", (size if numbers is None else numbers,)),),
        outputs=(("params", (len(found.params),)),),
        code=tuple(found.prologue),
        results=(tuple(found.params),),
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
