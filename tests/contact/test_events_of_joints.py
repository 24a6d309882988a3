"""Event-driven limits, joint friction, soft contact, prescribed motions: closed forms, time stepping at small steps."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp
from scipy.optimize import brentq

import kinetree as kt
from kinetree.collision import ContactPair, Shape
from kinetree.constraints import Coupling, HardLimits, Lock, PrescribedMotion, StickingFriction
from kinetree.spatial import scalar

G = 9.81
FLOOR = Shape("world", "plane", name="floor")


def slider(axis=(1, 0, 0), mass=2.0, **numbers):
    b = kt.ModelBuilder("slider")
    b.add_body("body", joint=kt.joints.Prismatic(axis), mass=mass, inertia=0.1 * np.eye(3))
    return b.build().replace(**numbers)


def moved(model, q, v, duration, dt=0.05, integrator="event_driven", **more):
    return kt.simulate(model, q, v, duration=duration, dt=dt, integrator=integrator, **more)


def times(run, name):
    return [x.time for x in run.events if x.name.startswith(name)]


# Limits ------------------------------------------------------------------------------------------------------------


def test_a_pendulum_bounces_on_its_stop():
    """Speeds at the stop by energy, e times that after; flights of a fall by the integral of 1 / omega."""
    e, stop, start = 0.6, 0.2, 1.0
    model = kt.models.pendulum().replace(lower=[stop], upper=[3.0]).with_constraints(HardLimits(restitution=e))
    run = moved(model, [start], [0.0], 2.5)
    k = 2.0 * G  # of a point mass on 1 m
    fall = quad(lambda s: 2.0 / math.sqrt(k * (math.sin(start) / start if s == 0.0 else
                (math.cos(start - s * s) - math.cos(start)) / s**2)), 0.0, math.sqrt(start - stop))[0]  # fmt: skip
    hits = run.events
    assert hits[0].time == pytest.approx(fall, abs=2e-10)
    assert (hits[0].joint, hits[0].side) == ("pivot", "lower")
    arriving = math.sqrt(k * (math.cos(stop) - math.cos(start)))
    for n, hit in enumerate(hits[:6]):
        assert hit.v[0] == pytest.approx(-arriving * e**n, abs=3e-9)
        assert hit.v_after[0] == pytest.approx(arriving * e ** (n + 1), abs=3e-9)
    balance = run.energy_balance.channels
    assert balance["work.stops"][-1].sum() == pytest.approx(run.energy[-1] - run.energy[0], abs=1e-8)


def test_at_rest_on_a_stop_its_force_is_that_of_the_load():
    """After the accumulation of bounces the pendulum stays on its stop, which carries m g l sin."""
    model = kt.models.pendulum().replace(lower=[0.2], upper=[3.0]).with_constraints(HardLimits(restitution=0.5))
    run = moved(model, [1.0], [0.0], 5.0)
    assert run.q[-1, 0] == 0.2 or abs(run.q[-1, 0] - 0.2) < 1e-14
    assert run.v[-1, 0] == pytest.approx(0.0, abs=1e-13) and run.a[-1, 0] == pytest.approx(0.0, abs=1e-10)
    assert run.energy_balance.channels["force.stops"][-1, 0] == pytest.approx(G * math.sin(0.2), abs=1e-10)


def test_limits_of_a_coupled_joint_act_on_its_master():
    """A follower of ratio 2 with a limit at 0.8 stops its master at 0.4, both with their inertia."""
    b = kt.ModelBuilder("coupled")
    for name in ("a", "b"):
        b.add_body(name, joint=kt.joints.Prismatic((1, 0, 0)), parent="world", mass=1.0, inertia=0.1 * np.eye(3))
    model = b.build().replace(lower=[-np.inf, -np.inf], upper=[np.inf, 0.8])
    model = model.with_constraints(Coupling("b", "a", 2.0), HardLimits(restitution=0.5))
    run = moved(model, [0.0, 0.0], [0.5, 1.0], 1.0, 0.25)
    (hit,) = run.events
    assert hit.time == pytest.approx(0.8, abs=1e-13) and hit.v_after == pytest.approx([-0.25, -0.5], abs=1e-13)


def test_a_stop_and_the_floor_are_hit_at_the_same_instant():
    """A ball on two sliders reaches the stop of one and the floor at once; each rebounds by its own coefficient."""
    b = kt.ModelBuilder("ball")
    b.add_body("carriage", joint=kt.joints.Prismatic((1, 0, 0)), mass=0.5, inertia=0.1 * np.eye(3))
    b.add_body("ball", joint=kt.joints.Prismatic((0, 0, 1)), mass=1.0, inertia=0.1 * np.eye(3), parent="carriage")
    ball = Shape("ball", "sphere", (0.1,), name="ball")
    model = (
        b.build()
        .replace(
            lower=[-1.0, -np.inf],
            upper=[1.0, np.inf],
            contacts=[ContactPair("floor/ball", FLOOR, ball, friction=0.0, restitution=0.5)],
        )
        .with_constraints(HardLimits(restitution=0.25))
    )
    fall = math.sqrt(2.0 * 0.5 / G)
    run = moved(model, [1.0 - 2.0 * fall, 0.6], [2.0, 0.0], 0.8, 0.1)
    assert [x.time for x in run.events[:2]] == pytest.approx([fall, fall], abs=1e-11)
    assert {x.joint for x in run.events[:2]} == {"", "carriage"}
    assert run.events[1].v_after == pytest.approx([-0.5, 0.5 * G * fall], abs=1e-10)
    flight = run.events[2].time - fall
    assert flight == pytest.approx(2.0 * 0.5 * fall, abs=1e-10) and run.events[2].v[0] == pytest.approx(-0.5, abs=1e-12)


# Friction in joints -------------------------------------------------------------------------------------------------


def test_a_block_with_joint_friction_stops_at_the_time_and_place():
    """t = m v / F, x = m v^2 / 2 F, then at rest to the last bit; the work of friction is all of the energy."""
    model = slider(dry_friction=3.0).with_constraints(StickingFriction())
    run = moved(model, [0.0], [1.2], 1.5, 0.1)
    (end,) = run.events
    assert (end.name, end.time) == ("stick of joint body", pytest.approx(0.8, abs=1e-13))
    assert run.q[-1, 0] == pytest.approx(0.48, abs=1e-13) and abs(run.v[-1, 0]) < 1e-15
    assert run.energy_balance.channels["work.dry friction"][-1].sum() == pytest.approx(-1.44, abs=1e-13)


def test_an_oscillator_with_dry_friction_loses_the_same_amplitude_each_half_period():
    """Turns at n pi / omega and (-1)^n (x0 - 2 n F / k); it rests where the spring is too weak."""
    model = slider(dry_friction=3.0, stiffness=50.0).with_constraints(StickingFriction())
    run = moved(model, [0.5], [0.0], 3.0, dt=math.pi / 5.0)
    turns = [x - 2.0 * n * 3.0 / 50.0 for n, x in enumerate([0.5] * 4)]
    assert run.q[:4, 0] == pytest.approx([x * (-1) ** n for n, x in enumerate(turns)], abs=1e-9)
    (end,) = times(run, "stick")
    assert end == pytest.approx(4.0 * math.pi / 5.0, abs=1e-9)
    assert run.q[-1, 0] == pytest.approx(0.02, abs=1e-10)
    spring = run.energy_balance.channels["force.dry friction"][-1, 0]
    assert spring == pytest.approx(50.0 * 0.02, abs=1e-8)


def test_a_joint_breaks_loose_when_the_load_reaches_its_friction():
    """A slider on an arm that turns at a given rate: m (g sin(w t) + r w^2) = F where slip begins, outward."""
    b = kt.ModelBuilder("arm", gravity=(0, 0, -G))
    b.add_body("arm", joint=kt.joints.Revolute((0, 1, 0)), mass=1.0, inertia=0.1 * np.eye(3))
    b.add_body("slider", joint=kt.joints.Prismatic((1, 0, 0)), parent="arm", mass=2.0, inertia=0.1 * np.eye(3))
    model = b.build().replace(dry_friction=[0.0, 8.0])
    model = model.with_constraints(StickingFriction(of="slider"), PrescribedMotion("arm", lambda t: 1.5 * t))
    run = moved(model, [0.0, 0.5], [1.5, 0.0], 0.4, 0.1)
    (slip,) = run.events
    assert slip.name == "slip of joint slider"
    assert slip.time == pytest.approx(math.asin((8.0 / 2.0 - 0.5 * 1.5**2) / G) / 1.5, abs=2e-9)
    assert run.q[-1, 1] > 0.5


def test_impacts_move_joints_with_friction():
    """A bounded force is no impulse: a joint that sticks is set into motion by an impact as if it were free."""
    b = kt.ModelBuilder("two")
    for name in ("a", "b"):
        b.add_body(name, joint=kt.joints.Prismatic((1, 0, 0)), parent="world", mass=1.0, inertia=0.1 * np.eye(3))
    balls = [Shape(name, "sphere", (0.5,), name=f"s{name}") for name in ("a", "b")]
    pair = ContactPair("hit", *balls, friction=0.0, restitution=1.0)
    model = b.build().replace(contacts=[pair], dry_friction=[0.0, 2.0]).with_constraints(StickingFriction())
    run = moved(model, [0.0, 2.0], [2.0, 0.0], 2.5, 0.25)
    names = [x.name for x in run.events]
    assert names == ["impact of hit", "slip of joint b", "stick of joint b"]
    assert run.events[0].v_after == pytest.approx([0.0, 2.0], abs=1e-12)
    assert run.events[2].time == pytest.approx(0.5 + 1.0, abs=1e-11) and run.q[-1, 1] == pytest.approx(3.0, abs=1e-11)


# Soft contact ---------------------------------------------------------------------------------------------------------


DROP = slider((0, 0, 1))
BALL = Shape("body", "sphere", (0.1,), name="ball")


@pytest.mark.parametrize(
    "soft",
    [
        dict(stiffness=5000.0, relaxation_time=0.004),
        dict(stiffness=2e5, law="hunt_crossley", dissipation=0.3),
    ],
)
def test_a_drop_on_a_soft_floor_is_that_of_its_equation(soft):
    """Against DOP853 on z'' = f / m - g, beyond the loss of contact; the work of contact is the loss of energy."""
    model = DROP.replace(contacts=[ContactPair("c", FLOOR, BALL, friction=0.0, **soft)])
    run = moved(model, [0.6], [0.0], 0.5, 0.05)

    def law(p, w):
        if soft.get("law") == "hunt_crossley":
            return 2e5 * max(-p, 0.0) ** 1.5 * (1.0 - 0.3 * w)
        return -5000.0 * (p + 0.004 * w)

    def rate(t, y):
        return [y[1], max(law(y[0] - 0.1, y[1]), 0.0) / 2.0 - G if y[0] < 0.1 else -G]

    fall = math.sqrt(2.0 * 0.5 / G)

    def ends(t, y):
        force = 0.1 - y[0] if "law" in soft else law(y[0] - 0.1, y[1])
        return force if t > fall + 1e-4 else 1.0

    ends.terminal = True
    met = solve_ivp(rate, (fall, 0.5), [0.1, -G * fall], "DOP853", rtol=1e-12, atol=1e-13, events=ends)
    (t,), (y,) = met.t_events[0], met.y_events[0]
    left = 0.5 - t
    assert run.q[-1, 0] == pytest.approx(y[0] + left * y[1] - 0.5 * G * left**2, abs=2e-8)
    assert times(run, "lift-off") == pytest.approx([t], abs=1e-7)
    work = run.energy_balance.channels["work.contact"][-1].sum()
    assert work == pytest.approx(run.energy[-1] - run.energy[0], abs=1e-7)


@pytest.mark.parametrize(("ratio", "e"), [(0.05, 0.858758101775), (0.1, 0.744079397722), (0.2, 0.571740027585)])
def test_the_rebound_of_soft_contact_follows_from_its_damping(ratio, e):
    """K and D without gravity, until the force is zero: problems 3.9."""
    pair = ContactPair("c", FLOOR, BALL, friction=0.0, stiffness=2e4, relaxation_time=2.0 * ratio * 1e-2)
    run = moved(DROP.replace(contacts=[pair], gravity=(0, 0, 0)), [0.2], [-1.0], 0.3, 0.1)
    assert run.v[-1, 0] == pytest.approx(e, abs=1e-7) and len(times(run, "lift-off")) == 1


def test_a_soft_and_a_rigid_foot_share_a_load():
    """A plank with a rigid foot and one on a spring: each has half of the weight; the rigid one has friction."""
    b = kt.ModelBuilder("plank", gravity=(0.0, -G, 0.0))
    b.add_body("plank", joint=kt.joints.Planar(), mass=1.0, inertia=0.1 * np.eye(3))
    wall = Shape("world", "plane", R=((1, 0, 0), (0, 0, 1), (0, -1, 0)), name="floor")
    feet = [Shape("plank", "sphere", (0.05,), p=(x, 0, 0), name=f"foot{x}") for x in (-0.5, 0.5)]
    k = 1e4
    soft = ContactPair("soft", wall, feet[1], friction=0.0, stiffness=k, relaxation_time=0.02)
    plank = b.build().replace(contacts=[ContactPair("rigid", wall, feet[0], friction=0.3), soft])
    run = moved(plank, [0.0, 0.0, 0.05], [0.0, 0.0, 0.0], 1.0, 0.1)
    assert math.sin(-run.q[-1, 0]) == pytest.approx(0.5 * G / k, rel=1e-6)
    assert run.contacts.normal_forces[-1] == pytest.approx([0.5 * G, 0.5 * G], rel=1e-6)
    slid = moved(plank, run.q[-1], [0.0, 1.0, 0.0], 1.0, 0.1)
    (end,) = times(slid, "stick")
    impulse = slid.contacts.forces[:, 0, 0].sum() * 0.1  # of friction, along x but for its sign
    assert end < 1.0 and abs(impulse) == pytest.approx(1.0, abs=1e-6) and abs(slid.v[-1]).max() < 1e-5


def test_elements_of_soft_contact_beside_rigid_contacts():
    """A box on corners with springs, and a ball that bounces on it: time stepping tends to the same motion."""
    b = kt.ModelBuilder("box")
    b.add_body("box", joint=kt.joints.Free(), mass=1.0, inertia=np.diag([0.0083, 0.0042, 0.0108]))
    b.add_body("ball", joint=kt.joints.Prismatic((0, 0, 1)), parent="world", mass=0.5, inertia=0.1 * np.eye(3))
    box, ball = Shape("box", "box", (0.2, 0.3, 0.1), name="box"), Shape("ball", "sphere", (0.05,), name="ball")
    corners = ContactPair("corners", FLOOR, box, friction=0.4)
    model = b.build().replace(contacts=[ContactPair("top", box, ball, friction=0.0, restitution=0.5)])
    model = model.with_forces(kt.forces.SoftContact("c", corners, stiffness=2e3, damping=20.0, law="kelvin_voigt"))
    q, v = [0, 0, 0.06, 1, 0, 0, 0, 0.3], [0.3, 0, 0, 0.5, 0, 0, 0]
    exact = moved(model, q, v, 0.25, 0.05)
    assert len(times(exact, "impact")) >= 1
    errors = [np.abs(moved(model, q, v, 0.25, dt, "time_stepping").q[-1] - exact.q[-1]).max() for dt in (1e-3, 2.5e-4)]
    assert errors[0] < 2e-3 and errors[0] / errors[1] == pytest.approx(4.0, rel=0.4)


# Prescribed motions, locks --------------------------------------------------------------------------------------------


def on_table(axis, motion, mu):
    b = kt.ModelBuilder("table")
    b.add_body("table", joint=kt.joints.Prismatic(axis), mass=5.0, inertia=0.1 * np.eye(3))
    b.add_body("ball", joint=kt.joints.Free(), parent="world", mass=1.0, inertia=0.004 * np.eye(3))
    top, ball = Shape("table", "plane", name="top"), Shape("ball", "sphere", (0.1,), name="ball")
    pair = ContactPair("c", top, ball, friction=mu)
    return b.build().replace(contacts=[pair]).with_constraints(PrescribedMotion("table", motion))


def test_a_ball_leaves_a_table_that_falls_faster_than_it():
    """z = A sin(w t): lift-off where A w^2 sin(w t) = g, the landing where both paths meet again."""
    A, w = 0.1, 15.0
    model = on_table((0, 0, 1), lambda t: 0.1 * scalar.sin(15.0 * t), 0.0)
    run = moved(model, [0, 0, 0, 0.1, 1, 0, 0, 0], [A * w, 0, 0, 0, 0, 0, A * w], 0.5, 0.01)
    off = math.asin(G / (A * w * w)) / w
    assert times(run, "lift-off")[0] == pytest.approx(off, abs=1e-9)
    z, speed = A * math.sin(w * off), A * w * math.cos(w * off)
    apart = lambda t: z + speed * (t - off) - 0.5 * G * (t - off) ** 2 - A * math.sin(w * t)  # noqa: E731
    assert times(run, "impact")[0] == pytest.approx(brentq(apart, off + 0.05, off + 0.6), abs=1e-7)


def test_a_ball_rolls_on_a_table_that_accelerates():
    """A solid sphere without slip gets 2/7 of the table's acceleration."""
    model = on_table((1, 0, 0), lambda t: 0.7 * t * t, 0.5)
    run = moved(model, [0, 0, 0, 0.1, 1, 0, 0, 0], np.zeros(7), 1.0, 0.1)
    assert run.q[-1, 1] == pytest.approx(2.0 / 7.0 * 0.7, abs=1e-10)


def test_locks_beside_limits():
    """A locked joint stays, the other one bounces on its stop: Newton's third law carried by the lock."""
    arm = kt.models.double_pendulum().replace(lower=[-3.0, -0.1], upper=[3.0, 3.0])
    arm = arm.with_constraints(Lock(arm.joint_names[0]), HardLimits(restitution=0.5))
    run = moved(arm, [0.0, 0.7], [0.0, 0.0], 0.8, 0.1)
    assert (run.q[:, 0] == 0.0).all() and times(run, "impact")
    first = run.events[0]
    assert first.v_after[1] == pytest.approx(-0.5 * first.v[1], abs=1e-12)
    assert first.q[1] == pytest.approx(-0.1, abs=1e-12)


# All of them, against time stepping -----------------------------------------------------------------------------------


def leg():
    """A mass on a leg of two joints with stops and friction, over a floor."""
    b = kt.ModelBuilder("leg")
    b.add_body("mast", joint=kt.joints.Prismatic((0, 0, 1)), mass=2.0, inertia=0.1 * np.eye(3))
    b.add_body("thigh", joint=kt.joints.Revolute((0, 1, 0)), parent="mast", mass=0.5, com=(0, 0, -0.2),
               inertia=0.01 * np.eye(3))  # fmt: skip
    b.add_body("shank", joint=kt.joints.Revolute((0, 1, 0)), parent="thigh", mass=0.3, com=(0, 0, -0.2),
               inertia=0.01 * np.eye(3), placement=((0, 0, -0.4), (0, 0, 0)))  # fmt: skip
    foot = Shape("shank", "sphere", (0.05,), p=(0, 0, -0.4), name="foot")
    model = b.build().replace(
        contacts=[ContactPair("floor/foot", FLOOR, foot, friction=0.6)],
        lower=[-np.inf, -0.9, 0.1],
        upper=[np.inf, 0.9, 2.0],
        dry_friction=[0.0, 0.4, 0.4],
    )
    return model.with_constraints(StickingFriction(), HardLimits())


def test_time_stepping_tends_to_the_events_of_all_kinds():
    """Floor, stops and friction in one fall: the distance between both methods is proportional to dt."""
    model, q = leg(), [0.8, -0.4, 0.9]
    exact = moved(model, q, np.zeros(3), 0.26, 0.02)
    kinds = {x.name.split(" ")[0] for x in exact.events}
    assert {"impact", "slip"} <= kinds and len(exact.events) >= 4
    errors = [
        np.abs(moved(model, q, np.zeros(3), 0.26, dt, "time_stepping").q[-1] - exact.q[-1]).max()
        for dt in (1e-3, 5e-4, 2.5e-4, 1.25e-4)
    ]
    slope = np.polyfit(np.log2([8.0, 4.0, 2.0, 1.0]), np.log2(errors), 1)[0]
    assert slope == pytest.approx(1.0, abs=0.25) and errors[0] < 5e-3
    balance = exact.energy_balance.channels
    work = sum(float(np.sum(balance[name][-1])) for name in balance if name.startswith("work."))
    assert work == pytest.approx(exact.energy[-1] - exact.energy[0], abs=1e-7)


def test_limits_and_friction_beside_a_loop():
    """A four-bar linkage falls on the stop of its crank: time stepping tends to the same motion, energies add up."""
    bar = kt.models.four_bar().replace(
        lower=[-1.5, -np.inf, -np.inf], upper=[3.0, np.inf, np.inf], dry_friction=[0.3, 0.2, 0.0]
    )
    bar = bar.with_constraints(HardLimits(restitution=0.5), StickingFriction())
    exact = kt.simulate(bar, duration=1.2, dt=0.1, integrator="event_driven")
    assert [(x.joint, x.side) for x in exact.events] == [("crank", "lower")]
    errors = [
        np.abs(kt.simulate(bar, duration=1.2, dt=dt, integrator="time_stepping").q[-1] - exact.q[-1]).max()
        for dt in (1e-3, 5e-4)
    ]
    assert errors[0] < 5e-3 and errors[0] / errors[1] == pytest.approx(2.0, abs=0.05)
    work = sum(float(exact.energy_balance.channels[f"work.{row}"][-1].sum()) for row in ("stops", "dry friction"))
    assert work == pytest.approx(exact.energy[-1] - exact.energy[0], abs=1e-6)


def test_a_run_in_pieces_has_the_same_events_and_work():
    """Snapshots carry the limits and the friction."""
    model, start = leg(), dict(q0=[0.8, -0.4, 0.9], v0=np.zeros(3))
    whole = kt.simulate(model, **start, duration=0.6, dt=0.05, integrator="event_driven")
    sim = kt.Simulation(model, **start, dt=0.05, integrator="event_driven")
    sim.advance(0.3)
    snapshot = sim.save()
    sim.advance(0.2)
    sim.restore(snapshot)
    sim.advance(0.3)
    assert np.array_equal(sim.q, whole.q[-1]) and [x.time for x in sim.events] == [x.time for x in whole.events]
    found, expected = (run.energy_balance.channels["work.dry friction"] for run in (sim.trajectory(), whole))
    assert np.array_equal(found, expected)


def test_friction_of_a_prescribed_joint_is_work_of_its_motor():
    """x = A sin(w t): -F times the way, which the motor gives beside the change of energy; as semi-implicit steps."""
    A, w, F = 0.1, 7.0, 3.0
    motion = PrescribedMotion("body", lambda t: 0.1 * scalar.sin(7.0 * t))
    model = slider(dry_friction=F).with_constraints(StickingFriction(), motion)
    t = 2.5 * math.pi / w  # five quarters of a period
    found = [kt.simulate(model, duration=t, dt=dt, integrator=name).energy_balance for name, dt in (
        ("event_driven", t / 1000), ("semi_implicit", t / 4000))]  # fmt: skip
    for balance, tolerance in zip(found, (1e-5, 2e-3), strict=True):
        assert balance.work("dry friction") == pytest.approx(-F * 5.0 * A, abs=tolerance)
        work = F * 5.0 * A - 0.5 * 2.0 * (A * w) ** 2
        assert balance.work("prescribed motions") == pytest.approx(work, abs=tolerance)
    assert np.abs(found[0].remainder).max() < 1e-9


@pytest.mark.parametrize(("ratio", "e"), [(0.05, 0.854467893007), (0.1, 0.729247614288), (0.2, 0.526620599330)])
def test_a_spring_and_damper_that_also_pull_end_at_zero(ratio, e):
    """K and D of a joint, until x = 0: the other column of problems 3.9. Laws of contact never pull, see above."""
    end = kt.Event(lambda t, q, v: q[0], direction=1, terminal=True, name="end")
    model = slider(stiffness=2e4, damping=2.0 * ratio * math.sqrt(2e4 * 2.0))
    run = kt.simulate(model, [0.0], [-1.0], duration=0.1, dt=1e-3, events=end,
                      integrator=kt.integrators.Adaptive("dop853", rtol=1e-12, atol=1e-12))  # fmt: skip
    assert run.v[-1, 0] == pytest.approx(e, abs=1e-9)
    assert run.time[-1] == pytest.approx(math.pi / (100.0 * math.sqrt(1.0 - ratio**2)), abs=1e-9)
