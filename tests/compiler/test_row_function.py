"""Functions over the rows of arrays, and rows found by row numbers."""

from __future__ import annotations

import numpy as np
import pytest

from kinetree.compiler.row_function import GROUP, RowFunction, conflict_free
from kinetree.errors import ShapeError
from kinetree.native.drivers import Sweeps

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


VISIT = RowFunction(
    "visit", lambda x, a: (x - a * x, -(a * x), a * x * x, (a * x).absolute()), "x a", "x_next step energy change"
)
FURTHER = RowFunction(
    "further", lambda x, d, s, f: (x + f * d, f * d + s), "x direction step factor", "x_next direction_next"
)


@pytest.mark.seeds(5)
def test_sweeps_are_a_loop_of_calls(seed):
    """Number of sweeps and all bits are those of a loop in Python; energies are summed in eight lanes."""
    rng = np.random.default_rng(seed)
    n = 3 * GROUP
    a, start = rng.uniform(0.05, 0.5, n), rng.normal(size=n)
    found = []
    for compiled in (True, False):
        x, step, direction, energy, change, factor = start.copy(), *np.zeros((4, n)), np.zeros(())
        visit = VISIT.indexed(n, {"x": x, "a": a}, {"x_next": x, "step": step, "energy": energy, "change": change})
        given = {"x": x, "direction": direction, "step": step, "factor": factor}
        further = FURTHER.indexed(n, given, {"x_next": x, "direction_next": direction})
        sweeps = Sweeps(visit, further, change, energy, step, direction, factor)
        assert sweeps(1e-3, 0) == 0
        if compiled:
            count = sweeps(1e-3, 100)
        else:
            before, count = 0.0, 0
            while True:
                visit()
                count += 1
                if (change <= 1e-3).all():
                    break
                r = (energy[:GROUP] + energy[GROUP : 2 * GROUP]) + energy[2 * GROUP :]
                total = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]))
                if total < before:
                    factor[()] = total / before
                    further()
                else:
                    direction[:] = step
                before = total
        found.append((count, x.tobytes(), direction.tobytes()))
    assert 5 < found[0][0] < 100
    assert found[0] == found[1]


def test_sweeps_end_at_their_limit_where_values_are_no_numbers():
    """NaN counts as a change."""
    x, a, rest = np.full(GROUP, np.nan), np.full(GROUP, 0.5), np.zeros((4, GROUP))
    visit = VISIT.indexed(GROUP, {"x": x, "a": a}, dict(zip(VISIT.outputs, (x, *rest[:3]), strict=True)))
    given = dict(zip(FURTHER.inputs, (x, rest[3], rest[0], np.zeros(())), strict=True))
    further = FURTHER.indexed(GROUP, given, {"x_next": x, "direction_next": rest[3]})
    assert Sweeps(visit, further, rest[2], rest[1], rest[0], rest[3], given["factor"])(1.0, 7) == 7


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
