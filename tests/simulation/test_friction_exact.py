"""Dry friction to the letter: joints stick to the last bit, break away at tau_c, and slide as Coulomb says."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import kinetree as kt
from kinetree.errors import ArgumentError, SimulationError
from kinetree.joints import Prismatic
from tests.analytic.mechanisms import G, pendulum, slider


def sticking(model):
    """The model with dry friction as Coulomb's law has it."""
    return model.with_constraints(kt.constraints.StickingFriction())


def incline(angle, mu, mass=2.0):
    """A block on an incline, downhill positive, with the friction of its weight's normal part."""
    return slider(mass, axis=(np.cos(angle), 0.0, -np.sin(angle)), dry_friction=mu * mass * G * np.cos(angle))


def two_blocks(m1=2.0, m2=1.0, **passive):
    """A block on the floor and one on its back, along x."""
    b = kt.ModelBuilder("blocks")
    b.add_body("lower", joint=Prismatic((1, 0, 0)), joint_name="floor", mass=m1, inertia=np.eye(3))
    b.add_body("upper", parent="lower", joint=Prismatic((1, 0, 0)), joint_name="back", mass=m2, inertia=np.eye(3))
    return b.build().replace(**passive)


@pytest.mark.parametrize("share", [0.2, 0.9, 0.999999])
def test_a_block_sticks_below_the_critical_angle(share):
    """tan(angle) < mu: not one bit changes."""
    run = kt.simulate(sticking(incline(np.arctan(0.5 * share), 0.5)), [0.3], duration=2.0)
    assert (run.q == 0.3).all() and (run.v == 0.0).all()
    assert np.abs(run.a).max() < 1e-14  # the force of friction is the load


def test_a_block_slides_above_the_critical_angle():
    """With a = g (sin - mu cos), steps of h: q_n = a h^2 n (n + 1) / 2, to rounding."""
    angle, h = np.arctan(0.5 * 1.05), 1e-3
    run = kt.simulate(sticking(incline(angle, 0.5)), [0.0], duration=1.0, dt=h)
    a = G * (np.sin(angle) - 0.5 * np.cos(angle))
    n = np.arange(len(run))
    assert run.q[:, 0] == pytest.approx(a * h * h * n * (n + 1) / 2, rel=1e-10)
    assert run.a[:, 0] == pytest.approx(a, rel=1e-10)


def test_the_smooth_law_creeps():
    """What the default does instead: a loaded joint moves, at less than 1e-3 m/s."""
    run = kt.simulate(incline(np.arctan(0.25), 0.5), [0.3], duration=1.0)
    assert 1e-4 < run.q[-1, 0] - 0.3 < 1e-3


def test_coupled_joints_stick_while_others_move():
    """An arm whose wrist swings freely: joints that friction holds stay to the last bit, although loads vary."""
    arm = kt.load("arm7").without_limits()
    friction = np.array([40.0, 60.0, 20.0, 20.0, 5.0, 0.0, 0.0, 0.0, 0.0])
    q = np.array([0.0, 0.6, 0.0, 1.2, 0.0, 0.5, 0.0, 0.0, 0.0])
    run = kt.simulate(sticking(arm.replace(dry_friction=friction)), q, duration=1.0)
    assert (run.q[:, :5] == q[:5]).all() and np.ptp(run.q[:, 5]) > 0.1


def turning_points(x, v):
    """Where the velocity changes its sign, and where the motion ends."""
    moving = np.flatnonzero(v)
    return np.append(x[moving[np.flatnonzero(np.diff(np.sign(v[moving])))]], x[-1])


@pytest.mark.sweep
def test_no_creep_over_a_million_steps():
    """Two blocks under 0.99 of their breakaway loads, 1e6 steps: the same bits."""
    model = two_blocks(dry_friction=[3.0, 1.0])
    sim = kt.Simulation(
        sticking(model), [0.1, -0.2], inputs=kt.Inputs(tau=[2.97, 0.99]), record=kt.Record(every=100000)
    )
    sim.advance(1000.0)
    assert sim.q.tolist() == [0.1, -0.2] and sim.v.tolist() == [0.0, 0.0]


def test_oscillator_loses_the_same_amplitude_each_half_cycle():
    """A spring, Coulomb friction: turning points are 2 tau_c / k closer each time; it stops where the spring is weaker.

    1, -0.86, 0.72, ..., -0.02, and |-0.02| < tau_c / k = 0.07: rest. Errors are those of a step of order 1.
    """
    k, tau_c, h = 40.0, 2.8, 2e-4
    run = kt.simulate(sticking(slider(1.0, dry_friction=tau_c)), [1.0], duration=4.0, dt=h,
                      controller=lambda t, q, v: -k * q)  # fmt: skip
    x, v = run.q[:, 0], run.v[:, 0]
    expected = [(-1.0) ** n * (1.0 - n * 2.0 * tau_c / k) for n in range(1, 8)]
    assert turning_points(x, v) == pytest.approx(expected, abs=2.0 * h * np.sqrt(k))
    rest = int(np.flatnonzero(v)[-1]) + 1  # friction leaves the half period as it is
    assert run.time[rest] == pytest.approx(7 * np.pi / np.sqrt(k), abs=20 * h)
    assert (x[rest:] == x[rest]).all() and rest < len(x) - 500


def test_pendulum_stops_in_finite_time_at_the_angles_of_the_energy():
    """m g l (cos y - cos x) = tau_c (x + y) from one turning angle x to the next, y, until m g l sin x < tau_c."""
    tau_c, h = 1.2, 5e-4
    run = kt.simulate(sticking(pendulum(dry_friction=tau_c)), [1.5], duration=8.0, dt=h)
    angles = [1.5]
    while G * np.sin(angles[-1]) > tau_c:
        x = angles[-1]
        angles.append(brentq(lambda y, x=x: G * (np.cos(y) - np.cos(x)) - tau_c * (x + y), -tau_c / G, x - 1e-3))
    q, v = run.q[:, 0], run.v[:, 0]
    assert len(angles) > 5 and np.abs(turning_points(q, v)) == pytest.approx(np.abs(angles[1:]), abs=5 * h)
    held = np.flatnonzero(v)[-1] + 1
    assert held < len(q) - 500 and (q[held:] == q[-1]).all()


# Two joints against integration from event to event ------------------------------------------------------------------

M1, M2, F1, F2 = 2.0, 1.0, 3.0, 1.5
M = np.array([[M1 + M2, M2], [M2, M2]])


def load(t):
    """Joint forces that make both joints stick and slip."""
    return np.array([6.0 * np.sin(3.0 * t), 2.5 * np.sin(5.0 * t + 0.4)])


def accelerations(modes, tau):
    """For modes -1, 1 (sliding), 0 (sticking): accelerations, and what friction gives."""
    slide = [k for k in (0, 1) if modes[k]]
    force = np.array([-F * s for F, s in zip((F1, F2), modes, strict=True)])
    a = np.zeros(2)
    if slide:
        a[slide] = np.linalg.solve(M[np.ix_(slide, slide)], (tau + force)[slide])
    return a, M @ a - tau


def consistent(v, tau):
    """The modes of sliding joints, and of those at rest the ones that satisfy Coulomb's law: found by trying all."""
    options = [[np.sign(x)] if abs(x) > 1e-9 else [0.0, 1.0, -1.0] for x in v]
    for modes in itertools.product(*options):
        a, force = accelerations(modes, tau)
        if all(
            abs(x) > 1e-9 or (abs(f) <= F * (1 + 1e-9) if not s else s * y > 0.0)
            for x, s, f, F, y in zip(v, modes, force, (F1, F2), a, strict=True)
        ):
            return modes
    raise AssertionError("no consistent modes")


def reference(end):
    """From event to event: a sliding joint comes to rest, a sticking one breaks away."""
    t, y, switches = 0.0, np.zeros(4), 0
    while t < end:
        modes = consistent(y[2:], load(t + 1e-9))
        events = []
        for k, s in enumerate(modes):
            events.append((lambda t, y, k=k: y[2 + k]) if s else
                          (lambda t, y, k=k, m=modes: (F1, F2)[k] - abs(accelerations(m, load(t))[1][k])))  # fmt: skip
            events[-1].terminal, events[-1].direction = True, -s if s else -1

        def rate(t, y, m=modes):
            return np.concatenate((y[2:], accelerations(m, load(t))[0]))

        found = solve_ivp(rate, (t, end), y, events=events, rtol=1e-11, atol=1e-12, max_step=0.01)
        t, y, switches = found.t[-1], found.y[:, -1].copy(), switches + 1
        y[2:][np.abs(y[2:]) < 1e-9] = 0.0
    return y, switches


def test_two_joints_stick_and_slip_as_from_event_to_event():
    """The error is of order h, in times of breakaway and of rest alike; both joints stick for part of the time."""
    y, switches = reference(3.0)
    model = two_blocks(M1, M2, dry_friction=[F1, F2])
    for h in (2e-3, 1e-3, 5e-4):
        run = kt.simulate(sticking(model), duration=3.0, dt=h, inputs=kt.Inputs(tau=lambda t: load(t)))
        assert np.abs(np.concatenate((run.q[-1], run.v[-1])) - y).max() < 0.5 * h
    assert switches > 12 and ((run.v == 0.0).mean(axis=0) > 0.05).all()


def test_friction_only_takes_energy():
    """The work of friction falls in every step, and most of the energy goes that way."""
    rng = np.random.default_rng(3)
    arm = kt.load("arm7").without_limits().replace(gravity=(0, 0, 0), damping=0.0, dry_friction=1.0)
    _, v = arm.random_state(rng)
    v[8] = v[7]
    run = kt.simulate(sticking(arm), arm.neutral(), v, duration=1.0)
    work = run.energy_balance.works["dry friction"].sum(axis=1)
    assert (np.diff(work) <= 0.0).all() and work[-1] < -0.5 * run.kinetic_energy[0]
    assert run.kinetic_energy[-1] < 0.5 * run.kinetic_energy[0]


def test_friction_of_followers_counts_at_the_master():
    """Two fingers geared together with 1 N each hold a push of 1.99 N on one of them, and not 2.01 N."""
    arm = kt.load("arm7").without_limits()
    master, follower = (arm.v_index(x).start for c in arm.couplings for x in (c.master, c.joint))
    friction, tau = np.full(9, 1e3), np.zeros(9)
    friction[[master, follower]] = 1.0
    arm = arm.replace(dry_friction=friction, gravity=(0, 0, 0))
    for push, moves in ((1.99, False), (2.01, True)):
        tau[follower] = push
        run = kt.simulate(sticking(arm), arm.neutral(), duration=0.1, inputs=kt.Inputs(tau=tau))
        assert bool(np.any(run.v)) is moves and (run.q[:, follower] == run.q[:, master]).all()


def test_the_energy_balance_has_the_force_and_the_work():
    """Held: the force is the load and does no work. Sliding: -tau_c, over the way."""
    model = slider(2.0, dry_friction=3.0)
    held = kt.simulate(sticking(model), duration=0.1, inputs=kt.Inputs(tau=[2.0])).energy_balance
    assert held.others["force.dry friction"] == pytest.approx(-2.0, rel=1e-14) and held.work("dry friction") == 0.0
    run = kt.simulate(sticking(model), v0=[1.0], duration=0.5, record=kt.Record(every=7))
    book = run.energy_balance
    assert (book.others["force.dry friction"] == -3.0).all()
    assert book.works["dry friction"][:, 0] == pytest.approx(-3.0 * run.q[:, 0], rel=1e-9)
    assert np.abs(book.remainder).max() < 3.0 * 1.0 * 1e-3  # tau_c v h


def test_restored_runs_have_the_same_bits():
    """Stick-slip, saved in the middle: positions, works and forces."""

    def make():
        return kt.Simulation(sticking(two_blocks(dry_friction=[F1, F2])), inputs=kt.Inputs(tau=load))

    sim = make()
    sim.advance(0.7)
    saved = sim.save()
    sim.advance(0.7)
    other = make()
    other.restore(saved)
    other.advance(0.7)
    one, two = sim.trajectory(), other.trajectory()
    assert np.array_equal(one.q, two.q) and np.array_equal(one.a, two.a)
    assert np.array_equal(one.energy_balance.works["dry friction"], two.energy_balance.works["dry friction"])


@pytest.mark.parametrize("integrator", ["rk4", "adaptive", "implicit_midpoint"])
def test_other_integrators_are_refused(integrator):
    """By name, with what to do."""
    with pytest.raises(SimulationError, match=f"sticking friction.*semi_implicit.*time_stepping.*{integrator}"):
        kt.simulate(sticking(slider()), duration=0.1, integrator=integrator)


def test_friction_is_no_option_of_runs():
    """It is part of the model."""
    with pytest.raises(ArgumentError, match=r"friction is no option .*constraints.StickingFriction"):
        kt.simulate(slider(), duration=0.1, friction="exakt")


def test_events_see_joints_at_rest():
    """Within a step a stuck joint does not move either: no event where it stands."""
    watch = kt.Event(lambda t, q, v: q[0] - 0.1 - 1e-12, name="creeps")
    run = kt.simulate(
        sticking(slider(2.0, dry_friction=3.0)), [0.1], duration=0.1, inputs=kt.Inputs(tau=[2.9]), events=watch
    )
    assert not run.events
