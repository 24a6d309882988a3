"""Contact with bodies that joints move by time alone: closed forms, both methods, and the work of the joints."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import brentq

import kinetree as kt
from kinetree.collision import ContactPair, Shape
from kinetree.joints import (
    Composite,
    Cylindrical,
    MovingFrame,
    Polynomial,
    Prescribed,
    Revolute,
    Sinusoid,
    SphericalEuler,
)
from tests.contact.test_event_driven import FLOOR, G, moved, times

A, W, MU = 0.1, 10.0, 0.5


def on_table(joint, **material):
    """A box on a table."""
    b = kt.ModelBuilder("table")
    b.add_body("table", joint=joint, mass=5.0, inertia=0.1 * np.eye(3))
    b.add_body("box", joint=kt.joints.Free(), parent="world", mass=1.0, inertia=0.01 * np.eye(3))
    top, box = Shape("table", "plane", name="top"), Shape("box", "box", (0.2, 0.2, 0.2), name="box")
    return b.build().replace(contacts=[ContactPair("c", top, box, **material)])


SHAKEN = on_table(MovingFrame((Sinusoid(A, W), 0.0, 0.0)), friction=MU)
ON = np.array([0.0, 0.0, 0.1, 1.0, 0.0, 0.0, 0.0])


def closed(run, what):
    """The remainder of the energy balance, and the work of a row."""
    balance = run.energy_balance
    return np.abs(balance.remainder).max(), balance.work(what)


def test_a_box_sticks_to_a_shaken_plate_up_to_mu_g():
    """It slips where A w^2 sin(w t) = mu g, at -mu g from there on, until both are equally fast again."""
    t1 = math.asin(MU * G / (A * W * W)) / W
    x1, v1 = A * math.sin(W * t1), A * W * math.cos(W * t1)
    t2 = brentq(lambda t: v1 - MU * G * (t - t1) - A * W * math.cos(W * t), t1 + 0.02, t1 + 0.5)
    x2 = x1 + v1 * (t2 - t1) - 0.5 * MU * G * (t2 - t1) ** 2
    slid = x2 - A * math.sin(W * t2) - (x1 - A * math.sin(W * t1))
    start = np.array([0.0, 0.0, 0.0, A * W, 0.0, 0.0])
    run = moved(SHAKEN, ON, start, t2, dt=t2 / 20)
    assert times(run, "slip")[0] == pytest.approx(t1, abs=1e-9)
    assert run.q[-1, 0] == pytest.approx(x2, abs=1e-11) and run.v[-1, 3] == pytest.approx(
        A * W * math.cos(W * t2), abs=1e-10
    )
    remainder, friction = closed(run, "contact friction")
    assert friction == pytest.approx(-MU * G * abs(slid), abs=1e-9) and remainder < 1e-9
    errors = [moved(SHAKEN, ON, start, t2, t2 / n, "time_stepping").q[-1, 0] - x2 for n in (300, 600)]
    assert abs(errors[0]) < 2e-3 and errors[0] / errors[1] == pytest.approx(2.0, abs=0.05)


@pytest.mark.parametrize(("a", "gained"), [(4.8, 4.8), (6.0, MU * G)])
def test_a_box_on_a_conveyor_takes_its_acceleration_up_to_mu_g(a, gained):
    """By both methods: it sticks below mu g = 4.905, and slides with that above."""
    model = on_table(MovingFrame((Polynomial((0.0, 0.0, 0.5 * a)), 0.0, 0.0)), friction=MU)
    run = moved(model, ON, np.zeros(6), 0.5, dt=0.1)
    assert run.q[-1, 0] == pytest.approx(0.125 * gained, abs=1e-10)
    stepped = moved(model, ON, np.zeros(6), 0.5, 1e-3, "time_stepping")
    assert stepped.v[-1, 3] == pytest.approx(0.5 * gained, abs=2e-3 * a)
    # The motor's work is that of friction on the belt and of its own inertia, m = 5.
    work = 0.5 * 5.0 * (0.5 * a) ** 2 + gained * 0.125 * a
    for found, tolerance in ((run, 1e-9), (stepped, 1e-3 * gained * 0.5 * a)):  # the power of a step at the end
        assert closed(found, "prescribed motions")[1] == pytest.approx(work, abs=tolerance)
        assert closed(found, "prescribed motions")[0] < tolerance


def test_impacts_on_a_table_that_moves_balance_with_its_work():
    """Bounces of e = 0.6 on a table that goes up and down: the impulses do work on it, too."""
    model = on_table(MovingFrame((0.0, 0.0, Sinusoid(0.02, 12.0))), friction=0.3, restitution=0.6)
    q, v = ON + [0, 0, 0.4, 0, 0, 0, 0], [0, 0, 0, 0.3, 0, 0]
    run = moved(model, q, v, 0.6)
    assert times(run, "impact") and closed(run, "contact")[0] < 1e-9
    errors, remainders = [], []
    for dt in (1e-3, 2.5e-4):
        stepped = moved(model, q, v, 0.6, dt, "time_stepping")
        errors.append(np.abs(stepped.q[-1] - run.q[-1]).max())
        remainders.append(abs(stepped.energy_balance.remainder[-1]))
        assert stepped.energy_balance.work("prescribed motions") == pytest.approx(
            run.energy_balance.work("prescribed motions"), abs=30.0 * dt
        )
    assert errors[1] < 0.6 * errors[0] < 1e-3 and remainders[0] / remainders[1] == pytest.approx(4.0, abs=0.2)


def crane():
    """A ball on a pendulum below a cart that time moves, beside a wall."""
    b = kt.ModelBuilder("crane")
    b.add_body("cart", joint=MovingFrame((Sinusoid(0.3, 3.0), 0.0, 0.0)), mass=5.0, inertia=0.1 * np.eye(3))
    b.add_body("bob", joint=Revolute((0, 1, 0)), parent="cart", mass=1.0, com=(0, 0, -0.5), inertia=0.01 * np.eye(3))
    ball = Shape("bob", "sphere", (0.1,), p=(0, 0, -0.5), name="ball")
    wall = Shape("world", "plane", p=(-0.4, 0, 0), R=((0, 0, 1), (0, 1, 0), (-1, 0, 0)), name="wall")
    return b.build().replace(contacts=[ContactPair("w", wall, ball, friction=0.3, restitution=0.7)])


def test_an_impact_of_a_load_reaches_the_joint_that_moves_its_support():
    """Through the pendulum the cart's motor takes a part of the impulse: works of it and of the wall add up."""
    model, zero = crane(), np.zeros(1)
    run = moved(model, zero, zero, 2.0, dt=0.02)
    assert len(times(run, "impact")) == 1 and closed(run, "contact")[0] < 1e-9
    stepped = [moved(model, zero, zero, 2.0, dt, "time_stepping") for dt in (2e-3, 1e-3)]
    assert max(np.abs(x.q[-1] - run.q[-1]).max() for x in stepped) < 1e-2
    remainders = [np.abs(x.energy_balance.remainder).max() for x in stepped]
    assert remainders[0] / remainders[1] == pytest.approx(2.0, abs=0.05)
    sparse = kt.simulate(model, zero, zero, duration=2.0, dt=1e-3, record=kt.Record(every=20))
    for what in ("prescribed motions", "contact"):  # smooth powers by trapezoids, or by cubics
        assert sparse.energy_balance.work(what) == pytest.approx(stepped[1].energy_balance.work(what), abs=1e-5)
    again = stepped[1].resample(dt=0.01)
    assert np.allclose(again.contacts.gaps, stepped[1].contacts.gaps[::10], atol=1e-9)
    assert [x.name for x in stepped[1].events] == ["impact of w", "lift-off of w"]


def test_steps_are_those_of_rollouts_and_newton_takes_the_time():
    """The same step in both; a stack next to rest on a slow table is solved exactly, and does not creep."""
    run = moved(SHAKEN, ON, np.zeros(6), 0.2, 1e-3, "time_stepping")
    rolled = kt.rollout(SHAKEN, ON, np.zeros(6), None, 1e-3, steps=200)
    np.testing.assert_allclose(run.q[-1], rolled.q[-1], atol=1e-7)  # of a fixed number of sweeps
    b = kt.ModelBuilder("stack")
    b.add_body("table", joint=MovingFrame((Sinusoid(0.005, 8.0), 0.0, 0.0)), mass=5.0, inertia=0.1 * np.eye(3))
    shapes = [Shape("table", "plane", name="top")]
    for k in range(4):
        b.add_body(f"box{k}", joint=kt.joints.Free(), parent="world", mass=1.0, inertia=0.01 * np.eye(3))
        shapes.append(Shape(f"box{k}", "box", (0.2, 0.2, 0.2), name=f"box{k}"))
    pairs = [ContactPair(f"c{k}", *shapes[k : k + 2], friction=0.8) for k in range(4)]
    stack = b.build().replace(contacts=pairs)
    q0, v0 = np.tile(ON, 4), np.tile([0, 0, 0, 0.04, 0, 0], 4)
    q0[2::7] += 0.2 * np.arange(4)
    end = kt.simulate(stack, q0, v0, duration=0.2).q[-1].reshape(4, 7)
    assert np.abs(end[:, 0] - 0.005 * math.sin(1.6)).max() < 3e-5 and np.ptp(end[:, 0]) < 1e-8
    assert np.abs(end[:, 4:]).max() < 1e-8


@pytest.mark.parametrize(
    "joint",
    [
        MovingFrame(
            (Sinusoid(0.3, 2.0, 0.5), 0.1, Sinusoid(0.1, 1.3)), "xz", (Sinusoid(0.3, 1.1), Polynomial((0.1, 0.7)))
        ),
        Prescribed(Cylindrical((0.3, 0.5, 0.8)), (None, Sinusoid(0.4, 3.0))),
        Prescribed(SphericalEuler("zyx"), (None, Sinusoid(0.3, 2.0), None)),
        Composite((Prescribed(kt.joints.Prismatic((1, 0, 0)), Sinusoid(0.1, 3.0)), Revolute((0, 1, 0)))),
    ],
    ids=lambda joint: joint.kind,
)
def test_the_bias_of_contacts_by_differences_in_time(joint):
    """The second derivative of gaps along a motion without accelerations, and the first of normals."""
    b = kt.ModelBuilder("moving")
    b.add_body("table", joint=joint, mass=5.0, inertia=0.1 * np.eye(3))
    b.add_body("arm", joint=Revolute((0, 0.6, 0.8)), parent="table", mass=1.0, inertia=0.1 * np.eye(3),
               placement=((0.1, 0.2, 0.3), (0.2, 0.3, 0.4)))  # fmt: skip
    b.add_body("free", joint=kt.joints.Free(), parent="world", mass=1.0, inertia=0.01 * np.eye(3))
    top, arm = Shape("table", "plane", name="top"), Shape("arm", "sphere", (0.3,), name="arm")
    ball = Shape("free", "sphere", (0.2,), p=(0.1, 0.1, 0), name="ball")
    model = b.build().replace(
        contacts=[ContactPair("a", top, ball), ContactPair("b", arm, ball), ContactPair("c", FLOOR, arm)]
    )
    rng, t, h = np.random.default_rng(3), 0.7, 1e-3
    q, v = model.random_q(rng), rng.normal(size=model.nv)
    with kt.interpreted():
        bias, rates = kt.collision.contact_bias(model, q, v, t)
        at = [kt.collision.contact_points(model, kt.integrate(model, q, n * h * v), t + n * h) for n in range(-2, 3)]
    weights = np.array([-1.0, 16.0, -30.0, 16.0, -1.0]) / (12.0 * h * h)
    np.testing.assert_allclose(bias[2::3], np.tensordot(weights, [x.gaps for x in at], 1), atol=1e-7)
    slopes = np.array([1.0, -8.0, 0.0, 8.0, -1.0]) / (12.0 * h)
    np.testing.assert_allclose(rates, np.tensordot(slopes, [x.normals for x in at], 1), atol=1e-10)


def test_forces_and_impulses_of_a_state_take_the_time():
    """A box that goes with the table: its acceleration, and the step and the blow of the same state."""
    model, t = on_table(MovingFrame((Sinusoid(0.1, 3.0), 0.0, Sinusoid(0.02, 5.0))), friction=0.8), 0.4
    q = ON + [0.1 * math.sin(1.2), 0, 0.02 * math.sin(2.0), 0, 0, 0, 0]
    v = np.array([0, 0, 0, 0.3 * math.cos(1.2), 0, 0.1 * math.cos(2.0)])
    with kt.interpreted():
        found = kt.contact.contact_accelerations(model, q, v, np.zeros(6), t=t)
        problem = kt.contact.ContactProblem.of(model, q, v, np.zeros(6), 1e-3, t=t)
        struck = kt.contact.strike(model, q, v, "box", [1.0, 0.0, 0.0], t=t)
    assert found.a == pytest.approx([0, 0, 0, -0.9 * math.sin(1.2), 0, -0.5 * math.sin(2.0)], abs=1e-10)
    assert found.forces[:, 2].sum() == pytest.approx(G - 0.5 * math.sin(2.0), abs=1e-10)
    assert np.allclose(problem.joint_velocities(problem.solve()), v, atol=1e-9)
    assert np.allclose(struck - v, [0, 0, 0, 1, 0, 0])
