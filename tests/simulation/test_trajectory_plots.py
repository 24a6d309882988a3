"""Pictures of runs: the curves are the numbers, axes have units, limits are where they belong."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import KinetreeError, UnknownNameError
from tests.analytic.mechanisms import rigid_body


@pytest.fixture(scope="module")
def arm():
    """The shipped arm under forces that drive joints into their stops."""
    model = kt.load("arm7")
    return kt.simulate(
        model, duration=0.6, inputs=kt.Inputs(tau=0.5 * np.ones(model.nv)), record=kt.Record(period=2e-3)
    )


@pytest.fixture(scope="module")
def body():
    """A free body."""
    return kt.simulate(rigid_body((1, 2, 2.5)), v0=[1, 0, 0, 0, 0, 1], duration=0.05)


def test_lines_of_a_mechanism_are_its_links():
    """A four-bar: three lines as long as its links, which end at the pivots; both ends of the closure at one place."""
    model = kt.models.four_bar()
    q, _ = model.keyframe("initial")
    axes = kt.viz.plot_mechanism(model).get_axes()[0]
    lines = [np.array(line.get_data_3d()).T for line in axes.get_lines()]
    links, (joints, marks) = lines[:-2], lines[-2:]
    ends = {name: kt.pose(model, q, frame=name)[1] for name in ("crank", "coupler", "rocker", "coupler_tip")}
    expected = {("crank", "coupler"), ("coupler", "coupler_tip"), ("rocker", "coupler_tip")}
    lengths = sorted(np.linalg.norm(ends[a] - ends[b]) for a, b in expected)
    found = np.unique(np.round([np.linalg.norm(x[1] - x[0]) for x in links], 9))
    assert np.allclose(found, lengths)
    assert len(joints) == 3 and np.allclose(marks, ends["coupler_tip"], atol=1e-9)
    several = kt.viz.plot_mechanism(model, np.stack((q, q))).get_axes()[0].get_lines()
    assert len(several) == 2 * len(lines) and several[0].get_alpha() < several[-1].get_alpha() == 1.0
    with pytest.raises(KinetreeError, match=r"positions of shape \(3,\) or \(N, 3\)"):
        kt.viz.plot_mechanism(model, [0.0, 1.0])
    with pytest.raises(KinetreeError, match="not its planar form"):
        kt.viz.plot_mechanism(kt.models.double_pendulum().planar())


def limits_of(axes) -> list[float]:
    return sorted(float(np.ravel(line.get_ydata())[0]) for line in axes.get_lines() if line.get_gid() == "limit")


def test_limits_are_drawn_where_a_curve_comes_close(arm):
    """The finger runs into its stop at 0.07 m: that limit is drawn, the shoulder's far ones only on demand."""
    (axes,) = arm.plot(joints="left_finger_slide", what="q").get_axes()
    assert 0.07 in limits_of(axes)
    k = arm.coordinates.velocity_labels.index("shoulder_yaw")
    bounds = [float(arm.model.lower[k]), float(arm.model.upper[k])]
    assert limits_of(arm.plot(joints="shoulder_yaw", what="q").get_axes()[0]) == []
    assert limits_of(arm.plot(joints="shoulder_yaw", what="q", limits="all").get_axes()[0]) == bounds
    assert limits_of(arm.plot(joints="left_finger_slide", what="q", limits="none").get_axes()[0]) == []
    with pytest.raises(UnknownNameError, match="no choice named 'some'.*near"):
        arm.plot(limits="some")


def test_limits_of_velocities_and_forces_are_those_of_the_drives(arm):
    """Both signs."""
    k = arm.coordinates.velocity_labels.index("elbow_pitch")
    for what, largest in (("v", arm.model.velocity_limit), ("tau", arm.model.effort_limit)):
        (axes,) = arm.plot(joints="elbow_pitch", what=what, limits="all").get_axes()
        assert limits_of(axes) == [-float(largest[k]), float(largest[k])]


def test_phase_portrait_has_one_panel_per_coordinate(arm):
    """v over q, from the start to the end."""
    panels = [axes for axes in arm.plot_phase().get_axes() if axes.axison]
    assert [axes.get_title(loc="left") for axes in panels] == list(arm.coordinates.velocity_labels)
    (curve,) = panels[2].collections
    segments = np.array(curve.get_segments())
    assert np.array_equal(segments[:, 0], np.stack((arm.q[:-1, 2], arm.v[:-1, 2]), axis=1))
    assert panels[0].get_xlabel() == "$q$ [rad]" and panels[0].get_ylabel() == "$v$ [rad/s]"
    assert panels[-1].get_xlabel() == "$q$ [m]"


def test_quaternions_have_no_phase_portrait(body):
    """The message says what to do."""
    with pytest.raises(KinetreeError, match="7 positions and 6 velocities, which do not correspond"):
        body.plot_phase(joints=["joint"])
    with pytest.raises(KinetreeError, match="no joint whose positions"):
        body.plot_phase()


def test_paths_are_the_positions_of_the_frame(arm):
    """In space and on the three planes, with labels in meters."""
    way = arm.frame("tool").position
    space, xy, xz, yz = arm.plot_path("tool").get_axes()
    assert np.array_equal(np.array(space.get_lines()[0].get_data_3d()).T, way)
    for axes, (j, k) in ((xy, (0, 1)), (xz, (0, 2)), (yz, (1, 2))):
        assert np.array_equal(axes.get_lines()[0].get_xydata(), way[:, [j, k]])
        assert axes.get_xlabel() == f"${'xyz'[j]}$ [m]" and axes.get_ylabel() == f"${'xyz'[k]}$ [m]"


def test_paths_in_a_plane_are_drawn_there():
    """A double pendulum swings in x-z; other views on demand, unknown ones are named."""
    run = kt.simulate(kt.load("double_pendulum"), [1.0, 0.5], duration=0.2)
    (axes,) = run.plot_path("tip").get_axes()
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("$x$ [m]", "$z$ [m]")
    assert len(run.plot_path(["tip", "lower_rod"], views=["3d", "xz"]).get_axes()) == 2
    with pytest.raises(UnknownNameError, match="no view named 'top'"):
        run.plot_path("tip", views=["top"])


def test_power_of_the_joint_forces_is_force_times_velocity(arm):
    """And the sources are those of the energy balance."""
    sources, *joints = arm.plot_power().get_axes()
    named = {line.get_label(): line.get_ydata() for line in sources.get_lines()}
    assert set(named) == set(arm.energy_balance.powers)
    assert named["damping"] == pytest.approx(arm.energy_balance.powers["damping"].sum(axis=1))
    curves = {line.get_label(): line.get_ydata() for axes in joints for line in axes.get_lines()}
    assert np.array_equal(curves["elbow_pitch"], arm.tau[:, 3] * arm.v[:, 3]) and len(curves) == arm.v.shape[1]


def test_energy_balance_is_drawn_whole(arm):
    """Energies by kind and their sum, the work of each source and the change, the remainder."""
    kinds, works, rest = arm.plot_energy_balance().get_axes()
    assert {line.get_label() for line in works.get_lines()} == {*arm.energy_balance.works, "change of energy"}
    total = {line.get_label(): line.get_ydata() for line in kinds.get_lines()}["total"]
    assert total == pytest.approx(arm.energy_balance.energy)
    assert np.array_equal(rest.get_lines()[0].get_ydata(), arm.energy_balance.remainder)


def test_comparison_draws_both_runs_and_their_difference(arm, body):
    """Two curves for each joint on the left, one on the right, the tolerance and where they part; quaternions as v."""
    model = arm.model
    other = kt.simulate(
        model, duration=0.6, inputs=kt.Inputs(tau=0.5 * np.ones(model.nv)), record=kt.Record(period=2e-3), dt=2e-3
    )
    found = arm.compare(other)
    axes = found.plot().get_axes()
    left, right = axes[0::2], axes[1::2]
    assert sum(len(panel.get_lines()) for panel in left) == 2 * len(found.labels)
    names = [line.get_label() for panel in right for line in panel.get_lines() if not line.get_label().startswith("_")]
    assert [name for name in names if name != "tolerance"] == list(found.labels)
    assert body.compare(body).plot().get_axes()[0].get_ylabel() == "$v$ [rad/s]"


@pytest.mark.parametrize("draw", ["plot_phase", "plot_power", "plot_energy_balance"])
def test_files_are_written_without_a_display(tmp_path, arm, draw):
    """The suffix chooses the format."""
    path = tmp_path / "run.svg"
    getattr(arm, draw)(path=path)
    assert path.read_text().lstrip().startswith("<?xml")


def test_a_loaded_run_draws_what_its_file_has(tmp_path, arm):
    """Without the model: curves, phases, power and the energy balance; paths need it."""
    back = kt.Trajectory.load(arm.save(tmp_path / "run"))
    for draw in (back.plot, back.plot_phase, back.plot_power, back.plot_energy_balance):
        assert draw().get_axes()
    with pytest.raises(KinetreeError, match="needs the model"):
        back.plot_path("tool")
