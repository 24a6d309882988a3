"""One function for all members of a level: at once where the scalars are numbers, one by one where they are traced."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

_NUMBERS = (float, int, np.ndarray, np.generic)


def each(function: Callable, items: Sequence[tuple]) -> list:
    """``[function(*item) for item in items]``; members of one form go through the function together.

    Parameters
    ----------
    function : callable
        Over scalars, without branches on their values; its results are nested lists and tuples of scalars.
    items : sequence of tuple
        Arguments: nested lists and tuples of scalars.

    Notes
    -----
    Every scalar of the members of one form becomes one array with an axis for the members, so the number of Python
    operations is that of one member.

    Examples
    --------
    >>> each(lambda x, y: [x[0] * y, x[1] + y], [([1.0, 2.0], 3.0), ([4.0, 5.0], 6.0)])[1]
    [24.0, 11.0]
    """
    forms: dict[tuple, list] = {}
    for k, item in enumerate(items):
        scalars = []
        forms.setdefault(_form(item, scalars), []).append((k, scalars))
    results = [None] * len(items)
    for form, members in forms.items():
        if len(members) == 1 or not all(isinstance(x, _NUMBERS) for _, scalars in members for x in scalars):
            for k, _ in members:
                results[k] = function(*items[k])
            continue
        columns = [np.stack(np.broadcast_arrays(*column)) for column in zip(*(s for _, s in members), strict=True)]
        rank = max((x.ndim for x in columns), default=1)
        result = function(*_rebuilt(form, iter([_aligned(x, rank) for x in columns])))
        scalars = []
        form = _form(result, scalars)
        for n, (k, _) in enumerate(members):
            results[k] = _rebuilt(form, iter([_member(x, n) for x in scalars]))
    return results


def _aligned(x, rank):
    """The axis of members first, then those of a batch, which numbers that are the same for all states lack."""
    return x.reshape(x.shape[:1] + (1,) * (rank - x.ndim) + x.shape[1:])


def _member(x, n):
    """The part of member n; a number alone is a Python float, unless it has another precision."""
    if not isinstance(x, np.ndarray) or not x.ndim:
        return x
    x = x[n]
    return float(x) if isinstance(x, np.float64) else x


def _form(x, scalars: list) -> tuple | None:
    """The structure of a value of scalars, which are appended to the list; None is a scalar."""
    if isinstance(x, (list, tuple)):
        return (x.__class__, *(_form(entry, scalars) for entry in x))
    scalars.append(x)
    return None


def _rebuilt(form, scalars):
    if form is None:
        return next(scalars)
    return form[0](_rebuilt(part, scalars) for part in form[1:])
