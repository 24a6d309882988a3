"""The theorems of rigid-body dynamics on random trees with joints of every kind, evaluated by the interpreted source.

That the compiled functions give the same is tested in tests/compile.
"""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from tests.identities.systems import along, close, state, tree

pytestmark = pytest.mark.usefixtures("interpreted_source")


@pytest.fixture
def interpreted_source():
    with kt.interpreted():
        yield


@pytest.mark.seeds(20)
def test_forward_after_inverse_is_the_identity(seed):
    """aba(q, v, rnea(q, v, a)) = a; the error of a solve grows with the condition of M."""
    model = tree(seed)
    q, v, a, _ = state(model, seed)
    tau = kt.rnea(model, q, v, a)
    condition = np.linalg.cond(kt.crba(model, q))
    close(kt.aba(model, q, v, tau), a, scale=condition, ulps=1e3)


@pytest.mark.seeds(20)
def test_inverse_dynamics_is_affine_in_the_acceleration(seed):
    """rnea(q, v, a) = crba(q) a + bias_forces(q, v)."""
    model = tree(seed)
    q, v, a, _ = state(model, seed)
    close(kt.rnea(model, q, v, a), kt.crba(model, q) @ a + kt.bias_forces(model, q, v))


@pytest.mark.seeds(20)
def test_mass_matrix_is_symmetric_positive_definite(seed):
    """M = M^T > 0 at a random position."""
    model = tree(seed)
    q, *_ = state(model, seed)
    M = kt.crba(model, q)
    assert np.array_equal(M, M.T)
    assert np.linalg.eigvalsh(M)[0] > 0.0


@pytest.mark.seeds(20)
def test_mass_matrix_is_zero_where_neither_joint_supports_the_other(seed):
    """M_ij = 0 exactly unless i is an ancestor or a descendant of j (book, section 6.4)."""
    model = tree(seed)
    q, *_ = state(model, seed)
    M = kt.crba(model, q)
    for i in model.outward():
        for j in model.outward():
            if i not in model.support(j) and j not in model.support(i):
                assert not np.any(M[model.v_slice[i], model.v_slice[j]])


@pytest.mark.seeds(20)
def test_mass_matrix_is_the_hessian_of_kinetic_energy(seed):
    """T = v M v / 2, for a random v."""
    model = tree(seed)
    q, v, *_ = state(model, seed)
    close(kt.kinetic_energy(model, q, v), v @ kt.crba(model, q) @ v / 2.0)


@pytest.mark.seeds(20)
def test_bias_forces_split_into_gravity_and_coriolis(seed):
    """bias_forces = gravity_forces + C v."""
    model = tree(seed)
    q, v, *_ = state(model, seed)
    C = kt.coriolis_matrix(model, q, v)
    close(kt.bias_forces(model, q, v), kt.gravity_forces(model, q) + C @ v)


@pytest.mark.seeds(20)
def test_mass_matrix_rate_minus_twice_coriolis_is_skew(seed):
    """dM/dt = C + C^T, along the motion with velocity v (finite differences, error 1e-10 relative)."""
    model = tree(seed)
    q, v, *_ = state(model, seed)
    C = kt.coriolis_matrix(model, q, v)
    rate = along(model, q, v, lambda q: kt.crba(model, q))
    scale = max(1.0, np.max(np.abs(kt.crba(model, q))), np.max(np.abs(C)))
    assert np.max(np.abs(rate - C - C.T)) < 1e-9 * scale


@pytest.mark.seeds(20)
def test_gravity_forces_are_the_gradient_of_potential_energy(seed):
    """g . w = dV/dt along any velocity w (finite differences, error 1e-10 relative)."""
    model = tree(seed)
    q, _, w, _ = state(model, seed)
    rate = along(model, q, w, lambda q: kt.potential_energy(model, q))
    power = kt.gravity_forces(model, q) @ w
    scale = max(1.0, abs(power), abs(float(kt.potential_energy(model, q))))
    assert abs(rate - power) < 1e-9 * scale


@pytest.mark.seeds(20)
def test_power_of_joint_forces_is_the_rate_of_energy(seed):
    """tau . v = d(T + V)/dt along the motion with acceleration a (finite differences)."""
    model = tree(seed)
    q, v, a, _ = state(model, seed)
    h = 2e-4

    def energy(t):
        # q(t) to second order in t about the state: velocity v + a t / 2 over the step, as the group's exponential.
        q_t, v_t = kt.integrate(model, q, t * v + 0.5 * t * t * a), v + t * a
        return float(kt.kinetic_energy(model, q_t, v_t) + kt.potential_energy(model, q_t))

    # Central differences of second order only: q(t) is exact to t^2, so d/dt at t = 0 is exact.
    rate = (energy(h) - energy(-h)) / (2.0 * h)
    finer = (energy(h / 2) - energy(-h / 2)) / h
    rate = (4.0 * finer - rate) / 3.0
    power = kt.rnea(model, q, v, a) @ v
    assert abs(rate - power) < 1e-7 * max(1.0, abs(power), abs(energy(0.0)))


@pytest.mark.seeds(20)
def test_frame_velocity_is_the_jacobian_times_velocity(seed):
    """V = J v in all three references."""
    model = tree(seed)
    q, v, *_ = state(model, seed)
    for frame in model.body_names[1:]:
        for reference in ("local", "world", "local_world_aligned"):
            J = kt.jacobian(model, q, frame=frame, reference=reference)
            close(J @ v, kt.velocity(model, q, v, frame=frame, reference=reference))


@pytest.mark.seeds(20)
def test_jacobian_rate_is_the_derivative_of_the_jacobian(seed):
    """dJ/dt along the motion (finite differences, error 1e-10 relative), in all three references."""
    model = tree(seed)
    q, v, *_ = state(model, seed)
    frame = model.body_names[-1]
    for reference in ("local", "world", "local_world_aligned"):
        rate = along(model, q, v, lambda q, r=reference: kt.jacobian(model, q, frame=frame, reference=r))
        found = kt.kinematics.jacobian_rate(model, q, v, frame=frame, reference=reference)
        assert np.max(np.abs(rate - found)) < 1e-9 * max(1.0, np.max(np.abs(found)))


@pytest.mark.seeds(20)
def test_spatial_acceleration_is_jacobian_rate_and_acceleration(seed):
    """J a + (dJ/dt) v = spatial acceleration, in all three references."""
    model = tree(seed)
    q, v, a, _ = state(model, seed)
    frame = model.body_names[-1]
    for reference in ("local", "world", "local_world_aligned"):
        choice = {"frame": frame, "reference": reference}
        expected = kt.jacobian(model, q, **choice) @ a + kt.kinematics.jacobian_rate(model, q, v, **choice) @ v
        close(kt.acceleration(model, q, v, a, kind="spatial", **choice), expected)


@pytest.mark.seeds(20)
def test_classical_and_spatial_acceleration_differ_by_w_cross_v(seed):
    """At the frame's origin a_classical - a_spatial = w x v (book, eq. 2.48), in local coordinates."""
    model = tree(seed)
    q, v, a, _ = state(model, seed)
    choice = {"frame": model.body_names[-1], "reference": "local"}
    V = kt.velocity(model, q, v, **choice)
    spatial = kt.acceleration(model, q, v, a, kind="spatial", **choice)
    classical = kt.acceleration(model, q, v, a, kind="classical", **choice)
    close(classical[:3], spatial[:3])
    close(classical[3:], spatial[3:] + np.cross(V[:3], V[3:]))


@pytest.mark.seeds(20)
def test_body_quantities_are_frame_quantities(seed):
    """Poses, twists and accelerations of all bodies equal those of the frames of the same names."""
    model = tree(seed)
    q, v, a, _ = state(model, seed)
    R_WB, p_WB = kt.forward_kinematics(model, q)
    for i in range(1, model.nb):
        R, p = kt.pose(model, q, frame=model.body_names[i])
        close(R, R_WB[i])
        close(p, p_WB[i])
    for reference in ("local", "world", "local_world_aligned"):
        V = kt.kinematics.body_velocities(model, q, v, reference=reference)
        A = {
            k: kt.kinematics.body_accelerations(model, q, v, a, reference=reference, kind=k)
            for k in ("spatial", "classical")
        }
        for i in range(1, model.nb):
            choice = {"frame": model.body_names[i], "reference": reference}
            close(V[i], kt.velocity(model, q, v, **choice))
            for kind, values in A.items():
                close(values[i], kt.acceleration(model, q, v, a, kind=kind, **choice))


@pytest.mark.seeds(20)
def test_external_wrenches_act_through_the_jacobian(seed):
    """rnea with external wrenches differs by -J^T f, J in world coordinates about the world's origin."""
    model = tree(seed)
    q, v, a, _ = state(model, seed)
    f_ext = np.random.default_rng(seed).standard_normal((model.nb, 6))
    through = sum(
        kt.jacobian(model, q, frame=model.body_names[i], reference="world").T @ f_ext[i] for i in range(1, model.nb)
    )
    close(kt.rnea(model, q, v, a, f_ext), kt.rnea(model, q, v, a) - through)


@pytest.mark.seeds(20)
def test_gravity_is_a_weight_on_every_body(seed):
    """Gravity as acceleration of the base equals the weight m g at every center of mass (book, section 5.3)."""
    model = tree(seed)
    q, v, a, _ = state(model, seed)
    weightless = model.replace(gravity=(0.0, 0.0, 0.0))
    R_WB, p_WB = kt.forward_kinematics(model, q)
    weights = np.zeros((model.nb, 6))
    for i in range(1, model.nb):
        m, h = model.I[i].m, np.array(list(model.I[i].h))
        force = m * np.array(list(model.gravity))
        moment = np.cross(m * p_WB[i] + R_WB[i] @ h, np.array(list(model.gravity)))
        weights[i] = [*moment, *force]
    close(kt.rnea(weightless, q, v, a, weights), kt.rnea(model, q, v, a))


@pytest.mark.seeds(20)
def test_momentum_rate_equals_total_wrench(seed):
    """dh/dt = total weight + external wrenches + the wrench that the world's joints transmit, for a floating tree.

    A tree on one free joint has no other contact with the world: with tau = 0 at that joint, dh/dt = weight + wrenches.
    (An armature there would be one more contact.)
    """
    model = kt.models.random_tree(5 + seed % 3, seed=seed, floating=True, armature=False)
    q, v, a, tau = state(model, seed)
    tau[:6] = 0.0
    f_ext = np.random.default_rng(seed).standard_normal((model.nb, 6))
    a = kt.aba(model, q, v, tau, f_ext)
    h = 1e-4

    def momentum(t):
        return kt.momentum(model, kt.integrate(model, q, t * v + 0.5 * t * t * a), v + t * a)

    coarse, fine = ((momentum(s) - momentum(-s)) / (2.0 * s) for s in (h, h / 2.0))
    rate = (4.0 * fine - coarse) / 3.0
    g = np.array(list(model.gravity))
    mass = model.total_mass
    weight = np.concatenate([np.cross(mass * kt.center_of_mass(model, q), g), mass * g])
    # Finite differences: second order extrapolated, over accelerations a that may be large.
    assert np.max(np.abs(rate - weight - f_ext[1:].sum(axis=0))) < 1e-6 * max(1.0, np.max(np.abs(a)) ** 2)


@pytest.mark.seeds(20)
def test_centroidal_momentum_matrix_and_its_parts(seed):
    """A v = centroidal momentum; its linear part is mass times the velocity of the center of mass, J_C v."""
    model = tree(seed)
    q, v, *_ = state(model, seed)
    h = kt.centroidal.momentum(model, q, v)
    close(kt.centroidal.momentum_matrix(model, q) @ v, h)
    v_C = kt.centroidal.center_of_mass_velocity(model, q, v)
    close(h[3:], model.total_mass * v_C)
    close(kt.centroidal.center_of_mass_jacobian(model, q) @ v, v_C)
    about_origin = kt.momentum(model, q, v)
    close(about_origin[:3], h[:3] + np.cross(kt.center_of_mass(model, q), h[3:]))


@pytest.mark.seeds(20)
def test_center_of_mass_velocity_is_the_rate_of_its_position(seed):
    """v_C = d p_C / dt (finite differences, error 1e-10 relative)."""
    model = tree(seed)
    q, v, *_ = state(model, seed)
    rate = along(model, q, v, lambda q: kt.center_of_mass(model, q))
    assert np.max(np.abs(rate - kt.centroidal.center_of_mass_velocity(model, q, v))) < 1e-9 * max(
        1.0, np.max(np.abs(rate))
    )


@pytest.mark.seeds(20)
def test_q_dot_is_the_rate_of_positions(seed):
    """q_dot(q, v) = d/dt integrate(q, t v) at t = 0 (finite differences)."""
    model = tree(seed)
    q, v, *_ = state(model, seed)
    rate = along(model, q, v, lambda q: q)
    assert np.max(np.abs(rate - kt.q_dot(model, q, v))) < 1e-9 * max(1.0, np.max(np.abs(rate)))


def below_half_a_turn(model, q, xi):
    """The step with those joints' parts shortened that turn by more than a radian; velocities need not be in rad/s."""
    xi = xi.copy()
    for i in model.outward():
        step = xi[model.v_slice[i]]
        turn = np.linalg.norm(list(model.joints[i].velocity(q[model.q_slice[i]], step).angular))
        step /= max(1.0, turn)
    return xi


@pytest.mark.seeds(20)
def test_tangent_rate_is_the_rate_of_the_step(seed):
    """While q = integrate(q0, xi) moves with velocity v, d xi / dt = tangent_rate(xi, v)."""
    model = tree(seed)
    q0, xi, v, _ = state(model, seed)
    xi = below_half_a_turn(model, q0, 0.3 * xi)
    moved = kt.integrate(model, q0, xi)
    rate = along(model, moved, v, lambda q: kt.difference(model, q0, q))
    close_rate = kt.kinematics.tangent_rate(model, xi, v)
    assert np.max(np.abs(rate - close_rate)) < 1e-8 * max(1.0, np.max(np.abs(rate)))


@pytest.mark.seeds(20)
def test_reframing_changes_no_joint_quantity(seed):
    """Turning body frames so that every joint turns about z leaves tau, M and a as they are."""
    model = tree(seed)
    q, v, a, tau = state(model, seed)
    other = model.reframed()
    close(kt.rnea(other, q, v, a), kt.rnea(model, q, v, a))
    close(kt.crba(other, q), kt.crba(model, q))
