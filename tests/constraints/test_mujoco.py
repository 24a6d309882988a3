"""Couplings, locks, friction and limits against MuJoCo, whose constraints are as stiff as it lets them be."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.constraints import HardLimits, Lock, StickingFriction

mujoco = pytest.importorskip("mujoco")

SOFT = 3e-4  # what MuJoCo's impedance of 0.9999 leaves, relative to the unconstrained motion
XML = """
<mujoco><compiler angle="radian"/><option timestep="1e-4" tolerance="1e-15" iterations="500"/>
<default><joint solreffriction="2e-4 1" solimpfriction="0.9999 0.9999 1e-6 0.5 1" frictionloss="0.4"
  solreflimit="2e-4 1" solimplimit="0.9999 0.9999 1e-6 0.5 1" armature="0.01" damping="0.1"/>
  <equality solref="2e-4 1" solimp="0.9999 0.9999 1e-6 0.5 1"/></default>
<worldbody>
  <body name="slider"><joint name="rail" type="slide" axis="1 0 0" range="-0.4 0.5" limited="true"/>
    <inertial pos="0.1 0 0.05" mass="2" diaginertia="0.02 0.03 0.02"/>
    <body name="upper" pos="0 0 0.1"><joint name="shoulder" axis="0 1 0" range="-1.1 1.2" limited="true"/>
      <inertial pos="0 0 -0.3" mass="1.2" diaginertia="0.03 0.03 0.002"/>
      <body name="lower" pos="0 0 -0.6"><joint name="elbow" axis="0 1 0.2" range="-0.9 1.0" limited="true"/>
        <inertial pos="0.02 0 -0.25" mass="0.8" diaginertia="0.01 0.01 0.001"/></body></body>
    <body name="left" pos="0 0.2 0"><joint name="left" axis="0 0 1"/>
      <inertial pos="0.1 0 0" mass="0.5" diaginertia="0.004 0.004 0.006"/></body>
    <body name="right" pos="0 -0.2 0"><joint name="right" axis="0 0 1"/>
      <inertial pos="0.1 0 0" mass="0.4" diaginertia="0.004 0.004 0.005"/></body></body>
</worldbody>
<equality><joint joint1="right" joint2="left" polycoef="0.1 -1.5 0 0 0"/>{lock}</equality></mujoco>"""
LOCK = '<joint joint1="elbow" polycoef="{0} 0 0 0 0"/>'


def theirs(locked: float | None, q, v, tau):
    """Accelerations, and constraint forces by joint, of MuJoCo."""
    text = XML.format(lock="" if locked is None else LOCK.format(locked))
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:], data.qfrc_applied[:] = q, v, tau
    mujoco.mj_forward(model, data)
    return data.qacc.copy(), data.qfrc_constraint.copy()


@pytest.fixture(scope="module")
def arm():
    """The same mechanism, with rigid constraints."""
    model = kt.load(XML.format(lock=""))
    assert [c.kind for c in model.constraints] == ["coupling"]
    return model.with_constraints(StickingFriction(), HardLimits())


def unconstrained(model, q, v, tau) -> float:
    """The largest acceleration without constraints, with which the softness is compared."""
    return np.abs(
        kt.forward_dynamics(model.replace(constraints=(), dry_friction=0.0).without_limits(), q, v, tau)
    ).max()


def states(count: int):
    """At rest and moving, inside and at limits; the coupled joint follows its master."""
    rng = np.random.default_rng(7)
    for _ in range(count):
        q = np.array([*rng.uniform([-0.3, -1.0, -0.8, -1.0], [0.4, 1.0, 0.9, 1.0]), 0.0])
        v = np.where(rng.random(5) < 0.5, 0.0, rng.uniform(-1.0, 1.0, 5))
        for k, (low, high) in enumerate(((-0.4, 0.5), (-1.1, 1.2), (-0.9, 1.0))):
            side = rng.integers(4)
            if side < 2:  # beyond by so little that MuJoCo sees it and pushes no harder than its softness
                q[k], v[k] = (low - 1e-12, high + 1e-12)[side], 0.0
        q[4], v[4] = 0.1 - 1.5 * q[3], -1.5 * v[3]
        yield q, v, rng.standard_normal(5) * [20.0, 6.0, 3.0, 1.0, 1.0] * rng.choice([0.1, 1.0])


def test_accelerations_and_forces_are_those_of_mujoco(arm):
    """Stuck, sliding and starting joints, pressed on limits and leaving them, coupled ones with friction at both."""
    held = 0
    for q, v, tau in states(60):
        a, lam = kt.forward_dynamics(arm, q, v, tau, multipliers=True)
        b, forces = theirs(None, q, v, tau)
        assert a == pytest.approx(b, abs=SOFT * (1.0 + unconstrained(arm, q, v, tau)))
        ours, first = np.zeros(5), 0
        for c in arm.constraints:
            for n, row in enumerate(c.rows(kt.constraints.Kinematics(arm, q.tolist())), first):
                for k, x in row.items():
                    ours[k] += x * lam[n]
            first += c.count(arm)
        assert ours == pytest.approx(forces, abs=SOFT * (1.0 + np.abs(forces).max()))
        held += int((np.abs(a) < 1e-12).sum())
    assert held > 30


def test_a_locked_joint_is_an_equality_of_mujoco(arm):
    """At the position that it has."""
    model = arm.replace(constraints=(*arm.couplings, Lock("elbow"), StickingFriction())).without_limits()
    for q, v, tau in states(20):
        q[:3], v[2] = 0.5 * q[:3], 0.0  # inside the limits
        a, lam = kt.forward_dynamics(model, q, v, tau, multipliers=True)
        b, forces = theirs(float(q[2]), q, v, tau)
        assert a == pytest.approx(b, abs=SOFT * (1.0 + unconstrained(arm, q, v, tau))) and a[2] == 0.0
        assert lam[1] == pytest.approx(forces[2], abs=SOFT * (1.0 + np.abs(forces).max()))
