"""Channels of a run: names, units, the energy balance, frames, derivatives and filters, one's own."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import DuplicateNameError, KinetreeError, ShapeError, UnknownNameError
from tests.analytic.mechanisms import pendulum, rigid_body


@pytest.fixture(scope="module")
def arm():
    """A short motion of the shipped arm under constant forces."""
    model = kt.load("arm7")
    return kt.simulate(
        model, duration=0.2, inputs=kt.Inputs(tau=np.linspace(-1.0, 1.0, model.nv)), record=kt.Record(period=2e-3)
    )


@pytest.fixture(scope="module")
def top():
    """A tumbling free body that flies, a sample each millisecond."""
    model = rigid_body((0.01, 0.02, 0.025))
    return kt.simulate(model, v0=[0.5, 4.0, 0.2, 1.0, 0.5, 0.0], duration=0.3, integrator="adaptive")


def test_channels_are_the_arrays_of_the_run(arm):
    """Nothing is copied or reordered, and every entry has its unit."""
    for name in ("q", "v", "a", "tau", "kinetic_energy", "energy"):
        assert np.array_equal(arm.channels[name].values, getattr(arm, name)), name
    v = arm.channels["v"]
    assert v.labels == arm.coordinates.velocity_labels and v.column_units == arm.coordinates.velocity_units
    assert np.array_equal(v["elbow_pitch"], arm.v[:, v.labels.index("elbow_pitch")])
    assert v.unit == "mixed" and arm.channels["energy"].unit == "J"  # fingers slide, joints turn


def test_channels_hold_the_energy_balance(arm):
    """Each entry of the energy balance is there under its name, with a unit that fits its kind."""
    found = arm.energy_balance.channels
    assert set(found) <= set(arm.channels)
    assert all(arm.channels[name].values is values or np.array_equal(arm.channels[name], values)
               for name, values in found.items())  # fmt: skip
    assert arm.channels["power.damping"].unit == "W" and arm.channels["work.damping"].unit == "J"
    assert arm.channels["momentum"].labels[3] == "linear x" and arm.channels["momentum"].column_units[3] == "kg m/s"


def test_every_channel_says_what_it_is(arm):
    """A description and one unit per column, for all of them."""
    for name, channel in arm.channels.items():
        assert channel.description, name
        assert channel.values.ndim == 1 or len(channel.column_units) == channel.values.shape[1], name
    assert len(str(arm.channels).splitlines()) == len(arm.channels) + 1


def test_unknown_channels_are_named(arm):
    """The message lists what exists."""
    with pytest.raises(UnknownNameError, match="no channel named 'kinetic'"):
        arm.channels["kinetic"]
    with pytest.raises(UnknownNameError, match="no part named 'pose' in frame 'tool'.*position"):
        arm.channels["tool.pose"]
    assert "q" in arm.channels and "tool.position" in arm.channels and "nothing" not in arm.channels


def test_frame_poses_are_those_of_the_kinematics(arm):
    """The batch of poses is what pose gives one state at a time."""
    way = arm.frame("tool")
    for n in (0, 37, len(arm) - 1):
        R, p = kt.pose(arm.model, arm.q[n], frame="tool")
        assert way.rotation[n] == pytest.approx(R, abs=1e-14) and way.position[n] == pytest.approx(p, abs=1e-14)


def test_frame_velocity_is_the_rate_of_the_position(top):
    """Central differences of p and R over the samples give v and w x R; their error, h^2/6 |p'''|, is 1e-5 here."""
    name = top.model.frames[-1].name
    way = top.frame(name, point=[0.1, -0.2, 0.3])
    rate = np.gradient(way.position, way.time, axis=0)
    assert way.linear_velocity[1:-1] == pytest.approx(rate[1:-1], abs=3e-5)
    turning = np.gradient(way.rotation, way.time, axis=0)
    skew = np.cross(way.angular_velocity[:, None, :], np.swapaxes(way.rotation, 1, 2)).swapaxes(1, 2)
    assert skew[1:-1] == pytest.approx(turning[1:-1], abs=5e-5)


def test_point_of_a_frame_is_carried_along(top):
    """p + R r, for a point r of the frame."""
    name, r = top.model.frames[-1].name, np.array([0.3, 0.0, -0.1])
    way, moved = top.frame(name), top.frame(name, point=r)
    assert moved.position == pytest.approx(way.position + way.rotation @ r, abs=1e-15)
    with pytest.raises(ShapeError, match=r"point has shape \(2,\), expected \(3,\)"):
        top.frame(name, point=[1.0, 2.0])


def test_frames_of_planar_models_are_in_space():
    """The path of a planar model is that of the spatial model that it was made of."""
    flat = kt.load("double_pendulum").planar()
    run = kt.simulate(flat, [1.0, 0.5], duration=0.1)
    R, p = kt.pose(flat.spatial, run.q, frame="tip")
    assert run.frame("tip").position == pytest.approx(p, abs=1e-14)
    assert run.frame("tip").rotation == pytest.approx(R, abs=1e-14)


def test_length_of_a_way_is_that_of_the_arc():
    """A pendulum's tip goes l |q(T) - q(0)|; chords are shorter by (l dq)^2 / 24 each, 1e-6 in all."""
    run = kt.simulate(pendulum(), [1.0], duration=0.3)
    way = run.frame(run.model.frames[-1].name, point=[0.0, 0.0, -0.7])
    assert way.length == pytest.approx(0.7 * abs(run.q[-1, 0] - run.q[0, 0]), rel=1e-6)


def test_unknown_frames_are_named(arm):
    """With the frames that exist."""
    with pytest.raises(UnknownNameError, match="no frame named 'tol'.*Did you mean 'tool'"):
        arm.frame("tol")


def test_derivative_is_of_second_order():
    """d(sin)/dt on an even grid: the error is h^2/6 inside and h^2/3 at the ends."""
    run = kt.simulate(pendulum(), [0.1], duration=1.0, dt=0.01)
    wave = run.with_channel("wave", np.sin(3.0 * run.time), "m").channels["wave"].derivative()
    assert np.max(np.abs(wave.values - 3.0 * np.cos(3.0 * run.time))) < 27.0 * 0.01**2 / 3.0 * 1.05
    assert wave.unit == "m/s" and wave.derivative().unit == "m/s^2" and wave.derivative().derivative().unit == "m/s^3"


def test_filter_keeps_half_of_the_power_at_the_cutoff():
    """Amplitude 1/sqrt(2) at the cutoff and no delay, for orders 2 and 4; a tenth of it passes, ten times does not."""
    run = kt.simulate(pendulum(), [0.1], duration=4.0, dt=1e-3, record=kt.Record(period=1e-3))
    middle = slice(1500, 2500)
    for order in (2, 4):
        for frequency, gain in ((10.0, 0.5**0.5), (1.0, 1.0)):
            wave = np.sin(2.0 * np.pi * frequency * run.time)
            found = run.with_channel("wave", wave, "m").channels["wave"].filtered(10.0, order)
            assert found.values[middle] == pytest.approx(gain * wave[middle], abs=6e-3)
    fast = run.with_channel("wave", np.sin(2.0 * np.pi * 100.0 * run.time), "m").channels["wave"].filtered(10.0)
    assert np.max(np.abs(fast.values[middle])) < 1e-3


def test_filter_refuses_what_it_cannot_do(arm):
    """Uneven samples, cutoffs beyond half the rate, NaN."""
    uneven = kt.simulate(pendulum(), [0.1], duration=0.1, dt=3e-3)
    with pytest.raises(KinetreeError, match="evenly spaced.*run.resample"):
        uneven.channels["v"].filtered(10.0)
    with pytest.raises(KinetreeError, match="between 0 and 250 Hz"):
        arm.channels["v"].filtered(300.0)
    holes = np.where(np.arange(len(arm)) == 5, np.nan, 1.0)
    with pytest.raises(KinetreeError, match="would spread NaN"):
        arm.with_channel("holes", holes, "m").channels["holes"].filtered(10.0)


def test_own_channels_are_part_of_the_run(arm):
    """The run with a channel is another run; the first is as it was; the values are copied."""
    heat = np.linspace(20.0, 25.0, len(arm))
    warm = arm.with_channel("heat", heat, "degC", "of the elbow's motor")
    heat[:] = 0.0
    assert warm.channels["heat"].values[-1] == 25.0 and warm.channels["heat"].unit == "degC"
    assert "heat" not in arm.channels and "heat" in list(warm.channels)
    pair = warm.with_channel("feet", np.zeros((len(arm), 2)), "N", labels=["left", "right"])
    assert pair.channels["feet"]["right"].shape == (len(arm),) and "heat" in pair.channels


@pytest.mark.parametrize(
    ("name", "values", "labels", "error", "message"),
    [
        ("heat", np.zeros(3), None, ShapeError, r"shape \(3,\), expected \(T,\) or \(T, k\) with T = 101"),
        ("heat", np.zeros((101, 2)), ["a", "a"], ShapeError, "one different label"),
        ("heat", ["hot"] * 101, None, ShapeError, "no array of numbers"),
        ("q", np.zeros(101), None, DuplicateNameError, "'q'; choose another name"),
        ("energy.kinetic", np.zeros(101), None, DuplicateNameError, "choose another name"),
        ("tool.position", np.zeros(101), None, DuplicateNameError, "choose another name"),
        ("a/b", np.zeros(101), None, KinetreeError, "without any of"),
    ],
)
def test_own_channels_that_cannot_be(arm, name, values, labels, error, message):
    """Wrong shapes and names that are taken are refused by name."""
    with pytest.raises(error, match=message):
        arm.with_channel(name, values, "K", labels=labels)
