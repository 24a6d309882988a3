"""``kt.conventions`` against the installed engines: random trees with every joint that both have, and the same physics.

Each test is one row of docs/conventions.md. Tolerances: both sides evaluate the same formulas in another order on trees
of some ten bodies; 1e-11 of the largest entry leaves four digits over the rounding of such sums, and the condition of M
multiplies it where M is inverted.
"""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.conventions.rotations import quaternion_of, quaternion_of_rpy, rotation_matrix, rpy_of
from kinetree.joints import Free, Helical, Planar, Prismatic, Revolute, Spherical, Translational
from tests.engines.foreign import drake_tree, exudyn_body, mujoco_tree, pinocchio_tree

AXIS = (0.48, 0.6, 0.64)
COMMON = (Revolute(), Prismatic(AXIS), Spherical(), Revolute(AXIS))
JOINTS = {
    "Pinocchio": (*COMMON, Planar(), Translational(), Free(), Helical((0, 0, 1), 0.3)),
    "MuJoCo": COMMON,
    "Drake": (*COMMON, Planar()),
}
BUILD = {"Pinocchio": pinocchio_tree, "MuJoCo": mujoco_tree, "Drake": drake_tree}


def alike(found, expected, tolerance=1e-11):
    """Agreement relative to the largest entry."""
    scale = max(1.0, np.abs(expected).max(initial=0.0))
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=tolerance * scale)


def states(model, seed: int, count: int | None = None):
    """Random q, v, a, tau; a batch if there is a count."""
    rng, size = np.random.default_rng(seed), () if count is None else (count,)
    q = model.random_q(rng) if count is None else np.array([model.random_q(rng) for _ in range(count)])
    return q, *rng.standard_normal((3, *size, model.nv))


@pytest.fixture(scope="module", params=[(e, f) for e in BUILD for f in (True, False)], ids=lambda x: f"{x[0]}-{x[1]}")
def robot(request):
    """A random tree, floating or not, the same in an engine, and the converter between them."""
    name, floating = request.param
    model = kt.models.random_tree(9, seed=3, joints=JOINTS[name], floating=floating, armature=False)
    try:
        return BUILD[name](model)
    except ImportError as absent:
        pytest.skip(f"{name} is not installed: {absent}")


@pytest.fixture(autouse=True)
def uncompiled():
    """The trees are used once: not worth compiling."""
    with kt.interpreted():
        yield


def test_inverse_dynamics(robot):
    """q, v, a there give the forces tau there: order of joints and quaternions, velocities, accelerations, duality."""
    q, v, a, _ = states(robot.model, 1)
    tau = robot.rnea(robot.there.q_to(q), robot.there.v_to(q, v), robot.there.a_to(q, v, a))
    alike(robot.there.tau_from(q, tau), kt.rnea(robot.model, q, v, a))
    alike(robot.there.tau_to(q, kt.rnea(robot.model, q, v, a)), tau)


def test_mass_matrix(robot):
    """M there is ``T^-T M T^-1``; what an engine leaves out of it is filled in."""
    q = states(robot.model, 2)[0]
    M = robot.crba(robot.there.q_to(q))
    alike(robot.there.M_from(q, M), kt.crba(robot.model, q))
    back = robot.there.M_to(q, kt.crba(robot.model, q))
    alike(np.triu(back), np.triu(M))
    alike(back, np.swapaxes(back, -1, -2))


def test_forward_dynamics(robot):
    """Accelerations come back as the derivatives of the velocities here."""
    q, v, _, tau = states(robot.model, 3)
    a = robot.aba(robot.there.q_to(q), robot.there.v_to(q, v), robot.there.tau_to(q, tau))
    tolerance = 1e-13 * np.linalg.cond(kt.crba(robot.model, q))
    alike(robot.there.a_from(q, v, a), kt.aba(robot.model, q, v, tau), tolerance)


def test_poses_and_numbers_of_bodies(robot):
    """Every body that moves is where it is here; quaternions of poses are in the order there."""
    q = states(robot.model, 4)[0]
    R, p = kt.forward_kinematics(robot.model, q)
    for i in robot.model.outward():
        number = robot.there.body_to(robot.model.body_names[i])
        assert robot.there.body_from(number) == i
        pose = robot.pose(robot.there.q_to(q), number)
        R_there, p_there = robot.there.pose_from(pose)
        alike(R_there, R[i])
        alike(p_there, p[i])
        again = robot.there.pose_to(R[i], p[i])
        first = slice(0, 4) if robot.there.quaternion_first else slice(3, 7)
        sign = np.sign(again[first] @ pose[first])  # a quaternion and its opposite are one rotation
        again[first] *= sign
        alike(again, pose)


def test_jacobian(robot):
    """Rows in the order of six-vectors there, columns those of the velocities there."""
    q = states(robot.model, 5)[0]
    i = robot.model.nb - 1
    for reference in robot.references:
        J = kt.jacobian(robot.model, q, frame=robot.model.body_names[i], reference=reference)
        there = robot.jacobian(robot.there.q_to(q), int(robot.there.bodies[i]), reference)
        alike(robot.there.J_to(q, J), there)
        alike(robot.there.J_from(q, there), J)


def test_external_wrenches(robot):
    """Wrenches do the same work: of the joint forces that balance them, in the engine's form and in ours."""
    q = states(robot.model, 6)[0]
    f_ext = np.random.default_rng(6).standard_normal((robot.model.nb, 6))
    f_ext[0] = 0.0
    there = robot.there.f_ext_to(q, f_ext)
    alike(robot.there.f_ext_from(q, there), f_ext)
    expected = -kt.dynamics.external_forces(robot.model, q, f_ext)
    alike(robot.there.tau_from(q, robot.applied(robot.there.q_to(q), there)), expected)


def test_there_and_back(robot):
    """A batch and single precision: everything comes back, in the type in which it went."""
    q, v, a, tau = states(robot.model, 7, 5)
    there = robot.there
    moved = there.to(q=q, v=v, a=a, tau=tau)
    assert list(moved) == ["q", "v", "a", "tau"]
    back = there.back(**moved)
    for name, x in {"v": v, "a": a, "tau": tau}.items():
        alike(back[name], x, 1e-12)
    alike(kt.kinematics.frame_transforms(robot.model, back["q"]), kt.kinematics.frame_transforms(robot.model, q), 1e-12)
    single = there.to(**{n: x.astype(np.float32) for n, x in {"q": q, "v": v, "a": a, "tau": tau}.items()})
    for name, x in single.items():
        assert x.dtype == np.float32
        alike(x, moved[name], 1e-5)
    alike(np.sum(moved["tau"] * moved["v"], axis=-1), np.sum(tau * v, axis=-1))


def test_acceleration_is_the_derivative_of_the_velocity(robot):
    """Central differences of the velocities there along a motion with velocity v and acceleration a here."""
    q, v, a, _ = states(robot.model, 8)
    h = 1e-5
    ahead, behind = (
        robot.there.v_to(kt.integrate(robot.model, q, v * t + a * (t * t / 2)), v + a * t) for t in (h, -h)
    )
    alike(robot.there.a_to(q, v, a), (ahead - behind) / (2 * h), 1e-8)  # h^2, and rounding over h


# --- Exudyn: one body, whose equations Exudyn states in seven coordinates --------------------------------------------


def test_exudyn_free_body_falls_alike():
    """A run of Exudyn and one of kinetree, from a state and with a wrench that are converted."""
    pytest.importorskip("exudyn")
    model = kt.models.random_tree(1, seed=5, floating=True, armature=False)
    rng = np.random.default_rng(9)
    q, v = model.random_q(rng), rng.standard_normal(6)
    f_ext = np.zeros((2, 6))
    f_ext[1] = rng.standard_normal(6)
    system, duration, steps = exudyn_body(model), 0.01, 200
    there = system.there
    alike(there.q_from(there.q_to(q)), q)
    alike(there.v_from(q, there.v_to(q, v)), v)
    row = there.f_ext_to(q, f_ext)[1]  # from now on constant: force and moment at the body's origin
    q_end, v_end = system.run(there.q_to(q), there.v_to(q, v), row, duration, steps)
    dt = duration / steps
    for _ in range(steps):
        R, p = kt.forward_kinematics(model, kt.integrate(model, q, v * dt / 2))
        f_ext[1, :3] = row[3:] + np.cross(p[1], row[:3])
        q, v = kt.integrators.rk4_step(model, q, v, np.zeros(6), dt, f_ext=f_ext)
    # Exudyn's default method is of second order and damps: some 1e-6 of the motion in this time.
    alike(there.q_from(q_end), q, 1e-6)
    alike(there.v_from(q, v_end), v, 1e-5)


def test_exudyn_velocities_are_rates_of_positions():
    """The seven velocities are the derivatives of the seven coordinates, the seven accelerations theirs."""
    model = kt.models.random_tree(1, seed=5, floating=True, armature=False)
    there = kt.conventions.Exudyn(model, {model.joint_names[0]: 0}, {model.joint_names[0]: np.full(7, 0.25)})
    q, v, a, tau = states(model, 10)
    h = 1e-5
    steps = [(kt.integrate(model, q, v * t + a * (t * t / 2)), v + a * t) for t in (h, -h)]
    alike(there.v_to(q, v), (there.q_to(steps[0][0]) - there.q_to(steps[1][0])) / (2 * h), 1e-8)
    alike(there.a_to(q, v, a), (there.v_to(*steps[0]) - there.v_to(*steps[1])) / (2 * h), 1e-8)
    alike(there.tau_from(q, there.tau_to(q, tau)), tau)
    alike(there.M_from(q, there.M_to(q, kt.crba(model, q))), kt.crba(model, q))
    alike(there.tau_to(q, tau) @ there.v_to(q, v), tau @ v)


# --- what belongs to no engine ---------------------------------------------------------------------------------------


def test_quaternions_and_angles():
    """Rotation matrices, quaternions in both orders, and roll, pitch, yaw are one rotation."""
    rng = np.random.default_rng(11)
    quaternion = rng.standard_normal((50, 4))
    quaternion /= np.linalg.norm(quaternion, axis=-1, keepdims=True)
    R = rotation_matrix(quaternion)
    again = quaternion_of(R)
    alike(again * np.sign(np.sum(again * quaternion, axis=-1, keepdims=True)), quaternion, 1e-14)
    alike(rotation_matrix(quaternion_of_rpy(rpy_of(R))), R, 1e-13)
    swapped = kt.conventions.quaternion_to_xyzw(quaternion)
    assert np.array_equal(swapped[..., 3], quaternion[..., 0])
    assert np.array_equal(kt.conventions.quaternion_from_xyzw(swapped), quaternion)


def test_a_joint_without_partner_is_named():
    """So is a joint of another kind, and an array that depends on one that is missing."""
    pin = pytest.importorskip("pinocchio")
    model = kt.models.double_pendulum()
    other = pin.Model()
    j = other.addJoint(0, pin.JointModelRY(), pin.SE3.Identity(), "shoulder")
    with pytest.raises(kt.errors.UnknownNameError, match="elbow"):
        kt.conventions.Pinocchio(model, other)
    k = other.addJoint(j, pin.JointModelSpherical(), pin.SE3.Identity(), "elbow")
    with pytest.raises(kt.errors.ModelError, match="'elbow'.*no conversion"):
        kt.conventions.Pinocchio(model, other)
    right = pin.Model()
    j = right.addJoint(0, pin.JointModelRY(), pin.SE3.Identity(), "shoulder")
    right.addJoint(j, pin.JointModelRY(), pin.SE3.Identity(), "elbow 2")
    there = kt.conventions.Pinocchio(model, right, joints={"elbow": "elbow 2"})
    with pytest.raises(TypeError, match="v depends on q"):
        there.to(v=np.zeros(2))
    with pytest.raises(kt.errors.ShapeError, match=r"expected \(\.\.\., 2\)"):
        there.q_to(np.zeros(3))
    assert k
