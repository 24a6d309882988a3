"""Identification: base parameters, possible bodies, exciting motions, and fits that find what is there."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import InertiaError, ModelError, NonFiniteError, ShapeError, UnknownNameError, UnsupportedError
from kinetree.identify.consistency import log_cholesky_jacobian
from kinetree.identify.solve import Distance
from kinetree.joints import Spherical
from tests.identities.systems import close, state

EPS = np.finfo(float).eps


def bodies(rng, n: int = 4) -> np.ndarray:
    """Inertial parameters of possible bodies of unlike size."""
    return kt.identify.from_log_cholesky(rng.standard_normal((n, 10)) * 0.5)


def slopes(function, x, h: float = 1e-6):
    """Central differences; the error is h^2 times third derivatives and eps / h."""
    return np.stack([(function(x + h * e) - function(x - h * e)) / (2.0 * h) for e in np.eye(10)], axis=-1)


# Base parameters -----------------------------------------------------------------------------------------------------


@pytest.mark.seeds(12)
def test_combinations_give_the_same_joint_forces(seed):
    """Y pi = Y_B (K pi) at states that the combinations were not found from, for all kinds of joints."""
    model = kt.models.random_tree(5, seed=seed, floating=seed % 2 == 0)
    base, (q, v, a) = kt.identify.base_parameters(model), state(model, seed)[:3]
    pi = kt.identify.inertial_parameters(model)
    with kt.interpreted():
        Y = kt.regressors.joint_torque(model, q, v, a)
    # The coefficients come from a least-squares problem whose condition may reach 1e3.
    close(base.regressor(Y) @ base.values(pi), Y @ pi, ulps=1e6)
    assert base.rank <= kt.surgery.base_parameter_count(model)
    assert base.smallest_kept > 1e6 * base.largest_dropped


@pytest.mark.seeds(6)
def test_what_the_combinations_leave_out_changes_no_joint_force(seed):
    """Parameters off by anything in the null space of K need the same joint forces."""
    model = kt.models.random_tree(5, seed=40 + seed, floating=seed % 2 == 0)
    base, (q, v, a) = kt.identify.base_parameters(model), state(model, seed)[:3]
    null = np.linalg.svd(base.matrix)[2][base.rank :]
    with kt.interpreted():
        close(kt.regressors.joint_torque(model, q, v, a) @ null.T, 0.0, scale=10.0, ulps=1e6)


def test_states_can_tell_less():
    """At rest only weights can be told: of two links of a pendulum m c of each, the masses with the first."""
    arm, rng = kt.models.double_pendulum(), np.random.default_rng(0)
    q, zero = rng.standard_normal((30, 2)), np.zeros((30, 2))
    base = kt.identify.base_parameters(arm, q, zero, zero)
    assert base.names == ("upper.h.x", "upper.h.z", "lower.h.x", "lower.h.z")
    with pytest.raises(ModelError, match="all of q, v and a"):
        kt.identify.base_parameters(arm, q)


def test_combinations_read_like_sentences():
    """Names, signs, and coefficients that are not 1."""
    base = kt.identify.base_parameters(kt.models.double_pendulum(length=2.0))
    assert base.combinations[1:3] == ("upper.h.z - 2 lower.mass", "upper.I.yy + 4 lower.mass")
    assert str(base).startswith("6 combinations of 20 inertial parameters matter\n  upper.h.x\n")


# Possible bodies -----------------------------------------------------------------------------------------------------


def test_pseudo_inertia_holds_the_moments_of_mass():
    """J = sum m (r, 1)(r, 1)^T for particles, and back."""
    rng = np.random.default_rng(0)
    masses, points = rng.uniform(0.1, 1.0, 5), rng.standard_normal((5, 3))
    extended = np.column_stack([points, np.ones(5)])
    I = sum(m * (r @ r * np.eye(3) - np.outer(r, r)) for m, r in zip(masses, points, strict=True))
    pi = np.r_[masses.sum(), masses @ points, I[0, 0], I[1, 0], I[1, 1], I[2, 0], I[2, 1], I[2, 2]]
    J = kt.identify.pseudo_inertia(pi)
    close(J, np.einsum("k,ki,kj->ij", masses, extended, extended))
    close(kt.identify.from_pseudo_inertia(J), pi)


def test_free_numbers_and_parameters_are_one_to_one():
    """log_cholesky there and back, both ways; alpha is half the logarithm of the mass, t the center of mass."""
    theta = np.random.default_rng(1).standard_normal((20, 10))
    pi = kt.identify.from_log_cholesky(theta)
    close(kt.identify.log_cholesky(pi), theta, ulps=1e6)  # factors lose the digits of the condition number
    close(np.log(pi[:, 0]) / 2.0, theta[:, 0])
    close(pi[:, 1:4] / pi[:, :1], theta[:, 7:])
    assert np.all(np.linalg.eigvalsh(kt.identify.pseudo_inertia(pi)) > 0.0)


def test_free_numbers_give_bodies_that_a_model_takes():
    """Any ten numbers are a body that obeys the triangle inequality."""
    model = kt.models.chain_gu(6)
    theta = np.random.default_rng(2).standard_normal((6, 10))
    assert kt.identify.with_inertial_parameters(model, kt.identify.from_log_cholesky(theta).ravel()).nb == 7


def test_derivatives_of_the_parameters():
    """Against differences."""
    theta = np.random.default_rng(3).standard_normal((3, 10))
    numeric = slopes(kt.identify.from_log_cholesky, theta)
    np.testing.assert_allclose(log_cholesky_jacobian(theta), numeric, atol=1e-8 * np.abs(numeric).max())


def test_derivatives_of_the_distance():
    """Against differences, also where eigenvalues coincide: at the prior itself."""
    rng = np.random.default_rng(4)
    pi = bodies(rng)
    for prior in (bodies(rng), pi):
        distance = Distance(prior)
        numeric = slopes(lambda x, distance=distance: distance.residuals(x)[0], pi)
        np.testing.assert_allclose(distance.residuals(pi)[1], numeric, atol=1e-7 * np.abs(numeric).max())


def test_the_distance_knows_no_frames():
    """The same from A to B as from B to A, and in any other frame and unit of mass."""
    rng = np.random.default_rng(5)
    a, b = bodies(rng), bodies(rng)
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = np.linalg.qr(rng.standard_normal((3, 3)))[0], rng.standard_normal(3)

    def length(x, y):
        return np.linalg.norm(Distance(x).residuals(y)[0], axis=-1)

    def moved(x):
        return kt.identify.from_pseudo_inertia(3.0 * T @ kt.identify.pseudo_inertia(x) @ T.T)

    close(length(a, b), length(b, a), ulps=1e6)
    close(length(moved(a), moved(b)), length(a, b), ulps=1e6)


def test_bodies_without_width_have_no_free_numbers():
    """A point mass is on the edge of what is possible."""
    with pytest.raises(InertiaError, match="eigenvalue 0"):
        kt.identify.log_cholesky([1.0, *np.zeros(9)])
    with pytest.raises(ShapeError, match=r"\(\.\.\., 10\)"):
        kt.identify.pseudo_inertia(np.zeros(9))


def test_impossible_bodies_have_no_distance():
    """A negative principal moment of the density."""
    pi = bodies(np.random.default_rng(6))
    assert Distance(pi).residuals(pi - [0, 0, 0, 0, 9, 0, 0, 0, 0, 0]) is None


# Exciting motions ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def arm():
    """The arm with seven joints, its gripper locked."""
    return kt.surgery.lock(kt.load("arm7"), ["left_finger_slide"])


@pytest.fixture(scope="module")
def motion(arm):
    return kt.identify.exciting_trajectory(arm, tries=60, progress=False)


def test_velocities_and_accelerations_belong_to_the_positions(motion):
    """Derivatives of the series, by differences of fourth order; periodic."""
    t, h = np.linspace(0.0, motion.period, 7), 1e-3
    parts = [motion(t + k * h) for k in (-2, -1, 1, 2)]
    for n in (0, 1):
        f = [part[n] for part in parts]
        close((f[0] - 8.0 * f[1] + 8.0 * f[2] - f[3]) / (12.0 * h), motion(t)[n + 1], ulps=1e7)
    close(motion(0.0)[0], motion(motion.period)[0])


def test_motions_keep_to_the_limits(arm, motion):
    """Positions and velocities, at times that the search did not look at."""
    q, v, _ = motion(np.linspace(0.0, motion.period, 5003))
    assert np.all(q >= arm.lower) and np.all(q <= arm.upper)
    assert np.all(np.abs(v) <= arm.velocity_limit)


def test_the_search_improves(arm, motion):
    """A third of the condition number of an average random motion, and reproducible."""
    average = np.median([kt.identify.exciting_trajectory(arm, tries=1, seed=k).condition for k in range(7)])
    assert motion.condition < 0.7 * average
    again = kt.identify.exciting_trajectory(arm, tries=60)
    assert again.condition == motion.condition


def test_joints_with_quaternions_are_refused():
    """A Fourier series needs one position for each velocity."""
    with pytest.raises(UnsupportedError, match="Spherical"):
        kt.identify.exciting_trajectory(kt.models.random_tree(2, seed=0, joints=[Spherical()]))


# Fits ----------------------------------------------------------------------------------------------------------------


def spoiled(model, seed: int, size: float = 0.2):
    """The model with inertias off by about ``size``, possible ones."""
    rng = np.random.default_rng(seed)
    theta = kt.identify.log_cholesky(kt.identify.inertial_parameters(model).reshape(-1, 10))
    widths = np.r_[np.ones(4), np.full(6, 0.1)]
    return kt.identify.with_inertial_parameters(model, kt.identify.from_log_cholesky(
        theta + size * widths * rng.standard_normal(theta.shape)).ravel())  # fmt: skip


@pytest.fixture(scope="module")
def measured(arm, motion):
    """500 states and joint forces with noise of 1 % of the largest."""
    q, v, a = motion(motion.times(500))
    tau = kt.inverse_dynamics(arm.without_limits(), q, v, a)
    noise = 0.01 * np.abs(tau).max(axis=0)
    return q, v, a, tau + noise * np.random.default_rng(6).standard_normal(tau.shape), noise


@pytest.fixture(scope="module")
def found(arm, measured):
    *data, noise = measured
    return kt.identify.fit(spoiled(arm, 0), *data, noise=noise)


def test_fits_find_the_base_parameters(arm, found):
    """All 43 combinations within five standard deviations of the noise; together within 1 %, the prior is off by 20."""
    base = found.base
    true, prior = (base.values(kt.identify.inertial_parameters(m)) for m in (arm, found.prior))
    error = base.values(found.parameters) - true
    assert base.rank == 43 and found.converged
    assert np.all(np.abs(error) < 5.0 * found.base_deviation)
    assert np.linalg.norm(error) < 0.01 * np.linalg.norm(true) < 0.2 * np.linalg.norm(prior - true)


def test_found_bodies_are_possible(found):
    """Every pseudo-inertia is positive definite, by a margin, and a model takes the parameters as they are."""
    assert found.consistent and np.all(found.least_eigenvalues > 1e-6)
    assert kt.identify.with_inertial_parameters(found.prior, found.parameters).nb == found.prior.nb


def test_plain_least_squares_finds_impossible_bodies(arm, measured, found):
    """What the condition is for: the same data fitted without it have bodies with negative pseudo-inertias."""
    q, v, a, tau, noise = measured
    Y = kt.regressors.joint_torque(arm, q, v, a) / noise[:, None]
    tau = tau + arm.damping * -v  # the passive forces, which are known
    prior = kt.identify.inertial_parameters(found.prior)
    rest = (tau / noise).ravel() - Y.reshape(-1, 70) @ prior
    pi = prior + np.linalg.lstsq(Y.reshape(-1, 70), rest, rcond=1e-9)[0]
    assert np.linalg.eigvalsh(kt.identify.pseudo_inertia(pi.reshape(-1, 10))).min() < 0.0


def test_found_models_predict_other_motions(arm, found):
    """Joint forces on a motion that was not measured: within 1 %, where the prior is off by more than 20 %."""
    other = kt.identify.exciting_trajectory(arm, tries=1, seed=99)
    q, v, a = other(other.times(200))
    tau = kt.inverse_dynamics(arm.without_limits(), q, v, a)
    size = np.sqrt(np.mean(tau**2, axis=0))
    assert np.all(found.errors(q, v, a, tau) < 0.01 * size)
    prior = kt.inverse_dynamics(found.prior.without_limits(), q, v, a)
    assert np.mean(np.sqrt(np.mean((prior - tau) ** 2, axis=0)) / size) > 0.2


def test_the_fit_is_the_minimum(found, measured):
    """No other possible bodies near those found have a lower cost: along 20 random directions of their free numbers."""
    q, v, a, tau, noise = measured
    n, rng = len(found.parameters), np.random.default_rng(8)
    Y = kt.regressors.joint_torque(found.prior, q, v, a) / noise[:, None]
    rest = (tau - kt.inverse_dynamics(found.prior.without_limits(), q, v, a)) / noise
    prior = kt.identify.inertial_parameters(found.prior)
    distance = Distance(prior.reshape(-1, 10))

    def cost(theta):
        pi = kt.identify.from_log_cholesky(theta)
        return np.sum((Y @ (pi.ravel() - prior) - rest) ** 2) + np.sum(distance.residuals(pi)[0] ** 2)

    theta = kt.identify.log_cholesky(found.parameters.reshape(-1, 10))
    least = cost(theta)
    for _ in range(20):
        direction = rng.standard_normal((n // 10, 10))
        assert cost(theta + 1e-3 * direction) > least < cost(theta - 1e-3 * direction)


def test_noise_is_estimated(measured, found):
    """What an unconstrained fit leaves is the noise, within the scatter of 500 samples."""
    *data, noise = measured
    blind = kt.identify.fit(found.prior, *data)
    np.testing.assert_allclose(blind.noise, noise, rtol=0.15)
    np.testing.assert_allclose(blind.rms, found.rms, rtol=0.02)


def test_joint_parameters_are_found_too(arm, motion):
    """Armature, damping and dry friction beside the inertias, from the same motion."""
    rng = np.random.default_rng(7)
    true = arm.replace(**{what: rng.uniform(0.05, 0.5, 7) for what in ("armature", "damping", "dry_friction")})
    q, v, a = motion(motion.times(500))
    tau = kt.inverse_dynamics(true.without_limits(), q, v, a) + 0.01 * rng.standard_normal((500, 7))
    parameters = ("armature", "damping", "dry_friction")
    found = kt.identify.fit(spoiled(arm, 1), q, v, a, tau, noise=0.01, joint_parameters=parameters)
    for what in ("damping", "dry_friction"):
        np.testing.assert_allclose(getattr(found.model, what), getattr(true, what), atol=0.02)
    # The first joint's armature is the same as the moment of inertia that it turns.
    np.testing.assert_allclose(found.model.armature[1:], true.armature[1:], atol=0.05)


def test_priors_may_be_flat(measured, arm):
    """Plates have no distance from anything; they get a little width, and the data do the rest."""
    *data, noise = measured
    J = kt.identify.pseudo_inertia(kt.identify.inertial_parameters(arm).reshape(-1, 10))
    for J_i in J:
        w, V = np.linalg.eigh(J_i[:3, :3] - np.outer(J_i[:3, 3], J_i[:3, 3]) / J_i[3, 3])
        J_i[:3, :3] -= w[0] * np.outer(V[:, 0], V[:, 0])
    plates = kt.identify.with_inertial_parameters(arm, kt.identify.from_pseudo_inertia(J).ravel())
    found = kt.identify.fit(plates, *data, noise=noise)
    true = found.base.values(kt.identify.inertial_parameters(arm))
    assert found.consistent and found.converged
    assert np.linalg.norm(found.base.values(found.parameters) - true) < 0.01 * np.linalg.norm(true)


def test_reports_are_tables(found):
    """Each joint and each body has a line."""
    lines = str(found).splitlines()
    assert lines[0].startswith("43 combinations of 70 parameters from 7 joint forces; converged")
    assert [line.split()[0] for line in lines[2:9]] == list(found.model.velocity_labels)
    assert len(lines) == 17


def test_what_cannot_be_fitted_is_refused(arm, measured):
    """Couplings, shapes, numbers that are none, unknown parameters of joints, bodies without mass: each by name."""
    q, v, a, tau, _ = measured
    with pytest.raises(UnsupportedError, match="constraints"):
        kt.identify.fit(kt.load("arm7"), q, v, a, tau)
    with pytest.raises(ShapeError, match=r"tau has shape \(7,\), expected \(500, 7\)"):
        kt.identify.fit(arm, q, v, a, tau[0])
    with pytest.raises(NonFiniteError, match="v of state 3"):
        kt.identify.fit(arm, q, np.where(np.arange(500)[:, None] == 3, np.nan, v), a, tau)
    with pytest.raises(UnknownNameError, match="stiffness"):
        kt.identify.fit(arm, q, v, a, tau, joint_parameters=("stiffness",))
    with pytest.raises(ModelError, match=r"noise is 0\.0, expected standard deviations above 0"):
        kt.identify.fit(arm, q, v, a, tau, noise=0.0)
    with pytest.raises(ShapeError, match=r"noise has shape \(3,\)"):
        kt.identify.fit(arm, q, v, a, tau, noise=np.ones(3))
    with pytest.raises(ModelError, match="prior_deviation"):
        kt.identify.fit(arm, q, v, a, tau, prior_deviation=0.0)
    pi = kt.identify.inertial_parameters(arm)
    pi[:10] = 0.0
    with pytest.raises(ModelError, match=f"{arm.body_names[1]!r} of the prior has no mass"):
        kt.identify.fit(kt.identify.with_inertial_parameters(arm, pi), q, v, a, tau)
