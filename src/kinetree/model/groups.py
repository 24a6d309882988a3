"""Sets of connected bodies, as joints are added one by one."""

from __future__ import annotations

from collections.abc import Iterable


class Groups:
    """Sets of connected names: at first each is alone.

    Parameters
    ----------
    names : iterable of str

    Attributes
    ----------
    count : int
        How many groups there are.

    Examples
    --------
    >>> groups = Groups(["world", "crank", "rod"])
    >>> groups.join("world", "crank"), groups.join("crank", "world"), groups.count
    (True, False, 2)
    """

    __slots__ = ("_above", "count")

    def __init__(self, names: Iterable[str]) -> None:
        self._above = {name: name for name in names}
        self.count = len(self._above)

    def top(self, name: str) -> str:
        """The representative of its group."""
        while self._above[name] != name:
            self._above[name] = self._above[self._above[name]]
            name = self._above[name]
        return name

    def same(self, a: str, b: str) -> bool:
        """Whether two names are in one group."""
        return self.top(a) == self.top(b)

    def join(self, a: str, b: str) -> bool:
        """Make two groups one; False if they are one already."""
        a, b = self.top(a), self.top(b)
        if a == b:
            return False
        self._above[b] = a
        self.count -= 1
        return True
