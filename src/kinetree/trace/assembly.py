"""Finished code from a simplified graph: the prologue of numbers split off, products fused into sums, ordered."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from kinetree.trace.graph import BOOLEAN, Graph, Node
from kinetree.trace.schedule import schedule
from kinetree.trace.simplify import LEAVES, live, simplify

Code = dict[int, Node]
"""Nodes by number; arguments are numbers of nodes of the same dict."""


@dataclass(frozen=True, slots=True)
class Assembled:
    """A lowered trace: the code, the places of the roots, the prologue's code and the params among its values.

    Parameters
    ----------
    code, prologue : sequence of tuple
    roots, params : sequence of int
        Value numbers in the code and in the prologue.
    cuts : sequence of int
        Where the code of a large trace was cut, see `Program`.
    guards : sequence of tuple
        As those of a `Program`.
    """

    code: Sequence[Node]
    prologue: Sequence[Node]
    roots: Sequence[int]
    params: Sequence[int]
    cuts: Sequence[int] = ()
    guards: Sequence[tuple] = ()


def assemble_whole(graph: Graph, roots: Sequence[int]) -> Assembled:
    """The code of a trace as one piece."""
    graph, roots = simplify(graph, roots)
    code, fixed, frontier = split(graph, roots)
    finished, values = assemble(code, roots)
    fixed = {k: ("input", 0, node[1]) if node[0] == "param" else node for k, node in fixed.items()}
    prologue, params = assemble(fixed, frontier)
    return Assembled(finished, prologue, values, params)


def split(graph: Graph, roots: Sequence[int]) -> tuple[Code, Code, list[int]]:
    """Split into the code for every state, the code for every model, and the nodes that pass from this to that.

    A pure float that the state's code or an output needs becomes ``("param", j)``, unless it is a constant. A pure
    boolean is computed per state, from pure floats: params are floats.
    """
    nodes, order = graph.nodes, live(graph, roots)
    pure, numbered = bytearray(len(nodes)), bytearray(len(nodes))  # numbered: it depends on the model's numbers
    for k in order:
        node = nodes[k]
        op = node[0]
        if op in LEAVES:
            pure[k] = op != "input"
            numbered[k] = op == "param"
        elif len(node) == 3:
            _, a, b = node
            pure[k] = pure[a] and pure[b]
            numbered[k] = numbered[a] or numbered[b]
        else:
            pure[k] = all([pure[a] for a in node[1:]])
            numbered[k] = any([numbered[a] for a in node[1:]])
    needed = bytearray(len(nodes))
    for k in roots:
        needed[k] = True
    code: Code = {}
    frontier = []
    for k in reversed(order):
        if not needed[k]:
            continue
        node = nodes[k]
        op = node[0]
        if pure[k] and numbered[k] and op not in BOOLEAN:
            frontier.append(k)
            continue
        code[k] = node
        if op not in LEAVES:
            for a in node[1:]:
                needed[a] = True
    frontier.reverse()
    code.update((k, ("param", j)) for j, k in enumerate(frontier))
    return code, {k: nodes[k] for k in live(graph, frontier)}, frontier


def stretches(values: Sequence[int], marks: Iterable[int], longest: int) -> list[Sequence[int]]:
    """Ascending values, cut at marks; between them at equal distances where it is longer than half as much again."""
    places = sorted({bisect_left(values, mark) for mark in marks} | {0, len(values)})
    found: list[Sequence[int]] = []
    for start, stop in pairwise(places):
        step = longest if stop - start > longest * 3 // 2 else stop - start
        found += (values[k : min(k + step, stop)] for k in range(start, stop, step))
    return found


def assemble(code: Code, roots: Sequence[int]) -> tuple[tuple[Node, ...], list[int]]:
    """The finished code and the value numbers of the roots."""
    code = fuse(code, roots)
    place: dict[int, int] = {}
    finished: list[Node] = []
    for k in schedule(code):
        node = code[k]
        op = node[0]
        place[k] = len(finished)
        if op in LEAVES:
            finished.append(node)
        elif len(node) == 3:
            finished.append((op, place[node[1]], place[node[2]]))
        else:
            finished.append((op, *[place[a] for a in node[1:]]))
    return tuple(finished), [place[k] for k in roots]


def fuse(code: Code, roots: Sequence[int]) -> Code:
    """a b + c -> fma(a, b, c) and its relatives, for products used once; of two products the later one is fused.

    Sums keep their shape. Threading every sum through its products, a + (b c + d e) -> fma(d, e, fma(b, c, a)), made
    2 to 11 % fewer instructions for `rnea`, `aba` and `crba` of two 7-joint chains (measured once, Zen 4); batch times
    changed by -6 to +10 %, single calls by -5 to +2 %: no clear gain.
    """
    uses = [0] * (max(code, default=-1) + 1)
    for k in roots:
        uses[k] += 1
    for node in code.values():
        if node[0] not in LEAVES:
            for a in node[1:]:
                uses[a] += 1
    fused = dict(code)
    for k, node in code.items():
        op = node[0]
        if op != "add" and op != "sub":
            continue
        _, a, b = node
        first = uses[a] == 1 and code[a][0] == "mul"
        second = uses[b] == 1 and code[b][0] == "mul"
        if first and (a > b or not second):
            _, x, y = fused.pop(a)
            fused[k] = ("fma" if op == "add" else "fms"), x, y, b
        elif second:
            _, x, y = fused.pop(b)
            fused[k] = ("fma" if op == "add" else "fnma"), x, y, a
    return fused
