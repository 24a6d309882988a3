"""Numbers as files write them: finite decimal numbers, and infinity only where it means "no limit"."""

from __future__ import annotations

import math
import re

LARGEST = 1e50  # of a number: products of three of them are still floats
KNOWN = "a value must be known; remove it if the format has a default for it"

# float() would also take "nan", "1_000" and digits of other scripts.
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_INFINITE = re.compile(r"[+-]?inf(inity)?", re.ASCII | re.IGNORECASE)


class BadNumber(ValueError):
    """A word that is no number for a model.

    Parameters
    ----------
    fault : str
        The fault, to follow the word: "is not a finite number".
    repair : str
        Suggested repair; may be empty.
    """

    def __init__(self, fault: str, repair: str) -> None:
        super().__init__(fault)
        self.fault = fault
        self.repair = repair


def parse_number(word: str, infinite: bool = False) -> float:
    """One word as a number.

    Parameters
    ----------
    word : str
        Without white space.
    infinite : bool
        The number is a limit: it may be infinite, or as large as floats can be, as some programs write it.

    Raises
    ------
    BadNumber
        If it is none, not finite, vanishes as a float, or is so large that products of it overflow.

    Examples
    --------
    >>> parse_number("-1.5e3")
    -1500.0
    >>> parse_number("1,5")
    Traceback (most recent call last):
        ...
    kinetree.io.xml.numbers.BadNumber: is not a finite number
    """
    if infinite and _INFINITE.fullmatch(word):
        return float(word)
    number = float(word) if _NUMBER.fullmatch(word) else math.nan
    if not math.isfinite(number):
        raise BadNumber("is not a finite number", _repair(word, number))
    if number == 0.0 and re.match(r"[+-]?[\d.]*[1-9]", word):
        raise BadNumber("is too small for a float", "")
    if abs(number) > LARGEST and not infinite:
        raise BadNumber(f"is too large: beyond {LARGEST:g}, products overflow", "")
    return number


def _repair(word: str, number: float) -> str:
    if math.isinf(number):
        return "the largest float is 1.8e308"
    if "," in word:
        return "the decimal separator is a point"
    if "_" in word:
        return "write the digits without underscores"
    if re.match(r"[+-]?0[xX]", word):
        return "write it as a decimal number"
    if not word.isascii():
        return "write it with the digits 0 to 9"
    return KNOWN if "nan" in word.lower() else ""
