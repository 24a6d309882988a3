"""The plan of machine code: live values, chunks of operations, and the memory slots of values that cross a chunk.

LLVM's time and its register allocator suffer from very long blocks, so a program is cut into functions of some hundred
operations. A value that is used in a later chunk goes through a *slot* of the frame, a small array that one
evaluation works in; a slot is used again once its value is dead. Leaves (constants, inputs, params) are read where they
are needed and cross nothing. Where the program has cuts, because stretches of it repeat, chunks end at cuts.

Sines and cosines of input entries, that is of joint angles, are computed before everything else: the SIMD variant runs
one loop over them, and the scalar variant computes several angles in the lanes of one vector.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kinetree.trace.assembly import stretches
from kinetree.trace.packing import Packed, operands
from kinetree.trace.program import Program

CHUNK = 800
"""Operations per function. From 400 to 1400 the speed is the same within 3 % and LLVM's time within 10 %."""

TOGETHER = 2
"""Tiles that go through each chunk together, of programs with parts that may be skipped. Three are no faster."""


def tiles_together(program: Program | Packed, lanes: int) -> int:
    """How many tiles of states go through each chunk of a program, one after the other."""
    return TOGETHER if program.cuts and program.guards and lanes > 1 else 1


@dataclass(frozen=True, slots=True)
class Plan:
    """The schedule of one program.

    Parameters
    ----------
    program : Program
        The program to evaluate.
    operands : list of tuple of int
        The values that each operation takes.
    reported : dict of int to int
        The boolean values that are reported, with the first check that they are; empty when the kernel has no checks.
    angles : tuple of int
        Values (input entries) whose sines and cosines are computed first.
    trigonometry : dict of int to int
        Values that are sines or cosines of `angles`, and their slots: the sine of angle k has slot k, its cosine
        ``stride + k``.
    stride : int
        Number of angles, rounded up so that vectors of the scalar variant fit.
    chunks : tuple of tuple of int
        Values in the order of evaluation. A sine or cosine of a computed angle stands for the pair.
    pairs : dict of int to list
        For each computed angle the values that are its sine or cosine: (value, 0 or 1).
    maker, last : dict of int to int
        For every value the chunk that makes it, and the last one that takes it.
    slots : dict of int to int
        Slot of every value that a later chunk uses, results that are read again where they were stored excepted.
    slot_count : int
        Slots in all, trigonometry included.
    stored : dict of int to list
        For every value that is a result: the (output, entry) places it goes to.
    guards : dict of int to (tuple, tuple)
        For chunks that may be skipped: the values of which one is 0 then, and pairs of a value of the chunk and the
        earlier one that it is then. Where nobody uses the earlier one afterwards, both have one slot, and nothing is to
        be done.
    """

    program: Program | Packed
    operands: list[tuple[int, ...]]
    reported: dict[int, int]
    angles: tuple[int, ...]
    trigonometry: dict[int, int]
    stride: int
    chunks: tuple[tuple[int, ...], ...]
    pairs: dict[int, list[tuple[int, int]]]
    maker: dict[int, int]
    last: dict[int, int]
    slots: dict[int, int]
    slot_count: int
    stored: dict[int, list[tuple[int, int]]]
    guards: dict[int, tuple[tuple[int, ...], tuple[tuple[int, int], ...]]]

    def made(self, value: int) -> tuple[int, ...]:
        """The values that are there once an operation of a chunk is done: a sine or cosine stands for the pair."""
        op, *args = self.program.code[value]
        return tuple([twin for twin, _ in self.pairs[args[0]]]) if op in ("sin", "cos") else (value,)

    def copied(self) -> list[int]:
        """The results that no chunk computes: entries of inputs, params, constants, sines and cosines of angles."""
        return [value for value in self.stored if self.operands[value] == () or value in self.trigonometry]


def plan(program: Program | Packed, lanes: int, checks: bool = True, chunk: int = CHUNK, reread: bool = False) -> Plan:
    """Schedule a program.

    Parameters
    ----------
    program : Program
        The program to evaluate.
    lanes : int
        Lanes of the machine's vectors.
    checks : bool
        Whether the program's checks are evaluated; if not, operations for checks alone are left out.
    chunk : int
        Operations per function.
    reread : bool
        Whether later chunks read a result where it was stored, instead of in a slot of its own. With cuts never:
        chunks of one shape must find their values at equal distances.
    """
    code = program.code
    taken = [operands(operation) for operation in code]
    live = program.needed(checks)
    stored: dict[int, list[tuple[int, int]]] = {}
    for output, result in enumerate(program.results):
        for entry, value in enumerate(result):
            stored.setdefault(value, []).append((output, entry))

    angles: dict[tuple, int] = {}  # entry of an input -> number of the angle; two values may read one entry
    angle_values: list[int] = []
    trigonometry: dict[int, tuple[int, bool]] = {}
    pairs: dict[int, list[tuple[int, int]]] = {}
    computed: list[int] = []
    for value, operation in enumerate(code):
        op = operation[0]
        if not live[value] or op in ("const", "input", "param"):
            continue
        if op in ("sin", "cos"):
            argument = operation[1]
            if code[argument][0] == "input":
                if code[argument] not in angles:
                    angles[code[argument]] = len(angle_values)
                    angle_values.append(argument)
                trigonometry[value] = angles[code[argument]], op == "cos"
                continue
            twins = pairs.setdefault(argument, [])
            twins.append((value, int(op == "cos")))
            if len(twins) > 1:  # evaluated with the first of them
                continue
        computed.append(value)

    reported: dict[int, int] = {}
    for k, (_, value) in enumerate(program.checks if checks else ()):
        reported.setdefault(value, k)
    stride = -(-len(angle_values) // lanes) * lanes
    parts = stretches(computed, program.cuts, chunk) if program.cuts else _evenly(computed, chunk)
    chunks = tuple(map(tuple, parts)) or ((),)
    maker, last = _spans(code, taken, chunks, pairs)
    guards = _guarded_chunks(program, chunks, last) if program.cuts and program.guards else {}
    in_memory = stored if reread and not program.cuts else {}
    ends = {value: last[value] for value, k in maker.items() if last.get(value, k) > k and value not in in_memory}
    widths = program.widths if isinstance(program, Packed) else ()
    chunks, first = (chunks, {}) if widths else _in_place(guards, chunks, taken, maker, ends)
    for value, head in first.items():
        ends[head] = max(ends[head], ends[value])
    alone = {value: end for value, end in ends.items() if value not in first}
    slots, slot_count = assign_slots(maker, alone, 2 * stride, bool(program.cuts), widths)
    slots |= {value: slots[head] for value, head in first.items()}
    return Plan(
        program=program,
        operands=taken,
        reported=reported,
        angles=tuple(angle_values),
        trigonometry={value: angle + stride * cosine for value, (angle, cosine) in trigonometry.items()},
        stride=stride,
        chunks=chunks,
        pairs=pairs,
        maker=maker,
        last=last,
        slots=slots,
        slot_count=slot_count,
        stored=stored,
        guards=guards,
    )


def _evenly(computed: list[int], size: int) -> list[list[int]]:
    """Chunks of about the given size, all alike."""
    number = max(1, round(len(computed) / size))
    size = -(-len(computed) // number) or 1
    return [computed[k : k + size] for k in range(0, len(computed), size)]


def _spans(code, operands, chunks, pairs) -> tuple[dict[int, int], dict[int, int]]:
    """For every value the chunk that makes it, and the last one that takes it."""
    maker: dict[int, int] = {}
    last: dict[int, int] = {}
    for number, chunk in enumerate(chunks):
        for value in chunk:
            for argument in operands[value]:
                last[argument] = number
            if code[value][0] in ("sin", "cos"):
                for twin, _ in pairs[code[value][1]]:
                    maker[twin] = number
            else:
                maker[value] = number
    return maker, last


def _guarded_chunks(program: Program, chunks, last: dict[int, int]) -> dict[int, tuple[tuple, tuple]]:
    """The chunks that may be skipped; the values that they need then live until they end."""
    starts = [start for start, *_ in program.guards]
    found = {}
    for number, chunk in enumerate(chunks):
        k = bisect_right(starts, chunk[0]) - 1 if chunk else -1
        if k < 0 or chunk[0] >= program.guards[k][1]:
            continue
        _, _, values, pairs = program.guards[k]
        mine = set(chunk)
        pairs = tuple((new, old) for new, old in pairs if new in mine)
        for needed in (*values, *(old for _, old in pairs)):
            last[needed] = max(last.get(needed, number), number)
        found[number] = values, pairs
    return found


def _in_place(guards, chunks, taken, maker, ends) -> tuple[tuple[tuple[int, ...], ...], dict[int, int]]:
    """Values of chunks that may be skipped which take the slot of the value that they are then.

    That needs an earlier value which nobody uses afterwards, also not later in the chunk: so these operations are
    moved to its end, if need be.

    Returns
    -------
    chunks : tuple of tuple of int
        In the new order.
    first : dict of int to int
        For each such value the first one in its slot.
    """
    chunks, first = list(chunks), {}
    for number in sorted(guards):
        pairs = {
            new: old
            for new, old in guards[number][1]
            if new in ends and ends.get(old) == number and maker.get(old, number) < number
        }
        step, use = _steps(chunks[number], taken)
        late = {new for new, old in pairs.items() if step[new] < use.get(old, -1) and new not in use}
        if late:
            chunks[number] = (*(x for x in chunks[number] if x not in late), *(x for x in chunks[number] if x in late))
            step, use = _steps(chunks[number], taken)
        first |= {new: first.get(old, old) for new, old in pairs.items() if step[new] >= use.get(old, -1)}
    return tuple(chunks), first


def _steps(chunk: Sequence[int], taken) -> tuple[dict[int, int], dict[int, int]]:
    """The steps of a chunk that make values, and the last ones that use them."""
    return {x: k for k, x in enumerate(chunk)}, {a: k for k, x in enumerate(chunk) for a in taken[x]}


def assign_slots(
    maker: Mapping[int, int],
    ends: Mapping[int, int],
    first_slot: int = 0,
    side_by_side: bool = False,
    widths: Sequence[int] = (),
) -> tuple[dict[int, int], int]:
    """Give a slot to values, using slots again when their values are dead.

    Parameters
    ----------
    maker : mapping of int to int
        The chunk that makes each value, in the order in which values are made.
    ends : mapping of int to int
        The last chunk that uses a value, of those that get a slot.
    first_slot : int
    side_by_side : bool
        Whether values that one chunk makes and another is the last to use lie side by side, as a block that is used
        again as a whole: chunks of one shape then find their values at equal distances from a few places.
    widths : sequence of int
        Lanes of each value; as many slots in a row. Empty: one slot each.

    Returns
    -------
    slots : dict of int to int
    int
        Where the slots end.
    """
    made: dict[int, list[int]] = {}
    for value, number in maker.items():
        if value in ends:
            made.setdefault(number, []).append(value)
    slots: dict[int, int] = {}
    free: dict[int, list[int]] = {}  # by size of the block
    dying: dict[int, list[tuple[int, int]]] = {}
    count = first_slot
    for number in range(max(ends.values(), default=-1) + 1):
        # A slot read for the last time in chunk k is written again in k + 1 at the earliest: inside a chunk loads and
        # stores of one slot would tie the order of operations.
        blocks: dict[int, list[int]] = {}
        for value in made.get(number, ()):
            blocks.setdefault(ends[value] if side_by_side else value, []).append(value)
        for block in blocks.values():
            size = widths[block[0]] if widths else len(block)
            if free.get(size):
                start = free[size].pop()
            else:
                start, count = count, count + size
            slots.update(zip(block, range(start, start + size), strict=not widths))
            dying.setdefault(ends[block[0]], []).append((size, start))
        for size, start in dying.get(number, ()):
            free.setdefault(size, []).append(start)
    return slots, count
