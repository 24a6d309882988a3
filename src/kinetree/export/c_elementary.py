"""exp, log, tanh and arctan2 in C and CUDA: the formulas of `native.elementary`, line by line.

Here as in machine code every operation is one line, so the results are the same bits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinetree.native.elementary import Elementary

if TYPE_CHECKING:
    from kinetree.export.c_code import Dialect

FUNCTIONS = ("exp", "log", "tanh", "arctan2")
_WIDTHS = {"double": 64, "float": 32}


class Lines:
    """The body of a C function, in a dialect."""

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
        self.text: list[str] = []

    def do(self, kind: str, formula: str) -> CValue:
        """A line that gives a formula a name."""
        value = CValue(self, kind, f"t{len(self.text)}")
        written = self.dialect.kind(True) if kind == "bool" else kind
        self.text.append(f"    const {written} {value.text} = {formula};")
        return value


class CValue:
    """A number, bits or a truth value in C, with the operations that `Elementary` needs."""

    def __init__(self, lines: Lines, kind: str, text: str) -> None:
        self.lines, self.kind, self.text = lines, kind, text

    def _operand(self, x: CValue | float) -> str:
        if isinstance(x, CValue):
            return x.text
        dialect = self.lines.dialect
        if self.kind == dialect.real:
            return dialect.literal(x)
        width = _WIDTHS[dialect.real]
        return f"0x{x % 2**width:x}{'ULL' if width == 64 else 'U'}"

    def _infix(self, sign: str, other: CValue | float, kind: str = "") -> CValue:
        return self.lines.do(kind or self.kind, f"{self.text} {sign} {self._operand(other)}")

    def __add__(self, other):
        return self._infix("+", other)

    def __sub__(self, other):
        return self._infix("-", other)

    def __mul__(self, other):
        return self._infix("*", other)

    def __truediv__(self, other):
        return self._infix("/", other)

    def __rtruediv__(self, other):
        return self.lines.do(self.kind, f"{self._operand(other)} / {self.text}")

    def __and__(self, other):
        return self._infix("&", other)

    def __or__(self, other):
        return self._infix("|", other)

    def __xor__(self, other):
        return self._infix("^", other)

    def __lshift__(self, places: int):
        return self.lines.do(self.kind, f"{self.text} << {places}")

    def __rshift__(self, places: int):
        return self.lines.do(self.kind, f"{self.text} >> {places}")

    def __lt__(self, other):
        return self._infix("<", other, "bool")

    def __gt__(self, other):
        return self._infix(">", other, "bool")

    def equals(self, other: CValue | float) -> CValue:
        return self._infix("==", other, "bool")

    def __neg__(self):
        return self.lines.do(self.kind, f"-{self.text}")

    def __abs__(self):
        return self.lines.do(self.kind, f"{self.lines.dialect.function('abs')}({self.text})")

    def fma(self, b: CValue | float, c: CValue | float) -> CValue:
        """This times b plus c, rounded once."""
        return self._fused(self.lines.dialect.function("fma"), b, c)

    def multiply_add(self, b: CValue | float, c: CValue | float) -> CValue:
        """The same in the dialect's way."""
        return self._fused(self.lines.dialect.fma, b, c)

    def _fused(self, function: str, b: CValue | float, c: CValue | float) -> CValue:
        return self.lines.do(self.kind, f"{function}({self.text}, {self._operand(b)}, {self._operand(c)})")

    def select(self, a: CValue | float, b: CValue | float, kind: str) -> CValue:
        """a where this truth value holds, else b."""
        typed = CValue(self.lines, kind, "")
        return self.lines.do(kind, f"{self.text} ? {typed._operand(a)} : {typed._operand(b)}")

    def cast(self, how: str, kind: str) -> CValue:
        """The same bits in the other type."""
        del how
        dialect = self.lines.dialect
        return self.lines.do(kind, f"{dialect.elementary('real' if kind == dialect.real else 'bits')}({self.text})")


def elementary_text(dialect: Dialect, functions: set[str]) -> str:
    """Those of the functions that a program has, and what they need.

    Parameters
    ----------
    dialect : Dialect
        Its ``elementary`` gives the names.
    functions : set of str
        Operations of the program; all but `FUNCTIONS` are ignored.
    """
    used = [op for op in FUNCTIONS if op in functions]
    if not used:
        return ""
    real, bits = dialect.real, f"unsigned {'long long' if dialect.real == 'double' else 'int'}"
    qualifiers = "static __device__" if dialect.cuda else "static"
    parts = [_casts(dialect, qualifiers, bits)]
    for op in used:
        lines = Lines(dialect)
        names = "yx" if op == "arctan2" else "x"
        formulas = Elementary(real, real, bits, CValue.multiply_add)
        found = getattr(formulas, op)(*(CValue(lines, real, name) for name in names))
        arguments = ", ".join(f"{real} {name}" for name in names)
        body = "\n".join([*lines.text, f"    return {found.text};"])
        parts.append(f"{qualifiers} {real} {dialect.elementary(op)}({arguments})\n{{\n{body}\n}}\n")
    return "\n".join(parts)


def _casts(dialect: Dialect, qualifiers: str, bits: str) -> str:
    """The two functions between a number and its bits."""
    real, to_bits, to_real = dialect.real, dialect.elementary("bits"), dialect.elementary("real")
    if dialect.cuda:
        there, back, signed = ("__double_as_longlong", "__longlong_as_double", "long long")
        if real == "float":
            there, back, signed = ("__float_as_int", "__int_as_float", "int")
        return (
            f"{qualifiers} {bits} {to_bits}({real} x) {{ return ({bits}){there}(x); }}\n"
            f"{qualifiers} {real} {to_real}({bits} x) {{ return {back}(({signed})x); }}\n"
        )
    union = f"union {{ {real} real; {bits} bits; }} u;"
    return (
        f"{qualifiers} {bits} {to_bits}({real} x) {{ {union} u.real = x; return u.bits; }}\n"
        f"{qualifiers} {real} {to_real}({bits} x) {{ {union} u.bits = x; return u.real; }}\n"
    )
