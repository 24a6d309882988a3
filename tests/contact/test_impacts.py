"""Impacts against closed forms, conservation laws, quadratic programs and other routes to the same impulses."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import nnls

import kinetree as kt
from kinetree.contact.active_laws import ContactLaws, solve_laws
from kinetree.contact.collisions import contact_forces
from kinetree.errors import ArgumentError, ContactError
from kinetree.spatial import Inertia, Symmetric3, Vector3

CHAIN, CHAIN_STATE = kt.models.chain_gu(3), np.array([0.4, -0.9, 0.3])
LINEAR = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0])


@pytest.fixture(autouse=True)
def interpreted_source():
    with kt.interpreted():
        yield


def random_inertia(rng) -> Inertia:
    """Of some points with mass."""
    points, masses = rng.standard_normal((6, 3)), rng.uniform(0.1, 1.0, 6)
    c = masses @ points / masses.sum()
    P = np.einsum("k,ki,kj->ij", masses, points - c, points - c)
    I = np.trace(P) * np.eye(3) - P
    return Inertia.from_com(masses.sum(), Vector3(*c), Symmetric3(I[0, 0], I[1, 0], I[1, 1], I[2, 0], I[2, 1], I[2, 2]))


def sphere(m=1.0, r=1.0) -> Inertia:
    """Solid, about its center."""
    return Inertia.from_com(m, Vector3(0.0, 0.0, 0.0), Symmetric3.diagonal(*[0.4 * m * r * r] * 3))


def kinetic_energy(inertia: Inertia, V) -> float:
    return 0.5 * float(V @ inertia.matrix() @ V)


def random_problem(rng, contacts, velocities):
    """A Delassus matrix of this many velocities, and contact velocities in its range."""
    J = rng.standard_normal((3 * contacts, velocities))
    return J @ J.T, (J @ rng.standard_normal(velocities)).reshape(-1, 3)


# Two bodies --------------------------------------------------------------------------------------------------------


def test_two_particles_exchange_velocity_as_in_textbooks():
    """v1' = ((m1 - e m2) v1 + (1 + e) m2 v2) / (m1 + m2), for several e and masses."""
    for m1, m2, e in ((1.0, 1.0, 1.0), (2.0, 3.0, 0.4), (0.5, 7.0, 0.0)):
        v1, v2 = 1.3, -0.2
        found = kt.contact.collide(m1, m2, v1 * LINEAR, v2 * LINEAR, (1, 0, 0), restitution=e)
        assert found.first[3] == pytest.approx(((m1 - e * m2) * v1 + (1 + e) * m2 * v2) / (m1 + m2), abs=1e-15)
        assert found.second[3] == pytest.approx(((m2 - e * m1) * v2 + (1 + e) * m1 * v1) / (m1 + m2), abs=1e-15)


@pytest.mark.seeds(3)
def test_frictionless_collision_of_random_bodies_is_equation_11_65(seed):
    """The impulse, the energy and both momenta of a collision without friction, by 6 x 6 matrices."""
    rng = np.random.default_rng(seed)
    first, second = random_inertia(rng), random_inertia(rng)
    n, p, e = rng.standard_normal(3), rng.standard_normal(3), rng.uniform()
    n /= np.linalg.norm(n)
    v1, v2 = rng.standard_normal((2, 6))
    N = np.concatenate((np.cross(p, n), n))
    if N @ (v2 - v1) > 0.0:
        v1, v2 = v2, v1
    zeta = N @ (v2 - v1)
    mobility = N @ (np.linalg.inv(first.matrix()) + np.linalg.inv(second.matrix())) @ N
    found = kt.contact.collide(first, second, v1, v2, n, p, restitution=e)
    assert found.impulses[2] == pytest.approx(-(1 + e) * zeta / mobility, rel=1e-11)
    assert np.abs(found.impulses[:2]).max() == 0.0
    lost = -(1 - e**2) * zeta**2 / (2 * mobility)
    total = sum(kinetic_energy(*x) for x in ((first, found.first), (second, found.second)))
    assert found.energy_change == pytest.approx(lost, rel=1e-10)
    assert total - kinetic_energy(first, v1) - kinetic_energy(second, v2) == pytest.approx(lost, rel=1e-9)
    momentum = first.matrix() @ (found.first - v1) + second.matrix() @ (found.second - v2)
    assert np.abs(momentum).max() < 1e-12 * np.abs(first.matrix() @ v1).max()
    assert found.after[2] == pytest.approx(-e * zeta, rel=1e-10)


@pytest.mark.seeds(3)
def test_arrest_of_slip_is_equation_11_72(seed):
    """With infinite friction, -(N^T (I1^-1 + I2^-1) N)^-1 (1 + E) N^T (v2 - v1): no tangential velocity is left."""
    rng = np.random.default_rng(seed)
    first, second, e = random_inertia(rng), random_inertia(rng), rng.uniform()
    n, p = rng.standard_normal(3), rng.standard_normal(3)
    _, forces = contact_forces(n / np.linalg.norm(n), p)
    N = forces.T
    K = N.T @ (np.linalg.inv(first.matrix()) + np.linalg.inv(second.matrix())) @ N
    u = np.array([*rng.uniform(-0.1, 0.1, 2), -1.0])
    v1, v2 = np.zeros(6), np.linalg.lstsq(N.T, u, rcond=None)[0]
    expected = -np.linalg.solve(K, (np.eye(3) + np.diag([0, 0, e])) @ u)
    assert expected[2] > 0.0
    found = kt.contact.collide(first, second, v1, v2, n, p, restitution=e, friction=math.inf)
    assert np.allclose(found.impulses, expected, rtol=1e-10, atol=1e-12)
    assert np.allclose(found.after, [0.0, 0.0, e], atol=1e-12)


def test_a_normal_through_both_centers_needs_no_friction():
    """Equation 11.72 reduces to 11.65 where nothing moves tangentially."""
    both = [
        kt.contact.collide(sphere(), sphere(2.0), LINEAR, -LINEAR, (1, 0, 0), restitution=0.3, friction=mu)
        for mu in (0.0, math.inf)
    ]
    assert np.allclose(both[0].impulses, both[1].impulses, atol=1e-15)


@pytest.mark.parametrize("angle", np.linspace(0.0, 2.0 * np.pi, 9)[:-1])
def test_a_sphere_keeps_five_sevenths_or_loses_what_friction_can_take(angle):
    """A solid sphere on a floor sticks if mu (1 + e) v_n >= 2/7 v_t, in all directions of the floor alike."""
    e, speed, fall = 0.5, 2.0, 0.4
    V = np.array([0.0, 0.0, 0.0, speed * math.cos(angle), speed * math.sin(angle), -fall])
    needed = 2.0 / 7.0 * speed / ((1.0 + e) * fall)
    for mu, kept in ((1.01 * needed, 5.0 / 7.0 * speed), (0.5 * needed, speed - 0.5 * needed * (1 + e) * fall)):
        found = kt.contact.collide(None, sphere(), np.zeros(6), V, (0, 0, 1), (0, 0, -1), restitution=e, friction=mu)
        assert found.second[3:5] == pytest.approx([kept * math.cos(angle), kept * math.sin(angle)], abs=1e-12)
        assert found.second[5] == pytest.approx(e * fall, abs=1e-13)
        size = np.hypot(*found.impulses[:2])
        assert size == pytest.approx(min(needed, mu) * found.impulses[2], rel=1e-10)


def test_an_articulated_body_collides_as_a_whole():
    """A particle meets the last body of a chain: as an articulated body, and by the chain's mass matrix."""
    q, v, n, e = CHAIN_STATE, np.array([1.0, -2.0, 0.5]), np.array([0.6, 0.0, 0.8]), 0.5
    R, p = kt.pose(CHAIN, q, frame="body3")
    handle = kt.dynamics.articulated_inverse_inertia(CHAIN, q, handles="body3", method="assembly").Phi
    J = kt.jacobian(CHAIN, q, frame="body3", reference="local_world_aligned")[3:]
    point = handle[3:, 3:] if not p.any() else R @ handle[3:, 3:] @ R.T
    particle, speed = 2.0, n @ J @ v
    P = -(1.0 + e) * (0.0 - speed) / (1.0 / particle + n @ point @ n)
    first = kt.contact.strike(CHAIN, q, v, "body3", -P * n)
    assert P / particle - n @ J @ first == pytest.approx(e * speed, abs=1e-12)


# Several contacts --------------------------------------------------------------------------------------------------


def cradle(n: int, masses=None):
    """Jacobian and Delassus matrix of n balls in a row."""
    J = np.zeros((3 * (n - 1), n))
    for i in range(n - 1):
        J[3 * i + 2, [i, i + 1]] = -1.0, 1.0
    masses = np.ones(n) if masses is None else np.asarray(masses)
    return J, J @ np.diag(1.0 / masses) @ J.T


def after_cradle(v, law, e=1.0, masses=None):
    J, A = cradle(len(v), masses)
    found = kt.contact.impact(A, (J @ v).reshape(-1, 3), restitution=e, law=law)
    masses = np.ones(len(v)) if masses is None else masses
    return v + J.T @ found.impulses.ravel() / masses, found


def test_laws_of_the_cradle():
    """Simultaneous laws give (-1/3, 2/3, 2/3), the sequential one Newton's cradle: k balls in, k balls out."""
    for law in ("newton", "poisson"):
        v, found = after_cradle(np.array([1.0, 0.0, 0.0]), law)
        assert np.allclose(v, [-1 / 3, 2 / 3, 2 / 3], atol=1e-14) and abs(found.energy_change) < 1e-14
    for k in (1, 2, 3, 4):
        v, found = after_cradle(np.array([1.0] * k + [0.0] * (5 - k)), "sequential")
        assert np.allclose(v, [0.0] * (5 - k) + [1.0] * k, atol=1e-12) and abs(found.energy_change) < 1e-12
        assert len(found.collisions) == k * (5 - k)


def test_laws_of_a_heavy_ball_between_light_ones():
    """Momentum holds, no law gains energy, and the change is that of the kinetic energies."""
    masses, v = np.array([1.0, 4.0, 1.0]), np.array([1.0, 0.0, -0.2])
    found = {law: after_cradle(v, law, 0.6, masses) for law in ("newton", "poisson", "sequential")}
    for after, impact in found.values():
        assert masses @ after == pytest.approx(masses @ v, abs=1e-13) and impact.energy_change < 0.0
        change = 0.5 * masses @ (after**2 - v**2)
        assert impact.energy_change == pytest.approx(change, abs=1e-13)


def test_poisson_returns_impulses_where_newton_returns_velocities():
    """Three balls, the second of which rests against the third: with e of one contact alone the laws differ."""
    J, A = cradle(3)
    v = np.array([1.0, 0.0, 0.0])
    e = np.array([0.0, 1.0])
    newton, poisson = (
        v + J.T @ kt.contact.impact(A, (J @ v).reshape(-1, 3), restitution=e, law=law).impulses.ravel()
        for law in ("newton", "poisson")
    )
    assert np.allclose(newton, 1.0 / 3.0, atol=1e-14)  # the resting contact has no velocity to return
    # Compression: impulses (2/3, 1/3), all at 1/3. Expansion: 1/3 at the second contact and 1/6 at the first.
    assert np.allclose(poisson, [1 / 6, 1 / 6, 2 / 3], atol=1e-14)


@pytest.mark.seeds(6)
def test_impulses_without_friction_are_those_of_the_quadratic_program(seed):
    """min P A P / 2 + P b over P >= 0 (eq. 11.43), as nonnegative least squares."""
    rng = np.random.default_rng(seed)
    A, u = random_problem(rng, 4, 14)
    e = 0.3
    found = kt.contact.impact(A, u, restitution=e)
    normal = A[2::3, 2::3]
    b = u[:, 2] + e * np.minimum(u[:, 2], 0.0)
    root = np.linalg.cholesky(normal).T
    expected = nnls(root, -np.linalg.solve(root.T, b))[0]
    assert np.allclose(found.impulses[:, 2], expected, atol=1e-10 * np.abs(expected).max())


@pytest.mark.seeds(10)
def test_laws_hold_on_random_problems_of_any_rank(seed):
    """Signorini's condition and Coulomb's cone, and what friction dissipates, from the definitions."""
    rng = np.random.default_rng(seed)
    A, u = random_problem(rng, int(rng.integers(1, 6)), int(rng.integers(3, 16)))
    mu = rng.choice([0.0, 0.3, 0.8], size=len(u))
    found = kt.contact.impact(A, u, friction=mu)
    P, w, size = found.impulses, found.after, np.abs(u).max()
    assert P[:, 2].min() >= -1e-12 * np.abs(P).max() and w[:, 2].min() >= -1e-9 * size
    assert np.abs(P[:, 2] * w[:, 2]).max() < 1e-8 * size
    tangent, slip = np.hypot(P[:, 0], P[:, 1]), np.hypot(w[:, 0], w[:, 1])
    assert (tangent <= mu * P[:, 2] + 1e-10).all()
    dissipated = -np.sum(P[:, :2] * w[:, :2], axis=1)
    assert np.allclose(dissipated, mu * np.maximum(P[:, 2], 0.0) * slip, atol=1e-8 * size)
    assert found.energy_change <= 1e-12


def test_contacts_with_contradicting_restitution_are_named():
    """Two contacts at the same place with e = 0 and e = 1 cannot both return their velocity: the larger one counts,
    while a slot whose walls face each other and close in has no solution (example 11.1)."""
    J = np.zeros((6, 1))
    J[2], J[5] = 1.0, 1.0
    both = kt.contact.impact(J @ J.T, (J @ [-1.0]).reshape(2, 3), restitution=[0.0, 1.0])
    assert both.after[:, 2] == pytest.approx([1.0, 1.0])
    J[5] = -1.0
    with pytest.raises(ContactError, match=r"no impulses satisfy law 'newton'"):
        kt.contact.impact(J @ J.T, [[0, 0, -1.0], [0, 0, -0.5]])


def test_slip_with_a_given_direction_makes_the_matrix_unsymmetric():
    """The sliding rod of Painleve: with more than its critical friction no force balances, which is reported."""
    A = np.array([[2.0, 0.0, 1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 1.0]])
    slip = {0: np.array([1.0, 0.0])}
    P, misfit = solve_laws(A, np.array([0.0, 0.0, -1.0]), ContactLaws(np.array([0.5]), slip=slip))
    assert P[0] == pytest.approx([-1.0, 0.0, 2.0]) and misfit < 1e-12
    _, misfit = solve_laws(A, np.array([0.0, 0.0, -1.0]), ContactLaws(np.array([1.5]), slip=slip))
    assert math.isnan(misfit)


# Models ------------------------------------------------------------------------------------------------------------


@pytest.mark.seeds(3)
def test_struck_chains_by_the_mass_matrix_and_by_articulated_bodies(seed):
    """v+ - v- = M^-1 J^T P, and J (v+ - v-) = Phi P with the articulated inverse inertia (eq. 11.56-11.59)."""
    rng = np.random.default_rng(seed)
    q, v, P, at = (rng.standard_normal(n) for n in (3, 3, 6, 3))
    change = kt.contact.strike(CHAIN, q, v, "body3", P, at) - v
    R, _ = kt.pose(CHAIN, q, frame="body3")
    J = kt.jacobian(CHAIN, q, frame="body3", reference="local")
    local = np.concatenate((R.T @ P[:3], R.T @ P[3:]))
    local[:3] += np.cross(at, local[3:])
    assert np.allclose(kt.crba(CHAIN, q) @ change, J.T @ local, rtol=0.0, atol=1e-12)
    Phi = kt.dynamics.articulated_inverse_inertia(CHAIN, q, handles="body3", method="assembly").Phi
    assert np.allclose(J @ change, Phi @ local, rtol=0.0, atol=1e-11 * np.abs(Phi @ local).max())


def test_a_plastic_impact_loses_half_the_impulse_times_the_velocity():
    """A chain whose end is stopped: the energy falls by P . J v- / 2."""
    q, v = CHAIN_STATE, np.array([1.5, -0.4, 0.8])
    J = kt.jacobian(CHAIN, q, frame="body3", reference="local_world_aligned")[3:]
    P = -np.linalg.lstsq(J @ np.linalg.solve(kt.crba(CHAIN, q), J.T), J @ v, rcond=1e-12)[0]
    after = kt.contact.strike(CHAIN, q, v, "body3", P)
    assert np.abs(J @ after).max() < 1e-12
    change = kt.kinetic_energy(CHAIN, q, after) - kt.kinetic_energy(CHAIN, q, v)
    assert change < -1e-3 and change == pytest.approx(0.5 * P @ J @ v, rel=1e-12)


def test_a_struck_linkage_keeps_its_loop():
    """Impulses on a four-bar: its loop reacts, as the saddle-point system with the loop's rows has it."""
    bar = kt.models.four_bar()
    q = kt.assemble(bar)
    K = np.asarray(kt.closed_loops.jacobian(bar, q))
    after = kt.contact.strike(bar, q, np.zeros(3), "crank", [0.3, 0.5, 0.0], at=(0.1, 0.2, 0.0))
    R, _ = kt.pose(bar, q, frame="crank")
    P = np.array([0.3, 0.5, 0.0])
    f = kt.jacobian(bar, q, frame="crank", reference="local_world_aligned").T @ [*np.cross(R @ [0.1, 0.2, 0.0], P), *P]
    saddle = np.block([[kt.crba(bar, q), K.T], [K, np.zeros((len(K), len(K)))]])
    expected = np.linalg.lstsq(saddle, np.concatenate((f, np.zeros(len(K)))), rcond=1e-12)[0][:3]
    assert np.abs(K @ after).max() < 1e-12 and np.allclose(after, expected, rtol=0.0, atol=1e-12)
    assert np.abs(after).max() > 1e-2


def test_bad_arguments_are_named():
    """What is wrong, and what was expected."""
    J, A = cradle(2)
    for change, text in (
        (dict(friction=-0.1), "impact: friction"),
        (dict(restitution=1.2), "between 0 and 1"),
        (dict(law="hertz"), "impact: law"),
    ):
        with pytest.raises(ArgumentError, match=text):
            kt.contact.impact(A, np.zeros((1, 3)), **change)
    with pytest.raises(ArgumentError, match="since the first is fixed"):
        kt.contact.collide(None, None, np.zeros(6), np.zeros(6), (0, 0, 1))
    with pytest.raises(ArgumentError, match="symmetric"):
        kt.contact.impact(np.triu(np.ones((3, 3))), np.zeros((1, 3)))
