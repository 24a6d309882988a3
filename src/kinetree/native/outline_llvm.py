"""LLVM IR of repeated chunks: a loop over the rows of a table for every shape, and the loop that runs them in order."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

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
        """Base pointer and byte offset of what the shape's first chunk has at this entry."""
        base, offset, group = self._places[column, entry]
        if group is None:
            return base, offset
        name = f"%at{group}.{base.removeprefix('%')}"
        if name not in self._shifted:
            self._shifted.add(name)
            block.lines.append(f"  {name} = getelementptr inbounds i8, ptr {base}, i64 %step{group}")
        return name, offset

    def begin(self, block: Block) -> None:
        """Read a row."""
        self._shifted: set[str] = set()
        for group in range(self.table.shape[1]):
            place = block.pointer("%row", 4 * group)
            block.lines.append(f"  %short{group} = load i32, ptr {place}")
            block.lines.append(f"  %step{group} = sext i32 %short{group} to i64")

    def constant(self, name: str) -> str:
        """IR of the table."""
        if not self.table.size:
            return f"{name} = internal constant [1 x i32] zeroinitializer"
        numbers = ", ".join(f"i32 {x}" for x in self.table.ravel().tolist())
        return f"{name} = internal constant [{self.table.size} x i32] [{numbers}]"


class TableAddresses:
    """Where a block over the rows of a table finds its operands; ``rows`` is the `RowTable`."""

    rows: RowTable

    def slot_address(self, slot: int) -> Address:
        return self.rows.address(self, ("slot",), slot)

    def input_address(self, array: int, entry: int) -> Address:
        return self.rows.address(self, ("input", array), entry)

    def param_address(self, index: int) -> Address:
        return self.rows.address(self, ("param",), index)


def emit_rows(module: Module, outline: Outline, name: str, rows: Callable, single: Callable, arguments: tuple) -> str:
    """Add the functions of shapes and single chunks, and the function ``@{name}_steps`` that runs them.

    Parameters
    ----------
    module : Module
    outline : Outline
    name : str
        ``"state"`` or ``"tile"``.
    rows : callable
        Makes the block of a shape.
    single : callable
        Makes the block of a single chunk.
    arguments : (str, str)
        The parameters of the functions, with attributes for definitions and without for calls.

    Returns
    -------
    str
        The call.
    """
    definition, call = arguments
    cases = []
    for k, shape in enumerate(outline.shapes):
        block = rows(shape)
        block.number(0)
        block.rows.begin(block)
        block.emit(module.plan.chunks[shape.chunks[0]])
        module.parts.append(block.rows.constant(f"@{name}_table{k}"))
        lines = "\n".join(block.lines)
        module.parts.append(
            f"define internal fastcc void @{name}_rows{k}({definition}, i64 %first, i64 %end) #0 {{\nentry:\n"
            f"  %start = getelementptr inbounds [{block.rows.width} x i32], ptr @{name}_table{k}, i64 %first\n"
            f"  %stop = getelementptr inbounds [{block.rows.width} x i32], ptr @{name}_table{k}, i64 %end\n"
            "  br label %loop\nloop:\n  %row = phi ptr [ %start, %entry ], [ %next, %loop ]\n"
            f"{lines}\n"
            f"  %next = getelementptr inbounds i8, ptr %row, i64 {4 * block.rows.width}\n"
            "  %more = icmp ne ptr %next, %stop\n  br i1 %more, label %loop, label %done\ndone:\n  ret void\n}"
        )
        cases.append(f"  call fastcc void @{name}_rows{k}({call}, i64 %first, i64 %end)")
    for number in outline.single:
        block = single()
        block.number(1)
        block.emit(module.plan.chunks[number])
        module.function(f"{name}{number}", definition, block.lines)
        cases.append(f"  call fastcc void @{name}{number}({call})")
    steps = ", ".join(f"i32 {x}" for step in outline.steps for x in step)
    count = 3 * len(outline.steps)
    targets = " ".join(f"i32 {k}, label %case{k}" for k in range(len(cases)))
    bodies = "\n".join(f"case{k}:\n{line}\n  br label %after" for k, line in enumerate(cases))
    module.parts.append(
        f"""@{name}_order = internal constant [{count} x i32] [{steps}]

define internal fastcc void @{name}_steps({definition}) #0 {{
entry:
  br label %loop
loop:
  %k = phi i64 [ 0, %entry ], [ %next, %after ]
  %case_at = getelementptr inbounds i32, ptr @{name}_order, i64 %k
  %case = load i32, ptr %case_at
  %first_at = getelementptr inbounds i8, ptr %case_at, i64 4
  %first_short = load i32, ptr %first_at
  %first = zext i32 %first_short to i64
  %end_at = getelementptr inbounds i8, ptr %case_at, i64 8
  %end_short = load i32, ptr %end_at
  %end = zext i32 %end_short to i64
  switch i32 %case, label %never [ {targets} ]
{bodies}
never:
  unreachable
after:
  %next = add i64 %k, 3
  %more = icmp slt i64 %next, {count}
  br i1 %more, label %loop, label %done
done:
  ret void
}}"""
    )
    return f"  call fastcc void @{name}_steps({call})"
