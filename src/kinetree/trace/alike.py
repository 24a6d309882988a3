"""Values that are used alike, though they are made differently: the lengths of muscles, whose curves are the same.

Two values are used alike if the operations that take them are the same, those that take these results, and so on for
some steps: colors of values, refined from the results towards the inputs. A group of values used alike *begins* equal
parts where its members are made of different things; otherwise it is in the midst of such parts.

Source: color refinement of graphs (B. Weisfeiler and A. Leman, "The reduction of a graph to canonical form and the
algebra which appears therein", 1968), here along the users of values only.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

import numpy as np

_STRIDE, _MIX = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9)


def uses(code: Sequence[tuple], live: Sequence[int], results: Collection[int], ways, steps: int) -> np.ndarray:
    """The color of every value after some steps: equal numbers, equal uses.

    Parameters
    ----------
    code : sequence of tuple
        Operations of the program.
    live : sequence of int
        The values that take part.
    results : collection of int
        Those that leave the program.
    ways : callable
        ``ways(operation, k)`` is the way in which an operation takes its operand k: hashable.
    steps : int
    """
    numbers: dict[object, int] = {}
    of_live = [(u, k, a) for u in live for k, a in enumerate(code[u][1:])]
    kinds = [numbers.setdefault(ways(code[u], k), len(numbers)) for u, k, _ in of_live]
    users, _, taken = np.array(of_live, np.intp).reshape(-1, 3).T
    own = np.zeros(len(code), np.uint64)
    own[list(results)] = 1
    way, color = np.array(kinds, np.uint64) * _STRIDE, own
    for _ in range(steps):
        total = own.copy()
        np.add.at(total, taken, _mixed(color[users] ^ way))
        color = _mixed(total)
    return color


def _mixed(x: np.ndarray) -> np.ndarray:
    """Numbers with every bit of which all bits depend."""
    x = (x + _STRIDE) * _MIX
    return (x ^ (x >> np.uint64(29))) * _STRIDE


def groups(color: np.ndarray, values: Sequence[int]) -> dict[int, list[list[int]]]:
    """Groups of values of one color, by their size."""
    by_color: dict[int, list[int]] = defaultdict(list)
    for v in values:
        by_color[int(color[v])].append(v)
    found: dict[int, list[list[int]]] = defaultdict(list)
    for members in by_color.values():
        found[len(members)].append(members)
    return found


def beginnings(members: Sequence[Sequence[int]], operands: Mapping[int, Sequence], shape: Sequence[int]) -> dict:
    """The values of groups that begin equal parts, with the number of their group.

    Parameters
    ----------
    members : sequence of sequence of int
        The groups.
    operands : mapping of int to sequence
        What each of their values takes, those that commute in any order.
    shape : sequence of int
        Numbers that are the same for values made alike.
    """
    of = {v: group for group, values in enumerate(members) for v in values}

    def made(v: int) -> tuple:
        return tuple(sorted([(True, of[a]) if a in of else (False, shape[a]) for a in operands[v]]))

    return {v: k for k, values in enumerate(members) if len({made(v) for v in values}) > 1 for v in values}
