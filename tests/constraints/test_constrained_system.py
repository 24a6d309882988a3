"""The equations of motion of one position with loops: accelerations for several right-hand sides, least corrections."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.algorithms.constrained import constrained_system
from kinetree.constraints import Coupling, LoopJoint
from kinetree.joints import Revolute, Spherical
from kinetree.state_kinematics import Kinematics


def looped(seed: int):
    """A random tree, one or two of its bodies held to others by ball joints and hinges where they stand."""
    rng, model = np.random.default_rng(seed), kt.models.random_tree(7, seed=seed)
    q, v = model.random_state(rng)
    kin = Kinematics(model, q.tolist(), v.tolist())
    frames = [frame.name for frame in model.frames]
    ends = ((0, model.nb - 1, Spherical()), (1, model.nb - 2, Revolute((0, 1, 0))))[: 1 + (model.nv > 14)]
    loops = []
    for p, s, joint in ends:
        X = kin.relative(frames[p], frames[s], *(kt.spatial.Transform.identity(),) * 2).X
        loops.append(LoopJoint(f"loop{s}", joint, frames[p], frames[s], X))
    return model.with_constraints(*loops), q, v


def dense(model, q, v):
    """M, K and k as arrays."""
    kin = Kinematics(model, q.tolist(), v.tolist())
    system = constrained_system(model, kin)
    K = np.array([[row.get(k, 0.0) for k in range(model.nv)] for row in system.rows]).reshape(-1, model.nv)
    return kt.crba(model, q), K, np.array(system.k), system


@pytest.mark.seeds(10)
def test_accelerations_and_corrections_solve_their_systems(seed):
    """Against the dense system [[M, -K^T], [K, 0]], for several forces and right-hand sides with the same factors."""
    model, q, v = looped(seed)
    M, K, k, system = dense(model, q, v)
    rng, n = np.random.default_rng(seed), len(K)
    A = np.block([[M, -K.T], [K, np.zeros((n, n))]])
    for right in (k, rng.standard_normal(n)):
        f = rng.standard_normal(model.nv)
        a, lam = system.accelerations(f.tolist(), right.tolist())
        expected = np.linalg.solve(A, np.concatenate([f, right]))
        assert np.concatenate([a, lam]) == pytest.approx(expected, rel=1e-7, abs=1e-9 * np.abs(expected).max())
        dv = np.array(system.correction(right.tolist()))
        least = np.linalg.solve(A, np.concatenate([np.zeros(model.nv), -right]))[: model.nv]
        assert dv == pytest.approx(least, rel=1e-7, abs=1e-9 * np.abs(least).max())


def test_corrections_respect_couplings():
    """The tip of an arm is held by a ball; joint 5 turns with joint 2: the least change among such velocities."""
    arm, q = kt.load("arm7").replace(constraints=()), np.linspace(0.3, 0.9, 9)
    q[5] = -1.5 * q[2]
    frames, here = [frame.name for frame in arm.frames], kt.spatial.Transform.identity()
    X = Kinematics(arm, q.tolist()).relative(frames[0], frames[arm.nb - 1], here, here).X
    loop, joints = LoopJoint("tip", Spherical(), frames[0], frames[arm.nb - 1], X), arm.joint_names
    model = arm.with_constraints(loop, Coupling(joints[5], joints[2], -1.5))
    M, K, _, system = dense(model, q, np.zeros(9))
    G = np.delete(np.eye(9), 5, axis=1)
    G[5, 2] = -1.5
    A = K @ G @ np.linalg.solve(G.T @ M @ G, G.T @ K.T)
    expected = -G @ np.linalg.solve(G.T @ M @ G, G.T @ K.T) @ np.linalg.solve(A, [1e-3, 2e-3, -1e-3])
    dv = np.array(system.correction([1e-3, 2e-3, -1e-3]))
    assert dv == pytest.approx(expected, rel=1e-9) and dv[5] == -1.5 * dv[2]
