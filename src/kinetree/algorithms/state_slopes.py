"""Exact derivatives of any scalars over a state, by positions along the velocities and by velocities.

The formulas are recorded in a trace of their own, differentiated there, and evaluated over the scalars of the state.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kinetree.model.numbers import ScalarModel, entries
from kinetree.spatial.scalar import is_zero
from kinetree.trace.differentiate import tangents
from kinetree.trace.evaluate import evaluate
from kinetree.trace.expr import Expr
from kinetree.trace.graph import Graph


def state_slopes(model, q, v, formulas: Callable, given: Sequence = ()) -> list[dict]:
    """The derivatives of scalars that depend on a state.

    Parameters
    ----------
    model : Model or ScalarModel
    q, v : sequence of scalars
    formulas : callable
        ``formulas(model, q, v, given)`` lists the scalars, over a trace.
    given : sequence of scalars
        Further arguments that are constant here.

    Returns
    -------
    list of dict
        For each scalar its derivatives that are not structural zeros, by direction: k < nv along velocity coordinate k
        of the positions, and nv + k by the velocity k.
    """
    graph = Graph()
    numbers = [number for _, number in entries(model)]
    clock = [model._clock[0]] if model._clock is not None else []
    outer = [*numbers, *given, *clock]
    symbols = [x if isinstance(x, float) else graph.param(j) for j, x in enumerate(outer)]
    inner = ScalarModel.over(model, symbols[: len(numbers)])
    if clock:  # its joints hold scalars of the outer trace
        inner = inner._bound(symbols[-1], model._clock[1])
    q_in, v_in = ([graph.input(a, k) for k in range(n)] for a, n in enumerate((model.nq, model.nv)))
    found = formulas(inner, q_in, v_in, symbols[len(numbers) : len(numbers) + len(given)])
    seeds: dict[int, dict[int, int]] = {x.id: {} for x in q_in}
    for i in model.outward():
        q_i = model.q_of(i, q_in)
        for m, k in enumerate(range(model.v_slice[i].start, model.v_slice[i].stop)):
            unit = [float(m == n) for n in range(model.joints[i].nv)]
            for x, rate in zip(q_i, inner.joints[i].q_dot(q_i, unit), strict=True):
                if not is_zero(rate):
                    seeds[x.id][k] = node(graph, rate)
    seeds |= {x.id: {model.nv + k: graph.ONE} for k, x in enumerate(v_in)}
    rates = tangents(graph, [node(graph, x) for x in found], seeds)
    values = iter(evaluate(graph, [x for row in rates for x in row.values()], lambda op, args: (
        outer[args[0]] if op == "param" else (q, v)[args[0]][args[1]]
    )))  # fmt: skip
    return [{d: next(values) for d in row} for row in rates]


def node(graph: Graph, x) -> int:
    """The node of a scalar in a graph."""
    return x.id if isinstance(x, Expr) else graph.const(x)
