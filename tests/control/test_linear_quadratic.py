"""Linear quadratic regulators against closed forms, SciPy and finite differences, on manifolds and closed loops."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import expm, solve_continuous_are, solve_discrete_are

import kinetree as kt
from kinetree.errors import ArgumentError, SimulationError, UnknownNameError, UnsupportedError

CART = kt.models.cart_pole()
ARM = kt.models.double_pendulum()


def differences(model, q, v, tau, h=1e-5):
    """A and B of the state (difference(q, .), v) by central differences of forward dynamics."""
    nv = model.nv

    def rate(x, u):
        return kt.forward_dynamics(model, kt.integrate(model, q, x[:nv]), v + x[nv:], tau + u)

    columns = [(rate(e, 0.0) - rate(-e, 0.0)) / (2.0 * h) for e in h * np.eye(2 * nv)]
    inputs = [(rate(np.zeros(2 * nv), e) - rate(np.zeros(2 * nv), -e)) / (2.0 * h) for e in h * np.eye(nv)]
    A = np.block([[np.zeros((nv, nv)), np.eye(nv)], [np.array(columns).T]])
    return A, np.concatenate((np.zeros((nv, nv)), np.array(inputs).T))


def test_cart_pole_against_its_textbook_equations():
    """A and B of the upright pole in closed form; the gain by Riccati's equation of SciPy with these."""
    M, m, length, g = 1.0, 0.1, 0.5, 9.81
    A = np.zeros((4, 4))
    A[:2, 2:] = np.eye(2)
    A[2, 1], A[3, 1] = -m * g / M, (M + m) * g / (M * length)
    B = np.array([[0.0], [0.0], [1.0 / M], [-1.0 / (M * length)]])
    found = kt.control.lqr(CART, [0.0, 0.0], Q=[1.0, 2.0, 0.5, 0.5], R=0.1, actuated="slider")
    assert np.allclose(found.A, A, atol=1e-12) and np.allclose(found.B, B, atol=1e-12)
    P = solve_continuous_are(A, B, np.diag([1.0, 2.0, 0.5, 0.5]), [[0.1]])
    assert np.allclose(found.K[0], 10.0 * B.T @ P, rtol=1e-9) and not found.K[1].any()
    assert np.allclose(np.sort_complex(found.poles), np.sort_complex(np.linalg.eigvals(A - B @ found.K[:1])), rtol=1e-9)


def test_cart_pole_is_balanced_from_a_large_angle():
    """The cost of the run is that of the Riccati matrix for a small start; a large one is caught as well."""
    balance = kt.control.lqr(CART, [0.0, 0.0], Q=1.0, R=0.1, actuated="slider")
    accurate = kt.integrators.Adaptive("dop853", rtol=1e-9, atol=1e-12)
    run = kt.simulate(CART, [0.0, 1e-3], duration=12.0, dt=2.5e-3, controller=balance, integrator=accurate)
    x = np.concatenate((run.q, run.v), axis=1)
    cost = np.trapezoid((x**2).sum(axis=1) + 0.1 * (run.tau[:, 0] ** 2), run.time)
    assert np.isclose(cost, x[0] @ balance.cost @ x[0], rtol=2e-4, atol=0.0)
    far = kt.simulate(CART, [0.0, 0.5], duration=10.0, controller=balance)
    assert np.abs(far.q[-1]).max() < 1e-3


@pytest.mark.parametrize("actuated", [None, "shoulder", "elbow"])
def test_double_pendulum_upright(actuated):
    """Both joints, or one of them (Pendubot, Acrobot): derivatives by differences, stable, and caught when released."""
    q = np.array([np.pi, 0.0])
    found = kt.control.lqr(ARM, q, Q=1.0, R=1.0, actuated=actuated)
    A, B = differences(ARM, q, np.zeros(2), np.zeros(2))
    columns = {None: [0, 1], "shoulder": [0], "elbow": [1]}[actuated]
    assert np.allclose(found.A, A, atol=1e-7) and np.allclose(found.B, B[:, columns], atol=1e-7)
    assert found.poles.real.max() < 0.0
    run = kt.simulate(ARM, q + [0.02, -0.02], duration=8.0, controller=found)
    assert np.abs(run.q[-1] - q).max() < 1e-3


def test_forces_of_an_equilibrium_that_is_not_at_zero_force():
    """A pose held against gravity: the forces are found, and the closed loop rests there."""
    q = np.array([0.7, -0.3])
    found = kt.control.lqr(ARM, q, Q=10.0, R=1.0)
    assert np.allclose(found.tau0, kt.gravity_forces(ARM, q), rtol=1e-9)
    assert np.allclose(found(3.0, q, np.zeros(2)), found.tau0)


def test_digital_regulator():
    """The sampled system is that of expm, the gain that of the discrete equation; stable with a coarse hold."""
    dt = 0.05
    found = kt.control.lqr(CART, [0.0, 0.0], Q=1.0, R=0.1, actuated="slider", dt=dt)
    continuous = kt.control.lqr(CART, [0.0, 0.0], Q=1.0, R=0.1, actuated="slider")
    whole = expm(dt * np.block([[continuous.A, continuous.B], [np.zeros((1, 5))]]))
    A, B = whole[:4, :4], whole[:4, 4:]
    P = solve_discrete_are(A, B, np.eye(4), [[0.1]])
    K = np.linalg.solve(0.1 + B.T @ P @ B, B.T @ P @ A)
    assert np.allclose(found.A, A) and np.allclose(found.K[:1], K, rtol=1e-8)
    assert np.abs(found.poles).max() < 1.0
    run = kt.simulate(CART, [0.0, 0.2], duration=8.0, controller=kt.control.Sampled(found, dt))
    assert np.abs(run.q[-1]).max() < 1e-3
    # One period of the simulation is one step of the sampled system, to second order in the state.
    start = np.array([1e-4, 2e-4, 0.0, 0.0])
    held = kt.control.Sampled(found, dt)
    step = kt.simulate(CART, start[:2], duration=dt, dt=dt / 50, integrator="rk4", controller=held)
    ahead = np.concatenate((step.q[-1], step.v[-1]))
    assert np.allclose(ahead, (A - B @ K) @ start, rtol=0.0, atol=1e-9)


def ball():
    """A pole on a ball joint: the coordinates are a quaternion and three angular velocities."""
    b = kt.ModelBuilder("ball")
    b.add_body("pole", joint=kt.joints.Spherical(), mass=1.0, com=(0.0, 0.0, 0.5), inertia=np.diag([0.1, 0.12, 0.02]))
    return b.build()


def test_a_pole_on_a_ball_joint():
    """The state is one of the tangent space, of 6 entries; the regulator turns the pole upright from 0.6 rad."""
    model = ball()
    found = kt.control.lqr(model, model.neutral(), Q=1.0, R=0.1)
    A, B = differences(model, model.neutral(), np.zeros(3), np.zeros(3))
    assert np.allclose(found.A, A, atol=1e-7) and np.allclose(found.B, B, atol=1e-7)
    start = kt.integrate(model, model.neutral(), [0.5, -0.3, 0.4])
    run = kt.simulate(model, start, duration=8.0, controller=found)
    assert np.abs(kt.difference(model, model.neutral(), run.q[-1])).max() < 1e-3


def test_a_joint_that_turns_on():
    """About a steady spin the reference turns on; the error of a free body in spin decays."""
    b = kt.ModelBuilder("top")
    b.add_body("top", joint=kt.joints.Spherical(), mass=1.0, inertia=np.diag([0.1, 0.1, 0.2]))
    model, spin = b.build(), np.array([0.0, 0.0, 3.0])
    found = kt.control.lqr(model, model.neutral(), spin, Q=4.0, R=0.1)
    assert np.allclose(found.A[:3, :3], [[0, 3, 0], [-3, 0, 0], [0, 0, 0]], atol=1e-12)  # -[spin x]
    h = 1e-6
    for k, e in enumerate(h * np.eye(3)):  # the rate of a small step under the same velocity
        ahead = kt.integrate(model, kt.integrate(model, model.neutral(), e), 0.01 * spin)
        step = kt.difference(model, kt.integrate(model, model.neutral(), 0.01 * spin), ahead)
        assert np.allclose(step / h, expm(0.01 * found.A[:3, :3])[:, k], atol=1e-6)
    start = kt.integrate(model, model.neutral(), [0.3, 0.2, -0.3])
    run = kt.simulate(model, start, spin, duration=6.0, controller=found)
    last = kt.integrate(model, model.neutral(), run.time[-1] * spin)
    assert np.abs(kt.difference(model, last, run.q[-1])).max() < 5e-3


def test_closed_loops_have_the_state_of_independent_velocities():
    """A four-bar has one freedom: A and B are those of its reduced equation, and one motor holds it anywhere."""
    model = kt.models.four_bar()
    q, _ = model.keyframe("initial")
    found = kt.control.lqr(model, q, Q=10.0, R=1.0, actuated="crank")
    assert found.A.shape == (2, 2) and found.directions.shape == (3, 1)
    G = kt.closed_loops.null_space(model, q, independent="crank")
    scale = found.directions[0, 0]  # of the crank in the basis
    assert np.allclose(found.directions, G * scale, rtol=1e-9)
    M = kt.closed_loops.reduced_mass_matrix(model, q, independent="crank")[0, 0]
    assert np.isclose(found.B[1, 0] * scale, 1.0 / M, rtol=1e-9)

    def slope(h):  # the crank's acceleration along the closed positions, the force constant
        at = kt.closed_loops.project_position(model, kt.integrate(model, q, h * G[:, 0]))
        return at[0] - q[0], kt.forward_dynamics(model, at, np.zeros(3), found.tau0)[0]

    (ahead, a), (back, b) = slope(1e-4), slope(-1e-4)
    assert np.isclose(found.A[1, 0], (a - b) / (ahead - back), rtol=1e-5)
    start = kt.closed_loops.project_position(model, kt.integrate(model, q, 0.05 * G[:, 0]))
    run = kt.simulate(model, start, duration=5.0, controller=found)
    assert np.abs(run.q[-1] - q).max() < 2e-3


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: kt.control.lqr(ARM, [0.5, 0.0], Q=1.0, R=1.0, actuated="elbow"), SimulationError,
         "no equilibrium: with any forces of the actuated joints joint 'shoulder' accelerates"),
        (lambda: kt.control.lqr(ARM, [0.5, 0.0], tau=[0, 0], Q=1.0, R=1.0), SimulationError, "with the forces tau"),
        (lambda: kt.control.lqr(kt.models.free_body(gravity=(0, 0, 0)), kt.models.free_body().neutral(), Q=0.0, R=1.0),
         SimulationError, "Q has to weight every motion"),
        (lambda: kt.control.lqr(CART, [0, 0], Q=1.0, R=0.0, actuated="slider"), ArgumentError, "lqr: R has"),
        (lambda: kt.control.lqr(CART, [0, 0], Q=[1.0, 1.0], R=1.0), ArgumentError, r"\(4,\) or \(4, 4\)"),
        (lambda: kt.control.lqr(CART, [0, 0], Q=1.0, R=1.0, actuated="sled"), UnknownNameError, "slider"),
        (lambda: kt.control.lqr(CART, [0, 0], Q=1.0, R=1.0, actuated=[]), ArgumentError, "actuated is empty"),
        (lambda: kt.control.lqr(kt.models.four_bar(), kt.models.four_bar().keyframe("initial")[0], [0.1, 0, 0], Q=1.0,
                                R=1.0), UnsupportedError, "at rest"),
    ],
)  # fmt: skip
def test_errors_name_the_misfit(make, error, message):
    """No equilibrium, weights that leave out a motion, wrong shapes and names."""
    with pytest.raises(error, match=message):
        make()


def test_a_motion_without_actuator_is_named():
    """Two carts, of which only one is driven: the other one's position is not stable, and nothing reaches it."""
    b = kt.ModelBuilder("carts")
    for name in ("left", "right"):
        rail = kt.joints.Prismatic((1, 0, 0))
        b.add_body(name, joint=rail, joint_name=name, mass=1.0, inertia=np.eye(3))
    with pytest.raises(SimulationError, match=r"no actuated joint changes .* joint 'right' has the largest part"):
        kt.control.lqr(b.build(), [0.0, 0.0], Q=1.0, R=1.0, actuated="left")
