"""Record an algorithm for one model: run its source on expressions and lower the graph to a Program."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from contextlib import nullcontext
from math import prod

from kinetree.algorithms.regularity import collected_pivots
from kinetree.errors import SingularityError
from kinetree.native.singularity import singularity
from kinetree.trace.collector import collector_off
from kinetree.trace.expr import traced_code
from kinetree.trace.graph import Graph
from kinetree.trace.lowering import lower
from kinetree.trace.outline_trace import BODIES, MarkedModel, refuse_results
from kinetree.trace.program import Program
from kinetree.trace.progress import stage


def trace(spec, model, present: tuple[str, ...] = (), static: Mapping[str, object] | None = None) -> Program:
    """The program of an algorithm for this model's structure.

    Parameters
    ----------
    spec : Spec
    model : Model
        Its structure is baked in; its numbers become the params of the program.
    present : tuple of str
        Which optional inputs are given.
    static : mapping, optional
        Values of the algorithm's static arguments.

    Returns
    -------
    Program
        Inputs and outputs named and shaped as the algorithm declares them.

    Notes
    -----
    Algorithms in whose arrays no body coordinates appear are traced for the re-framed model, whose joints all turn
    about z: the joint-space quantities are the same and cost less.
    """
    # Large models take minutes and gigabytes: the collector is not held off so long.
    with nullcontext() if model.nb >= BODIES else collector_off():
        return _traced(spec, model, present, static or {})


def _traced(spec, model, present: tuple[str, ...], static: Mapping[str, object]) -> Program:
    basis = numbers_model(spec, model)
    stage("reading the algorithm")
    graph = Graph()
    numbers = symbolic_numbers(graph, basis)
    many = basis.nb >= BODIES
    what = f"{spec.name} of model {model.name!r}"
    refuse_results(what, sum(prod(spec.shape(name, model)) for name in spec.outputs), model.nb - 1)
    smodel = MarkedModel(basis, numbers, graph, what) if many else basis.with_numbers(numbers)
    names = [*spec.inputs, *(name for name in spec.optional if name in present)]
    shapes = [spec.shape(name, model) for name in names]
    arrays = {name: _symbols(graph, k, shape) for k, (name, shape) in enumerate(zip(names, shapes, strict=True))}
    try:
        with collected_pivots(long=many) as pivots, traced_code(what):
            results = spec.function(smodel, **arrays, **static)
    except SingularityError:  # at every position
        raise singularity(spec, model) from None
    if len(spec.outputs) == 1:
        results = (results,)
    outputs = [
        (name, spec.shape(name, model), _flat(result, len(spec.outputs[name])))
        for name, result in zip(spec.outputs, results, strict=True)
    ]
    checks = [
        (domain.name, violated)
        for domain in spec.domains
        for violated in domain.violations(smodel, {name: arrays[name] for name in domain.needs if name in arrays})
    ]
    if pivots.violated is not None:
        checks.append(("regular joint-space inertia", pivots.violated))
    stage("simplifying")
    marks = smodel.marks if many else None
    return lower(graph, list(zip(names, shapes, strict=True)), outputs, checks, len(numbers), marks)


def numbers_model(spec, model):
    """The model whose numbers the program's prologue takes: re-framed unless body coordinates appear."""
    return model if spec.body_frames in (True, "cheaper") else model.reframed()


def symbolic_numbers(graph: Graph, model) -> list:
    """A param for every number of the model that is not a structural zero, in the order of ``model.numbers()``."""
    pattern = model.number_pattern()
    return [graph.param(j) if free else value for j, (free, value) in enumerate(pattern)]


def _symbols(graph: Graph, array: int, shape: tuple[int, ...]):
    """Nested lists of input expressions in the given shape; a single expression for the shape ()."""
    counter = itertools.count()

    def build(shape):
        if not shape:
            return graph.input(array, next(counter))
        return [build(shape[1:]) for _ in range(shape[0])]

    return build(shape)


def _flat(nested, depth: int) -> list:
    if depth == 0:
        return [nested]
    return list(nested) if depth == 1 else [x for part in nested for x in _flat(part, depth - 1)]
