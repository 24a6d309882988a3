"""Functions over the rows of arrays, and rows found by row numbers."""

from __future__ import annotations

import numpy as np
import pytest

from kinetree.compiler.row_function import GROUP, RowFunction, conflict_free
from kinetree.errors import ShapeError

PUSH = RowFunction(
    "push", lambda a, b, c, s: ([a[0] + c * s, a[1] * b[1]], [b[0] - c * s, b[1] + a[0]]), "a[2] b[2] c s", "u[2] w[2]"
)


def one_by_one(z, first, second, c, s):
    """The same in Python, in order."""
    z = z.copy()
    for k, (i, j) in enumerate(zip(first, second, strict=True)):
        a, b = z[i].copy(), z[j].copy()
        z[i], z[j] = (a[0] + c[k] * s, a[1] * b[1]), (b[0] - c[k] * s, b[1] + a[0])
    return z


def test_rows_are_evaluated_one_by_one():
    """A shared input has one row for all."""
    rng = np.random.default_rng(0)
    a, b, c = rng.normal(size=(13, 2)), rng.normal(size=(13, 2)), rng.normal(size=13)
    u, w = PUSH(a=a, b=b, c=c, s=np.array(2.0))
    assert u == pytest.approx(np.column_stack([a[:, 0] + 2.0 * c, a[:, 1] * b[:, 1]]), rel=1e-15)
    assert w == pytest.approx(np.column_stack([b[:, 0] - 2.0 * c, b[:, 1] + a[:, 0]]), rel=1e-15)


@pytest.mark.seeds(5)
def test_results_of_a_group_are_inputs_of_the_next(seed):
    """Rows by row numbers, read and written in place: as in Python, one after the other."""
    rng = np.random.default_rng(seed)
    z = rng.uniform(0.5, 1.5, size=(40, 2))
    both = np.concatenate([rng.permutation(40)[: 2 * GROUP].reshape(-1, 2) for _ in range(9)])
    first, second = np.ascontiguousarray(both.T)
    c, s = rng.normal(size=len(both)), np.array(0.3)
    expected = one_by_one(z, first, second, c, 0.3)
    given = {"a": (z, first), "b": (z, second), "c": c, "s": s}
    assert PUSH.indexed(len(both), given, {"u": (z, first), "w": (z, second)})() == 0
    assert z == pytest.approx(expected, rel=1e-14)


def test_a_call_may_be_repeated_over_new_values():
    """The arrays are read at each call."""
    z, c = np.ones((2, 2)), np.array([1.0])
    first, second = np.array([0]), np.array([1])
    given = {"a": (z, first), "b": (z, second), "c": c, "s": np.array(1.0)}
    call = PUSH.indexed(1, given, {"u": (z, first), "w": (z, second)})
    call()
    c[0] = 5.0
    call()
    assert z[:, 0].tolist() == [7.0, -5.0]


@pytest.mark.seeds(5)
def test_groups_have_one_color(seed):
    """All rows once, groups of `GROUP` of one color, filled up with -1."""
    colors = np.random.default_rng(seed).integers(0, 4, size=37)
    order = conflict_free(colors)
    assert len(order) % GROUP == 0
    assert sorted(order[order >= 0].tolist()) == list(range(37))
    for group in order.reshape(-1, GROUP):
        assert len(set(colors[group[group >= 0]].tolist())) == 1


@pytest.mark.parametrize(
    "wrong",
    [
        {"c": np.zeros(3)},
        {"c": np.zeros(2, np.float32)},
        {"a": (np.zeros((4, 2)), np.array([0, 4]))},
        {"a": (np.zeros((4, 2)), np.array([0, -1]))},
        {"a": (np.zeros((4, 3)), np.array([0, 1]))},
        {"a": (np.zeros((4, 4))[:, ::2], np.array([0, 1]))},
    ],
)
def test_arrays_of_other_forms_are_refused(wrong):
    """Nothing outside of the arrays is read or written."""
    z, rows = np.ones((4, 2)), np.array([0, 1])
    given = {"a": (z, rows), "b": (z, rows + 2), "c": np.ones(2), "s": np.array(1.0)} | wrong
    with pytest.raises(ShapeError, match="push"):
        PUSH.indexed(2, given, {"u": (z, rows), "w": (z, rows + 2)})
