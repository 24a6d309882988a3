"""Bases, product rules, moving coordinates and chains of bodies (Featherstone, sections 2.1 to 2.11)."""

import numpy as np
import pytest

from kinetree.joints.dual import Dual, rate_of
from kinetree.liegroup import se3
from kinetree.liegroup.so3 import exp_so3
from kinetree.spatial import Force, Inertia, Motion, Symmetric3, Transform, Vector3
from kinetree.spatial.rotations import quaternion_to_rotation

from . import samples
from .samples import close

RNG = np.random.default_rng(18)


def moving(kind, value, rate):
    """A vector whose components carry their rates of change."""
    return kind.of([Dual(x, dx) for x, dx in zip(value, rate, strict=True)])


def rates(vector):
    return np.array([rate_of(x) for x in vector])


def test_reciprocal_bases_stay_reciprocal():
    """d_i . e_j = delta_ij in any coordinates: forces transform by X^-T (section 2.1)."""
    D = RNG.normal(size=(6, 6)) + 3.0 * np.eye(6)
    d = [Motion.of(column) for column in D.T]
    e = [Force.of(column) for column in np.linalg.inv(D)]
    X = samples.transform(RNG)
    for motions, forces in ((d, e), ([X @ m for m in d], [X @ f for f in e])):
        gram = np.array([[m.dot(f) for f in forces] for m in motions])
        np.testing.assert_allclose(gram, np.eye(6), atol=1e-13)  # entries of size 10, condition 10


def test_pluecker_basis_at_another_point():
    """With P = (r, 0, 0): d_Px = d_Ox, d_Py = d_Oy + r d_z, d_Pz = d_Oz - r d_y (example 2.2)."""
    r = 0.7
    to_O = Transform(Transform.identity().E, Vector3(-r, 0.0, 0.0))  # from coordinates at P to coordinates at O
    d = [Motion.of(row) for row in np.eye(6)]
    assert close(to_O @ d[0], d[0])
    assert close(to_O @ d[1], d[1] + d[5] * r)
    assert close(to_O @ d[2], d[2] - d[4] * r)


def test_field_of_a_sum_is_the_sum_of_the_fields():
    """V(P) is linear in the velocity (example 2.1)."""
    u, v, p = samples.motion(RNG), samples.motion(RNG), samples.vector(RNG)
    assert close((u + v * 2.0).velocity_at(p), u.velocity_at(p) + v.velocity_at(p) * 2.0)


def test_product_rules():
    """d(u . f), d(u x v), d(u x* f), d(s u) (table 2.4), and d(I v) with a fixed inertia."""
    u, v, du, dv = (samples.motion(RNG) for _ in range(4))
    f, df, I = samples.force(RNG), samples.force(RNG), samples.inertia(RNG)
    s = Dual(1.3, -0.4)
    U, V, F = moving(Motion, u, du), moving(Motion, v, dv), moving(Force, f, df)
    assert np.isclose(U.dot(F).rate, du.dot(f) + u.dot(df), rtol=1e-13)
    assert close(rates(U.cross(V)), du.cross(v) + u.cross(dv))
    assert close(rates(U.cross(F)), du.cross(f) + u.cross(df))
    assert close(rates(U * s), u * s.rate + du * s.value)
    assert close(rates(I @ V), I @ dv)


@pytest.mark.parametrize("kind", [Motion, Force])
def test_rate_of_a_vector_in_moving_coordinates(kind):
    """dm/dt = m-ring + v_A x m, for motions and forces (eq. 2.41-2.44); finite differences, h^2 + eps / h = 1e-10."""
    X, v_A, h = samples.transform(RNG), samples.motion(RNG), 1e-5  # X: from A to fixed coordinates, v_A in A
    m, ring = (kind.of(RNG.normal(size=6)) for _ in range(2))

    def fixed(t):
        return (X @ se3.exp_se3(v_A * t).inverse() @ (m + ring * t)).array()

    measured = (fixed(h) - fixed(-h)) / (2.0 * h)
    assert np.allclose(measured, (X @ (ring + v_A.cross(m))).array(), atol=1e-8)


def test_rate_of_a_three_dimensional_vector_in_turning_coordinates():
    """A(du/dt) = d(A u)/dt + w_A x A u (eq. 2.38); finite differences, h^2 + eps / h = 1e-10."""
    E, w_A, h = samples.rotation(RNG), samples.vector(RNG), 1e-5  # E: from A to fixed coordinates, w_A in A
    u, ring = samples.vector(RNG), samples.vector(RNG)

    def fixed(t):
        return (E @ (exp_so3(w_A * t).T @ (u + ring * t))).array()

    measured = (fixed(h) - fixed(-h)) / (2.0 * h)
    assert np.allclose(measured, (E @ (ring + w_A.cross(u))).array(), atol=1e-8)


def test_velocities_and_accelerations_of_a_chain():
    """v_i = v_{i-1} + s_i q_i' and a_i = a_{i-1} + s_i q_i'' + v_i x s_i q_i' (eq. 2.14-2.18, 2.52-2.57).

    The recursion agrees with the sum over all pairs of joints, and with J q'' + J' q', s_i' = v_i x s_i.
    """
    n = 5
    s = [samples.motion(RNG) for _ in range(n)]
    qd, qdd = RNG.normal(size=n).tolist(), RNG.normal(size=n).tolist()
    v, a, rate = Motion.zero(), Motion.zero(), []
    for s_i, qd_i, qdd_i in zip(s, qd, qdd, strict=True):
        v = v + s_i * qd_i
        rate.append(v.cross(s_i))
        a = a + s_i * qdd_i + rate[-1] * qd_i
    J, J_dot = (np.array([list(column) for column in columns]).T for columns in (s, rate))
    assert close(J @ qd, v)
    assert close(J @ qdd + J_dot @ qd, a)
    pairs = [s[k].cross(s[j]) * (qd[k] * qd[j]) for j in range(n) for k in range(j)]
    assert close(sum(pairs, start=Motion.zero()) + Motion.of(J @ qdd), a)


def test_quaternions_off_the_unit_length_scale_the_rotation():
    """E(s p) = s^2 E(p) + (1 - s^2) 1 by eq. 4.12 with its ones on the diagonal: why positions are normalized."""
    s = 1.01
    q = np.array([0.5, -0.1, 0.7, 0.5]) / np.linalg.norm([0.5, -0.1, 0.7, 0.5])
    E = quaternion_to_rotation(q.tolist()).matrix.array()
    scaled = quaternion_to_rotation((s * q).tolist()).matrix.array()
    assert close(scaled, s**2 * E + (1.0 - s**2) * np.eye(3))
    assert not close(scaled @ scaled.T, np.eye(3)) and close(E @ E.T, np.eye(3))


def test_inverse_inertia():
    """Phi f = I^-1 f (eq. 2.72-2.74): off the center of mass, at it, and over a batch of bodies."""
    I, f = samples.inertia(RNG), samples.force(RNG)
    assert close(I.inverse_apply(f), np.linalg.solve(I.matrix(), f.array()), k=2e3)  # condition of a few hundred
    central = Transform(Transform.identity().E, I.com) @ I
    at_com = central.inverse_apply(f)
    assert close(at_com.linear, f.linear / I.m)
    masses = np.array([1.0, 2.0])
    batch = Inertia.from_com(masses, Vector3(0.1, 0.2, 0.3), Symmetric3.diagonal(0.3, 0.4, 0.5))
    assert close((batch @ batch.inverse_apply(f)).array(), np.tile(f.array(), (2, 1)))


def test_acceleration_of_a_body_under_a_force():
    """a = Phi (f - v x* I v) gives back the force by f = I a + v x* I v (eq. 2.68, 2.72)."""
    I, f, v = samples.inertia(RNG), samples.force(RNG), samples.motion(RNG)
    a = I.inverse_apply(f - v.cross(I @ v))
    assert close(I @ a + v.cross(I @ v), f, k=2e3)


def test_inverse_inertia_maps_forces_only():
    """A motion has no place there, and the message says what has."""
    with pytest.raises(TypeError, match="has no meaning. Allowed: Inertia.inverse_apply.Force"):
        samples.inertia(RNG).inverse_apply(samples.motion(RNG))
