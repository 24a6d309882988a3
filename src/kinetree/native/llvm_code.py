"""Functions of LLVM IR written with Python's operators: all code but the straight-line text of a program.

A `Value` has its type, so ``(n + 63) & -64`` writes the corresponding instructions. Python's numbers stand for
constants of the type that they meet, in every lane of a vector. Instructions are written in the order in which Python
evaluates.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

ATTRIBUTES = 'attributes #0 = { nounwind "no-trapping-math"="true" }\n\n!0 = !{}'
UNPREDICTABLE = ", !unpredictable !0"
"""At a `select` of scalars: else LLVM may make a branch of it, which data decides and no processor foresees."""

_VECTOR = re.compile(r"<(\d+) x (\w+)>")


def hexadecimal(x: float, element: str) -> str:
    """A float literal of the IR; singles are written as the double of the same value."""
    if element == "float":
        try:
            x = struct.unpack("f", struct.pack("f", x))[0]
        except OverflowError:  # beyond the range of single precision
            x = float("inf") if x > 0 else float("-inf")
    return "0x" + struct.pack(">d", x).hex().upper()


def literal(kind: str, x: float) -> str:
    """A constant of a type: an integer, or a float in hexadecimal, in every lane."""
    if vector := _VECTOR.fullmatch(kind):
        return "<" + ", ".join([f"{vector[2]} {literal(vector[2], x)}"] * int(vector[1])) + ">"
    return hexadecimal(x, kind) if kind in ("double", "float") else str(x).lower()


def _operator(name: str) -> Callable[[Value, Value | float], Value]:
    """The method that writes an operation."""
    return lambda self, other: self._binary(self._f + name, other)


def _relation(name: str) -> Callable[[Value, Value | float], Value]:
    """The method that writes a comparison: of signed integers, or of floats, false for NaN."""
    return lambda self, other: self.compare(("o" if self._f else "s") + name, other)


class Value:
    """The result of an instruction of a function, an argument, or a constant.

    Parameters
    ----------
    code : Code
        Gets the instructions that operators write.
    kind : str
        The type: ``"i64"``, ``"<4 x double>"``, ``"ptr"``.
    text : str
        Name or constant.
    """

    __slots__ = ("code", "kind", "text")

    def __init__(self, code: Code, kind: str, text: str) -> None:
        self.code, self.kind, self.text = code, kind, text

    def __str__(self) -> str:
        return f"{self.kind} {self.text}"

    def _operand(self, x: Value | float) -> str:
        return x.text if isinstance(x, Value) else literal(self.kind, x)

    def _binary(self, op: str, other: Value | float) -> Value:
        return self.code.do(self.kind, f"{op} {self}, {self._operand(other)}")

    @property
    def _f(self) -> str:
        """Prefix of the names of instructions on floats."""
        return "f" if "double" in self.kind or "float" in self.kind else ""

    __add__ = _operator("add")
    __sub__ = _operator("sub")
    __mul__ = _operator("mul")
    __truediv__ = _operator("div")
    __and__ = _operator("and")
    __or__ = _operator("or")
    __xor__ = _operator("xor")
    __lshift__ = _operator("shl")
    __rshift__ = _operator("lshr")  # zeros come in from the left

    def __rsub__(self, other: float) -> Value:
        return Value(self.code, self.kind, literal(self.kind, other)) - self

    def __rtruediv__(self, other: float) -> Value:
        return Value(self.code, self.kind, literal(self.kind, other)) / self

    def __neg__(self) -> Value:
        return self.code.do(self.kind, f"fneg {self}") if self._f else 0 - self

    def any(self) -> Value:
        """One truth value: whether it holds in any lane."""
        vector = _VECTOR.fullmatch(self.kind)
        return self.cast("bitcast", f"i{vector[1]}").compare("ne", 0) if vector else self

    def compare(self, relation: str, other: Value | float) -> Value:
        """A truth value; relations as LLVM calls them: "eq", "ult" (unsigned), "uno" (one of two floats is NaN)."""
        boolean = self.kind.replace(self.kind.strip("<>").split()[-1], "i1")
        return self.code.do(boolean, f"{self._f or 'i'}cmp {relation} {self}, {self._operand(other)}")

    __lt__ = _relation("lt")
    __le__ = _relation("le")
    __gt__ = _relation("gt")
    __ge__ = _relation("ge")

    def equals(self, other: Value | float) -> Value:
        """Whether both are the same."""
        return self.compare("oeq" if self._f else "eq", other)

    def is_null(self) -> Value:
        """Whether a pointer leads nowhere."""
        return self.compare("eq", Value(self.code, "ptr", "null"))

    def select(self, a: Value | float, b: Value | float, kind: str = "i64") -> Value:
        """a where this truth value holds, else b; ``kind`` where both are Python's numbers."""
        kind = next((x.kind for x in (a, b) if isinstance(x, Value)), kind)
        a, b = (x if isinstance(x, Value) else Value(self.code, kind, literal(kind, x)) for x in (a, b))
        hint = UNPREDICTABLE if kind in ("double", "float") else ""
        return self.code.do(kind, f"select {self}, {a}, {b}{hint}")

    def cast(self, how: str, kind: str) -> Value:
        """The value in another type, by LLVM's ``zext``, ``bitcast`` and so on."""
        return self.code.do(kind, f"{how} {self} to {kind}")

    def _intrinsic(self, name: str, *others: Value | float) -> Value:
        suffix = _VECTOR.sub(r"v\1\2", self.kind).replace("double", "f64").replace("float", "f32")
        others = (Value(self.code, self.kind, self._operand(x)) for x in others)
        return self.code.call(self.kind, f"@llvm.{name}.{suffix}", self, *others, convention="")

    def __abs__(self) -> Value:
        return self._intrinsic("fabs")

    def fma(self, b: Value | float, c: Value | float) -> Value:
        """This times b plus c, rounded once."""
        return self._intrinsic("fma", b, c)

    def part(self, k: int) -> Value:
        """Member k of a struct."""
        return self.code.do(self.kind.strip("{ }").split(", ")[k], f"extractvalue {self}, {k}")

    def lane(self, k: int) -> Value:
        """One lane of a vector."""
        return self.code.do(_VECTOR.fullmatch(self.kind)[2], f"extractelement {self}, i32 {k}")

    def with_lane(self, k: int, x: Value) -> Value:
        """The vector with another value in one lane."""
        return self.code.do(self.kind, f"insertelement {self}, {x}, i32 {k}")

    def shuffle(self, other: Value, lanes: list[int]) -> Value:
        """Lanes of two vectors, those of the other one counted on."""
        count, element = _VECTOR.fullmatch(self.kind).groups()
        mask = ", ".join(f"i32 {lane}" for lane in lanes)
        kind = f"<{len(lanes)} x i32>"
        return self.code.do(f"<{len(lanes)} x {element}>", f"shufflevector {self}, {other}, {kind} <{mask}>")

    def at(self, index: Value | int, kind: str = "i8") -> Value:
        """The pointer so many entries further; by default bytes."""
        if isinstance(index, int):
            if index == 0:
                return self
            index = Value(self.code, "i64", str(index))
        return self.code.do("ptr", f"getelementptr inbounds {kind}, {self}, {index}")

    def load(self, kind: str = "i64", align: int = 0) -> Value:
        """The value at the pointer."""
        return self.code.do(kind, f"load {kind}, {self}" + f", align {align}" * bool(align))

    def store(self, value: Value | int, align: int = 0, hint: str = "") -> None:
        """Put a value where the pointer leads; Python's numbers as 64 bits."""
        value = value if isinstance(value, Value) else Value(self.code, "i64", str(value))
        self.code.say(f"store {value}, {self}" + f", align {align}" * bool(align) + hint)


class Code:
    """A function that is written line by line.

    Parameters
    ----------
    head : str
        Text before the arguments: ``"internal fastcc void @spread"``.
    arguments : str
        Types, attributes and names: ``"ptr noalias %frame, i64 %n"``.

    Attributes
    ----------
    arguments : list of Value
    block : str
        Label of the block that is being written.
    """

    def __init__(self, head: str, arguments: str) -> None:
        self.signature = f"{head}({arguments})"
        found = re.findall(r"(<[^>]*>|\w+)[^,]*? (%\w+)(?:, |$)", arguments)
        self.arguments = [Value(self, kind, name) for kind, name in found]
        self.block = "entry"
        self.rooms: list[str] = []
        self.lines: list[str] = []
        self._count = 0
        self._phis: dict[str, int] = {}  # the lines of phis by their names

    def name(self) -> str:
        """A new name."""
        self._count += 1
        return f"x{self._count}"

    def do(self, kind: str, text: str, name: str = "") -> Value:
        """An instruction with a result of some type."""
        result = name or f"%{self.name()}"
        self.lines.append(f"  {result} = {text}")
        return Value(self, kind, result)

    def say(self, *lines: str) -> None:
        """Instructions without results."""
        self.lines += [f"  {line}" for line in lines]

    def value(self, kind: str, text: str) -> Value:
        """A constant, or a global name."""
        return Value(self, kind, text)

    def room(self, kind: str, count: int = 1) -> Value:
        """A place on the stack."""
        name = f"%{self.name()}"
        self.rooms.append(f"  {name} = alloca {kind}, i64 {count}, align 64")
        return Value(self, "ptr", name)

    def call(
        self, kind: str, function: Value | str, *arguments: Value, convention: str = "fastcc ", tail: str = ""
    ) -> Value:
        """A call of a function of the module, or with another convention of any; its result, if it is not void."""
        target = function.text if isinstance(function, Value) else function
        text = f"{tail}call {convention}{kind} {target}({', '.join(map(str, arguments))})"
        return self.say(text) if kind == "void" else self.do(kind, text)

    def pair(self, a: Value, b: Value) -> Value:
        """A struct of two values of one type."""
        kind = f"{{ {a.kind}, {b.kind} }}"
        first = self.do(kind, f"insertvalue {kind} poison, {a}, 0")
        return self.do(kind, f"insertvalue {first}, {b}, 1")

    def splat(self, x: Value, count: int) -> Value:
        """A vector with the value in every lane."""
        nowhere = Value(self, f"<{count} x {x.kind}>", "poison")
        return nowhere.with_lane(0, x).shuffle(nowhere, [0] * count)

    # Blocks ---------------------------------------------------------------------------------------------------------

    def label(self, name: str) -> None:
        """Begin a block."""
        self.lines.append(f"{name}:")
        self.block = name

    def go(self, label: str) -> None:
        """End the block by a jump."""
        self.say(f"br label %{label}")

    def branch(self, condition: Value, then: str, otherwise: str) -> None:
        """End the block by a jump to one of two."""
        self.say(f"br {condition}, label %{then}, label %{otherwise}")

    def give(self, value: Value | None = None) -> None:
        """End the function."""
        self.say(f"ret {'void' if value is None else value}")

    def require(self, condition: Value, otherwise: str = "refuse") -> None:
        """Go on if a condition holds, else with another block."""
        label = self.name()
        self.branch(condition, label, otherwise)
        self.label(label)

    @contextmanager
    def only_if(self, condition: Value, holds: bool = True) -> Iterator[None]:
        """The body of the ``with`` statement runs if a condition holds, or does not."""
        label = self.name()
        self.branch(condition, *(f"{label}{side}" for side in (("then", "done") if holds else ("done", "then"))))
        self.label(f"{label}then")
        yield
        self.go(f"{label}done")
        self.label(f"{label}done")

    def either(self, condition: Value, then: Callable[[], object], otherwise: Callable[[], object]) -> None:
        """Write two blocks, of which one runs."""
        label = self.name()
        self.branch(condition, f"{label}then", f"{label}else")
        for side, write in (("then", then), ("else", otherwise)):
            self.label(f"{label}{side}")
            write()
            self.go(f"{label}done")
        self.label(f"{label}done")

    def phi(self, kind: str, *sources: tuple[Value, str]) -> Value:
        """The value that belongs to the block from which the jump came."""
        self._phis[f"%x{self._count + 1}"] = len(self.lines)
        return self.do(kind, f"phi {kind} " + ", ".join(f"[ {value.text}, %{block} ]" for value, block in sources))

    def join(self, phi: Value, value: Value) -> None:
        """Add the value of a phi of an earlier block for a jump from the block that is being written."""
        self.lines[self._phis[phi.text]] += f", [ {value.text}, %{self.block} ]"

    @contextmanager
    def repeat(self, first: Value | int, after: Callable[[Value], tuple[Value, Value]]) -> Iterator[Value]:
        """A body that runs at least once; ``after(k)`` gives the next k, and whether there is one."""
        label, before = self.name(), self.block
        first = first if isinstance(first, Value) else Value(self, "i64", str(first))
        self.go(label)
        self.label(label)
        k = self.phi(first.kind, (first, before))
        yield k
        following, more = after(k)
        self.join(k, following)
        self.branch(more, label, f"{label}done")
        self.label(f"{label}done")

    def count(self, end: Value | int, step: int = 1, first: Value | int = 0) -> AbstractContextManager[Value]:
        """``with code.count(n) as k``: the body runs for k = 0, then on by steps while k < n."""

        def after(k: Value) -> tuple[Value, Value]:
            following = k + step
            return following, following < end

        return self.repeat(first, after)

    def cover(self, last: Value | int, step: Value | int) -> AbstractContextManager[Value | int]:
        """``with code.cover(last, w) as k``: for k = 0, w, 2 w, ... and then `last` itself, which may overlap.

        If `last` is a number that is not above 0, k is the number 0.
        """
        if isinstance(last, int) and last <= 0:
            return nullcontext(0)

        def after(k: Value) -> tuple[Value, Value]:
            regular = k + step
            following = (regular > last).select(last, regular)
            return following, k < last

        return self.repeat(0, after)

    def walk(self, start: Value, stop: Value, step: int) -> AbstractContextManager[Value]:
        """``with code.walk(a, b, n) as p``: the body runs for the pointers p = a, a + n, ... before b."""

        def after(place: Value) -> tuple[Value, Value]:
            following = place.at(step)
            return following, following.compare("ne", stop)

        return self.repeat(start, after)

    @contextmanager
    def loop(self, count: Value) -> Iterator[Value]:
        """``with code.loop(n) as k``: the body runs for k = 0 ... n - 1, or never; k is kept in memory."""
        label, place = self.name(), self.room("i64")
        place.store(0)
        self.go(label)
        self.label(label)
        k = place.load()
        self.branch(k < count, f"{label}body", f"{label}end")
        self.label(f"{label}body")
        yield k
        place.store(k + 1)
        self.go(label)
        self.label(f"{label}end")

    def text(self) -> str:
        """The whole function."""
        return "\n".join([f"define {self.signature} #0 {{", "entry:", *self.rooms, *self.lines, "}"])

    def closed(self) -> str:
        """The same with an end: nothing is returned."""
        self.give()
        return self.text()
