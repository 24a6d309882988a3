"""Each row of docs/conventions.md that names Pinocchio or MuJoCo, as a conversion that must give the same physics.

Tolerances: both sides evaluate the same formulas, in another order, on well-conditioned robots of some ten links; 1e-12
of the largest entry leaves four digits over the rounding of such sums.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

import kinetree as kt
from kinetree import data
from tests.engines.pinocchio_bridge import Bridge, pinocchio_model
from tests.engines.robots import ROBOTS, robot_path
from tests.engines.rotation import rotation_matrix

mujoco = pytest.importorskip("mujoco")
from tests.engines.mujoco_bridge import MujocoBridge, mujoco_model  # noqa: E402

TOLERANCE = 1e-12
SEED = 41


def close(found, expected, tolerance=TOLERANCE):
    """Assert agreement relative to the largest entry of what is expected."""
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=tolerance * max(1.0, np.abs(expected).max()))


@pytest.fixture(scope="module", params=[True, False], ids=["floating", "fixed"])
def quadruped(request):
    """The shipped quadruped in three engines, and one random state."""
    path = data.path("quadruped")
    model = kt.load(path, floating_base=request.param)
    bridge = Bridge(model, pinocchio_model(path, request.param))
    mj = MujocoBridge(model, mujoco_model(path.read_text(), request.param))
    return model, bridge, mj, bridge.random_state(np.random.default_rng(SEED))


def wrench_on_each_body(model):
    """Random external wrenches (nb, 6) on all bodies but the world."""
    f_ext = np.random.default_rng(SEED).standard_normal((model.nb, 6))
    f_ext[0] = 0.0
    return f_ext


# --- one row each ---------------------------------------------------------------------------------------------------


def test_default_gravity_is_the_same(quadruped):
    """Gravity is (0, 0, -9.81) in all three engines."""
    model, bridge, mj, _ = quadruped
    for gravity in (list(model.gravity), bridge.pin_model.gravity.linear, mj.mj_model.opt.gravity):
        close(np.array(gravity, dtype=float), np.array([0.0, 0.0, -9.81]))


def test_joint_forces_agree_with_pinocchio(quadruped):
    """Six-vector order, quaternion order and free-joint velocity: rnea holds them all."""
    model, bridge, _, (q, v, a, _) = quadruped
    close(kt.rnea(model, q, v, a), bridge.rnea(q, v, a))


def test_joint_forces_agree_with_mujoco(quadruped):
    """The free joint's linear velocity and its derivative are in world coordinates in MuJoCo."""
    model, _, mj, (q, v, a, _) = quadruped
    close(kt.rnea(model, q, v, a), mj.rnea(q, v, a))


def test_mass_matrix_is_full_and_agrees(quadruped):
    """M is symmetric in every entry, and the engines' matrices map onto it."""
    model, bridge, mj, (q, *_) = quadruped
    M = kt.crba(model, q)
    assert np.array_equal(M, M.T)
    close(M, bridge.crba(q))
    close(M, mj.crba(q))


def test_accelerations_agree_with_pinocchio(quadruped):
    """The free joint's acceleration is the componentwise derivative of its velocity in both."""
    model, bridge, _, (q, v, _, tau) = quadruped
    tolerance = 100 * np.finfo(float).eps * np.linalg.cond(bridge.crba(q))
    close(kt.aba(model, q, v, tau), bridge.aba(q, v, tau), tolerance)


def test_wrenches_agree_with_pinocchio(quadruped):
    """f_ext is in world coordinates about the world's origin; Pinocchio's is local to the joint."""
    model, bridge, _, (q, v, a, _) = quadruped
    f_ext = wrench_on_each_body(model)
    close(kt.rnea(model, q, v, a, f_ext=f_ext), bridge.rnea(q, v, a, f_ext))


def test_wrenches_agree_with_mujoco(quadruped):
    """f_ext is about the world's origin; MuJoCo's is about the body's center of mass."""
    model, _, mj, (q, v, a, _) = quadruped
    f_ext = wrench_on_each_body(model)
    applied = sum(mj.applied(q, model.body_names[i], f_ext[i]) for i in model.outward())
    close(kt.rnea(model, q, v, a) - kt.rnea(model, q, v, a, f_ext=f_ext), applied)


@pytest.mark.parametrize("reference", ["local", "world", "local_world_aligned"])
def test_jacobian_references_mean_what_they_mean_in_pinocchio(quadruped, reference):
    """The three references, with rows (angular, linear) here and (linear, angular) there."""
    model, bridge, _, (q, *_) = quadruped
    close(kt.jacobian(model, q, frame="FL_foot", reference=reference), bridge.frame_jacobian(q, "FL_foot", reference))


def test_jacobian_agrees_with_mujoco(quadruped):
    """mj_jacBody is the world-aligned Jacobian of the body's origin."""
    model, _, mj, (q, *_) = quadruped
    J = kt.jacobian(model, q, frame="FL_foot", reference="local_world_aligned")
    close(J, mj.body_jacobian(q, "FL_foot"))


def test_free_joint_moves_as_its_velocity_says():
    """q = (position, quaternion wxyz); v = (w, v) in body coordinates: p_dot = R v, and R_dot = R [w]x."""
    model = kt.load(data.path("quadruped"), floating_base=True)
    q, v, _, _ = Bridge(model, pinocchio_model(data.path("quadruped"), True)).random_state(np.random.default_rng(SEED))
    h = 1e-6
    q_dot = np.asarray(kt.q_dot(model, q, v))
    ahead, behind = q + h * q_dot, q - h * q_dot
    R = rotation_matrix(q[3:7])
    close(q_dot[:3], R @ v[3:6])
    # Central differences: h^2 times the third derivative, plus eps / h.
    R_dot = (rotation_matrix(ahead[3:7]) - rotation_matrix(behind[3:7])) / (2 * h)
    close(R_dot, R @ np.cross(v[:3], np.eye(3)).T, 1e-8)


def test_world_is_body_zero():
    """nb counts the world, and so do Pinocchio's njoints and MuJoCo's nbody."""
    path = data.path("arm7")
    model = kt.load(path)
    assert model.nb == pinocchio_model(path).njoints
    assert [model.parent[i] < i for i in model.outward()] == [True] * (model.nb - 1)


# --- the bridge on public robots ------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=ROBOTS)
def public_robot(request):
    """One robot of example-robot-data in both engines, and one random state."""
    pytest.importorskip("pinocchio")
    path, floating = robot_path(request.param), ROBOTS[request.param].floating_base
    model = kt.load(path, floating_base=floating, inertia="accept")
    bridge = Bridge(model, pinocchio_model(path, floating))
    return model, bridge, bridge.random_state(np.random.default_rng(SEED))


def test_bridge_goes_there_and_back(public_robot):
    """Converting a state to Pinocchio and back changes nothing but the rounding of continuous angles."""
    model, bridge, (q, v, _, _) = public_robot
    close(bridge.q_from_pin(bridge.q_to_pin(q)), q)
    assert np.array_equal(bridge.v_from_pin(bridge.v_to_pin(v)), v)


def test_bridge_preserves_the_displacement_of_a_step(public_robot):
    """A step along v, integrated by either engine on its own manifold, leads to the same place."""
    model, bridge, (q, v, _, _) = public_robot
    here = np.asarray(kt.integrate(model, q, 0.1 * v))
    there = pin.integrate(bridge.pin_model, bridge.q_to_pin(q), bridge.v_to_pin(0.1 * v))
    close(bridge.q_to_pin(here), there)


def test_continuous_joints_are_one_angle(public_robot):
    """Every joint of one degree of freedom has one position here; Pinocchio's continuous ones have (cos, sin)."""
    model, bridge, _ = public_robot
    assert all(model.joints[i].nq == 1 for i in model.outward() if model.joints[i].nv == 1)
    extra = sum(nq - nv for nq, nv in zip(bridge.pin_model.nqs, bridge.pin_model.nvs, strict=True))
    assert bridge.pin_model.nq - bridge.pin_model.nv == extra
