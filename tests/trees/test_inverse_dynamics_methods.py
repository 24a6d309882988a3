"""Inverse dynamics by several methods: body and absolute coordinates, vectors of three, parts, finite differences."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.algorithms.rnea import rnea
from kinetree.compiler.calls import public_call
from kinetree.model.planar import PlanarModel
from kinetree.textbook.absolute_coordinates import rnea_world
from kinetree.textbook.newton_euler_equations import newton_euler
from tests.engines.pinocchio_bridge import Bridge, pinocchio_model
from tests.engines.robots import robot_path
from tests.identities.systems import along, close, state

METHODS = ("rnea_world", "newton_euler")


@pytest.fixture
def interpreted_source():
    with kt.interpreted():
        yield


def case(seed: int, bodies: int = 8):
    """A random tree of all kinds of joints, a state and external wrenches."""
    model = kt.models.random_tree(bodies, seed=200 + seed, floating=seed % 3 == 0)
    return model, *state(model, seed), np.random.default_rng(seed).standard_normal((model.nb, 6))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.seeds(20)
@pytest.mark.usefixtures("interpreted_source")
def test_methods_agree(seed, method):
    """The same joint forces, with gravity, external wrenches, armature and joints of every kind."""
    model, q, v, a, _, f_ext = case(seed)
    close(public_call(method)(model, q, v, a, f_ext), kt.rnea(model, q, v, a, f_ext))


@pytest.mark.sweep
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.usefixtures("interpreted_source")
def test_methods_agree_on_a_thousand_trees(method):
    """The same, to 1e-9 relative, on 1000 trees."""
    for seed in range(1000):
        model, q, v, a, _, f_ext = case(1000 + seed, 4 + seed % 9)
        expected = kt.rnea(model, q, v, a, f_ext)
        error = np.max(np.abs(public_call(method)(model, q, v, a, f_ext) - expected), initial=0.0)
        assert error <= 1e-9 * np.max(np.abs(expected), initial=1.0), f"seed {seed}"


@pytest.mark.parametrize("method", METHODS)
def test_methods_agree_on_batches_compiled(method):
    """Compiled, for a robot with a free base and branches."""
    model, rng = kt.load("quadruped", floating_base=True), np.random.default_rng(0)
    q = np.array([model.random_q(rng) for _ in range(20)])
    v, a = rng.standard_normal((2, 20, model.nv))
    close(public_call(method)(model, q, v, a), kt.rnea(model, q, v, a))


@pytest.mark.parametrize("method", [rnea_world, newton_euler])
def test_methods_run_on_planar_models(method):
    """The planar algebra and the spatial one give the same joint forces of a planar arm."""
    model, rng = kt.models.zigzag_arm(5).replace(gravity=(1.0, -9.0, 0.0)), np.random.default_rng(1)
    q, v, a = rng.standard_normal((3, 5)).tolist()
    f_ext = rng.standard_normal((model.nb, 6)).tolist()
    close(method(PlanarModel(model), q, v, a, f_ext), rnea(model, q, v, a, f_ext))


@pytest.mark.seeds(10)
@pytest.mark.usefixtures("interpreted_source")
def test_gravity_is_an_external_force(seed):
    """Weight as a wrench on every body gives what the accelerated base gives (section 5.3)."""
    model, q, v, a, _, f_ext = case(seed)
    weightless = model.replace(gravity=(0.0, 0.0, 0.0))
    R_WB, p_WB = kt.forward_kinematics(model, q)
    g = np.array(list(model.gravity))
    for i in model.outward():
        h = R_WB[i] @ list(model.I[i].h) + model.I[i].m * p_WB[i]  # first moment about the world's origin
        f_ext[i] = [*np.cross(h, g), *(model.I[i].m * g)]
    for method in (kt.rnea, kt.textbook.rnea_world, kt.textbook.newton_euler):
        close(method(weightless, q, v, a, f_ext), kt.rnea(model, q, v, a))


# Far from the origin -----------------------------------------------------------------------------------------------


def test_absolute_coordinates_lose_digits_far_away():
    """A chain 1 km from the world's origin: body coordinates keep their digits, absolute ones lose the square."""
    near = kt.models.chain_gu(6)
    rng = np.random.default_rng(2)
    q, v, a = rng.standard_normal((3, 6))
    X = near.X_T[1]
    moved = type(X)(X.E, type(X.r)(X.r.x + 1000.0, X.r.y, X.r.z))
    far = near.replace(X_T=(near.X_T[0], moved, *near.X_T[2:]))
    with kt.interpreted():
        exact = kt.rnea(near, q, v, a)
        size = np.abs(exact).max()
        assert np.abs(kt.rnea(far, q, v, a) - exact).max() < 1e-13 * size
        error = np.abs(kt.textbook.rnea_world(far, q, v, a) - exact).max()
    assert 1e-13 * size < error < 1e3**2 * 1e-14 * size


# Parts ---------------------------------------------------------------------------------------------------------------


@pytest.mark.seeds(20)
@pytest.mark.usefixtures("interpreted_source")
def test_parts_add_up(seed):
    """Gravity, Coriolis, inertial and external forces are the whole, and each is what its name says."""
    model, q, v, a, _, f_ext = case(seed)
    gravity, coriolis = kt.gravity_forces(model, q), kt.dynamics.coriolis_forces(model, q, v)
    inertial, external = kt.dynamics.inertial_forces(model, q, a), kt.dynamics.external_forces(model, q, f_ext)
    close(gravity + coriolis + inertial + external, kt.rnea(model, q, v, a, f_ext))
    close(coriolis, kt.coriolis_matrix(model, q, v) @ v)
    close(inertial, kt.crba(model, q) @ a)
    close(external, kt.bias_forces(model, q, v, f_ext) - kt.bias_forces(model, q, v))


@pytest.mark.seeds(10)
@pytest.mark.usefixtures("interpreted_source")
def test_inertial_forces_do_not_depend_on_gravity_and_are_linear(seed):
    """ID_delta depends on q alone: linear in the acceleration, blind to gravity (table 6.1)."""
    model, q, v, a, _, _ = case(seed)
    weightless = model.replace(gravity=(0.0, 0.0, 0.0))
    assert np.array_equal(kt.dynamics.inertial_forces(weightless, q, a), kt.dynamics.inertial_forces(model, q, a))
    found = kt.dynamics.inertial_forces(model, q, 2.0 * a - v)
    close(found, 2.0 * kt.dynamics.inertial_forces(model, q, a) - kt.dynamics.inertial_forces(model, q, v))
    close(kt.dynamics.coriolis_forces(weightless, q, -2.0 * v), 4.0 * kt.dynamics.coriolis_forces(model, q, v))


@pytest.mark.seeds(6)
@pytest.mark.usefixtures("interpreted_source")
def test_coriolis_forces_are_christoffel_symbols_of_the_mass_matrix(seed):
    """By differences of M alone: c_k = (dM/dt v)_k - v . (dM/dq_k v) / 2, on joints whose v is dq/dt (eq. 5.6)."""
    pool = [kt.joints.Revolute(), kt.joints.Prismatic((0, 1, 0)), kt.joints.Helical((1, 0, 0), 0.3)]
    model = kt.models.random_tree(5, seed=seed, joints=pool)
    q, v, _, _ = state(model, seed)
    h, units = 1e-3, np.eye(model.nv)

    def rate(w):  # fourth-order differences of M along w: errors of h^4 and eps / h
        M = [kt.crba(model, q + k * h * w) for k in (-2, -1, 1, 2)]
        return (M[0] - 8.0 * M[1] + 8.0 * M[2] - M[3]) / (12.0 * h)

    c = rate(v) @ v - np.array([v @ rate(e) @ v for e in units]) / 2.0
    found = kt.dynamics.coriolis_forces(model, q, v)
    np.testing.assert_allclose(found, c, rtol=0.0, atol=1e-10 * max(1.0, np.abs(c).max()) + 1e-10)


@pytest.mark.parametrize("robot", ["ur5", "solo12"])
def test_parts_are_those_of_pinocchio(robot):
    """Generalized gravity, static torque, Coriolis forces and M a, on robots of the package example-robot-data."""
    import pinocchio as pin

    file = robot_path(robot)
    model = kt.load(file, floating_base=robot != "ur5", inertia="accept")
    bridge = Bridge(model, pinocchio_model(file, robot != "ur5"))
    q, v, a = (x[0] for x in bridge.random_state(np.random.default_rng(4), (1,))[:3])
    theirs, data, order = bridge.pin_model, bridge.data, bridge._pin_of_v
    q_pin, back = bridge.q_to_pin(q), bridge._v_of_pin
    close(kt.gravity_forces(model, q), pin.computeGeneralizedGravity(theirs, data, q_pin)[order])
    M = pin.crba(theirs, data, q_pin)
    M = np.triu(M) + np.triu(M, 1).T
    close(kt.dynamics.inertial_forces(model, q, a), (M @ a[back])[order])
    theirs = theirs.copy()
    theirs.gravity = pin.Motion.Zero()
    close(kt.dynamics.coriolis_forces(model, q, v), pin.nonLinearEffects(theirs, data, q_pin, v[back])[order])


# Accelerations, true and less gravity --------------------------------------------------------------------------------


@pytest.mark.parametrize("reference", ["local", "world", "local_world_aligned"])
@pytest.mark.parametrize("kind", ["spatial", "classical"])
@pytest.mark.seeds(6)
@pytest.mark.usefixtures("interpreted_source")
def test_offset_is_true_less_gravity(seed, kind, reference):
    """offset = true - a_g in the coordinates of the reference, for bodies, frames and the world itself."""
    model, q, v, a, _, _ = case(seed)
    R_WB, _ = kt.forward_kinematics(model, q)
    g = np.array(list(model.gravity))
    a_g = np.zeros((model.nb, 6))
    a_g[:, 3:] = np.einsum("nji,j->ni", R_WB, g) if reference == "local" else g
    true = kt.kinematics.body_accelerations(model, q, v, a, reference=reference, kind=kind)
    offset = kt.kinematics.body_accelerations(model, q, v, a, reference=reference, kind=f"{kind}_offset")
    close(offset, true - a_g)
    close(
        kt.kinematics.frame_accelerations(model, q, v, a, reference=reference, kind=f"{kind}_offset")[: model.nb],
        offset,
    )
    last = kt.acceleration(model, q, v, a, frame=model.body_names[-1], reference=reference, kind=f"{kind}_offset")
    close(last, offset[-1])


def test_an_accelerometer_in_free_fall_shows_nothing():
    """A free body without forces: the true acceleration is gravity, the offset one is zero."""
    model = kt.models.free_body()
    q, v = model.neutral(), np.zeros(6)
    a = kt.aba(model, q, v, np.zeros(6))
    shown = {"frame": "body", "reference": "local"}
    np.testing.assert_allclose(kt.acceleration(model, q, v, a, kind="classical", **shown)[3:], [0, 0, -9.81])
    np.testing.assert_allclose(kt.acceleration(model, q, v, a, kind="classical_offset", **shown), 0.0, atol=1e-15)


def test_an_accelerometer_at_rest_shows_minus_gravity():
    """Hanging still, it shows 9.81 m/s^2 upward."""
    model = kt.models.pendulum()
    shown = kt.acceleration(model, [0.0], [0.0], [0.0], frame="bob", reference="local", kind="classical_offset")
    np.testing.assert_allclose(shown, [0.0, 0.0, 0.0, 0.0, 0.0, 9.81], atol=1e-15)


def test_the_true_acceleration_is_the_rate_of_the_twist():
    """The true spatial acceleration in world coordinates is the derivative of the twist along the motion."""
    model, q, v, a, _, _ = case(5)
    with kt.interpreted():
        A = kt.kinematics.body_accelerations(model, q, v, a, reference="world", kind="spatial")
        V = along(model, q, v, lambda q: kt.kinematics.body_velocities(model, q, v, reference="world"))
        linear = kt.kinematics.body_velocities(model, q, a, reference="world")
    np.testing.assert_allclose(A, V + linear, rtol=0.0, atol=1e-9 * np.abs(A).max())
