"""Angles of any size less whole quarter turns, exactly: for those that two parts of pi/2 do not reduce (`llvm_math`).

With x = m 2^e, m a whole number of 64 bits, only those bits of 2/pi matter whose product with m 2^e is less than four
quarter turns: the 192 from a place that e determines. The product's first two bits are the quadrant, the others the
remainder, of which at least 60 are right however near x is to a multiple of pi/2. All is whole-number arithmetic and
one fused sum, so C, CUDA and machine code have the same bits. It runs for the angles alone that need it.

Source: M. Payne and R. Hanek, "Radian reduction for trigonometric functions", SIGNUM Newsletter 18 (1983).
"""

from __future__ import annotations

from kinetree.native.elementary import HALF_PI
from kinetree.native.llvm_code import Code
from kinetree.native.llvm_math import LIMIT, Lanes, return_sincos, sincos_name

WORDS = 18
_HIGH, _LOW = HALF_PI["double"]
_SCALES = 2.0**-64, 2.0**-116


def _two_over_pi() -> list[int]:
    """A word of zeros and the first 64 `WORDS` bits of 2/pi."""
    bits = 64 * WORDS
    one = 1 << (bits + 64)
    pi = 16 * _arctan_inverse(5, one) - 4 * _arctan_inverse(239, one)  # Machin's formula
    value = (2 * one << bits) // pi
    return [0, *(value >> (bits - 64 * (k + 1)) & (2**64 - 1) for k in range(WORDS))]


def _arctan_inverse(n: int, one: int) -> int:
    """arctan(1/n) times one."""
    total = term = one // n
    k, sign = 1, -1
    while term:
        term //= n * n
        k += 2
        total += sign * (term // k)
        sign = -sign
    return total


TABLE = _two_over_pi()


def large_angle_ir() -> str:
    """IR of ``{double, i64} large_angle(double x)``: the remainder and the quadrant; NaN for infinity and NaN."""
    words = ", ".join(f"i64 {word - 2**64 if word >= 2**63 else word}" for word in TABLE)
    table = f"@two_over_pi = internal constant [{len(TABLE)} x i64] [{words}]"
    code = Code("internal fastcc { double, i64 } @large_angle", "double %x")
    (x,) = code.arguments
    bits = x.cast("bitcast", "i64")
    exponent = bits >> 52 & 2047
    code.branch(exponent.compare("ult", 2047), "reduce", "no")
    code.label("no")
    code.give(code.pair(x - x, code.value("i64", "0")))  # NaN
    code.label("reduce")
    m = bits << 11 | -(1 << 63)
    place = exponent - 1024
    first, left = place >> 6, place & 63
    right = 63 - left
    given = [code.value("ptr", "@two_over_pi").at(first + k, "i64").load() for k in range(4)]
    w = [given[k] << left | given[k + 1] >> 1 >> right for k in range(3)]
    wide = m.cast("zext", "i128")
    products = [wide * word.cast("zext", "i128") for word in w]
    lower = [product.cast("trunc", "i64") for product in products]
    upper = [(product >> 64).cast("trunc", "i64") for product in products]
    l = lower[1] + upper[2]  # noqa: E741 - h and l are the two words of the product, here and in C
    carry = l.compare("ult", lower[1]).cast("zext", "i64")
    h = lower[0] + upper[1] + carry
    q = h + (1 << 61) >> 62
    f = h << 2 | l >> 62
    tail = f & 2047
    parts = f - tail, tail << 52 | l << 2 >> 12
    a, b = (part.cast("sitofp", "double") * scale for part, scale in zip(parts, _SCALES, strict=True))
    r = a.fma(_HIGH, b.fma(_HIGH, a * _LOW))
    negative = bits < 0
    code.give(code.pair(negative.select(-r, r), negative.select(-q, q)))
    return f"{table}\n{code.text()}"


def far_sincos_ir(element: str, fused: bool) -> str:
    """IR of ``{T, T} sincos_far(T x)`` for one angle of any size; within the limit the bits are the usual ones."""
    one = Lanes(element, 1)
    code = Code(f"internal fastcc {{ {element}, {element} }} @sincos_far", f"{element} %x")
    (x,) = code.arguments
    code.branch(abs(x) < LIMIT[element], "small", "large")
    code.label("large")
    double = element == "double"
    found = code.call("{ double, i64 }", "@large_angle", x if double else x.cast("fpext", "double"))
    reduced, q = found.part(0), found.part(1)
    if not double:
        reduced, q = reduced.cast("fptrunc", "float"), q.cast("trunc", "i32")
    code.go("small")
    code.label("small")
    angle = code.phi(element, (x, "entry"), (reduced, "large"))
    turns = code.phi(one.integer, (code.value(one.integer, "0"), "entry"), (q, "large"))
    return_sincos(code, one, fused, angle, turns)
    return code.text()


def far_lanes_ir(lanes: Lanes) -> str:
    """IR of ``{V, V} sincosN_far(V x)``: one angle after the other."""
    kind, element = lanes.type, lanes.element
    code = Code(f"internal fastcc {{ {kind}, {kind} }} @{sincos_name(lanes)}_far", f"{kind} %x")
    (x,) = code.arguments
    sines = cosines = code.value(kind, "poison")
    for k in range(lanes.count):
        found = code.call(f"{{ {element}, {element} }}", "@sincos_far", x.lane(k))
        sine, cosine = found.part(0), found.part(1)
        sines, cosines = sines.with_lane(k, sine), cosines.with_lane(k, cosine)
    code.give(code.pair(sines, cosines))
    return code.text()


def large_angle_text(name: str, function: str = "static", table: str = "static const") -> str:
    """The same in C99 and in CUDA: ``struct name name(double x)`` with the members ``r`` and ``quadrant``.

    Parameters
    ----------
    name : str
        Of the function and of its result; its table is called ``name_table``.
    function, table : str
        Qualifiers before each of them.
    """
    words = "\n".join(
        "    " + ", ".join(f"0x{word:016x}ULL" for word in TABLE[k : k + 4]) + "," for k in range(0, len(TABLE), 4)
    )
    return f"""\
/* An angle of any size less quarter turns, exactly (Payne and Hanek): 192 bits of 2/pi times its 53. */
{table} unsigned long long {name}_table[{len(TABLE)}] = {{
{words}
}};
struct {name} {{ double r; unsigned int quadrant; }};
{function} struct {name} {name}(double x)
{{
    struct {name} found;
    union {{ double real; unsigned long long bits; }} u;
    unsigned long long m, w, h = 0, l = 0, f, tail, high, middle, part;
    int k, left, first;
    double a, b;
    u.real = x;
    if ((u.bits >> 52 & 2047) == 2047) {{
        found.r = x - x; /* NaN */
        found.quadrant = 0;
        return found;
    }}
    m = u.bits << 11 | 1ULL << 63;
    first = (int)(u.bits >> 52 & 2047) - 1024;
    left = first & 63;
    first >>= 6;
    for (k = 0; k < 3; ++k) {{ /* h and l: the two upper words of m times the three words w, the lowest one left out */
        w = {name}_table[first + k] << left | {name}_table[first + k + 1] >> 1 >> (63 - left);
        part = (m & 0xffffffffULL) * (w & 0xffffffffULL);
        middle = (m >> 32) * (w & 0xffffffffULL) + (part >> 32);
        high = (m >> 32) * (w >> 32) + (middle >> 32);
        middle = (middle & 0xffffffffULL) + (m & 0xffffffffULL) * (w >> 32);
        high += middle >> 32;
        part = m * w;
        if (k == 0) h = part;
        else if (k == 1) {{ h += high; l = part; }}
        else {{ l += high; h += l < high; }}
    }}
    found.quadrant = (unsigned int)((h + (1ULL << 61)) >> 62);
    f = h << 2 | l >> 62;
    tail = f & 2047;
    a = (double)(long long)(f - tail) * {_SCALES[0]!r};
    b = (double)(long long)(tail << 52 | l << 2 >> 12) * {_SCALES[1]!r};
    found.r = fma(a, {_HIGH!r}, fma(b, {_HIGH!r}, a * {_LOW!r}));
    if (x < 0) {{
        found.r = -found.r;
        found.quadrant = 0u - found.quadrant;
    }}
    return found;
}}
"""
