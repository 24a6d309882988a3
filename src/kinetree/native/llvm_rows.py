"""Rows of ordinary arrays as tiles of vectors, and back: blocks of W rows by W columns, transposed in registers.

Where a row has fewer than W entries, vectors reach into the next row: loads are masked, and stores go in ascending
order, so that the next row overwrites the excess, with shorter stores at the end of the tile. Nothing outside the
tile's own rows is ever written: other threads may be at work there.

All-zero blocks are written like others: leaving out their shuffles gains nothing, since the stores take the time.
"""

from __future__ import annotations

from kinetree.native.llvm_code import Code, Value
from kinetree.native.llvm_math import Lanes
from kinetree.native.llvm_module import Module


def transpose(rows: list[Value]) -> list[Value]:
    """Write the transposition of a square of lanes; the new rows.

    Stage b exchanges, between rows i and i + b, the blocks of b columns: log2(W) stages of W shuffles.
    """
    count = len(rows)
    rows = list(rows)
    step = 1
    while step < count:
        low = [count + (e ^ step) if e & step else e for e in range(count)]
        high = [count + e if e & step else e ^ step for e in range(count)]
        for i in range(count):
            if not i & step:
                a, b = rows[i], rows[i | step]
                rows[i], rows[i | step] = a.shuffle(b, low), a.shuffle(b, high)
        step *= 2
    return rows


def tile_kinds(module: Module) -> tuple[bool, ...]:
    """Whether rows are read and written for tiles that are not full: first no, then yes; one state fills a lane."""
    return (False, True) if module.vector.count > 1 else (False,)


def reader(module: Module, size: int, partial: bool) -> str:
    """IR of a function that turns W rows of `size` entries into `size` vectors, testing them for NaN and infinity.

    In a partial tile, n < W, the last row stands for the missing ones.
    """
    lanes, item = module.vector, module.scalar.size
    code = _function(f"read{size}", "ptr %source, i64 %stride, ptr %target, ptr %sum", partial)
    source, stride, target, total, *n = code.arguments
    with code.cover(size - lanes.count, lanes.count) as column:
        row, tile = source.at(column * item), target.at(column * lanes.size)
        rows = []
        for r in range(lanes.count):
            if r:
                row = row.at((n[0] > r).select(stride, 0) if partial else stride)
            if size < lanes.count:
                rows.append(code.do(lanes.type, module.masked_load(row.text, size)))
            else:
                rows.append(row.load(lanes.type, item))
        if module.checks:
            accumulate(total, rows)
        for c, entries in enumerate(transpose(rows)[:size]):
            tile.at(c * lanes.size).store(entries)
    code.give()
    return code.text()


def accumulate(total: Value, vectors: list[Value]) -> None:
    """Add 0 x of some vectors to the sum at a pointer: NaN once any x was not finite."""
    after = total.load(vectors[0].kind)
    for x in vectors:
        after = after + x * 0.0
    total.store(after)


def _function(name: str, arguments: str, partial: bool) -> Code:
    """A function over a tile; that for tiles that are not full gets the number of states, too."""
    suffix, states = ("partial", ", i64 %n") if partial else ("", "")
    return Code(f"internal fastcc void @{name}{suffix}", arguments + states)


def spreader(module: Module) -> str:
    """IR of a function that copies an input shared by all states to all lanes."""
    lanes, element = module.vector, module.element
    code = Code("internal fastcc void @spread", "ptr %source, i64 %size, ptr %target, ptr %sum")
    source, size, target, total = code.arguments
    with code.count(size) as k:
        entry, place = source.at(k, element), target.at(k, lanes.type)
        everywhere = code.splat(entry.load(element), lanes.count)
        place.store(everywhere)
        if module.checks:
            accumulate(total, [everywhere])
    code.give()
    return code.text()


def slot_table(module: Module, places: dict[int, int], output: int) -> str:
    """IR of the table of where in the frame the entries of an output are."""
    row = module.program.results[output]
    table = ", ".join(f"i32 {places[value]}" for value in row)
    return f"@places{output} = internal constant [{len(row)} x i32] [{table}]"


def writer(module: Module, places: dict[int, int], output: int, partial: bool) -> str:
    """IR of a function that writes the rows of one output from its slot table.

    In a partial tile, n < W, the missing rows hold the last state's results and are written to its row.
    """
    lanes, item = module.vector, module.scalar.size
    row, count = module.program.results[output], lanes.count
    size = len(row)
    code = _function(f"write{output}", "ptr noalias %frame, ptr noalias %target", partial)
    frame, target, *n = code.arguments
    with code.cover(size - count, count) as column:
        start = target.at(column * item)
        last = (n[0] - 1) * (size * item) if partial else None
        if size <= count:
            found = [frame.at(places[value]).load(lanes.type) for value in row]
            found += [code.value(lanes.type, "poison")] * (count - size)
        else:
            found = load_column(code, lanes, output, frame, column)
        for r, entries in enumerate(transpose(found)):
            distance = r * size * item
            place = start.at((n[0] > r).select(distance, last) if partial and r else distance)
            room = size if partial else (count - r) * size  # entries from here to the end of the tile's rows
            if max(size, room) >= count:
                place.store(entries, item)
            else:
                _store_short(place, entries, size, item)
    code.give()
    return code.text()


def load_column(code: Code, lanes: Lanes, output: int, frame: Value, column: Value) -> list[Value]:
    """Load as many results as a vector has lanes, from the places in the slot table of an output."""
    table = code.value("ptr", f"@places{output}").at(column, "i32")
    offsets = (table.at(4 * c).load("i32").cast("zext", "i64") for c in range(lanes.count))
    return [frame.at(offset).load(lanes.type) for offset in offsets]


def _store_short(place: Value, row: Value, size: int, item: int) -> None:
    """Store the first `size` lanes, in pieces whose lengths are powers of two."""
    done = 0
    while done < size:
        piece = 1 << ((size - done).bit_length() - 1)
        part = row.shuffle(row.code.value(row.kind, "poison"), list(range(done, done + piece)))
        place.at(done * item).store(part, item)
        done += piece
