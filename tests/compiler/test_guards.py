"""Guarded stretches of programs: machine code skips them where no state of a tile needs them, and changes no bit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kinetree.errors import CompilationError
from kinetree.native.kernel import Kernel
from kinetree.native.llvm_plan import plan
from kinetree.native.outline import outline
from kinetree.spatial.scalar import guarded, repeated, settled, sin, sqrt, where
from kinetree.trace import outline_trace
from kinetree.trace.differentiate import tangents
from kinetree.trace.expr import Expr
from kinetree.trace.graph import Graph
from kinetree.trace.lowering import lower
from kinetree.trace.program import Program

SIZE = 8


def plain(condition, old, compute):
    return [where(condition, a, b) for a, b in zip(compute(), old, strict=True)]


def sweeps(x, choose=guarded, count: int = 5, inner=lambda u: u):
    """Visits of three neighbors each, in sweeps; a visit counts where the first two are large."""
    z = list(x)
    for _ in range(count):
        for k in repeated(range(SIZE - 2), z):
            a, b, c = z[k : k + 3]

            def visit(a=a, b=b, c=c):
                u = a * b * 0.3 / sqrt(a * a + b * b + c * c + 0.1) + c * 0.1
                w = inner(where(u > 0.2, u * 0.9, u + 0.01))
                for _ in range(4):
                    w = w * 0.5 + a * 0.2 - u * w * 0.1
                return [a * 0.7 + w * 0.2, b * 0.8 - u * 0.1, c + w * 0.01]

            z[k : k + 3] = choose(a * a + b * b > 0.7, [a, b, c], visit)
    return z


def program(algorithm, size: int = SIZE) -> Program:
    graph = Graph()
    z = algorithm([graph.input(0, k) for k in range(size)])
    return lower(graph, [("x", (size,))], [("z", (len(z),), z)])


@pytest.fixture(autouse=True)
def _small_traces(monkeypatch):
    """Traces of these tests count as large."""
    monkeypatch.setattr(outline_trace, "GUARDED", 200)
    monkeypatch.setattr(outline_trace, "LARGE", 200)


@pytest.fixture(scope="module")
def states():
    """From states that need no visit to those that need all."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(203, SIZE)) * rng.uniform(0.0, 1.5, size=(203, 1))
    return x[np.argsort(np.abs(x).max(axis=1))]


def evaluated(of: Program, x: np.ndarray, dtype: str = "float64", **options) -> np.ndarray:
    out = np.empty((len(x), len(of.results[0])), dtype)
    Kernel(of, dtype, checks=False, **options).batch([x.astype(dtype)], [out], len(x))
    return out


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_bits_are_those_of_plain_selections(states, dtype):
    """The guarded program, lowered in the same pieces without its guards, gives the same bits."""
    with_guards = program(sweeps)
    without = replace(with_guards, guards=())
    assert len(with_guards.guards) == 5 * (SIZE - 2)
    assert evaluated(with_guards, states, dtype).tobytes() == evaluated(without, states, dtype).tobytes()


def test_values_are_those_of_numbers_and_of_arrays(states):
    """Over floats the computation is left out, over arrays selected."""
    found = evaluated(program(sweeps), states)
    arrays = np.array(sweeps(list(states.T))).T
    floats = np.array([sweeps(row.tolist()) for row in states])
    assert found == pytest.approx(arrays, abs=1e-14)
    assert floats == pytest.approx(arrays, abs=1e-14)


def test_a_state_does_not_depend_on_its_neighbors(states):
    """Any order of the states, and single calls: the same bits."""
    compiled = program(sweeps)
    found = evaluated(compiled, states)
    order = np.random.default_rng(1).permutation(len(states))
    assert evaluated(compiled, states[order]).tobytes() == found[order].tobytes()
    kernel = Kernel(compiled, checks=False)
    for row, expected in zip(states[::20], found[::20], strict=True):
        out = np.empty(SIZE)
        kernel.scalar(row.copy(), out=out)
        assert out.tobytes() == expected.tobytes()


def test_visits_become_a_few_machine_functions():
    """All visits but the first and last ones of a kind share one function each."""
    compiled = program(sweeps)
    made = outline(plan(compiled, 8))
    assert sum(len(shape.chunks) for shape in made.shapes) > 0.6 * 5 * (SIZE - 2)
    assert len(made.shapes) <= 6


def test_a_skipped_stretch_is_not_run(states):
    """A division by zero within a stretch that no state needs leaves no trace; within one that is selected it does."""

    def algorithm(x):
        big = [guarded(x[k] > 1e6, [x[k]], lambda k=k: [sweeps(x)[k] / x[0]])[0] for k in range(4)]
        return [*big, *sweeps(x)]

    compiled = program(algorithm)
    assert len(compiled.guards) >= 4
    found = evaluated(compiled, np.zeros((9, SIZE)))
    assert np.isfinite(found).all()
    assert "kept:" in Kernel(compiled, checks=False).ir("batch")


def test_serialized_programs_keep_guards():
    compiled = program(sweeps)
    assert Program.from_bytes(compiled.to_bytes()) == compiled
    assert Program.from_bytes(compiled.to_bytes(), trusted=True).guards == compiled.guards


def test_values_of_a_stretch_that_others_use_make_it_a_selection(states):
    """An intermediate value that leaves the stretch: no guard, the right value."""

    def algorithm(x):
        kept = []

        def visit():
            kept.append(sweeps(x, plain)[3])
            return [kept[0] * 2.0]

        (found,) = guarded(x[0] > 1.0, [x[1]], visit)
        return [found, kept[0]]

    compiled = program(algorithm)
    assert compiled.guards == ()
    y = np.array(sweeps(list(states.T)))[3]
    expected = np.column_stack([np.where(states[:, 0] > 1.0, 2.0 * y, states[:, 1]), y])
    assert evaluated(compiled, states) == pytest.approx(expected, abs=1e-14)


def shared(x):
    """Stretches that take values of an earlier one under the same condition, and change some numbers in turn."""
    z, near = list(x), [settled(x[k] * x[k] > 0.5) for k in range(4)]
    found = [guarded(near[k], [z[k]], lambda k=k: [z[k] * 0.5, *sweeps(x, plain, 1), sqrt(x[k])]) for k in range(4)]
    z[:4] = (first for first, *_ in found)
    rest = [others for _, *others, _ in found]
    for _ in range(3):
        for k in range(4):

            def visit(k=k):
                c = rest[k][k] + rest[k][k + 1]
                return [z[k] * 0.5 + c, z[k + 1] - c * z[k] * z[k]]

            z[k : k + 2] = guarded(near[k], z[k : k + 2], visit)
    return z


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_values_without_a_substitute_are_for_stretches_under_the_same_condition(states, dtype):
    """They are not written where a stretch is skipped; the results are those of selections."""
    compiled = program(shared)
    assert len(compiled.guards) >= 16
    expected = np.array([shared(row.tolist()) for row in states])
    tolerance = 1e-13 if dtype == "float64" else 1e-4
    assert evaluated(compiled, states, dtype) == pytest.approx(expected, rel=tolerance, abs=tolerance)
    together = evaluated(compiled, states[::-1].copy(), dtype)
    assert together[::-1].tobytes() == evaluated(compiled, states, dtype).tobytes()


def test_rules_do_not_look_into_values_of_a_stretch(states):
    """A difference that a rule would reduce to a product within the stretch, which others may not use."""

    def algorithm(x):
        near = settled(x[0] > 0.3)
        z, total = guarded(near, [x[1]], lambda: [sweeps(x, plain)[3], x[1] * x[2] + x[4]])
        (z,) = guarded(near, [z], lambda: [z + (total - x[4]) * sweeps(x, plain, 1)[2]])
        return [z, *x[5:]]

    compiled = program(algorithm)
    guarded_by = [guard[:2] for guard in compiled.guards]
    last = max(stop for _, stop in guarded_by)
    assert min(start for start, _ in guarded_by) < last and sum(stop - start for start, stop in guarded_by) > 0.8 * last
    expected = np.array([algorithm(row.tolist()) for row in states])
    assert evaluated(compiled, states) == pytest.approx(expected, abs=1e-13)


def test_numbers_that_change_in_turn_have_one_slot(states):
    """A stretch that is skipped has nothing to do: what it changes stays where it is."""
    compiled = program(sweeps)
    schedule = plan(compiled, 8)
    pairs = [pair for _, each in schedule.guards.values() for pair in each]
    same = [new in schedule.slots and schedule.slots[new] == schedule.slots.get(old) for new, old in pairs]
    assert sum(same) > 0.7 * len(pairs)
    alone = replace(compiled, guards=())
    assert schedule.slot_count < plan(alone, 8).slot_count
    assert evaluated(compiled, states).tobytes() == evaluated(alone, states).tobytes()


def test_equal_values_within_and_after_a_stretch_are_computed_twice(states):
    """A common subexpression is not taken from a stretch that may be skipped."""

    def algorithm(x):
        def visit():
            return [sqrt(x[0] * x[0] + 2.0) + sweeps(x, plain)[2]]

        return [*guarded(x[0] > 1.0, [x[1]], visit), sqrt(x[0] * x[0] + 2.0)]

    compiled = program(algorithm)
    assert len({guard[2] for guard in compiled.guards}) == 1  # the visits within are pieces with one guard
    assert evaluated(compiled, states)[:, 1] == pytest.approx(np.sqrt(states[:, 0] ** 2 + 2.0), rel=1e-15)


def test_stretches_with_sines_and_nested_ones_are_selections(states):
    """Sines are computed together with cosines elsewhere; a guard within a guard is a selection of the outer one."""
    assert program(lambda x: sweeps(x, inner=sin)).guards == ()

    def nested(x):
        return guarded(x[0] > 0.3, list(x), lambda: sweeps(x))

    compiled = program(nested)
    assert len({guard[2] for guard in compiled.guards}) == 1
    expected = np.array([sweeps(x.tolist()) if x[0] > 0.3 else x for x in states])
    assert evaluated(compiled, states) == pytest.approx(expected, abs=1e-14)


def test_derivatives_of_guarded_code(states):
    """Of the selection: they are those of finite differences away from its edges."""
    graph = Graph()
    x = [graph.input(0, k) for k in range(SIZE)]
    z = sweeps(x, count=2)
    rows = tangents(graph, [z[3].id], {x[2].id: {0: graph.ONE}})
    compiled = lower(graph, [("x", (SIZE,))], [("slope", (1,), [Expr(graph, rows[0][0])])])
    here = states[::10]
    step = np.zeros(SIZE)
    step[2] = 1e-6
    both = [np.array(sweeps(list((here + s * step).T), count=2))[3] for s in (1.0, -1.0)]
    slopes = (both[0] - both[1]) / 2e-6
    assert np.median(np.abs(evaluated(compiled, here)[:, 0] - slopes)) < 1e-9
    assert (np.abs(evaluated(compiled, here)[:, 0] - slopes) < 1e-7).mean() > 0.9


def test_malformed_guards_are_refused():
    compiled = program(sweeps)
    start, stop, values, pairs = compiled.guards[3]
    wrong = (start, stop, (stop + 3,), pairs), (start + 1, stop, (0,), ()), (start, stop, values, ((0, 0),))
    wrong = *wrong, (start, stop, (), pairs)
    for guard in wrong:
        with pytest.raises(CompilationError, match="the guard of values"):
            replace(compiled, guards=(guard,))
