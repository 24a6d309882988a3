"""Two runs side by side: differences on the manifold, and where they begin."""

from __future__ import annotations

import re

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import KinetreeError, UnknownNameError
from tests.analytic.mechanisms import pendulum, rigid_body


@pytest.fixture(scope="module")
def arms():
    """Two motions of the shipped arm; from 0.1 s on one joint is pushed in the second."""
    model = kt.load("arm7")
    push = np.zeros(model.nv)
    push[3] = 2.0
    return tuple(
        kt.simulate(model, duration=0.2, controller=lambda t, q, v, on=on: push * (on and t > 0.0995))
        for on in (False, True)
    )


def test_a_run_is_the_same_as_itself(arms):
    """No difference, not even a rounding one, and nothing parts."""
    found = arms[0].compare(arms[0], tolerance=0.0)
    assert found.same and found.first_difference is None and not found.max_dq.any() and not found.interpolated
    assert "No difference beyond 0" in str(found)


def test_the_joint_that_was_pushed_parts_first(arms):
    """The forces act from 0.1 s on, so states differ from the sample after."""
    found = arms[0].compare(arms[1], tolerance=1e-6)
    joint, when = found.first_difference
    assert joint == arms[0].coordinates.velocity_labels[3] and when == pytest.approx(0.101, abs=1e-9)
    assert np.isnan(found.begins).sum() < len(found.labels)
    assert not found.dq[found.time < 0.1005].any()


def test_numbers_are_those_of_the_samples(arms):
    """Hinges and slides: maximum and root mean square of q2 - q1 and v2 - v1."""
    found = arms[0].compare(arms[1])
    dq, dv = arms[1].q - arms[0].q, arms[1].v - arms[0].v
    assert found.max_dq == pytest.approx(np.max(np.abs(dq), axis=0), abs=1e-15)
    assert found.rms_dv == pytest.approx(np.sqrt(np.mean(dv**2, axis=0)), abs=1e-15)
    table = found.table().splitlines()
    assert len(table) == 1 + len(found.labels) and re.search(r"elbow_pitch +\d\.\d{3}e", found.table())


def test_quaternions_differ_by_the_angle_between_them():
    """A body turned by 0.1 rad about x: the difference is 0.1 about x, and the sign of the quaternion is nothing."""
    model = rigid_body((0.01, 0.02, 0.025))
    start = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    turned = start.copy()
    turned[3:5] = np.cos(0.05), np.sin(0.05)
    one, two = (kt.simulate(model, q0, duration=0.01) for q0 in (start, -turned * [-1, -1, -1, 1, 1, 1, 1]))
    assert one.compare(two).dq[0] == pytest.approx([0.1, 0, 0, 0, 0, 0], abs=1e-14)


def test_runs_with_other_steps_are_compared_at_shared_samples():
    """2 ms against 1 ms: every second sample, none interpolated; 3 ms against 2 ms: one is."""
    one, two, three = (
        kt.simulate(pendulum(), [1.0], duration=0.3, dt=dt, integrator="rk4") for dt in (1e-3, 2e-3, 3e-3)
    )
    shared = one.compare(two)
    assert len(shared.time) == len(two) and not shared.interpolated
    other = two.compare(three, tolerance=1e-7)
    assert len(other.time) == len(three) and other.interpolated and other.same
    assert other.dq == pytest.approx(-three.compare(two).dq, abs=0)


def test_runs_of_other_length_are_compared_as_far_as_both_last():
    """Half a second against one."""
    one, two = (kt.simulate(pendulum(), [1.0], duration=duration) for duration in (0.5, 1.0))
    found = one.compare(two, tolerance=0.0)
    assert found.same and found.time[-1] == pytest.approx(0.5) and len(found.time) == 501


def test_one_joint_can_be_chosen(arms):
    """By name; unknown ones are named."""
    found = arms[0].compare(arms[1], joints="shoulder_pitch")
    assert found.labels == ("shoulder_pitch",) and found.dq.shape[1] == 1
    with pytest.raises(UnknownNameError, match="no joint named 'elbow'"):
        arms[0].compare(arms[1], joints=["elbow"])


def test_other_mechanisms_are_refused(arms):
    """The coordinates that only one of them has are in the message."""
    with pytest.raises(KinetreeError, match="different position labels: .*shoulder_yaw"):
        arms[0].compare(kt.simulate(pendulum(), duration=0.1))


def test_without_the_model_plain_joints_are_compared_and_quaternions_are_not(tmp_path, arms):
    """Loaded runs: hinges need no model at shared samples, a free joint does and says so."""
    paths = [run.save(tmp_path / f"{n}.npz") for n, run in enumerate(arms)]
    loaded = [kt.Trajectory.load(path) for path in paths]
    assert loaded[0].compare(loaded[1]).first_difference == arms[0].compare(arms[1]).first_difference
    body = kt.simulate(rigid_body((1, 2, 2.5)), duration=0.01)
    body = kt.Trajectory.load(body.save(tmp_path / "body"))
    with pytest.raises(KinetreeError, match="joint 'joint', which has more coordinates.*need the model"):
        body.compare(body)


def test_a_state_that_is_not_a_number_is_a_difference(arms):
    """NaN is beyond any tolerance."""
    import dataclasses

    q = arms[0].q.copy()
    q[50, 2] = np.nan
    broken = dataclasses.replace(arms[0], q=q, model=None)
    whole = dataclasses.replace(arms[0], model=None)
    found = whole.compare(broken, tolerance=1.0)
    assert not found.same and found.first_difference[1] == pytest.approx(arms[0].time[50])


def test_command_line_compares_files(tmp_path, arms, capsys):
    """Exit code 0 for equal runs, 1 for different ones, with the table and a figure."""
    from kinetree.cli import main

    one, two = (str(run.save(tmp_path / f"{n}.npz")) for n, run in enumerate(arms))
    with pytest.raises(SystemExit) as same:
        main(["compare", one, one])
    assert same.value.code == 0 and "No difference" in capsys.readouterr().out
    with pytest.raises(SystemExit) as different:
        main(["compare", one, two, "--robot", "arm7", "--plot", str(tmp_path / "both.png")])
    assert different.value.code == 1 and "They first differ at 'elbow_pitch'" in capsys.readouterr().out
    assert (tmp_path / "both.png").stat().st_size > 5000
