"""Long rows of results, written while the rest is computed.

Rows that are stored at the end of a tile are stored all at once: nothing is computed meanwhile, and until then every
result has its place in the frame. A long row is stored in blocks of W columns instead, each after the chunk of code
that computes the last of its entries; the next results take their places, which so stay in the first-level cache. It
pays where results are computed in about the order of their row, as packed ones are.

Rows of large batches, which will not be in the caches when they are read, are written by non-temporal stores: these
bypass the caches and need not load the line that they overwrite. Such a store must fill a line, so the blocks are
shifted to where lines begin, less than W columns to the left, and the two ends of a row are stored in the ordinary way.
Rows must be whole vectors long: all then begin at the same place of a line.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate

from kinetree.native.llvm_code import Code, Value
from kinetree.native.llvm_module import Module
from kinetree.native.llvm_plan import Plan
from kinetree.native.llvm_rows import load_column, transpose

LEAST = 128
"""Entries of the shortest row that is worth it."""

PAST_CACHES = 16 << 20
"""Bytes of a batch's long rows from which stores are non-temporal. The results of a smaller batch are still in the
caches when they are read."""

HIDDEN = 6
"""Operations per entry of long rows from which the arithmetic takes longer than the non-temporal stores, which then
cost nothing: half of `PAST_CACHES` is enough."""

PLAIN = 1
"""In place of a shift: ordinary stores. Shifts are never positive."""


@dataclass(frozen=True, slots=True)
class RowStores:
    """When the long rows of a tile are stored.

    Parameters
    ----------
    outputs : tuple of int
        Those with long rows.
    flushes : tuple of dict
        For every chunk, for each output of which blocks are stored after it: the columns (start, stop), whole blocks.
    needed : dict of int to int
        For every computed value that only long rows hold: the last chunk after which its place is read.
    """

    outputs: tuple[int, ...]
    flushes: tuple[dict[int, tuple[int, int]], ...]
    needed: dict[int, int]


def plan_row_stores(plan: Plan, lanes: int) -> RowStores:
    """Which outputs of a plan have rows long enough, and when their blocks are stored.

    Parameters
    ----------
    plan : Plan
    lanes : int
        States of a tile, that is columns of a block.
    """
    results = plan.program.results
    chosen: tuple[int, ...] = ()
    if lanes > 1 and not plan.program.cuts:
        chosen = tuple(k for k, row in enumerate(results) if len(row) >= LEAST and len(row) % lanes == 0)
    flushes: tuple[dict[int, tuple[int, int]], ...] = tuple({} for _ in plan.chunks)
    read: dict[int, int] = {}
    for output in chosen:
        row = results[output]
        made = [plan.maker.get(value, 0) for value in row]
        # Blocks leave in the order of the row, each once all its entries are there.
        when = list(accumulate((max(made[k : k + lanes]) for k in range(0, len(row), lanes)), max))
        for block, chunk in enumerate(when):
            start, _ = flushes[chunk].setdefault(output, (block * lanes, 0))
            flushes[chunk][output] = start, (block + 1) * lanes
        for entry, value in enumerate(row):  # shifted, it may be in the block after its own
            chunk = when[min((entry + lanes - 1) // lanes, len(when) - 1)]
            read[value] = max(read.get(value, 0), chunk)
    stays = {value for k, row in enumerate(results) if k not in chosen for value in row}
    needed = {v: max(chunk, plan.last.get(v, 0)) for v, chunk in read.items() if v in plan.maker and v not in stays}
    return RowStores(chosen, flushes, needed)


def shifts(module: Module, code: Code, whole: Value, n: Value, results: dict[int, Value]) -> dict[int, list[Value]]:
    """For each output how far its blocks are shifted, and the distance from a tile's first row to the last there is.

    Parameters
    ----------
    module : Module
    code : Code
    whole, n : Value
        States of the batch, and of the part of it that this call evaluates.
    results : dict of int to Value
        Where the rows of each output begin.
    """
    lanes, item = module.vector, module.scalar.size
    sizes = {k: module.output_sizes[k] * item for k in results}
    total = sum(sizes.values())
    hidden = sum(map(len, module.plan.chunks)) >= HIDDEN * total // item
    large = whole * total > (PAST_CACHES // 2 if hidden else PAST_CACHES)
    full = n >= lanes.count
    past = large & full
    others = full.select(lanes.count, n) - 1
    found = {}
    for k, size in sizes.items():
        over = results[k].cast("ptrtoint", "i64") & lanes.size - 1
        entries = code.do("i64", f"sdiv {over}, {item}")
        found[k] = [past.select(-entries, PLAIN), others * size]
    return found


def flusher(module: Module, output: int) -> str:
    """IR of the functions that write some blocks of the rows of a tile: columns ``%start`` to ``%stop``, shifted."""
    lanes, item = module.vector, module.scalar.size
    width = module.output_sizes[output]
    size, ints = width * item, f"<{lanes.count} x i32>"
    memory = "ptr noalias %frame, ptr noalias %target"

    keep = Code(f"internal fastcc void @keep{output}", f"{memory}, i64 %start, i64 %stop, i64 %last")
    frame, target, start, stop, last = keep.arguments
    with keep.count(stop, lanes.count, start) as column:
        place, rows = _block(keep, module, output, frame, target, column)
        for r, row in rows:
            # Rows that are missing hold the last state's results and go to its row.
            place.at((last > r * size).select(r * size, last)).store(row, item)
    keep.give()

    past = Code(f"internal fastcc void @pass{output}", f"{memory}, i64 %start, i64 %stop")
    frame, target, start, stop = past.arguments
    with past.count(stop, lanes.count, start) as column:
        place, rows = _block(past, module, output, frame, target, column)
        for r, row in rows:
            place.at(r * size).store(row, lanes.size, ", !nontemporal !{i32 1}")
    past.give()

    edge = Code(f"internal fastcc void @edge{output}", f"{memory}, i64 %column, i32 %first, i32 %beyond")
    frame, target, column, first, beyond = edge.arguments
    first, beyond = edge.splat(first, lanes.count), edge.splat(beyond, lanes.count)
    places = edge.value(ints, f"<{', '.join(f'i32 {lane}' for lane in range(lanes.count))}>")
    inside = (places >= first) & (places < beyond)
    place, rows = _block(edge, module, output, frame, target, column)
    for r, row in rows:
        edge.say(module.masked_store(row.text, place.at(r * size).text, inside.text))
    edge.give()
    return "\n\n".join([keep.text(), past.text(), edge.text(), _dispatch(output, width, lanes.count)])


def _dispatch(output: int, size: int, count: int) -> str:
    """IR of the function that writes blocks the ordinary way or past the caches, with the ends of shifted rows."""
    arguments = "ptr noalias %frame, ptr noalias %target, i64 %start, i64 %stop, i64 %shift, i64 %last"
    code = Code(f"internal fastcc void @flush{output}", arguments)
    frame, target, start, stop, shift, last = code.arguments
    code.branch(shift.equals(PLAIN), "keep", "pass")
    code.label("keep")
    code.call("void", f"@keep{output}", frame, target, start, stop, last)
    code.give()
    code.label("pass")
    shifted = shift < 0
    own = shift.cast("trunc", "i32") + count
    none, all_ = code.value("i32", "0"), code.value("i32", str(count))
    has_head = start.equals(0) & shifted
    with code.only_if(has_head):
        code.call("void", f"@edge{output}", frame, target, code.value("i64", "0"), none, own)
    with code.only_if(stop.equals(size) & shifted):
        code.call("void", f"@edge{output}", frame, target, code.value("i64", str(size - count)), own, all_)
    begin, end = has_head.select(count, start) + shift, stop + shift
    with code.only_if(begin < end):
        code.call("void", f"@pass{output}", frame, target, begin, end)
    code.give()
    return code.text()


def _block(code: Code, module: Module, output: int, frame: Value, target: Value, column: Value):
    """Where the block at a column begins in the first row, and the rows of the block, numbered."""
    place = target.at(column * module.scalar.size)
    return place, enumerate(transpose(load_column(code, module.vector, output, frame, column)))
