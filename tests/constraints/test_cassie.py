"""The robot Cassie with the gearboxes and springs of its file: six loops; some rows follow but for its decimals."""

import importlib.metadata

import numpy as np
import pytest

import kinetree as kt
from kinetree.algorithms.constraint_rows import constraint_error

FOLDER = "cmeel.prefix/share/example-robot-data/robots/cassie_description/robots"
EXCHANGED = 1.65  # [J] that the legs of the hanging robot exchange in a second


@pytest.fixture(scope="module")
def cassie():
    path = importlib.metadata.distribution("example-robot-data").locate_file(f"{FOLDER}/cassie.sdf")
    return kt.load(path, inertia="project")


@pytest.fixture(scope="module")
def hanging(cassie):
    """Its pelvis is held, so that gravity moves the legs."""
    return kt.surgery.lock(cassie, {"root_joint": cassie.keyframe("initial")[0][:7]})


def solved(model):
    """The rows that are solved for, and those that these imply exactly."""
    return [n for n in range(model.nc) if n not in model.loop_rows().inexact]


def gaps(model, positions):
    """The largest errors of these rows [m or rad]."""
    return [np.abs(np.array(constraint_error(model, q.tolist()))[solved(model)]).max() for q in positions]


def test_the_default_run_is_accurate(hanging):
    """2 ms: springs and stops are resolved where light rods move with what they drive, so the method is of order 4."""
    run = kt.simulate(hanging, duration=1.0, dt=2e-3)
    assert run.integrator == "rk4" and np.abs(run.v).max() > 10.0
    assert max(gaps(hanging, run.q[::25])) < 1e-10
    assert np.abs(run.energy_balance.remainder).max() < 1e-5 * EXCHANGED


def test_stops_that_are_added_brake_the_closed_mechanism(hanging):
    """Critically damped along each joint of the closed mechanism: 1/k is 400 times what a unit force accelerates it."""
    bare = hanging.without_limits().replace(damping=0.0, stiffness=0.0)
    run = kt.Simulation(hanging, dt=2e-3)  # compiled by the run above
    still = np.zeros(hanging.nv)
    for joint in ("left-foot-op", "right-knee-op"):
        k = hanging.v_index(joint).start
        push = np.eye(hanging.nv)[k]
        with kt.interpreted():
            mobility = np.subtract(*(kt.forward_dynamics(bare, run.q, still, force)[k] for force in (push, still)))
        assert float(run.model.limit_stiffness[k]) * mobility == pytest.approx(50.0**2, rel=1e-6)


def test_the_assembled_robot_stands_where_its_file_puts_it(cassie):
    """Only the foot linkages move into their limits, with motors at 50 times their angle; both legs alike."""
    q = kt.assemble(cassie)
    start = cassie.keyframe("initial")[0]
    moved = {cassie.joint_name(i) for i in cassie.outward() if np.abs((q - start)[cassie.q_slice[i]]).max() > 1e-2}
    assert moved == {f"{side}-{joint}" for side in ("left", "right")
                     for joint in ("tarsus-crank-joint", "crank-rod-joint", "foot-ip", "foot-op")}  # fmt: skip
    assert max(gaps(cassie, [q])) < 1e-12 and q[cassie.q_index("left-foot-ip")] > 35.0


def test_assembled_velocities_keep_all_18_freedoms(cassie):
    """The nearest consistent ones in the metric of M; rows that follow from others but for decimals hold no motion."""
    q, wish = kt.assemble(cassie), np.random.default_rng(3).standard_normal(cassie.nv)
    G, M = kt.closed_loops.null_space(cassie, q), kt.crba(cassie, q)
    nearest = G @ np.linalg.solve(G.T @ M @ G, G.T @ M @ wish)
    assert cassie.ny == 18 and kt.assemble(cassie, q, v=wish).v == pytest.approx(nearest, abs=1e-8)


@pytest.fixture(scope="module")
def wild(cassie):
    """Without limits: a closed state far from that of the file, forces, and their accelerations."""
    model, rng = cassie.without_limits(), np.random.default_rng(0)
    guess = kt.integrate(model, kt.assemble(cassie), 0.3 * rng.standard_normal(model.nv))
    q, v = kt.assemble(model, guess, v=rng.standard_normal(model.nv))
    tau = 10.0 * rng.standard_normal(model.nv)
    return model, q, v, tau, kt.forward_dynamics(model, q, v, tau)


@pytest.mark.parametrize("method", ["dense", "null_space"])
def test_other_methods_give_these_accelerations(wild, method):
    """The whole saddle-point matrix, and as many equations as there are freedoms."""
    model, q, v, tau, a = wild
    assert kt.forward_dynamics(model, q, v, tau, method=method) == pytest.approx(a, abs=1e-9 * np.abs(a).max())


def test_torques_of_its_accelerations(wild):
    """Rows left out are broken by rounding, which is no error; the torques have the same effect."""
    model, q, v, tau, a = wild
    found, G = kt.inverse_dynamics(model, q, v, a), kt.closed_loops.null_space(model, q)
    scale = np.abs(G.T @ kt.rnea(model, q, v, a)).max()
    np.testing.assert_allclose(G.T @ found, G.T @ tau, atol=1e-10 * scale)
    assert np.linalg.norm(found) < np.linalg.norm(tau)
    with pytest.raises(kt.errors.ConstraintError, match="no forces cause it"):
        kt.inverse_dynamics(model, q, v, a + np.eye(model.nv)[model.v_index("left-foot-op").start])


def test_motors_and_what_they_cannot_cause(wild):
    """Ten motors, and forces on the pelvis: sixteen of eighteen freedoms, without internal forces; springs move two."""
    model, q, v, tau, a = wild
    motors = [name for name in model.joint_names if name.endswith("-ip")]
    family = kt.closed_loops.torque_family(model, q, v, a, actuated=["root_joint", *motors])
    assert (family.actuation, family.lacking, family.null_space.shape[1]) == ("underactuated", 2, 0)
    report = kt.closed_loops.mobility(model, q, actuated=motors)
    assert (report.mobility, report.rank, report.uncontrolled, report.internal_forces) == (18, 26, 8, 0)


def test_hybrid_dynamics_find_the_springs_and_the_pelvis(wild):
    """From the accelerations of the motors alone: the others are the same, and the torques have the same effect."""
    model, q, v, tau, a = wild
    passive = [name for name in model.joint_names if not name.endswith(("-ip", "-op"))]
    known = np.zeros(model.nv)
    for name in set(model.joint_names) - set(passive):
        known[model.v_index(name)] = a[model.v_index(name)]
    found, torques = kt.hybrid_dynamics(model, q, v, tau, known, forward=passive)
    G = kt.closed_loops.null_space(model, q)
    assert found == pytest.approx(a, abs=1e-9 * np.abs(a).max())
    np.testing.assert_allclose(G.T @ torques, G.T @ tau, atol=1e-9 * np.abs(G.T @ kt.rnea(model, q, v, a)).max())


def test_rollouts_keep_fast_legs_closed():
    """Rods at 30 rad/s, 1 ms: steps leave gaps that one chord step closes to 3e-13 m, and two to rounding."""
    path = importlib.metadata.distribution("example-robot-data").locate_file(f"{FOLDER}/cassie_v2.sdf")
    limited, rng = kt.load(path).replace(damping=0.0), np.random.default_rng(1)
    q, model = kt.assemble(limited), limited.without_limits()
    v = np.array([kt.closed_loops.project_velocity(model, q, 4.0 * x) for x in rng.standard_normal((64, model.nv))])
    Q, V = kt.rollout(model, np.tile(q, (64, 1)), v, None, 1e-3, steps=10, integrator="rk4")
    assert np.abs(V).max() > 30.0 and np.ptp(Q[:, :, 7:], axis=1).max() > 0.1
    assert np.abs(kt.closed_loops.error(model, Q)[..., solved(model)]).max() < 1e-14


@pytest.fixture(scope="module")
def at_rest(hanging):
    """The robot with its stops after five minutes, and the position in which it hangs: yaw is damped for long."""
    run = kt.simulate(hanging, duration=300.0, dt=2e-3, record=kt.Record(every=1000))
    assert np.abs(run.v[-1]).max() < 1e-5
    return run.model, run.q[-1]


@pytest.mark.sweep
def test_small_motions_about_its_equilibrium(at_rest):
    """Linearized: stable, and as the run moves after a push."""
    model, q = at_rest
    motors = [name for name in model.joint_names if name.endswith("-ip")]
    found = kt.closed_loops.linearize(model, q, actuated=motors)
    assert found.A.shape == (24, 24) and found.B.shape == (24, 10)
    assert np.abs(found.tau).max() < 1e-3 and np.linalg.eigvals(found.A).real.max() < 0.0
    push, n = 1e-5 * np.random.default_rng(1).standard_normal(12), model.ny
    run = kt.simulate(model, q, found.G @ push, duration=0.1, dt=2.5e-4, controller=lambda t, q, v: found.tau)
    step = sum_of_powers(found.A * 0.1)
    y = [model.velocity_labels.index(name) for name in found.states]
    assert run.v[-1][y] == pytest.approx((step @ np.concatenate([np.zeros(n), push]))[n:], abs=1e-10)


def sum_of_powers(A):
    """exp(A), by squaring."""
    term = total = np.eye(len(A))
    for k in range(1, 14):
        term = term @ (A / 1024.0) / k
        total = total + term
    return np.linalg.matrix_power(total, 1024)
