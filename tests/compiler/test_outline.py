"""Large models: repeated stretches of code are shared, and nothing else changes."""

import dataclasses
import io
import sys
import time

import numpy as np
import pytest

import kinetree as kt
from kinetree.algorithms.spec import ALGORITHMS
from kinetree.compiler import tracing
from kinetree.errors import CompilationError
from kinetree.native.engine import Target
from kinetree.native.kernel import Kernel
from kinetree.native.llvm_module import Module
from kinetree.native.llvm_plan import plan
from kinetree.native.outline import outline
from kinetree.trace import outline_trace, progress, simplify
from kinetree.trace.evaluate import evaluate
from kinetree.trace.graph import Graph
from kinetree.trace.program import Program

MODELS = {
    "chain": lambda: kt.models.chain_gu(12),
    "binary tree": lambda: kt.models.binary_tree(4),
    "alike links": lambda: kt.models.auto_tree(20, bf=1.5, skew=0.3, taper=0.97),
    "balls": lambda: kt.models.random_tree(12, 3, joints=[kt.joints.Spherical()], branching=0.2),
    "all joints": lambda: kt.models.random_tree(14, 2),
}


@pytest.fixture
def pieces(monkeypatch):
    """Every trace is lowered in pieces, however small and however different they are."""
    monkeypatch.setattr(tracing, "BODIES", 2)
    monkeypatch.setattr(outline_trace, "LARGE", 0)
    monkeypatch.setattr(outline_trace, "REPEATED", 0.0)


def traced(algorithm, model):
    spec = ALGORITHMS[algorithm]
    return tracing.trace(spec, model), tracing.numbers_model(spec, model).number_values()


def states(program, model, count, dtype="float64", seed=0):
    """Random states of a model: its inputs, q valid."""
    rng = np.random.default_rng(seed)
    arrays = [rng.uniform(-1.0, 1.0, (count, *shape)).astype(dtype) for _, shape in program.inputs]
    arrays[0] = np.stack([model.random_q(rng) for _ in range(count)]).astype(dtype)
    return arrays


def batch(kernel, arrays):
    count = len(arrays[0])
    outs = [np.empty((count, *shape), kernel.dtype) for _, shape in kernel.program.outputs]
    assert kernel.batch(arrays, outs, count) == 0
    return outs


def singles(kernel, arrays):
    rows = [kernel.scalar_entry(*(x[s] for x in arrays)) for s in range(len(arrays[0]))]
    return [np.stack(rows)]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("algorithm", ["rnea", "aba", "crba"])
@pytest.mark.parametrize("name", MODELS)
def test_shared_code_gives_the_bits_of_straight_code(pieces, name, algorithm, dtype):
    """Loops over tables do the operations of the program in its order: batches and single states agree bit for bit."""
    model = MODELS[name]()
    program, numbers = traced(algorithm, model)
    assert program.cuts
    shared = Kernel(program, dtype, numbers=numbers)
    straight = Kernel(dataclasses.replace(program, cuts=()), dtype, numbers=numbers)
    arrays = states(program, model, 11, dtype)
    expected = batch(straight, arrays)
    assert np.isfinite(expected[0]).all()
    np.testing.assert_array_equal(batch(shared, arrays), expected)
    np.testing.assert_array_equal(singles(shared, [x[:4] for x in arrays]), [x[:4] for x in expected])


@pytest.mark.parametrize("chunk", [7, 60])
def test_bits_do_not_depend_on_where_long_stretches_are_cut(pieces, chunk):
    """Chunks shorter than the visit of a body give the same bits."""
    model = kt.models.chain_gu(8)
    program, numbers = traced("aba", model)
    arrays = states(program, model, 9)
    results = [batch(Kernel(program, numbers=numbers, chunk=c), arrays) for c in (chunk, 400)]
    np.testing.assert_array_equal(*results)


@pytest.mark.parametrize("algorithm", ["rnea", "aba", "crba"])
@pytest.mark.parametrize("name", MODELS)
def test_pieces_compute_what_the_whole_computes(pieces, monkeypatch, name, algorithm):
    """Lowering in pieces changes rounding only, by a few hundred operations' worth: compared with the whole trace."""
    model = MODELS[name]()
    cut, numbers = traced(algorithm, model)
    monkeypatch.setattr(tracing, "BODIES", 10**9)
    whole, _ = traced(algorithm, model)
    assert cut.cuts and not whole.cuts
    arrays = states(whole, model, 5)
    (found,), (expected,) = cut.interpret(arrays, numbers), whole.interpret(arrays, numbers)
    # The relative error of aba is eps times the condition of M, which reaches 1e6 in these trees.
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * np.abs(expected).max())
    assert cut.operations.total <= 1.05 * whole.operations.total + 100


def test_traces_that_do_not_repeat_are_lowered_as_a_whole(monkeypatch):
    """Where pieces differ the program is that of a small model, with rotations as constants."""
    model = kt.models.random_tree(40, 2)
    expected, _ = traced("rnea", model)
    monkeypatch.setattr(tracing, "BODIES", 2)
    monkeypatch.setattr(outline_trace, "LARGE", 0)
    monkeypatch.setattr(outline_trace, "REPEATED", 1e9)
    found, numbers = traced("rnea", model)
    assert not found.cuts
    assert found.operations.total <= 1.02 * expected.operations.total
    arrays = states(found, model, 3)
    np.testing.assert_allclose(found.interpret(arrays, numbers), expected.interpret(arrays, numbers), rtol=1e-9)


def test_robots_of_usual_size_are_not_touched():
    """A model below the threshold has no cuts."""
    assert not traced("aba", kt.models.chain_gu(30))[0].cuts


def test_code_grows_with_the_number_of_different_bodies(pieces):
    """Chains of different length have the same shapes and singles, those at the ends: only their tables differ.

    Both are longer than `link_frames.MANY`: in shorter chains some origins are moved, which makes links of two forms.
    """
    counts = []
    for n in (70, 110):
        program, _ = traced("aba", kt.models.chain_gu(n))
        made = outline(plan(program, 8))
        counts.append((len(made.shapes), len(made.single), len(made.steps)))
        assert sum(len(shape.chunks) for shape in made.shapes) >= 3 * n - 20
    assert counts[0] == counts[1]


def test_ways_to_the_root_are_made_of_the_same_pieces(pieces, monkeypatch):
    """What the mass matrix of a chain is made of does not grow with its length, though the ways to the root do."""
    described, counts = outline_trace._describe, []

    def counted(*args):
        pieces, shapes = described(*args)
        counts.append((len(shapes), sum(len(operations) for operations, _, _ in shapes)))
        return pieces, shapes

    monkeypatch.setattr(outline_trace, "_describe", counted)
    for n in (80, 112):  # whole pieces longer by two
        traced("crba", kt.models.chain_gu(n))
    assert counts[0] == counts[1]


def test_values_that_die_together_lie_together(pieces):
    """In a chain a row of the table is much shorter than what the body reads and writes."""
    program, _ = traced("aba", kt.models.chain_gu(40))
    module = Module(program, "double", Target.host(), True, 400)
    from kinetree.native.llvm_state import ScalarRows

    for shape in module.outline.shapes:
        assert ScalarRows(shape, module).rows.width <= len(shape.columns) / 2


def test_cuts_survive_serialization(pieces):
    """A program read back is the program, cuts included, and cuts out of order are refused."""
    program, _ = traced("rnea", kt.models.chain_gu(5))
    assert Program.from_bytes(program.to_bytes()) == program
    with pytest.raises(CompilationError, match="cuts do not ascend"):
        dataclasses.replace(program, cuts=(5, 5))


def test_shared_code_comes_back_from_the_disk(pieces, tmp_path, monkeypatch):
    """Program and machine code of a large model are found again, and give the same bits."""
    monkeypatch.setenv("KINETREE_CACHE", "1")
    monkeypatch.setenv("KINETREE_CACHE_DIR", str(tmp_path))
    model = kt.models.chain_gu(9)
    program, numbers = traced("aba", model)
    arrays = states(program, model, 9)
    first, second = (Kernel(program, numbers=numbers) for _ in range(2))
    np.testing.assert_array_equal(batch(first, arrays), batch(second, arrays))
    np.testing.assert_array_equal(singles(first, arrays), singles(second, arrays))
    assert (first.cached, second.cached) == (False, True)


def test_numbers_of_a_large_model_can_change(pieces):
    """Rotations are constants, all other numbers of the model stay inputs of its code."""
    model = kt.models.chain_gu(6)
    heavier = model.replace(gravity=(0.0, 0.0, -1.62))
    program, numbers = traced("rnea", model)
    other, others = traced("rnea", heavier)
    assert program == other
    arrays = states(program, model, 3)
    kernel = Kernel(program, numbers=numbers)
    expected = batch(Kernel(other, numbers=others), arrays)
    np.testing.assert_array_equal(batch(kernel.with_numbers(others), arrays), expected)
    assert not np.allclose(batch(kernel, arrays), expected)


def test_derivatives_of_a_large_model(pieces):
    """The forward derivative of rnea along dq is the product of rnea_derivatives with dq, where traces have marks.

    Both are exact; they differ by some hundred roundings of the largest entry.
    """
    model, rng = kt.models.chain_gu(7, seed=70), np.random.default_rng(3)
    q, v, a, dq = rng.uniform(-1.0, 1.0, (4, 7))
    found = kt.differentiate(model, "rnea", "jvp", wrt="q")(q, v, a, dq)
    expected = kt.rnea_derivatives(model, q, v, a).dtau_dq @ dq
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13 * np.abs(expected).max())


@pytest.mark.parametrize("largest, reason", [(20_000, "million operations or more"), (39_999, "0 million entries")])
def test_what_would_exhaust_memory_is_refused(monkeypatch, largest, reason):
    """A trace that grows beyond the bound, or more results than it allows: refused by name, with what to do."""
    monkeypatch.setattr(outline_trace, "LARGEST", largest)
    model = kt.models.chain_gu(100 if "entries" in reason else 70, seed=71)
    with pytest.raises(CompilationError, match=reason) as raised:
        tracing.trace(ALGORITHMS["crba"], model)
    assert str(raised.value).startswith(f"crba of model '{model.name}'")
    assert "interpreted" in str(raised.value) and raised.value.bodies in (70, 100)


def test_a_refusal_comes_early(monkeypatch):
    """What grows with the square of the bodies is refused after a tenth of its trace, of four million nodes here."""
    monkeypatch.setattr(outline_trace, "LARGEST", 1_000_000)
    seen = []
    monkeypatch.setattr(outline_trace.Visits, "_refuse", lambda visits, nodes: seen.append(len(visits._graph)) or 1 / 0)
    with pytest.raises(ZeroDivisionError):
        tracing.trace(ALGORITHMS["crba"], kt.models.chain_gu(400))
    assert seen[0] < 400_000


def test_columns_of_the_mass_matrix_come_from_rnea():
    """The way out that the refusal names: without gravity and velocity, rnea of unit accelerations are columns of M."""
    model, n = kt.models.chain_gu(60).replace(gravity=(0.0, 0.0, 0.0)), 60
    q = np.random.default_rng(4).uniform(-np.pi, np.pi, n)
    with kt.interpreted():
        M = kt.crba(model, q)
    found = kt.rnea(model, q, np.zeros(n), np.eye(n))
    np.testing.assert_allclose(found, M, rtol=0, atol=1e-13 * np.abs(M).max())


def test_many_angles_of_one_state_are_looped_over():
    """More inputs than fit on some lines: single states equal batches, and NaN in any place is noticed."""
    model = kt.models.star(700)
    program, numbers = traced("rnea", model)
    assert program.cuts
    kernel = Kernel(program, numbers=numbers)
    arrays = states(program, model, 9)
    np.testing.assert_array_equal(singles(kernel, [x[:2] for x in arrays]), [x[:2] for x in batch(kernel, arrays)])
    for place in (0, 7, 511, 695, 699):
        q, v, a = (x[0].copy() for x in arrays)
        q[place] = np.nan
        assert kernel.scalar_entry(q, v, a) is NotImplemented


def test_a_hundred_links_against_extended_precision():
    """rnea and aba of 100 links are good to 100 rounding errors of the largest entry (observed: 8 and 20).

    The reference runs the same source in long double, where that is more than double.
    """
    n, wide = 100, np.longdouble
    model, rng = kt.models.chain_gu(n), np.random.default_rng(1)
    q, v, x = rng.uniform(-np.pi, np.pi, n), rng.standard_normal(n), rng.standard_normal(n)
    for f in (kt.rnea, kt.aba):
        exact = f(model, q.astype(wide), v.astype(wide), x.astype(wide))
        assert np.abs(f(model, q, v, x) - exact).max() <= 100 * np.finfo(float).eps * np.abs(exact).max()


def test_a_thousand_links():
    """aba inverts rnea for 1000 links, whose programs share their code: without that they would compile for a minute.

    Handed back to rnea, the accelerations of aba give the forces to 1e-11 of the largest (backward error, about 1e3
    roundings along the chain). The accelerations themselves are off by that times the condition of M, which grows like
    the fourth power of the length and is about 1e9 here: 1e-8 is observed, 1e-6 allowed.
    """
    n = 1000
    model, rng = kt.models.chain_gu(n), np.random.default_rng(1)
    q, v, a = rng.uniform(-np.pi, np.pi, n), rng.standard_normal(n), rng.standard_normal(n)
    tau = kt.rnea(model, q, v, a)
    found = kt.aba(model, q, v, tau)
    assert np.abs(found - a).max() < 1e-6
    assert np.abs(kt.rnea(model, q, v, found) - tau).max() < 1e-11 * np.abs(tau).max()


class Terminal(io.StringIO):
    def isatty(self):
        return True


def announced(monkeypatch, stream, awaited):
    """What stderr gets while something takes long."""
    monkeypatch.setattr(progress, "SHOW_AFTER", 0.02)
    monkeypatch.setattr(progress, "SAY_AFTER", 0.02)
    monkeypatch.setattr(progress, "_said", set())
    monkeypatch.setattr(sys, "stderr", stream)
    with progress.shown("compiling aba for model 'arm'"):
        progress.stage("simplifying")
        deadline = time.monotonic() + 60.0
        while time.monotonic() < deadline and awaited not in stream.getvalue():
            time.sleep(0.02)
        time.sleep(0.1)
    return stream.getvalue()


def test_long_compiling_is_announced_in_terminals(monkeypatch):
    """A line appears once the work takes long, names it and its stage."""
    pytest.importorskip("rich")
    text = announced(monkeypatch, Terminal(), "simplifying")
    assert "compiling aba for model 'arm': simplifying" in text


def test_long_compiling_is_announced_in_notebooks_and_logs(monkeypatch):
    """Where no line can be drawn, one sentence says what takes long, and what to do about it."""
    text = announced(monkeypatch, io.StringIO(), "without compiling")
    assert text.startswith("kinetree: compiling aba for model 'arm' takes more than 0.02 s.")
    assert text.count("\n") == 1 and "kinetree.interpreted()" in text


@pytest.mark.parametrize("stream", [Terminal, io.StringIO])
def test_short_compiling_is_not_announced(monkeypatch, stream):
    """Nothing is written when the work is done before the line would appear."""
    monkeypatch.setattr(sys, "stderr", stream())
    with progress.shown("compiling"):
        pass
    assert sys.stderr.getvalue() == ""


def test_a_few_constants_of_a_large_trace_become_constants():
    """Params from the model's last number on stand for rotations; a trace with few of them has none left."""
    graph, total = Graph(), 0.0
    x = graph.input(0, 0)
    for k in range(simplify.LARGE // 2 + 1):
        total = total + (x + float(k)) * x
    total = total * graph.param(3)
    marks = outline_trace.Marks([], 3, [0.25])
    baked, roots = marks.bake(graph, [total.id])
    live = simplify.live(baked, roots)
    assert len(live) > simplify.LARGE and not any(baked.nodes[k][0] == "param" for k in live)

    def leaf(op, args):
        return 0.25 if op == "param" else 1e-3

    assert evaluate(baked, roots, leaf) == pytest.approx(evaluate(graph, [total.id], leaf), rel=1e-12)
