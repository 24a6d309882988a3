"""Operation counts of one evaluation of straight-line code, by kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

KINDS = (
    *("mul", "add", "sub", "fma", "fms", "fnma", "div", "neg", "sqrt", "sincos"),
    *("abs", "exp", "log", "tanh", "arctan2", "lt", "le", "eq", "and", "or", "not", "where"),
)
"""In the order in which they are printed; the operations of `program.py`, sine and cosine of one angle as one."""

FUSED = ("fma", "fms", "fnma")


@dataclass(frozen=True, slots=True)
class Operations:
    """Operations of one evaluation, by kind.

    Parameters
    ----------
    counts : tuple of (str, int)
        Kind and number, of the kinds that occur. A kind is an operation of the program: ``mul``, ``add``, ``sub``,
        ``div``, ``neg``, ``sqrt`` and so on; ``fma`` (a b + c), ``fms`` (a b - c), ``fnma`` (c - a b) are one
        instruction each; ``sincos`` counts angles of which the sine, the cosine or both are taken.

    Notes
    -----
    ``operations["fma"]`` is the number of a kind, 0 if it does not occur; ``dict(operations)`` has all that do. The
    attributes count as the literature does, where a fused operation is a multiplication and an addition:
    `multiplications`, `additions`, `divisions` and their sum `total`, the measure of Featherstone's table 10.1. The
    processor executes `instructions`. Values of the model's numbers alone are computed once per model
    and are not in these counts.

    Examples
    --------
    >>> operations = Operations.of([("mul", 0, 1), ("fma", 0, 1, 2), ("sin", 0), ("cos", 0)])
    >>> operations.total, operations.instructions, operations["sincos"], operations["div"]
    (3, 3, 1, 0)
    >>> print(operations)
    total 3: multiplications 2, additions 1, divisions 0
    instructions 3: mul 1, fma 1, sincos 1
    """

    counts: tuple[tuple[str, int], ...] = ()

    @classmethod
    def of(cls, code: Iterable[tuple]) -> Operations:
        """Count the operations of straight-line code; leaves cost nothing."""
        found: Counter = Counter()
        angles = set()
        for op, *args in code:
            if op == "sin" or op == "cos":
                angles.add(args[0])
            else:
                found[op] += 1
        found["sincos"] = len(angles)
        return cls(tuple((kind, found[kind]) for kind in KINDS if found[kind]))

    def __getitem__(self, kind: str) -> int:
        if kind not in KINDS:
            raise KeyError(kind)
        return dict(self.counts).get(kind, 0)

    def keys(self) -> list[str]:
        """The kinds that occur."""
        return [kind for kind, _ in self.counts]

    def _sum(self, *kinds: str) -> int:
        return sum(n for kind, n in self.counts if kind in kinds)

    @property
    def multiplications(self) -> int:
        """Products, also those inside fused operations."""
        return self._sum("mul", *FUSED)

    @property
    def additions(self) -> int:
        """Sums and differences, also those inside fused operations."""
        return self._sum("add", "sub", *FUSED)

    @property
    def divisions(self) -> int:
        """Divisions."""
        return self["div"]

    @property
    def other(self) -> int:
        """Comparisons, logic, selections and the remaining functions."""
        return self._sum(*KINDS[KINDS.index("abs") :])

    @property
    def total(self) -> int:
        """Multiplications, divisions and additions: the count of the literature."""
        return self.multiplications + self.divisions + self.additions

    @property
    def instructions(self) -> int:
        """Operations of any kind, a fused one as one: the length of the code."""
        return sum(n for _, n in self.counts)

    def __str__(self) -> str:
        named = ("multiplications", "additions", "divisions")
        return (
            f"total {self.total}: {', '.join(f'{name} {getattr(self, name)}' for name in named)}\n"
            f"instructions {self.instructions}: {', '.join(f'{kind} {n}' for kind, n in self.counts) or 'none'}"
        )
