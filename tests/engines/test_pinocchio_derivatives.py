"""Derivatives and the regressor against Pinocchio on real robots, fixed and floating base.

Both engines differentiate along the same tangent: column k is the change along the k-th velocity coordinate of the
joint, in body coordinates for a free joint, so the matrices differ by the permutation of the coordinates alone.
"""

from __future__ import annotations

import functools

import numpy as np
import pinocchio as pin
import pytest

import kinetree as kt
from kinetree.compiler.calls import public_call
from tests.engines.pinocchio_bridge import Bridge, pinocchio_model
from tests.engines.robots import ROBOTS, robot_path

STATES = 20
TOLERANCE = 1e-9  # of the largest entry of a matrix
EPS = np.finfo(float).eps
FIXED = ("panda", "ur5", "kinova")
FLOATING = ("anymal_b", "hyq", "solo12", "talos_reduced", "icub")

SMALL = ("panda", "ur5", "anymal_b", "solo12")
"""Whose code compiles in a second; that of the humanoids in half a minute, so they are run in extended precision."""

each_robot = pytest.mark.parametrize("name", FIXED + FLOATING)


@functools.cache
def case(name):
    """The robot in both engines and random states (q, v, a, tau)."""
    floating = ROBOTS[name].floating_base
    model = kt.load(robot_path(name), floating_base=floating, inertia="accept")
    bridge = Bridge(model, pinocchio_model(robot_path(name), floating))
    states = bridge.random_state(np.random.default_rng(sum(map(ord, name))), (STATES,))
    return model, bridge, states


def evaluated(name, algorithm, *arrays):
    """Our derivatives: compiled for small robots, else by the same source over extended precision."""
    model, *_ = case(name)
    precision = float if name in SMALL else np.longdouble
    return public_call(algorithm)(model, *(x.astype(precision) for x in arrays))


def symmetric(bridge, M):
    """A symmetric matrix, of which Pinocchio fills the upper triangle only."""
    return bridge.matrix_from_pin(np.triu(M) + np.triu(M, 1).T)


def agree(found, expected, tolerance):
    """Equality relative to the largest entry, state by state."""
    found, expected = np.asarray(found, float), np.asarray(expected)
    assert found.shape == expected.shape
    axes = tuple(range(1, expected.ndim))
    error = np.max(np.abs(found - expected), axis=axes) / np.max(np.abs(expected), axis=axes)
    assert np.all(error <= tolerance), f"relative error {np.max(error):.2e} at state {np.argmax(error)}"


@each_robot
def test_derivatives_of_inverse_dynamics(name):
    """computeRNEADerivatives: dtau/dq, dtau/dv and M."""
    model, bridge, (q, v, a, _) = case(name)
    p, d, expected = bridge.pin_model, bridge.data, []
    for x, y, z in zip(q, v, a, strict=True):
        pin.computeRNEADerivatives(p, d, bridge.q_to_pin(x), bridge.v_to_pin(y), bridge.a_to_pin(z))
        expected.append(
            (bridge.matrix_from_pin(d.dtau_dq.copy()), bridge.matrix_from_pin(d.dtau_dv.copy()), symmetric(bridge, d.M))
        )
    for found, theirs in zip(evaluated(name, "rnea_derivatives", q, v, a), zip(*expected, strict=True), strict=True):
        agree(found, theirs, TOLERANCE)


@each_robot
def test_derivatives_of_forward_dynamics(name):
    """computeABADerivatives: da/dq, da/dv and M^-1; errors may grow with the condition of M, which enters twice."""
    model, bridge, (q, v, _, tau) = case(name)
    p, d, expected = bridge.pin_model, bridge.data, []
    for x, y, z in zip(q, v, tau, strict=True):
        pin.computeABADerivatives(p, d, bridge.q_to_pin(x), bridge.v_to_pin(y), bridge.tau_to_pin(z))
        expected.append(
            (
                bridge.matrix_from_pin(d.ddq_dq.copy()),
                bridge.matrix_from_pin(d.ddq_dv.copy()),
                symmetric(bridge, d.Minv),
            )
        )
    condition = np.array([np.linalg.cond(bridge.crba(x)) for x in q])
    tolerance = np.maximum(TOLERANCE, 10.0 * EPS * condition)
    for found, theirs in zip(evaluated(name, "aba_derivatives", q, v, tau), zip(*expected, strict=True), strict=True):
        agree(found, theirs, tolerance)


@pytest.mark.parametrize("name", ["panda", "anymal_b"])
def test_derivatives_with_external_wrenches(name):
    """Pinocchio holds wrenches in body coordinates, we in the world's: dtau/dv does not feel which, dtau/dq does.

    The difference is how wrenches that are fixed in their bodies move in the world, found with our own Jacobians.
    """
    model, bridge, (q, v, a, _) = case(name)
    p, d = bridge.pin_model, bridge.data
    f_ext = np.random.default_rng(3).standard_normal((model.nb, 6))
    f_ext[0] = 0.0
    for x, y, z in zip(q[:3], v[:3], a[:3], strict=True):
        args = bridge.q_to_pin(x), bridge.v_to_pin(y), bridge.a_to_pin(z), bridge.wrenches_to_pin(x, f_ext)
        pin.computeRNEADerivatives(p, d, *args)
        found = kt.rnea_derivatives(model, x, y, z, f_ext)
        agree(found.dtau_dv[None], bridge.matrix_from_pin(d.dtau_dv.copy())[None], TOLERANCE)
        # A wrench fixed in the body moves with it, in world coordinates by J e_k x* f.
        moved = bridge.matrix_from_pin(d.dtau_dq.copy())
        slope = kt.differentiate(model, "rnea", wrt="f_ext")(x, y, z, f_ext)
        for i in model.outward():
            J = kt.jacobian(model, x, frame=model.body_names[i], reference="world")
            n, f = f_ext[i, :3], f_ext[i, 3:]
            turned = np.concatenate([np.cross(J[:3].T, n) + np.cross(J[3:].T, f), np.cross(J[:3].T, f)], axis=1)
            moved = moved - slope[:, i] @ turned.T
        agree(found.dtau_dq[None], moved[None], TOLERANCE)


@pytest.mark.parametrize("name", ["panda", "anymal_b", "talos_reduced"])
def test_regressor(name):
    """computeJointTorqueRegressor: dtau/dpi. Pinocchio orders the ten (m, h, I) of a body at its joint as we do."""
    model, bridge, (q, v, a, _) = case(name)
    p, d = bridge.pin_model, bridge.data
    f = kt.differentiate(model, "rnea", wrt="numbers", numbers=("*.mass", "*.h.?", "*.I.??"))
    joint = {p.names[j]: j for j in range(1, p.njoints)}
    # Bodies in the order of the model; ours stand at their joints, in the joint's axes, as Pinocchio's do.
    places = [joint.get(model.joint_name(i), 1) - 1 for i in model.outward()]
    for x, y, z in zip(q[:3], v[:3], a[:3], strict=True):
        Y = pin.computeJointTorqueRegressor(p, d, bridge.q_to_pin(x), bridge.v_to_pin(y), bridge.a_to_pin(z))
        theirs = bridge.v_from_pin(Y.copy().T).T.reshape(model.nv, -1, 10)[:, places]
        found = np.asarray(f(*(s.astype(np.longdouble) for s in (x, y, z))), float).reshape(model.nv, -1, 10)
        agree(found[None], theirs[None], TOLERANCE)
