"""Control on real arms against Pinocchio: inertia of a frame, inverse kinematics of Pinocchio's poses."""

from __future__ import annotations

import functools

import numpy as np
import pinocchio as pin
import pytest

import kinetree as kt
from tests.engines.pinocchio_bridge import _SWAP, Bridge, pinocchio_model
from tests.engines.robots import robot_path

ARMS = {"panda": "panda_hand_tcp", "ur5": "tool0"}
RATES = {("panda", 0): 0.59, ("panda", 10): 1.0, ("ur5", 0): 0.54, ("ur5", 10): 0.99}
"""Measured parts of 100 random poses that are found from the neutral position, by restarts: docs/control.md."""


@functools.cache
def case(name):
    model = kt.load(robot_path(name))
    return model, Bridge(model, pinocchio_model(robot_path(name)))


@pytest.mark.parametrize("name", ARMS)
def test_inertia_of_the_tool(name):
    """J M^-1 J^T by Pinocchio's Jacobian and inverse of M, and its operational-space inertia by Lambda."""
    model, bridge = case(name)
    model = model.replace(armature=0.0)
    frame, rng = ARMS[name], np.random.default_rng(0)
    for _ in range(10):
        q = model.random_q(rng)
        J = bridge.frame_jacobian(q, frame, "local_world_aligned")
        found = kt.control.inverse_task_inertia(model, q, frame=frame, reference="local_world_aligned")
        expected = J @ np.linalg.solve(bridge.crba(q), J.T)
        assert np.allclose(found, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())
        data = bridge.pin_model.createData()
        pin.computeAllTerms(bridge.pin_model, data, bridge.q_to_pin(q), np.zeros(model.nv))
        J_pin = pin.computeFrameJacobian(
            bridge.pin_model, data, bridge.q_to_pin(q), bridge.frame_id(frame), pin.LOCAL_WORLD_ALIGNED
        )
        inverse = J_pin @ pin.computeMinverse(bridge.pin_model, data, bridge.q_to_pin(q)) @ J_pin.T
        assert np.allclose(found, inverse[np.ix_(_SWAP, _SWAP)], rtol=1e-6, atol=1e-8 * np.abs(expected).max())


@pytest.mark.parametrize("restarts", [0, 10])
@pytest.mark.parametrize("name", ARMS)
def test_poses_of_pinocchio_are_found(name, restarts):
    """100 random poses: the success rate that the page states, and every solution is checked by Pinocchio."""
    model, bridge = case(name)
    frame, rng, found = ARMS[name], np.random.default_rng(0), 0
    for seed in range(100):
        R, p = bridge.frame_pose(model.random_q(rng), frame)
        result = kt.inverse_kinematics(model, {frame: (R, p)}, restarts=restarts, seed=seed)
        if result.success:
            found += 1
            R_found, p_found = bridge.frame_pose(result.q, frame)
            assert np.linalg.norm(p_found - p) < 2e-6 and np.linalg.norm(R_found - R) < 4e-6
    assert abs(found / 100 - RATES[name, restarts]) <= 0.02  # rounding may turn a start at the edge of a basin
