"""Controllers of the joints against the equations of their closed loops, on mechanisms with joints of every kind."""

from __future__ import annotations

import dataclasses
import pickle

import numpy as np
import pytest
from scipy.linalg import expm

import kinetree as kt
from kinetree.algorithms.coriolis import coriolis_matrix, coriolis_product
from kinetree.control.manifold_error import ManifoldError
from kinetree.errors import ArgumentError, ShapeError
from tests.analytic.mechanisms import pendulum
from tests.trees.geared import geared_tree

H = 2.5e-4  # of central differences of fourth order: h^4 times a fifth derivative, and rounding over h or h^2
CHANGE = 0.025  # of velocities of size 1 within one step, at most: derivatives grow with powers of the accelerations


def case(seed, nb=5):
    """A mechanism with joints of random kinds, a state, a reference near it, and gains."""
    rng = np.random.default_rng(seed)
    model = kt.models.random_tree(nb, seed=seed)
    q = model.random_q(rng)
    q_d = kt.integrate(model, q, rng.uniform(-0.5, 0.5, model.nv))
    v, v_d, a_d = rng.uniform(-1.0, 1.0, (3, model.nv))
    root = rng.standard_normal((2, model.nv, model.nv)) / np.sqrt(model.nv)
    kp, kd = 4.0 * (np.eye(model.nv) + root @ root.transpose(0, 2, 1))
    return rng, model, q, v, q_d, v_d, a_d, kp, kd


def moved(model, q, v, a, t, steps=4):
    """The state after a time with a constant acceleration, by the classical method in the coordinates of q."""
    q, tau = np.array(q), t / steps
    for n in range(steps):
        k = [kt.q_dot(model, q, v + n * tau * a)]
        for c in (0.5, 0.5, 1.0):
            k.append(kt.q_dot(model, q + c * tau * k[-1], v + (n + c) * tau * a))
        q = q + tau / 6.0 * (k[0] + 2.0 * k[1] + 2.0 * k[2] + k[3])
    return kt.normalize(model, q), v + t * a


def rates(function, a):
    """First and second derivative at 0 of a function of time that has the accelerations a."""
    h = min(H, CHANGE / max(np.abs(a).max(), 1.0))
    back2, back, now, ahead, ahead2 = (np.asarray(function(n * h)) for n in (-2, -1, 0, 1, 2))
    first = (back2 - 8.0 * back + 8.0 * ahead - ahead2) / (12.0 * h)
    return first, (-back2 + 16.0 * back - 30.0 * now + 16.0 * ahead - ahead2) / (12.0 * h * h)


@pytest.mark.seeds(20)
def test_computed_torque_makes_the_error_linear(seed):
    """e'' + kd e' + kp e = 0 along the motion that the torque causes, by differences of e itself."""
    _, model, q, v, q_d, v_d, a_d, kp, kd = case(seed)
    with kt.interpreted():
        tau = kt.control.computed_torque(model, q, v, q_d, v_d, a_d, kp, kd)
        a = kt.forward_dynamics(model, q, v, tau)

        def error(t):
            return kt.difference(model, moved(model, q, v, a, t)[0], moved(model, q_d, v_d, a_d, t)[0])

        e_dot, e_ddot = rates(error, a)
        found = kt.control.tracking_error(model, q, v, q_d, v_d)
    size = 1.0 + np.abs(a).max()
    assert np.abs(found.e_dot - e_dot).max() < 1e-8 * size
    assert np.abs(e_ddot + kd @ found.e_dot + kp @ found.e).max() < 1e-6 * size * np.abs(kp).max()


@pytest.mark.seeds(20)
def test_joint_impedance_is_passive(seed):
    """The energy s M s / 2 + e K e / 2 about a moving reference changes by -s D s and the power of other forces."""
    rng, model, q, v, q_d, v_d, a_d, K, D = case(seed)
    with kt.interpreted():
        pushed = rng.standard_normal(model.nv)
        tau = kt.control.joint_impedance(model, q, v, q_d, v_d, a_d, K, D)
        a = kt.forward_dynamics(model, q, v, tau + pushed)

        def energy(t):
            (q_t, v_t), (q_r, v_r) = moved(model, q, v, a, t), moved(model, q_d, v_d, a_d, t)
            error = ManifoldError.of_joints(model, q_t, v_t, q_r, v_r)
            e, s = np.array(error.e), np.array(error.s)
            return 0.5 * (s @ kt.crba(model, q_t) @ s + e @ K @ e)

        s = np.array(ManifoldError.of_joints(model, q, v, q_d, v_d).s)
        power = -s @ D @ s + s @ pushed
        assert abs(rates(energy, a)[0] - power) < 1e-7 * (1.0 + abs(power) + energy(0.0))


@pytest.mark.seeds(20)
def test_product_of_the_coriolis_matrix(seed):
    """Without forming the matrix, for joints of every kind, of one freedom, that depend on time, geared, in a plane."""
    rng = np.random.default_rng(seed)
    models = [kt.models.random_tree(5, seed=seed, time_dependent=True), geared_tree(5, seed, floating=seed % 2 == 0)]
    singles = [kt.joints.Revolute((0, 1, 0)), kt.joints.Prismatic(), kt.joints.Helical(pitch=0.1)]
    models += [kt.models.random_tree(5, seed=seed, joints=singles)]
    if seed == 0:
        models += [kt.models.double_pendulum().planar()]
    for model in models:
        q, v, s = model.random_q(rng).tolist(), *rng.uniform(-1.0, 1.0, (2, model.nv)).tolist()
        tree = model.at(0.3)
        C = np.array(coriolis_matrix(tree, q, v), float)
        expected, found = C @ s, np.array(coriolis_product(tree, q, v, s), float)
        assert np.abs(found - expected).max() < 1e-12 * (1.0 + np.abs(C).max())


@pytest.mark.seeds(20)
def test_pd_with_gravity_compensation_dissipates(seed):
    """With a constant reference kinetic energy and that of the springs change by -v kd v: gravity does no work."""
    _, model, q, v, q_d, _, _, kp, kd = case(seed)
    rest = np.zeros(model.nv)
    model = model.replace(damping=0.0)
    with kt.interpreted():
        tau = kt.control.pd_gravity_compensation(model, q, v, q_d, rest, kp, kd)
        a = kt.forward_dynamics(model, q, v, tau)

        def energy(t):
            q_t, v_t = moved(model, q, v, a, t)
            e = kt.difference(model, q_t, q_d)
            return kt.kinetic_energy(model, q_t, v_t) + 0.5 * e @ kp @ e

        power = -v @ kd @ v
        assert abs(rates(energy, a)[0] - power) < 1e-7 * (1.0 + abs(power) + energy(0.0))


def test_closed_loop_of_a_free_body_against_the_exponential():
    """The error of a free body and a ball joint follows expm over a second, to the integrator's tolerance."""
    b = kt.ModelBuilder("ball on a body")
    inertia = np.diag([0.1, 0.15, 0.2])
    b.add_body("body", joint=kt.joints.Free(), mass=2.0, inertia=inertia)
    at = ((0.2, 0.0, 0.1), (0.0, 0.0, 0.0))
    b.add_body("ball", parent="body", joint=kt.joints.Spherical(), placement=at, mass=1.0, inertia=inertia)
    model = b.build()
    rng = np.random.default_rng(3)
    q0, v0 = model.random_q(rng), rng.uniform(-0.5, 0.5, model.nv)
    q_d = kt.integrate(model, q0, rng.uniform(-0.8, 0.8, model.nv))
    spin = rng.uniform(-0.5, 0.5, model.nv)

    def reference(t):
        return kt.integrate(model, q_d, t * spin), spin  # at constant speed along one-parameter subgroups

    controller = kt.control.ComputedTorque(model, reference, kp=9.0, kd=2.0)
    accurate = kt.integrators.Adaptive("dop853", rtol=1e-10, atol=1e-11)
    run = kt.simulate(model, q0, v0, duration=1.0, controller=controller, integrator=accurate, dt=0.1)
    e0, rate0 = kt.control.tracking_error(model, q0, v0, *reference(0.0))
    eye = np.eye(model.nv)
    A = np.block([[np.zeros_like(eye), eye], [-9.0 * eye, -2.0 * eye]])
    for t, q, v in zip(run.time, run.q, run.v, strict=True):
        found = np.concatenate(kt.control.tracking_error(model, q, v, *reference(t)))
        assert np.abs(found - expm(t * A) @ np.concatenate((e0, rate0))).max() < 1e-7


def test_references_are_arrays_functions_and_runs():
    """All of one motion give the same torque; a run rests before its start and after its end."""
    arm = kt.models.double_pendulum()
    swing = kt.identify.FourierTrajectory(2.0, [0.1, 0.0], [[0.3], [0.2]], [[0.1], [0.2]])
    q0, v0, _ = swing(0.0)
    ideal = kt.control.ComputedTorque(arm, swing, kp=100.0)
    run = kt.simulate(arm, q0, v0, duration=0.5, dt=1e-3, integrator="rk4", controller=ideal)
    again = dataclasses.replace(ideal, reference=run)
    q, v = np.array([0.2, 0.3]), np.array([0.5, -0.5])
    assert np.allclose(again(0.2, q, v), ideal(0.2, q, v), rtol=2e-2)  # the run has the steps of its controller
    q_s, v_s = run.state(0.2)
    assert np.allclose(again.reference(0.2)[0], q_s) and np.allclose(again.reference(0.2)[1], v_s)
    still = dataclasses.replace(ideal, reference=run.q[-1])
    assert np.array_equal(still(0.0, q, v), again(9.0, q, v))
    assert np.array_equal(dataclasses.replace(ideal, reference=lambda t: run.q[-1])(0.0, q, v), still(0.0, q, v))


def test_controllers_are_frozen_and_can_be_pickled():
    """A copy in another process gives the same bits; fields cannot be assigned, arrays not written to."""
    arm = kt.models.double_pendulum()
    q, v = np.array([0.2, 0.3]), np.array([0.5, -0.5])
    for controller in (
        kt.control.ComputedTorque(arm, [0.1, 0.2], kp=10.0),
        kt.control.PDGravityCompensation(arm, [0.1, 0.2], kp=[10.0, 5.0], kd=1.0),
        kt.control.JointImpedance(arm, [0.1, 0.2], stiffness=np.diag([5.0, 4.0]), damping=1.0, inertia=2.0),
    ):
        assert np.array_equal(pickle.loads(pickle.dumps(controller))(0.0, q, v), controller(0.0, q, v))
        with pytest.raises(dataclasses.FrozenInstanceError):
            controller.model = None
        with pytest.raises(ValueError, match="read-only"):
            controller.reference.source[0] = 1.0


def test_shaped_inertia_gives_the_stated_impedance():
    """inertia e'' + damping e' + stiffness e = 0 with matrices that do not commute."""
    _, model, q, v, q_d, v_d, a_d, K, D = case(3)
    inertia = np.diag(np.linspace(1.0, 2.0, model.nv))
    shaped = kt.control.JointImpedance(model, lambda t: (q_d, v_d, a_d), K, D, inertia)
    gains = np.linalg.solve(inertia, K), np.linalg.solve(inertia, D)
    expected = kt.control.computed_torque(model, q, v, q_d, v_d, a_d, *gains)
    assert np.allclose(shaped(0.0, q, v), expected, rtol=1e-12)


def test_forces_are_cut_to_their_bounds():
    """At the bounds of the model, and at given ones, which other joints do not have."""
    arm = kt.models.double_pendulum().replace(effort_limit=3.0)
    q, v = np.array([0.0, 0.0]), np.zeros(2)
    free = kt.control.ComputedTorque(arm, [2.0, -2.0], kp=100.0)
    assert np.abs(free(0.0, q, v)).max() > 10.0
    cut = dataclasses.replace(free, effort_limit="model")
    assert np.array_equal(cut(0.0, q, v), np.clip(free(0.0, q, v), -3.0, 3.0))
    one = dataclasses.replace(free, effort_limit={"elbow": 1.0})
    assert np.array_equal(one(0.0, q, v), np.clip(free(0.0, q, v), [-np.inf, -1.0], [np.inf, 1.0]))


def test_couplings_and_springs_are_part_of_the_model():
    """A coupled joint follows its master: the error of the master obeys its equation, with springs in the joints."""
    b = kt.ModelBuilder("gripper")
    for name in ("left", "right"):
        rail = kt.joints.Prismatic((1, 0, 0))
        b.add_body(name, joint=rail, joint_name=name, mass=0.5, inertia=1e-3 * np.eye(3), stiffness=3.0)
    b.add_coupling("right", "left", ratio=-1.0)
    model = b.build()
    controller = kt.control.ComputedTorque(model, [0.1, -0.1], kp=25.0, kd=10.0)
    tau = controller(0.0, np.array([0.02, -0.02]), np.array([0.3, -0.3]))
    a = kt.forward_dynamics(model, [0.02, -0.02], [0.3, -0.3], tau)
    assert np.allclose(a, (25.0 * 0.08 - 10.0 * 0.3) * np.array([1.0, -1.0]), rtol=1e-12)
    holding = kt.control.PDGravityCompensation(model, [0.02, -0.02], kp=25.0, kd=10.0)
    assert np.allclose(kt.forward_dynamics(model, [0.02, -0.02], [0, 0], holding(0.0, [0.02, -0.02], [0, 0])), 0.0)


ARM = kt.models.double_pendulum()


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: kt.control.ComputedTorque(ARM, [0, 0], kp=-1.0), ArgumentError, "eigenvalue -1, expected a positive"),
        (lambda: kt.control.ComputedTorque(ARM, [0, 0], kp=[1.0, 2.0, 3.0]), ArgumentError, r"\(2,\) or \(2, 2\)"),
        (lambda: kt.control.ComputedTorque(ARM, [0, 0], kp=[[1, 1], [0, 1]]), ArgumentError, "symmetric"),
        (lambda: kt.control.ComputedTorque(ARM, [0, 0], kp={"elbow": 1.0}), ArgumentError, "no entry for joint"),
        (lambda: kt.control.ComputedTorque(ARM, [0, 0, 0], kp=1.0), ShapeError, r"shape \(3,\), expected \(2,\)"),
        (lambda: kt.control.ComputedTorque(ARM, [0, np.nan], kp=1.0), ArgumentError, "finite"),
        (lambda: kt.control.ComputedTorque(ARM, lambda t: ([0, 0], [0]), kp=1.0)(0.5, [0, 0], [0, 0]), ShapeError,
         r"for v at t = 0.5 s has shape \(1,\)"),
        (lambda: kt.control.PDGravityCompensation(ARM, [0, 0], kp=1.0, kd=0.0), ArgumentError, "the eigenvalue 0"),
        (lambda: kt.control.JointImpedance(ARM, [0, 0], 1.0, 1.0, effort_limit=0.0), ArgumentError, "positive"),
    ],
)  # fmt: skip
def test_errors_name_the_gain_and_the_reference(make, error, message):
    """Signs, shapes and symmetry of gains; shapes of references, when the controller is made or called."""
    with pytest.raises(error, match=message):
        make()


def test_a_pendulum_settles_with_the_weight_compensated():
    """PD alone would sag by m g l sin(q) / kp; with the weight compensated the reference is reached."""
    model = pendulum()
    controller = kt.control.PDGravityCompensation(model, [1.0], kp=20.0, kd=10.0)
    run = kt.simulate(model, [0.0], duration=8.0, dt=0.01, controller=controller)
    assert abs(run.q[-1, 0] - 1.0) < 1e-3
