"""The scalar variant: one state at the lowest latency.

Sines and cosines of the joint angles are computed first, several angles in the lanes of one vector; after that the code
runs on single numbers and writes each result into the caller's array. Outputs that are mostly structural zeros are
cleared as a whole first.
"""

from __future__ import annotations

import functools
from itertools import groupby
from operator import itemgetter

from kinetree.native.llvm_code import Code, Value
from kinetree.native.llvm_math import Lanes
from kinetree.native.llvm_module import HEAD, STACK, Block, Module, make_frame
from kinetree.native.outline_llvm import TableAddresses, emit_rows
from kinetree.trace.program import is_zero

MANY = 32
"""Vectors of inputs or angles from which they are gone through in a loop."""


class ScalarBlock(Block):
    """Code over one state: inputs and results are the caller's arrays, ``%in0``, ``%out0`` and so on."""

    def __init__(self, module: Module) -> None:
        super().__init__(module, module.scalar)

    def input_address(self, array: int, entry: int) -> tuple[str, int]:
        return f"%in{array}", entry * self.lanes.size

    def result_addresses(self, value: int) -> list[tuple[str, int]]:
        return [self.result_address(output, entry) for output, entry in self.plan.stored[value]]

    def result_address(self, output: int, entry: int) -> tuple[str, int]:
        return f"%out{output}", entry * self.lanes.size

    @functools.cached_property
    def cleared(self) -> list[bool]:
        """Whether an output is mostly zeros."""
        return [
            sum(is_zero(self.code[value]) for value in result) >= 8 and len(result) >= self.module.vector.count
            for result in self.module.program.results
        ]

    def begin(self) -> None:
        """The code before the chunks: status, finiteness, sines and cosines, structural zeros."""
        self.lines.append("  store i32 0, ptr %frame")
        if self.module.checks:
            self._test_inputs()
        self._compute_trigonometry()
        for output, cleared in enumerate(self.cleared):
            if cleared:
                size = self.module.output_sizes[output] * self.lanes.size
                self.lines.append(f"  call fastcc void @clear(ptr %out{output}, i64 {size})")

    def end(self) -> None:
        """Results that no chunk computes."""
        for value in self.plan.copied():
            zero = is_zero(self.code[value])
            text = self.operand(value)
            for base, offset in self.result_addresses(value):
                if not (zero and self.cleared[int(base.removeprefix("%out"))]):
                    self.store(text, (base, offset))

    def _test_inputs(self) -> None:
        """Add x * 0 of all inputs, which is NaN for NaN and infinity, and NaN stays in a sum."""
        module, lanes = self.module, self.module.vector
        total = lanes.number(0.0)
        for array, size in enumerate(module.input_sizes):
            if size > MANY * lanes.count:
                last = (size - lanes.count) * self.lanes.size
                kind = lanes.type
                name = long_test(module)
                total = self.do(f"call fastcc {kind} {name}(ptr %in{array}, i64 {last}, {kind} {total})")
                continue
            starts = list(range(0, size - lanes.count + 1, lanes.count))
            if starts and size % lanes.count:
                starts.append(size - lanes.count)
            for start in starts or [0] * bool(size):
                entries = self._load_lanes(self.pointer(f"%in{array}", start * self.lanes.size), min(size, lanes.count))
                zeros = self.do(f"fmul {lanes.type} {entries}, {lanes.number(0.0)}")
                total = self.do(f"fadd {lanes.type} {total}, {zeros}")
        wide = Block(module, lanes)
        wide.lines, wide.prefix = self.lines, "%w"
        bad = self.do(f"fcmp uno {lanes.type} {total}, {total}")
        wide.report(wide.any(bad), 0)

    def _load_lanes(self, address: str, count: int) -> str:
        """Load the first `count` lanes of a vector."""
        lanes = self.module.vector
        whole = f"load {lanes.type}, ptr {address}, align {self.lanes.size}"
        return self.do(whole if count == lanes.count else self.module.masked_load(address, count))

    def _compute_trigonometry(self) -> None:
        """Sines and cosines of the joint angles, several at a time in the lanes of vectors."""
        plan_, lanes = self.plan, self.module.vector
        if len(plan_.angles) == 1:
            lanes = self.lanes
        begin = 0
        if len(plan_.angles) > MANY * lanes.count:
            begin = self._call_long_trigonometry(lanes)
        for first in range(begin, len(plan_.angles), lanes.count):
            group = plan_.angles[first : first + lanes.count]
            angles = self._gather(group, lanes)
            function = self.module.sincos(lanes)
            kind = lanes.type
            pair = self.do(f"call fastcc {{ {kind}, {kind} }} {function}({kind} {angles})")
            for k, slot in enumerate((first, plan_.stride + first)):
                part = self.do(f"extractvalue {{ {kind}, {kind} }} {pair}, {k}")
                address = self.pointer(*self.slot_address(slot))
                self.lines.append(f"  store {kind} {part}, ptr {address}, align {self.lanes.size}")

    def _call_long_trigonometry(self, lanes: Lanes) -> int:
        """Loops over the angles as long as many of one input follow each other; returns how many are done."""
        done, angles = 0, self.plan.angles
        while len(angles) - done >= MANY * lanes.count:
            array, run = next(groupby((self.code[value][1:] for value in angles[done:]), itemgetter(0)))
            run = list(run)
            count = len(run) // lanes.count * lanes.count
            if count < MANY * lanes.count:
                break
            offsets = [entry * self.lanes.size for _, entry in run[:count]]
            self.module.parts.append(long_trigonometry(self.module, lanes, done, offsets, self.plan.stride))
            self.lines.append(f"  call fastcc void @state_angles{done}(ptr %in{array}, ptr %frame)")
            done += count
        return done

    def _gather(self, group: tuple[int, ...], lanes: Lanes) -> str:
        entries = [self.code[value][1:] for value in group]
        if lanes.count == 1:
            return self.operand(group[0])
        array, start = entries[0]
        if entries == [(array, start + k) for k in range(len(group))]:
            return self._load_lanes(self.pointer(*self.input_address(array, start)), len(group))
        whole = lanes.number(0.0)
        for lane, (array, entry) in enumerate(entries):
            one = self.load(self.input_address(array, entry))
            whole = self.do(f"insertelement {lanes.type} {whole}, {self.lanes.type} {one}, i32 {lane}")
        return whole


class ScalarRows(TableAddresses, ScalarBlock):
    """A shape over one state."""


def long_test(module: Module) -> str:
    """Add the loop over an input's vectors that adds up x * 0, and return its name."""
    lanes, kind = module.vector, module.vector.type
    code = Code(f"internal fastcc {kind} @finite", f"ptr noalias readonly %start, i64 %last, {kind} %sum")
    start, last, total = code.arguments
    with code.cover(last, lanes.size) as k:
        before = code.phi(kind, (total, "entry"))
        after = before + start.at(k).load(kind, module.scalar.size) * 0.0
        code.join(before, after)
    code.give(after)
    module.include(code.text())
    return "@finite"


def long_trigonometry(module: Module, lanes: Lanes, first: int, offsets: list[int], stride: int) -> str:
    """IR of a loop over angles of one input, from number `first` on, as many at a time as a vector has lanes."""
    item, element, table = module.scalar.size, module.element, f"@state_angle_places{first}"
    code = Code(f"internal fastcc void @state_angles{first}", "ptr noalias readonly %input, ptr noalias %frame")
    given, frame = code.arguments
    targets = [frame.at(HEAD + place * item) for place in (first, stride + first)]
    with code.count(len(offsets), lanes.count) as k:
        row, angles = code.value("ptr", table).at(k, "i32"), code.value(lanes.type, lanes.number(0.0))
        for lane in range(lanes.count):
            one = given.at(row.at(4 * lane).load("i32").cast("zext", "i64")).load(element)
            angles = angles.with_lane(lane, one) if lanes.count > 1 else one
        for target, value in zip(targets, module.call_sincos(code, lanes, angles), strict=True):
            target.at(k, element).store(value, item)
    code.give()
    entries = ", ".join(f"i32 {offset}" for offset in offsets)
    return f"{table} = internal constant [{len(offsets)} x i32] [{entries}]\n\n{code.text()}"


def clearer(module: Module) -> str:
    """IR of the function that puts zeros into an output of a vector's length or more."""
    lanes = module.vector
    code = Code("internal fastcc void @clear", "ptr %start, i64 %bytes")
    start, size = code.arguments
    with code.cover(size - lanes.size, lanes.size) as k:
        start.at(k).store(code.value(lanes.type, "zeroinitializer"), module.scalar.size)
    code.give()
    return code.text()


def state_arguments(module: Module, attributes: bool) -> str:
    """The parameter list of ``@state``, with attributes for its definition."""
    read, written = ("noalias readonly ", "noalias ") if attributes else ("", "")
    arrays = [f"ptr {read}%in{k}" for k in range(len(module.input_sizes))]
    arrays += [f"ptr {written}%out{k}" for k in range(len(module.output_sizes))]
    return ", ".join([*arrays, f"ptr {read}%params"])


def emit_state(module: Module) -> None:
    """The scalar variant: ``@state``, its chunks, and the entry that takes arrays of pointers."""
    block = ScalarBlock(module)
    plan_ = module.plan
    definition, call = state_arguments(module, True), state_arguments(module, False)
    block.begin()
    if any(block.cleared):
        module.parts.append(clearer(module))
    if module.outline is not None:
        arguments = f"{definition}, ptr noalias %frame", f"{call}, ptr %frame"
        emit_rows(module, "state", lambda shape: ScalarRows(shape, module), lambda: ScalarBlock(module), arguments)
        block.lines.append(f"  call fastcc void @state_steps({call}, ptr %frame)")
        block.end()
    elif len(plan_.chunks) == 1:
        block.emit(plan_.chunks[0])
        block.end()
    else:
        for number, chunk in enumerate(plan_.chunks):
            body = ScalarBlock(module)
            body.number(1)
            body.emit(chunk)
            if number == len(plan_.chunks) - 1:
                body.end()
            module.function(f"state{number}", f"{definition}, ptr noalias %frame", body.lines)
            block.lines.append(f"  call fastcc void @state{number}({call}, ptr %frame)")
    lines = "\n".join(block.lines)
    module.parts.append(
        f"define internal fastcc i32 @state({definition}, ptr noalias %frame) #0 {{\n{lines}\n"
        "  %status = load i32, ptr %frame\n  ret i32 %status\n}"
    )
    module.state_frame = frame = HEAD + plan_.slot_count * module.scalar.size + module.scratch
    module.heap_bytes = frame if frame > STACK else 0
    code = Code("i32 @kinetree_scalar", "ptr %inputs, ptr %outputs, ptr %params, ptr %heap")
    inputs, outputs, params, _ = code.arguments
    place = make_frame(code, frame)
    sources, targets = load_pointers(module, inputs, outputs)
    code.give(code.call("i32", "@state", *sources, *targets, params, place))
    module.parts.append(code.text())


def load_pointers(module: Module, inputs: Value, outputs: Value) -> list[list[Value]]:
    """Read the arrays of pointers to inputs and outputs."""
    counts = (inputs, len(module.input_sizes)), (outputs, len(module.output_sizes))
    return [[table.at(8 * k).load("ptr") for k in range(count)] for table, count in counts]
