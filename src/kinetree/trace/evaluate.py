"""Evaluate nodes of a graph over scalars of any kind: floats, NumPy arrays, extended precision, another trace."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence

import numpy as np

from kinetree.spatial import scalar
from kinetree.trace.expr import Expr
from kinetree.trace.graph import Graph
from kinetree.trace.simplify import live


def evaluate(graph: Graph, roots: Sequence[int], leaf: Callable[[str, tuple[int, ...]], object]) -> list:
    """The values of some nodes.

    Parameters
    ----------
    graph : Graph
    roots : sequence of int
    leaf : callable
        ``leaf("input", (array, index))`` and ``leaf("param", (index,))`` give the scalars to start from. With the
        expressions of another graph, the nodes are copied into it.

    Returns
    -------
    list
        One scalar for each root.

    Examples
    --------
    >>> graph = Graph()
    >>> x = graph.input(0, 0)
    >>> evaluate(graph, [(x * x + 1.0).id], lambda op, args: 3.0)
    [10.0]
    """
    values: dict[int, object] = {}
    for k in live(graph, roots):
        op, *args = graph.nodes[k]
        if op in ("input", "param"):
            values[k] = leaf(op, tuple(args))
        elif op == "const":
            values[k] = args[0]
        elif op in ("true", "false"):
            values[k] = op == "true"
        else:
            values[k] = _MEANING[op](*(values[a] for a in args))
    return [values[k] for k in roots]


def _quotient(a, b):
    """a / b; infinite or NaN for floats where Python would raise: it may stand on a side that is not chosen."""
    if isinstance(a, float) and isinstance(b, float):
        with np.errstate(all="ignore"):
            return float(np.float64(a) / np.float64(b))
    return a / b


def _equal(a, b):
    for x, y in ((a, b), (b, a)):
        if isinstance(x, Expr):
            return x.equal(y)
    return a == b


_MEANING = {
    "neg": operator.neg,
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": _quotient,
    "lt": operator.lt,
    "le": operator.le,
    "eq": _equal,
    "and": operator.and_,
    "or": operator.or_,
    "not": lambda a: not a if isinstance(a, bool) else ~a,
    "where": scalar.where,
    "abs": scalar.absolute,
    **{name: getattr(scalar, name) for name in ("sqrt", "sin", "cos", "exp", "log", "tanh", "arctan2", "detach")},
}
