"""Which values of a chunk stay in registers.

LLVM keeps every value that is loaded or computed until its last use, and where registers do not suffice its allocator
stores and reloads, at length. Most of these values are in memory anyway: inputs, params, sines, values of earlier
chunks. So the code is written as if there were no more registers than there are: the value whose next use is farthest
is evicted (Belady's rule, optimal for loads), and is loaded again where it is used, mostly as part of the instruction
that uses it. Only a value that is nowhere in memory yet is stored first, in a place of the frame that chunks share.

Derivatives gain most: a quarter of LLVM's time, and code that is 5 % faster.

Source: L. A. Belady, A study of replacement algorithms for a virtual-storage computer, IBM Systems Journal 5 (1966).
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.native.llvm_plan import Plan
from kinetree.trace.program import LEAVES, SIGNATURES

SPARE = 2
"""Registers left for an operation's temporaries beside its operands."""

_BOOLEAN = frozenset(op for op, (_, kind) in SIGNATURES.items() if kind == "b")
"""Booleans are in registers of their own."""


class RegisterPlan:
    """The values in registers while a chunk is evaluated.

    Parameters
    ----------
    plan : Plan
    chunk : sequence of int
    registers : int
        How many the processor has.
    constants : bool
        Whether constants, 0 excepted, are loaded from a table as params are; else they are part of instructions.

    Attributes
    ----------
    scratch : dict of int to int
        Places of the values that were stored because they had to be evicted.
    count : int
        Places needed in all.
    """

    __slots__ = ("scratch", "count", "_plan", "_most", "_uses", "_next", "_free")

    def __init__(self, plan: Plan, chunk: Sequence[int], registers: int, constants: bool = False) -> None:
        self.scratch: dict[int, int] = {}
        self.count = 0
        self._plan, self._most = plan, registers - SPARE
        code = plan.program.code
        self._uses = uses = {}  # the steps of the chunk that use a value, the next one last
        for step in range(len(chunk) - 1, -1, -1):
            for a in plan.operands[chunk[step]]:
                if a in uses:
                    uses[a].append(step)
                elif code[a][0] not in _BOOLEAN and (code[a][0] != "const" or (constants and code[a][1] != 0.0)):
                    uses[a] = [step]
        self._next: dict[int, int] = {}  # of the values in registers: the next step that uses it
        self._free: list[int] = []

    def after(self, step: int, used: Sequence[int], made: Sequence[int]) -> list[tuple[int, int | None]]:
        """The values evicted after a step, each with the place where it is to be stored, None if it is in memory.

        Parameters
        ----------
        step : int
        used, made : sequence of int
            The operands of the step, and its results.
        """
        uses, next_use = self._uses, self._next
        for a in used:
            left = uses.get(a)
            if left is None:
                continue
            while left and left[-1] <= step:
                left.pop()
            if left:
                next_use[a] = left[-1]
            else:
                next_use.pop(a, None)
                if a in self.scratch:
                    self._free.append(self.scratch.pop(a))
        for value in made:
            if value in uses:
                next_use[value] = uses[value][-1]
        leaving = []
        while len(next_use) > self._most:
            value = max(next_use, key=next_use.__getitem__)
            del next_use[value]
            leaving.append((value, None if self._in_memory(value) else self._place(value)))
        return leaving

    def _in_memory(self, value: int) -> bool:
        plan = self._plan
        return (
            value in plan.slots
            or value in plan.stored
            or value in plan.trigonometry
            or value in self.scratch
            or plan.program.code[value][0] in LEAVES
        )

    def _place(self, value: int) -> int:
        if not self._free:
            self._free.append(self.count)
            self.count += 1
        self.scratch[value] = place = self._free.pop()
        return place
