"""Impacts at hard stops are events of a run: joint, side, time, velocities before and after; kept with the run."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.constraints import HardLimits
from kinetree.joints import Prismatic
from kinetree.model import ModelBuilder

DT = 0.01
STOPS = {"dt": DT}


def hard(model, restitution=0.5):
    """The model with limits that nothing passes."""
    return model.with_constraints(HardLimits(restitution))


def ball(height=1.0):
    """A ball above a stop at 0, and its run: free fall, then rebounds of half the speed."""
    b = ModelBuilder("ball")
    b.add_body("ball", joint=Prismatic((0, 0, 1)), joint_name="height", mass=1.0, inertia=np.eye(3), lower=0.0)
    return b.build(), [height]


def shuttle(coupled=False):
    """A block without forces between stops at -1 and 1; with a second one that follows it twice as far."""
    b = ModelBuilder("shuttle", gravity=(0, 0, 0))
    for name in ("slide", "other")[: 1 + coupled]:
        joint = Prismatic((1, 0, 0))
        b.add_body(name, "world", joint, f"{name}_joint", mass=1.0, inertia=np.eye(3), lower=-1.0, upper=1.0)
    if coupled:
        b.add_coupling("other_joint", "slide_joint", ratio=2.0, offset=0.0)
    return b.build()


def same(one, two):
    assert len(one) == len(two) > 0
    for x, y in zip(one, two, strict=True):
        assert (x.name, x.time, x.joint, x.side) == (y.name, y.time, y.joint, y.side)
        for a, b in zip((x.q, x.v, x.q_after, x.v_after), (y.q, y.v, y.q_after, y.v_after), strict=True):
            np.testing.assert_array_equal(a, b)


def test_rebounds_of_a_ball_are_events():
    """At the times of free fall to rounding, at the stop, with half the speed after each."""
    model, q0 = ball()
    run = kt.simulate(hard(model), q0, duration=1.2, **STOPS)
    fall = np.sqrt(2.0 / 9.81)
    expected = fall * np.array([1.0, 2.0, 2.5])
    impacts = run.events[:3]
    np.testing.assert_allclose([x.time for x in impacts], expected, rtol=0, atol=1e-14)
    for x in impacts:
        assert (x.name, x.joint, x.side) == ("impact", "height", "lower")
        assert x.q == x.q_after == 0.0 and x.v[0] < 0.0
        np.testing.assert_allclose(x.v_after, -0.5 * x.v, rtol=1e-15)
    np.testing.assert_allclose(impacts[0].v, -9.81 * fall, rtol=1e-13)
    assert "impact of joint 'height' at its lower stop at t = 0.4" in repr(impacts[0])
    assert not impacts[0].v.flags.writeable


def test_both_stops_are_told_apart():
    """A shuttle at 4 m/s meets the upper one after 0.25 s, and the lower one when it has gone 2 m at half the speed."""
    run = kt.simulate(hard(shuttle()), [0.0], [4.0], duration=1.5, **STOPS)
    assert [(x.joint, x.side) for x in run.events] == [("slide_joint", "upper"), ("slide_joint", "lower")]
    np.testing.assert_allclose([x.time for x in run.events], [0.25, 1.25], rtol=0, atol=1e-12)


def test_a_stop_of_a_follower_is_met_by_its_master():
    """The master stands for what moves together: here it stops at half of the follower's limit."""
    run = kt.simulate(hard(shuttle(coupled=True)), [0.0, 0.0], [1.0, 2.0], duration=0.7, **STOPS)
    (impact,) = run.events
    assert (impact.joint, impact.side) == ("slide_joint", "upper")
    np.testing.assert_allclose(impact.q, [0.5, 1.0], rtol=1e-14)
    np.testing.assert_allclose(impact.v_after, [-0.5, -1.0], rtol=1e-12)


@pytest.mark.parametrize("of", [(), "other_joint"])
def test_a_follower_with_the_only_limit_gives_the_restitution(of):
    """With all limits or by its name: the master, which has no limit of its own, rebounds with it."""
    model = shuttle(coupled=True).replace(lower={"slide_joint": -np.inf}, upper={"slide_joint": np.inf})
    run = kt.simulate(model.with_constraints(HardLimits(0.5, of)), [0.0, 0.0], [1.0, 2.0], duration=0.7, **STOPS)
    np.testing.assert_allclose(run.v[-1], [-0.5, -1.0], rtol=1e-12)


def test_impacts_stand_between_the_events_of_the_user_in_time():
    """One list."""
    crossing = kt.Event(lambda t, q, v: q[0] - 0.2, name="crossing")
    run = kt.simulate(hard(shuttle()), [0.0], [4.0], duration=1.5, events=[crossing], **STOPS)
    assert [x.name for x in run.events] == ["crossing", "impact", "crossing", "impact"]
    assert [x.joint for x in run.events] == ["", "slide_joint", "", "slide_joint"]


def test_an_impact_in_the_rest_of_a_step_that_an_event_cuts_is_counted_once():
    """The step is made anew from the event on."""
    event = kt.Event(lambda t, q, v: q[0] - 0.85, name="near")
    settings = STOPS | {"dt": 0.1}  # the step from 0.8 m goes on to the stop and back to 0.9 m
    run = kt.simulate(hard(shuttle()), [0.0], [4.0], duration=0.4, events=[event], **settings)
    alone = kt.simulate(hard(shuttle()), [0.0], [4.0], duration=0.4, **settings)
    assert [x.name for x in run.events] == ["near", "impact", "near"] and len(alone.events) == 1


@pytest.mark.parametrize("h", [0.2, 0.1, 1e-3])
def test_events_are_found_between_the_impacts_of_a_step(h):
    """A ball in flight: heights on the way down and up, at the times of its parabolas, however many steps they take."""
    model, q0 = ball()
    fall, marks = np.sqrt(2.0 / 9.81), (0.2, 0.1)
    events = [kt.Event(lambda t, q, v, x=x: q[0] - x, name=f"{x}") for x in marks]
    run = kt.simulate(hard(model), q0, duration=0.75, events=events, **STOPS | {"dt": h})
    down = [("0.2", np.sqrt(2.0 * 0.8 / 9.81)), ("0.1", np.sqrt(2.0 * 0.9 / 9.81)), ("impact", fall)]
    speed = 0.5 * 9.81 * fall
    up = [(f"{x}", fall + (speed - np.sqrt(speed**2 - 2.0 * 9.81 * x)) / 9.81) for x in marks[::-1]]
    expected = [*down, *(x for x in up if x[1] < 0.75)]
    assert [x.name for x in run.events] == [name for name, _ in expected]
    np.testing.assert_allclose([x.time for x in run.events], [t for _, t in expected], rtol=0, atol=1e-13)
    assert np.abs(run.energy_balance.remainder).max() < 1e-12


@pytest.mark.parametrize("suffix", ["npz", "nc", "h5"])
def test_impacts_are_saved_with_the_run(suffix, tmp_path):
    """To the bit, with joint and side."""
    if suffix != "npz":
        pytest.importorskip("h5py")
    if suffix == "nc":
        pytest.importorskip("h5netcdf")
    model, q0 = ball()
    run = kt.simulate(hard(model), q0, duration=1.2, **STOPS)
    path = tmp_path / f"run.{suffix}"
    run.save(path)
    same(kt.Trajectory.load(path).events, run.events)


def test_a_restored_simulation_has_its_impacts():
    """What happened before a snapshot, and no more; the rest happens again, to the bit."""
    model, q0 = ball()
    sim = kt.Simulation(hard(model), q0, **STOPS)
    sim.advance(0.6)
    snapshot = sim.save()
    sim.advance(0.6)
    whole = sim.events
    sim.restore(snapshot)
    assert len(sim.events) == 1 < len(whole)
    sim.advance(0.6)
    same(sim.events, whole)


def test_pieces_steps_and_files_have_the_impacts_and_bits_of_the_whole(tmp_path):
    """An arm that runs into stops: in one go, step by step, and from a snapshot on disk in another object. What a step
    remembers, the acceleration before it, is part of a snapshot."""

    def make():
        return kt.Simulation(kt.load("arm7").with_constraints(kt.constraints.HardLimits(0.5)), seed=1)

    whole, steps, other = make(), make(), make()
    whole.advance(0.3)
    for _ in range(300):
        steps.step()
    half = make()
    half.advance(0.15)
    half.save().save(tmp_path / "half.ckpt")
    other.restore(tmp_path / "half.ckpt")
    other.advance(0.15)
    assert len(whole.events) > len(half.events) > 0
    for one in (steps, other):
        same(one.events, whole.events)
        assert np.array_equal(one.q, whole.q) and np.array_equal(one.v, whole.v)
    same(other.trajectory().events, whole.trajectory().events)


def test_rollouts_name_what_they_do_with_limits():
    """Limits are the model's; an option for them is refused with the ways to change them."""
    model, q0 = ball()
    with pytest.raises(kt.errors.KinetreeError, match="limits is no option.*without_limits.*LimitMonitor"):
        kt.rollout(model, q0, None, None, DT, steps=3, limits="hard")


def test_soft_stops_and_rest_are_no_impacts():
    """A joint that lies on its hard stop, and one that a soft stop turns round."""
    model, _ = ball()
    assert kt.simulate(hard(model), [0.0], duration=0.1, **STOPS).events == ()
    assert kt.simulate(shuttle(), [0.0], [4.0], duration=0.5, dt=DT).events == ()
