"""Floating bases and hybrid dynamics against Pinocchio on a quadruped and a humanoid, compiled, in batches."""

from __future__ import annotations

import functools

import numpy as np
import pinocchio as pin
import pytest

import kinetree as kt
from tests.engines.pinocchio_bridge import Bridge, pinocchio_model
from tests.engines.robots import robot_path

STATES = 10
each_robot = pytest.mark.parametrize("name", ["anymal_b", "talos_reduced"])


@functools.cache
def case(name):
    """The robot in both engines, random states (q, v, a, tau), and Pinocchio's mass matrices."""
    file = robot_path(name)
    model = kt.load(file, floating_base=True, inertia="accept")
    bridge = Bridge(model, pinocchio_model(file, True))
    states = bridge.random_state(np.random.default_rng(len(name)), (STATES,))
    return model, bridge, states, np.array([bridge.crba(q) for q in states[0]])


def agree(found, expected, condition=1.0):
    """Equality of all states, relative to the largest entry; solutions may lose what the condition of M takes."""
    size = max(1.0, np.abs(expected).max())
    tolerance = max(1e-11, 100 * np.finfo(float).eps * condition)
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=tolerance * size)


@each_robot
def test_coefficients(name):
    """I0c, F and H are the blocks of Pinocchio's crba; p0c and C are its rnea without acceleration."""
    model, bridge, (q, v, *_), M = case(name)
    eq = kt.floating_base.coefficients(model, q, v)
    agree(eq.I0c, M[:, :6, :6])
    agree(eq.F, M[:, :6, 6:])
    agree(eq.H, M[:, 6:, 6:])
    agree(np.concatenate([eq.p0c, eq.C], axis=1), np.array([bridge.bias(*state) for state in zip(q, v, strict=True)]))


@each_robot
def test_forward_dynamics(name):
    """Pinocchio's aba with no force in the free joint."""
    model, bridge, (q, v, _, tau), M = case(name)
    found = np.concatenate(kt.floating_base.forward_dynamics(model, q, v, tau[:, 6:]), axis=1)
    tau = np.where(np.arange(model.nv) < 6, 0.0, tau)
    agree(found, np.array([bridge.aba(*state) for state in zip(q, v, tau, strict=True)]), np.linalg.cond(M).max())


@each_robot
def test_inverse_dynamics(name):
    """Pinocchio's rnea of the answer needs no force in the free joint, and the joint forces found."""
    model, bridge, (q, v, a, _), _ = case(name)
    a_base, tau_joints = kt.floating_base.inverse_dynamics(model, q, v, a[:, 6:])
    a = np.concatenate([a_base, a[:, 6:]], axis=1)
    expected = np.array([bridge.rnea(*state) for state in zip(q, v, a, strict=True)])
    agree(np.concatenate([np.zeros((STATES, 6)), tau_joints], axis=1), expected)


@each_robot
def test_reduced_inertia(name):
    """Its inverse is the joints' block of Pinocchio's computeMinverse."""
    model, bridge, (q, v, *_), M = case(name)
    H_fl = kt.floating_base.reduced_coefficients(model, q, v).H_fl
    inverses = []
    for x in q:
        inverse = pin.computeMinverse(bridge.pin_model, bridge.data, bridge.q_to_pin(x))
        inverses.append(bridge.symmetric_from_pin(inverse))
    agree(np.linalg.inv(H_fl), np.array(inverses)[:, 6:, 6:], np.linalg.cond(M).max())


@each_robot
def test_jacobian(name):
    """J_joints - J_base I0c^-1 F of Pinocchio's matrices."""
    model, bridge, (q, *_), M = case(name)
    frame = model.body_names[-1]
    found = kt.floating_base.jacobian(model, q, frame=frame, reference="local_world_aligned")
    J = np.array([bridge.frame_jacobian(x, frame, "local_world_aligned") for x in q])
    agree(found, J[:, :, 6:] - J[:, :, :6] @ np.linalg.solve(M[:, :6, :6], M[:, :6, 6:]))


@each_robot
def test_hybrid_dynamics(name):
    """Every second joint moves as prescribed: Pinocchio's rnea of the accelerations gives the forces."""
    model, bridge, (q, v, a, tau), M = case(name)
    forward = model.joint_names[::2]
    a_all, tau_all = kt.dynamics.hybrid_aba(model, q, v, tau, a, forward=forward)
    free = np.isin(np.arange(model.nv), [k for name in forward for k in range(*model.v_index(name).indices(model.nv))])
    np.testing.assert_array_equal(a_all[:, ~free], a[:, ~free])
    np.testing.assert_array_equal(tau_all[:, free], tau[:, free])
    expected = np.array([bridge.rnea(*state) for state in zip(q, v, a_all, strict=True)])
    agree(tau_all, expected, np.linalg.cond(M[:, free][:, :, free]).max())
