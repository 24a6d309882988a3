"""From graph to program: the passes that know uses, the prologue, fusion, order, and random formulas as the referee."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kinetree.errors import CompilationError
from kinetree.spatial import Symmetric3, Vector3, scalar
from kinetree.trace.graph import Graph
from kinetree.trace.lowering import lower

SIZE = 6


def trace(function, inputs=SIZE, params=SIZE, checks=()):
    """Lower ``function(x, p)``, whose result is one scalar or a list."""
    graph = Graph()
    x = [graph.input(0, k) for k in range(inputs)]
    p = [graph.param(k) for k in range(params)]
    y = function(x, p)
    y = y if isinstance(y, list) else [y]
    return lower(graph, [("x", (inputs,))], [("y", (len(y),), y)], checks, numbers=params)


def read(program, result=0):
    """The formula of a result as nested tuples: inputs are x0, x1, ..., params p0, p1, ..."""

    def formula(k):
        op, *args = program.code[k]
        if op == "const":
            return args[0]
        if op == "input":
            return f"x{args[1]}"
        return f"p{args[0]}" if op == "param" else (op, *map(formula, args))

    return formula(program.results[0][result])


def same_terms(function, **sizes):
    """The program agrees with the function on floats, to rounding."""
    program = trace(function, **sizes)
    rng = np.random.default_rng(3)
    x, p = rng.uniform(0.5, 2.0, SIZE), rng.uniform(0.5, 2.0, SIZE)
    expected = function([float(v) for v in x], [float(v) for v in p])
    np.testing.assert_allclose(program.interpret([x], p)[0], np.atleast_1d(expected), rtol=1e-13)  # a few tens of eps
    return program


# Rules that need to know uses ---------------------------------------------------------------------------------------


def test_factoring_of_sums():
    """a b + a c -> a (b + c): one product less."""
    assert read(same_terms(lambda x, p: x[0] * x[1] + x[0] * x[2])) == ("mul", "x0", ("add", "x1", "x2"))
    assert read(same_terms(lambda x, p: x[0] * x[1] - x[2] * x[0])) == ("mul", "x0", ("sub", "x1", "x2"))


def test_factoring_of_constants():
    """c1 x + c2 x -> (c1 + c2) x."""
    assert read(same_terms(lambda x, p: 2.0 * x[0] + 3.0 * x[0])) == ("mul", 5.0, "x0")
    assert read(same_terms(lambda x, p: 0.3 * x[0] + 0.3 * x[1])) == ("mul", 0.3, ("add", "x0", "x1"))


def test_factoring_of_longer_products_and_sums():
    """Common factors are found in products of products, and again in the sums that factoring makes."""
    program = same_terms(lambda x, p: (x[0] * x[1]) * x[2] + (x[2] * x[3]) * x[0])
    assert program.operations.multiplications == 2
    program = same_terms(lambda x, p: x[0] * x[1] + x[0] * x[2] + x[0] * x[3])
    assert program.operations.multiplications == 1
    program = same_terms(lambda x, p: x[0] * x[1] + (x[0] * x[1]) * x[2])
    assert program.operations.multiplications <= 2


def test_no_factoring_of_products_used_elsewhere():
    """A product that lives on would not be saved."""
    program = same_terms(lambda x, p: [x[0] * x[1] + x[0] * x[2], x[0] * x[1]])
    assert read(program) == ("fma", "x0", "x2", ("mul", "x0", "x1"))


def test_shared_reciprocal():
    """x / b and y / b share 1 / b; a single quotient stays."""
    program = same_terms(lambda x, p: [x[0] / x[2], x[1] / x[2], x[2] / x[0]])
    assert program.operations.divisions == 2
    assert read(program, 1) == ("mul", "x1", ("div", 1.0, "x2"))
    assert read(program, 2) == ("div", "x2", "x0")


def test_division_by_a_model_number_happens_in_the_prologue():
    """x / p -> x (1 / p)."""
    program = same_terms(lambda x, p: x[0] / p[0])
    assert read(program) == ("mul", "x0", "p0")
    assert read(program.prologue) == ("div", 1.0, "x0")


def test_single_division_by_a_constant_stays_exact():
    """x / 3 is not x times a rounded third."""
    assert read(same_terms(lambda x, p: x[0] / 3.0)) == ("div", "x0", 3.0)


@pytest.mark.parametrize(
    "function, expected",
    [
        (lambda x, p: -(2.0 * x[0]), ("mul", -2.0, "x0")),
        (lambda x, p: -((x[1] - x[0]) * x[2]), ("mul", "x2", ("sub", "x0", "x1"))),
        (lambda x, p: [x[0] - x[1] + x[2] * 0.0, x[1] - x[0]][1], ("sub", "x1", "x0")),
        (lambda x, p: -((x[0] - x[1]) + x[2]), ("sub", ("sub", "x1", "x0"), "x2")),
        (lambda x, p: -((x[0] - x[1]) / x[2]), ("div", ("sub", "x1", "x0"), "x2")),
        (lambda x, p: -(p[0] * x[0]), ("mul", "x0", "p0")),
        (lambda x, p: -(x[1] * x[0]), ("neg", ("mul", "x0", "x1"))),
    ],
)
def test_negations_are_absorbed_below(function, expected):
    """A sign in front of a value used once goes into a difference, a constant or a param."""
    assert read(same_terms(function)) == expected


def test_negation_of_a_shared_value_stays():
    """What is used with both signs is computed once."""
    program = same_terms(lambda x, p: [x[0] - x[1], x[1] - x[0]])
    assert program.operations.additions == 1
    assert program.operations["neg"] == 1


def test_deep_chains_do_not_exhaust_the_stack():
    """Sums and products of thousands of terms are lowered without recursion."""

    def chain(x, p):
        total = product = x[0]
        for k in range(3000):
            total = total + (x[k % SIZE] - p[k % SIZE] if k % 2 else x[(k + 1) % SIZE].sin())
            product = product * (x[k % SIZE] + float(k))
        return [-total, -product]

    assert trace(chain).operations.total > 6000


# Prologue -----------------------------------------------------------------------------------------------------------


def test_prologue_holds_what_depends_on_numbers_alone():
    """m * a + n, wanted by the state's code, is one param."""
    program = same_terms(lambda x, p: x[0] * (p[0] * 3.0 + p[1]))
    assert read(program) == ("mul", "x0", "p0")
    assert read(program.prologue) == ("fma", 3.0, "x0", "x1")


def test_products_and_sums_are_regrouped_around_numbers():
    """p1 (p2 x) -> (p1 p2) x and (x + p1) - p2 -> x + (p1 - p2)."""
    assert same_terms(lambda x, p: p[0] * (p[1] * x[0])).operations.total == 1
    assert same_terms(lambda x, p: (x[0] + p[0]) - p[1]).operations.total == 1
    assert same_terms(lambda x, p: (p[0] - x[0]) + p[1] + 2.0).operations.total == 1
    assert same_terms(lambda x, p: ((x[0] * p[0]) * (x[1] * p[1])) * 0.5).operations.total == 2


def test_products_with_numbers_used_elsewhere_are_not_regrouped():
    """p2 x is needed anyway: nothing would be saved."""
    program = same_terms(lambda x, p: [p[1] * x[0], p[0] * (p[1] * x[0])])
    assert program.params == 2


def test_outputs_may_be_params():
    """An output that depends on numbers alone is a param; a plain number passes through."""
    program = same_terms(lambda x, p: [p[0] * p[1], p[2] + x[0], p[2]])
    assert program.params == 2
    assert program.operations.total == 1


def test_decisions_about_numbers_stay_floats():
    """Params are floats: a condition on numbers is evaluated per state, unless its result is pure."""
    program = same_terms(lambda x, p: scalar.where(p[0] < p[1], x[0], x[1]))
    assert read(program) == ("where", ("lt", "p0", "p1"), "x0", "x1")
    program = same_terms(lambda x, p: scalar.where(p[0] < p[1], p[2], p[3]) * x[0])
    assert read(program) == ("mul", "x0", "p0")


def test_no_prologue_without_numbers():
    """A trace that uses no numbers, only constants, has no prologue, even if a constant could not be folded."""
    assert trace(lambda x, p: x[0] + 1.0).prologue is None
    assert trace(lambda x, p: x[0] + (x[1] * 0.0 + math.inf) * 1e-3).prologue is None


def test_too_few_numbers_are_reported():
    """The model must have the numbers that the trace used."""
    graph = Graph()
    with pytest.raises(CompilationError, match="number 4, but the model has 3"):
        lower(graph, [], [("y", (), graph.param(4))], numbers=3)


# Fusion and order ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "function, expected",
    [
        (lambda x, p: x[0] * x[1] + x[2], ("fma", "x0", "x1", "x2")),
        (lambda x, p: x[2] + x[0] * x[1], ("fma", "x0", "x1", "x2")),
        (lambda x, p: x[0] * x[1] - x[2], ("fms", "x0", "x1", "x2")),
        (lambda x, p: x[2] - x[0] * x[1], ("fnma", "x0", "x1", "x2")),
        (lambda x, p: x[0] * x[1] + x[2] * x[3], ("fma", "x2", "x3", ("mul", "x0", "x1"))),
        (lambda x, p: x[0] * x[1] - x[2] * x[3], ("fnma", "x2", "x3", ("mul", "x0", "x1"))),
    ],
)
def test_products_are_fused_into_sums(function, expected):
    """A product used once by a sum is one operation with it."""
    program = same_terms(function)
    assert read(program) == expected
    assert program.operations.additions == 1


def test_products_used_twice_are_not_fused():
    """Fusing a shared product would compute it twice."""
    program = same_terms(lambda x, p: [x[0] * x[1] + x[2], x[0] * x[1] - x[3]])
    assert [op for op, *_ in program.code if op in ("mul", "fma", "fms")] == ["mul"]


def test_order_is_that_of_creation():
    """Operations stand in the order in which they were asked for; leaves at their first use; dead ones nowhere."""

    def function(x, p):
        x[4].exp()
        second = x[1].tanh()
        first = x[0].sqrt()
        return [first, second, 7.0, x[5]]

    assert trace(function).code == (
        *(("input", 0, 1), ("tanh", 0), ("input", 0, 0), ("sqrt", 2)),
        *(("input", 0, 5), ("const", 7.0)),
    )


def test_sine_and_cosine_of_an_angle_are_adjacent():
    """Back ends compute both at once."""

    def function(x, p):
        s = x[0].sin()
        t = s * x[1]
        return [t, x[0].cos()]

    program = trace(function)
    ops = [op for op, *_ in program.code]
    assert abs(ops.index("sin") - ops.index("cos")) == 1
    assert program.operations["sincos"] == 1


# The face of lower --------------------------------------------------------------------------------------------------


def test_outputs_may_be_nested_and_hold_numbers():
    """Entries come flat or nested, numbers among them; their order is C order."""
    graph = Graph()
    x = graph.input(0, 0)
    outputs = [("a", (2, 2), [[x, 0.0], (1, np.float64(2.0))]), ("b", (), x), ("c", (0,), [])]
    program = lower(graph, [("x", (1,))], outputs)
    a, b, c = program.interpret([[5.0]])
    np.testing.assert_array_equal(a, [[5.0, 0.0], [1.0, 2.0]])
    assert b == 5.0 and c.shape == (0,)


@pytest.mark.parametrize(
    "entries, message",
    [
        (lambda g: [g.input(0, 0)] * 3, "has 3 entries"),
        (lambda g: [g.input(0, 0), g.input(0, 0) < 1.0], "condition"),
        (lambda g: [1.0, None], "NoneType"),
        (lambda g: [1.0, Graph().input(0, 0)], "another trace"),
    ],
)
def test_wrong_outputs_are_reported(entries, message):
    """Each mistake in the entries of an output names the output."""
    graph = Graph()
    with pytest.raises(CompilationError, match=f"'y'.*{message}"):
        lower(graph, [("x", (1,))], [("y", (2,), entries(graph))])


def test_checks_are_kept_unless_they_cannot_fail():
    """Labels go with conditions; one that is always false is dropped, one that is always true is an error."""
    graph = Graph()
    x = graph.input(0, 0)
    checks = [("positive", x < 0.0), ("never", False), ("folded", graph.constant(1.0) < 0.0), ("small", x > 9.0)]
    program = lower(graph, [("x", (1,))], [("y", (), 2.0 * x)], checks)
    assert [label for label, _ in program.checks] == ["positive", "small"]
    assert [bool(found) for _, found in program.violations([[10.0]])] == [False, True]
    with pytest.raises(CompilationError, match="'wrong' fails for every input"):
        lower(graph, [("x", (1,))], [("y", (), x)], [("wrong", True)])


# Featherstone, table 10.3 -------------------------------------------------------------------------------------------


def featherstone(v, I, s):
    """tau = (v x I v) . s, in 15 + 9 + 5 scalar operations."""
    t = [I[i][0] * v[0] + I[i][1] * v[1] + I[i][2] * v[2] for i in range(3)]
    p = [v[1] * t[2] - v[2] * t[1], v[2] * t[0] - v[0] * t[2], v[0] * t[1] - v[1] * t[0]]
    return p[0] * s[0] + p[1] * s[1] + p[2] * s[2]


DIAGONAL = [[1.5, 0.0, 0.0], [0.0, 1.6, 0.0], [0.0, 0.0, 1.7]]


class Counting:
    """A scalar that counts the operations done with it."""

    done = 0

    def _count(self, other):
        Counting.done += 1
        return Counting()

    __add__ = __sub__ = __mul__ = _count


def test_symbolic_simplification_example():
    """Table 10.3: 29 operations as written; 5 by the graph's rules alone; the 2 of the optimum after factoring."""
    Counting.done = 0
    featherstone(*([[Counting()] * 3, [[Counting()] * 3] * 3, [Counting()] * 3]))
    assert Counting.done == 29
    graph = Graph()
    v = [graph.input(0, k) for k in range(3)]
    tau = featherstone(v, DIAGONAL, [0.0, 0.0, 1.0])
    assert len({k for k in _below(graph, tau.id) if graph.nodes[k][0] in ("add", "sub", "mul")}) == 5
    program = lower(graph, [("v", (3,))], [("tau", (), tau)])
    assert program.operations.multiplications == program.operations.total == 2
    v = [0.3, -0.7, 0.2]
    assert program.interpret([v])[0] == pytest.approx(featherstone(v, DIAGONAL, [0.0, 0.0, 1.0]), rel=1e-14)


def test_symbolic_simplification_example_on_the_algebra():
    """The same formula on the library's vectors gives the same program."""
    graph = Graph()
    v = Vector3(*(graph.input(0, k) for k in range(3)))
    tau = v.cross(Symmetric3(1.5, 0.0, 1.6, 0.0, 0.0, 1.7) @ v).dot(Vector3(0.0, 0.0, 1.0))
    program = lower(graph, [("v", (3,))], [("tau", (), tau)])
    assert read(program) == ("mul", 1.6 - 1.5, ("mul", "x0", "x1"))


def _below(graph, k):
    yield k
    op, *args = graph.nodes[k]
    if op not in ("const", "input", "param"):
        for a in args:
            yield from _below(graph, a)


# Random formulas ----------------------------------------------------------------------------------------------------

CONSTANTS = (0.0, 1.0, -1.0, 2.0, 0.5, -3.0, 0.1)
LEAF = st.one_of(
    st.tuples(st.just("const"), st.sampled_from(CONSTANTS)),
    st.tuples(st.just("x"), st.integers(0, 2)),
    st.tuples(st.just("p"), st.integers(0, 2)),
)
TREE = st.recursive(
    LEAF,
    lambda t: st.one_of(
        st.tuples(st.sampled_from(("add", "sub", "mul", "div", "neg", "wave", "root")), t, t),
        st.tuples(st.just("where"), st.integers(0, 2), t, t),
    ),
    max_leaves=24,
)


def evaluate(tree, x, p):
    """Value of a random formula over any scalar, and a magnitude that rounding errors are relative to."""
    op, *args = tree
    if op == "const":
        return args[0], abs(args[0])
    if op in ("x", "p"):
        return (x if op == "x" else p)[args[0]], 2.0
    (a, size_a), (b, size_b) = (evaluate(t, x, p) for t in args[-2:])
    match op:
        case "add":
            return a + b, size_a + size_b
        case "sub":
            return a - b, size_a + size_b
        case "mul":
            return a * b, size_a * size_b
        case "neg":
            return -a, size_a
        case "div":  # the denominator is at least 1; its error is at most that of b^2
            return a / (b * b + 1.0), size_a * (1.0 + size_b) ** 2
        case "wave":
            s, c = scalar.sincos(a)
            return s * s * b + c * b + c * c * b, 4.0 * (1.0 + size_a) * size_b
        case "root":
            return scalar.sqrt(a * a + 1.0) - scalar.tanh(b), (1.0 + size_a) ** 2 + size_b
        case "where":
            return scalar.where(x[args[0]] < 0.25, a, b), size_a + size_b


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.lists(TREE, min_size=1, max_size=3), st.integers(0, 2**31))
@example([("neg", ("mul", ("x", 0), ("const", -3.0)), ("x", 0))], 0)
@example([("div", ("x", 0), ("x", 1)), ("div", ("p", 0), ("x", 1)), ("div", ("x", 1), ("p", 1))], 1)
def test_random_formulas_keep_their_value(trees, seed):
    """Whatever is simplified, hoisted, factored and fused, the value is that of the formula, to rounding."""
    rng = np.random.default_rng(seed)
    x, p = rng.uniform(-2.0, 2.0, 3), rng.uniform(-2.0, 2.0, 3)
    program = trace(lambda x, p: [evaluate(tree, x, p)[0] for tree in trees], 3, 3)
    (y,) = program.interpret([x], p)
    for tree, found in zip(trees, y, strict=True):
        expected, size = evaluate(tree, x.tolist(), p.tolist())
        # 24 leaves, at most seven operations between two of them: some 200 roundings of eps times the magnitude
        assert abs(found - expected) <= 200 * np.finfo(float).eps * size


@settings(max_examples=50, deadline=None, derandomize=True)
@given(TREE, st.integers(0, 2**31))
def test_baked_numbers_and_model_numbers_agree(tree, seed):
    """A program with numbers as params gives what the program with the same numbers baked in gives, to rounding."""
    rng = np.random.default_rng(seed)
    x, p = rng.uniform(-2.0, 2.0, (5, 3)), rng.uniform(-2.0, 2.0, 3)
    free = trace(lambda x, p: evaluate(tree, x, p)[0], 3, 3).interpret([x], p)[0]
    baked = trace(lambda x, _: evaluate(tree, x, p.tolist())[0], 3, 0).interpret([x])[0]
    size = evaluate(tree, x[0].tolist(), p.tolist())[1]
    np.testing.assert_allclose(free, baked, rtol=0, atol=400 * np.finfo(float).eps * size)


@settings(max_examples=50, deadline=None, derandomize=True)
@given(TREE)
def test_lowering_is_reproducible(tree):
    """The same trace gives the same program: the cache finds it again."""
    first, second = (trace(lambda x, p: evaluate(tree, x, p)[0], 3, 3) for _ in range(2))
    assert first == second and first.digest() == second.digest()
