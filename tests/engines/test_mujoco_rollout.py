"""Rollouts against MuJoCo's, on a model where both take the same steps.

MuJoCo's Euler integrator updates the velocity with the acceleration at the start of the step and the position with the
new velocity, on the manifold of ball joints; with ``eulerdamp`` the joints' damping is taken at the end of the step.
That is kinetree's semi-implicit Euler for hinges, slides and balls without springs. Free joints differ: MuJoCo's
linear velocity is in world coordinates, so the step is another one of the same order.
"""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from mujoco import rollout as mujoco_rollout

import kinetree as kt
from tests.engines.mujoco_bridge import MujocoBridge

ROBOT = """
<mujoco>
  <compiler angle="radian"/>
  <option timestep="0.002" integrator="{integrator}"><flag eulerdamp="{eulerdamp}" contact="disable"/></option>
  <worldbody>
    <body name="carriage" pos="0.1 0 0.3">
      <joint name="rail" type="slide" axis="1 0 0" damping="{damping}"/>
      <inertial pos="0 0.05 0" mass="2" diaginertia="0.02 0.03 0.04"/>
      <body name="shoulder" pos="0 0.1 0.2" euler="0.3 -0.5 0.2">
        <joint name="ball" type="ball" damping="{damping}"/>
        <inertial pos="0.1 0 -0.2" quat="0.9 0.1 -0.2 0.3" mass="1.3" diaginertia="0.03 0.04 0.05"/>
        <body name="elbow" pos="0.1 0 -0.4">
          <joint name="hinge" type="hinge" axis="0.6 0 0.8" armature="0.05" damping="{damping}"/>
          <inertial pos="0 0.1 -0.2" mass="0.8" diaginertia="0.01 0.02 0.015"/>
        </body>
        <body name="arm" pos="-0.1 0 -0.3">
          <joint name="twist" type="hinge" axis="0 0 1" pos="0 0 0.1"/>
          <inertial pos="0.15 0 0" mass="0.5" diaginertia="0.004 0.006 0.005"/>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator>
    <motor joint="rail"/> <motor joint="hinge"/> <motor joint="twist"/>
  </actuator>
</mujoco>
"""
DT, STEPS, N = 0.002, 250, 16


def both_motions(integrator: str, mujoco_integrator: str, eulerdamp: str, damping: float):
    """q and v of kinetree and of MuJoCo in kinetree's order, from the same random starts under the same forces."""
    text = ROBOT.format(integrator=mujoco_integrator, eulerdamp=eulerdamp, damping=damping)
    model, mj_model = kt.load(text), mujoco.MjModel.from_xml_string(text)
    bridge = MujocoBridge(model, mj_model, by_order=True)
    rng = np.random.default_rng(4)
    q0 = np.array([model.random_q(rng) for _ in range(N)])
    v0 = rng.normal(size=(N, model.nv))
    force = 0.5 * rng.normal(size=(N, STEPS, mj_model.nu))
    tau = np.zeros((N, STEPS, model.nv))
    for k, name in enumerate(("rail", "hinge", "twist")):
        tau[..., model.v_index(name)] = force[..., k : k + 1]
    start = np.array([[0.0, *bridge.q_to_mujoco(q), *bridge.v_to_mujoco(q, v)] for q, v in zip(q0, v0, strict=True)])
    states, _ = mujoco_rollout.rollout(mj_model, mujoco.MjData(mj_model), start, force)
    q, v = kt.rollout(model.without_limits(), q0, v0, tau, DT, integrator=integrator)
    order_q = bridge.q_to_mujoco(np.arange(model.nq)).astype(int)
    order_v = bridge.v_to_mujoco(q0[0], np.arange(model.nv)).astype(int)
    return q[:, 1:, order_q], v[:, 1:, order_v], states[..., 1 : 1 + model.nq], states[..., 1 + model.nq :]


@pytest.mark.parametrize(
    "eulerdamp, damping", [("disable", 0.0), ("enable", 0.3)], ids=["no damping", "damping at the end of the step"]
)
def test_semi_implicit_euler_is_mujocos_euler(eulerdamp, damping):
    """250 steps of 16 motions agree to 1e-10: rounding (1e-16 per step), grown by the motion's own sensitivity."""
    q, v, mj_q, mj_v = both_motions("semi_implicit", "Euler", eulerdamp, damping)
    assert np.abs(mj_v).max() > 1.0
    assert np.abs(q - mj_q).max() < 1e-10
    assert np.abs(v - mj_v).max() < 1e-10 * np.abs(mj_v).max()


def test_runge_kutta_and_mujocos_agree_to_their_order():
    """MuJoCo's RK4 averages velocities instead of Munthe-Kaas rates: equal to the methods' error, 1e-6 here."""
    q, v, mj_q, mj_v = both_motions("rk4", "RK4", "disable", 0.0)
    euler, *_ = both_motions("semi_implicit", "Euler", "disable", 0.0)
    assert np.abs(q - mj_q).max() < 1e-6 < 1e-3 < np.abs(q - euler).max()
    assert np.abs(v - mj_v).max() < 1e-6 * np.abs(mj_v).max()
