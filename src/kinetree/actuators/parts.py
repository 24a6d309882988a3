"""Frozen data with numbers that may be inputs of compiled code."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy


class Numbered:
    """Base of dataclasses that name their numbers.

    Attributes
    ----------
    measures : tuple of str
        Fields that hold numbers or tuples of numbers; None where there is none.
    """

    __slots__ = ()

    measures: tuple[str, ...] = ()

    def numbers(self) -> dict[str, object]:
        """The numbers by the names of their fields; entries of tuples as "gear.0", "gear.1"."""
        found = {}
        for what in self.measures:
            value = getattr(self, what)
            if isinstance(value, tuple):
                found |= {f"{what}.{k}": x for k, x in enumerate(value)}
            elif value is not None:
                found[what] = value
        return found

    def with_numbers(self, values: Iterator):
        """The same with numbers from an iterator, of any scalar type, in the order of ``numbers()``."""
        made = copy(self)
        for what in self.measures:
            old = getattr(self, what)
            if old is not None:
                new = tuple(next(values) for _ in old) if isinstance(old, tuple) else next(values)
                object.__setattr__(made, what, new)
        return made

    def structure(self) -> tuple:
        """All else, hashable."""
        fields = type(self).__dataclass_fields__
        return type(self).__qualname__, tuple(repr(getattr(self, x)) for x in fields if x not in self.measures), tuple(
            self.numbers()
        )
