"""Exact derivatives of any scalars over a state, by positions along the velocities and by velocities.

The formulas are recorded in a trace of their own, differentiated there, and evaluated over the scalars of the state.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kinetree.algorithms.manifold import q_dot
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
    trace = _Trace(model, q, v)
    seeds: dict[int, dict[int, int]] = {x.id: {} for x in trace.q}
    for i in model.outward():
        q_i = model.q_of(i, trace.q)
        for m, k in enumerate(range(model.v_slice[i].start, model.v_slice[i].stop)):
            unit = [float(m == n) for n in range(model.joints[i].nv)]
            for x, rate in zip(q_i, trace.model.joints[i].q_dot(q_i, unit), strict=True):
                if not is_zero(rate):
                    seeds[x.id][k] = node(trace.graph, rate)
    seeds |= {x.id: {model.nv + k: trace.graph.ONE} for k, x in enumerate(trace.v)}
    return trace.rates(formulas(trace.model, trace.q, trace.v, trace.symbols(given)), seeds)


def state_rates(model, q, v, dq, dv, formulas: Callable, given: Sequence = (), changes: Sequence = ()) -> list:
    """The rates of such scalars in one direction: along dq from the position, by dv from the velocities.

    The first of the given arguments change by ``changes``. Numbers that carry their rates (`kinetree.joints.dual`)
    would not do: joints make such numbers of their own, and products of two kinds of them have wrong rates.
    """
    trace, n = _Trace(model, q, v), len(changes)
    varied = [*trace.q, *trace.v, *trace.symbols(given[:n], varied=True)]
    rates = [*q_dot(trace.model, trace.q, trace.symbols(dq)), *trace.symbols(dv), *trace.symbols(changes)]
    seeds = {x.id: {0: node(trace.graph, rate)} for x, rate in zip(varied, rates, strict=True)}
    arguments = [*varied[model.nq + model.nv :], *trace.symbols(given[n:])]
    return [row.get(0, 0.0) for row in trace.rates(formulas(trace.model, trace.q, trace.v, arguments), seeds)]


class _Trace:
    """A trace of scalars over a state.

    Attributes
    ----------
    graph : Graph
    model : ScalarModel
        With the numbers of the model, and its time, if it depends on it.
    q, v : list of scalars
    """

    def __init__(self, model, q, v) -> None:
        self.graph, self._state, self._given = Graph(), (q, v), []
        self.model = ScalarModel.over(model, self.symbols([number for _, number in entries(model)]))
        if model._clock is not None:  # its joints hold scalars of the outer trace
            self.model = self.model._bound(*self.symbols([model._clock[0]]), model._clock[1])
        self.q, self.v = ([self.graph.input(a, k) for k in range(n)] for a, n in enumerate((model.nq, model.nv)))

    def symbols(self, given: Sequence, varied: bool = False) -> list:
        """Scalars of the state in this trace, where plain numbers remain numbers unless they are varied."""
        first = len(self._given)
        self._given += given
        return [x if isinstance(x, float) and not varied else self.graph.param(j) for j, x in enumerate(given, first)]

    def rates(self, found: Sequence, seeds: dict) -> list[dict]:
        """The derivatives of scalars of this trace by direction, over the scalars of the state."""
        found = tangents(self.graph, [node(self.graph, x) for x in found], seeds)
        values = iter(evaluate(self.graph, [x for row in found for x in row.values()], self._value))
        return [{d: next(values) for d in row} for row in found]

    def _value(self, op, args):
        return self._given[args[0]] if op == "param" else self._state[args[0]][args[1]]


def node(graph: Graph, x) -> int:
    """The node of a scalar in a graph."""
    return x.id if isinstance(x, Expr) else graph.const(x)
