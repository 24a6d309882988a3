"""The SIMD form: tiles of states, transposed in registers between ordinary arrays and vectors.

The caller's arrays are C-contiguous, one state per row. A *tile* is as many states as a vector has lanes. For each tile

1. blocks of W rows by W columns are loaded, transposed by shuffles and stored in the frame, one vector per input entry;
2. the straight-line code runs on vectors and leaves one vector per distinct result;
3. W vectors at a time are read through a *slot table* (outputs repeat values and hold constants), transposed back and
   stored as rows.

The frame stays in the first-level cache. When the number of states is not a multiple of W, the last W states are done
again, so outputs must not overlap inputs; fewer than W states fill the tile with copies of the last one. A row stride
of zero is an input that all states share.

All-zero blocks are written like others: leaving out their shuffles gains nothing, since the stores take the time.

Where a row has fewer than W entries, vectors reach into the next row: loads are masked, and stores go in ascending
order, so that the next row overwrites the excess, with shorter stores at the end of the tile. Nothing outside the
tile's own rows is ever written: other threads may be at work there.
"""

from __future__ import annotations

from .llvm import HEAD, STACK, Block, Module, accumulate, frame_line
from .llvm_math import Lanes, hexadecimal
from .llvm_state import load_pointers


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
    the frame once per call (`preset`).
    """

    def __init__(self, module: Module) -> None:
        plan_, size = module.plan, module.vector.size
        offset = HEAD + plan_.slot_count * size
        self.inputs = []
        for count in module.input_sizes:
            self.inputs.append(offset)
            offset += count * size
        self.places: dict[int, int] = {}
        self.preset: list[int] = []
        constants: dict[str, int] = {}
        for value in plan_.stored:
            operation = module.program.code[value]
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


def emit_batch(module: Module) -> None:
    """Add ``kinetree_batch`` and all that it calls."""
    memory = TileMemory(module)
    calls = []
    if module.plan.angles:
        module.parts.append(_trigonometry(module, memory))
        calls.append("  call fastcc void @angles(ptr %frame)")
    if module.outline is not None:
        from .outline_llvm import emit_tile_rows

        calls.append(emit_tile_rows(module, module.outline, memory))
    for number, chunk in enumerate(module.plan.chunks if module.outline is None else ()):
        if not chunk:
            continue
        body = TileBlock(module, memory)
        body.number(1)
        body.emit(chunk)
        lines = "\n".join(body.lines)
        module.parts.append(
            f"define internal fastcc void @tile{number}(ptr noalias %frame, ptr noalias readonly %params) #0 {{\n"
            f"{lines}\n  ret void\n}}"
        )
        calls.append(f"  call fastcc void @tile{number}(ptr %frame, ptr %params)")
    for size in sorted({size for size in module.input_sizes if size}):
        module.parts += (_reader(module, size, few) for few in _ways(module))
    if any(module.input_sizes):
        module.parts.append(_spreader(module))
    for output, size in enumerate(module.output_sizes):
        if size:
            module.parts.append(_slot_table(module, memory, output))
            module.parts += (_writer(module, memory, output, few) for few in _ways(module))
    size = memory.size(module)
    module.heap_bytes = size if size > STACK else 0
    module.parts.append(_driver(module, memory, calls))


def transpose(lanes: Lanes, rows: list[str], lines: list[str], prefix: str) -> list[str]:
    """Emit the transposition of a square of lanes; returns the names of the new rows.

    Stage b exchanges, between rows i and i + b, the blocks of b columns: log2(W) stages of W shuffles.
    """
    count, kind = lanes.count, lanes.type
    rows = list(rows)
    step = 1
    while step < count:
        low = ", ".join(f"i32 {e if not e & step else count + (e ^ step)}" for e in range(count))
        high = ", ".join(f"i32 {e ^ step if not e & step else count + e}" for e in range(count))
        for i in range(count):
            if not i & step:
                a, b = rows[i], rows[i | step]
                for j, mask in ((i, low), (i | step, high)):
                    name = f"%{prefix}{step}x{j}"
                    lines.append(f"  {name} = shufflevector {kind} {a}, {kind} {b}, <{count} x i32> <{mask}>")
                    rows[j] = name
        step *= 2
    return rows


def _ways(module: Module) -> tuple[bool, ...]:
    """Whether rows are read and written for tiles that are not full: first no, then yes; one state fills a lane."""
    return (False, True) if module.vector.count > 1 else (False,)


def _reader(module: Module, size: int, few: bool) -> str:
    """IR of a function that turns W rows of `size` entries into `size` vectors, testing them for NaN and infinity.

    If there are `few` states, n < W, the last row stands for those that are missing.
    """
    lanes = module.vector
    count, kind, item = lanes.count, lanes.type, module.scalar.size
    lines = []
    narrow = size < count
    rows = []
    for r in range(count):
        before, step = ("at", "0") if r == 0 else (f"row{r - 1}", "%stride")
        if few and r:
            step = f"%step{r}"
            lines.append(f"  %there{r} = icmp slt i64 {r}, %n")
            lines.append(f"  {step} = select i1 %there{r}, i64 %stride, i64 0")
        lines.append(f"  %row{r} = getelementptr inbounds i8, ptr %{before}, i64 {step}")
        if narrow:
            lines.append(module.masked_load(f"%a{r}", f"%row{r}", size))
        else:
            lines.append(f"  %a{r} = load {kind}, ptr %row{r}, align {item}")
        rows.append(f"%a{r}")
    if module.checks:
        total = "%before"
        lines.append(f"  %before = load {kind}, ptr %sum")
        for r in range(count):
            lines += accumulate(lanes, f"%n{r}", rows[r], total, f"%m{r}")
            total = f"%n{r}"
        lines.append(f"  store {kind} {total}, ptr %sum")
    columns = transpose(lanes, rows, lines, "s")
    for c in range(min(size, count)):
        lines.append(f"  %to{c} = getelementptr inbounds i8, ptr %tile, i64 {c * lanes.size}")
        lines.append(f"  store {kind} {columns[c]}, ptr %to{c}")
    body = "\n".join(lines)
    suffix, count_of_states = ("few", ", i64 %n") if few else ("", "")
    signature = f"@read{size}{suffix}(ptr %source, i64 %stride, ptr %target, ptr %sum{count_of_states})"
    name = f"define internal fastcc void {signature} #0"
    return f"{name} {{\n{_over_columns(size, count, item, lanes.size, 'source', 'target', 'at', 'tile', body)}\n}}"


def _over_columns(
    size: int, count: int, item: int, wide: int, rows: str, tile: str, row_name: str, tile_name: str, body: str
) -> str:
    """Wrap the code of one block of `count` columns in a loop over the columns of a row.

    The last block ends at the last column, so it does some columns again when `size` is not a multiple of `count`.
    """
    if size <= count:
        return (
            f"entry:\n  %{row_name} = getelementptr inbounds i8, ptr %{rows}, i64 0\n"
            f"  %{tile_name} = getelementptr inbounds i8, ptr %{tile}, i64 0\n  %column = add i64 0, 0\n"
            f"{body}\n  ret void"
        )
    return f"""entry:
  br label %block
block:
  %column = phi i64 [ 0, %entry ], [ %next, %block ]
  %rowbytes = mul i64 %column, {item}
  %tilebytes = mul i64 %column, {wide}
  %{row_name} = getelementptr inbounds i8, ptr %{rows}, i64 %rowbytes
  %{tile_name} = getelementptr inbounds i8, ptr %{tile}, i64 %tilebytes
{body}
  %regular = add i64 %column, {count}
  %beyond = icmp sgt i64 %regular, {size - count}
  %next = select i1 %beyond, i64 {size - count}, i64 %regular
  %more = icmp slt i64 %column, {size - count}
  br i1 %more, label %block, label %done
done:
  ret void"""


def _spreader(module: Module) -> str:
    """IR of a function that copies an input shared by all states to all lanes."""
    lanes = module.vector
    kind, element = lanes.type, module.element
    zeros = ", ".join(["i32 0"] * lanes.count)
    test = ""
    if module.checks:
        lines = accumulate(lanes, "%after", "%all", "%before", "%zero")
        test = "\n".join([f"  %before = load {kind}, ptr %sum", *lines, f"  store {kind} %after, ptr %sum\n"])
    return f"""define internal fastcc void @spread(ptr %source, i64 %size, ptr %target, ptr %sum) #0 {{
entry:
  br label %loop
loop:
  %k = phi i64 [ 0, %entry ], [ %next, %loop ]
  %from = getelementptr inbounds {element}, ptr %source, i64 %k
  %to = getelementptr inbounds {kind}, ptr %target, i64 %k
  %x = load {element}, ptr %from
  %first = insertelement {kind} poison, {element} %x, i32 0
  %all = shufflevector {kind} %first, {kind} poison, <{lanes.count} x i32> <{zeros}>
  store {kind} %all, ptr %to
{test}  %next = add i64 %k, 1
  %more = icmp slt i64 %next, %size
  br i1 %more, label %loop, label %done
done:
  ret void
}}"""


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


def _slot_table(module: Module, memory: TileMemory, output: int) -> str:
    """IR of the table of where in the frame the entries of an output are."""
    places = [memory.places[value] for value in module.program.results[output]]
    table = ", ".join(f"i32 {place}" for place in places)
    return f"@places{output} = internal constant [{len(places)} x i32] [{table}]"


def _writer(module: Module, memory: TileMemory, output: int, few: bool) -> str:
    """IR of a function that writes the rows of one output from its slot table.

    If there are `few` states, n < W, the rows that are missing hold the last state's results and go where its own go.
    """
    lanes = module.vector
    count, kind, item = lanes.count, lanes.type, module.scalar.size
    places = [memory.places[value] for value in module.program.results[output]]
    size = len(places)
    lines = []
    rows = []
    for c in range(count):
        if c >= size:
            rows.append("poison")
            continue
        if size <= count:
            lines.append(f"  %from{c} = getelementptr inbounds i8, ptr %frame, i64 {places[c]}")
        else:
            lines += (
                f"  %where{c} = getelementptr inbounds i8, ptr %table, i64 {4 * c}",
                f"  %place{c} = load i32, ptr %where{c}",
                f"  %wide{c} = zext i32 %place{c} to i64",
                f"  %from{c} = getelementptr inbounds i8, ptr %frame, i64 %wide{c}",
            )
        lines.append(f"  %a{c} = load {kind}, ptr %from{c}")
        rows.append(f"%a{c}")
    columns = transpose(lanes, rows, lines, "s")
    for r in range(count):
        address = f"%to{r}"
        distance = str(r * size * item)
        if few and r:
            distance = f"%distance{r}"
            lines.append(f"  %there{r} = icmp slt i64 {r}, %n")
            lines.append(f"  {distance} = select i1 %there{r}, i64 {r * size * item}, i64 %last")
        lines.append(f"  {address} = getelementptr inbounds i8, ptr %at, i64 {distance}")
        room = size if few else (count - r) * size  # entries from here to the end of the tile's rows
        if size >= count or room >= count:
            lines.append(f"  store {kind} {columns[r]}, ptr {address}, align {item}")
        else:
            lines += _short_store(lanes, columns[r], address, size, f"p{r}", item)
    if size > count:
        lines.insert(0, f"  %table = getelementptr inbounds i32, ptr @places{output}, i64 %column")
    if few:
        lines[:0] = "  %before = sub i64 %n, 1", f"  %last = mul i64 %before, {size * item}"
    body = "\n".join(lines)
    suffix, count_of_states = ("few", ", i64 %n") if few else ("", "")
    signature = f"@write{output}{suffix}(ptr noalias %frame, ptr noalias %target{count_of_states})"
    body = _over_columns(size, count, item, 0, "target", "frame", "at", "unused", body)
    return f"define internal fastcc void {signature} #0 {{\n{body}\n}}"


def _short_store(lanes: Lanes, row: str, address: str, size: int, prefix: str, item: int) -> list[str]:
    """Store the first `size` lanes, in pieces whose lengths are powers of two."""
    lines = []
    done = 0
    while done < size:
        piece = 1 << ((size - done).bit_length() - 1)
        mask = ", ".join(f"i32 {done + k}" for k in range(piece))
        part, place = f"%{prefix}part{done}", f"%{prefix}at{done}"
        lines += (
            f"  {part} = shufflevector {lanes.type} {row}, {lanes.type} poison, <{piece} x i32> <{mask}>",
            f"  {place} = getelementptr inbounds i8, ptr {address}, i64 {done * item}",
            f"  store <{piece} x {lanes.element}> {part}, ptr {place}, align {item}",
        )
        done += piece
    return lines


def _driver(module: Module, memory: TileMemory, calls: list[str]) -> str:
    """IR of ``kinetree_batch``."""
    lanes, item = module.vector, module.scalar.size
    count, kind = lanes.count, lanes.type
    setup = Block(module, lanes)
    lines = setup.lines
    lines.append("  store i32 0, ptr %frame")
    sum_ = setup.pointer("%frame", 64)
    lines.append(f"  store {kind} {lanes.number(0.0)}, ptr {sum_}")
    for value in memory.preset:
        operation = module.program.code[value]
        text = setup.operand(value) if operation[0] == "param" else lanes.number(operation[1])
        setup.store(text, ("%frame", memory.places[value]))
    arrays = [k for k, size in enumerate(module.input_sizes) if size]
    for k in arrays:
        lines.append(f"  %tile{k} = getelementptr inbounds i8, ptr %frame, i64 {memory.inputs[k]}")
        lines.append(f"  %shared{k} = icmp eq i64 %stride{k}, 0")
        lines.append(f"  br i1 %shared{k}, label %spread{k}, label %own{k}")
        lines.append(f"spread{k}:")
        lines.append(f"  call fastcc void @spread(ptr %in{k}, i64 {module.input_sizes[k]}, ptr %tile{k}, ptr {sum_})")
        lines.append(f"  br label %own{k}")
        lines.append(f"own{k}:")
    lines.append("  br label %begin")

    loop = []
    for k in arrays:
        read = f"call fastcc void @read{module.input_sizes[k]}"
        given = f"(ptr %from{k}, i64 %stride{k}, ptr %tile{k}, ptr {sum_}"
        loop += (
            f"  br i1 %shared{k}, label %ready{k}, label %read{k}",
            f"read{k}:",
            f"  %from{k} = getelementptr inbounds i8, ptr %in{k}, i64 %offset{k}",
            *_either(module, f"read{k}", f"{read}{given})", f"{read}few{given}, i64 %n)"),
            f"  br label %ready{k}",
            f"ready{k}:",
        )
    offsets = [f"  %offset{k} = mul i64 %first, %stride{k}" for k in arrays]
    loop += calls
    for k, size in enumerate(module.output_sizes):
        if size:
            write, given = f"call fastcc void @write{k}", f"(ptr %frame, ptr %to{k}"
            loop += (
                f"  %row{k} = mul i64 %first, {size * item}",
                f"  %to{k} = getelementptr inbounds i8, ptr %out{k}, i64 %row{k}",
                *_either(module, f"write{k}", f"{write}{given})", f"{write}few{given}, i64 %n)"),
            )
    finish = Block(module, lanes)
    finish.prefix = "%f"
    if module.checks:
        finish.lines.append(f"  %sum = load {kind}, ptr {sum_}")
        finish.lines.append(f"  %bad = fcmp uno {kind} %sum, %sum")
        finish.report(finish.any("%bad"), 0)
    finish.lines.append("  %status = load i32, ptr %frame")

    pointers, _ = load_pointers(module)
    strides = []
    for k in range(len(module.input_sizes)):
        strides.append(f"  %stride{k}at = getelementptr inbounds i64, ptr %strides, i64 {k}")
        strides.append(f"  %stride{k}items = load i64, ptr %stride{k}at")
        strides.append(f"  %stride{k} = mul i64 %stride{k}items, {item}")
    newline = "\n"
    return f"""define i32 @kinetree_batch(ptr %inputs, ptr %strides, ptr %outputs, i64 %n, ptr %params, ptr %heap) #0 {{
entry:
{frame_line(memory.size(module))}
{newline.join(pointers)}
{newline.join(strides)}
  %none = icmp slt i64 %n, 1
  br i1 %none, label %nothing, label %some
nothing:
  ret i32 0
some:
  %few = icmp slt i64 %n, {count}
  %last = sub i64 %n, {count}
{newline.join(lines)}
begin:
  br label %tile
tile:
  %first = phi i64 [ 0, %begin ], [ %first_next, %written ]
{newline.join(offsets)}
{newline.join(loop)}
  br label %written
written:
  %regular = add i64 %first, {count}
  %beyond = icmp sgt i64 %regular, %last
  %first_next = select i1 %beyond, i64 %last, i64 %regular
  %more = icmp slt i64 %first, %last
  br i1 %more, label %tile, label %done
done:
{newline.join(finish.lines)}
  ret i32 %status
}}"""


def _either(module: Module, name: str, full: str, few: str) -> list[str]:
    """IR lines of a call for full tiles, and of its twin where there are fewer states than lanes."""
    if len(_ways(module)) == 1:
        return [f"  {full}"]
    return [
        f"  br i1 %few, label %{name}few, label %{name}full",
        f"{name}few:",
        f"  {few}",
        f"  br label %{name}done",
        f"{name}full:",
        f"  {full}",
        f"  br label %{name}done",
        f"{name}done:",
    ]
