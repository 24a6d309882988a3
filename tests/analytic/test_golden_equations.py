"""Equations of motion in closed form (pendulum, double pendulum, cart-pole) and by Christoffel symbols of M."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.joints import Cylindrical, Helical, Prismatic, RackAndPinion, Revolute, SphericalEuler, Universal
from tests.identities.systems import along

G = 9.81
STATES = np.random.default_rng(3).standard_normal((5, 4, 2))  # q, v, a, tau of systems with two freedoms
states = pytest.mark.parametrize("state", STATES)


@pytest.mark.parametrize("q", [-2.0, 0.0, 0.3, np.pi / 2, np.pi])
@pytest.mark.parametrize(("length", "mass"), [(1.0, 1.0), (2.5, 0.3)])
def test_pendulum(length, mass, q):
    """m l^2 a + m g l sin q = tau, T = m l^2 v^2 / 2, V = -m g l cos q."""
    model = kt.models.pendulum(length, mass)
    v, a, tau = 1.7, -0.4, 0.9
    inertia = mass * length**2
    assert kt.rnea(model, [q], [v], [a])[0] == pytest.approx(inertia * a + mass * G * length * np.sin(q), abs=1e-14)
    expected = (tau - mass * G * length * np.sin(q)) / inertia
    assert kt.aba(model, [q], [v], [tau])[0] == pytest.approx(expected, abs=1e-14)
    assert kt.crba(model, [q])[0, 0] == pytest.approx(inertia, rel=1e-15)
    assert kt.kinetic_energy(model, [q], [v]) == pytest.approx(0.5 * inertia * v**2, rel=1e-15)
    assert kt.potential_energy(model, [q]) == pytest.approx(-mass * G * length * np.cos(q), abs=1e-14)


def test_compound_pendulum():
    """(I_C + m c^2) a = -m g c sin q for an extended body whose center of mass is c below the pivot."""
    m, c, I_C = 2.0, 0.6, 0.15
    b = kt.ModelBuilder("compound pendulum")
    b.add_body("body", joint=Revolute((0, 1, 0)), mass=m, com=(0.0, 0.0, -c), inertia=(0.1, I_C, 0.2))
    a = kt.aba(b.build(), [0.8], [5.0], [0.0])[0]
    assert a == pytest.approx(-m * G * c * np.sin(0.8) / (I_C + m * c**2), rel=1e-14)


def arm_2r(m, c, I, l):
    """Two links that swing in the x-z plane, hanging at q = 0: masses, mass centers, central inertias, first length."""
    b = kt.ModelBuilder("arm")
    for k in range(2):
        b.add_body(
            f"link{k}", f"link{k - 1}" if k else "world", Revolute((0, 1, 0)),
            placement=((0.0, 0.0, -l), (0.0, 0.0, 0.0)) if k else None,
            mass=m[k], com=(0.0, 0.0, -c[k]), inertia=(I[k], I[k], I[k]),
        )  # fmt: skip
    return b.build()


def closed_form_2r(m, c, I, l, q, v):
    """M, C and g of the arm, with h = -m2 l c2 sin q2: C = [[h v2, h (v1 + v2)], [-h v1, 0]]."""
    along_arm = m[1] * l * c[1] * np.cos(q[1])
    M22 = I[1] + m[1] * c[1] ** 2
    M12 = M22 + along_arm
    M11 = I[0] + m[0] * c[0] ** 2 + M22 + m[1] * l**2 + 2.0 * along_arm
    h = -m[1] * l * c[1] * np.sin(q[1])
    C = np.array([[h * v[1], h * (v[0] + v[1])], [-h * v[0], 0.0]])
    second = m[1] * G * c[1] * np.sin(q[0] + q[1])
    g = np.array([(m[0] * c[0] + m[1] * l) * G * np.sin(q[0]) + second, second])
    return np.array([[M11, M12], [M12, M22]]), C, g


ARM = ((1.3, 0.7), (0.4, 0.35), (0.08, 0.05), 0.9)


@pytest.fixture(scope="module")
def arm():
    """A double pendulum with unequal links."""
    return arm_2r(*ARM)


@states
def test_double_pendulum(arm, state):
    """M, C, g, tau and a agree with the textbook's closed form."""
    q, v, a, tau = state
    M, C, g = closed_form_2r(*ARM, q, v)
    near = {"rtol": 0.0, "atol": 1e-13}
    np.testing.assert_allclose(kt.crba(arm, q), M, **near)
    np.testing.assert_allclose(kt.gravity_forces(arm, q), g, **near)
    np.testing.assert_allclose(kt.coriolis_matrix(arm, q, v), C, **near)
    np.testing.assert_allclose(kt.rnea(arm, q, v, a), M @ a + C @ v + g, **near)
    np.testing.assert_allclose(kt.aba(arm, q, v, tau), np.linalg.solve(M, tau - C @ v - g), **near)


@states
def test_double_pendulum_of_the_library(state):
    """`models.double_pendulum` is the arm with two thin rods: c = l / 2, I = m l^2 / 12."""
    q, v, a, _ = state
    l, m = 0.8, 1.5
    M, C, g = closed_form_2r((m, m), (l / 2, l / 2), (m * l**2 / 12,) * 2, l, q, v)
    found = kt.rnea(kt.models.double_pendulum(l, m), q, v, a)
    np.testing.assert_allclose(found, M @ a + C @ v + g, rtol=0.0, atol=1e-13)


@states
def test_cart_pole(state):
    """(M + m) x'' + m l (cos t t'' - sin t t'^2) = f and m l^2 t'' + m l cos t x'' - m g l sin t = 0."""
    (x, t), (dx, dt), (ddx, ddt), (f, _) = state
    M, m, l = 1.2, 0.3, 0.7
    model = kt.models.cart_pole(M, m, l)
    expected = [
        (M + m) * ddx + m * l * (np.cos(t) * ddt - np.sin(t) * dt**2),
        m * l**2 * ddt + m * l * np.cos(t) * ddx - m * G * l * np.sin(t),
    ]
    near = {"rtol": 0.0, "atol": 1e-14 * G}
    np.testing.assert_allclose(kt.rnea(model, [x, t], [dx, dt], [ddx, ddt]), expected, **near)
    # Solved by hand (Barto, Sutton, Anderson 1983, for a point mass).
    push = (f + m * l * dt**2 * np.sin(t)) / (M + m)
    turn = (G * np.sin(t) - np.cos(t) * push) / (l * (1.0 - m * np.cos(t) ** 2 / (M + m)))
    slide = push - m * l * turn * np.cos(t) / (M + m)
    np.testing.assert_allclose(kt.aba(model, [x, t], [dx, dt], [f, 0.0]), [slide, turn], **near)


# Christoffel symbols (section 5.2) -----------------------------------------------------------------------------------

# Joints with v = q_dot: for others v is no derivative and the symbols have further terms.
SIMPLE = (
    Revolute(), Prismatic((1, 0, 0)), Helical((0, 1, 0), 0.3), Cylindrical((0, 0, 1)), Universal(),
    SphericalEuler("zyx"), RackAndPinion(0.4), Revolute((0.6, 0.0, -0.8)),
)  # fmt: skip


def christoffel(model, q):
    """C_ijk = (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) / 2, from central differences of M (error 1e-11)."""
    dM = np.stack([along(model, q, e, lambda q: kt.crba(model, q)) for e in np.eye(model.nv)], axis=-1)
    return 0.5 * (dM + dM.transpose(0, 2, 1) - dM.transpose(2, 0, 1))


@pytest.fixture(scope="module", params=range(3))
def symbols(request):
    """A tree with joints of every kind that has v = q_dot, a state, and its Christoffel symbols."""
    model = kt.models.random_tree(6, seed=request.param, joints=SIMPLE)
    rng = np.random.default_rng(request.param)
    q, v = model.random_q(rng), rng.standard_normal(model.nv)
    with kt.interpreted():
        return model, q, v, christoffel(model, q)


def test_christoffel_symbols_give_the_coriolis_forces(symbols):
    """sum over j, k of C_ijk v_j v_k = bias - gravity = C v (eq. 5.6)."""
    model, q, v, C_ijk = symbols
    with kt.interpreted():
        found = kt.bias_forces(model, q, v) - kt.gravity_forces(model, q)
        by_matrix = kt.coriolis_matrix(model, q, v) @ v
    np.testing.assert_allclose(found, C_ijk @ v @ v, rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(by_matrix, found, rtol=0.0, atol=1e-12)


def test_coriolis_matrix_is_that_of_the_christoffel_symbols(symbols):
    """C_ij = sum over k of C_ijk v_k."""
    model, q, v, C_ijk = symbols
    with kt.interpreted():
        np.testing.assert_allclose(kt.coriolis_matrix(model, q, v), C_ijk @ v, rtol=0.0, atol=1e-9)


def test_rate_of_the_mass_matrix_minus_twice_coriolis_is_skew(symbols):
    """dM/dt - 2 C is skew, with dM/dt from the symbols: dM_ij/dq_k = C_ijk + C_jik."""
    model, q, v, C_ijk = symbols
    rate = (C_ijk + C_ijk.transpose(1, 0, 2)) @ v
    with kt.interpreted():
        N = rate - 2.0 * kt.coriolis_matrix(model, q, v)
    np.testing.assert_allclose(N + N.T, 0.0, atol=1e-9)
