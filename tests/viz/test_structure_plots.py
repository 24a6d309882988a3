"""Plots of structure, closure and workspace: what they show is computed in another way."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import KinetreeError
from kinetree.viz.closure import drift, rows_of
from kinetree.viz.structure import _layout, sparsity
from kinetree.viz.workspace import reached


@pytest.mark.parametrize("name", ["humanoid", "quadruped"])
def test_the_pattern_is_that_of_the_mass_matrix(name):
    """At a random state all entries of M that are not zero are in the pattern, and no others."""
    model = kt.load(name, floating_base=True)
    q, _ = model.random_state(np.random.default_rng(0))
    with kt.interpreted():
        M = kt.crba(model, q)
    found = np.abs(M) > 1e-12
    assert not (found & ~sparsity(model)).any()
    # A free body has zeros of its own, and geometry makes a few more.
    assert found.sum() > 0.85 * sparsity(model).sum()


def test_the_tree_is_drawn_without_crossings():
    """Depth is the column; no two bodies share a place; children are not above their parent."""
    model = kt.load("humanoid")
    place = _layout(model)
    assert len(set(place)) == model.nb
    for i in range(1, model.nb):
        assert place[i][0] == place[model.parent[i]][0] + 1 and place[i][1] >= place[model.parent[i]][1]


def test_loops_are_in_the_drawing_of_the_tree():
    """A dashed line and the kind of the loop joint."""
    figure = kt.viz.plot_connectivity(kt.models.four_bar())
    (axes,) = figure.axes
    assert [text.get_text() for text in axes.get_legend().texts] == ["revolute", "loops: revolute"]
    assert len(axes.patches) == 1


def test_drift_is_that_of_the_constraints():
    """Without projection the errors grow: the residual of the loop, and the relative velocity of both ends."""
    model = kt.models.four_bar()
    run = kt.simulate(model, duration=1.0, dt=2e-2, integrator="rk4", closure="none")
    ((name, (positions, velocities)),) = drift(run).items()
    assert name == "closure" and positions[-1] > 10 * positions[1]
    phi = kt.closed_loops.error(model, run.q)
    assert np.allclose(positions, np.abs(phi).max(axis=1), rtol=0, atol=0)
    tips = [
        kt.velocity(model, run.q, run.v, frame=name, reference="local_world_aligned")[:, 3:]
        for name in ("coupler_tip", "rocker_tip")
    ]
    apart = np.linalg.norm(tips[0] - tips[1], axis=1)  # of two components, whose larger one is drawn
    assert velocities.max() > 1e-7
    # The rows are about a point of one end: relative turning about it counts with the gap as arm.
    slack = 4.0 * np.abs(run.v).max(axis=1) * positions
    assert np.all(velocities <= apart + slack) and np.all(apart <= np.sqrt(2.0) * velocities + slack)
    assert np.all(slack[1:5] < 0.5 * velocities[1:5])
    assert [axes.get_yscale() for axes in kt.viz.plot_constraint_drift(run).axes] == ["log", "log"]


def test_rows_belong_to_their_constraints():
    """All rows, in their order."""
    model = kt.models.stewart_platform()
    slices = rows_of(model)
    assert len(slices) == len(model.constraints)
    assert [k for s in slices.values() for k in range(s.start, s.stop)] == list(range(model.nc))


def test_the_workspace_of_an_elbow_is_a_circle():
    """Of all radii that of the first link, on all sides; a floating base stays where it is."""
    elbows = reached(kt.models.double_pendulum(), "lower", 200)
    radii = np.linalg.norm(elbows, axis=1)
    assert radii[0] > 0.1 and np.allclose(radii, radii[0], rtol=1e-12) and np.ptp(elbows, axis=0).max() > 1.8 * radii[0]
    assert np.ptp(reached(kt.load("quadruped", floating_base=True), "trunk", 9), axis=0).max() == 0.0
    with pytest.raises(KinetreeError, match="no joint of model 'pendulum' moves the frame 'world'"):
        kt.viz.plot_workspace(kt.models.pendulum(), "world", 10)


def test_what_has_nothing_to_draw_is_refused():
    """With the cause."""
    with pytest.raises(KinetreeError, match="has no rows of constraints"):
        kt.viz.plot_constraint_drift(kt.simulate(kt.models.pendulum(), duration=0.01))
