"""The operations that Pinocchio has too, on real robots: reduced models and appended models."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.surgery import attach, lock
from tests.engines.robots import ROBOTS, robot_path
from tests.identities.systems import close
from tests.surgery.systems import homogeneous, placement

pin = pytest.importorskip("pinocchio")
bridge = pytest.importorskip("tests.engines.pinocchio_bridge")


def both(robot: str):
    path, floating = robot_path(robot), ROBOTS[robot].floating_base
    model = kt.load(path, floating_base=floating, inertia="accept", unsupported="drop")
    return model, bridge.pinocchio_model(path, floating)


def same(model, pin_model, seed: int, frames) -> None:
    """M, inverse dynamics and poses of frames."""
    b = bridge.Bridge(model, pin_model)
    q, v, a = model.random_q(np.random.default_rng(seed)), *np.random.default_rng(seed).standard_normal((2, model.nv))
    data = pin_model.createData()
    close(kt.crba(model, q), b.symmetric_from_pin(pin.crba(pin_model, data, b.q_to_pin(q))))
    tau = pin.rnea(pin_model, data, b.q_to_pin(q), b.v_to_pin(v), b.a_to_pin(a))
    close(kt.rnea(model, q, v, a), b.tau_from_pin(tau))
    pin.framesForwardKinematics(pin_model, data, b.q_to_pin(q))
    for frame in frames:
        X = data.oMf[pin_model.getFrameId(frame)].homogeneous
        close(homogeneous(*kt.pose(model, q, frame=frame)), X)


@pytest.mark.parametrize("robot", ["ur5", "panda", "anymal_b", "talos_reduced", "tiago_no_hand"])
def test_locked_models_are_reduced_models(robot):
    """lock and buildReducedModel give the same M, forces and frames, whatever joints are locked where."""
    model, pin_model = both(robot)
    rng = np.random.default_rng(1)
    q = model.random_q(rng)
    follow = {model.joint(name) for c in model.couplings for name in c.joints}
    single = [i for i in model.outward() if model.joints[i].nq == 1 and i not in follow]
    locked = sorted(rng.choice(single, len(single) // 2, replace=False).tolist())
    names = [model.joint_name(i) for i in locked]
    reduced = lock(model, {name: q[model.q_index(name)] for name in names})
    reference = bridge.Bridge(model, pin_model).q_to_pin(q)
    pin_reduced = pin.buildReducedModel(pin_model, [pin_model.getJointId(name) for name in names], reference)
    frames = [frame.name for frame in reduced.frames[1:] if pin_reduced.existFrame(frame.name)]
    assert len(frames) > 3
    same(reduced.replace(armature=0.0), pin_reduced, 2, frames)


ON = [("ur5", "tool0"), ("anymal_b", "base"), ("talos_reduced", "gripper_left_base_link")]


@pytest.mark.parametrize(("robot", "at"), ON)
def test_attached_models_are_appended_models(robot, at):
    """attach and appendModel give the same M, forces and frames for an arm on another robot."""
    model, pin_model = both(robot)
    arm, pin_arm = both("ur5")
    X = placement(np.random.default_rng(3))
    ours = attach(model, arm, at=at, placement=X, prefix="second_")
    for j in range(1, pin_arm.njoints):
        pin_arm.names[j] = f"second_{pin_arm.names[j]}"
    for frame in pin_arm.frames:
        frame.name = f"second_{frame.name}"
    theirs = pin.appendModel(pin_model, pin_arm, pin_model.getFrameId(at), pin.SE3(X))
    same(ours, theirs, 4, [at, "second_tool0", "second_forearm_link", model.body_names[1]])
