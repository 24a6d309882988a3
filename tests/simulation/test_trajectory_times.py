"""Parts of runs, runs at other times, several runs as one."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import KinetreeError, NonFiniteError, ShapeError
from tests.analytic.mechanisms import pendulum, rigid_body

ROWS = ("time", "q", "v", "a", "tau", "kinetic_energy", "potential_energy", "elastic_energy")


@pytest.fixture(scope="module")
def top():
    """One second of a tumbling free body, a sample every 10 ms."""
    model = rigid_body((0.01, 0.02, 0.025))
    return kt.simulate(model, v0=[0.5, 4.0, 0.2, 1.0, 0.0, 0.0], duration=1.0, dt=0.01, integrator="adaptive")


@pytest.fixture(scope="module")
def swing():
    """A damped pendulum with a digital controller, in steps of 1 ms."""
    model = pendulum(damping=0.2)
    return kt.simulate(model, [1.0], duration=1.0, controller=lambda t, q, v: [np.sin(7.0 * t) - 0.1 * q[0]])


def test_slices_have_the_bits_of_the_run(swing):
    """Every array, an added channel and the settings, for parts and thinned runs."""
    run = swing.with_channel("load", np.arange(len(swing)), "N")
    for rows in (slice(100, 300), slice(None, None, 7), slice(-5, None), slice(3, 4)):
        part = run[rows]
        assert all(np.array_equal(getattr(part, name), getattr(run, name)[rows]) for name in ROWS), rows
        assert np.array_equal(part.channels["load"], np.arange(len(run))[rows])
        assert part.model is run.model and part.integrator == run.integrator
    assert run[200:501].steps == 300 and run[:].steps == run.steps


def test_a_part_balances_like_the_whole(swing):
    """What no source explains in a part is what the run left unexplained there, but for the ends of the sums."""
    part, whole = swing[200:700].energy_balance, swing.energy_balance
    assert part.remainder == pytest.approx(whole.remainder[200:700] - whole.remainder[200], abs=1e-9)
    assert part.works.keys() == whole.works.keys()


def test_parts_of_nothing_are_refused(swing):
    """Rows, empty slices and reversed ones have their messages."""
    with pytest.raises(TypeError, match="expected a slice of samples"):
        swing[5]
    with pytest.raises(TypeError):
        iter(swing)
    for rows in (slice(10, 10), slice(None, None, -1)):
        with pytest.raises(ShapeError, match="no samples in rising order"):
            swing[rows]


def test_between_takes_both_ends(swing):
    """Samples at the times themselves belong in, whatever the rounding of 0.3."""
    part = swing.between(0.1, 0.3)
    assert len(part) == 201 and part.time[0] == pytest.approx(0.1) and part.time[-1] == pytest.approx(0.3)
    assert len(swing.between(end=0.5)) == 501
    with pytest.raises(NonFiniteError, match="no sample from 2 to 3 s"):
        swing.between(2.0, 3.0)


def test_resampling_at_the_samples_changes_nothing(swing):
    """The same times give the same run: states to the bit, what is computed from them to rounding."""
    same = swing.resample(times=swing.time)
    assert np.array_equal(same.q, swing.q) and np.array_equal(same.v, swing.v) and np.array_equal(same.tau, swing.tau)
    assert same.a == pytest.approx(swing.a, abs=1e-12)
    assert same.energy == pytest.approx(swing.energy, abs=1e-12)


def test_resampled_states_are_on_the_manifold_and_of_fourth_order(top):
    """Twice as many samples against a finer run: the error of the cubics is (h w)^4 / 384, some 1e-8 here."""
    double = top.resample(dt=0.005)
    assert len(double) == 201 and double.dt == 0.005 and double.time[-1] == top.time[-1]
    assert np.linalg.norm(double.q[:, 3:], axis=1) == pytest.approx(1.0, abs=1e-14)
    fine = kt.simulate(top.model, top.q[0], top.v[0], duration=1.0, dt=0.005, integrator="adaptive")
    assert np.max(np.abs(kt.difference(top.model, fine.q, double.q))) < 1e-7
    assert double.a == pytest.approx(kt.forward_dynamics(top.model, double.q, double.v, double.tau), abs=1e-12)
    assert double.energy == pytest.approx(fine.energy, abs=1e-5)


def test_held_forces_are_not_interpolated(swing):
    """Between the samples of a digital controller its last answer acts."""
    between = swing.resample(times=swing.time[:-1] + 4e-4)
    assert np.array_equal(between.tau, swing.tau[:-1])


def test_resampling_off_the_grid_ends_with_the_run(top):
    """The last sample is the run's, so no motion is lost."""
    run = top.resample(dt=0.3)
    assert run.time == pytest.approx([0.0, 0.3, 0.6, 0.9, 1.0])


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({}, KinetreeError, "give either dt= or times="),
        ({"dt": 0.1, "times": [0.0]}, KinetreeError, "give either dt= or times="),
        ({"dt": -1.0}, KinetreeError, "positive number"),
        ({"times": [0.2, 0.1]}, ShapeError, "increasing"),
        ({"times": [0.2, 2.0]}, NonFiniteError, "outside the run"),
    ],
)
def test_times_that_cannot_be(top, options, error, message):
    """Each with its message."""
    with pytest.raises(error, match=message):
        top.resample(**options)


def test_pieces_make_the_whole_again(swing):
    """Two parts that share a sample are the run, to the bit, with its forces."""
    run = swing.with_channel("load", np.arange(len(swing)), "N")
    whole = kt.Trajectory.concatenate([run[:401], run[400:700], run[699:]])
    assert all(np.array_equal(getattr(whole, name), getattr(run, name)) for name in ROWS)
    assert np.array_equal(whole.channels["load"], run.channels["load"])
    assert whole.energy_balance.remainder == pytest.approx(run.energy_balance.remainder, abs=1e-12)


def test_a_second_run_begins_when_the_first_ends(top):
    """Its times are moved; notes and counts are those of both."""
    again = kt.simulate(top.model, top.q[-1], top.v[-1], duration=0.5, dt=0.01, integrator="adaptive")
    both = kt.Trajectory.concatenate([top, again])
    assert len(both) == len(top) + len(again) - 1 and both.time[-1] == pytest.approx(1.5)
    assert np.all(np.diff(both.time) > 0.0)
    once = kt.simulate(top.model, top.q[0], top.v[0], duration=1.5, dt=0.01, integrator="adaptive")
    assert both.compare(once, tolerance=1e-7).same


def test_runs_that_do_not_meet_are_refused(swing):
    """The coordinate and the jump are named; other mechanisms, too."""
    other = kt.simulate(swing.model, [2.0], duration=0.1)
    with pytest.raises(KinetreeError, match="the position of 'hinge' differs by"):
        kt.Trajectory.concatenate([swing, other])
    with pytest.raises(KinetreeError, match="different coordinates"):
        kt.Trajectory.concatenate([swing, kt.simulate(rigid_body((1, 2, 2.5)), duration=0.1)])


def test_joints_that_depend_on_time_are_asked_for_it():
    """A slider that is moved: resampled accelerations are those at the new times, and a frame moves with the joint."""
    from kinetree.joints import Prescribed, Prismatic, Revolute, Sinusoid

    builder = kt.ModelBuilder("shaker")
    builder.add_body("table", joint=Prescribed(Prismatic((1, 0, 0)), Sinusoid(0.2, 3.0)), mass=1.0, inertia=np.eye(3))
    builder.add_body("rod", "table", joint=Revolute((0, 1, 0)), mass=1.0, com=(0, 0, -0.5), inertia=0.1 * np.eye(3))
    run = kt.simulate(builder.build(), duration=0.5, integrator="rk4")
    way = run.frame("rod")
    rate = np.gradient(way.position, run.time, axis=0)
    assert np.ptp(way.position[:, 0]) > 0.1
    assert way.linear_velocity[1:-1] == pytest.approx(rate[1:-1], abs=2e-6)
    assert run.resample(times=run.time).a == pytest.approx(run.a, abs=1e-12)
    again = kt.simulate(run.model, run.q[-1], run.v[-1], duration=0.1)
    with pytest.raises(KinetreeError, match="do not meet in time.*depend on time"):
        kt.Trajectory.concatenate([run, again])
