"""The format that the back ends take: validation, interpreter, counts, serialization."""

from __future__ import annotations

import dataclasses
import json
import pickle

import numpy as np
import pytest

from kinetree.errors import CompilationError, ShapeError
from kinetree.trace.operations import FUSED
from kinetree.trace.program import FORMAT, Program

X = ("x", (2,))
INPUTS = (("input", 0, 0), ("input", 0, 1))


def program(*code, results=None, inputs=(X,), **parts):
    """A program of one output that holds the last value."""
    code = INPUTS + code
    results = (len(code) - 1,) if results is None else results
    return Program(inputs, (("y", (len(results),)),), code, (results,), **parts)


PROLOGUE = Program(
    (("numbers", (3,)),),
    (("params", (2,)),),
    (("input", 0, 0), ("input", 0, 2), ("mul", 0, 1)),
    ((2, 1),),
)
ALL_OPERATIONS = program(
    *[("param", 0), ("param", 1), ("const", 0.1), ("neg", 0), ("add", 0, 1), ("sub", 5, 6), ("mul", 2, 7)],
    *[("div", 8, 1), ("fma", 0, 1, 9), ("fms", 3, 1, 10), ("fnma", 0, 4, 11), ("abs", 12), ("sqrt", 13), ("sin", 14)],
    *[("cos", 14), ("exp", 15), ("log", 13), ("tanh", 17), ("arctan2", 18, 16), ("lt", 0, 1), ("le", 0, 1)],
    *[("eq", 0, 1), ("and", 21, 22), ("or", 23, 24), ("not", 25), ("where", 26, 19, 20)],
    results=(12, 16, 19, 20, 27),
    checks=(("order", 21),),
    prologue=PROLOGUE,
)


def by_hand(x, y, numbers):
    """ALL_OPERATIONS written out."""
    p, r, c = numbers[0] * numbers[2], numbers[2], type(x)(0.1)
    quotient = p * (-x - (x + y)) / y
    a = c * x
    inner = r * y - (x * y + quotient)
    u = inner - a
    s, k = np.sin(np.sqrt(abs(u))), np.cos(np.sqrt(abs(u)))
    t, w = np.tanh(np.exp(s)), np.arctan2(np.log(abs(u)), k)
    return [u, k, t, w, w if (x == y or x < y) else t]


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.longdouble])
def test_interpreter_means_what_the_table_says(dtype):
    """Every operation, in every float type, against the same formulas written out."""
    x = np.array([0.3, 1.7], dtype)
    numbers = np.array([1.25, 7.0, 0.6], dtype)
    (y,) = ALL_OPERATIONS.interpret([x], numbers)
    assert y.dtype == dtype
    # about twenty operations; the sums cancel by less than a factor of ten
    np.testing.assert_allclose(y, by_hand(*x, numbers), rtol=200 * np.finfo(dtype).eps)


def test_interpreter_broadcasts_leading_axes():
    """Batches of inputs and of numbers broadcast, each state as if alone."""
    rng = np.random.default_rng(1)
    x, numbers = rng.uniform(0.1, 2.0, (4, 1, 2)), rng.uniform(0.1, 2.0, (3, 3))
    (y,) = ALL_OPERATIONS.interpret({"x": x}, numbers)
    assert y.shape == (4, 3, 5)
    for i in range(4):
        for j in range(3):
            np.testing.assert_array_equal(y[i, j], ALL_OPERATIONS.interpret([x[i, 0]], numbers[j])[0])


def test_interpreter_shapes_outputs():
    """Outputs have their declared shapes in C order, scalars and empty arrays too; inputs need not be used."""
    code = (("input", 0, 3), ("const", 2.0))
    shapes = (("a", (2, 2)), ("b", ()), ("c", (0, 3)))
    p = Program((("x", (2, 2)), ("unused", (1,))), shapes, code, ((0, 1, 1, 0), (1,), ()))
    a, b, c = p.interpret([np.arange(8.0).reshape(2, 2, 2), np.zeros((2, 1))])
    np.testing.assert_array_equal(a, [[[3, 2], [2, 3]], [[7, 2], [2, 7]]])
    np.testing.assert_array_equal(b, [2, 2])
    assert c.shape == (2, 0, 3)


def test_interpreter_gives_nan_without_warning():
    """Outside the domain the result is NaN or infinite, and pytest would turn a warning into an error."""
    p = program(("sqrt", 0), ("log", 0), ("div", 1, 1), results=(2, 3, 4))
    with np.errstate(all="raise"):
        (y,) = p.interpret([[-1.0, 0.0]])
    assert np.isnan(y).all()


def test_comparisons_with_nan_are_false():
    """lt, le and eq are false for NaN, so that their negations are true."""
    nan = np.array([np.nan, np.nan])
    for op in ("lt", "le", "eq"):
        code = (op, 0, 1), ("const", 1.0), ("const", 2.0), ("where", 2, 3, 4), ("not", 2)
        p = program(*code, results=(5,), checks=(("c", 6),))
        assert p.interpret([nan])[0] == 2.0
        assert p.violations([nan])[0][1]


def test_violations_tell_label_and_states():
    """A check is a boolean per state."""
    ((label, found),) = ALL_OPERATIONS.violations([[[1.0, 2.0], [2.0, 1.0]]], [1.0, 1.0, 1.0])
    assert label == "order"
    np.testing.assert_array_equal(found, [True, False])


def test_interpreter_names_wrong_shapes():
    """Shape errors name the array, the expected and the found shape."""
    with pytest.raises(ShapeError, match=r"x has shape \(3,\), expected \(..., 2\)"):
        program().interpret([np.zeros(3)])
    with pytest.raises(ShapeError, match=r"found 2"):
        program().interpret([np.zeros(2), np.zeros(2)])
    with pytest.raises(ShapeError, match="numbers"):
        ALL_OPERATIONS.interpret([np.zeros(2)])


def test_operations_are_counted_by_kind():
    """Every operation under its name, sine and cosine of an angle as one; leaves cost nothing."""
    operations = ALL_OPERATIONS.operations
    once = ("fma", "fms", "fnma", "div", "neg", "sqrt", "sincos", "mul", "add", "sub", "abs", "exp", "log", "tanh")
    logic = ("arctan2", "lt", "le", "eq", "and", "or", "not", "where")
    assert dict(operations) == dict.fromkeys((*once, *logic), 1)
    assert operations.instructions == 22
    assert program().operations["mul"] == 0
    with pytest.raises(KeyError):
        operations["multiplications"]


def test_totals_are_those_of_the_literature():
    """A fused operation is a multiplication and an addition."""
    operations = ALL_OPERATIONS.operations
    assert (operations.multiplications, operations.additions, operations.divisions) == (4, 5, 1)
    assert operations.total == 10
    assert tuple(map(operations.__getitem__, ("neg", "sqrt", "sincos"))) == (1, 1, 1)
    assert (sum(operations[kind] for kind in FUSED), operations.other) == (3, 12)
    assert str(operations).startswith("total 10: multiplications 4, additions 5, divisions 1\ninstructions 22: mul 1,")


@pytest.mark.parametrize(
    "code, message",
    [
        ([("add", 0)], "takes 2 arguments"),
        ([("add", 0, 2)], "does not come before"),
        ([("add", 0, -1)], "does not come before"),
        ([("power", 0, 1)], "unknown operation 'power'"),
        ([("lt", 0, 1), ("add", 0, 2)], "needs a float, but value 2 is a boolean"),
        ([("not", 0)], "needs a boolean, but value 0 is a float"),
        ([("const", 1)], "not one Python float"),
        ([("input", 0, 2)], "not an entry of the inputs"),
        ([("input", 1, 0)], "not an entry of the inputs"),
        ([("param", 0)], "prologue computes 0 params"),
        ([("lt", 0, 1)], "output 'y' refers to value 2"),
    ],
)
def test_malformed_code_is_refused(code, message):
    """Each way in which code can be wrong gives an error that names the value."""
    with pytest.raises(CompilationError, match=message):
        program(*code)


@pytest.mark.parametrize(
    "change, message",
    [
        ({"results": ()}, "0 results for 1 outputs"),
        ({"results": ((1,),)}, "has 1 results"),
        ({"checks": (("c", 0),)}, "check 'c'"),
        ({"prologue": ALL_OPERATIONS}, "prologue"),
    ],
)
def test_malformed_parts_are_refused(change, message):
    """Results, checks and prologue must fit the code."""
    with pytest.raises(CompilationError, match=message):
        dataclasses.replace(program(results=(0, 1)), **change)


def test_serialization_is_exact():
    """Reading back gives an equal program, with the same floats to the last bit, infinity included."""
    p = program(("const", 0.1), ("const", float("inf")), ("const", 5e-324), ("const", np.nextafter(0.1, 1).item()))
    for original in (ALL_OPERATIONS, p):
        copy = Program.from_bytes(original.to_bytes())
        assert copy == original
        assert copy.digest() == original.digest()


@pytest.mark.parametrize(
    "data", [b"", b"\x80\x04", b"[]", b"{}", b"[1, 2]", b"[5,1,[],[],null]", b"[5,1,[],[],null]\n[]"]
)
def test_corrupt_bytes_are_an_error(data):
    """Bytes that are no program raise CompilationError, whatever is wrong with them."""
    with pytest.raises(CompilationError):
        Program.from_bytes(data)


@pytest.mark.parametrize(
    "code",
    [
        ["input add", [0, 0, 0, 0, 1], []],
        ["input add", [0, 0, 0], []],
        ["input root", [0, 0, 0], []],
        ["input const", [0, 0], []],
        ["input", [0, 0], ["0x1p-1"]],
        ["input add", [0, 0, 0, 1], []],
    ],
)
def test_corrupt_code_is_an_error(code):
    """Too many or too few arguments or constants, an unknown operation, a value that does not come before."""
    head, late = [FORMAT, 3, [["x", [2]]], [["y", [1]]], None], [code, [[0]], [], [], []]
    with pytest.raises(CompilationError):
        Program.from_bytes(b"\n".join(json.dumps(part).encode() for part in (head, late)))


def test_bytes_of_another_version_are_refused():
    """A program written by another version of the format is not read."""
    data = program().to_bytes()
    with pytest.raises(CompilationError, match="format 999"):
        Program.from_bytes(data.replace(b"[5,", b"[999,", 1))


def test_trusted_bytes_are_read_when_they_are_needed():
    """What a kernel from the cache asks for is there at once; the rest is read then, and the program is the same."""
    data = ALL_OPERATIONS.to_bytes()
    copy = Program.from_bytes(data, trusted=True)
    assert (copy.inputs, copy.outputs, copy.prologue) == tuple(
        getattr(ALL_OPERATIONS, part) for part in ("inputs", "outputs", "prologue")
    )
    assert copy.size == len(ALL_OPERATIONS.code) and copy.params == ALL_OPERATIONS.params
    assert copy.digest() == ALL_OPERATIONS.digest()
    assert copy._late and copy == ALL_OPERATIONS and copy.to_bytes() == data
    assert pickle.loads(pickle.dumps(Program.from_bytes(data, trusted=True))) == ALL_OPERATIONS
    assert dataclasses.replace(Program.from_bytes(data, trusted=True), cuts=()) == ALL_OPERATIONS
    with pytest.raises(AttributeError, match="no attribute 'codes'"):
        getattr(copy, "codes")  # noqa: B009
    with pytest.raises(CompilationError, match="not a serialized program"):
        getattr(Program.from_bytes(data[:-5], trusted=True), "code")  # noqa: B009


@pytest.mark.parametrize(
    "change",
    [
        {"inputs": (("q", (2,)),)},
        {"outputs": (("z", (1,)),)},
        {"code": (*INPUTS, ("sub", 0, 1))},
        {"code": (*INPUTS, ("add", 0, 1), ("const", 0.0))},
        {"results": ((0,),)},
        {"prologue": PROLOGUE},
        {"cuts": (1,)},
    ],
)
def test_digest_covers_everything(change):
    """Changing any part changes the digest."""
    p = program(("add", 0, 1))
    assert dataclasses.replace(p, **change).digest() != p.digest()


def test_digest_is_the_same_everywhere():
    """The digest does not depend on the process: it is the SHA-256 of these bytes."""
    assert program(("const", 0.5), ("mul", 0, 2)).to_bytes() == (
        b'[5,4,[["x",[2]]],[["y",[1]]],null]\n'
        b'[["input input const mul",[0,0,0,1,0,2],["0x1.0000000000000p-1"]],[[3]],[],[],[]]'
    )
