"""Exact derivatives of a graph, written into the same graph: forward tangents and reverse adjoints.

Every node is an elementary operation, so the chain rule gives its derivative as more nodes of the same graph, which
the graph's rules simplify and share as they simplify the function itself. Nothing is approximated. Nodes that do not
depend on a variable have no tangent: derivatives are sparse by construction, because a missing tangent is a structural
zero.

*Forward*: ``tangents`` sends any number of directions through the graph at once, each node carrying only the directions
that reach it. *Reverse*: ``adjoints`` sends the weights of the outputs back to the inputs. The results are nodes, so
both apply to their own results: forward over reverse gives products with second derivatives.

Where a function has a kink, |x| at 0 or a ``where`` on its border, the derivative of the side that is evaluated is
taken (0 for |x|). Only the chosen side of a ``where`` contributes: a side that is infinite or NaN when it is not
chosen does not spoil the derivative of the other.

Source: Griewank and Walther, *Evaluating Derivatives* (2008), sections 3.1 and 3.2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from kinetree.trace.graph import BOOLEAN, Graph
from kinetree.trace.simplify import LEAVES, live

Tangent = dict[int, int]
"""Direction -> node: the derivative of a node along each direction that reaches it."""

_UNKNOWING = LEAVES | BOOLEAN | {"detach"}
"""Operations without a derivative of their own: leaves, unless they are seeded, truth values, detached values."""


def tangents(graph: Graph, roots: Sequence[int], seeds: Mapping[int, Tangent]) -> list[Tangent]:
    """Forward mode: the derivatives of some nodes along several directions.

    Parameters
    ----------
    graph : Graph
        Receives the derivatives.
    roots : sequence of int
        The nodes to differentiate.
    seeds : mapping of int to Tangent
        The variables and how they move: for each node that is varied freely, direction -> node of its rate.

    Returns
    -------
    list of Tangent
        For each root its nonzero derivatives by direction.

    Examples
    --------
    >>> graph = Graph()
    >>> x, y = graph.input(0, 0), graph.input(0, 1)
    >>> (rates,) = tangents(graph, [(x * y).id], {x.id: {0: graph.ONE}, y.id: {1: graph.ONE}})
    >>> rates == {0: y.id, 1: x.id}
    True
    """
    found: dict[int, Tangent] = {k: dict(seed) for k, seed in seeds.items()}
    for k in live(graph, roots):
        op, *args = graph.nodes[k]
        if k in found or op in _UNKNOWING:
            continue
        varied = [a for a in args if a in found]
        if not varied:
            continue
        found[k] = _where_rates(graph, args, found) if op == "where" else _rates(graph, op, k, args, found)
    return [found.get(k, {}) for k in roots]


def _rates(graph: Graph, op: str, k: int, args: Sequence[int], found: Mapping[int, Tangent]) -> Tangent:
    first = found.get(args[0], {})
    if op in ("add", "sub"):
        second = found.get(args[1], {})
        combine = graph.add if op == "add" else graph.sub
        rates = {d: combine(x, second[d]) if d in second else x for d, x in first.items()}
        for d, x in second.items():
            if d not in first:
                rates[d] = x if op == "add" else graph.neg(x)
    elif op == "neg":
        rates = {d: graph.neg(x) for d, x in first.items()}
    elif op == "div":
        # (x / y)' = (x' - (x / y) y') (1 / y)
        second, reciprocal = found.get(args[1], {}), graph.div(graph.ONE, args[1])
        inner = {d: graph.sub(first.get(d, graph.ZERO), graph.mul(k, x)) for d, x in second.items()}
        rates = {d: graph.mul(x, reciprocal) for d, x in {**first, **inner}.items()}
    else:
        rates = {}
        for a, slope in _slopes(graph, op, k, args):
            for d, x in found.get(a, {}).items():
                term = graph.mul(slope(), x)
                rates[d] = graph.add(rates[d], term) if d in rates else term
    return {d: x for d, x in rates.items() if x != graph.ZERO}


def _where_rates(graph: Graph, args: Sequence[int], found: Mapping[int, Tangent]) -> Tangent:
    condition, a, b = graph.moving(args[0]), *args[1:]
    first, second = found.get(a, {}), found.get(b, {})
    rates = {d: graph.where(condition, first.get(d, 0), second.get(d, 0)) for d in {**first, **second}}
    return {d: x for d, x in rates.items() if x != graph.ZERO}


def adjoints(graph: Graph, weights: Mapping[int, int], leaves: Sequence[int]) -> list[int]:
    """Reverse mode: the gradient of a weighted sum of nodes.

    Parameters
    ----------
    graph : Graph
        Receives the derivatives.
    weights : mapping of int to int
        Root -> node of its weight.
    leaves : sequence of int
        The nodes with respect to which the sum is differentiated; varied freely, like the seeds of `tangents`.

    Returns
    -------
    list of int
        For each leaf the node of its derivative.

    Examples
    --------
    >>> graph = Graph()
    >>> x, y = graph.input(0, 0), graph.input(0, 1)
    >>> adjoints(graph, {(x * y).id: graph.ONE}, [x.id, y.id]) == [y.id, x.id]
    True
    """
    free = set(leaves)
    order = live(graph, [*weights, *leaves])
    reached = set(free)  # a node that no leaf reaches needs no adjoint
    for k in order:
        op, *args = graph.nodes[k]
        if op not in _UNKNOWING and not reached.isdisjoint(args):
            reached.add(k)
    sums = _Adjoints(graph)
    for k, weight in weights.items():
        sums.receive(k, weight, graph.TRUE)
    for k in reversed(order):
        if k in free or k not in reached or k not in sums:
            continue
        op, *args = graph.nodes[k]
        adjoint, guard = sums.value[k], sums.guard[k]
        if op == "where":
            condition, a, b = graph.moving(args[0]), *args[1:]
            if a in reached:
                sums.receive(a, adjoint, graph.logical_and(guard, condition))
            if b in reached:
                sums.receive(b, adjoint, graph.logical_and(guard, graph.logical_not(condition)))
            continue
        for a, term in _passed_on(graph, op, k, args, adjoint):
            if a in reached:
                sums.receive(a, term(), guard)
    return [sums.final(k) for k in leaves]


class _Adjoints:
    """The adjoints collected so far, each with the condition (a boolean node) under which it counts.

    A side of a ``where`` may be singular when it is not chosen. Its adjoint therefore stays unmasked while it travels
    through the nodes of that side alone, and is set to zero where it meets another one: masking it first and
    multiplying by an infinite slope afterwards would give NaN.
    """

    __slots__ = ("graph", "guard", "value")

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.value: dict[int, int] = {}
        self.guard: dict[int, int] = {}

    def __contains__(self, k: int) -> bool:
        return k in self.value

    def receive(self, k: int, adjoint: int, guard: int) -> None:
        if adjoint == self.graph.ZERO or guard == self.graph.FALSE:
            return
        if k not in self.value:
            self.value[k], self.guard[k] = adjoint, guard
            return
        if self.guard[k] != guard:
            adjoint = self.graph.where(guard, adjoint, self.graph.ZERO)
            self.value[k], self.guard[k] = self.final(k), self.graph.TRUE
        self.value[k] = self.graph.add(self.value[k], adjoint)

    def final(self, k: int) -> int:
        """The adjoint of a node, zero where it does not count."""
        if k not in self.value:
            return self.graph.ZERO
        return self.graph.where(self.guard[k], self.value[k], self.graph.ZERO)


def _passed_on(graph: Graph, op: str, k: int, args: Sequence[int], adjoint: int) -> list[tuple[int, Callable]]:
    """(argument, maker of the adjoint's share): slope times adjoint, without products by 1 and -1."""
    if op in ("add", "sub"):
        a, b = args
        return [(a, lambda: adjoint), (b, lambda: adjoint if op == "add" else graph.neg(adjoint))]
    if op == "neg":
        return [(args[0], lambda: graph.neg(adjoint))]
    if op == "div":
        a, b = args
        quotient = graph.mul(adjoint, graph.div(graph.ONE, b))
        return [(a, lambda: quotient), (b, lambda: graph.neg(graph.mul(k, quotient)))]
    return [(a, lambda slope=slope: graph.mul(slope(), adjoint)) for a, slope in _slopes(graph, op, k, args)]


def _sign(graph: Graph, x: int) -> int:
    """1 or -1; zero has the slope 0, and NaN stays NaN: then both comparisons are false."""
    negative = graph.where(graph.lt(x, graph.ZERO), graph.const(-1.0), x)
    return graph.where(graph.lt(graph.ZERO, x), graph.ONE, negative)


_SLOPES: dict[str, Callable[[Graph, int, int], int]] = {
    "sin": lambda graph, k, x: graph.cos(x),
    "cos": lambda graph, k, x: graph.neg(graph.sin(x)),
    "sqrt": lambda graph, k, x: graph.div(graph.const(0.5), k),
    "exp": lambda graph, k, x: k,
    "log": lambda graph, k, x: graph.div(graph.ONE, x),
    "tanh": lambda graph, k, x: graph.sub(graph.ONE, graph.mul(k, k)),
    "abs": lambda graph, k, x: _sign(graph, x),
}
"""Derivatives of functions of one value x, in terms of it and of node k, the function."""


def _slopes(graph: Graph, op: str, k: int, args: Sequence[int]) -> list[tuple[int, Callable[[], int]]]:
    """(argument, maker of the partial derivative) for each argument of node k; makers, so that no node is in vain."""
    x = args[0]
    if op == "mul":
        return [(x, lambda: args[1]), (args[1], lambda: x)]
    if op in _SLOPES:
        return [(x, lambda: _SLOPES[op](graph, k, x))]
    if op == "arctan2":
        y, x = args
        square = graph.add(graph.mul(x, x), graph.mul(y, y))
        return [(y, lambda: graph.div(x, square)), (x, lambda: graph.neg(graph.div(y, square)))]
    raise AssertionError(f"no derivative of {op!r}")
