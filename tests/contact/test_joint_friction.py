"""Friction on the surfaces of joints: bearings that stop, hold and slip, with loops and contacts (S2.14)."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.collision import ContactPair, Shape
from kinetree.contact import JointSurface, joint_friction_step
from kinetree.errors import ArgumentError, UnknownNameError, UnsupportedError

SHARE = 2.0 / 8.0 * np.abs(np.cos(2.0 * np.pi * np.arange(8) / 8)).sum()
"""Sum of |alpha| of eight points around each end over the force across the axis: 4 / pi for many points."""


@pytest.fixture(scope="module")
def arm():
    """A pendulum of 1 kg, 1 m."""
    return kt.models.pendulum()


def bearing(radius, joint="pivot", friction=0.5, **more):
    """A surface with mu = 0.5."""
    return JointSurface(joint, radius, friction, **more)


@pytest.mark.parametrize("radius", [0.05, 0.1])
def test_a_bearing_slips_at_the_torque_of_its_load(radius, arm):
    """Hanging at rest: torques up to mu r m g times the share of the points move nothing, 1 % more does."""
    weight = 9.81 * kt.crba(arm, [0.0])[0, 0]  # of 1 m
    torque = 0.5 * radius * weight * SHARE
    still, moves = (joint_friction_step(arm, [0.0], [0.0], [x * torque], 1e-3, [bearing(radius)]) for x in (0.99, 1.01))
    assert still.status == moves.status == "solved"
    assert still.velocities[0] == pytest.approx(0.0, abs=1e-12)
    assert moves.joint_impulses["pivot"][0] == pytest.approx(-1e-3 * torque, rel=1e-3)
    assert moves.velocities[0] > 1e-6


def test_twice_the_radius_is_twice_the_torque(arm):
    """At the same motion, but for the tangential acceleration that friction changes."""
    one, two = (
        joint_friction_step(arm, [0.3], [1.0], [0.0], 1e-3, [bearing(r)]).joint_impulses["pivot"][0]
        for r in (0.001, 0.002)
    )
    assert two == pytest.approx(2.0 * one, rel=1e-3) and one < 0.0


def test_friction_stops_a_pendulum(arm):
    """It swings less and less, and stays where the torque of gravity is below that of friction."""
    q, v, last, energy = np.array([1.0]), np.zeros(1), None, []
    for _ in range(60):
        last = joint_friction_step(arm, q, v, [0.0], 0.02, [bearing(0.6)], warm_start=last)
        v = last.velocities
        q = kt.integrate(arm, q, 0.02 * v)
        energy.append(float(kt.kinetic_energy(arm, q, v) + kt.potential_energy(arm, q)))
    assert abs(v[0]) < 1e-12 and 0.01 < abs(q[0]) < np.arcsin(0.5 * 0.6 * SHARE)
    assert (np.diff(energy) < 1e-9).all() and energy[-1] < energy[0] - 1.0


def test_a_closed_mechanism_loads_its_bearings():
    """The reaction of a four-bar's crank, and so its friction, is that of the bodies in maximal coordinates."""
    bar = kt.models.four_bar()
    q, v = bar.keyframe("initial")
    tau, name = np.array([2.0, 0.0, 0.0]), bar.joint_names[0]
    light = bearing(1e-4, name)
    step = joint_friction_step(bar, q, v, tau, 1e-3, [light])
    system = kt.maximal(bar)
    _, _, _, wrenches = apart(system, q, v, tau + step_torque(step, name, bar, 1e-3))
    S = np.array([[*s] for s in bar.joints[1].motion_subspace([q[0]])]).T
    normals, _ = light.contacts(S)
    found = step.normal_forces[name]
    # Least norm: the same normal forces give the reaction that the other formulation has, but along the axis of motion.
    free = wrenches - S[:, 0] * (S[:, 0] @ wrenches)
    assert normals.T @ found == pytest.approx(free, abs=1e-6 * np.abs(free).max())


def step_torque(step, name, model, dt):
    """Joint forces of the friction of a step."""
    tau = np.zeros(model.nv)
    tau[model.v_index(name)] = step.joint_impulses[name] / dt
    return tau


def apart(system, q, v, tau):
    """Positions, velocities, accelerations and the wrench of the first joint by maximal coordinates."""
    Q, V = system.state(q, v)
    found = system.accelerations(Q, V, tau)
    return Q, V, found.accelerations, found.wrenches[0]


def test_contacts_load_bearings(arm):
    """A pendulum that leans against a wall: the pin bears its weight and the force of the wall."""
    q, weight = np.array([-0.5]), 9.81 * kt.crba(arm, [0.0])[0, 0]
    ball = Shape(arm.body_names[1], "sphere", (0.05,), p=(0.0, 0.0, -1.0), name="ball")
    facing_x = ((0, 0, 1.0), (0, 1.0, 0), (-1.0, 0, 0))
    wall = Shape("world", "plane", p=(np.sin(0.5) - 0.05, 0.0, 0.0), R=facing_x, name="wall")
    model = arm.replace(contacts=[ContactPair("lean", wall, ball, friction=0.0)])
    step = joint_friction_step(model, q, [0.0], [0.0], 1e-3, [bearing(1e-6)])
    push = step.contacts.impulses[0, 2] / 1e-3
    assert push == pytest.approx(weight * np.tan(0.5), rel=1e-5)
    # The share of eight points depends on the direction of the force by some percent.
    force = np.abs(step.normal_forces["pivot"]).sum()
    assert force == pytest.approx(4.0 / np.pi * np.hypot(push, weight), rel=0.06)


def test_a_ball_joint_has_friction_about_every_axis():
    """A spinning top on its ball: the torque opposes the spin, twice for twice the radius."""
    b = kt.ModelBuilder("top")
    b.add_body("top", "world", kt.joints.Spherical(), "ball", mass=2.0, com=(0, 0, -0.3), inertia=(0.05, 0.05, 0.02))
    top = b.build()
    q, v = top.neutral(), np.array([0.0, 0.0, 4.0])
    steps = [joint_friction_step(top, q, v, np.zeros(3), 1e-3, [bearing(r, "ball", points=14)]) for r in (0.001, 0.002)]
    one, two = (step.joint_impulses["ball"] for step in steps)
    assert one[2] < 0.0 and two[2] == pytest.approx(2.0 * one[2], rel=1e-3)
    assert all(step.status == "solved" for step in steps)


@pytest.mark.parametrize(
    "change, error, text",
    [
        (dict(surfaces=[]), ArgumentError, "one surface for each of some joints"),
        (dict(surfaces=["pivot"]), ArgumentError, "JointSurface objects"),
        (dict(surfaces=[JointSurface("pivt", 0.1, 0.5)]), UnknownNameError, "Did you mean 'pivot'"),
        (dict(dt=0.0), ArgumentError, "dt is 0.0, expected a positive time"),
        (dict(warm_start=1), ArgumentError, "warm_start is 1, expected a JointFrictionStep"),
    ],
)
def test_wrong_calls_are_named(change, error, text, arm):
    """The argument, and what was expected."""
    call = dict(model=arm, q=[0.1], v=[0.0], tau=[0.0], dt=1e-3, surfaces=[bearing(0.1)])
    with pytest.raises(error, match=text):
        joint_friction_step(**call | change)


def test_joints_without_a_bearing_are_refused():
    """A free joint has no surface; sticking friction and a surface on one joint are two laws for one friction."""
    body = kt.models.free_body()
    with pytest.raises(UnsupportedError, match="hinges, sliders and spherical joints; this joint has 6 degrees"):
        joint_friction_step(body, body.neutral(), np.zeros(6), np.zeros(6), 1e-3, [bearing(0.1, body.joint_names[0])])
    stuck = kt.models.pendulum().replace(dry_friction=1.0).with_constraints(kt.constraints.StickingFriction())
    with pytest.raises(UnsupportedError, match="acts on joints with surfaces; leave one of them out"):
        joint_friction_step(stuck, [0.0], [0.0], [0.0], 1e-3, [bearing(0.1)])


@pytest.mark.parametrize("field", ["radius", "friction", "length"])
def test_impossible_surfaces_are_refused(field):
    """Negative sizes and coefficients, by the joint's name."""
    with pytest.raises(ArgumentError, match=f"joint surface of 'pivot': {field} is -1.0"):
        JointSurface(**dict(joint="pivot", radius=0.1, friction=0.1, length=0.1) | {field: -1.0})
