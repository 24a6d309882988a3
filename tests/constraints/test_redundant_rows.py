"""Rows of loops that others imply: their names, and placements that are off, so that they contradict the others."""

from __future__ import annotations

import dataclasses
import functools

import numpy as np
import pytest

import kinetree as kt
from kinetree.spatial import Transform, Vector3
from kinetree.spatial.rotations import rx, ry, rz
from kinetree.viz.describe import as_data, as_tree

STILL_OPEN = {"bennett": "hinge2", "four_bar": "coupler", "parallelogram": "coupler"}
TAU = np.array([1.0, 0.5, -0.3])


@functools.cache
def exact(name):
    model = getattr(kt.models, name)()
    q, _ = model.keyframe("initial")
    return model, q, kt.closed_loops.project_velocity(model, q, np.ones(model.nv))


@functools.cache
def off(name, size):
    """With the loop's placement turned and moved by up to ``size``, in all directions; and a closed state."""
    model, q, v = exact(name)
    d = size * np.random.default_rng(1).uniform(-1.0, 1.0, 6)
    error = Transform(rx(d[0]) @ ry(d[1]) @ rz(d[2]), Vector3(*d[3:]))
    loops = [dataclasses.replace(c, X_P=error @ c.X_P) for c in model.constraints]
    open_tree = model.replace(equipment=dataclasses.replace(model.equipment, loops=()))
    made = open_tree.with_constraints(*loops)
    q_off, v_off = kt.assemble(made, q, fixed=STILL_OPEN[name], v=v)
    return made, q_off, v_off * (v[0] / v_off[0])


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("four_bar", ["closure: moment x", "closure: moment y", "closure: force z"]),
        ("bennett", ["hinge3: moment x", "hinge3: moment y", "hinge3: force x"]),
        ("stewart_platform", []),
    ],
)
def test_names_of_redundant_rows(name, expected):
    """By loop joint and direction; exact mechanisms have no misfit; `mobility` and `info` have the same names."""
    model = getattr(kt.models, name)()
    rows = model.redundant_rows()
    assert [row.name for row in rows] == expected == [str(row) for row in rows]
    assert not any(row.inexact for row in rows) and all(row.misfit < 1e-9 for row in rows)
    assert [row.number for row in rows] == [n for n in range(model.nc) if n not in model.independent_rows()]
    assert [model.row_names[row.number] for row in rows] == expected
    assert list(kt.closed_loops.mobility(model).redundant) == expected
    assert [row["name"] for row in as_data(model)["redundant_rows"]] == expected
    text = "\n".join(str(part) for part in as_tree(model).renderables)
    assert (f"{len(expected)} rows of loops that others imply" in text) == bool(expected)


@pytest.mark.parametrize("size", [1e-9, 1e-7, 1e-5, 1e-4])
@pytest.mark.parametrize("name", STILL_OPEN)
def test_dynamics_with_placements_that_are_off(name, size):
    """Assembly, accelerations and torques of the exact mechanism but for a multiple of the error."""
    (model, q, v), (made, q_off, v_off) = exact(name), off(name, size)
    assert made.independent_rows() == model.independent_rows()
    most = 50.0 * size
    assert np.abs(q_off - q).max() < most and np.abs(v_off - v).max() < most
    a, b = kt.forward_dynamics(model, q, v, TAU), kt.forward_dynamics(made, q_off, v_off, TAU)
    assert b == pytest.approx(a, abs=most)
    tau = kt.inverse_dynamics(made, q_off, v_off, b)
    assert tau == pytest.approx(kt.inverse_dynamics(model, q, v, a), abs=most)
    assert kt.forward_dynamics(made, q_off, v_off, tau) == pytest.approx(b, abs=1e-9 + size)
    least = kt.forward_dynamics(made, q_off, v_off, TAU, method="pivoted")
    assert least == pytest.approx(b, abs=most + 1e-9)


@pytest.mark.parametrize("size", [1e-9, 1e-7, 1e-5])
@pytest.mark.parametrize("name", STILL_OPEN)
def test_runs_with_placements_that_are_off(name, size):
    """The motion is that of the exact mechanism but for a multiple of the error; rows that are kept stay closed."""
    (model, *state), (made, *state_off) = exact(name), off(name, size)
    one, other = (kt.simulate(m, *s, duration=0.4, dt=1e-3) for m, s in ((model, state), (made, state_off)))
    assert np.abs(one.q - other.q).max() < 100.0 * size
    gaps = np.abs(kt.closed_loops.error(made, other.q)).max(axis=0)
    kept = [n for n in made.independent_rows()]
    assert gaps[kept].max() < 1e-10 and gaps.max() < 3.0 * size
    assert np.ptp(other.energy) < np.ptp(one.energy) + 100.0 * size
    inexact = [row for row in made.redundant_rows() if row.inexact]
    assert bool(inexact) == (size > 1e-8) and all(row.misfit < 3.0 * size for row in inexact)
    notes = [note for note in other.notes if note.startswith("rows that others imply but for")]
    assert len(notes) == bool(inexact) and all(row.name in notes[0] for row in inexact)


def test_mobility_of_placements_that_are_off():
    """Names and size of the rows that are off, in the report and its data."""
    made, q, _ = off("four_bar", 1e-5)
    report = kt.closed_loops.mobility(made, q)
    assert report.mobility == 1 and report.inexact == ("closure: moment x", "closure: moment y", "closure: force z")
    assert 1e-6 < report.misfit < 1e-5 and f"held but for {report.misfit:.2g} of their size" in str(report)
    assert report.as_data()["inexact"] == list(report.inexact)


def test_contradictions_are_no_rounding():
    """Errors of more than a hundredth of the natural size are refused, with the loop."""
    with pytest.raises(kt.errors.ConstraintError, match="closure"):
        off("four_bar", 0.1)
