"""Checks of arguments: what the caller gave, what was expected, in one form for all public functions."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Mapping
from typing import NoReturn

import numpy as np

from kinetree.errors import ArgumentError, unknown_name

LONGEST = 80
"""Characters of a value that a message shows."""


def shown(value: object) -> str:
    """A value as messages show it: its text, cut off, and its type where the text does not tell it."""
    try:
        text = repr(value)
    except Exception:  # of a user's class; its type is all there is to say then
        text = "<no text>"
    text = text.splitlines()[0] if "\n" in text else text
    text = text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."
    known = value is None or isinstance(value, (bool, int, float, complex, str, bytes, list, tuple, dict, np.ndarray))
    return text if known else f"{text} (of type {type(value).__name__})"


def refuse(what: str, value: object, expected: str) -> NoReturn:
    """Raise the error for an argument.

    Parameters
    ----------
    what : str
        Function and argument: "simulate: dt".
    value : object
        What was given.
    expected : str
        "a positive time in seconds".

    Raises
    ------
    ArgumentError
    """
    raise ArgumentError(f"{what} is {shown(value)}, expected {expected}.", argument=what, found=value)


def number(
    what: str,
    value: object,
    expected: str = "a finite number",
    *,
    least: float = -math.inf,
    above: float = -math.inf,
    most: float = math.inf,
    finite: bool = True,
) -> float:
    """A real number within bounds, from anything that is one: no text, no truth value, no array with axes.

    Raises
    ------
    ArgumentError

    Examples
    --------
    >>> number("dt", 1)
    1.0
    """
    if isinstance(value, (float, int)) and not isinstance(value, bool):
        try:
            x = float(value)
        except OverflowError:
            x = math.inf
    else:
        x = np.asarray(value) if isinstance(value, (np.ndarray, np.generic)) else None
        if x is None or x.ndim or x.dtype.kind not in "fiu":
            refuse(what, value, expected)
        x = float(x)
    if not least <= x <= most or not (x > above or above == -math.inf) or (finite and not math.isfinite(x)):
        refuse(what, value, expected)
    return x


def whole(
    what: str, value: object, expected: str = "a whole number", *, least: float = -math.inf, most: float = 2.0**62
) -> int:
    """A whole number within bounds; no truth value.

    Raises
    ------
    ArgumentError

    Examples
    --------
    >>> whole("steps", np.int64(3), least=1)
    3
    """
    if isinstance(value, (bool, np.bool_)):
        refuse(what, value, expected)
    try:
        x = operator.index(value)
    except TypeError:
        refuse(what, value, expected)
    if not least <= x <= most:
        refuse(what, value, expected)
    return x


def array(
    what: str, value: object, expected: str = "an array of real numbers", *, shape: tuple | None = None
) -> np.ndarray:
    """An array of real numbers as doubles.

    Parameters
    ----------
    what : str
        Function and argument.
    value : array_like
    expected : str
    shape : tuple of int or None, optional
        What the shape must be; None stands for any length, a leading ... for any further axes.

    Raises
    ------
    ArgumentError

    Examples
    --------
    >>> array("r", [1, 2, 3], shape=(3,))
    array([1., 2., 3.])
    """
    try:
        x = np.asarray(value)
    except Exception:
        refuse(what, value, expected)
    if x.dtype.kind not in "fiu":
        refuse(what, value, expected)
    if shape is not None:
        wanted, found = list(shape), list(x.shape)
        if wanted[:1] == [...]:
            wanted = wanted[1:]
            found = found[len(found) - len(wanted) :] if len(found) >= len(wanted) else None
        fits = found is not None and len(found) == len(wanted)
        if not fits or any(w not in (None, n) for w, n in zip(wanted, found, strict=True)):
            refuse(what, value, f"{expected} of shape {_shape_text(shape)}, not {x.shape}")
    return x.astype(float)


def _shape_text(shape: tuple) -> str:
    parts = ["..." if n is ... else "n" if n is None else str(n) for n in shape]
    return f"({parts[0]},)" if len(parts) == 1 else f"({', '.join(parts)})"


def choice(what: str, value: object, known: Iterable[str], where: str = "") -> str:
    """One of the known words.

    Raises
    ------
    UnknownNameError
        With the closest word, if a text was given.
    ArgumentError
    """
    known = list(known)
    if isinstance(value, str) and value in known:
        return value
    if isinstance(value, str) and where:
        raise unknown_name(what, value, known, where)
    refuse(what, value, f"one of {', '.join(map(repr, known))}")


def instance(what: str, value: object, kind: type | tuple[type, ...], expected: str):
    """An object of a type.

    Raises
    ------
    ArgumentError
    """
    if not isinstance(value, kind):
        refuse(what, value, expected)
    return value


def text(what: str, value: object, expected: str = "a text") -> str:
    """A text.

    Raises
    ------
    ArgumentError
    """
    return instance(what, value, str, expected)


def names(what: str, value: object, expected: str = "a name or a sequence of names") -> tuple[str, ...]:
    """Names: one alone or several.

    Raises
    ------
    ArgumentError

    Examples
    --------
    >>> names("joints", "hip"), names("joints", ["hip", "knee"])
    (('hip',), ('hip', 'knee'))
    """
    if isinstance(value, str):
        return (value,)
    if isinstance(value, (bytes, Mapping)) or not hasattr(value, "__iter__"):
        refuse(what, value, expected)
    found = tuple(value)
    if not all(isinstance(x, str) for x in found):
        refuse(what, value, expected)
    return found
