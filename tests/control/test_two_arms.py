"""Two arms that hold a jointed object: Unseren's models, closed, reduced and decoupled, against the library's loops."""

import functools
from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import kinetree as kt
from tests.engines.robots import robot_path

PARTS = (
    kt.control.Held("tool0", 2.0, (0.01, 0.0, 0.1), (0.0, 0.02, 0.25), (0.02, 0.02, 0.005)),
    kt.control.Held("tool0", 1.5, (0.0, 0.02, 0.1), (0.0, 0.0, 0.3), (0.02, 0.015, 0.005)),
)
START = np.array([0.2, -1.4, 1.6, -0.9, 0.7, 0.3])


@functools.cache
def ur5():
    return kt.load(robot_path("ur_description/urdf/ur5_robot.urdf")).without_limits()


@functools.cache
def panda():
    robot = kt.load(robot_path("panda_description/urdf/panda.urdf")).without_limits()
    return kt.surgery.lock(robot, ["panda_finger_joint1", "panda_finger_joint2"])


@functools.cache
def pair(other: str = "ur5"):
    """Two UR5, or a UR5 and a Panda, with the object."""
    second = ur5() if other == "ur5" else panda()
    part = PARTS[1] if other == "ur5" else replace(PARTS[1], grasp="panda_hand")
    return kt.control.TwoArms.hold(ur5(), second, PARTS[0], part, placement=((0.9, 0.0, 0.0), (0.0, 0.0, np.pi)))


@functools.cache
def two_arms(choice: str = "center_of_mass", other: str = "ur5"):
    model = pair(other)
    return kt.control.TwoArms(model, choice, q=np.resize(START, model.nv))


CASES = [
    ("center_of_mass", "ur5"), ("ball_joint", "ur5"), ("joints", "ur5"), ("center_of_mass", "panda"),
    ("ball_joint", "panda"),
]  # fmt: skip


def closed(arms, seed: int):
    """A position at which the ball joint is closed, by Newton's method, and velocities that keep it so."""
    rng = np.random.default_rng(seed)
    q = np.resize(START, arms.model.nv) + 0.2 * rng.standard_normal(arms.model.nv)
    for _ in range(200):
        gap = arms.gap(q)
        if np.abs(gap).max() < 1e-14:
            break
        A = arms.terms(q, np.zeros(len(q))).A
        step = A.T @ np.linalg.solve(A @ A.T + 1e-8 * np.eye(3), gap)
        q = q - step * min(1.0, 0.3 / np.abs(step).max())
    assert np.abs(arms.gap(q)).max() < 1e-12
    nu = rng.standard_normal(arms.dof)
    return q, arms.velocity(q, nu), nu, rng


@pytest.mark.parametrize(("choice", "other"), CASES)
def test_identities_of_the_transformation(choice, other):
    """A Pi = 1, A Sigma = 0, B Pi = 0, B Sigma = 1, Pi A + Sigma B = 1 (eq. 35), Delta idempotent of rank nv - 3."""
    arms = two_arms(choice, other)
    for seed in range(5):
        q, v, nu, _ = closed(arms, seed)
        x = arms.terms(q, v)
        whole = np.vstack((x.A, x.B)) @ np.hstack((x.Pi, x.Sigma))
        size = np.abs(x.Pi).max() + np.abs(x.Sigma).max()
        assert np.abs(whole - np.eye(len(q))).max() < 1e-12 * size
        assert np.abs(x.Pi @ x.A + x.Sigma @ x.B - np.eye(len(q))).max() < 1e-12 * size
        assert np.allclose(x.B @ v, nu, rtol=0, atol=1e-12 * size)
        delta = arms.delta(q)
        assert np.abs(delta @ delta - delta).max() < 1e-12
        assert np.abs(delta @ x.A.T).max() < 1e-12
        assert np.linalg.matrix_rank(delta, tol=1e-8) == arms.dof == len(q) - 3


@pytest.mark.parametrize("other", ["ur5", "panda"])
def test_freedoms_are_those_of_the_mobility_analysis(other):
    """N_1 + N_2 - 3 freedoms (eq. 19), by the rank of the loop's rows."""
    arms = two_arms(other=other)
    found = kt.closed_loops.mobility(arms.model, closed(arms, 0)[0])
    assert found.mobility == arms.dof == arms.model.nv - 3 and found.rank == 3


@pytest.mark.parametrize("choice", ["center_of_mass", "ball_joint"])
def test_closed_forms_are_the_inverse(choice):
    """Pi and Sigma of appendix C are the inverse of [A; B]; those of the report's matrices L, Phi, Psi, too."""
    arms = two_arms(choice)
    for seed in range(5):
        q, v, *_ = closed(arms, seed)
        x = arms.terms(q, v)
        inverse = np.linalg.inv(np.vstack((x.A, x.B)))
        assert np.allclose(np.hstack((x.Pi, x.Sigma)), inverse, rtol=0, atol=1e-11 * np.abs(inverse).max())
        # As printed, from the Jacobians (linear, angular) of the second grasp and the first center of mass.
        tree = arms.model.replace(constraints=())
        ball, grasp = (kt.pose(tree, q, frame=f).p_WF for f in ("object_2.ball", "second_tool0"))
        E = np.cross(np.eye(3), ball - grasp)  # r x
        Phi = np.block([[-np.eye(3), E], [np.zeros((3, 3)), np.eye(3)]])
        assert np.allclose(Phi @ Phi, np.eye(6), rtol=0, atol=1e-15)  # eq. C.7
        J = kt.jacobian(tree, q, frame="second_tool0", reference="local_world_aligned")[:, 6:]
        J_inverse = np.linalg.inv(np.vstack((J[3:], J[:3])))
        assert np.allclose(x.Pi[6:], J_inverse @ Phi[:, :3], rtol=0, atol=1e-11 * np.abs(inverse).max())  # C.9
        printed = J_inverse @ np.vstack((E, np.eye(3)))
        assert np.allclose(x.Sigma[6:, :3], printed, rtol=0, atol=1e-11 * np.abs(inverse).max())  # C.10


@pytest.mark.parametrize(("choice", "other"), CASES)
def test_accelerations_and_forces_are_those_of_the_loop_joint(choice, other):
    """Eq. 32, 40, 41 against `forward_dynamics` of the model with its loop, and rates against differences."""
    arms = two_arms(choice, other)
    model = arms.model
    for seed in range(4):
        q, v, nu, rng = closed(arms, seed)
        tau = 20.0 * rng.standard_normal(len(q))
        a, multipliers = kt.forward_dynamics(model, q, v, tau, multipliers=True)
        size = np.abs(a).max()
        assert np.abs(arms.accelerations(q, v, tau) - a).max() < 1e-9 * size
        force = kt.pose(model, q, frame="object_2.ball").R_WF @ multipliers
        assert np.allclose(arms.contact_force(q, v, tau), force, rtol=0, atol=1e-9 * (1.0 + np.abs(force).max()))
        x = arms.terms(q, v)
        assert np.abs(x.A @ a + x.A_rate).max() < 1e-9 * size
        rate = arms.pseudoacceleration(q, nu, tau)
        assert np.abs(rate - (x.B @ a + x.B_rate)).max() < 1e-8 * np.abs(rate).max()
        h = 1e-6
        ahead, behind = (arms.terms(q + s * v, v) for s in (h, -h))
        for what in ("A", "B"):
            rate, difference = getattr(x, f"{what}_rate"), (getattr(ahead, what) - getattr(behind, what)) @ v / (2 * h)
            assert np.allclose(rate, difference, rtol=0, atol=1e-7 * (1 + np.abs(difference).max()))


@pytest.mark.parametrize("other", ["ur5", "panda"])
def test_wrenches_of_the_hands_are_those_of_joints_between_hand_and_object(other):
    """The bodies of the object on joints that stand still, under the ball's force: `joint_wrenches` there."""
    arms = two_arms(other=other)
    parts = PARTS[0], PARTS[1] if other == "ur5" else replace(PARTS[1], grasp="panda_hand")
    q, v, _, rng = closed(arms, 5)
    tau = 20.0 * rng.standard_normal(len(q))
    found = kt.control.grasp_wrenches(arms, parts, q, v, tau)
    robots = ur5(), (ur5() if other == "ur5" else panda())
    both = kt.surgery.attach(*robots, placement=((0.9, 0.0, 0.0), (0.0, 0.0, np.pi)), prefix="second_", at="world")
    b = kt.ModelBuilder.of(both)
    for n, part in enumerate(parts):
        frame = both.frame("second_" * n + part.grasp)
        b.add_body(
            f"part{n}", both.body_names[frame.body], kt.joints.Revolute(), joint_name=f"wrist{n}", placement=frame.X_FB,
            mass=part.mass, com=part.com, inertia=part.inertia,
        )  # fmt: skip
    model = b.build()
    place = np.concatenate([np.arange(model.nv)[model.v_index(name)] for name in arms.model.joint_names])
    states = np.zeros((3, model.nv))
    states[:, place] = q, v, arms.accelerations(q, v, tau)
    force, ball = arms.contact_force(q, v, tau), arms.poses(q)["object_2.ball"].p_WF
    pushed = {f"part{n}": s * np.concatenate((np.cross(ball, force), force)) for n, s in enumerate((-1.0, 1.0))}
    F = kt.dynamics.joint_wrenches(model, *states, pushed, reference="local_world_aligned")
    for n, wrench in enumerate(found):
        expected = F[model.body_names.index(f"part{n}")]
        assert np.allclose(wrench, expected, rtol=0, atol=1e-10 * np.abs(expected).max())


def test_both_choices_describe_one_motion():
    """nu of one choice from the other by lambda = [1, -r x; 0, 1], eq. C.13-C.15, whose determinant is 1."""
    arms, other = two_arms("center_of_mass"), two_arms("ball_joint")
    q, v, *_ = closed(arms, 1)
    x, y = arms.terms(q, v), other.terms(q, v)
    step = y.B @ x.Sigma
    r = arms.poses(q)["object_1.ball"].p_WF - arms.poses(q)["object_1.center"].p_WF
    expected = np.eye(9)
    expected[3:6, 6:] = -np.cross(np.eye(3), r)
    assert np.allclose(step, expected, rtol=0, atol=1e-10) and abs(np.linalg.det(step) - 1.0) < 1e-10


def test_torques_are_a_family_of_three_forces():
    """Every contact force gives torques of the same motion; without one the (weighted) sum of squares is least."""
    arms = two_arms()
    q, v, nu, rng = closed(arms, 3)
    x = arms.terms(q, v)
    a = x.Sigma @ rng.standard_normal(9) - x.Pi @ x.A_rate - x.Sigma @ x.B_rate
    force, weights = rng.standard_normal(3), rng.uniform(0.5, 2.0, 12)
    given = arms.torques(q, v, a, force=force)
    assert np.allclose(arms.contact_force(q, v, given), force, rtol=0, atol=1e-9)
    for w, tau in ((np.ones(12), arms.torques(q, v, a)), (weights, arms.torques(q, v, a, weights=weights))):
        assert np.allclose(kt.forward_dynamics(arms.model, q, v, tau), a, rtol=0, atol=1e-9 * np.abs(a).max())
        assert np.abs(x.A @ (w * tau)).max() < 1e-9 * np.abs(tau).max()
        assert w @ tau**2 < w @ given**2


def test_reduced_model_moves_like_the_joint_space_model():
    """Steps of 9 equations against 12, integrated to 1e-10; the loop stays closed; energy is that of the torques."""
    arms = two_arms("ball_joint")
    q, v, nu, rng = closed(arms, 1)
    tau = 5.0 * rng.standard_normal(12)

    def rate(t, y):
        return np.concatenate((y[12:], arms.accelerations(y[:12], y[12:], tau)))

    reference = solve_ivp(rate, (0.0, 0.02), np.concatenate((q, v)), rtol=1e-11, atol=1e-12).y[:12, -1]
    errors = []
    for n in (4, 8):
        q_n, nu_n = q, nu
        for _ in range(n):
            q_n, nu_n = arms.step(q_n, nu_n, tau, 0.02 / n)
        assert np.abs(arms.gap(q_n)).max() < 1e-12
        errors.append(np.abs(q_n - reference).max())
    assert errors[1] < 1e-7 and 10.0 < errors[0] / errors[1] < 24.0  # order 4


@pytest.mark.parametrize(("choice", "other"), CASES)
def test_motion_and_force_are_decoupled(choice, other):
    """nu' = tau_2 and f = tau_1 at every state (eq. 47-48); with masses off by 5 % each depends on both."""
    arms = two_arms(choice, other)
    q, v, nu, rng = closed(arms, 2)
    force, servo = 30.0 * rng.standard_normal(3), rng.standard_normal(arms.dof)
    controller = kt.control.DecoupledControl(arms, servo=lambda t, q, v: servo, force=lambda t: force)
    tau = controller(0.0, q, v)
    assert np.allclose(arms.pseudoacceleration(q, nu, tau), servo, rtol=0, atol=1e-9)
    assert np.allclose(arms.contact_force(q, v, tau), force, rtol=0, atol=1e-9)
    heavier = arms.model.replace(I=[I * 1.05 for I in arms.model.I])
    robot = kt.control.TwoArms(heavier, choice, joints=arms.joints, q=q)
    assert 1e-3 < np.abs(robot.contact_force(q, v, tau) - force).max() < 10.0
    assert np.abs(robot.pseudoacceleration(q, nu, tau) - servo).max() > 1e-3


def test_a_step_in_one_channel_leaves_the_other():
    """A force step of 40 N moves the pseudovelocities by less than 1e-8, a step of the motion the force likewise."""
    arms = two_arms()
    q, *_ = closed(arms, 4)
    position = kt.control.load_position(arms, q)

    def run(force, lift: float):
        target = position._replace(p=position.p + (0.0, 0.0, lift))
        tracking = kt.control.LoadTracking(arms, lambda t: (target, np.zeros(9), np.zeros(9)))
        controller = kt.control.DecoupledControl(arms, tracking, force)
        forces = []

        def rate(t, y):
            v = arms.velocity(y[:12], y[12:])
            tau = controller(t, y[:12], v)
            forces.append(arms.contact_force(y[:12], v, tau))
            return np.concatenate((v, arms.pseudoacceleration(y[:12], y[12:], tau)))

        end = solve_ivp(rate, (0.0, 0.1), np.concatenate((q, np.zeros(9))), max_step=0.02, rtol=1e-9, atol=1e-11).y
        return end[12:, -1], np.array(forces)

    rest, still = run((0.0, 0.0, 0.0), 0.0)
    pushed, forces = run(lambda t: np.array([0.0, 40.0, 0.0]) * (t > 0.05), 0.0)
    assert np.abs(pushed - rest).max() < 1e-8 and np.abs(forces[-1] - (0.0, 40.0, 0.0)).max() < 1e-8
    moved, forces = run((0.0, 0.0, 0.0), 0.05)
    assert moved[5] > 0.1 and np.abs(forces - still[0]).max() < 1e-8


def test_errors_name_the_cause():
    arms = two_arms()
    with pytest.raises(kt.errors.ModelError, match="expected one loop joint of kind Spherical"):
        kt.control.TwoArms(ur5())
    with pytest.raises(kt.errors.ArgumentError, match="Take pseudovelocities='joints'"):
        locked = kt.surgery.lock(pair(), ["wrist_3_joint"])
        kt.control.TwoArms(locked)
    with pytest.raises(kt.errors.SingularityError, match="least over largest singular value"):
        arms.terms(np.zeros(12), np.zeros(12))
    with pytest.raises(kt.errors.UnknownNameError, match="elbow_joint"):
        kt.control.TwoArms(pair("panda"), joints=["elbow"], q=np.resize(START, 13))
    with pytest.raises(kt.errors.ArgumentError, match="names of 1 different joints"):
        kt.control.TwoArms(pair("panda"), joints=["elbow_joint", "wrist_1_joint"], q=np.resize(START, 13))
    with pytest.raises(kt.errors.ArgumentError, match="kp"):
        kt.control.LoadTracking(arms, lambda t: None, kp=-1.0)
