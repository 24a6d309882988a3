"""Hard stops: impacts with restitution against closed forms, rest without chatter, nothing penetrates."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import kinetree as kt
from kinetree.constraints import HardLimits, StickingFriction
from kinetree.errors import ArgumentError, LimitError, SimulationError
from kinetree.joints import Prismatic
from tests.analytic.mechanisms import G, pendulum, slider


def hard(model, restitution=0.0):
    """The model with limits that nothing passes."""
    return model.with_constraints(HardLimits(restitution))


def ball(**passive):
    """A mass that falls on a stop at height zero."""
    return slider(2.0, axis=(0, 0, 1), **{"lower": 0.0, "upper": 50.0} | passive)


def bouncing(t, height, e):
    """Height at times t of a ball dropped at rest, restitution e; and when it comes to rest."""
    t1, v = np.sqrt(2 * height / G), e * np.sqrt(2 * G * height)
    x = np.where(t < t1, height - 0.5 * G * t**2, 0.0)
    while v > 1e-12:
        s = t - t1
        x = np.where((s >= 0.0) & (s < 2 * v / G), v * s - 0.5 * G * s**2, x)
        t1, v = t1 + 2 * v / G, e * v
    return x, t1


@pytest.mark.parametrize("h", [1e-2, 1e-3])
@pytest.mark.parametrize("e", [0.9, 0.5, 0.2])
def test_a_bouncing_ball_is_exact_until_it_rests(e, h):
    """Under a constant force every height and every time of impact is that of the closed form to rounding, whatever h,
    until flights are shorter than two steps; then the ball lies there. The energy balance explains all of its
    energy."""
    run = kt.simulate(hard(ball(), e), [1.0], duration=2.0 if e < 0.9 else 9.0, dt=h)
    x, end = bouncing(run.time, 1.0, e)
    flown = run.time < end - 2 * h * 2 / (1 - e)
    # Some 1e4 steps of 1e-16 m at most, and as many roundings of the times.
    assert flown.sum() > 50 and np.abs(run.q[:, 0] - x)[flown].max() < 1e-12
    fall = np.sqrt(2.0 / G)
    flights = 2 * fall * e ** np.arange(1, len(run.events))
    assert [x.time for x in run.events] == pytest.approx(fall + np.append(0.0, np.cumsum(flights)), abs=1e-13)
    assert [-x.v[0] for x in run.events] == pytest.approx(G * fall * e ** np.arange(len(run.events)), abs=1e-12)
    assert np.abs(run.q[:, 0] - x).max() < G * (2 * h) ** 2
    rest = run.time > end
    assert rest.any() and (run.q[rest] == 0.0).all() and (run.v[rest] == 0.0).all() and run.q.min() == 0.0
    assert np.abs(run.energy_balance.remainder).max() < 1e-11


def test_a_ball_meets_the_floor_when_it_should_at_the_default_step():
    """Dropped from 1 m: at sqrt(2 / g), and 0.4 s after the drop it is where free fall has it."""
    run = kt.simulate(hard(ball(), 0.5), [1.0], duration=0.46)
    assert run.q[400, 0] == pytest.approx(1.0 - 0.5 * G * 0.4**2, abs=1e-13)
    assert [x.time for x in run.events] == pytest.approx([np.sqrt(2.0 / G)], abs=1e-14)
    t = run.events[0].time + np.array([-2e-4, 0.0, 3e-4])  # between two samples
    q, v = run.state(t)
    assert q[:, 0] == pytest.approx(bouncing(t, 1.0, 0.5)[0], abs=1e-13)
    assert v[:, 0] == pytest.approx(np.where(t < t[1], -G * t, 0.5 * G * t[1] - G * (t - t[1])), abs=1e-11)


def test_full_restitution_keeps_the_height():
    """300 bounces later the ball is where the closed form says, to the rounding of as many impacts."""
    h, height = 1e-3, 0.01
    flight = 2 * np.sqrt(2 * height / G)
    run = kt.simulate(hard(ball(), 1.0), [height], duration=300 * flight, dt=h)
    s = np.mod(run.time + 0.5 * flight, flight)
    x = np.sqrt(2 * G * height) * s - 0.5 * G * s**2
    assert np.abs(run.q[:, 0] - x).max() < 1e-11
    assert len(run.events) == 300 and np.abs(run.energy_balance.remainder).max() < 1e-11


def pendulum_on_a_stop(end, e):
    """Times at which a pendulum from 1.2 rad meets a stop at 0.3 rad, and its state at the end: from impact to impact.

    By SciPy, to 1e-12.
    """
    t, y, times = 0.0, np.array([1.2, 0.0]), []

    def meets(t, y):
        return y[0] - 0.3

    meets.terminal, meets.direction = True, -1
    while t < end:
        found = solve_ivp(lambda t, y: [y[1], -G * np.sin(y[0])], (t, end), y, events=meets, rtol=1e-12, atol=1e-13)
        t, y = found.t[-1], found.y[:, -1]
        if len(found.t_events[0]):
            times.append(t)
            y = np.array([0.3, -e * y[1]])
    return np.array(times), y


def test_a_pendulum_meets_its_stop_with_order_two():
    """Times of impact, positions and velocities after two rebounds: the error falls as h^2 (a factor of 16 for h / 4;
    where within a step an impact falls changes it by a factor), below 1e-6 at the default step."""
    times, y = pendulum_on_a_stop(1.5, 0.8)
    errors = []
    for h in (1.6e-2, 4e-3, 1e-3):
        run = kt.simulate(hard(pendulum(lower=0.3, upper=2.0), 0.8), [1.2], duration=1.5, dt=h)
        assert len(run.events) == len(times) == 2 and all(x.q[0] == 0.3 for x in run.events)
        found, right = [*(x.time for x in run.events), *run.q[-1], *run.v[-1]], [*times, *y]
        errors.append(np.abs(np.subtract(found, right)))
    errors = np.array(errors)
    assert (errors[2] < errors[0] / 16**2 * 8).all() and errors[2, :3].max() < 2e-6, errors


def test_an_arm_between_stops_that_it_does_not_meet_moves_with_order_two():
    """Forces that depend on velocities included: a double pendulum against dp54."""
    model = kt.models.double_pendulum()
    exact = kt.simulate(model, [1.0, 0.5], duration=1.0, integrator="dp54")
    errors = []
    for h in (4e-3, 2e-3):
        run = kt.simulate(hard(model.replace(lower=-9.0, upper=9.0)), [1.0, 0.5], duration=1.0, dt=h)
        errors.append(np.abs(run.q[-1] - exact.q[-1]).max())
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.3) and errors[1] < 1e-5


@pytest.mark.parametrize("stiffness", [1e2, 1e4, 1e8])
def test_springs_of_joints_with_stops_are_steady(stiffness):
    """An undamped spring keeps its amplitude where steps resolve it (0.01 rad of phase per step: 1e-4 in 600), and no
    stiffness makes a step unstable."""
    run = kt.simulate(hard(slider(1.0, stiffness=stiffness, lower=-9.0, upper=9.0)), [1.0], duration=6.0)
    assert np.abs(run.q).max() <= 1.0 + 1e-9
    if stiffness == 1e2:
        assert np.abs(run.q[-700:]).max() == pytest.approx(1.0, abs=1e-4)


def test_resting_contact_carries_the_load_and_lets_go():
    """The stop's force is the weight, to the bit at rest; a pull beyond the weight lifts at once."""
    pull = lambda t: [15.0 if t < 0.1 else 25.0]  # noqa: E731
    run = kt.simulate(hard(ball()), [0.0], duration=0.2, inputs=kt.Inputs(tau=pull))
    force = run.energy_balance.others["force.stops"][:, 0]
    assert force[:99] == pytest.approx(2.0 * G - 15.0, rel=1e-13) and (run.q[:100] == 0.0).all()
    assert run.q[-1, 0] == pytest.approx(0.5 * (12.5 - G) * 0.1**2, rel=1e-12)
    assert np.abs(run.a[:99]).max() < 1e-13 and run.energy_balance.work("stops") == 0.0


def test_both_stops_and_no_gravity():
    """Between walls without loss: the reflections of a straight line."""
    model = slider(1.0, lower=-0.3, upper=0.7)
    run = kt.simulate(hard(model, 1.0), [0.1], [3.7], duration=5.0)
    s = np.mod(0.4 + 3.7 * run.time, 2.0)
    assert run.q[:, 0] == pytest.approx(np.minimum(s, 2.0 - s) - 0.3, abs=1e-10)
    assert np.abs(run.v) == pytest.approx(3.7, rel=1e-13)


def test_impacts_of_a_chain_are_those_of_momentum():
    """The upper of two sliding blocks hits the lower one's end: relative speed times -e, momentum as before."""
    b = kt.ModelBuilder("blocks")
    b.add_body("lower", joint=Prismatic((1, 0, 0)), joint_name="floor", mass=2.0, inertia=np.eye(3))
    b.add_body("upper", parent="lower", joint=Prismatic((1, 0, 0)), joint_name="back", mass=1.0, inertia=np.eye(3),
               lower=-1.0, upper=0.5)  # fmt: skip
    run = kt.simulate(hard(b.build(), 0.6), [0.0, 0.0], [0.3, 2.0], duration=0.5)
    p = 3.0 * run.v[:, 0] + run.v[:, 1]
    assert p == pytest.approx(2.9, rel=1e-12)
    assert run.v[-1, 1] == pytest.approx(-1.2, rel=1e-12) and run.q[:, 1].max() <= 0.5
    loss = 0.5 * (2.0 * 1.0 / 3.0) * 2.0**2 * (1.0 - 0.36)
    assert run.energy_balance.work("stops") == pytest.approx(-loss, rel=1e-12)
    assert np.abs(run.energy_balance.remainder).max() < 1e-12


@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
def test_impacts_of_an_arm_give_no_energy(e):
    """Random motions into stops, on one of them from the start: no impact gives energy, and q stays inside."""
    rng = np.random.default_rng(1)
    arm = kt.load("arm7").replace(gravity=(0, 0, 0), damping=0.0, dry_friction=0.0)
    _, v = arm.random_state(rng)
    v[8] = v[7]
    run = kt.simulate(hard(arm, e), v0=3 * v, duration=1.0)
    work = run.energy_balance.works["stops"].sum(axis=1)
    assert np.diff(work).max() < 1e-12 * run.kinetic_energy[0]
    assert work[-1] == pytest.approx(0.0, abs=1e-9) if e == 1.0 else work[-1] < -0.01 * run.kinetic_energy[0]
    assert np.abs(run.energy_balance.remainder).max() < 5e-4 * run.kinetic_energy[0]  # of order h^2
    assert (run.q >= np.asarray(arm.lower)).all() and (run.q <= np.asarray(arm.upper)).all()


def test_a_pendulum_comes_to_rest_on_its_stop():
    """Falling onto a stop at 0.3 rad: finitely many rebounds, then the stop carries m g l sin 0.3."""
    run = kt.simulate(hard(pendulum(lower=0.3, upper=2.0), 0.4), [1.2], duration=4.0)
    assert run.q.min() == 0.3 == run.q[-1, 0] and (run.v[-1000:] == 0.0).all()
    assert run.energy_balance.others["force.stops"][-1, 0] == pytest.approx(G * np.sin(0.3), rel=1e-12)
    assert run.energy_balance.work("stops") == pytest.approx(-G * (np.cos(0.3) - np.cos(1.2)), rel=1e-5)


def test_friction_and_stop_act_together():
    """On the stop, a joint with friction gives the stop only what friction does not hold."""
    run = kt.simulate(hard(ball(dry_friction=5.0)).with_constraints(StickingFriction()), [0.0], duration=0.05)
    others = run.energy_balance.others
    assert (others["force.stops"] + others["force.dry friction"])[:, 0] == pytest.approx(2.0 * G, rel=1e-13)
    assert (others["force.dry friction"] == 5.0).all()


def test_restitution_by_joint_and_what_is_refused():
    """Numbers by name; outside of [0, 1], without hard stops, starts beyond a stop, other integrators."""
    run = kt.simulate(ball().with_constraints(HardLimits(0.5, "rail")), [0.1], duration=1.0)
    assert run.q.min() == 0.0
    with pytest.raises(ArgumentError, match="restitution is 1.5, expected"):
        hard(ball(), 1.5)
    with pytest.raises(ArgumentError, match=r"restitution is no option .*with_constraints\(kt.constraints.HardLimits"):
        kt.simulate(ball(), duration=0.1, restitution=0.5)
    with pytest.raises(SimulationError, match="hard limits of all joints.*semi_implicit.*time_stepping.*rk4"):
        kt.simulate(hard(ball()), duration=0.1, integrator="rk4")
    with pytest.raises(LimitError, match="rail"):
        kt.simulate(hard(ball()), [-0.1], duration=0.1)


def test_restored_in_the_middle():
    """Bounces, saved in flight: the same bits."""
    sim = kt.Simulation(hard(ball(), 0.7), [0.3])
    sim.advance(0.6)
    saved = sim.save()
    sim.advance(1.5)
    once = sim.trajectory()
    sim.restore(saved)
    sim.advance(1.5)
    assert np.array_equal(sim.trajectory().q, once.q)
