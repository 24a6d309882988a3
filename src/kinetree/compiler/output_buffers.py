"""Arrays that a caller gives for results (``out=``): what is wrong with them, and which the machine code may write."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinetree.errors import ShapeError


def checked_outs(what: str, names: Sequence[str], given: Sequence, shapes: Sequence[tuple], dtype) -> list[np.ndarray]:
    """The arrays, if they can hold the results.

    Parameters
    ----------
    what : str
        The function, for errors.
    names, given, shapes : sequences
        Of the results: what they are called, the arrays for them and the shapes they have.
    dtype : numpy.dtype
        Their type.

    Raises
    ------
    ShapeError
        One is no writable array of its shape and type, there are too few or too many, or two share memory.
    """
    if len(given) != len(shapes):
        raise ShapeError(f"{what}: out needs a tuple of {len(shapes)} arrays ({', '.join(names)}).")
    for name, x, shape in zip(names, given, shapes, strict=True):
        if not isinstance(x, np.ndarray) or x.shape != shape or x.dtype != dtype or not x.flags.writeable:
            found = type(x).__name__
            if isinstance(x, np.ndarray):
                found = f"shape {x.shape}, {x.dtype}{'' if x.flags.writeable else ', read-only'}"
            raise ShapeError(
                f"{what}: out for {name} must be a writable array of shape {shape} and type {dtype}, found {found}.",
                expected=shape,
            )
    for k, x in enumerate(given):
        for other, y in zip(names, given[:k], strict=False):
            if np.may_share_memory(x, y) and np.shares_memory(x, y):
                raise ShapeError(f"{what}: out for {names[k]} and for {other} share memory; give each its own.")
    return list(given)


def writable_apart(result: np.ndarray, inputs) -> np.ndarray:
    """The array that machine code may write: the result itself unless it is strided or overlaps an input."""
    if result.flags.carray and not any(np.may_share_memory(result, x) for x in inputs):
        return result
    return np.empty(result.shape, result.dtype)
