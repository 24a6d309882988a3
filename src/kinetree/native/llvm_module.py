"""The text of a module of LLVM IR, and straight-line code of chunks: shared by both variants of `llvm`."""

from __future__ import annotations

import math
import sys
from functools import cached_property
from math import prod

from kinetree.native.engine import Target
from kinetree.native.interleave import TOGETHER
from kinetree.native.large_angles import far_lanes_ir, far_sincos_ir, large_angle_ir
from kinetree.native.llvm_code import ATTRIBUTES, UNPREDICTABLE, Code, Value, hexadecimal, literal
from kinetree.native.llvm_math import Lanes, elementary_function, elementary_name, sincos_function, sincos_name
from kinetree.native.llvm_plan import Plan, plan, tiles_together
from kinetree.native.llvm_registers import RegisterPlan
from kinetree.native.outline import outline
from kinetree.trace.packing import Packed
from kinetree.trace.program import Program

STACK = 0 if sys.platform == "win32" else 256 * 1024
"""Largest frame on the stack. Threads of other libraries may have little of it; Windows would probe every page."""

STATUS_BITS = 31
"""Check k sets bit 1 + k; those beyond share the last bit."""

FENCE = 12
"""Stores between compiler barriers, which cost no instruction. LLVM looks for stores to merge and to reorder in time
that grows with the cube of their number (1000 stores: 3 s); it does not look past a barrier. Values that left their
registers are loaded again where they are used: LLVM would not, where no barrier stands between the loads."""

HEAD = 128
"""Bytes at the head of a frame: the status word, and from byte 64 the accumulator of the finiteness test."""

VECTOR = frozenset(("join", "spread", "part"))
_BINARY = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
_COMPARE = {"lt": "olt", "le": "ole", "eq": "oeq"}


class Module:
    """The text of one module while it grows: the parts that all of its functions share."""

    def __init__(self, program: Program | Packed, element: str, target: Target, checks: bool, chunk: int) -> None:
        self.program = program
        self.element = element
        self.target = target
        self.checks = checks
        self.scalar = Lanes(element, 1)
        self.vector = Lanes(element, target.vector_bytes // self.scalar.size)
        self.plan = plan(program, self.vector.count, checks, chunk, reread=True)
        self.outline = outline(self.plan) if program.cuts else None
        self.tiles = tiles_together(program, self.vector.count)
        self.input_sizes = [prod(shape) for _, shape in program.inputs]
        self.output_sizes = [prod(shape) for _, shape in program.outputs]
        self.heap_bytes = 0
        self.scratch = 0  # bytes of places that values may be stored in while others need their registers
        self.state_frame = 0
        self.parts: list[str] = []
        self.constants: dict[str, int] = {}  # numbers that tiles load, by their text, and their places in the table
        self._declared: set[str] = set()
        self._sincos: set[int] = set()
        self._included: set[str] = set()
        self._lanes = {1: self.scalar}

    @cached_property
    def mixed(self) -> set[int]:
        """The truth values that serve not only as conditions of `where`."""
        used = (operation[1:] for operation in self.program.code if operation[0] in ("and", "or", "not"))
        return {value for values in used for value in values}.union(self.plan.reported)

    def lanes(self, count: int) -> Lanes:
        """The types of so many lanes."""
        found = self._lanes.get(count)
        if found is None:
            found = self._lanes[count] = Lanes(self.element, count)
        return found

    def intrinsic(self, name: str, lanes: Lanes) -> str:
        """Declare an intrinsic on floats, ``T f(T, ...)``, and return its name."""
        count = 3 if name == "fma" else 1
        arguments = ", ".join([lanes.type] * count)
        self._declared.add(f"declare {lanes.type} @llvm.{name}.{lanes.suffix}({arguments})")
        return f"@llvm.{name}.{lanes.suffix}"

    def prefetch(self) -> str:
        """Declare the intrinsic that begins to load a cache line and return its name."""
        self._declared.add("declare void @llvm.prefetch.p0(ptr, i32, i32, i32)")
        return "@llvm.prefetch.p0"

    def elementary(self, op: str, lanes: Lanes, many: int = 1) -> str:
        """Include a function of `elementary` for these lanes and so many arguments at once and return its name."""
        name = f"@{elementary_name(op, lanes, many)}"
        if name not in self._included:
            self._included.add(name)
            self.intrinsic("fma", lanes)
            self.intrinsic("fabs", lanes)
            self.parts.append(elementary_function(op, lanes, self.target.fma, many))
        return name

    def sincos(self, lanes: Lanes) -> str:
        """Include the sincos function for these lanes and return its name."""
        if lanes.count not in self._sincos:
            self._sincos.add(lanes.count)
            for needed in (lanes, Lanes(lanes.element, 1), Lanes("double", 1)):
                self.intrinsic("fma", needed)
                self.intrinsic("fabs", needed)
            self.include(large_angle_ir())
            self.include(far_sincos_ir(lanes.element, self.target.fma))
            if lanes.count > 1:
                self.include(far_lanes_ir(lanes))
            self.parts.append(sincos_function(lanes, self.target.fma))
        return "@" + sincos_name(lanes)

    def call_sincos(self, code: Code, lanes: Lanes, angle: Value) -> tuple[Value, Value]:
        """Write a call of the sincos function; sine and cosine."""
        pair = code.call(f"{{ {lanes.type}, {lanes.type} }}", self.sincos(lanes), angle)
        return pair.part(0), pair.part(1)

    def function(self, name: str, parameters: str, lines: list[str]) -> None:
        """Add a function of straight-line code."""
        text = "\n".join(lines)
        self.parts.append(f"define internal fastcc void @{name}({parameters}) #0 {{\n{text}\n  ret void\n}}")

    def include(self, text: str) -> None:
        """Include a function once."""
        if text not in self._included:
            self._included.add(text)
            self.parts.append(text)

    def masked_load(self, address: str, count: int) -> str:
        """The instruction that loads the first `count` entries into a vector, zeros beyond."""
        lanes = self.vector
        if lanes.count == 1:
            return f"load {lanes.type}, ptr {address}"
        mask = ", ".join(f"i1 {'true' if lane < count else 'false'}" for lane in range(lanes.count))
        name = f"@llvm.masked.load.{lanes.suffix}.p0"
        self._declared.add(f"declare {lanes.type} {name}(ptr, i32, {lanes.boolean}, {lanes.type})")
        return (
            f"call {lanes.type} {name}(ptr {address}, i32 {self.scalar.size}, "
            f"{lanes.boolean} <{mask}>, {lanes.type} {lanes.number(0.0)})"
        )

    def masked_store(self, text: str, address: str, mask: str) -> str:
        """The instruction that stores the lanes of a vector where the mask holds."""
        lanes = self.vector
        name = f"@llvm.masked.store.{lanes.suffix}.p0"
        self._declared.add(f"declare void {name}({lanes.type}, ptr, i32, {lanes.boolean})")
        return f"call void {name}({lanes.type} {text}, ptr {address}, i32 {self.scalar.size}, {lanes.boolean} {mask})"

    def text(self) -> str:
        """The whole module."""
        table = f"@kinetree_layout = constant [1 x i64] [i64 {self.heap_bytes}]"
        head = f'target triple = "{self.target.triple}"'
        return "\n\n".join([head, *sorted(self._declared), table, *self.parts, ATTRIBUTES, ""])


class Block:
    """Straight-line code of some chunks: where operands live, and one line or a few for every operation.

    The two variants differ in their memory only; `ScalarBlock` (`llvm_state`) and `TileBlock` (`llvm_batch`) give
    the addresses.
    """

    tabled = False
    """Whether constants are loaded from a table. LLVM keeps vectors of a constant in registers from the first use to
    the last one of a chunk, and for lack of registers stores and loads them."""

    def __init__(self, module: Module, lanes: Lanes) -> None:
        self.module = module
        self.plan: Plan = module.plan
        self.code = module.program.code
        self.lanes = lanes  # of the operation that is being written
        self.item = lanes.size  # bytes of a slot
        self.widths = module.program.widths if isinstance(module.program, Packed) else ()
        self.scratch_size = lanes.size * max(self.widths, default=1)
        self.lines: list[str] = []
        self.names: dict[int, str] = {}  # of the values that are in registers
        self.scratch: dict[int, int] = {}
        self.prefix = "%t"
        self.label = ""  # of the block that is being written
        self.branch = ""  # a suffix of names that are made once in each branch
        self._count = 0
        self._stores = 0
        self._fma: dict[str, str] = {}
        self._pointers: dict[tuple[str, int], str] = {}
        self._negated: dict[str, str] = {}
        self._compared: set[str] = set()  # comparisons of floats that serve `where` alone

    def input_address(self, array: int, entry: int) -> tuple[str, int]:
        """Base pointer and byte offset of an input entry."""
        raise NotImplementedError

    def result_addresses(self, value: int) -> list[tuple[str, int]]:
        """Where a computed value is stored as a result: in the caller's arrays, or in a place of the frame."""
        raise NotImplementedError

    def result_address(self, output: int, entry: int) -> tuple[str, int] | None:
        """Base pointer and byte offset of an entry of the caller's array, where it is written at once."""

    def place_address(self, value: int) -> tuple[str, int] | None:
        """The same of a result's place in the frame, where it waits there."""

    def slot_address(self, slot: int) -> tuple[str, int]:
        """Base pointer and byte offset of a slot."""
        return "%frame", HEAD + slot * self.item

    def scratch_address(self, place: int) -> tuple[str, int]:
        """Base pointer and byte offset of a place for values that must leave their registers within a chunk."""
        return "%frame", HEAD + self.plan.slot_count * self.item + place * self.scratch_size

    def param_address(self, index: int) -> tuple[str, int]:
        """Base pointer and byte offset of a param."""
        return "%params", index * self.module.scalar.size

    def number(self, first: int) -> None:
        """Number the values from here on instead of naming them: text that LLVM reads in two thirds of the time.

        Numbers ascend without gaps, blocks without a label included: ``first`` is 1 in a function whose entry has none.
        """
        self.prefix, self._count = "%", first - 1

    def fresh(self) -> str:
        """A new name or number, for a line that follows at once."""
        self._count += 1
        return f"{self.prefix}{self._count}"

    def do(self, text: str) -> str:
        """An instruction with a result; returns its name."""
        self._count += 1  # as in `fresh`
        name = f"{self.prefix}{self._count}"
        self.lines.append(f"  {name} = {text}")
        return name

    def pointer(self, base: str, offset: int) -> str:
        """A pointer some bytes beyond a base."""
        if offset == 0:
            return base
        name = self._pointers.get((base, offset))
        if name is None:
            name = self._pointers[base, offset] = self.do(f"getelementptr inbounds i8, ptr {base}, i64 {offset}")
        return name

    def load(self, address: tuple[str, int]) -> str:
        """Load all lanes; returns the name."""
        return self.do(f"load {self.lanes.type}, ptr {self.pointer(*address)}{self.alignment}")

    @property
    def alignment(self) -> str:
        """Vectors beside single numbers are aligned as these are."""
        return f", align {self.item}" if self.widths else ""

    def take_lanes(self, value: int) -> None:
        """Write what follows for as many lanes as a value has."""
        if self.widths:
            self.lanes = self.module.lanes(self.widths[value])

    def store(self, text: str, address: tuple[str, int]) -> None:
        """Store all lanes."""
        pointer = self.pointer(*address)
        self.lines.append(f"  store {self.lanes.type} {text}, ptr {pointer}{self.alignment}")
        self._stores += 1
        if self._stores % FENCE == 0:
            self.lines.append('  fence syncscope("singlethread") acq_rel')

    def emit_guarded(self, number: int) -> None:
        """Emit a chunk of the plan; where it may be skipped, behind a branch that no lane's guard takes."""
        chunk = self.plan.chunks[number]
        if number not in self.plan.guards:
            self.emit(chunk)
            return
        values, pairs = self.plan.guards[number]
        kind, zero = self.lanes.type, self.lanes.number(0.0)
        hold, *others = [self.do(f"fcmp une {kind} {x}, {zero}") for x in [self.operand(value) for value in values]]
        for other in others:
            hold = self.do(f"and {self.lanes.boolean} {hold}, {other}")
        needed = self.any(hold)
        self.lines.append(f"  br i1 {needed}, label %needed, label %kept")
        for label in ("needed", "kept"):
            self.fork(label)
            if label == "needed":
                self.emit(chunk)
            else:
                slots = self.plan.slots
                for new, old in pairs:
                    if new not in slots or slots[new] != slots.get(old) or new in self.plan.stored:
                        self.names[new] = self.operand(old)
                        self._keep(new)
            self.lines.append("  br label %whole")
        self.lines.append("whole:")
        self.label = "whole"

    def fork(self, branch: str) -> None:
        """Begin a branch, in which no name of another one is known."""
        self.lines.append(f"{branch}:")
        self.label, self.branch = branch, f".{branch}"
        self.names, self.scratch, self._pointers, self._negated, self._compared = {}, {}, {}, {}, set()

    def emit(self, chunk: tuple[int, ...]) -> None:
        """Emit the operations of a chunk in their order, each result and slot stored as soon as it exists."""
        code, plan_, names = self.code, self.plan, self.names
        reported = plan_.reported
        register_plan = RegisterPlan(plan_, chunk, self.module.target.registers, self.tabled)
        self.scratch = register_plan.scratch
        for step, value in enumerate(chunk):
            op, used = code[value][0], plan_.operands[value]
            self.take_lanes(value)
            if op in ("sin", "cos"):
                self._emit_sincos(used[0])
                made = plan_.made(value)
            elif op in TOGETHER and (value in names or self._emit_together(chunk, step)):
                for a in used:  # in registers, as planned
                    self.operand(a)
                made = (value,)
            else:
                taken = [names.get(a) or self.operand(a) for a in used]
                names[value] = self._emit_vector(value, taken) if op in VECTOR else self._emit_operation(op, taken)
                made = (value,)
                if op in _COMPARE and value not in self.module.mixed:
                    self._compared.add(names[value])
            for twin in made:
                self._keep(twin)
                if twin in reported:
                    self._report(twin, reported[twin])
            for leaving, place in register_plan.after(step, used, made):
                text = names.pop(leaving)
                if place is not None:
                    self.take_lanes(leaving)
                    self.store(text, self.scratch_address(place))
        self.module.scratch = max(self.module.scratch, register_plan.count * self.scratch_size)
        self.lanes = self.module.scalar if self.widths else self.lanes

    def _keep(self, value: int) -> None:
        """Store a value in its slot and where it is a result."""
        if value in self.plan.slots:
            self._store_slot(value)
        if value in self.plan.stored:
            for address in self.result_addresses(value):
                self.store(self.names[value], address)

    def operand(self, value: int) -> str:
        """Text of a value: a literal, a name, or a load where it is not in a register."""
        text = self.names.get(value)
        if text is not None:
            return text
        before = self.lanes
        self.take_lanes(value)
        self.names[value] = text = self._fetch(value)
        self.lanes = before
        return text

    def _fetch(self, value: int) -> str:
        operation = self.code[value]
        op = operation[0]
        if op == "const":
            return self._constant(operation[1])
        if value in self.scratch:
            return self.load(self.scratch_address(self.scratch[value]))
        if op == "input":
            return self.load(self.input_address(operation[1], operation[2]))
        if op == "param":
            return self._load_param(operation[1])
        if value in self.plan.trigonometry:
            return self.load(self.slot_address(self.plan.trigonometry[value]))
        if self.module.program.is_boolean(value):
            return self._load_boolean(value)
        if value in self.plan.slots:
            return self.load(self.slot_address(self.plan.slots[value]))
        return self.load(self.result_addresses(value)[0])

    def _emit_operation(self, op: str, x: list[str]) -> str:
        kind, boolean = self.lanes.type, self.lanes.boolean
        if op in _BINARY:
            return self.do(f"{_BINARY[op]} {kind} {x[0]}, {x[1]}")
        if op in ("fma", "fms", "fnma"):
            return self._emit_fma(op, *x)
        if op == "neg":
            return self.do(f"fneg {kind} {x[0]}")
        if op in ("sqrt", "abs"):
            function = self.module.intrinsic("fabs" if op == "abs" else "sqrt", self.lanes)
            return self.do(f"call {kind} {function}({kind} {x[0]})")
        if op in _COMPARE:
            return self.do(f"fcmp {_COMPARE[op]} {kind} {x[0]}, {x[1]}")
        if op in ("and", "or"):
            return self.do(f"{op} {boolean} {x[0]}, {x[1]}")
        if op == "not":
            return self.do(f"xor {boolean} {x[0]}, {literal(boolean, True)}")
        if op == "where":
            return self._emit_where(*x)
        return self._emit_elementary(op, x)

    def _emit_vector(self, value: int, x: list[str]) -> str:
        """Vectors of numbers, and numbers of vectors (`trace.packing`)."""
        op, *args = self.code[value]
        if op == "part":
            kind = self.module.lanes(self.widths[args[0]]).type
            return self.do(f"extractelement {kind} {x[0]}, i32 {args[1]}")
        if op == "spread":
            return self.splat(x[0])
        whole = "poison"
        for lane, one in enumerate(x):
            whole = self.do(f"insertelement {self.lanes.type} {whole}, {self.module.element} {one}, i32 {lane}")
        return whole

    def _emit_fma(self, op: str, a: str, b: str, c: str) -> str:
        kind = self.lanes.type
        if not self.module.target.fma:
            product = self.do(f"fmul {kind} {a}, {b}")
            left, right = (c, product) if op == "fnma" else (product, c)
            return self.do(f"{'fadd' if op == 'fma' else 'fsub'} {kind} {left}, {right}")
        if op == "fms":  # the negation becomes part of the machine's instruction
            c = self._negative(c)
        elif op == "fnma":
            a, b = (a, self._negated[b]) if b in self._negated else (self._negative(a), b)
        function = self._fma.get(kind)
        if function is None:
            function = self._fma[kind] = self.module.intrinsic("fma", self.lanes)
        return self.do(f"call {kind} {function}({kind} {a}, {kind} {b}, {kind} {c})")

    def _negative(self, text: str) -> str:
        """The name of a value's negative, made once."""
        name = self._negated.get(text)
        if name is None:
            name = self._negated[text] = self.do(f"fneg {self.lanes.type} {text}")
        return name

    def _emit_where(self, condition: str, a: str, b: str) -> str:
        """A select; of masks where LLVM would make a branch of a scalar one.

        It does on x86 before AVX-512 for conditions that are not a comparison of floats, or are used otherwise, too.
        """
        lanes, do, target = self.lanes, self.do, self.module.target
        kind, whole = lanes.type, lanes.integer
        if lanes.count > 1:
            return do(f"select {lanes.boolean} {condition}, {kind} {a}, {kind} {b}")
        if target.scalar_masks or condition in self._compared:
            return do(f"select i1 {condition}, {kind} {a}, {kind} {b}{UNPREDICTABLE}")
        mask = do(f"sext i1 {condition} to {whole}")
        a, b = (do(f"bitcast {kind} {x} to {whole}") for x in (a, b))
        differ = do(f"xor {whole} {a}, {b}")
        chosen = do(f"and {whole} {differ}, {mask}")
        bits = do(f"xor {whole} {chosen}, {b}")
        return do(f"bitcast {whole} {bits} to {kind}")

    def _emit_elementary(self, op: str, x: list[str]) -> str:
        kind = self.lanes.type
        function = self.module.elementary(op, self.lanes)
        return self.do(f"call fastcc {kind} {function}({', '.join(f'{kind} {a}' for a in x)})")

    def _emit_together(self, chunk: tuple[int, ...], step: int) -> bool:
        """Emit the elementary functions of one kind that stand here as one call; False for a single one."""
        code, taken, op, group = self.code, self.plan.operands, self.code[chunk[step]][0], []
        most = TOGETHER[op] if self.tabled and self.module.target.registers >= 32 else 1
        for value in chunk[step : step + most]:
            if code[value][0] != op or not set(group).isdisjoint(taken[value]):
                break
            group.append(value)
        if len(group) < 2:
            return False
        kind = self.lanes.type
        given = ", ".join(f"{kind} {self.operand(a)}" for value in group for a in taken[value])
        whole = f"{{ {', '.join([kind] * len(group))} }}"
        result = self.do(f"call fastcc {whole} {self.module.elementary(op, self.lanes, len(group))}({given})")
        for k, value in enumerate(group):
            self.names[value] = self.do(f"extractvalue {whole} {result}, {k}")
        return True

    def _emit_sincos(self, argument: int) -> None:
        both = f"{{ {self.lanes.type}, {self.lanes.type} }}"
        angle = self.operand(argument)
        pair = self.do(f"call fastcc {both} {self.module.sincos(self.lanes)}({self.lanes.type} {angle})")
        for twin, part in self.plan.pairs[argument]:
            self.names[twin] = self.do(f"extractvalue {both} {pair}, {part}")

    def _load_param(self, index: int) -> str:
        return self.load(self.param_address(index)) if self.widths else self._load_one(*self.param_address(index))

    def _constant(self, x: float) -> str:
        if not self.tabled or x == 0.0:
            return self.lanes.number(x)
        places = self.module.constants
        place = places.setdefault(hexadecimal(x, self.module.element), len(places))
        return self._load_one("%constants", place * self.module.scalar.size)

    def _load_one(self, base: str, offset: int) -> str:
        """Load a single number into all lanes."""
        one = self.do(f"load {self.module.element}, ptr {self.pointer(base, offset)}")
        return one if self.lanes.count == 1 else self.splat(one)

    def splat(self, one: str) -> str:
        """Copy a scalar to all lanes."""
        kind, count = self.lanes.type, self.lanes.count
        first = self.do(f"insertelement {kind} poison, {self.module.element} {one}, i32 0")
        zeros = ", ".join(["i32 0"] * count)
        return self.do(f"shufflevector {kind} {first}, {kind} poison, <{count} x i32> <{zeros}>")

    def _store_slot(self, value: int) -> None:
        text = self.names[value]
        if self.module.program.is_boolean(value):  # kept as NaN or zero, so that reading it is a comparison of floats
            kind, number = self.lanes.type, self.lanes.number
            choice = f"{kind} {number(math.nan)}, {kind} {number(0.0)}"
            text = self.do(f"select {self.lanes.boolean} {text}, {choice}{UNPREDICTABLE}")
        self.store(text, self.slot_address(self.plan.slots[value]))

    def _load_boolean(self, value: int) -> str:
        kept = self.load(self.slot_address(self.plan.slots[value]))
        name = self.do(f"fcmp uno {self.lanes.type} {kept}, {kept}")
        if value not in self.module.mixed:
            self._compared.add(name)
        return name

    def _report(self, value: int, check: int) -> None:
        """Set the check's bit of the status if it holds in any lane."""
        self.report(self.any(self.names[value]), min(check + 1, STATUS_BITS - 1))

    def any(self, condition: str) -> str:
        """One truth value: whether the condition holds in any lane."""
        count = self.lanes.count
        if count == 1:
            return condition
        bits = self.do(f"bitcast {self.lanes.boolean} {condition} to i{count}")
        return self.do(f"icmp ne i{count} {bits}, 0")

    def report(self, condition: str, bit: int) -> None:
        """Set a bit of the status where the condition holds."""
        flag = self.do(f"zext i1 {condition} to i32")
        shifted = self.do(f"shl i32 {flag}, {bit}")
        old = self.do("load i32, ptr %frame")
        new = self.do(f"or i32 {old}, {shifted}")
        self.lines.append(f"  store i32 {new}, ptr %frame")


def make_frame(code: Code, size: int, heap: Value | None = None) -> Value:
    """Write ``%frame``: on the stack if it is small, else in memory that the caller gives, by default ``%heap``."""
    if size > STACK:
        return code.do("ptr", f"getelementptr inbounds i8, {heap or 'ptr %heap'}, i64 0", "%frame")
    return code.do("ptr", f"alloca [{size} x i8], align 64", "%frame")
