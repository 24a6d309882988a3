"""Plots: the panels that are asked for are there, with labels and units, and files are written."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from tests.analytic.mechanisms import pendulum, rigid_body


@pytest.fixture(scope="module")
def arm():
    """A short motion of the shipped arm under constant forces."""
    model = kt.load("arm7")
    return kt.simulate(model, duration=0.1, dt=1e-3, inputs=kt.Inputs(tau=np.linspace(-1.0, 1.0, model.nv)))


def y_labels(figure):
    return [axes.get_ylabel() for axes in figure.get_axes() if axes.axison]


def test_figure_has_a_panel_per_quantity_and_the_energies(arm):
    """Positions, velocities, forces by unit, energies and their change."""
    figure = arm.plot()
    labels = y_labels(figure)
    assert any("q$ [rad]" in label for label in labels) and any("[N\N{NO-BREAK SPACE}m]" in label for label in labels)
    assert "energy [J]" in labels and any("E - E_0" in label for label in labels)
    titles = {axes.get_title(loc="left") for axes in figure.get_axes()}
    assert {"position", "velocity", "force", "energy", "change of the total energy"} <= titles


def test_every_coordinate_is_drawn_once_per_quantity(arm):
    """As many curves as coordinates: none is left out in a crowded figure."""
    figure = arm.plot(what=("q", "v"))
    curves = sum(line.get_gid() != "limit" for axes in figure.get_axes() for line in axes.get_lines())
    assert curves == arm.q.shape[1] + arm.v.shape[1]


def test_one_joint_can_be_chosen(arm):
    """joints= selects by name."""
    name = arm.coordinates.joints[2]
    figure = arm.plot(joints=[name], what="v")
    (axes,) = figure.get_axes()
    assert [line.get_label() for line in axes.get_lines()] == [name]
    assert np.array_equal(axes.get_lines()[0].get_ydata(), arm.v[:, arm.coordinates.velocity_labels.index(name)])


def test_unknown_joints_and_quantities_are_named(arm):
    """Both lists of valid names are in the messages."""
    with pytest.raises(kt.errors.UnknownNameError, match="no joint named 'elbo'"):
        arm.plot(joints=["elbo"])
    with pytest.raises(kt.errors.UnknownNameError, match="no quantity named 'torque'.*tau"):
        arm.plot(what=["torque"])


def test_free_joint_has_rows_for_translation_and_rotation():
    """Metres and quaternions do not share an axis."""
    run = kt.simulate(rigid_body((1, 2, 2.5)), v0=[1, 0, 0, 0, 0, 1], duration=0.05)
    labels = y_labels(run.plot(what=("q", "v")))
    assert labels == [
        "position\n[m]", "linear velocity\n[m/s], body axes", "orientation\n(quaternion)",
        "angular velocity\n[rad/s], body axes",
    ]  # fmt: skip


def test_forces_on_a_free_joint_are_called_forces_and_moments():
    """The legend of tau says f and n where that of v says v and w."""
    run = kt.simulate(rigid_body((1, 2, 2.5)), inputs=kt.Inputs(tau=[0, 0, 1, 0, 0, 1]), duration=0.05)
    legends = [[text.get_text() for text in axes.get_legend().get_texts()] for axes in run.plot(what="tau").get_axes()]
    assert legends == [["fx", "fy", "fz"], ["nx", "ny", "nz"]]


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_file_is_written_without_a_display(tmp_path, suffix):
    """The suffix chooses the format."""
    run = kt.simulate(pendulum(), [1.0], duration=0.05)
    path = tmp_path / f"run.{suffix}"
    run.plot(path=path)
    assert path.stat().st_size > 5000
