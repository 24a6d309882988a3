"""Vector and scalar types in IR text, and the sine and cosine that kernels carry with them.

The pair (sin x, cos x) is computed in any number of lanes with the same bits:

1. k = round(2 x / pi), by adding 1.5 * 2^52 (the low bits of the sum then hold k);
2. r = x - k pi/2, with pi/2 in two parts (Cody and Waite) and fused multiply-adds, so that each product is exact;
3. the minimax polynomials of fdlibm (double) and Cephes (single) on [-pi/4, pi/4];
4. quadrant k by integer masks: bit 0 exchanges the two, bit 1 gives the sign. A `select` would become a branch in the
   scalar variant, and joint angles make it a mispredicted one.

Beyond ``LIMIT`` this reduction is no longer accurate: there a branch, which costs nothing where it is not taken, leads
to an exact one (`large_angles`). Infinity and NaN give NaN. Largest errors: 1.7e-16 (double), 1e-7 (single).
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

LIMIT = {"double": 2.0**40, "float": 2.0**17}
"""Angles beyond this are reduced exactly (`large_angles`)."""

SIN = {
    "double": (
        1.58969099521155010221e-10,
        -2.50507602534068634195e-08,
        2.75573137070700676789e-06,
        -1.98412698298579493134e-04,
        8.33333333332248946124e-03,
        -1.66666666666666324348e-01,
    ),
    "float": (-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1),
}
"""Of sin(r) = r + r^3 P(r^2), |r| <= pi/4: the coefficients of P, the highest first."""

COS = {
    "double": (
        -1.13596475577881948265e-11,
        2.08757232129817482790e-09,
        -2.75573143513906633035e-07,
        2.48015872894767294178e-05,
        -1.38888888888741095749e-03,
        4.16666666666666019037e-02,
    ),
    "float": (2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2),
}
"""Of cos(r) = 1 - r^2/2 + r^4 P(r^2)."""

HALF_PI = {
    "double": (1.5707963267948966, 6.123233995736766e-17),
    "float": (1.57079637050628662109375, -4.37113900018624283e-8),
}
"""Half of pi as a sum of two numbers."""

ROUNDER = {"double": 1.5 * 2.0**52, "float": 1.5 * 2.0**23}
"""What rounds a number to an integer when it is added and taken away again."""


@dataclass(frozen=True)
class Lanes:
    """The IR types and literals of one scalar, or of a vector of `count` of them.

    Parameters
    ----------
    element : str
        ``"double"`` or ``"float"``.
    count : int
        Lanes; 1 gives the scalar type.
    """

    element: str
    count: int

    def __post_init__(self) -> None:
        bits = 64 if self.element == "double" else 32
        opening, closing, prefix = (f"<{self.count} x ", ">", f"v{self.count}") if self.count > 1 else ("", "", "")
        derived = {
            "bits": bits,
            "type": f"{opening}{self.element}{closing}",
            "integer": f"{opening}i{bits}{closing}",
            "boolean": f"{opening}i1{closing}",
            "size": bits // 8 * self.count,
            "suffix": f"{prefix}f{bits}",
        }
        for name, value in derived.items():
            object.__setattr__(self, name, value)

    def number(self, x: float) -> str:
        """A constant in every lane, exact (hexadecimal), rounded to the element type."""
        return self._repeat(self.element, hexadecimal(x, self.element))

    def whole(self, n: int) -> str:
        """An integer constant in every lane."""
        return self._repeat(f"i{self.bits}", str(n))

    def truth(self, value: bool) -> str:
        """A truth value in every lane."""
        return self._repeat("i1", "true" if value else "false")

    def _repeat(self, kind: str, text: str) -> str:
        return text if self.count == 1 else "<" + ", ".join([f"{kind} {text}"] * self.count) + ">"


def hexadecimal(x: float, element: str) -> str:
    """A float literal of the IR; singles are written as the double of the same value."""
    if element == "float":
        try:
            x = struct.unpack("f", struct.pack("f", x))[0]
        except OverflowError:  # beyond the range of single precision
            x = float("inf") if x > 0 else float("-inf")
    return "0x" + struct.pack(">d", x).hex().upper()


def sincos_function(lanes: Lanes, fused: bool) -> str:
    """IR of ``{T, T} sincosN(T x)``, the sine and cosine of each lane; angles beyond `LIMIT` go to `large_angles`.

    Without FMA in hardware (``fused`` false) only the reduction, whose accuracy rests on it, uses the C library's; the
    rest is rounded twice.
    """
    kind, name = lanes.type, sincos_name(lanes)
    both = f"{{ {kind}, {kind} }}"
    lines = [
        f"define internal fastcc {both} @{name}({kind} %x) #0 {{",
        f"  %size = call {kind} @llvm.fabs.{lanes.suffix}({kind} %x)",
        f"  %within = fcmp olt {kind} %size, {lanes.number(LIMIT[lanes.element])}",
    ]
    near = "%within"
    if lanes.count > 1:
        lines.append(f"  %set = bitcast {lanes.boolean} %within to i{lanes.count}")
        lines.append(f"  %near = icmp eq i{lanes.count} %set, -1")
        near = "%near"
    # The call is the last thing that its block does, so the usual way saves no registers for it.
    far = f"{name}_far" if lanes.count > 1 else "sincos_far"
    lines += [
        f"  br i1 {near}, label %usual, label %far",
        "far:",
        f"  %there = tail call fastcc {both} @{far}({kind} %x)",
        f"  ret {both} %there",
        "usual:",
        *sincos_core(lanes, fused, "%x"),
        "}",
    ]
    return "\n".join(lines)


def sincos_core(lanes: Lanes, fused: bool, x: str, turns: str = "") -> list[str]:
    """Lines of IR that end a function with the pair of an angle within `LIMIT`, ``turns`` quarter turns further."""
    kind, whole, element, suffix = lanes.type, lanes.integer, lanes.element, lanes.suffix
    lines: list[str] = []
    emit = lines.append

    def fma(result: str, a: str, b: str, c: str) -> None:
        emit(f"  {result} = call {kind} @llvm.fma.{suffix}({kind} {a}, {kind} {b}, {kind} {c})")

    def multiply_add(result: str, a: str, b: str, c: str) -> None:
        if fused:
            fma(result, a, b, c)
        else:
            emit(f"  {result}product = fmul {kind} {a}, {b}")
            emit(f"  {result} = fadd {kind} {result}product, {c}")

    def horner(prefix: str, coefficients: tuple[float, ...]) -> str:
        value = lanes.number(coefficients[0])
        for k, coefficient in enumerate(coefficients[1:]):
            multiply_add(f"%{prefix}{k}", "%z", value, lanes.number(coefficient))
            value = f"%{prefix}{k}"
        return value

    high, low = HALF_PI[element]
    multiply_add("%shifted", x, lanes.number(2.0 / 3.141592653589793), lanes.number(ROUNDER[element]))
    emit(f"  %k = fsub {kind} %shifted, {lanes.number(ROUNDER[element])}")
    emit(f"  %minus = fneg {kind} %k")
    fma("%r0", "%minus", lanes.number(high), x)
    fma("%r", "%minus", lanes.number(low), "%r0")
    emit(f"  %z = fmul {kind} %r, %r")
    emit(f"  %rz = fmul {kind} %r, %z")
    emit(f"  %zz = fmul {kind} %z, %z")
    multiply_add("%sine", "%rz", horner("s", SIN[element]), "%r")
    multiply_add("%near1", "%z", lanes.number(-0.5), lanes.number(1.0))
    multiply_add("%cosine", "%zz", horner("c", COS[element]), "%near1")
    top = lanes.whole(lanes.bits - 2)
    for line in (
        f"%{'own' if turns else 'quadrant'} = bitcast {kind} %shifted to {whole}",
        *([f"%quadrant = add {whole} %own, {turns}"] if turns else []),
        f"%odd = and {whole} %quadrant, {lanes.whole(1)}",
        f"%mask = sub {whole} {lanes.whole(0)}, %odd",
        f"%sbits = bitcast {kind} %sine to {whole}",
        f"%cbits = bitcast {kind} %cosine to {whole}",
        f"%differ = xor {whole} %sbits, %cbits",
        f"%swap = and {whole} %differ, %mask",
        f"%s9 = xor {whole} %sbits, %swap",
        f"%c9 = xor {whole} %cbits, %swap",
        f"%shalf = and {whole} %quadrant, {lanes.whole(2)}",
        f"%next = add {whole} %quadrant, {lanes.whole(1)}",
        f"%chalf = and {whole} %next, {lanes.whole(2)}",
        f"%ssign = shl {whole} %shalf, {top}",
        f"%csign = shl {whole} %chalf, {top}",
        f"%sout = xor {whole} %s9, %ssign",
        f"%cout = xor {whole} %c9, %csign",
        f"%sin = bitcast {whole} %sout to {kind}",
        f"%cos = bitcast {whole} %cout to {kind}",
        f"%pair = insertvalue {{ {kind}, {kind} }} poison, {kind} %sin, 0",
        f"%both = insertvalue {{ {kind}, {kind} }} %pair, {kind} %cos, 1",
        f"ret {{ {kind}, {kind} }} %both",
    ):
        emit("  " + line)
    return lines


def sincos_name(lanes: Lanes) -> str:
    """Name of the module's function for these lanes."""
    return f"sincos{lanes.count}"
