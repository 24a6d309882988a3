"""Messages of MuJoCo's parser and compiler, by the rules of docs/lint.md, and spelling suggestions."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass

from kinetree.once import once

# Pattern, rule, suggested repair. The first match counts; a message without a match has the rule "mujoco".
_RULES = tuple(
    (re.compile(pattern), code, repair)
    for pattern, code, repair in (
        (r"repeated name|repeated default class", "duplicate-name", "rename one of them"),
        (r"unknown default c", "unknown-name", "define the class in <default>, before it is used"),
        (r"not found in|unknown (element|transmission target)|unrecognized name", "unknown-name", ""),
        (r"axis too small", "zero-axis", "give the direction in which it turns or slides"),
        (r"range\[?0?\]? (should be smaller|must be smaller)|range\[0\] ?<|invalid \w+ range", "limit-order",
         "the lower limit comes first; limited='true' needs a range"),
        (r"bad format in attribute|have enough data|too much data|invalid \w+ size", "bad-number",
         "numbers are decimal, with a point, and separated by spaces"),
        (r"invalid keyword", "bad-choice", ""),
        (r"required attribute missing|empty class name|missing transmission", "missing-attribute", "state it"),
        (r"unrecognized (attribute|element)", "not-in-format", "remove it"),
        (r"unique element '\w+' found", "repeated-element", "remove one of them"),
        (r"mass, inertia or density are negative", "negative-mass", "is the sign wrong?"),
        (r"size(\(| )\d\)? must be positive|fromto |must have valid meshid|vertices required", "bad-geometry",
         "sizes are half lengths in meters, above 0"),
        (r"zero quaternion", "bad-quaternion", "1 0 0 0 is no rotation"),
        (r"multiple orientation|cannot both be specified", "format", "state one of them"),
        (r"already included", "include-cycle", "a file is included once"),
        (r"rror opening file|resource '|file .* not found", "file-not-found",
         "is it beside the file, or in the folder that <compiler> names?"),
    )
)  # fmt: skip
_PLACE = re.compile(r"Element(?: '(?P<tag>[^']*)'| name '(?P<name>[^']*)', id (?P<id>-?\d+))(?:, line (?P<line>\d+))?")
WORDS = ("free", "ball", "slide", "hinge", "plane", "hfield", "sphere", "capsule", "ellipsoid", "cylinder", "box",
          "mesh")  # fmt: skip


@dataclass(frozen=True, slots=True)
class CompilerMessage:
    """An error of MuJoCo in parts.

    Parameters
    ----------
    message : str
        Without the place.
    code, repair : str
        The rule that is broken, and the suggested repair.
    tag, name : str or None
        Of the element concerned, as far as they are found.
    number : int or None
        Of the element among those of its kind, in the order of the compiled model.
    line : int or None
        In the text passed to MuJoCo; None for included files.
    rest : str
        Text after the message that is not a place.
    """

    message: str
    code: str
    repair: str
    tag: str | None = None
    name: str | None = None
    number: int | None = None
    line: int | None = None
    rest: str = ""


def parsed_message(text: str) -> CompilerMessage:
    """Parse an error message of MuJoCo.

    Examples
    --------
    >>> found = parsed_message("Error: axis too small in joint\\nElement name 'j', id 0, line 7")
    >>> found.code, found.message, found.name, found.line
    ('zero-axis', 'axis too small in joint', 'j', 7)
    """
    first, _, second = text.strip().partition("\n")
    message = re.sub(r"^((XML )?Error:\s*)+", "", first).strip()
    rule = next((rule for rule in _RULES if rule[0].search(message)), None)
    code, repair = rule[1:] if rule else ("mujoco", "")
    place = _PLACE.search(second)
    if place is None:
        return CompilerMessage(message, code, repair, rest=" ".join(second.split()))
    number, line = place["id"], int(place["line"] or 0) or None
    number = None if number is None else int(number)
    return CompilerMessage(message, code, repair, place["tag"], place["name"], number, line)


@once
def schema() -> dict[str, list[str]]:
    """The attributes of each element of MJCF, by the schema of the installed MuJoCo."""
    import mujoco

    found: dict[str, list[str]] = {"worldbody": []}  # which it calls (world)body
    for line in mujoco.mj_printSchema(False, False).splitlines():
        if begin := re.match(r" *(?:\(world\))?(\w+) \(\S\)", line):
            attributes = found.setdefault(begin[1], [])
        attributes += line[begin.end() if begin else 0 :].split()
    return found


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that differs from a word by little, if there is one; a known word is not misspelled.

    Examples
    --------
    >>> nearest("siez", schema()["geom"]), nearest("hing", WORDS), nearest("nonsense", schema())
    ('size', 'hinge', None)
    """
    known = list(known)
    found = () if word in known else difflib.get_close_matches(word[:50].strip(), known, n=1, cutoff=0.65)
    return found[0] if found else None


def likely(code: str, words: Iterable[str], tag: str, names: Iterable[str]) -> str:
    """Spelling suggestion for words that MuJoCo does not take; empty if nothing resembles them.

    Parameters
    ----------
    code : str
        The rule, as in docs/lint.md.
    words : iterable of str
        Those in quotes in MuJoCo's message.
    tag : str
        Of the element that is at fault.
    names : iterable of str
        All names and classes in the file.
    """
    words = list(words)
    if code == "unknown-name":
        # One of another kind may have that very name. Comparing with all of a very large file would take long.
        known = [name for name in names if name not in words][:2000]
    elif code in ("bad-choice", "unknown-joint-type"):
        known = WORDS
    elif code == "not-in-format":
        words, known = (words, schema().get(tag, ())) if words else ([tag], schema())
    else:
        return ""
    meant = next((found for found in (nearest(word, known) for word in words) if found), None)
    return f"did you mean '{meant}'?" if meant else ""
