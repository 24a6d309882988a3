"""All frames of a humanoid as arrays, against Pinocchio's placements, velocities and Jacobians of its 121 frames.

Pinocchio counts joints among its frames, kinetree does not: they are added here, so that both have the same ones.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

import kinetree as kt
from tests.engines.pinocchio_bridge import _SWAP, REFERENCES, Bridge, all_frames_of, pinocchio_model
from tests.engines.robots import robot_path

TOLERANCE = 1e-13  # rounding of a chain of 17 rotations, and zeros of the file snapped at 1e-13
FRAMES = 121


@pytest.fixture(scope="module")
def talos():
    """The model with all of Pinocchio's frames, the bridge, and a state."""
    path = robot_path("talos_reduced")
    pin_model = pinocchio_model(path, floating_base=True)
    bridge = Bridge(kt.load(path, floating_base=True, inertia="accept"), pin_model)
    model = all_frames_of(bridge)
    q, v, *_ = bridge.random_state(np.random.default_rng(121))
    order = [next(k for k, frame in enumerate(model.frames) if frame.name == name) for name in
             ("world" if each.name == "universe" else each.name for each in pin_model.frames)]  # fmt: skip
    return model, bridge, q, v, order


def test_placements(talos):
    """frame_transforms and frame_poses are Pinocchio's oMf of all 121 frames after updateFramePlacements."""
    model, bridge, q, _, order = talos
    pin.forwardKinematics(bridge.pin_model, bridge.data, bridge.q_to_pin(q))
    pin.updateFramePlacements(bridge.pin_model, bridge.data)
    expected = np.array([placement.homogeneous for placement in bridge.data.oMf])
    assert len(expected) == FRAMES
    T_WF = kt.kinematics.frame_transforms(model, q)[order]
    np.testing.assert_allclose(T_WF, expected, rtol=0.0, atol=TOLERANCE * np.abs(expected).max())
    R_WF, p_WF = kt.kinematics.frame_poses(model, q)
    assert np.array_equal(R_WF[order], T_WF[:, :3, :3]) and np.array_equal(p_WF[order], T_WF[:, :3, 3])


@pytest.mark.parametrize("reference", REFERENCES)
def test_velocities_and_jacobians(talos, reference):
    """frame_velocities and frame_jacobians are getFrameVelocity and getFrameJacobian of all 121 frames."""
    model, bridge, q, v, order = talos
    p, d = bridge.pin_model, bridge.data
    pin.forwardKinematics(p, d, bridge.q_to_pin(q), bridge.v_to_pin(v))
    pin.computeJointJacobians(p, d, bridge.q_to_pin(q))
    pin.updateFramePlacements(p, d)
    V = np.array([pin.getFrameVelocity(p, d, k, REFERENCES[reference]).vector[_SWAP] for k in range(p.nframes)])
    J = np.array([bridge.jacobian_from_pin(pin.getFrameJacobian(p, d, k, REFERENCES[reference]))
                  for k in range(p.nframes)])  # fmt: skip
    both = kt.compile(model, ["frame_velocities", "frame_jacobians"], reference=reference)(q, v)
    for found, expected in ((both.frame_velocities, V), (both.frame_jacobians, J)):
        np.testing.assert_allclose(found[order], expected, rtol=0.0, atol=10 * TOLERANCE * np.abs(expected).max())


@pytest.mark.parametrize("reference", ["local", "local_world_aligned"])
def test_jacobians_far_from_the_origin(talos, reference):
    """Where the robot stands does not matter to Jacobians about its own frames: no large positions are subtracted."""
    model, _, q, _, _ = talos
    far = q.copy()
    far[model.q_index(1)][:3] += 1e6
    here, there = (kt.kinematics.frame_jacobians(model, x, reference=reference) for x in (q, far))
    np.testing.assert_allclose(there, here, rtol=0.0, atol=TOLERANCE)
