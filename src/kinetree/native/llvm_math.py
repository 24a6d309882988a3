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

from dataclasses import dataclass

from kinetree.native.elementary import HALF_PI, ROUNDER, Elementary
from kinetree.native.llvm_code import Code, Value, literal
from kinetree.native.several import Several

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
        return literal(self.type, x)

    def whole(self, n: int) -> str:
        """An integer constant in every lane."""
        return literal(self.integer, n)


def sincos_function(lanes: Lanes, fused: bool) -> str:
    """IR of ``{T, T} sincosN(T x)``, the sine and cosine of each lane; angles beyond `LIMIT` go to `large_angles`.

    Without FMA in hardware (``fused`` false) only the reduction, whose accuracy rests on it, uses the C library's; the
    rest is rounded twice.
    """
    name = sincos_name(lanes)
    both = f"{{ {lanes.type}, {lanes.type} }}"
    code = Code(f"internal fastcc {both} @{name}", f"{lanes.type} %x")
    (x,) = code.arguments
    near = abs(x) < LIMIT[lanes.element]
    if lanes.count > 1:
        near = near.cast("bitcast", f"i{lanes.count}").equals(-1)
    code.branch(near, "usual", "far")
    code.label("far")
    # The call is the last thing that its block does, so the usual way saves no registers for it.
    far = f"@{name}_far" if lanes.count > 1 else "@sincos_far"
    code.give(code.call(both, far, x, convention="fastcc ", tail="tail "))
    code.label("usual")
    return_sincos(code, lanes, fused, x)
    return code.text()


def return_sincos(code: Code, lanes: Lanes, fused: bool, x: Value, turns: Value | None = None) -> None:
    """End a function with the pair of an angle within `LIMIT`, ``turns`` quarter turns further."""

    def multiply_add(a: Value, b: Value | float, c: Value | float) -> Value:
        return a.fma(b, c) if fused else a * b + c

    def horner(coefficients: tuple[float, ...]) -> Value:
        value = code.value(lanes.type, lanes.number(coefficients[0]))
        for coefficient in coefficients[1:]:
            value = multiply_add(z, value, coefficient)
        return value

    high, low = HALF_PI[lanes.element]
    shifted = multiply_add(x, 2.0 / 3.141592653589793, ROUNDER[lanes.element])
    minus = -(shifted - ROUNDER[lanes.element])
    r = minus.fma(low, minus.fma(high, x))
    z = r * r
    rz, zz = r * z, z * z
    sine = multiply_add(rz, horner(SIN[lanes.element]), r)
    near1 = multiply_add(z, -0.5, 1.0)
    cosine = multiply_add(zz, horner(COS[lanes.element]), near1)
    quadrant = shifted.cast("bitcast", lanes.integer)
    if turns is not None:
        quadrant = quadrant + turns
    mask = -(quadrant & 1)
    s, c = (value.cast("bitcast", lanes.integer) for value in (sine, cosine))
    swap = (s ^ c) & mask
    s, c = s ^ swap, c ^ swap
    halves = quadrant & 2, (quadrant + 1) & 2
    signs = [half << lanes.bits - 2 for half in halves]
    signed = [value ^ sign for value, sign in zip((s, c), signs, strict=True)]
    code.give(code.pair(*[value.cast("bitcast", lanes.type) for value in signed]))


def sincos_name(lanes: Lanes) -> str:
    """Name of the module's function for these lanes."""
    return f"sincos{lanes.count}"


def elementary_function(op: str, lanes: Lanes, fused: bool, many: int = 1) -> str:
    """IR of ``T opN(T x)`` or ``T opN(T y, T x)``: a function of `elementary`.

    Of several arguments at once, ``{T, ...} opNxM(T x0, T x1, ...)``: operations on all of them take turns.
    """
    names = [f"{name}_{k}" for k in range(many) for name in ("yx" if op == "arctan2" else "x")]
    arguments = ", ".join(f"{lanes.type} %{name}" for name in names)
    returned = lanes.type if many == 1 else f"{{ {', '.join([lanes.type] * many)} }}"
    code = Code(f"internal fastcc {returned} @{elementary_name(op, lanes, many)}", arguments)

    def multiply_add(a: Value, b: Value | float, c: Value | float) -> Value:
        return a.fma(b, c) if fused else a * b + c

    function = getattr(Elementary(lanes.element, lanes.type, lanes.integer, multiply_add), op)
    if many == 1:
        code.give(function(*code.arguments))
        return code.text()
    each = len(names) // many
    found = function(*(Several(code.arguments[k::each]) for k in range(each)))
    whole = code.value(returned, "poison")
    for k, value in enumerate(found.values):
        whole = code.do(returned, f"insertvalue {whole}, {value}, {k}")
    code.give(whole)
    return code.text()


def elementary_name(op: str, lanes: Lanes, many: int = 1) -> str:
    """Name of the module's function for these lanes, and so many arguments at once."""
    return f"{op}{lanes.count}" + f"x{many}" * (many > 1)
