"""C identifiers and comments from the names of robots, joints and arrays, which may be any text."""

from __future__ import annotations

import hashlib
import re
import unicodedata

LONGEST = 80
"""Characters of an identifier; longer names are cut, and a part of their hash keeps them apart."""

# Words that no identifier may be: keywords of C and C++, names of <math.h> and of generated code, `main`.
RESERVED = frozenset(
    """
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class compl
    concept const consteval constexpr constinit const_cast continue co_await co_return co_yield decltype default delete
    do double dynamic_cast else enum explicit export extern false float for friend goto if inline int long mutable
    namespace new noexcept not not_eq nullptr operator or or_eq private protected public register reinterpret_cast
    requires restrict return short signed sizeof static static_assert static_cast struct switch template this
    thread_local throw true try typedef typeid typename typeof union unsigned using virtual void volatile wchar_t while
    xor xor_eq main std errno NULL NAN INFINITY HUGE_VAL
    sqrt sqrtf sin sinf cos cosf fabs fabsf exp expf log logf tanh tanhf atan2 atan2f fma fmaf
    w k status numbers params sum n call calls same sink start bad failures compare largest_error STATES TOLERANCE
    """.split()
)
_TEMPORARY = re.compile(r"[tsc]\d+m?|sum\d+|KT_\w*")


def identifier(text: str) -> str:
    """A C identifier that resembles a text: ASCII letters, digits and single underscores.

    Parameters
    ----------
    text : str
        Any text.

    Examples
    --------
    >>> identifier("left hip/roll"), identifier("2-link Gelenk ä"), identifier("double")
    ('left_hip_roll', 'n2_link_Gelenk_a', 'double_')
    """
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    word = re.sub(r"[^A-Za-z0-9]+", "_", plain).strip("_")
    if not word:  # a name in another script
        word = "x" + hashlib.sha256(text.encode()).hexdigest()[:8]
    if word[0].isdigit():
        word = "n" + word
    if len(word) > LONGEST:
        word = f"{word[: LONGEST - 9]}_{hashlib.sha256(text.encode()).hexdigest()[:8]}"
    return word if is_free(word) else word + "_"


def is_free(name: str) -> bool:
    """Whether a name is a C identifier that neither the languages nor generated code use."""
    word = re.fullmatch(r"[A-Za-z]\w*", name, re.ASCII)
    return word is not None and name not in RESERVED and not _TEMPORARY.fullmatch(name)


def identifiers(texts: list[str] | tuple[str, ...], taken: frozenset[str] | set[str] = frozenset()) -> list[str]:
    """Different identifiers for the texts, in their order; those that would clash get numbers.

    Parameters
    ----------
    texts : sequence of str
    taken : set of str
        Identifiers that none may be. They, and the results, differ in more than upper and lower case.

    Examples
    --------
    >>> identifiers(["a-b", "a b", "A_B", "c"])
    ['a_b', 'a_b_2', 'A_B_3', 'c']
    """
    used, result = {word.lower() for word in taken}, []
    for text in texts:
        word, number = identifier(text), 1
        unique = word
        while unique.lower() in used:
            number += 1
            unique = f"{word}_{number}"
        used.add(unique.lower())
        result.append(unique)
    return result


def comment(text: str) -> str:
    """A text that may stand in a C comment: one line of ASCII that neither ends the comment nor warns.

    Examples
    --------
    >>> comment("a*/b\\nä")
    'a* /b \\\\xe4'
    """
    line = " ".join(text.split()).encode("ascii", "backslashreplace").decode()
    line = "".join(c if c.isprintable() else "?" for c in line)
    for bad, good in (("*/", "* /"), ("/*", "/ *"), ("??", "? ?")):
        while bad in line:
            line = line.replace(bad, good)
    return line
