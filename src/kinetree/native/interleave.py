"""The order of a program for batches: operations of independent chains take turns, so that none waits for another.

A processor looks ahead some sixty operations for one whose operands are there. Recursions over links are wide enough
for that; the formulas of a muscle are not: a curve is one chain of products and divisions, and the next muscle begins a
few hundred operations later. Here the code is taken through a processor that has one operation per cycle and looks
`WINDOW` operations ahead, and written down in the order in which that processor starts it: the first operation of the
old order that need not wait. The more chains are under way the more values leave their registers, so a program is
changed only where this gains more than `WORTH`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from heapq import heappop, heappush

from kinetree.trace.packing import operands
from kinetree.trace.program import LEAVES, Program

WINDOW = 500
"""Operations ahead of the first one that is left, in the order of the trace."""

REACH = 64
"""The same of the processor itself."""

WORTH = 1.1
"""Least gain in cycles, by the processor's own window over `WINDOW`. Of dynamics, their derivatives, kinematics of
robots it is at most 1.09, and measured times change by 2 % both ways; of models with muscles it is 1.14 to 1.7."""

LATENCY = {
    "add": 4.5, "sub": 4.5, "mul": 4.5, "div": 20.0, "sqrt": 30.0, "neg": 1.5, "abs": 1.5, "where": 3.0, "and": 1.5,
    "or": 1.5, "not": 1.5, "exp": 90.0, "log": 90.0, "sin": 60.0, "cos": 60.0, "tanh": 130.0, "arctan2": 130.0,
}  # fmt: skip
"""Cycles until a result can be used, half as many again as of vectors on a processor of 2022 (Zen 4), since operations
also wait for their turn. Of those that are not listed `OTHER`."""

OTHER = 6.0

CYCLES = {"div": 3.0, "sqrt": 6.0, **dict.fromkeys(("exp", "log", "sin", "cos"), 30.0),
          **dict.fromkeys(("tanh", "arctan2"), 50.0)}  # fmt: skip
"""Cycles in which no other operation starts; 1 of those that are not listed."""


TOGETHER = {"exp": 4, "log": 4, "tanh": 2, "arctan2": 2}
"""Functions of one kind that are one call of machine code (`llvm_math`): each waits for others while there is something
else to do. A call costs all registers, and half of the cycles of a single function are waiting."""


def interleaved(program: Program) -> Program:
    """The same program in an order in which operations seldom wait; itself where that gains nothing.

    Parameters
    ----------
    program : Program
        Programs with cuts keep their order: their stretches are functions.

    Notes
    -----
    Results keep their bits. Time is n log n, a tenth of that of compiling.
    """
    if program.cuts:
        return program
    code = program.code
    taken = [operands(operation) for operation in code]
    given = [
        operation[0] in LEAVES or (operation[0] in ("sin", "cos") and code[operation[1]][0] == "input")
        for operation in code
    ]  # sines and cosines of joint angles are computed before everything else
    queue = _Queue(program, taken, given)
    usual, _ = queue.run(REACH)
    if usual <= WORTH * queue.busy:
        return program
    cycles, order = queue.run(WINDOW, together=True)
    return program if usual <= WORTH * cycles else _in_order(program, order, taken)


class _Queue:
    """The operations of a program by their place in its order, with what each waits for."""

    def __init__(self, program: Program, taken: Sequence[tuple[int, ...]], given: Sequence[bool]) -> None:
        code = program.code
        self.values = [value for value, known in enumerate(given) if not known]
        place = {value: k for k, value in enumerate(self.values)}
        self.users: list[list[int]] = [[] for _ in self.values]
        self.waiting = []
        for k, value in enumerate(self.values):
            mine = {place[a] for a in taken[value] if not given[a]}
            self.waiting.append(len(mine))
            for j in mine:
                self.users[j].append(k)
        self.kinds = kinds = [code[value][0] for value in self.values]
        self.latency = [LATENCY.get(kind, OTHER) for kind in kinds]
        self.cycles = [CYCLES.get(kind, 1.0) for kind in kinds]
        self.busy = sum(self.cycles)

    def run(self, window: int, together: bool = False) -> tuple[float, list[int]]:
        """Cycles, and the values in the order in which they are started, of a processor that looks so far ahead.

        Elementary functions of a kind are started `together`, if there are several.
        """
        kinds, users, latency, cycles, values = self.kinds, self.users, self.latency, self.cycles, self.values
        count = len(values)
        waiting, there = self.waiting.copy(), [0.0] * count
        started, order = bytearray(count), []
        ready: list[int] = []  # heap of those that need not wait
        soon: list[tuple[float, int]] = []  # heap of those whose operands are on their way
        pools: dict[str, list[int]] = {}  # elementary functions that need not wait, but do for others of their kind
        time, first, seen = 0.0, 0, 0
        while len(order) < count:
            while started[first]:
                first += 1
            while seen < count and seen < first + window:
                if not waiting[seen]:
                    heappush(soon, (there[seen], seen))
                seen += 1
            if not ready and not pools and soon[0][0] > time:
                time = soon[0][0]
            while soon and soon[0][0] <= time:
                _, k = heappop(soon)
                if together and kinds[k] in TOGETHER:
                    pools.setdefault(kinds[k], []).append(k)
                else:
                    heappush(ready, k)
            full = [kind for kind, pool in pools.items() if not ready or len(pool) >= TOGETHER[kind]]
            group = pools.pop(full[0]) if full else [heappop(ready)]
            for k in group:
                started[k] = True
                order.append(values[k])
                done = time + latency[k]
                time += cycles[k]
                for user in users[k]:
                    waiting[user] -= 1
                    if done > there[user]:
                        there[user] = done
                    if not waiting[user] and user < seen:
                        heappush(soon, (there[user], user))
        return time, order


def _in_order(program: Program, order: Sequence[int], taken: Sequence[tuple[int, ...]]) -> Program:
    """The program with its values in another order, each leaf before its first use."""
    code, new, finished = program.code, {}, []

    def put(value: int) -> None:
        op, *args = code[value]
        for a in taken[value]:
            if a not in new:
                put(a)
        new[value] = len(finished)
        finished.append((op, *(args if op in LEAVES else (new[a] for a in args))))

    for value in (*order, *range(len(code))):
        if value not in new:
            put(value)
    return replace(
        program,
        code=tuple(finished),
        results=tuple(tuple(new[value] for value in result) for result in program.results),
        checks=tuple((label, new[value]) for label, value in program.checks),
    )
