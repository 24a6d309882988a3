"""C99 statements of a Program: one line per operation, in functions of some hundred lines.

The operations are those of the machine code, in the same order, so the results are the same bits wherever the C
compiler neither fuses nor reorders on its own: `FLAGS`, never ``-ffast-math``.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import copysign

import numpy as np

from kinetree.export.c_elementary import FUNCTIONS
from kinetree.native.elementary import HALF_PI, ROUNDER
from kinetree.native.large_angles import large_angle_text
from kinetree.native.llvm_math import COS, LIMIT, SIN
from kinetree.native.llvm_module import STATUS_BITS
from kinetree.native.llvm_plan import Plan, plan
from kinetree.trace.program import Program, is_zero

FLAGS = "-std=c99 -O2 -march=native -ffp-contract=off -fno-tree-slp-vectorize"
"""For GCC and Clang. The vectorizer of blocks makes the code slower, and GCC 12 fuses products there even though
contraction is off."""

CHUNK = 400
"""Operations per C function: compilers take more than linear time for one long block (docs/measurements.md)."""

ZEROS = 8
"""Outputs with at least so many structural zeros are cleared in a loop first."""

_INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/", "lt": "<", "le": "<=", "eq": "==", "and": "&", "or": "|"}
_LIBM = {
    **{"sqrt": "sqrt", "abs": "fabs", "exp": "exp", "log": "log", "tanh": "tanh", "arctan2": "atan2"},
    **{"sin": "sin", "cos": "cos"},
}

PREAMBLE = """\
#if defined(__FAST_MATH__)
#error "compile without -ffast-math: tests for NaN and the sums of the sine would be optimized away"
#endif
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(_MSC_VER)
#pragma fp_contract(off)
#endif

#ifndef KT_NOINLINE
#if defined(__GNUC__)
#define KT_NOINLINE __attribute__((noinline))
#elif defined(_MSC_VER)
#define KT_NOINLINE __declspec(noinline)
#else
#define KT_NOINLINE
#endif
#if defined(__GNUC__) || defined(_MSC_VER)
#define KT_RESTRICT __restrict
#elif !defined(__cplusplus)
#define KT_RESTRICT restrict
#else
#define KT_RESTRICT
#endif
#endif

/* a b + c. Where the processor does it in one rounding, the results are the library's bits (-march=native, -mfma,
   /arch:AVX2); elsewhere the C library would emulate that at fifty times the cost, so it is rounded twice.
   -DKT_FUSED=1 or 0 decides otherwise. */
#ifndef KT_FUSED
#if defined(FP_FAST_FMA) || defined(__FP_FAST_FMA) || defined(__FMA__) || defined(__AVX2__) || \\
    defined(__aarch64__) || defined(_M_ARM64) || (defined(__ARM_FEATURE_FMA) && @ARM@)
#define KT_FUSED 1
#else
#define KT_FUSED 0
#endif
#endif
#undef KT_FMA
#if KT_FUSED
#define KT_FMA(a, b, c) @fma@((a), (b), (c))
#else
#define KT_FMA(a, b, c) ((a) * (b) + (c))
#endif
"""


@dataclass(frozen=True)
class Dialect:
    """How numbers and operations are written.

    Parameters
    ----------
    real : str
        ``"double"`` or ``"float"``, the type of every value.
    fused : bool
        Whether fma and its relatives are rounded once (where the processor can); the prologue, which the library
        evaluates with NumPy, rounds twice.
    own : str or None
        Prefix of the names of generated elementary functions; None takes those of the C library.
    cuda : bool
        Whether CUDA C++ is written, whose compiler fuses nothing by itself and always can.
    """

    real: str = "double"
    fused: bool = True
    own: str | None = None
    cuda: bool = False

    def literal(self, x: float) -> str:
        """A constant, exact; negative ones in parentheses. Beyond single precision: infinity."""
        single = self.real == "float"
        with np.errstate(over="ignore"):
            x = float(np.float32(x)) if single else x
        if math.isnan(x):
            bits = "0x7fc00000u" if single else "0x7ff8ull << 48"
            text = f"{self.elementary('real')}({bits})" if self.cuda else "NAN"
        elif not math.isinf(x):
            text = str(np.float32(abs(x))) + "f" if single else repr(abs(x))
        elif self.cuda:
            text = "__int_as_float(0x7f800000)" if single else "__longlong_as_double(0x7ff0000000000000ll)"
        else:
            text = "INFINITY"
        return f"(-{text})" if copysign(1.0, x) < 0 else text

    def function(self, name: str) -> str:
        """A function of <math.h> in this precision, by its name or that of the operation."""
        return _LIBM.get(name, name) + ("f" if self.real == "float" else "")

    @property
    def fma(self) -> str:
        """The function or macro that computes a b + c."""
        return self.function("fma") if self.cuda else "KT_FMA"

    def kind(self, boolean: bool) -> str:
        """Type of a value."""
        return self.real if not boolean else "bool" if self.cuda else "int"

    def formula(self, op: str, x: Sequence[str]) -> str:
        """An operation of operands."""
        if op in _INFIX:
            return f"{x[0]} {_INFIX[op]} {x[1]}"
        if op in ("neg", "not"):
            return f"{'-' if op == 'neg' else '!'}{x[0]}"
        if op == "where":
            return f"{x[0]} ? {x[1]} : {x[2]}"
        if op in ("fma", "fms", "fnma"):
            return f"{self.fma}({'-' * (op == 'fnma')}{x[0]}, {x[1]}, {'-' * (op == 'fms')}{x[2]})"
        function = self.elementary(op) if self.own and op in FUNCTIONS else self.function(op)
        return f"{function}({', '.join(x)})"

    def elementary(self, op: str) -> str:
        """Name of a generated function."""
        return f"{self.own}_{op}"

    def horner(self, coefficients: Sequence[float]) -> str:
        """The polynomial of z with some coefficients, the highest first."""
        write = "{}({}, {}, {})".format
        return functools.reduce(lambda text, c: write(self.fma, "z", text, c), map(self.literal, coefficients))

    def preamble(self) -> str:
        """Macros that the code needs."""
        # 32-bit ARM cores fuse floats; doubles only as the macro states.
        arm = "1" if self.real == "float" else "(__ARM_FP & 8)"
        return PREAMBLE.replace("@fma@", self.function("fma")).replace("@ARM@", arm)


@dataclass
class Routine:
    """A Program as C functions: a main body and parts of about `CHUNK` operations.

    Parameters
    ----------
    program : Program
        The program to evaluate.
    name : str
        Prefix of the parts.
    dialect : Dialect
    arrays : sequence of str
        C names of the inputs, then of the outputs.
    params : str
        The array of params: the name of a constant table, or ``"params"`` if it is an argument.
    checks : bool
        Whether inputs and checks are reported.
    stored : str
        The type of the outputs.
    """

    program: Program
    name: str
    dialect: Dialect
    arrays: tuple[str, ...]
    params: str = "params"
    checks: bool = True
    stored: str | None = None
    chunk: int = CHUNK
    plan: Plan = field(init=False)

    def __post_init__(self) -> None:
        self.plan = plan(self.program, 1, self.checks, self.chunk)
        self.stored = self.stored or self.dialect.real
        inputs = len(self.program.inputs)
        self.inputs, self.outputs = self.arrays[:inputs], self.arrays[inputs:]
        code = self.program.code
        zeros = [sum(is_zero(code[value]) for value in result) for result in self.program.results]
        self.cleared = [count >= ZEROS for count in zeros]

    @property
    def scratch(self) -> int:
        """Entries of the array ``w`` that one evaluation works in."""
        return self.plan.slot_count

    def parts(self) -> tuple[list[str], list[str], list[str]]:
        """The text of the static functions, and of the body that calls them the declarations and the other lines."""
        plan_ = self.plan
        declarations = [f"{self.dialect.real} w[{self.scratch}];"] if self.scratch else []
        if self.checks:
            declarations.append("int status = 0;")
        lines = [*(self._finiteness() if self.checks else ()), *self._trigonometry()]
        functions = []
        for name, result, cleared in zip(self.outputs, self.program.results, self.cleared, strict=True):
            if cleared:
                zero = Dialect(self.stored).literal(0.0)
                lines.append(f"for (int k = 0; k < {len(result)}; ++k) {name}[k] = {zero};")
        for number, chunk in enumerate(plan_.chunks):
            part = _Part(self, single=len(plan_.chunks) == 1)
            part.emit(chunk)
            if number == len(plan_.chunks) - 1:
                part.end()
            if len(plan_.chunks) == 1:
                lines += part.lines
                break
            # The params are an output of a prologue.
            known = dict.fromkeys((*self.inputs, "params", *self.outputs, "w", "status"))
            names = [name for name in known if name in part.used]
            arguments = ", ".join(f"{self._type(name)} *KT_RESTRICT {name}" for name in names)
            body = "".join(f"    {line}\n" for line in part.lines)
            functions.append(f"static KT_NOINLINE void {self.name}_part{number}({arguments})\n{{\n{body}}}\n")
            actual = ", ".join("&status" if name == "status" else name for name in names)
            lines.append(f"{self.name}_part{number}({actual});")
        return functions, declarations, lines

    def _type(self, name: str) -> str:
        if name == "status":
            return "int"
        if name == "w":
            return self.dialect.real
        return self.stored if name in self.outputs else f"const {self.dialect.real}"

    def _finiteness(self) -> list[str]:
        """0 x is NaN for NaN and infinity, and NaN stays in a sum; one sum per array, so that they run at once."""
        lines, zero = [], self.dialect.literal(0.0)
        for k, (name, result) in enumerate(zip(self.inputs, self.program.inputs, strict=True)):
            size = math.prod(result[1])
            if size:
                lines.append(f"{self.dialect.real} sum{k} = {zero};")
                lines.append(f"for (int k = 0; k < {size}; ++k) sum{k} += {zero} * {name}[k];")
                lines.append(f"if (!(sum{k} == {zero})) status |= 1;")
        return lines

    def _trigonometry(self) -> list[str]:
        """Sines and cosines of the entries of inputs, before everything else as in the machine code."""
        plan_, lines = self.plan, []
        for k, value in enumerate(plan_.angles):
            _, array, entry = self.program.code[value]
            angle, sine, cosine = f"{self.inputs[array]}[{entry}]", f"w[{k}]", f"w[{plan_.stride + k}]"
            lines += self.sincos(angle, sine, cosine)
        return lines

    def sincos(self, angle: str, sine: str, cosine: str) -> list[str]:
        """Lines that put the sine and cosine of an angle into two variables."""
        if self.dialect.own:
            return [f"{self.dialect.elementary('sincos')}({angle}, &{sine}, &{cosine});"]
        return [
            f"{sine} = {self.dialect.function('sin')}({angle});",
            f"{cosine} = {self.dialect.function('cos')}({angle});",
        ]


class _Part:
    """The statements of one chunk."""

    def __init__(self, routine: Routine, single: bool) -> None:
        self.routine = routine
        self.dialect = routine.dialect
        self.plan = routine.plan
        self.code = routine.program.code
        self.single = single
        self.lines: list[str] = []
        self.used: set[str] = set()
        self.made: set[int] = set()

    def emit(self, chunk: tuple[int, ...]) -> None:
        """The operations in their order; results and values of later chunks are stored as soon as they exist."""
        plan_ = self.plan
        for value in chunk:
            op, *args = self.code[value]
            if op in ("sin", "cos"):
                self._sincos(args[0], value)
            else:
                self._operation(value, op, [self.operand(a) for a in args])
            for twin in plan_.made(value):
                if twin in plan_.slots:
                    boolean = self.routine.program.is_boolean(twin)
                    self._assign("w", plan_.slots[twin], f"({self.dialect.real})t{twin}" if boolean else f"t{twin}")
                for output, entry in plan_.stored.get(twin, ()):
                    self._store(output, entry, f"t{twin}")
                if twin in plan_.reported:
                    bit = min(plan_.reported[twin] + 1, STATUS_BITS - 1)
                    self.used.add("status")
                    self.lines.append(f"{'' if self.single else '*'}status |= t{twin} << {bit};")

    def end(self) -> None:
        """Results that no chunk computes."""
        for value in self.plan.copied():
            for output, entry in self.plan.stored[value]:
                if not (is_zero(self.code[value]) and self.routine.cleared[output]):
                    self._store(output, entry, self.operand(value))

    def operand(self, value: int) -> str:
        """Text of a value: a literal, an entry of an array, or a variable."""
        if value in self.made:
            return f"t{value}"
        op, *args = self.code[value]
        if op == "const":
            return self.dialect.literal(args[0])
        if op == "input":
            return self._entry(self.routine.inputs[args[0]], args[1])
        if op == "param":
            return self._entry(self.routine.params, args[0])
        if value in self.plan.trigonometry:
            return self._entry("w", self.plan.trigonometry[value])
        text = self._entry("w", self.plan.slots[value])
        return f"({text} != {self.dialect.literal(0.0)})" if self.routine.program.is_boolean(value) else text

    def _entry(self, array: str, index: int) -> str:
        self.used.add(array)
        return f"{array}[{index}]"

    def _assign(self, array: str, index: int, text: str) -> None:
        self.lines.append(f"{self._entry(array, index)} = {text};")

    def _store(self, output: int, entry: int, text: str) -> None:
        routine = self.routine
        cast = f"({routine.stored})" if routine.stored != self.dialect.real else ""
        self._assign(routine.outputs[output], entry, cast + text)

    def _operation(self, value: int, op: str, x: list[str]) -> None:
        real = self.dialect.kind(self.routine.program.is_boolean(value))
        if op in ("fma", "fms", "fnma") and not self.dialect.fused:
            a, b, c = x
            self.lines.append(f"const {real} t{value}m = {a} * {b};")
            text = {"fma": f"t{value}m + {c}", "fms": f"t{value}m - {c}", "fnma": f"{c} - t{value}m"}[op]
        else:
            text = self.dialect.formula(op, x)
        self.lines.append(f"const {real} t{value} = {text};")
        self.made.add(value)

    def _sincos(self, argument: int, value: int) -> None:
        """The pair of a computed angle; a variable for each value that is its sine or its cosine."""
        real, angle = self.dialect.real, self.operand(argument)
        self.lines.append(f"{real} s{value}, c{value};")
        self.lines += self.routine.sincos(angle, f"s{value}", f"c{value}")
        for twin, cosine in self.plan.pairs[argument]:
            self.lines.append(f"const {real} t{twin} = {'c' if cosine else 's'}{value};")
            self.made.add(twin)
        if not self.dialect.own:
            self.lines.append(f"(void)s{value}; (void)c{value};")


def sincos_text(name: str, real: str) -> str:
    """The sine and cosine of the library in C, the same formulas as in `llvm_math`: same bits with KT_FUSED.

    Parameters
    ----------
    name : str
        Of the C function ``void name(real x, real *sine, real *cosine)``.
    real : str
        ``"double"`` or ``"float"``.
    """
    dialect = Dialect(real)
    number, horner, fma = dialect.literal, dialect.horner, dialect.function("fma")
    high, low = HALF_PI[real]
    rounder, whole = number(ROUNDER[real]), "long long" if real == "double" else "long"
    return f"""\
{large_angle_text(f"{name}_far")}
/* Sine and cosine: x = r + n pi/2, fdlibm's polynomials of r. */
static void {name}({real} x, {real} *sine, {real} *cosine)
{{
    {real} pair[2], turns, k, r, z;
    unsigned int further = 0;
    {whole} n;
    if (!({dialect.function("abs")}(x) < {number(LIMIT[real])})) {{
        struct {name}_far reduced = {name}_far(x);
        x = ({real})reduced.r;
        further = reduced.quadrant & 3;
    }}
    if (x != x) {{ *sine = x; *cosine = x; return; }}
    turns = KT_FMA(x, {number(2.0 / 3.141592653589793)}, {rounder});
    k = turns - {rounder};
    n = ({whole})k + ({whole})further;
    r = {fma}(-k, {number(high)}, x); /* rounded once everywhere: the reduction rests on it */
    r = {fma}(-k, {number(low)}, r);
    z = r * r;
    pair[0] = KT_FMA(r * z, {horner(SIN[real])}, r);
    pair[1] = KT_FMA(z * z, {horner(COS[real])}, KT_FMA(z, {number(-0.5)}, {number(1.0)}));
    *sine = pair[n & 1] * ({real})(1 - (n & 2));
    *cosine = pair[(n + 1) & 1] * ({real})(1 - ((n + 1) & 2));
}}
"""
