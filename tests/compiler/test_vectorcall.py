"""Calls without Python in between answer and refuse as the method does that they stand for."""

import copy
import gc
import inspect
import pickle
import sys
import weakref

import numpy as np
import pytest

import kinetree as kt
from kinetree.compiler.function import Function
from kinetree.errors import NonFiniteError, ShapeError
from kinetree.native import builtin

pytestmark = pytest.mark.skipif(not builtin.available(), reason="no builtins on this interpreter")


@pytest.fixture
def f():
    """A function that has answered once, so that calls go the short way."""
    model = kt.models.double_pendulum()
    f = kt.compile(model, "rnea")
    f(*np.zeros((3, 2)))
    assert type(f) is not Function and isinstance(f, Function)
    return f


def states(*batch):
    return tuple(np.random.default_rng(5).normal(size=(3, *batch, 2)))


def test_every_form_of_arguments_gives_what_the_method_gives(f):
    """By place, by name, lists, batches, single precision, a state for a whole batch: the same bits."""
    q, v, a = states()
    Q, V, A = states(7)
    forms = [
        ((q, v, a), {}),
        ((q,), {"a": a, "v": v}),
        ((), {"q": q, "v": v, "a": a}),
        ((q, v, a), {"out": None}),
        ((list(q), tuple(v), a), {}),
        ((q.astype("f4"), v.astype("f4"), a.astype("f4")), {}),
        ((Q, V, A), {}),
        ((Q, v, a), {}),
        ((Q[:, ::-1], V, A), {}),
    ]
    for args, named in forms:
        found, expected = f(*args, **named), Function.__call__(f, *args, **named)
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)


def test_out_is_filled_and_returned(f):
    """Plain arrays, batches, strided ones, ones that overlap an input, a tuple of one."""
    q, v, a = states()
    expected = f(q, v, a)
    out = np.full(2, np.nan)
    assert f(q, v, a, out=out) is out
    np.testing.assert_array_equal(out, expected)
    strided = np.full((2, 2), np.nan)[:, 0]
    assert f(q, v, a, out=strided) is strided
    np.testing.assert_array_equal(strided, expected)
    (inside,) = (f(q, v, a, out=(np.full(2, np.nan),)),)
    np.testing.assert_array_equal(inside, expected)
    overlapping = a.copy()
    np.testing.assert_array_equal(f(q, v, overlapping, out=overlapping), expected)
    Q, V, A = states(5)
    rows = np.empty((5, 2))
    assert f(Q, V, A, out=rows) is rows
    np.testing.assert_array_equal(rows, f(Q, V, A))


def test_what_is_wrong_is_still_explained(f):
    """Neither a result by place nor a strange keyword slips through, and errors have their names."""
    q, v, a = states()
    with pytest.raises(TypeError, match="takes 3 arrays"):
        f(q, v, a, np.zeros(2))
    with pytest.raises(TypeError, match="missing a"):
        f(q, v)
    with pytest.raises(TypeError, match="missing"):
        f()
    with pytest.raises(TypeError, match="unexpected argument 'w'"):
        f(q, v, w=a)
    with pytest.raises(TypeError):
        f(q, v, out=a)
    with pytest.raises(TypeError, match="unexpected argument 'tau'"):
        f(q, v, a, tau=np.zeros(2))
    with pytest.raises(NonFiniteError, match="q"):
        f(np.array([0.0, np.nan]), v, a)
    with pytest.raises(ShapeError, match="v"):
        f(q, np.zeros(3), a)
    with pytest.raises(ShapeError, match="out for tau"):
        f(q, v, a, out=np.zeros(3))
    locked = np.zeros(2)
    locked.flags.writeable = False
    with pytest.raises(ShapeError, match="read-only"):
        f(q, v, a, out=locked)


def test_objects_are_counted_right(f):
    """A thousand calls, answered, refused or failing, keep no array alive and let none go."""
    q, v, a = states()
    out = np.empty(2)
    bad = np.array([np.nan, 0.0])
    objects = (q, v, a, out, bad, f)
    before = [sys.getrefcount(x) for x in objects]
    for _ in range(1000):
        f(q, v, a)
        f(q, v, a, out=out)
        f(q, v, list(a))
        with pytest.raises(NonFiniteError):
            f(bad, v, a)
    gc.collect()
    assert [sys.getrefcount(x) for x in objects] == before


def test_functions_are_let_go():
    """A function with its own class dies with its last reference."""
    model = kt.models.double_pendulum()
    f = kt.compile(model, "crba")
    f(np.zeros(2))
    assert type(f) is not Function
    gone = weakref.ref(f)
    del f
    gc.collect()
    assert gone() is None


def test_copies_pickles_and_signatures(f):
    """A function is still a value with a name: it pickles, copies and says what it takes."""
    q, v, a = states()
    for twin in (pickle.loads(pickle.dumps(f)), copy.deepcopy(f)):
        np.testing.assert_array_equal(twin(q, v, a), f(q, v, a))
        np.testing.assert_array_equal(twin(q, v, a), f(q, v, a))
    assert str(inspect.signature(f)) == "(q, v, a, *, out=None)"
    assert repr(f).startswith("<Function rnea(")
    assert type(f).__name__ == "Function" and type(f).__doc__ == Function.__doc__


def test_other_numbers_after_the_short_way(f):
    """A function with other parameters answers with them, on the same code."""
    q, v, a = states()
    heavier = f.model.replace(gravity=(0.0, 0.0, -20.0)) if hasattr(f.model, "replace") else None
    other = f.with_parameters(heavier)
    assert np.abs(other(q, v, a) - f(q, v, a)).max() > 1.0
    np.testing.assert_array_equal(other(q, v, a), kt.rnea(heavier, q, v, a))


def test_statewise_functions_keep_their_own_call():
    """A call that adds arguments of its own is not replaced."""
    model = kt.models.double_pendulum()
    f = kt.compile(model, "rnea")
    numbers = np.tile(model.number_values(), (3, 1))
    each = f.with_parameters(numbers)
    Q, V, A = states(3)
    for _ in range(2):
        np.testing.assert_allclose(each(Q, V, A), f(Q, V, A), rtol=1e-13, atol=1e-13)


def test_several_results_are_one_named_tuple_of_machine_code():
    """One state and batches: the class, the bits and the pickle of the method; nothing keeps the arrays alive."""
    model = kt.models.double_pendulum()
    f = kt.compile(model, ["rnea", "crba", "coriolis_forces"])
    for batch in ((), (7,)):
        q, v, a = states(*batch)
        first, again, expected = f(q, v, a), f(q, v, a), Function.__call__(f, q, v, a)
        assert type(again) is type(first) is type(expected) and again._fields == ("rnea", "crba", "coriolis_forces")
        for found in (again, pickle.loads(pickle.dumps(again)), f(q, v, a, out=tuple(map(np.empty_like, first)))):
            assert all(np.array_equal(x, y) for x, y in zip(found, expected, strict=True))
        assert gc.is_tracked(again) and [sys.getrefcount(x) for x in again] == [sys.getrefcount(x) for x in first]
        gone, kind = [], type(again)
        before = sys.getrefcount(kind)
        for _ in range(100):
            gone.append(weakref.ref(f(q, v, a).crba))
        assert not any(ref() is not None for ref in gone) and sys.getrefcount(kind) == before
    assert builtin.address_of(f.single)
