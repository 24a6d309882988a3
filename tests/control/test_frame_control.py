"""Control of frames: impedance, inertia and priorities, against energies, closed forms and forward dynamics."""

from __future__ import annotations

import dataclasses
import functools
import pickle

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import kinetree as kt
from kinetree.errors import ArgumentError, ModelError, UnknownNameError
from tests.control.test_joint_control import moved, rates

START = np.array([0.1, 0.6, -0.2, 1.2, 0.3, 0.5, 0.4, 0.0, 0.0])


@functools.cache
def arm():
    """Seven joints and a gripper of two coupled fingers."""
    return kt.load("arm7")


def state(seed):
    rng = np.random.default_rng(seed)
    q = START + np.r_[rng.uniform(-0.4, 0.4, 7), 0.0, 0.0]
    return rng, q, np.r_[rng.uniform(-1.0, 1.0, 7), 0.0, 0.0]


def near(rng, R, p):
    """A pose at some distance, and a velocity."""
    return Rotation.from_rotvec(rng.uniform(-0.6, 0.6, 3)).as_matrix() @ R, p + rng.uniform(-0.1, 0.1, 3)


def error_of(R, p, R_d, p_d, axes="world"):
    """The error by SciPy's rotations."""
    if axes == "local":
        return np.r_[Rotation.from_matrix(R.T @ R_d).as_rotvec(), R.T @ (p_d - p)]
    return np.r_[Rotation.from_matrix(R_d @ R.T).as_rotvec(), p_d - p]


def gains(rng):
    root = rng.standard_normal((2, 6, 6))
    return 3.0 * np.eye(6) + root @ root.transpose(0, 2, 1)


@pytest.mark.seeds(20)
@pytest.mark.parametrize("axes", ["world", "local"])
def test_impedance_of_a_frame_is_passive(axes, seed):
    """Kinetic energy and e K e / 2 change by -V D V at a constant pose, for any K, on trees of any joints."""
    rng = np.random.default_rng(seed)
    model = kt.models.random_tree(4, seed=seed)
    q, v, frame = model.random_q(rng), rng.uniform(-1.0, 1.0, model.nv), model.body_names[-1]
    (K, D), reference = gains(rng), "local" if axes == "local" else "local_world_aligned"
    with kt.interpreted():
        R_d, p_d = near(rng, *kt.pose(model, q, frame=frame))
        law = functools.partial(kt.control.cartesian_impedance, model, frame=frame, axes=axes)
        a = kt.forward_dynamics(model, q, v, law(q, v, R_d, p_d, np.zeros(6), K, D))

        def energy(t):
            q_t, v_t = moved(model, q, v, a, t)
            e = error_of(*kt.pose(model, q_t, frame=frame), R_d, p_d, axes)
            return kt.kinetic_energy(model, q_t, v_t) + 0.5 * e @ K @ e

        V = kt.velocity(model, q, v, frame=frame, reference=reference)
        assert abs(rates(energy, a)[0] + V @ D @ V) < 1e-7 * (1.0 + V @ D @ V + energy(0.0))


@pytest.mark.seeds(5)
@pytest.mark.parametrize("part", ["pose", "position", "orientation"])
def test_errors_of_a_frame_task_are_linear(part, seed):
    """e'' + kd e' + kp e = 0 about a moving pose, by differences of e along the motion."""
    model, (rng, q, v) = arm(), state(seed)
    R_0, p_0 = near(rng, *kt.pose(model, q, frame="tool"))
    w, u, dw, du = rng.uniform(-0.5, 0.5, (4, 3))

    def reference(t):  # its twist and the rate of it, both at t = 0
        turned = Rotation.from_rotvec(t * w + t * t / 2.0 * dw).as_matrix() @ R_0
        return (turned, p_0 + t * u + t * t / 2.0 * du), np.r_[w, u], np.r_[dw, du]

    rows = {"pose": slice(0, 6), "orientation": slice(0, 3), "position": slice(3, 6)}[part]
    kp, kd = (matrix[rows, rows] for matrix in gains(rng))
    task = kt.control.FrameTask("tool", reference, kp, kd, part=part)
    controller = kt.control.OperationalSpace(model, [task, kt.control.JointTask(START, kp=4.0)])
    a = kt.forward_dynamics(model, q, v, controller(0.0, q, v))

    def error(t):
        (R_d, p_d), _, _ = reference(t)
        return error_of(*kt.pose(model, moved(model, q, v, a, t)[0], frame="tool"), R_d, p_d)[rows]

    e_dot, e_ddot = rates(error, a)
    size = 1.0 + np.abs(a).max()
    assert np.abs(e_ddot + kd @ e_dot + kp @ error(0.0)).max() < 1e-5 * size * np.abs(kp).max()


@pytest.mark.seeds(10)
def test_inertia_of_a_frame_is_that_of_forward_dynamics(seed):
    """Joint forces J^T F accelerate the frame by F = Lambda A + mu + p; Lambda^-1 is Featherstone's Phi^A."""
    model, (rng, q, v) = arm().replace(armature=0.0), state(seed)
    at = dict(frame="tool", reference="local_world_aligned")
    terms = kt.control.operational_space_terms(model, q, v, **at)
    J, F = kt.jacobian(model, q, **at), rng.uniform(-1.0, 1.0, 6)
    a = kt.aba(model, q, v, J.T @ F)
    A = kt.acceleration(model, q, v, a, kind="spatial", **at)
    assert np.allclose(terms.Lambda @ A + terms.mu + terms.p, F, rtol=0.0, atol=1e-9 * np.abs(terms.mu + terms.p).max())
    inverse = kt.control.inverse_task_inertia(model, q, **at)
    assert np.allclose(inverse, J @ np.linalg.solve(kt.crba(model, q), J.T), rtol=1e-10, atol=1e-10)
    assert np.allclose(inverse @ terms.Lambda, np.eye(6), atol=1e-8)
    Phi, _ = kt.dynamics.articulated_inverse_inertia(model, q, handles=["tool"])[:2]
    local = kt.control.inverse_task_inertia(model, q, frame="tool", reference="local")
    assert np.allclose(np.asarray(Phi).reshape(6, 6), local, rtol=1e-9, atol=1e-9)


@pytest.mark.seeds(5)
def test_joint_forces_are_those_of_khatib(seed):
    """tau = J^T (Lambda A + mu + p) + (1 - J^T J_bar^T) tau_0 with tau_0 the forces of the posture."""
    model, (rng, q, v) = kt.surgery.lock(arm(), arm().joint_names[-2:]), state(seed)
    q, v = q[: model.nq], v[: model.nv]
    R_d, p_d = near(rng, *kt.pose(model, q, frame="tool"))
    task, posture = kt.control.FrameTask("tool", (R_d, p_d), kp=30.0), kt.control.JointTask(START[: model.nq], kp=4.0)
    found = kt.control.OperationalSpace(model, [task, posture])(0.0, q, v)
    at = dict(frame="tool", reference="local_world_aligned")
    terms, J = kt.control.operational_space_terms(model, q, v, **at), kt.jacobian(model, q, **at)
    R, p = kt.pose(model, q, frame="tool")
    e, V = error_of(R, p, R_d, p_d), kt.velocity(model, q, v, **at)
    # A for which e'' is as wanted, by differences of e along accelerations of the frame.
    controller = kt.control.OperationalSpace(model, [task])
    A = J @ controller.accelerations(0.0, q, v) + kt.acceleration(model, q, v, 0 * v, kind="spatial", **at)
    assert np.allclose(A[3:], 30.0 * e[3:] - 2.0 * np.sqrt(30.0) * V[3:], rtol=1e-9, atol=1e-9)
    a_posture = 4.0 * (START[: model.nq] - q) - 4.0 * v
    tau_0 = kt.inverse_dynamics(model.without_limits(), q, v, a_posture)
    free = np.eye(model.nv) - J.T @ terms.J_bar.T
    expected = J.T @ (terms.Lambda @ A + terms.mu + terms.p) + free @ tau_0
    passive = kt.inverse_dynamics(model.without_limits(), q, v, 0 * v) - kt.bias_forces(model, q, v)
    assert np.allclose(found, expected + (np.eye(model.nv) - free) @ passive, rtol=1e-8, atol=1e-8)


def test_no_task_accelerates_one_before_it():
    """Accelerations of the first task are the same with every list of tasks behind it, even in conflict with it."""
    model, (_, q, v) = arm(), state(1)
    R, p = kt.pose(model, q, frame="tool")
    first = kt.control.FrameTask("tool", p + [0.05, 0.0, 0.02], kp=50.0)
    against = kt.control.FrameTask("tool", p - [0.05, 0.0, 0.02], kp=90.0)
    elbow = kt.control.FrameTask("forearm_link", kt.pose(model, START, frame="forearm_link"), kp=20.0)
    posture = kt.control.JointTask(START, kp=4.0)
    J = kt.jacobian(model, q, frame="tool", reference="local_world_aligned")[3:]
    make = functools.partial(kt.control.OperationalSpace, model)
    alone = J @ make([first]).accelerations(0.0, q, v)
    for tasks in ([first, against], [first, elbow, posture], [first, [elbow, posture]], [first, posture]):
        assert np.allclose(J @ make(tasks).accelerations(0.0, q, v), alone, rtol=0.0, atol=1e-8 * np.abs(alone).max())
    assert not np.allclose(J @ make([against, first]).accelerations(0.0, q, v), alone, rtol=1e-2)
    # The posture is reached as far as the position leaves freedom.
    a = make([first, posture]).accelerations(0.0, q, v)
    free = np.eye(model.nv) - np.linalg.pinv(J) @ J
    assert np.abs(free @ a).max() > 1e-2


def test_accelerations_stay_finite_through_a_singular_position():
    """A stretched arm cannot move along itself: the accelerations are continuous and bounded there."""
    model = arm()
    q, v = np.zeros(9), np.zeros(9)
    p = kt.pose(model, q, frame="tool")[1]
    reach = kt.control.FrameTask("tool", p + [0.0, 0.0, 0.1], kp=100.0)
    controller = kt.control.OperationalSpace(model, [reach, kt.control.JointTask(q, kp=25.0)])
    sizes = [np.abs(controller.accelerations(0.0, q + bend * (np.arange(9) == 3), v)).max() for bend in (0, 1e-9, 1e-3)]
    assert max(sizes) < 1e4


def test_shaped_inertia_with_a_measured_wrench():
    """inertia s' + damping s = B^T stiffness e + F for a force on the tool, in the tool's axes; rest at e = K^-1 F."""
    model, (rng, q, v) = arm(), state(2)
    K, D = gains(rng)
    R, p = kt.pose(model, q, frame="tool")
    inertia, F = np.diag([0.5, 0.5, 0.5, 3.0, 3.0, 3.0]), np.array([0.1, -0.2, 0.1, 5.0, -3.0, 2.0])
    at = dict(frame="tool", reference="local")
    J = kt.jacobian(model, q, **at)
    for pose in ((R, p), near(rng, R, p)):
        controller = kt.control.CartesianImpedance(
            model, "tool", pose, K, D, inertia, axes="local", wrench=lambda t, q, v: F,
            posture=kt.control.JointTask(START, kp=4.0),
        )  # fmt: skip
        a = kt.forward_dynamics(model, q, v, controller(0.0, q, v) + J.T @ F)
        A = kt.acceleration(model, q, v, a, kind="spatial", **at)
        e, V = error_of(R, p, *pose, "local"), J @ v
        if pose[0] is R:  # no error: s = V, and V_r rests in the world
            assert np.allclose(inertia @ A + D @ V, F, rtol=1e-8, atol=1e-7)
        energy_rate = V @ (inertia @ A + D @ V - F)

        def energy(t, pose=pose, a=a):
            now = error_of(*kt.pose(model, moved(model, q, v, a, t)[0], frame="tool"), *pose, "local")
            return 0.5 * now @ K @ now

        assert abs(rates(energy, a)[0] + energy_rate) < 1e-6 * (1.0 + e @ K @ e)


def test_posture_of_a_compliant_frame_leaves_its_pose_alone():
    """With the natural inertia the forces of the posture accelerate joints, and not the frame."""
    model, (_, q, v) = arm(), state(3)
    pose = kt.pose(model, q, frame="tool")
    plain = kt.control.CartesianImpedance(model, "tool", pose, 100.0, 10.0)
    posed = dataclasses.replace(plain, posture=kt.control.JointTask(START + 0.3 * (np.arange(9) < 7), kp=9.0))
    J = kt.jacobian(model, q, frame="tool", reference="local_world_aligned")
    a, b = (kt.forward_dynamics(model, q, v, c(0.0, q, v)) for c in (plain, posed))
    assert np.abs(b - a).max() > 0.1
    assert np.allclose(J @ a, J @ b, rtol=0.0, atol=1e-8 * np.abs(a).max())
    assert np.array_equal(pickle.loads(pickle.dumps(posed))(0.0, q, v), posed(0.0, q, v))


ROBOT, POSE = kt.models.double_pendulum(), np.eye(4)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: kt.control.FrameTask("tool", POSE, kp=[1, 2, 3]), ArgumentError, r"\(6,\) or \(6, 6\)"),
        (lambda: kt.control.FrameTask("tool", [0, 0, 1.0], kp=1.0, part="pose"), ArgumentError, r"\(4, 4\)"),
        (lambda: kt.control.FrameTask("tool", 2.0 * POSE, kp=1.0), ModelError, r"ends in \[0.0, 0.0, 0.0, 2.0\]"),
        (lambda: kt.control.FrameTask("tool", (2.0 * np.eye(3), [0, 0, 0]), kp=1.0), ModelError, "rotation"),
        (lambda: kt.control.OperationalSpace(ROBOT, [kt.control.FrameTask("tol", POSE, 1.0)]), UnknownNameError, "tol"),
        (lambda: kt.control.OperationalSpace(ROBOT, []), ArgumentError, "a sequence of FrameTask"),
        (lambda: kt.control.OperationalSpace(ROBOT, [1.0]), ArgumentError, "a FrameTask or a JointTask"),
        (lambda: kt.control.CartesianImpedance(ROBOT, "lower", POSE, -1.0, 1.0), ArgumentError, "semidefinite"),
        (lambda: kt.control.CartesianImpedance(ROBOT, "lower", [0, 0, 1.0], 1.0, 1.0), ArgumentError, r"\(4, 4\)"),
        (lambda: kt.control.CartesianImpedance(ROBOT, "lower", POSE, 1.0, 1.0, axes="tool"), ArgumentError, "one of"),
        (lambda: kt.control.CartesianImpedance(ROBOT, "lower", POSE, 1.0, 1.0, wrench=len), ArgumentError, "inertia"),
    ],
)
def test_errors_name_task_and_form(make, error, message):
    """Shapes of gains, forms of poses, frames that are not there."""
    with pytest.raises(error, match=message):
        make()
