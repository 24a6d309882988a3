"""Checks of the fields of force elements when they are made: numbers as floats, points and axes as tuples of floats."""

from __future__ import annotations

import math

import numpy as np

from kinetree.arguments import a_name, array, number, refuse
from kinetree.errors import ModelError


def set_numbers(element, *fields: str, least: float = -math.inf) -> None:
    """Check fields that hold one finite number, not below ``least``, and store floats.

    Raises
    ------
    ArgumentError
    """
    expected = "a finite number" if least < 0.0 else "a finite number that is not negative"
    for what in fields:
        value = number(_label(element, what), getattr(element, what), expected, least=least)
        object.__setattr__(element, what, value)


def set_vectors(element, *fields: str) -> None:
    """Check fields that hold three finite numbers, and store tuples of floats.

    Raises
    ------
    ArgumentError
    """
    for what in fields:
        _set_vector(element, what, "three finite numbers")


def set_numbers_by_axis(element, *fields: str) -> None:
    """Check fields that hold one number for all axes or one for each, not negative, and store floats.

    Raises
    ------
    ArgumentError
    """
    expected = "a finite number that is not negative, or three of them, one for each axis"
    for what in fields:
        value = getattr(element, what)
        if isinstance(value, (list, tuple)) or isinstance(value, np.ndarray) and value.ndim:
            _set_vector(element, what, expected, least=0.0)
        else:
            value = number(_label(element, what), value, expected, least=0.0)
            object.__setattr__(element, what, value)


def set_coefficients(element, *fields: str, most: int) -> None:
    """Check fields that hold a few finite numbers, and store a tuple of floats.

    Raises
    ------
    ArgumentError
    """
    for what in fields:
        found = array(_label(element, what), getattr(element, what), "finite numbers", shape=(None,))
        if len(found) > most or not np.isfinite(found).all():
            refuse(_label(element, what), getattr(element, what), f"at most {most} finite numbers")
        object.__setattr__(element, what, tuple(found.tolist()))


def _set_vector(element, what: str, expected: str, least: float = -math.inf) -> None:
    value = getattr(element, what)
    found = array(_label(element, what), value, "finite numbers", shape=(3,))
    if not (np.isfinite(found).all() and (found >= least).all()):
        refuse(_label(element, what), value, expected)
    object.__setattr__(element, what, tuple(found.tolist()))


def check_ends(element) -> None:
    """Refuse a line between ``start`` and ``end`` that is one point of one frame, whatever the position.

    Raises
    ------
    ModelError
    """
    named = isinstance(element.start, str) and isinstance(element.end, str)  # else models refuse it
    if named and element.start == element.end and element.start_at == element.end_at:
        raise ModelError(
            f"{type(element).__name__} {element.name!r}: its line collapses: both ends are the point "
            f"{element.start_at} of frame {element.start!r}; name two frames, or two points with start_at and end_at."
        )


def _label(element, what: str) -> str:
    """Class, name and field: "PointSpring 'rope': stiffness"."""
    a_name(f"{type(element).__name__}: name", element.name)
    return f"{type(element).__name__} {element.name!r}: {what}"


def along_axes(values, vector, R=None):
    """The sum of ``value x^2`` over the coordinates of a vector in the axes R, the values one for all or one for each.

    R is not used where one value is for all axes.
    """
    if not isinstance(values, tuple):
        return values * vector.dot(vector)
    vector = vector if R is None else R.T @ vector
    return sum((value * x * x for value, x in zip(values, vector, strict=True)), start=0.0)
