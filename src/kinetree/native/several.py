"""Several values in the place of one: formulas written once, whose operations on independent arguments take turns."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence


def _operator(operation: Callable) -> Callable:
    """The method that does an operation on each value."""
    return lambda self, *others: self.each(operation, *others)


def _reversed(operation: Callable) -> Callable:
    """The same with the other operand first."""
    return lambda self, other: self.each(lambda x, y: operation(y, x), other)


class Several:
    """Values on which each operation is done one after the other.

    Parameters
    ----------
    values : sequence of Value
        The other operand of an operation is as many values, or one number for all.
    """

    __slots__ = ("values",)

    def __init__(self, values: Sequence) -> None:
        self.values = list(values)

    def each(self, operation: Callable, *others: object) -> Several:
        """The results of an operation."""
        rows = [x.values if isinstance(x, Several) else [x] * len(self.values) for x in others]
        return Several([operation(*row) for row in zip(self.values, *rows, strict=True)])

    def __getattr__(self, name: str) -> Callable[..., Several]:
        """A method of the values."""
        return lambda *others: self.each(lambda x, *rest: getattr(x, name)(*rest), *others)

    __add__ = _operator(operator.add)
    __sub__ = _operator(operator.sub)
    __mul__ = _operator(operator.mul)
    __truediv__ = _operator(operator.truediv)
    __and__ = _operator(operator.and_)
    __or__ = _operator(operator.or_)
    __xor__ = _operator(operator.xor)
    __lshift__ = _operator(operator.lshift)
    __rshift__ = _operator(operator.rshift)
    __lt__ = _operator(operator.lt)
    __le__ = _operator(operator.le)
    __gt__ = _operator(operator.gt)
    __ge__ = _operator(operator.ge)
    __neg__ = _operator(operator.neg)
    __abs__ = _operator(abs)
    __rsub__ = _reversed(operator.sub)
    __rtruediv__ = _reversed(operator.truediv)
