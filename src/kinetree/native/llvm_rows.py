"""Rows of ordinary arrays as tiles of vectors, and back: blocks of W rows by W columns, transposed in registers.

Where a row has fewer than W entries, vectors reach into the next row: loads are masked, and stores go in ascending
order, so that the next row overwrites the excess, with shorter stores at the end of the tile. Nothing outside the
tile's own rows is ever written: other threads may be at work there.

All-zero blocks are written like others: leaving out their shuffles gains nothing, since the stores take the time.
"""

from __future__ import annotations

from kinetree.native.llvm_math import Lanes
from kinetree.native.llvm_module import Module, accumulate


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


def tile_kinds(module: Module) -> tuple[bool, ...]:
    """Whether rows are read and written for tiles that are not full: first no, then yes; one state fills a lane."""
    return (False, True) if module.vector.count > 1 else (False,)


def reader(module: Module, size: int, partial: bool) -> str:
    """IR of a function that turns W rows of `size` entries into `size` vectors, testing them for NaN and infinity.

    In a partial tile, n < W, the last row stands for the missing ones.
    """
    lanes = module.vector
    count, kind, item = lanes.count, lanes.type, module.scalar.size
    lines = []
    narrow = size < count
    rows = []
    for r in range(count):
        before, step = ("at", "0") if r == 0 else (f"row{r - 1}", "%stride")
        if partial and r:
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
    suffix, count_of_states = ("partial", ", i64 %n") if partial else ("", "")
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


def spreader(module: Module) -> str:
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


def slot_table(module: Module, places: dict[int, int], output: int) -> str:
    """IR of the table of where in the frame the entries of an output are."""
    row = module.program.results[output]
    table = ", ".join(f"i32 {places[value]}" for value in row)
    return f"@places{output} = internal constant [{len(row)} x i32] [{table}]"


def writer(module: Module, places: dict[int, int], output: int, partial: bool) -> str:
    """IR of a function that writes the rows of one output from its slot table.

    In a partial tile, n < W, the missing rows hold the last state's results and are written to its row.
    """
    lanes = module.vector
    count, kind, item = lanes.count, lanes.type, module.scalar.size
    row = module.program.results[output]
    size = len(row)
    lines = []
    rows = []
    for c in range(count):
        if c >= size:
            rows.append("poison")
            continue
        if size <= count:
            lines.append(f"  %from{c} = getelementptr inbounds i8, ptr %frame, i64 {places[row[c]]}")
        else:
            lines += slot_address(c)
        lines.append(f"  %a{c} = load {kind}, ptr %from{c}")
        rows.append(f"%a{c}")
    columns = transpose(lanes, rows, lines, "s")
    for r in range(count):
        address = f"%to{r}"
        distance = str(r * size * item)
        if partial and r:
            distance = f"%distance{r}"
            lines.append(f"  %there{r} = icmp slt i64 {r}, %n")
            lines.append(f"  {distance} = select i1 %there{r}, i64 {r * size * item}, i64 %last")
        lines.append(f"  {address} = getelementptr inbounds i8, ptr %at, i64 {distance}")
        room = size if partial else (count - r) * size  # entries from here to the end of the tile's rows
        if size >= count or room >= count:
            lines.append(f"  store {kind} {columns[r]}, ptr {address}, align {item}")
        else:
            lines += _short_store(lanes, columns[r], address, size, f"p{r}", item)
    if size > count:
        lines.insert(0, f"  %table = getelementptr inbounds i32, ptr @places{output}, i64 %column")
    if partial:
        lines[:0] = "  %before = sub i64 %n, 1", f"  %last = mul i64 %before, {size * item}"
    body = "\n".join(lines)
    suffix, count_of_states = ("partial", ", i64 %n") if partial else ("", "")
    signature = f"@write{output}{suffix}(ptr noalias %frame, ptr noalias %target{count_of_states})"
    body = _over_columns(size, count, item, 0, "target", "frame", "at", "unused", body)
    return f"define internal fastcc void {signature} #0 {{\n{body}\n}}"


def slot_address(c: int) -> tuple[str, ...]:
    """IR lines that find where in the frame the slot table's column c is."""
    return (
        f"  %where{c} = getelementptr inbounds i8, ptr %table, i64 {4 * c}",
        f"  %place{c} = load i32, ptr %where{c}",
        f"  %wide{c} = zext i32 %place{c} to i64",
        f"  %from{c} = getelementptr inbounds i8, ptr %frame, i64 %wide{c}",
    )


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
