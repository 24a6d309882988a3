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

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from kinetree.native.llvm_module import Module
from kinetree.native.llvm_plan import Plan
from kinetree.native.llvm_rows import slot_address, transpose

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

    def calls(self, chunk: int) -> list[str]:
        """IR lines that store the blocks that are complete after a chunk."""
        return [
            f"  call fastcc void @flush{k}(ptr %frame, ptr %to{k}, i64 {a}, i64 {b}, i64 %shift{k}, i64 %last{k})"
            for k, (a, b) in self.flushes[chunk].items()
        ]


def plan_row_stores(plan: Plan, lanes: int) -> RowStores:
    """Which outputs of a plan have rows long enough, and when their blocks are stored.

    Parameters
    ----------
    plan : Plan
    lanes : int
        States of a tile, that is columns of a block.
    """
    results = plan.program.results
    chosen = () if plan.program.cuts or lanes == 1 else tuple(k for k, row in enumerate(results) if _fits(row, lanes))
    flushes: tuple[dict[int, tuple[int, int]], ...] = tuple({} for _ in plan.chunks)
    if not chosen:
        return RowStores((), flushes, {})
    made, last = _spans(plan)
    read: dict[int, int] = {}
    for output in chosen:
        row = results[output]
        when = _departures([made.get(value, 0) for value in row], lanes)
        for block, chunk in enumerate(when):
            start, _ = flushes[chunk].setdefault(output, (block * lanes, 0))
            flushes[chunk][output] = start, (block + 1) * lanes
        for entry, value in enumerate(row):  # shifted, it may be in the block after its own
            chunk = when[min((entry + lanes - 1) // lanes, len(when) - 1)]
            read[value] = max(read.get(value, 0), chunk)
    stays = {value for k, row in enumerate(results) if k not in chosen for value in row}
    needed = {
        value: max(chunk, last.get(value, 0)) for value, chunk in read.items() if value in made and value not in stays
    }
    return RowStores(chosen, flushes, needed)


def _fits(row: tuple[int, ...], lanes: int) -> bool:
    return len(row) >= LEAST and len(row) % lanes == 0


def _spans(plan: Plan) -> tuple[dict[int, int], dict[int, int]]:
    """For every value the chunk that makes it, and the last one that takes it."""
    made: dict[int, int] = {}
    last: dict[int, int] = {}
    for number, chunk in enumerate(plan.chunks):
        made.update(dict.fromkeys(_made_by(plan, chunk), number))
        for value in chunk:
            last.update(dict.fromkeys(plan.operands[value], number))
    return made, last


def _departures(made: list[int], lanes: int) -> list[int]:
    """After which chunk each block of a row is stored: in the order of the row, once all its entries are there."""
    when, latest = [], 0
    for start in range(0, len(made), lanes):
        latest = max(latest, *made[start : start + lanes])
        when.append(latest)
    return when


def take_places(plan: Plan, needed: dict[int, int], offset: int, size: int) -> tuple[dict[int, int], int]:
    """Byte offsets in the frame, from one on, for values that are `needed` until a chunk; then another takes the place.

    Returns
    -------
    places : dict of int to int
    int
        Where they end.
    """
    places: dict[int, int] = {}
    free: list[int] = []
    dying: list[list[int]] = [[] for _ in plan.chunks]
    for number, chunk in enumerate(plan.chunks):
        for value in _made_by(plan, chunk):
            if value in needed:
                if not free:
                    free.append(offset)
                    offset += size
                places[value] = free.pop()
                dying[needed[value]].append(places[value])
        free.extend(dying[number])
    return places, offset


def _made_by(plan: Plan, chunk: tuple[int, ...]) -> Iterator[int]:
    for value in chunk:
        if plan.program.code[value][0] in ("sin", "cos"):
            yield from (twin for twin, _ in plan.pairs[plan.program.code[value][1]])
        else:
            yield value


def shift_lines(module: Module, outputs: tuple[int, ...]) -> list[str]:
    """IR lines that find how far the blocks of each output are shifted, ``%shift{k}``, in a batch of ``%whole`` states.

    ``%last{k}`` becomes the distance from the first row of a tile to the last one that there is.
    """
    count, wide, item = module.vector.count, module.vector.size, module.scalar.size
    sizes = {k: module.output_sizes[k] * item for k in outputs}
    total = sum(sizes.values())
    hidden = sum(map(len, module.plan.chunks)) >= HIDDEN * total // item
    lines = [
        f"  %volume = mul i64 %whole, {total}",
        f"  %large = icmp sgt i64 %volume, {PAST_CACHES // 2 if hidden else PAST_CACHES}",
        f"  %full = icmp sge i64 %n, {count}",
        "  %past = and i1 %large, %full",
        f"  %rows = select i1 %full, i64 {count}, i64 %n",
        "  %others = sub i64 %rows, 1",
    ]
    for k, size in sizes.items():
        lines += (
            f"  %address{k} = ptrtoint ptr %out{k} to i64",
            f"  %over{k} = and i64 %address{k}, {wide - 1}",
            f"  %entries{k} = sdiv i64 %over{k}, {item}",
            f"  %back{k} = sub i64 0, %entries{k}",
            f"  %shift{k} = select i1 %past, i64 %back{k}, i64 {PLAIN}",
            f"  %last{k} = mul i64 %others, {size}",
        )
    return lines


def flusher(module: Module, output: int) -> str:
    """IR of the functions that write some blocks of the rows of a tile: columns ``%start`` to ``%stop``, shifted."""
    count, kind, item = module.vector.count, module.vector.type, module.scalar.size
    size = module.output_sizes[output]

    def plain(row: str, r: int) -> list[str]:  # rows that are missing hold the last state's results and go to its row
        return [
            f"  %there{r} = icmp slt i64 {r * size * item}, %last",
            f"  %distance{r} = select i1 %there{r}, i64 {r * size * item}, i64 %last",
            f"  %row{r} = getelementptr inbounds i8, ptr %at, i64 %distance{r}",
            f"  store {kind} {row}, ptr %row{r}, align {item}",
        ]

    def past(row: str, r: int) -> list[str]:
        return [
            f"  %row{r} = getelementptr inbounds i8, ptr %at, i64 {r * size * item}",
            f"  store {kind} {row}, ptr %row{r}, align {module.vector.size}, !nontemporal !{{i32 1}}",
        ]

    def edge(row: str, r: int) -> list[str]:
        return [
            f"  %row{r} = getelementptr inbounds i8, ptr %at, i64 {r * size * item}",
            module.masked_store(row, f"%row{r}", "%inside"),
        ]

    lanes = ", ".join(f"i32 {lane}" for lane in range(count))
    everywhere = f"<{count} x i32> zeroinitializer"
    ints = f"<{count} x i32>"
    arguments = "ptr noalias %frame, ptr noalias %target"
    return f"""define internal fastcc void @keep{output}({arguments}, i64 %start, i64 %stop, i64 %last) #0 {{
{_loop(module, output, plain)}
}}

define internal fastcc void @pass{output}({arguments}, i64 %start, i64 %stop) #0 {{
{_loop(module, output, past)}
}}

define internal fastcc void @edge{output}({arguments}, i64 %column, i32 %first, i32 %beyond) #0 {{
  %one_first = insertelement {ints} poison, i32 %first, i32 0
  %firsts = shufflevector {ints} %one_first, {ints} poison, {everywhere}
  %one_beyond = insertelement {ints} poison, i32 %beyond, i32 0
  %beyonds = shufflevector {ints} %one_beyond, {ints} poison, {everywhere}
  %from_first = icmp sge {ints} <{lanes}>, %firsts
  %to_last = icmp slt {ints} <{lanes}>, %beyonds
  %inside = and <{count} x i1> %from_first, %to_last
{_block(module, output, edge)}
  ret void
}}

{_dispatch(output, size, count)}"""


def _dispatch(output: int, size: int, count: int) -> str:
    """IR of the function that writes blocks the ordinary way or past the caches, with the ends of shifted rows."""
    arguments = "ptr noalias %frame, ptr noalias %target, i64 %start, i64 %stop, i64 %shift, i64 %last"
    return f"""define internal fastcc void @flush{output}({arguments}) #0 {{
  %plain = icmp eq i64 %shift, {PLAIN}
  br i1 %plain, label %keep, label %pass
keep:
  call fastcc void @keep{output}(ptr %frame, ptr %target, i64 %start, i64 %stop, i64 %last)
  ret void
pass:
  %shifted = icmp slt i64 %shift, 0
  %over = trunc i64 %shift to i32
  %own = add i32 %over, {count}
  %begins = icmp eq i64 %start, 0
  %has_head = and i1 %begins, %shifted
  br i1 %has_head, label %head, label %headed
head:
  call fastcc void @edge{output}(ptr %frame, ptr %target, i64 0, i32 0, i32 %own)
  br label %headed
headed:
  %ends = icmp eq i64 %stop, {size}
  %has_tail = and i1 %ends, %shifted
  br i1 %has_tail, label %tail, label %tailed
tail:
  call fastcc void @edge{output}(ptr %frame, ptr %target, i64 {size - count}, i32 %own, i32 {count})
  br label %tailed
tailed:
  %after_head = select i1 %has_head, i64 {count}, i64 %start
  %from = add i64 %after_head, %shift
  %to = add i64 %stop, %shift
  %any = icmp slt i64 %from, %to
  br i1 %any, label %lines, label %done
lines:
  call fastcc void @pass{output}(ptr %frame, ptr %target, i64 %from, i64 %to)
  br label %done
done:
  ret void
}}"""


def _loop(module: Module, output: int, store: Callable[[str, int], list[str]]) -> str:
    """IR lines that write the blocks at ``%start`` and on to ``%stop``."""
    return f"""entry:
  br label %block
block:
  %column = phi i64 [ %start, %entry ], [ %next, %block ]
{_block(module, output, store)}
  %next = add i64 %column, {module.vector.count}
  %more = icmp slt i64 %next, %stop
  br i1 %more, label %block, label %done
done:
  ret void"""


def _block(module: Module, output: int, store: Callable[[str, int], list[str]]) -> str:
    """IR lines that write the block at ``%column``: ``store(name, r)`` writes what belongs to row r."""
    lanes = module.vector
    lines = [
        f"  %bytes = mul i64 %column, {module.scalar.size}",
        "  %at = getelementptr inbounds i8, ptr %target, i64 %bytes",
        f"  %table = getelementptr inbounds i32, ptr @places{output}, i64 %column",
    ]
    for c in range(lanes.count):
        lines += (*slot_address(c), f"  %a{c} = load {lanes.type}, ptr %from{c}")
    for r, row in enumerate(transpose(lanes, [f"%a{c}" for c in range(lanes.count)], lines, "s")):
        lines += store(row, r)
    return "\n".join(lines)
