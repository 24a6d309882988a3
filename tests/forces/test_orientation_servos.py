"""Servos of orientations: MuJoCo's numbers, by rotation vectors and quaternions, of ball joints and of sites."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

import kinetree as kt
from kinetree.conventions import MuJoCo
from kinetree.io.mjcf.read import load_mjcf

pytestmark = pytest.mark.skipif(not hasattr(mujoco.mjtGain, "mjGAIN_SO3"), reason="MuJoCo before 4 has none")

ROBOT = """<mujoco><option><flag contact="disable" constraint="disable"/></option><worldbody>
  <site name="base" pos="1 0 0" euler="10 20 30"/>
  <body><joint name="hinge" axis="1 2 0"/><geom size=".1" pos=".3 0 0"/><site name="s" euler="40 -20 10"/>
    <body pos=".5 0 0" euler="20 0 50"><joint name="ball" type="ball"/><geom size=".1" pos="0 .2 0"/>
      <site name="t" pos=".1 .2 .3" euler="0 70 0"/></body></body></worldbody><actuator>
  <motor name="first" joint="hinge" gear="3"/>{servo}<motor name="last" joint="hinge"/></actuator></mujoco>"""
SERVOS = {
    "ball": 'joint="ball" kp="20" kv="2"',
    "ball by quaternion": 'joint="ball" kp="5" input="quat"',
    "bounded": 'joint="ball" kp="20" kv="2" ctrlrange="-.6 .4" forcerange="0 9"',
    "bounded quaternion": 'joint="ball" kp="20" kv="2" ctrlrange="-.3 .5" input="quat"',
    "sites": 'site="t" refsite="base" kp="7" kv=".5"',
    "sites by quaternion": 'site="t" refsite="s" kp="7" kv=".5" input="quat" forcerange="0 8"',
}


@pytest.mark.parametrize("name", SERVOS)
def test_servos_are_mujocos(name):
    """Rotation vectors, velocities, torques, joint forces and accelerations, from all sides of the set point."""
    text = ROBOT.format(servo=f'<orientation name="o" {SERVOS[name]}/>')
    model, mj = load_mjcf(text), mujoco.MjModel.from_xml_string(text)
    again = load_mjcf(kt.io.to_mjcf(model))
    assert again.actuators == model.actuators
    axes = "wxyz" if "quat" in name else "xyz"
    assert model.input_names == ("first", *(f"o.{axis}" for axis in axes), "last")
    assert model.actuator_names == ("first", "o.x", "o.y", "o.z", "last")
    there, data, rng = MuJoCo(model, mj, by_order=True), mujoco.MjData(mj), np.random.default_rng(0)
    names = [f"actuator_{what}" for what in ("lengths", "velocities", "forces", "joint_forces", "moments")]
    for n in range(12):
        q, v, u = model.random_q(rng), rng.normal(size=model.nv), rng.normal(size=model.nu)
        u *= n > 0
        data.qpos[:], data.qvel[:], data.ctrl[:] = there.q_to(q), there.v_to(q, v), u
        mujoco.mj_forward(mj, data)
        with kt.interpreted():
            given = [(q,), (q, v), (q, v, None, u), (q, v, None, u), (q,)]
            found = [getattr(kt.dynamics, name)(model, *args[:2], **({"u": u} if len(args) > 2 else {}))
                     for name, args in zip(names, given, strict=True)]  # fmt: skip
            a = kt.forward_dynamics(model, q, v, np.zeros(model.nv), u=u)
        theirs = data.actuator_length, data.actuator_velocity, data.actuator_force
        for x, expected in zip(found, theirs, strict=False):
            np.testing.assert_allclose(x, expected, rtol=0, atol=1e-12 * max(1.0, np.abs(expected).max()))
        for x, expected in ((found[3], there.tau_from(q, data.qfrc_actuator)), (a, there.a_from(q, v, data.qacc))):
            np.testing.assert_allclose(x, expected, rtol=0, atol=1e-9 * max(1.0, np.abs(expected).max()))
        np.testing.assert_allclose(found[4].T @ found[2], found[3], atol=1e-11)
        np.testing.assert_allclose(found[4] @ v, found[1], atol=1e-12)


def test_a_ball_reaches_its_set_point():
    """By name, in a simulation with steps that are long for its stiffness."""
    model = load_mjcf(ROBOT.format(servo='<orientation name="o" joint="ball" kp="200" kv="20"/>'))
    model = model.replace(gravity=(0, 0, 0))
    goal = {"o.x": 0.5, "o.y": -1.2, "o.z": 0.7}
    run = kt.simulate(model, duration=3.0, dt=2e-3, inputs=kt.Inputs(control=goal), progress=False)
    reached = kt.dynamics.actuator_lengths(model, run.q[-1])[1:4]
    np.testing.assert_allclose(reached, list(goal.values()), atol=1e-4)
