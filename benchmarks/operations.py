"""Operation counts beside the published ones: ``python -m benchmarks.operations`` rewrites docs/operations.md's tables.

Nothing is timed: the counts are those of the compiled programs, the same on every machine.
"""

from __future__ import annotations

import pathlib
from collections.abc import Callable
from typing import NamedTuple

import kinetree as kt
from kinetree.algorithms import spec
from kinetree.algorithms.regularity import inertia_scales
from kinetree.trace.operations import Operations

PAGE = pathlib.Path(__file__).parent.parent / "docs" / "operations.md"
BEGIN, END = "<!-- {}:begin -->", "<!-- {}:end -->"
ALGORITHMS = ("rnea", "crba", "aba")
SIZES = range(2, 13)
DEPTHS = range(2, 6)
ROBOTS = ("arm7", "quadruped", "humanoid")
GENERAL_GRAVITY = (1.0, 2.0, -9.0)


class Row(NamedTuple):
    """A row of Featherstone's table 10.1: multiplications (with divisions) and additions for GU(n)."""

    source: str
    multiplications: Callable[[int], float]
    additions: Callable[[int], float]

    def total(self, n: int) -> float:
        return self.multiplications(n) + self.additions(n)


PUBLISHED = {
    "rnea": (
        Row("Balafoutis and Patel (1991), algorithm 5.7", lambda n: 93 * n - 108, lambda n: 81 * n - 100),
        Row("Balafoutis et al. (1988), algorithm 3", lambda n: 93 * n - 69, lambda n: 81 * n - 66),
        Row("Featherstone (1987)", lambda n: 130 * n - 68, lambda n: 101 * n - 56),
        Row("Hollerbach (1980)", lambda n: 150 * n - 48, lambda n: 131 * n - 48),
    ),
    "crba": (
        Row("Featherstone (2005)", lambda n: 10 * n * n + 22 * n - 32, lambda n: 6 * n * n + 37 * n - 43),
        Row("Featherstone (1987)", lambda n: 10 * n * n + 31 * n - 41, lambda n: 6 * n * n + 40 * n - 46),
        Row("Lilly and Orin (1991), method IV", lambda n: 10 * n * n + 41 * n - 51, lambda n: 6 * n * n + 52 * n - 58),
        Row(
            "Balafoutis and Patel (1991), algorithm 6.2",
            lambda n: 11 * n * n + 11 * n - 42,
            lambda n: (11 * n * n + 65 * n) / 2 - 54,
        ),
        Row("Walker and Orin (1982), method 3", lambda n: 12 * n * n + 56 * n - 27, lambda n: 7 * n * n + 67 * n - 53),
    ),
    "aba": (
        Row("McMillan et al. (1995)", lambda n: 224 * n - 259, lambda n: 205 * n - 248),
        Row("Brandl et al. (1988)", lambda n: 250 * n - 222, lambda n: 220 * n - 198),
        Row("Featherstone (1987)", lambda n: 300 * n - 267, lambda n: 279 * n - 259),
    ),
}


def best(algorithm: str, n: int) -> Row:
    """The row with the fewest operations for GU(n)."""
    return min(PUBLISHED[algorithm], key=lambda row: row.total(n))


def published_tree(algorithm: str, depth: int) -> float:
    """Multiplications and additions that Featherstone's section 10.3.2 gives a complete binary tree of this depth.

    For `rnea` and `aba` these are the best rows for chains, which no tree can reach by the same means: only one child
    of a body can have a frame of Denavit and Hartenberg.
    """
    if algorithm != "crba":
        return min(row.total(2**depth - 1) for row in PUBLISHED[algorithm])
    inertias, vectors = 2 ** (depth - 1) - 1, (depth - 2) * 2 ** (depth - 1) + 1
    return inertias * (32 + 43 + 47 + 58) + vectors * (20 + 12 + 24 + 18)


def general_chain(n: int):
    """GU(n) with gravity along no axis: all that table 10.1 takes as general, and gravity besides."""
    return kt.models.chain_gu(n).replace(gravity=GENERAL_GRAVITY)


def count(model, algorithm: str) -> Operations:
    """Operations of one evaluation."""
    return kt.compile(model, algorithm).operations


class Counted:
    """A number that counts the operations done with it, to see what a listing asks for before it is compiled."""

    __slots__ = ("counts",)
    __array_ufunc__ = None

    def __init__(self, counts: dict[str, int]) -> None:
        self.counts = counts

    def _multiplied(self, other):
        self.counts["multiplications"] += 1
        return self

    def _added(self, other):
        self.counts["additions"] += 1
        return self

    def __neg__(self):
        return self

    def sincos(self):
        return self, self

    def __le__(self, other):
        return False

    sqrt = __neg__
    __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _multiplied
    __add__ = __radd__ = __sub__ = __rsub__ = _added


def as_written(model, algorithm: str) -> int:
    """Multiplications and additions of the listing run as it stands, on numbers, for the frames of the file.

    Without what its check compares pivots with, which does not depend on the state.
    """
    declared = spec.ALGORITHMS[algorithm]

    def operations(function, *names):
        counts = {"multiplications": 0, "additions": 0}
        x = Counted(counts)
        numbers = [x] * len(model.number_pattern())
        function(model.with_numbers(numbers), *([x] * declared.shape(name, model)[0] for name in names))
        return sum(counts.values())

    check = operations(inertia_scales) if algorithm == "aba" else 0
    return operations(declared.function, *declared.inputs) - check


def chains() -> str:
    """Table of GU(n)."""
    lines = [
        "| n | " + " | ".join(f"`{name}` | published | ratio" for name in ALGORITHMS) + " |",
        "| ---: |" + " ---: |" * (3 * len(ALGORITHMS)),
    ]
    for n in SIZES:
        cells = [str(n)]
        for name in ALGORITHMS:
            ours, row = count(general_chain(n), name), best(name, n)
            cells += [
                f"{ours.multiplications + ours.divisions}m + {ours.additions}a",
                f"{row.multiplications(n):.0f}m + {row.additions(n):.0f}a",
                f"{ours.total / row.total(n):.2f}",
            ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def trees() -> str:
    """Table of complete binary trees."""
    lines = [
        "| bodies | " + " | ".join(f"`{name}` | published | ratio" for name in ALGORITHMS) + " |",
        "| ---: |" + " ---: |" * (3 * len(ALGORITHMS)),
    ]
    for depth in DEPTHS:
        model, cells = kt.models.binary_tree(depth), [str(2**depth - 1)]
        for name in ALGORITHMS:
            ours, theirs = count(model, name).total, published_tree(name, depth)
            cells += [str(ours), f"{theirs:.0f}", f"{ours / theirs:.2f}"]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def robots() -> str:
    """Table of the robots that ship with kinetree."""
    lines = [
        "| robot (degrees of freedom) | algorithm | as written | compiled | ratio | instructions |",
        "| --- | --- | ---: | ---: | ---: | ---: |",
    ]
    for robot in ROBOTS:
        model = kt.load(robot)
        for name in ALGORITHMS:
            ours, listing = count(model, name), as_written(model, name)
            lines.append(
                f"| {robot} ({model.nv}) | `{name}` | {listing} | {ours.total} | {listing / ours.total:.1f} | "
                f"{ours.instructions} |"
            )
    return "\n".join(lines)


def rows() -> str:
    """The published formulas."""
    lines = ["| algorithm | at n = 6 | source |", "| --- | ---: | --- |"]
    for name, published in PUBLISHED.items():
        for row in published:
            cost = f"{row.multiplications(6):.0f}m + {row.additions(6):.0f}a"
            lines.append(f"| `{name}` | {cost} | {row.source} |")
    return "\n".join(lines)


def rewritten(page: str) -> str:
    """The page with its tables made anew."""
    for name, table in (("chains", chains), ("trees", trees), ("robots", robots), ("rows", rows)):
        begin, end = BEGIN.format(name), END.format(name)
        before, _, rest = page.partition(begin)
        page = f"{before}{begin}\n\n{table()}\n\n{end}{rest.partition(end)[2]}"
    return page


if __name__ == "__main__":
    PAGE.write_text(rewritten(PAGE.read_text()))
