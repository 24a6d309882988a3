"""The graph: every rule is tested by reading the node that it gives."""

from __future__ import annotations

import math

import numpy as np
import pytest

from kinetree.errors import CompilationError
from kinetree.trace.expr import Condition, Expr
from kinetree.trace.graph import Graph

NAMES = "xyzt"


@pytest.fixture
def graph():
    return Graph()


@pytest.fixture
def xyz(graph):
    return [graph.input(0, k) for k in range(3)]


def read(expr):
    """The formula of a node as nested tuples, inputs by name."""

    def formula(k):
        op, *args = expr.graph.nodes[k]
        if op == "const":
            return args[0]
        if op == "input":
            return NAMES[args[1]]
        return (op, *map(formula, args))

    return formula(expr.id)


RULES = {
    # sums
    "x + 0": (lambda x, y, z: x + 0.0, "x"),
    "0 + x": (lambda x, y, z: 0 + x, "x"),
    "x - 0": (lambda x, y, z: x - 0.0, "x"),
    "0 - x": (lambda x, y, z: 0.0 - x, ("neg", "x")),
    "x - x": (lambda x, y, z: x - x, 0.0),
    "x + x": (lambda x, y, z: x + x, ("mul", 2.0, "x")),
    "y + x is x + y": (lambda x, y, z: y + x, ("add", "x", "y")),
    "1 + x is x + 1": (lambda x, y, z: 1.0 + x, ("add", "x", 1.0)),
    "x + -1 is x - 1": (lambda x, y, z: x + -1.0, ("sub", "x", 1.0)),
    "x - -1 is x + 1": (lambda x, y, z: x - -1.0, ("add", "x", 1.0)),
    "-1 - x": (lambda x, y, z: -1.0 - x, ("neg", ("add", "x", 1.0))),
    "--x": (lambda x, y, z: (-x).__neg__(), "x"),
    "x + -y": (lambda x, y, z: x + -y, ("sub", "x", "y")),
    "-x + y": (lambda x, y, z: -x + y, ("sub", "y", "x")),
    "-x + -y": (lambda x, y, z: -x + -y, ("neg", ("add", "x", "y"))),
    "x - -y": (lambda x, y, z: x - -y, ("add", "x", "y")),
    "-x - y": (lambda x, y, z: -x - y, ("neg", ("add", "x", "y"))),
    "-x - -y": (lambda x, y, z: -x - -y, ("sub", "y", "x")),
    "(x + y) - y": (lambda x, y, z: (x + y) - y, "x"),
    "(x + y) - x": (lambda x, y, z: (x + y) - x, "y"),
    "(x - y) + y": (lambda x, y, z: (x - y) + y, "x"),
    "y + (x - y)": (lambda x, y, z: y + (x - y), "x"),
    "(x - y) - x": (lambda x, y, z: (x - y) - x, ("neg", "y")),
    "x - (x - y)": (lambda x, y, z: x - (x - y), "y"),
    "x - (x + y)": (lambda x, y, z: x - (x + y), ("neg", "y")),
    "y - (x + y)": (lambda x, y, z: y - (x + y), ("neg", "x")),
    "(x + 1) + 2": (lambda x, y, z: (x + 1.0) + 2.0, ("add", "x", 3.0)),
    "(x - 1) + 1": (lambda x, y, z: (x - 1.0) + 1.0, "x"),
    "(x - 1) - 2": (lambda x, y, z: (x - 1.0) - 2.0, ("sub", "x", 3.0)),
    "(1 - x) + 2": (lambda x, y, z: (1.0 - x) + 2.0, ("sub", 3.0, "x")),
    "3 - (x + 1)": (lambda x, y, z: 3.0 - (x + 1.0), ("neg", ("sub", "x", 2.0))),
    "3 - (1 - x)": (lambda x, y, z: 3.0 - (1.0 - x), ("add", "x", 2.0)),
    # products
    "x * 0": (lambda x, y, z: x * 0.0, 0.0),
    "0 * x": (lambda x, y, z: 0 * x, 0.0),
    "x * 1": (lambda x, y, z: x * 1.0, "x"),
    "x * -1": (lambda x, y, z: x * -1.0, ("neg", "x")),
    "x * 3 is 3 x": (lambda x, y, z: x * 3.0, ("mul", 3.0, "x")),
    "-3 x": (lambda x, y, z: -3.0 * x, ("neg", ("mul", 3.0, "x"))),
    "y x is x y": (lambda x, y, z: y * x, ("mul", "x", "y")),
    "(-x) y": (lambda x, y, z: (-x) * y, ("neg", ("mul", "x", "y"))),
    "x (-y)": (lambda x, y, z: x * (-y), ("neg", ("mul", "x", "y"))),
    "(-x) (-y)": (lambda x, y, z: (-x) * (-y), ("mul", "x", "y")),
    "2 (3 x)": (lambda x, y, z: 2.0 * (3.0 * x), ("mul", 6.0, "x")),
    "2 (3 / x)": (lambda x, y, z: 2.0 * (3.0 / x), ("div", 6.0, "x")),
    "x (1 / x)": (lambda x, y, z: x * (1.0 / x), 1.0),
    "(y / x) x": (lambda x, y, z: (y / x) * x, "y"),
    "x (y / x)": (lambda x, y, z: x * (y / x), "y"),
    # quotients
    "x / 1": (lambda x, y, z: x / 1.0, "x"),
    "x / -1": (lambda x, y, z: x / -1.0, ("neg", "x")),
    "0 / x": (lambda x, y, z: 0.0 / x, 0.0),
    "x / x": (lambda x, y, z: x / x, 1.0),
    "x / 4": (lambda x, y, z: x / 4.0, ("mul", 0.25, "x")),
    "x / 3 stays": (lambda x, y, z: x / 3.0, ("div", "x", 3.0)),
    "x / -3": (lambda x, y, z: x / -3.0, ("neg", ("div", "x", 3.0))),
    "-3 / x": (lambda x, y, z: -3.0 / x, ("neg", ("div", 3.0, "x"))),
    "(-x) / y": (lambda x, y, z: (-x) / y, ("neg", ("div", "x", "y"))),
    "x / (-y)": (lambda x, y, z: x / (-y), ("neg", ("div", "x", "y"))),
    "(x y) / y": (lambda x, y, z: (x * y) / y, "x"),
    "(x y) / x": (lambda x, y, z: (x * y) / x, "y"),
    "1 / (x / y)": (lambda x, y, z: 1.0 / (x / y), ("div", "y", "x")),
    # functions
    "sin(-x)": (lambda x, y, z: (-x).sin(), ("neg", ("sin", "x"))),
    "cos(-x)": (lambda x, y, z: (-x).cos(), ("cos", "x")),
    "sin(y - x) after x - y": (lambda x, y, z: (x - y).sin() + (y - x).sin(), 0.0),
    "sin^2 + cos^2": (lambda x, y, z: x.sin() * x.sin() + x.cos() ** 2, 1.0),
    "cos^2 + sin^2": (lambda x, y, z: x.cos() ** 2 + x.sin() ** 2, 1.0),
    "tanh(-x)": (lambda x, y, z: (-x).tanh(), ("neg", ("tanh", "x"))),
    "abs(-x)": (lambda x, y, z: abs(-x), ("abs", "x")),
    "abs(abs(x))": (lambda x, y, z: abs(x).absolute(), ("abs", "x")),
    "arctan2": (lambda x, y, z: y.arctan2(x), ("arctan2", "y", "x")),
    "x ** 0": (lambda x, y, z: x**0, 1.0),
    "x ** 2": (lambda x, y, z: x**2, ("mul", "x", "x")),
    "x ** 3": (lambda x, y, z: x**3, ("mul", "x", ("mul", "x", "x"))),
    "x ** -1": (lambda x, y, z: x**-1, ("div", 1.0, "x")),
    "x ** 0.5": (lambda x, y, z: x**0.5, ("sqrt", "x")),
    # selections
    "where equal branches": (lambda x, y, z: (x < y).where(z, z), "z"),
    "where never": (lambda x, y, z: (x < x).where(y, z), "z"),
    "where not": (lambda x, y, z: (~(x < y)).where(y, z), ("where", ("lt", "x", "y"), "z", "y")),
    "where of negatives": (lambda x, y, z: (x < y).where(-y, -z), ("neg", ("where", ("lt", "x", "y"), "y", "z"))),
    "x > y is y < x": (lambda x, y, z: x > y, ("lt", "y", "x")),
    "x >= 1": (lambda x, y, z: x >= 1.0, ("le", 1.0, "x")),
    "1 > x": (lambda x, y, z: 1.0 > x, ("lt", "x", 1.0)),
    "y.equal(x)": (lambda x, y, z: y.equal(x), ("eq", "x", "y")),
    "c and c": (lambda x, y, z: (x < y) & (x < y), ("lt", "x", "y")),
    "c and true": (lambda x, y, z: (x < y) & True, ("lt", "x", "y")),
    "c and false": (lambda x, y, z: (x < y) & False, ("false",)),
    "c or true": (lambda x, y, z: (x < y) | True, ("true",)),
    "c or false": (lambda x, y, z: False | (x < y), ("lt", "x", "y")),
    "not not c": (lambda x, y, z: ~~(x < y), ("lt", "x", "y")),
    "not true": (lambda x, y, z: ~((x < y) | True), ("false",)),
}


@pytest.mark.parametrize("name", RULES)
def test_rule(name, xyz):
    """The rule of this name gives the node that the table states."""
    build, expected = RULES[name]
    assert read(build(*xyz)) == expected


def test_opposite_differences_share_one_node(xyz):
    """Of x - y and y - x only the first one asked for exists; the other is its negation."""
    x, y, _ = xyz
    first = y - x
    assert read(first) == ("sub", "y", "x")
    assert (x - y) == -first


def test_common_subexpressions_are_one_node(graph, xyz):
    """Asking twice for the same formula makes no second node."""
    x, y, z = xyz
    first = (x * y + z).sin()
    size = len(graph)
    assert (z + y * x).sin() == first
    assert len(graph) == size


@pytest.mark.parametrize(
    "function", [math.sin, math.cos, math.sqrt, math.exp, math.log, math.tanh], ids=lambda f: f.__name__
)
def test_functions_of_constants_fold(graph, function):
    """A function of a constant is a constant, the one that math gives."""
    assert getattr(graph.constant(0.7), function.__name__)().constant == function(0.7)


def test_arithmetic_of_constants_folds(graph):
    """Arithmetic of constants is that of floats, also with NumPy scalars and integers."""
    c = graph.constant(3.0)
    results = [c + np.float64(2.0), np.float32(2.0) - c, c * np.int64(2), 1 / c, -c, abs(-c), c.arctan2(4.0)]
    assert [r.constant for r in results] == [5.0, -1.0, 6.0, 1 / 3, -3.0, 3.0, math.atan2(3.0, 4.0)]
    truths = [c < 4.0, c > 4.0, c <= 3.0, c >= 3.5, c.equal(2.0), c.equal(3)]
    assert [t.constant for t in truths] == [True, False, True, False, False, True]


def test_division_by_constant_zero_is_an_error(xyz):
    """x / 0 would be NaN or infinite for every input: the message says so."""
    with pytest.raises(CompilationError, match="division by the constant 0"):
        xyz[0] / 0.0


@pytest.mark.parametrize("op, argument", [("sqrt", -1.0), ("log", 0.0), ("exp", 1e4)])
def test_constants_outside_the_domain_are_errors(graph, op, argument):
    """A function is not folded to NaN or infinity."""
    with pytest.raises(CompilationError, match=op):
        getattr(graph.constant(argument), op)()


def test_nan_is_no_constant(xyz):
    """NaN in a model is reported when it meets traced code, not propagated."""
    with pytest.raises(CompilationError, match="NaN"):
        xyz[0] + math.nan


@pytest.mark.parametrize(
    "build, op",
    [
        (lambda inf: inf * 0.0, "mul"),
        (lambda inf: inf - inf, "sub"),
        (lambda inf: inf + -math.inf, "add"),
        (lambda inf: inf / inf, "div"),
        (lambda inf: (inf / math.inf) * 1e308, "mul"),
    ],
)
def test_operations_without_finite_result_are_not_folded(graph, build, op):
    """Infinity is allowed as a constant (a limit that does not exist), but inf * 0 and the like stay for run time."""
    assert build(graph.constant(math.inf)).graph.nodes[-1][0] == op


def test_overflow_and_underflow_of_constant_factors_are_not_folded(xyz):
    """1e300 (1e300 x) keeps both factors, and 1e-300 (1e-300 x) is not 0."""
    x = xyz[0]
    assert read(1e300 * (1e300 * x)) == ("mul", 1e300, ("mul", 1e300, "x"))
    assert read(1e-300 * (1e-300 * x)) == ("mul", 1e-300, ("mul", 1e-300, "x"))


def test_negative_zero_is_zero(graph):
    """-0.0 and 0.0 are one constant, so that both count as structural zeros."""
    assert graph.constant(-0.0) == graph.constant(0.0)


@pytest.mark.parametrize("use", [bool, float, int, math.sin, lambda x: [1, 2][x]])
def test_values_cannot_be_taken_out(xyz, use):
    """Branching on a traced value, or handing it to math, raises an error that names where."""
    with pytest.raises(CompilationError, match="where"):
        use(xyz[0])


def test_conditions_cannot_be_branched_on(xyz):
    """``if x < y:`` raises and so does the chained comparison that hides one."""
    x, y, z = xyz
    with pytest.raises(CompilationError, match="where"):
        assert x < y
    with pytest.raises(CompilationError, match="where"):
        x < y < z  # noqa: B015


def test_comparing_with_numbers_by_equality_is_refused(xyz):
    """``x == 0.0`` would silently compare objects; ``equal`` records the comparison."""
    with pytest.raises(CompilationError, match="equal"):
        xyz[0] == 0.0  # noqa: B015


def test_symbols_serve_in_dicts_and_sets(xyz):
    """Equality and hash are those of the node."""
    x, y, _ = xyz
    table = {x + y: "sum", x: "x"}
    assert table[y + x] == "sum"
    assert x != y and x not in (None, "x", y)
    assert len({x * y, y * x}) == 1


def test_graphs_do_not_mix(xyz):
    """A value kept from an earlier trace is refused."""
    with pytest.raises(CompilationError, match="two traces"):
        xyz[0] + Graph().input(0, 0)
    with pytest.raises(CompilationError, match="two traces"):
        (xyz[0] < 1.0) & (Graph().input(0, 0) < 1.0)


def test_conditions_have_no_arithmetic(xyz):
    """A condition times a number is a mistake that the message explains."""
    x, y, _ = xyz
    with pytest.raises(CompilationError, match=r"where\(1.0, 0.0\)"):
        x * (x < y)
    with pytest.raises(TypeError):
        (x < y) * 2.0


@pytest.mark.parametrize("exponent", [0.3, 1.5, 100, math.nan, "2"])
def test_other_powers_are_refused(xyz, exponent):
    """Only small integers and +-0.5 are powers that unroll."""
    with pytest.raises(CompilationError, match="exp"):
        xyz[0] ** exponent


def test_unknown_operands_are_left_to_them(xyz):
    """An operand of another type gets its turn (dual numbers, vectors of the algebra); arrays are refused."""

    class Other:
        def __radd__(self, other):
            return "mine"

    assert xyz[0] + Other() == "mine"
    with pytest.raises(TypeError):
        np.ones(2) * xyz[0]
    with pytest.raises(TypeError):
        xyz[0] * None
    with pytest.raises(CompilationError, match="list"):
        xyz[0].arctan2([1.0])


def test_numpy_scalars_stand_on_either_side(xyz):
    """NumPy's scalars, on the left too, leave the operation to the expression."""
    x = xyz[0]
    assert np.float64(2.0) * x == x * np.float32(2.0) == x * np.array(2.0) == 2 * x
    assert isinstance(np.float64(2.0) < x, Condition)
    assert isinstance(np.longdouble(2.0) - x, Expr)


def test_power_costs_a_logarithmic_number_of_products(graph):
    """x^15 takes 6 products by repeated squaring."""
    x = graph.input(0, 0)
    size = len(graph)
    x**15  # noqa: B018
    assert len(graph) - size == 6


def test_wrap_gives_the_kind_of_the_node(graph, xyz):
    """`wrap` tells conditions from floats."""
    x, y, _ = xyz
    assert isinstance(graph.wrap((x < y).id), Condition)
    assert graph.wrap((x * y).id) == x * y
