"""The SIMD variant: tiles of states, transposed in registers between ordinary arrays and vectors.

The caller's arrays are C-contiguous, one state per row. A *tile* is as many states as a vector has lanes. For each tile

1. blocks of W rows by W columns are loaded, transposed by shuffles and stored in the frame, one vector per input entry;
2. the straight-line code runs on vectors and leaves one vector per distinct result;
3. W vectors at a time are read through a *slot table* (outputs repeat values and hold constants), transposed back and
   stored as rows; long rows are stored while the rest is computed (`llvm_nontemporal`).

Each tile has a frame, which stays in the first-level cache. Programs with parts that may be skipped, such as the sweeps
of contacts, take several tiles through each chunk, one after the other: chunks wait there for results of the last one,
and meanwhile the processor computes another tile. When the number of states is not a multiple of those that are
computed together, the last ones are done again, so outputs must not overlap inputs; fewer than W states fill the tile
with copies of the last one. A row stride of zero is an input that all states share.

`llvm_rows` has the steps 1 and 3.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from kinetree.native.llvm_code import Code, Value, hexadecimal
from kinetree.native.llvm_module import HEAD, STACK, Block, Module, make_frame
from kinetree.native.llvm_nontemporal import RowStores, flusher, plan_row_stores, shifts
from kinetree.native.llvm_plan import assign_slots
from kinetree.native.llvm_rows import reader, slot_table, spreader, tile_kinds, writer
from kinetree.native.llvm_state import load_pointers
from kinetree.native.outline_llvm import TableAddresses, emit_rows

LONG, LARGE = 2000, 2**20
"""Operations of a program, and bytes of a batch's rows, from which the rows of the next tile are fetched into the
first-level cache while one is computed."""

FETCHED = 8192
"""Bytes of a tile's results up to which their places are fetched, too."""

SUM = 64
"""Byte offset in the frame of the accumulator of the finiteness test."""


class TileBlock(Block):
    """Code over one tile: everything lives in the frame."""

    tabled = True

    def __init__(self, module: Module, memory: TileMemory) -> None:
        super().__init__(module, module.vector)
        self.memory = memory

    def input_address(self, array: int, entry: int) -> tuple[str, int]:
        return "%frame", self.memory.inputs[array] + entry * self.lanes.size

    def result_addresses(self, value: int) -> list[tuple[str, int]]:
        return [self.place_address(value)]

    def place_address(self, value: int | np.ndarray) -> tuple[str, int | np.ndarray]:
        places = self.memory.places
        return "%frame", places[value] if isinstance(value, int) else np.array([places[v] for v in value.tolist()])

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
        slots, count = assign_slots(plan_.maker, self.row_stores.needed)
        self.places = {value: offset + slot * size for value, slot in slots.items()}
        offset += count * size
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
        """Bytes of the frame, once all code is there; whole cache lines."""
        return -(-(self.scratch + module.scratch) // 64) * 64


class TileRows(TableAddresses, TileBlock):
    """A shape over a tile."""


def emit_batch(module: Module) -> None:
    """Add ``kinetree_batch`` and all that it calls."""
    memory = TileMemory(module)
    if module.plan.angles:
        module.parts.append(_trigonometry(module, memory))
    arguments = "ptr noalias %frame, ptr noalias readonly %params, ptr noalias readonly %constants"
    if module.outline is not None:
        blocks = lambda shape: TileRows(shape, module, memory), lambda: TileBlock(module, memory)
        if module.tiles == 1:
            emit_rows(module, "tile", *blocks, (arguments, "ptr %frame, ptr %params, ptr %constants"))
        else:
            given = f"{arguments.replace('%frame', '%frames')}, ptr %beyond, i64 %size"
            call = "ptr %frames, ptr %params, ptr %constants, ptr %beyond, i64 %size"
            emit_rows(module, "tile", *blocks, (given, call), _each_tile)
    for number, chunk in enumerate(module.plan.chunks if module.outline is None else ()):
        body = TileBlock(module, memory)
        body.number(1)
        body.emit(chunk)
        module.function(f"tile{number}", arguments, body.lines)
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
    size = module.tiles * memory.size(module)
    module.heap_bytes = size if size > STACK else 0
    module.parts += _driver(module, memory), _constants(module)


def _constants(module: Module) -> str:
    """IR of the constants that tiles load."""
    element, found = module.element, module.constants or (hexadecimal(0.0, module.element),)
    return f"@constants = internal constant [{len(found)} x {element}] [{', '.join(f'{element} {x}' for x in found)}]"


def _trigonometry(module: Module, memory: TileMemory) -> str:
    """IR of the loop over the joint angles of a tile."""
    lanes, plan_ = module.vector, module.plan
    angles = [module.program.code[value] for value in plan_.angles]
    offsets = [memory.inputs[array] + entry * lanes.size for _, array, entry in angles]
    table = ", ".join(f"i64 {offset}" for offset in offsets)
    code = Code("internal fastcc void @angles", "ptr noalias %frame")
    (frame,) = code.arguments
    targets = frame.at(HEAD), frame.at(HEAD + plan_.stride * lanes.size)
    with code.count(len(offsets)) as k:
        angle = frame.at(code.value("ptr", "@angle_places").at(k, "i64").load()).load(lanes.type)
        for target, value in zip(targets, module.call_sincos(code, lanes, angle), strict=True):
            target.at(k, lanes.type).store(value)
    code.give()
    return f"@angle_places = internal constant [{len(offsets)} x i64] [{table}]\n\n{code.text()}"


@contextmanager
def _each_tile(code: Code) -> Iterator[None]:
    """The body for each of several frames."""
    frames, _, _, beyond, size = code.arguments[:5]
    label, before = code.name(), code.block
    code.go(label)
    code.label(label)
    line = len(code.lines)
    frame = code.do("ptr", f"phi ptr [ {frames.text}, %{before} ]", "%frame")
    yield
    following = frame.at(size)
    code.lines[line] += f", [ {following.text}, %{code.block} ]"
    code.branch(following.compare("ne", beyond), label, f"{label}done")
    code.label(f"{label}done")


def _driver(module: Module, memory: TileMemory) -> str:
    """IR of ``kinetree_batch``."""
    lanes, item, size, together = module.vector, module.scalar.size, memory.size(module), module.tiles
    pointers = "ptr %inputs, ptr %strides, ptr %outputs, i64 %n, ptr %params, ptr %heap, i64 %whole"
    code = Code("i32 @kinetree_batch", pointers)
    inputs, strides, outputs, n, params, _, whole = code.arguments
    frames = make_frame(code, together * size)
    sources, targets = load_pointers(module, inputs, outputs)
    stride = [strides.at(k, "i64").load() * item for k in range(len(sources))]
    code.branch(n < 1, "nothing", "some")
    code.label("nothing")
    code.give(code.value("i32", "0"))
    code.label("some")
    partial, table = n < lanes.count, code.value("ptr", "@constants")
    count = 1 if together == 1 else (n < together * lanes.count).select(1, together, "i64")
    states = count * lanes.count

    @contextmanager
    def tiles() -> Iterator[tuple[Value, Value | int]]:
        """The body for the frame of each tile and its first state, counted from that of the first tile."""
        if together == 1:
            yield frames, 0
        else:
            with code.loop(count) as k:
                yield frames.at(k * size), k * lanes.count

    def call(name: str, *arguments: Value) -> None:
        """A function for full tiles, or its twin where there are fewer states than lanes."""
        full = functools.partial(code.call, "void", name, *arguments)
        if len(tile_kinds(module)) == 1:
            full()
        else:
            code.either(partial, functools.partial(code.call, "void", f"{name}partial", *arguments, n), full)

    long_rows = {k: targets[k] for k in memory.row_stores.outputs}
    shifted = shifts(module, code, whole, n, long_rows) if long_rows else {}
    shared = {k: stride[k].equals(0) for k, entries in enumerate(module.input_sizes) if entries}
    with tiles() as (frame, _):
        _prepare(module, memory, code, frame)
        for k, alone in shared.items():
            with code.only_if(alone):
                entries = code.value("i64", str(module.input_sizes[k]))
                code.call("void", "@spread", sources[k], entries, frame.at(memory.inputs[k]), frame.at(SUM))
    with code.cover(n - states, states) as first:
        with tiles() as (frame, row):
            for k, alone in shared.items():
                with code.only_if(alone, holds=False):
                    source = sources[k].at((first + row) * stride[k])
                    tile = frame.at(memory.inputs[k])
                    call(f"@read{module.input_sizes[k]}", source, stride[k], tile, frame.at(SUM))
        if len(module.program.code) >= LONG:
            row = item * sum((*module.input_sizes, *module.output_sizes))
            with code.only_if(whole > LARGE // row):
                for k in shared:
                    after = sources[k].at((first + states) * stride[k])
                    _fetch(module, code, after, together * module.input_sizes[k] * lanes.size, 0)
                if sum(module.output_sizes) * lanes.size <= FETCHED:
                    for to, entries in zip(targets, module.output_sizes, strict=True):
                        after = to.at((first + states) * (entries * item))
                        _fetch(module, code, after, together * entries * lanes.size, 1)
        rows = [to.at(first * (entries * item)) for to, entries in zip(targets, module.output_sizes, strict=True)]
        if together == 1:
            _compute(module, memory, code, (frames, params, table), {k: [rows[k], *shifted[k]] for k in shifted})
        else:
            with tiles() as (frame, _):
                if module.plan.angles:
                    code.call("void", "@angles", frame)
            more = frames.at(count * size), code.value("i64", str(size))
            code.call("void", "@tile_steps", frames, params, table, *more)
        with tiles() as (frame, row):
            for k, entries in enumerate(module.output_sizes):
                if entries and k not in shifted:
                    call(f"@write{k}", frame, rows[k].at(row * (entries * item)) if together > 1 else rows[k])
    if shifted:
        code.say("fence seq_cst")  # non-temporal stores are done before another thread goes on
    status = code.room("i32")
    status.store(code.value("i32", "0"))
    with tiles() as (frame, _):
        status.store(status.load("i32") | frame.load("i32"))
        if module.checks:
            found = frame.at(SUM).load(lanes.type)
            status.store(status.load("i32") | found.compare("uno", found).any().cast("zext", "i32"))
    code.give(status.load("i32"))
    return code.text()


def _fetch(module: Module, code: Code, start: Value, size: int, write: int) -> None:
    """Begin to load the cache lines of so many bytes, which may lie beyond the end of an array."""
    if not size:
        return
    with code.count(size, 64) as offset:
        hints = f"i32 {write}, i32 3, i32 1"  # for reading or writing, in all caches, data
        code.say(f"call void {module.prefetch()}({start.at(offset)}, {hints})")


def _prepare(module: Module, memory: TileMemory, code: Code, frame: Value) -> None:
    """Status, the sum of the finiteness test, constants and params among the results."""
    lanes = module.vector
    frame.store(code.value("i32", "0"))
    frame.at(SUM).store(code.value(lanes.type, lanes.number(0.0)))
    setup = Block(module, lanes)
    setup.lines = code.lines
    for value in memory.preset:
        op, x = module.program.code[value]
        text = setup.operand(value) if op == "param" else lanes.number(x)
        setup.store(text, (frame.text, memory.places[value]))


def _compute(module: Module, memory: TileMemory, code: Code, memories: tuple, rows: dict[int, list[Value]]) -> None:
    """Call the program's functions; blocks of long rows are stored as soon as they are complete."""
    frame, *_ = memories
    if module.plan.angles:
        code.call("void", "@angles", frame)
    if module.outline is not None:
        code.call("void", "@tile_steps", *memories)
        return
    for number, flushes in enumerate(memory.row_stores.flushes):
        code.call("void", f"@tile{number}", *memories)
        for k, columns in flushes.items():
            row, shift, last = rows[k]
            columns = (code.value("i64", str(column)) for column in columns)
            code.call("void", f"@flush{k}", frame, row, *columns, shift, last)
