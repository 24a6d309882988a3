"""LLVM IR of repeated chunks: a loop over the rows of a table for every shape, and the loop that runs them in order."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

import numpy as np

from kinetree.native.llvm_code import Code
from kinetree.native.llvm_module import Block, Module
from kinetree.native.outline import Column, Outline, Shape

Address = tuple[str, int]


class RowTable:
    """Where the columns of a shape are, for every row: a base pointer, a distance, and a number of the table.

    Parameters
    ----------
    shape : Shape
    locate : callable
        Base pointer and byte offsets, given a column and its entries; None for columns that this form has not.
    """

    def __init__(self, shape: Shape, locate: Callable[[Column, np.ndarray], tuple[str, np.ndarray] | None]) -> None:
        self._places: dict[tuple[Column, int], tuple[str, int, int | None]] = {}
        groups: dict[bytes, int] = {}
        table: list[np.ndarray] = []
        for k, column in enumerate(shape.columns):
            entries = shape.entries[:, k]
            found = locate(column, entries)
            if found is None:
                continue
            base, offsets = found
            steps = (offsets - offsets[0]).astype(np.int32)
            group = None
            if steps.any():
                group = groups.setdefault(steps.tobytes(), len(table))
                if group == len(table):
                    table.append(steps)
            self._places[column, int(entries[0])] = base, int(offsets[0]), group
        self.table = np.array(table, np.int32).reshape(len(table), len(shape.chunks)).T
        self.width = max(len(table), 1)

    def address(self, block: Block, column: Column, entry: int) -> Address:
        """Base pointer and byte offset of the operand that the shape's first chunk has at this entry."""
        base, offset, group = self._places[column, entry]
        if group is None:
            return base, offset
        name = f"%at{group}.{base.removeprefix('%')}{block.branch}"
        if name not in self._shifted:
            self._shifted.add(name)
            block.lines.append(f"  {name} = getelementptr inbounds i8, ptr {base}, i64 %step{group}")
        return name, offset

    def begin(self, block: Block, row: str) -> None:
        """Read a row that a pointer leads to."""
        self._shifted: set[str] = set()
        for group in range(self.table.shape[1]):
            place = block.pointer(row, 4 * group)
            block.lines.append(f"  %short{group} = load i32, ptr {place}")
            block.lines.append(f"  %step{group} = sext i32 %short{group} to i64")

    def fork(self) -> None:
        """Addresses are computed again in another branch."""
        self._shifted = set()

    def constant(self, name: str) -> str:
        """IR of the table."""
        if not self.table.size:
            return f"{name} = internal constant [1 x i32] zeroinitializer"
        numbers = ", ".join(f"i32 {x}" for x in self.table.ravel().tolist())
        return f"{name} = internal constant [{self.table.size} x i32] [{numbers}]"


class TableAddresses:
    """Makes a block over the rows of a table from one over a single chunk, which has the addresses of its operands."""

    def __init__(self, shape: Shape, *arguments) -> None:
        super().__init__(*arguments)
        self.rows = RowTable(shape, self._locate)

    def _locate(self, column: Column, entries: np.ndarray) -> tuple[str, np.ndarray] | None:
        kind, *array = column
        return getattr(super(), f"{kind}_address")(*array, entries)

    def slot_address(self, slot: int) -> Address:
        return self.rows.address(self, ("slot",), slot)

    def input_address(self, array: int, entry: int) -> Address:
        return self.rows.address(self, ("input", array), entry)

    def param_address(self, index: int) -> Address:
        return self.rows.address(self, ("param",), index)

    def result_address(self, output: int, entry: int) -> Address:
        return self.rows.address(self, ("result", output), entry)

    def place_address(self, value: int) -> Address:
        return self.rows.address(self, ("place",), value)

    def fork(self, branch: str) -> None:
        super().fork(branch)
        self.rows.fork()


def emit_rows(
    module: Module,
    name: str,
    rows: Callable,
    single: Callable,
    arguments: tuple[str, str],
    each: Callable[[Code], AbstractContextManager] = nullcontext,
) -> None:
    """Add the functions of shapes and single chunks, and the function ``@{name}_steps`` that runs them.

    Parameters
    ----------
    module : Module
        With an outline.
    name : str
        ``"state"`` or ``"tile"``.
    rows : callable
        Makes the block of a shape.
    single : callable
        Makes the block of a single chunk.
    arguments : (str, str)
        The parameters of the functions, with attributes for definitions and without for calls.
    each : callable
        Gives a context in which the code of a chunk is written, as the body of a loop.
    """
    definition, call = arguments
    outline, cases = module.outline, []
    for k, shape in enumerate(outline.shapes):
        block = rows(shape)
        code = Code(f"internal fastcc void @{name}_rows{k}", f"{definition}, i64 %first, i64 %end")
        kind = f"[{block.rows.width} x i32]"
        table, (first, end) = code.value("ptr", f"@{name}_table{k}"), code.arguments[-2:]
        start, stop = table.at(first, kind), table.at(end, kind)
        with code.walk(start, stop, 4 * block.rows.width) as row:
            block.number(0)
            block.rows.begin(block, row.text)
            _write(code, block, shape.chunks[0], each)
        code.give()
        module.parts += block.rows.constant(table.text), code.text()
        cases.append((f"{name}_rows{k}", f"{call}, i64 %first, i64 %end"))
    for number in outline.single:
        block, code = single(), Code(f"internal fastcc void @{name}{number}", definition)
        block.number(0)
        _write(code, block, number, each)
        module.parts.append(code.closed())
        cases.append((f"{name}{number}", call))
    module.parts.append(_steps(outline, name, definition, cases))


def _write(code: Code, block: Block, number: int, each: Callable[[Code], AbstractContextManager]) -> None:
    """Write a chunk, after the lines that its block has already."""
    code.lines += block.lines
    block.lines = []
    with each(code):
        block.emit_guarded(number)
        code.lines += block.lines
        code.block = block.label or code.block


def _steps(outline: Outline, name: str, definition: str, cases: list[tuple[str, str]]) -> str:
    """IR of the function that calls the cases, each a function and its arguments, in the order of the outline."""
    numbers = [x for step in outline.steps for x in step]
    table = f"@{name}_order = internal constant [{len(numbers)} x i32] [{', '.join(f'i32 {x}' for x in numbers)}]"
    code = Code(f"internal fastcc void @{name}_steps", definition)
    with code.count(len(numbers), 3) as k:
        entry = code.value("ptr", f"@{name}_order").at(k, "i32")
        case = entry.load("i32")
        for place, row in ((4, "%first"), (8, "%end")):
            short = entry.at(place).load("i32")
            code.do("i64", f"zext {short} to i64", row)
        targets = " ".join(f"i32 {k}, label %case{k}" for k in range(len(cases)))
        code.say(f"switch {case}, label %never [ {targets} ]")
        for k, (function, given) in enumerate(cases):
            code.label(f"case{k}")
            code.say(f"call fastcc void @{function}({given})")
            code.go("after")
        code.label("never")
        code.say("unreachable")
        code.label("after")
    code.give()
    return f"{table}\n\n{code.text()}"
