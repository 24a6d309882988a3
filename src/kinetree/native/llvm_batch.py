"""The SIMD variant: tiles of states, transposed in registers between ordinary arrays and vectors.

The caller's arrays are C-contiguous, one state per row. A *tile* is as many states as a vector has lanes. For each tile

1. blocks of W rows by W columns are loaded, transposed by shuffles and stored in the frame, one vector per input entry;
2. the straight-line code runs on vectors and leaves one vector per distinct result;
3. W vectors at a time are read through a *slot table* (outputs repeat values and hold constants), transposed back and
   stored as rows; long rows are stored while the rest is computed (`llvm_nontemporal`).

The frame stays in the first-level cache. When the number of states is not a multiple of W, the last W states are done
again, so outputs must not overlap inputs; fewer than W states fill the tile with copies of the last one. A row stride
of zero is an input that all states share.

`llvm_rows` has the steps 1 and 3.
"""

from __future__ import annotations

import numpy as np

from kinetree.native.llvm_math import hexadecimal
from kinetree.native.llvm_module import HEAD, STACK, Block, Module, frame_line
from kinetree.native.llvm_nontemporal import RowStores, flusher, plan_row_stores, shift_lines, take_places
from kinetree.native.llvm_rows import reader, slot_table, spreader, tile_kinds, writer
from kinetree.native.llvm_state import load_pointers
from kinetree.native.outline import Column, Outline, Shape
from kinetree.native.outline_llvm import Address, RowTable, TableAddresses, emit_rows

SUM = 64
"""Byte offset in the frame of the accumulator of the finiteness test."""


class TileBlock(Block):
    """Code over one tile: everything lives in the frame."""

    def __init__(self, module: Module, memory: TileMemory) -> None:
        super().__init__(module, module.vector)
        self.memory = memory

    def input_address(self, array: int, entry: int) -> tuple[str, int]:
        return "%frame", self.memory.inputs[array] + entry * self.lanes.size

    def result_addresses(self, value: int) -> list[tuple[str, int]]:
        return [("%frame", self.memory.places[value])]

    def scratch_address(self, place: int) -> tuple[str, int]:
        return "%frame", self.memory.scratch + place * self.lanes.size


class TileMemory:
    """Byte offsets in the frame: input tiles, and the place of every distinct result.

    Results that are input entries, sines or cosines are read where they already are; constants and params are put into
    the frame once per call (`preset`). Results that are stored early share places (`row_stores`).
    """

    def __init__(self, module: Module) -> None:
        plan_, size = module.plan, module.vector.size
        offset = HEAD + plan_.slot_count * size
        self.inputs = []
        for count in module.input_sizes:
            self.inputs.append(offset)
            offset += count * size
        self.row_stores: RowStores = plan_row_stores(plan_, module.vector.count)
        self.places, offset = take_places(plan_, self.row_stores.needed, offset, size)
        self.preset: list[int] = []
        constants: dict[str, int] = {}
        for value in plan_.stored:
            operation = module.program.code[value]
            if value in self.places:
                continue
            if operation[0] == "input":
                self.places[value] = self.inputs[operation[1]] + operation[2] * size
                continue
            if value in plan_.trigonometry:
                self.places[value] = HEAD + plan_.trigonometry[value] * size
                continue
            if operation[0] == "const":
                text = hexadecimal(operation[1], module.element)
                if text in constants:
                    self.places[value] = constants[text]
                    continue
                constants[text] = offset
            if operation[0] in ("const", "param"):
                self.preset.append(value)
            self.places[value] = offset
            offset += size
        self.scratch = offset

    def size(self, module: Module) -> int:
        """Bytes of the frame, once all code is there."""
        return self.scratch + module.scratch * module.vector.size


class TileRows(TableAddresses, TileBlock):
    """A shape over a tile."""

    def __init__(self, module: Module, memory: TileMemory, shape: Shape) -> None:
        super().__init__(module, memory)
        self.rows = RowTable(shape, self._locate)

    def _locate(self, column: Column, entries: np.ndarray):
        size = self.lanes.size
        if column[0] == "slot":
            return "%frame", HEAD + entries * size
        if column[0] == "param":
            return "%params", entries * self.module.scalar.size
        if column[0] == "input":
            return "%frame", self.memory.inputs[column[1]] + entries * size
        if column[0] == "place":
            return "%frame", np.array([self.memory.places[value] for value in entries.tolist()])
        return None

    def result_addresses(self, value: int) -> list[Address]:
        return [self.rows.address(self, ("place",), value)]


def emit_batch(module: Module) -> None:
    """Add ``kinetree_batch`` and all that it calls."""
    memory = TileMemory(module)
    calls = []
    if module.plan.angles:
        module.parts.append(_trigonometry(module, memory))
        calls.append("  call fastcc void @angles(ptr %frame)")
    if module.outline is not None:
        calls.append(emit_tile_rows(module, module.outline, memory))
    for number, chunk in enumerate(module.plan.chunks if module.outline is None else ()):
        body = TileBlock(module, memory)
        body.number(1)
        body.emit(chunk)
        module.function(f"tile{number}", "ptr noalias %frame, ptr noalias readonly %params", body.lines)
        calls.append(f"  call fastcc void @tile{number}(ptr %frame, ptr %params)")
        calls += memory.row_stores.calls(number)
    for size in sorted({size for size in module.input_sizes if size}):
        module.parts += (reader(module, size, partial) for partial in tile_kinds(module))
    if any(module.input_sizes):
        module.parts.append(spreader(module))
    for output, size in enumerate(module.output_sizes):
        if size:
            module.parts.append(slot_table(module, memory.places, output))
        if output in memory.row_stores.outputs:
            module.parts.append(flusher(module, output))
        elif size:
            module.parts += (writer(module, memory.places, output, partial) for partial in tile_kinds(module))
    size = memory.size(module)
    module.heap_bytes = size if size > STACK else 0
    module.parts.append(_driver(module, memory, calls))


def emit_tile_rows(module: Module, outline: Outline, memory: TileMemory) -> str:
    """The SIMD variant's functions; returns the call."""
    arguments = ("ptr noalias %frame, ptr noalias readonly %params", "ptr %frame, ptr %params")
    return emit_rows(
        module, outline, "tile", lambda shape: TileRows(module, memory, shape), lambda: TileBlock(module, memory),
        arguments,
    )  # fmt: skip


def _trigonometry(module: Module, memory: TileMemory) -> str:
    """IR of the loop over the joint angles of a tile."""
    lanes, plan_ = module.vector, module.plan
    kind = lanes.type
    offsets = []
    for value in plan_.angles:
        _, array, entry = module.program.code[value]
        offsets.append(memory.inputs[array] + entry * lanes.size)
    count = len(offsets)
    table = ", ".join(f"i64 {offset}" for offset in offsets)
    return f"""@angle_places = internal constant [{count} x i64] [{table}]

define internal fastcc void @angles(ptr noalias %frame) #0 {{
entry:
  %sines = getelementptr inbounds i8, ptr %frame, i64 {HEAD}
  %cosines = getelementptr inbounds i8, ptr %frame, i64 {HEAD + plan_.stride * lanes.size}
  br label %loop
loop:
  %k = phi i64 [ 0, %entry ], [ %next, %loop ]
  %where = getelementptr inbounds i64, ptr @angle_places, i64 %k
  %offset = load i64, ptr %where
  %from = getelementptr inbounds i8, ptr %frame, i64 %offset
  %angle = load {kind}, ptr %from
  %pair = call fastcc {{ {kind}, {kind} }} {module.sincos(lanes)}({kind} %angle)
  %sine = extractvalue {{ {kind}, {kind} }} %pair, 0
  %cosine = extractvalue {{ {kind}, {kind} }} %pair, 1
  %s = getelementptr inbounds {kind}, ptr %sines, i64 %k
  %c = getelementptr inbounds {kind}, ptr %cosines, i64 %k
  store {kind} %sine, ptr %s
  store {kind} %cosine, ptr %c
  %next = add i64 %k, 1
  %more = icmp slt i64 %next, {count}
  br i1 %more, label %loop, label %done
done:
  ret void
}}"""


def _driver(module: Module, memory: TileMemory, calls: list[str]) -> str:
    """IR of ``kinetree_batch``."""
    count, item = module.vector.count, module.scalar.size
    arrays = [k for k, size in enumerate(module.input_sizes) if size]
    pointers, _ = load_pointers(module)
    strides = []
    for k in range(len(module.input_sizes)):
        strides.append(f"  %stride{k}at = getelementptr inbounds i64, ptr %strides, i64 {k}")
        strides.append(f"  %stride{k}items = load i64, ptr %stride{k}at")
        strides.append(f"  %stride{k} = mul i64 %stride{k}items, {item}")
    offsets = [f"  %offset{k} = mul i64 %first, %stride{k}" for k in arrays]
    newline = "\n"
    arguments = "ptr %inputs, ptr %strides, ptr %outputs, i64 %n, ptr %params, ptr %heap, i64 %whole"
    return f"""define i32 @kinetree_batch({arguments}) #0 {{
entry:
{frame_line(memory.size(module))}
{newline.join(pointers)}
{newline.join(strides)}
  %none = icmp slt i64 %n, 1
  br i1 %none, label %nothing, label %some
nothing:
  ret i32 0
some:
  %partial = icmp slt i64 %n, {count}
  %last = sub i64 %n, {count}
{newline.join(_before_tiles(module, memory, arrays))}
begin:
  br label %tile
tile:
  %first = phi i64 [ 0, %begin ], [ %first_next, %written ]
{newline.join(offsets)}
{newline.join(_one_tile(module, memory, arrays, calls))}
  br label %written
written:
  %regular = add i64 %first, {count}
  %beyond = icmp sgt i64 %regular, %last
  %first_next = select i1 %beyond, i64 %last, i64 %regular
  %more = icmp slt i64 %first, %last
  br i1 %more, label %tile, label %done
done:
{newline.join(_after_tiles(module, memory))}
  ret i32 %status
}}"""


def _before_tiles(module: Module, memory: TileMemory, arrays: list[int]) -> list[str]:
    """Status, the sum of the finiteness test, constants among the results, inputs that all states share."""
    lanes = module.vector
    setup = Block(module, lanes)
    lines = setup.lines
    lines.append("  store i32 0, ptr %frame")
    lines.append(f"  %sum_at = getelementptr inbounds i8, ptr %frame, i64 {SUM}")
    lines.append(f"  store {lanes.type} {lanes.number(0.0)}, ptr %sum_at")
    for value in memory.preset:
        operation = module.program.code[value]
        text = setup.operand(value) if operation[0] == "param" else lanes.number(operation[1])
        setup.store(text, ("%frame", memory.places[value]))
    for k in arrays:
        lines += (
            f"  %tile{k} = getelementptr inbounds i8, ptr %frame, i64 {memory.inputs[k]}",
            f"  %shared{k} = icmp eq i64 %stride{k}, 0",
            f"  br i1 %shared{k}, label %spread{k}, label %own{k}",
            f"spread{k}:",
            f"  call fastcc void @spread(ptr %in{k}, i64 {module.input_sizes[k]}, ptr %tile{k}, ptr %sum_at)",
            f"  br label %own{k}",
            f"own{k}:",
        )
    lines.append("  br label %begin")
    shifts = shift_lines(module, memory.row_stores.outputs) if memory.row_stores.outputs else []
    return [*shifts, *lines]


def _one_tile(module: Module, memory: TileMemory, arrays: list[int], calls: list[str]) -> list[str]:
    """Read the inputs, compute, write the results."""
    lines = []
    for k in arrays:
        read = f"call fastcc void @read{module.input_sizes[k]}"
        given = f"(ptr %from{k}, i64 %stride{k}, ptr %tile{k}, ptr %sum_at"
        lines += (
            f"  br i1 %shared{k}, label %ready{k}, label %read{k}",
            f"read{k}:",
            f"  %from{k} = getelementptr inbounds i8, ptr %in{k}, i64 %offset{k}",
            *_either(module, f"read{k}", f"{read}{given})", f"{read}partial{given}, i64 %n)"),
            f"  br label %ready{k}",
            f"ready{k}:",
        )
    for k, size in enumerate(module.output_sizes):
        lines.append(f"  %row{k} = mul i64 %first, {size * module.scalar.size}")
        lines.append(f"  %to{k} = getelementptr inbounds i8, ptr %out{k}, i64 %row{k}")
    lines += calls
    for k, size in enumerate(module.output_sizes):
        if size and k not in memory.row_stores.outputs:
            write, given = f"call fastcc void @write{k}", f"(ptr %frame, ptr %to{k}"
            lines += _either(module, f"write{k}", f"{write}{given})", f"{write}partial{given}, i64 %n)")
    return lines


def _after_tiles(module: Module, memory: TileMemory) -> list[str]:
    """The status, with the result of the finiteness test."""
    block = Block(module, module.vector)
    block.prefix = "%f"
    if memory.row_stores.outputs:
        block.lines.append("  fence seq_cst")  # non-temporal stores are done before another thread goes on
    if module.checks:
        kind = module.vector.type
        block.lines.append(f"  %sum = load {kind}, ptr %sum_at")
        block.lines.append(f"  %bad = fcmp uno {kind} %sum, %sum")
        block.report(block.any("%bad"), 0)
    block.lines.append("  %status = load i32, ptr %frame")
    return block.lines


def _either(module: Module, name: str, full: str, partial: str) -> list[str]:
    """IR lines of a call for full tiles, and of its twin where there are fewer states than lanes."""
    if len(tile_kinds(module)) == 1:
        return [f"  {full}"]
    return [
        f"  br i1 %partial, label %{name}partial, label %{name}full",
        f"{name}partial:",
        f"  {partial}",
        f"  br label %{name}done",
        f"{name}full:",
        f"  {full}",
        f"  br label %{name}done",
        f"{name}done:",
    ]
