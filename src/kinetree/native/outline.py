"""Chunks that repeat: which of a plan's chunks do the same operations, and the places of their operands.

Chunks of one *shape* become one machine function that runs over the rows of a table (`outline_llvm`). A shape has
*columns*: all that an operation reads or writes in memory, a slot, an entry of an input, a param, a result. A row holds
the entries of one chunk. Columns that go from row to row by the same steps need one number of the table together; that
is why values which are made together and die together lie side by side (`llvm_plan`), and why rows are short.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinetree.native.llvm_plan import Plan

REPEATED = 3
"""How often a shape must occur to get a function of its own."""

Column = tuple
"""``("slot",)``, ``("input", array)``, ``("param",)``, ``("result", output)``, or ``("place",)`` for the own place of a
result in the frame of the SIMD variant. With an entry, the number of the slot, the position in the array, the number of
the param, or for a place the value."""


@dataclass(frozen=True, slots=True)
class Shape:
    """Chunks that do the same.

    Parameters
    ----------
    chunks : list of int
        Their numbers in the plan, in order of evaluation.
    columns : list of Column
        The places that they read and write.
    entries : (rows, columns) array of int
        Places: a row for each chunk.
    """

    chunks: list[int]
    columns: list[Column]
    entries: np.ndarray


@dataclass(frozen=True, slots=True)
class Outline:
    """The order in which shapes and single chunks are run.

    Parameters
    ----------
    shapes : list of Shape
    single : list of int
        Chunks whose shape is too rare.
    steps : list of (int, int, int)
        Number of a case, first row, last row + 1; cases count the shapes and then the single chunks, which have one
        row.
    """

    shapes: list[Shape]
    single: list[int]
    steps: list[tuple[int, int, int]]


def outline(plan: Plan) -> Outline:
    """Find the chunks of a plan that repeat."""
    occurrences: dict[tuple, list[int]] = {}
    rows: list[list[int]] = []
    for number, chunk in enumerate(plan.chunks):
        key, entries = _describe(plan, number, chunk)
        occurrences.setdefault(key, []).append(number)
        rows.append(entries)
    shapes, single, case = [], [], {}
    for (_, kinds, _), chunks in occurrences.items():
        if len(chunks) < REPEATED:
            single += chunks
            continue
        columns = [(k, kind) for k, kind in enumerate(kinds) if kind[0] != "const"]
        entries = np.array([rows[number] for number in chunks], dtype=np.int64).reshape(len(chunks), len(kinds))
        case.update((number, (len(shapes), row)) for row, number in enumerate(chunks))
        shapes.append(Shape(chunks, [kind for _, kind in columns], entries[:, [k for k, _ in columns]]))
    single.sort()
    case.update((number, (len(shapes) + k, 0)) for k, number in enumerate(single))
    steps: list[tuple[int, int, int]] = []
    for number in range(len(plan.chunks)):
        which, row = case[number]
        if steps and steps[-1][0] == which and steps[-1][2] == row:
            steps[-1] = (which, steps[-1][1], row + 1)
        else:
            steps.append((which, row, row + 1))
    return Outline(shapes, single, steps)


def _describe(plan: Plan, number: int, chunk: tuple[int, ...]) -> tuple[tuple, list[int]]:
    """The shape of a chunk, hashable, and the entries of its columns."""
    code, slots, trigonometry = plan.program.code, plan.slots, plan.trigonometry
    stored, reported = plan.stored, plan.reported
    own: dict[int, int] = {}
    seen: dict[tuple, int] = {}
    kinds: list[Column] = []
    entries: list[int] = []
    operations: list[tuple] = []

    def column(kind: Column, entry: int) -> int:
        place = seen.get((kind, entry))
        if place is None:
            place = seen[kind, entry] = ~len(kinds)
            kinds.append(kind)
            entries.append(entry)
        return place

    def read(value: int) -> int:
        op, *args = code[value]
        if op == "const":
            return column(("const", args[0].hex()), 0)
        if op == "input":
            return column(("input", args[0]), args[1])
        if op == "param":
            return column(("param",), args[0])
        slot = trigonometry.get(value)
        return column(("slot",), slots[value] if slot is None else slot)

    for value in chunk:
        operation = code[value]
        op = operation[0]
        coded: list = [op]
        for argument in operation[1:]:
            place = own.get(argument)
            coded.append(read(argument) if place is None else place)
        # A truth value from a slot is read in another way: the operation determines which arguments are truth values.
        made = plan.pairs[operation[1]] if op == "sin" or op == "cos" else ((value, 0),)
        for twin, part in made:
            own[twin] = len(own)
            if twin in slots or twin in stored or twin in reported:
                writes: list = [part]
                if twin in slots:
                    writes.append(column(("slot",), slots[twin]))
                if twin in stored:
                    writes.append(column(("place",), twin))
                    writes += (column(("result", output), entry) for output, entry in stored[twin])
                writes.append(f"check {reported[twin]}" if twin in reported else "")
                coded.append(tuple(writes))
            elif part:
                coded.append(part)
        operations.append(tuple(coded))
    guard = ()
    if number in plan.guards:
        values, pairs = plan.guards[number]
        guard = tuple(map(read, values)), *((own[new], read(old)) for new, old in pairs)
    return (tuple(operations), tuple(kinds), guard), entries
