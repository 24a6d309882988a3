"""Angles of any size less whole quarter turns, exactly: for those that two parts of pi/2 do not reduce (`llvm_math`).

With x = m 2^e, m a whole number of 64 bits, only those bits of 2/pi matter whose product with m 2^e is less than four
quarter turns: the 192 from a place that e tells. The product's first two bits are the quadrant, the others the
remainder, of which at least 60 are right however near x is to a multiple of pi/2. All is whole-number arithmetic and
one fused sum, so C, CUDA and machine code have the same bits. It runs for the angles alone that need it.

Source: M. Payne and R. Hanek, "Radian reduction for trigonometric functions", SIGNUM Newsletter 18 (1983).
"""

from __future__ import annotations

from kinetree.native.llvm_math import HALF_PI, LIMIT, Lanes, hexadecimal, sincos_core, sincos_name

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
    table = ", ".join(f"i64 {word - 2**64 if word >= 2**63 else word}" for word in TABLE)
    lines = [
        f"@two_over_pi = internal constant [{len(TABLE)} x i64] [{table}]",
        "define internal fastcc { double, i64 } @large_angle(double %x) #0 {",
        "  %bits = bitcast double %x to i64",
        "  %shifted = lshr i64 %bits, 52",
        "  %exponent = and i64 %shifted, 2047",
        "  %finite = icmp ult i64 %exponent, 2047",
        "  br i1 %finite, label %reduce, label %no",
        "no:",
        "  %nan = fsub double %x, %x",
        "  %n0 = insertvalue { double, i64 } poison, double %nan, 0",
        "  %n1 = insertvalue { double, i64 } %n0, i64 0, 1",
        "  ret { double, i64 } %n1",
        "reduce:",
        "  %fraction = shl i64 %bits, 11",
        "  %m = or i64 %fraction, -9223372036854775808",
        "  %place = sub i64 %exponent, 1024",
        "  %first = lshr i64 %place, 6",
        "  %left = and i64 %place, 63",
        "  %right = sub i64 63, %left",
    ]
    lines += _large_angle_products()
    lines += [
        "  %l = add i64 %p1, %u2",
        "  %over = icmp ult i64 %l, %p1",
        "  %carry = zext i1 %over to i64",
        "  %h0 = add i64 %p0, %u1",
        "  %h = add i64 %h0, %carry",
        "  %rounded = add i64 %h, 2305843009213693952",
        "  %q = lshr i64 %rounded, 62",
        "  %f0 = shl i64 %h, 2",
        "  %f1 = lshr i64 %l, 62",
        "  %f = or i64 %f0, %f1",
        "  %tail = and i64 %f, 2047",
        "  %head = sub i64 %f, %tail",
        "  %tail0 = shl i64 %tail, 52",
        "  %rest0 = shl i64 %l, 2",
        "  %rest1 = lshr i64 %rest0, 12",
        "  %rest = or i64 %tail0, %rest1",
        "  %a0 = sitofp i64 %head to double",
        f"  %a = fmul double %a0, {hexadecimal(_SCALES[0], 'double')}",
        "  %b0 = sitofp i64 %rest to double",
        f"  %b = fmul double %b0, {hexadecimal(_SCALES[1], 'double')}",
        f"  %c0 = fmul double %a, {hexadecimal(_LOW, 'double')}",
        f"  %c = call double @llvm.fma.f64(double %b, double {hexadecimal(_HIGH, 'double')}, double %c0)",
        f"  %r = call double @llvm.fma.f64(double %a, double {hexadecimal(_HIGH, 'double')}, double %c)",
        "  %negative = icmp slt i64 %bits, 0",
        "  %minus = fneg double %r",
        "  %opposite = sub i64 0, %q",
        "  %remainder = select i1 %negative, double %minus, double %r",
        "  %quadrant = select i1 %negative, i64 %opposite, i64 %q",
        "  %r0 = insertvalue { double, i64 } poison, double %remainder, 0",
        "  %r1 = insertvalue { double, i64 } %r0, i64 %quadrant, 1",
        "  ret { double, i64 } %r1",
        "}",
    ]
    return "\n".join(lines)


def _large_angle_products() -> list[str]:
    """IR of the three words of 2/pi that an angle's mantissa meets, and of their products with it: p and u."""
    lines: list[str] = []
    emit = lines.append
    for k in range(4):
        emit(f"  %at{k} = add i64 %first, {k}")
        emit(f"  %word{k}_at = getelementptr inbounds i64, ptr @two_over_pi, i64 %at{k}")
        emit(f"  %word{k} = load i64, ptr %word{k}_at")
    for k in range(3):
        emit(f"  %high{k} = shl i64 %word{k}, %left")
        emit(f"  %half{k} = lshr i64 %word{k + 1}, 1")
        emit(f"  %low{k} = lshr i64 %half{k}, %right")
        emit(f"  %w{k} = or i64 %high{k}, %low{k}")
    emit("  %wide = zext i64 %m to i128")
    for k in range(3):
        emit(f"  %wide{k} = zext i64 %w{k} to i128")
        emit(f"  %product{k} = mul i128 %wide, %wide{k}")
        emit(f"  %p{k} = trunc i128 %product{k} to i64")
        emit(f"  %upper{k} = lshr i128 %product{k}, 64")
        emit(f"  %u{k} = trunc i128 %upper{k} to i64")
    return lines


def far_sincos_ir(element: str, fused: bool) -> str:
    """IR of ``{T, T} sincos_far(T x)`` for one angle of any size; within the limit the bits are the usual ones."""
    one = Lanes(element, 1)
    pair = f"{{ {element}, {element} }}"
    lines = [
        f"define internal fastcc {pair} @sincos_far({element} %x) #0 {{",
        f"  %size = call {element} @llvm.fabs.{one.suffix}({element} %x)",
        f"  %near = fcmp olt {element} %size, {one.number(LIMIT[element])}",
        "  br i1 %near, label %small, label %large",
        "large:",
    ]
    if element == "double":
        lines += [
            "  %found = call fastcc { double, i64 } @large_angle(double %x)",
            "  %reduced = extractvalue { double, i64 } %found, 0",
            "  %q = extractvalue { double, i64 } %found, 1",
        ]
    else:
        lines += [
            "  %wide = fpext float %x to double",
            "  %found = call fastcc { double, i64 } @large_angle(double %wide)",
            "  %rwide = extractvalue { double, i64 } %found, 0",
            "  %reduced = fptrunc double %rwide to float",
            "  %qwide = extractvalue { double, i64 } %found, 1",
            "  %q = trunc i64 %qwide to i32",
        ]
    lines += [
        "  br label %small",
        "small:",
        f"  %angle = phi {element} [ %x, %0 ], [ %reduced, %large ]",
        f"  %turns = phi i{one.bits} [ 0, %0 ], [ %q, %large ]",
        *sincos_core(one, fused, "%angle", "%turns"),
        "}",
    ]
    return "\n".join(lines)


def far_lanes_ir(lanes: Lanes) -> str:
    """IR of ``{V, V} sincosN_far(V x)``: one angle after the other."""
    kind, element = lanes.type, lanes.element
    both, one = f"{{ {kind}, {kind} }}", f"{{ {element}, {element} }}"
    lines = [f"define internal fastcc {both} @{sincos_name(lanes)}_far({kind} %x) #0 {{"]
    s = c = "poison"
    for k in range(lanes.count):
        lines += [
            f"  %x{k} = extractelement {kind} %x, i32 {k}",
            f"  %p{k} = call fastcc {one} @sincos_far({element} %x{k})",
            f"  %a{k} = extractvalue {one} %p{k}, 0",
            f"  %b{k} = extractvalue {one} %p{k}, 1",
            f"  %s{k} = insertelement {kind} {s}, {element} %a{k}, i32 {k}",
            f"  %c{k} = insertelement {kind} {c}, {element} %b{k}, i32 {k}",
        ]
        s, c = f"%s{k}", f"%c{k}"
    lines += [
        f"  %pair = insertvalue {both} poison, {kind} {s}, 0",
        f"  %both = insertvalue {both} %pair, {kind} {c}, 1",
        f"  ret {both} %both",
        "}",
    ]
    return "\n".join(lines)


def large_angle_text(name: str, function: str = "static", table: str = "static const") -> str:
    """The same in C99 and in CUDA: ``struct name name(double x)`` with the members ``r`` and ``quadrant``.

    Parameters
    ----------
    name : str
        Of the function and of its result; its table is called ``name_table``.
    function, table : str
        What stands before them.
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
