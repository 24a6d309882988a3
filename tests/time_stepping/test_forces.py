"""Motors, internal states and stiff springs in steps with contact; joints that are coupled or move as prescribed."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.collision import ContactPair, Shape
from kinetree.constraints import Coupling, PrescribedMotion

DT = 1e-3


def leg(*constraints, **changes):
    """A pendulum of two links with a ball at its end, above a floor that it reaches."""
    arm = kt.models.double_pendulum().replace(**changes)
    arm = arm.with_constraints(*constraints) if constraints else arm
    tip = Shape(arm.body_names[-1], "sphere", (0.1,), p=(0.0, 0.0, -1.0), name="tip")
    floor = Shape("world", "plane", p=(0.0, 0.0, -1.6), name="floor")
    return arm.replace(contacts=[ContactPair("tip", floor, tip, 0.5)])


def test_motors_with_lag_push_against_the_floor():
    """Delivered forces are internal states; at rest the motor's limit balances the normal force."""
    model = leg(damping=1.0).with_forces(kt.forces.Motor("shoulder", torque_limit=4.0, time_constant=0.05))
    q0 = [1.0, -0.2]
    found = kt.rollout(model, q0, None, [20.0, 0.0], DT, steps=3000)
    assert found.x[-1] == pytest.approx([4.0]) and np.isfinite(found.q).all()
    gaps = kt.collision.contact_gaps(model, found.q)
    assert gaps.min() > -1e-3 and abs(gaps[-1]) < 1e-6 and np.abs(found.v[-1]).max() < 1e-6
    run = kt.simulate(model, q0, duration=0.5, dt=DT, inputs=kt.Inputs(tau=[20.0, 0.0]))
    assert run.integrator == "time_stepping" and run.q[-1] == pytest.approx(found.q[500], abs=1e-6)


def test_stiff_springs_are_taken_at_the_end_of_the_step():
    """A spring far beyond what explicit steps resolve: stable, and at rest in its balance with the contact."""
    model = leg(stiffness=1e7, damping=10.0, spring_reference=[0.95, -0.6])
    q, v = kt.rollout(model, [1.0, -0.6], None, None, 5 * DT, steps=400)
    assert np.abs(q - [0.95, -0.6]).max() < 0.1 and np.abs(v[-1]).max() < 1e-6
    assert abs(kt.collision.contact_gaps(model, q[-1])[0]) < 1e-6


def test_coupled_joints_follow_their_master_in_contact():
    """Positions and velocities keep the ratio exactly."""
    model = leg(Coupling("elbow", "shoulder", -0.5), damping=0.5)
    q, v = kt.rollout(model, [1.2, -0.6], None, None, DT, steps=1500)
    assert (q[:, 1] == -0.5 * q[:, 0]).all() and v[:, 1] == pytest.approx(-0.5 * v[:, 0], abs=1e-14)
    gaps = kt.collision.contact_gaps(model, q)
    assert gaps.min() > -1e-3 and abs(gaps[-1]) < 1e-4


def test_prescribed_joints_keep_their_motion_in_contact():
    """The shoulder moves as given, whatever the floor does; the elbow gives way."""
    model = leg(PrescribedMotion("shoulder", lambda t: 0.8 - 0.3 * t), damping=0.5)
    q, _ = kt.rollout(model, [0.8, 0.4], [-0.3, 0.0], None, DT, steps=1000)
    assert q[:, 0] == pytest.approx(0.8 - 0.3 * DT * np.arange(1001), abs=1e-12)
    assert kt.collision.contact_gaps(model, q).min() > -1e-4
