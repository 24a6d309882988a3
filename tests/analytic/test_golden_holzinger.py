"""Holzinger, Gerstmayr, Schoeberl, "A rigid body formulation with non-redundant unified local velocity coordinates".

Items H01 to H09 of the paper: its formulas as printed or, where they are misprinted, as they must be; each misprint is
shown to be one. The paper's six-vectors are (linear, angular), so its matrices come as ``P A P`` with P below.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from mpmath import ellipfun, ellipk, mp, mpf
from mpmath import sqrt as mp_sqrt

import kinetree as kt
from kinetree.joints import Free, FreeUnified, Projection
from kinetree.liegroup import se3, so3, terze_rk4_step, unified_rk4_step
from kinetree.spatial import Force, Inertia, Matrix3, Motion, Symmetric3, Transform, Vector3
from kinetree.spatial.dense import crm
from tests.analytic.mechanisms import rigid_body, rotation_matrix
from tests.spatial import samples

P = np.roll(np.eye(6), 3, axis=0)  # exchanges the linear and the angular part
CUBE = Projection.hexahedral()
MOMENTS = (5.2988, 1.1775, 4.3568)  # [kg m^2], section 6
OMEGA0 = (0.01, 0.0, 100.0)  # [rad/s], eq. 88
BOX = Inertia.from_com(1.0, Vector3.zero(), Symmetric3.diagonal(*MOMENTS))
W0 = [100 / math.sqrt(2), 100 / math.sqrt(2), 0.01 / math.sqrt(2), 0.01 / math.sqrt(2), 0.0, 0.0]  # eq. 89
OMEGA1 = np.array((5.86216283263292127, 6.76901143915563665, -99.7287395030894345))  # Omega(1 s), see below


def tilde(v):
    return Matrix3.cross(Vector3.of(np.asarray(v))).array()


@pytest.fixture
def rng():
    return np.random.default_rng(2019)


# H01: Lie-group kinematics -------------------------------------------------------------------------------------------


def printed_k(n):
    """k1, k2 of eqs. 76, 77."""
    n_T, n_R = np.split(n, 2)
    t = np.linalg.norm(n_R)
    k1 = (1 - t / 2 / np.tan(t / 2)) / t**2
    k2 = n_R @ n_T / (2 * t**4) * (t**2 / (1 - np.cos(t)) + t / np.tan(t / 2) - 4)
    return k1, k2


def inverse_tangent(n):
    """T^-1 of SE(3) by eqs. 73 to 78 for D = 1, with the T_2 that is meant: an anticommutator above the diagonal."""
    n_T, n_R = (tilde(part) for part in np.split(n, 2))
    k1, k2 = printed_k(n)
    K = np.kron([[k1, k2], [0, k1]], np.eye(3))
    T1 = np.block([[n_R, n_T], [np.zeros((3, 3)), n_R]])
    T2 = np.block([[n_R @ n_R, n_T @ n_R + n_R @ n_T], [np.zeros((3, 3)), n_R @ n_R]])
    return np.eye(6) + T1 / 2 + K @ T2


def ours(n):
    """The same matrix from `se3.right_jacobian_solve`, in the paper's order."""
    u = Motion.of(P @ n)
    columns = [se3.right_jacobian_solve(u, Motion.of(column)).array() for column in np.eye(6)]
    return P @ np.array(columns).T @ P


def test_H01_inverse_tangent_operator_of_SO3(rng):
    """Eq. 76: 1 + n~/2 + k1 n~^2. Eqs. 16, 17 print (2 - cot(t/2)) / 2 instead of 1 - (t/2) cot(t/2)."""
    n = rng.normal(size=3)
    k1, _ = printed_k(np.r_[0.0, 0.0, 0.0, n])
    found = so3.right_jacobian_inverse(Vector3.of(n)).array()
    np.testing.assert_allclose(found, np.eye(3) + tilde(n) / 2 + k1 * tilde(n) @ tilde(n), rtol=0.0, atol=1e-14)
    np.testing.assert_allclose(found @ so3.right_jacobian(Vector3.of(n)).array(), np.eye(3), rtol=0.0, atol=1e-14)
    t = np.linalg.norm(n)
    garbled = np.eye(3) + tilde(n) / 2 + (2 - 1 / np.tan(t / 2)) / 2 / t**2 * tilde(n) @ tilde(n)
    assert np.abs(garbled - found).max() > 0.05


def test_H01_inverse_tangent_operator_of_SE3(rng):
    """Eqs. 73 to 78 with the anticommutator; as printed, with a commutator on the diagonal, it is off by 0.1."""
    n = rng.normal(size=6)
    np.testing.assert_allclose(ours(n), inverse_tangent(n), rtol=0.0, atol=1e-12)
    n_T, n_R = (tilde(part) for part in np.split(n, 2))
    k1, k2 = printed_k(n)
    zero = np.zeros((3, 3))
    printed = np.eye(6) + np.block([[n_R, n_T], [zero, n_R]]) / 2
    printed += np.kron([[k1, k2], [0, k1]], np.eye(3)) @ np.block([[n_T @ n_R - n_R @ n_T, zero], [zero, n_R @ n_R]])
    assert np.abs(printed - ours(n)).max() > 0.05


def test_H01_inverse_tangent_operator_is_its_series(rng):
    """T^-1(n) = sum B_k (n x)^k / k! with Bernoulli's numbers (B_1 = +1/2): what remains after B_20 is below 1e-15."""
    u = rng.normal(size=6)
    u /= np.linalg.norm(u)
    bernoulli = {0: 1, 1: 1 / 2, 2: 1 / 6, 4: -1 / 30, 6: 1 / 42, 8: -1 / 30, 10: 5 / 66, 12: -691 / 2730, 14: 7 / 6,
                 16: -3617 / 510, 18: 43867 / 798, 20: -174611 / 330}  # fmt: skip
    expected = sum(B * np.linalg.matrix_power(crm(u), k) / math.factorial(k) for k, B in bernoulli.items())
    columns = [se3.right_jacobian_solve(Motion.of(u), Motion.of(column)).array() for column in np.eye(6)]
    np.testing.assert_allclose(np.array(columns).T, expected, rtol=0.0, atol=1e-14)


def test_H01_incremental_motion_vector(rng):
    """While H = H0 exp(n) moves with the body velocity V, dn/dt = T^-1(n) V (eq. 11): differences of the logarithm.

    Body velocity: Omega~ = R^T dR/dt; eq. 8 prints dR/dt R^T, which is the velocity in fixed axes.
    """
    n, V, h = samples.motion(rng), samples.motion(rng), 1e-5
    X = se3.exp_se3(n)
    after, before = (se3.exp_se3(V * s) @ X for s in (h, -h))
    rate = (se3.log_se3(after).array() - se3.log_se3(before).array()) / (2 * h)
    np.testing.assert_allclose(se3.right_jacobian_solve(n, V).array(), rate, atol=1e-8)
    R = [E.E.matrix.array().T for E in (before, X, after)]
    R_dot = (R[2] - R[0]) / (2 * h)
    np.testing.assert_allclose(R[1].T @ R_dot, tilde(V.angular.array()), atol=1e-8)
    assert np.abs(R_dot @ R[1].T - tilde(V.angular.array())).max() > 0.1


# H02, H03: coordinates and fields ------------------------------------------------------------------------------------


def test_H02_hexahedral_projection_as_printed():
    """Eqs. 19 to 24 and 54: D for half edges l1, l2, l3."""
    l1, l2, l3, s = 0.3, 0.2, 0.5, 1 / math.sqrt(2)
    printed = s * np.array(
        [[1, 0, 0, 0, 0, l2], [-1, 0, 0, 0, 0, l2], [0, 1, 0, l3, 0, 0], [0, -1, 0, l3, 0, 0], [0, 0, 1, 0, l1, 0],
         [0, 0, -1, 0, l1, 0]]
    )  # fmt: skip
    np.testing.assert_allclose(Projection.hexahedral(l1, l2, l3).D @ P, printed, rtol=0.0, atol=2e-16)


def test_H02_cube_is_orthogonal():
    """l = 1: D D^T = 1, det D = -1 in the paper's order, D^-1 = D^T (section 4.1), and D^T as printed in eq. 71."""
    D = CUBE.D @ P
    np.testing.assert_allclose(D @ D.T, np.eye(6), rtol=0.0, atol=1e-15)
    assert np.linalg.det(D) == pytest.approx(-1.0, abs=1e-14)
    printed = np.array(
        [[1, -1, 0, 0, 0, 0], [0, 0, 1, -1, 0, 0], [0, 0, 0, 0, 1, -1], [0, 0, 1, 1, 0, 0], [0, 0, 0, 0, 1, 1],
         [1, 1, 0, 0, 0, 0]]
    ) / math.sqrt(2)  # fmt: skip
    np.testing.assert_allclose(P @ CUBE.D_inverse, printed, rtol=0.0, atol=1e-15)


def test_H02_tetrahedral_projection():
    """Fig. 4b: edges of a regular tetrahedron, whose middles are the centers of the cube's faces; orthogonal."""
    tetrahedron = Projection.tetrahedral()
    np.testing.assert_allclose(tetrahedron.D @ tetrahedron.D.T, np.eye(6), rtol=0.0, atol=1e-15)
    assert sorted(tetrahedron.points) == sorted(CUBE.points)


def test_H02_initial_velocities():
    """Eq. 89: w of the angular velocity (0.01, 0, 100)."""
    np.testing.assert_allclose(CUBE.coordinates(Motion(Vector3(*OMEGA0), Vector3.zero())), W0, rtol=1e-15)


def test_H03_interpolation_matrix_as_printed(rng):
    """Eq. 27, at any point."""
    l1, l2, l3 = 0.3, 0.2, 0.5
    y1, y2, y3 = rng.normal(size=3).tolist()
    printed = np.array(
        [[1 - y2 / l2, -1 - y2 / l2, 0, 0, y3 / l1, y3 / l1], [y1 / l2, y1 / l2, 1 - y3 / l3, -1 - y3 / l3, 0, 0],
         [0, 0, y2 / l3, y2 / l3, 1 - y1 / l1, -1 - y1 / l1]]
    ) / math.sqrt(2)  # fmt: skip
    N = Projection.hexahedral(l1, l2, l3).interpolation(Vector3(y1, y2, y3))
    np.testing.assert_allclose(np.array([column.array() for column in N]).T, printed, rtol=1e-13, atol=1e-14)


def test_H03_rates_of_the_axes_as_printed(rng):
    """Eq. 40."""
    l1, l2, l3 = 0.3, 0.2, 0.5
    w = rng.normal(size=6)
    a, b, c = (w[0] + w[1]) / l2, (w[2] + w[3]) / l3, (w[4] + w[5]) / l1
    printed = np.array([[0, -a, c], [a, 0, -b], [-c, b, 0]]) / math.sqrt(2)
    found = Projection.hexahedral(l1, l2, l3).spin(w.tolist()).array()
    np.testing.assert_allclose(found, printed, rtol=1e-13, atol=1e-14)


# H04: equations of motion --------------------------------------------------------------------------------------------


def body(rng):
    m, *J = 1.7, 2.0, 2.5, 1.2
    return m, *J, Inertia.from_com(m, Vector3.zero(), Symmetric3.diagonal(*J)), rng.normal(size=6).tolist()


def test_H04_mass_matrix_as_printed(rng):
    """Eq. 60 for the cube and a diagonal J."""
    m, J1, J2, J3, inertia, _ = body(rng)
    printed = np.zeros((6, 6))
    for k, J in enumerate((J3, J1, J2)):
        printed[2 * k : 2 * k + 2, 2 * k : 2 * k + 2] = [[m + J, J - m], [J - m, m + J]]
    np.testing.assert_allclose(np.array(CUBE.mass_matrix(inertia)), printed / 2, rtol=0.0, atol=1e-14)


def test_H04_velocity_terms_as_printed(rng):
    """Eq. 61 with two rows mended: -(J11 - J22) in row 1, -m(... - (w1 - w2)(w5 + w6)) in row 6."""
    m, J1, J2, J3, inertia, w = body(rng)
    w1, w2, w3, w4, w5, w6 = w

    def rows(first, last):
        return np.array([
            m * (w1 + w2) * (w4 - w3) + (first * (w3 + w4) + m * (w5 - w6)) * (w5 + w6),
            m * (w1 + w2) * (w3 - w4) - ((J1 - J2) * (w3 + w4) + m * (w5 - w6)) * (w5 + w6),
            m * (w1**2 - w2**2 - (w3 + w4) * (w5 - w6)) - (J2 - J3) * (w1 + w2) * (w5 + w6),
            -m * (w1**2 - w2**2 - (w3 + w4) * (w5 - w6)) - (J2 - J3) * (w1 + w2) * (w5 + w6),
            m * (w3**2 - w4**2 - (w1 - w2) * (w5 + w6)) + (J1 - J3) * (w1 + w2) * (w3 + w4),
            last + (J1 - J3) * (w1 + w2) * (w3 + w4),
        ]) / (2 * math.sqrt(2))  # fmt: skip

    found = np.array(CUBE.bias_force(inertia, w))
    mended = rows(-(J1 - J2), -m * (w3**2 - w4**2 - (w1 - w2) * (w5 + w6)))
    np.testing.assert_allclose(found, mended, rtol=0.0, atol=1e-13)
    printed = rows(-J1 - J2, m * (w3**2 - w4**2 + (w1 - w2) * (w5 + w6)))
    wrong = np.abs(found - printed) > 1e-3
    assert wrong.tolist() == [True, False, False, False, False, True]


def test_H04_velocity_matrix_of_the_integral_is_not_that_of_the_product(rng):
    """Eqs. 49 and 56 give different matrices Gamma with the same Gamma w: int y~ E y~ is skew, E J is not."""
    _, J1, J2, J3, inertia, w = body(rng)
    m, E = inertia.m, CUBE.spin(w).array()
    D, zero = CUBE.D @ P, np.zeros((3, 3))
    product = D @ np.block([[E * m, zero], [zero, E @ np.diag((J1, J2, J3))]]) @ D.T
    integral = np.array(CUBE.velocity_matrix(inertia, w))
    np.testing.assert_allclose(product @ w, integral @ w, rtol=0.0, atol=1e-13)
    np.testing.assert_allclose(integral, -integral.T, rtol=0.0, atol=1e-14)
    assert np.abs(product - integral).max() > 0.1


def test_H04_model_in_unified_velocities(rng):
    """crba, rnea and aba of a body on a `FreeUnified` joint are M, M dw/dt + Gamma w = Q, and its solution."""
    J = np.array([[2.0, 0.2, -0.1], [0.2, 2.5, 0.3], [-0.1, 0.3, 1.2]])
    c, l = (0.1, -0.2, 0.3), Projection.hexahedral(0.3, 0.2, 0.5)
    b = kt.ModelBuilder("body", gravity=(0.0, 0.0, 0.0))
    b.add_body("body", joint=FreeUnified(l), mass=1.7, com=c, inertia=J)
    model, inertia = b.build(), Inertia.from_com(1.7, Vector3(*c), Symmetric3.of(J))
    q, w, w_dot = model.random_q(rng), rng.normal(size=6), rng.normal(size=6)
    M, Gamma = (np.array(A) for A in (l.mass_matrix(inertia), l.velocity_matrix(inertia, w.tolist())))
    np.testing.assert_allclose(kt.crba(model, q), M, rtol=1e-12, atol=1e-12 * np.abs(M).max())
    Q = M @ w_dot + Gamma @ w
    np.testing.assert_allclose(kt.rnea(model, q, w, w_dot), Q, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(kt.aba(model, q, w, Q), w_dot, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(l.acceleration(inertia, w.tolist(), Q.tolist()), w_dot, rtol=1e-10, atol=1e-10)


# H05 to H07: integration, and the box of section 6 -------------------------------------------------------------------


def exact_rates(t) -> np.ndarray:
    """Omega(t) of the box: Jacobi elliptic functions to 40 digits (Landau and Lifshitz, Mechanics, section 37).

    The moments in order are those about y, z, x, so the motion starts close to the intermediate axis, z. Section 6 has
    J11 > J22 > J33 instead, which does not fit its numbers.
    """
    with mp.workdps(40):
        J3, J1, J2 = (mpf(str(J)) for J in MOMENTS)
        wx, _, wz = (mpf(str(w)) for w in OMEGA0)
        T2, L2 = J3 * wx**2 + J2 * wz**2, J3**2 * wx**2 + J2**2 * wz**2  # twice the energy, momentum squared
        m = (J2 - J1) * (T2 * J3 - L2) / ((J3 - J2) * (L2 - T2 * J1))
        rate = mp_sqrt((J3 - J2) * (L2 - T2 * J1) / (J1 * J2 * J3))
        u = ellipk(m) + rate * mpf(str(t))  # at t = 0, cn = 0 and sn = 1
        y = mp_sqrt((T2 * J3 - L2) / (J1 * (J3 - J1))) * ellipfun("cn", u, m=m)
        z = mp_sqrt((T2 * J3 - L2) / (J2 * (J3 - J2))) * ellipfun("sn", u, m=m)
        x = mp_sqrt((L2 - T2 * J1) / (J3 * (J3 - J1))) * ellipfun("dn", u, m=m)
        return np.array([float(x), float(y), float(z)])


def unified_run(steps, projection=CUBE, duration=1.0):
    """(R, Omega) after the single-body method."""
    X, w = Transform.identity(), projection.coordinates(Motion(Vector3(*OMEGA0), Vector3.zero()))
    for _ in range(steps):
        X, w = unified_rk4_step(projection, BOX, duration / steps, X, w)
    return X.E.matrix.array().T, projection.twist(w).angular.array()


def terze_run(steps, duration=1.0):
    q, omega = (1.0, 0.0, 0.0, 0.0), Vector3(*OMEGA0)
    for _ in range(steps):
        q, omega = terze_rk4_step(BOX.I, duration / steps, q, omega)
    return np.array(q), omega.array()


def rolled(joint, integrator, steps):
    """(quaternion, Omega) of the whole-model integrator, compiled."""
    model = rigid_body(MOMENTS, joint=joint)
    D, D_inverse = (joint.projection.D, joint.projection.D_inverse) if isinstance(joint, FreeUnified) else (1.0, 1.0)
    v0 = np.r_[OMEGA0, 0.0, 0.0, 0.0]
    start = D @ v0 if isinstance(joint, FreeUnified) else v0
    q, v = kt.rollout(
        model,
        model.neutral(),
        start,
        None,
        1.0 / steps,
        steps=steps,
        record=kt.Record(every=steps),
        integrator=integrator,
    )
    v = v[-1]
    return q[-1, 3:], (D_inverse @ v if isinstance(joint, FreeUnified) else v)[:3]


def test_H07_closed_form():
    """Omega(0) is that of eq. 88, Omega(1) the number below; equations of Euler by differences."""
    np.testing.assert_allclose(exact_rates(0), OMEGA0, rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(exact_rates(1), OMEGA1, rtol=1e-15)
    t, h = 0.31, 1e-5
    rate = (exact_rates(t + h) - exact_rates(t - h)) / (2 * h)
    w, J = exact_rates(t), np.array(MOMENTS)
    np.testing.assert_allclose(J * rate, np.cross(J * w, w), atol=2e-3)  # third derivatives of order 1e7, times h^2 / 6


@pytest.mark.parametrize("joint, integrator", [(FreeUnified(), "rk4"), (Free(), "terze")], ids=["ulvc", "f1"])
def test_H05_H06_slope_four(joint, integrator):
    """Fig. 11: the error of Omega at 1 s falls by 2^4 when h is halved, from 1/320 to 1/1280; 4.3e-5 is left there.

    Coarser steps are no longer in the regime of the leading term (the growth rate is 69/s); finer ones reach rounding,
    which the instability magnifies to 1e-6: the motion leaves the axis from a ratio of 1e-4, in every flip anew.
    """
    errors = [np.linalg.norm(rolled(joint, integrator, n)[1] - OMEGA1) for n in (320, 640, 1280)]
    slopes = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.all(np.abs(slopes - 4.0) < 0.1)
    assert errors[-1] == pytest.approx(4.3e-5, rel=0.05)


def test_H05_order_four_at_leisure():
    """Under a force that depends on pose and time: order 4 in pose and rates.

    With the force at H_i in all four stages, as eqs. 82 to 85 are printed, the order is 1: it belongs at H_i exp(K / 2)
    and H_i exp(K).
    """
    projection = Projection.along_edges(((1, 0, 0), (0, 1, 0.2), (0, 0, 1), (-1, -1, -1)))
    inertia = Inertia.from_com(2.0, Vector3(0.1, -0.2, 0.3), Symmetric3(0.6, 0.02, 0.5, -0.01, 0.03, 0.4))
    start = projection.coordinates(Motion.of([1.0, -0.5, 0.7, 0.2, 0.1, -0.3]))

    def pull(t, X, w):
        """A spring to the world's origin and a push that varies in time."""
        f = X.E @ (-(X.r) * 3.0 + Vector3(math.sin(3 * t), 0.5, 0.0))
        return projection.generalized_force(Force.at_point(f, Vector3(0.2, 0.0, 0.1)))

    def run(steps, frozen):
        X, w = Transform.identity(), start
        for k in range(steps):
            force = (lambda t, _, w, X=X: pull(t, X, w)) if frozen else pull
            X, w = unified_rk4_step(projection, inertia, 1.0 / steps, X, w, t=k / steps, force=force)
        return np.r_[X.matrix().ravel(), w]

    for frozen, order in ((False, 4.0), (True, 1.0)):
        results = [run(n, frozen) for n in (20, 40, 80, 160)]
        gaps = [np.linalg.norm(a - b) for a, b in zip(results[:-1], results[1:], strict=True)]
        assert np.all(np.abs(np.log2(np.array(gaps[:-1]) / gaps[1:]) - order) < 0.06)


@pytest.mark.parametrize("projection", [CUBE, Projection.tetrahedral(0.4, 0.7, 0.2)], ids=["cube", "tetrahedron"])
def test_H05_H06_both_methods_are_one(projection):
    """Runge-Kutta methods commute with linear maps, so w, Omega and Terze's quaternions give the same numbers.

    To rounding, 1e-16 of 100 rad/s in each of 64 steps, magnified by exp(69 t) = 1e6 until 0.2 s. The paper has up to
    0.058 between them.
    """
    R, omega = unified_run(64, projection, 0.2)
    q, expected = terze_run(64, 0.2)
    np.testing.assert_allclose(omega, expected, rtol=0.0, atol=1e-7)
    np.testing.assert_allclose(R, rotation_matrix(q), rtol=0.0, atol=1e-8)


def test_H06_H09_integrators_of_models_are_the_paper_s():
    """`rk4` on a `FreeUnified` joint is eqs. 82 to 87, `terze` on a `Free` joint Terze's step: the same numbers."""
    for joint, integrator in ((FreeUnified(), "rk4"), (Free(), "rk4"), (Free(), "terze")):
        quaternion, omega = rolled(joint, integrator, 320)
        R, expected = unified_run(320)
        np.testing.assert_allclose(omega, expected, rtol=0.0, atol=1e-5)
        np.testing.assert_allclose(rotation_matrix(quaternion), R, rtol=0.0, atol=1e-6)


@pytest.mark.parametrize("steps", [80, 320, 1280])
def test_H07_determinant_is_one_at_every_step_size(steps):
    """Figs. 10, 12: det R - 1 and |q|^2 - 1 grow by rounding alone, below 1e-13, without any normalization."""
    R, _ = unified_run(steps)
    q, _ = terze_run(steps)
    assert abs(np.linalg.det(R) - 1.0) < 1e-13
    assert np.abs(R @ R.T - np.eye(3)).max() < 1e-13
    assert abs(q @ q - 1.0) < 1e-13


def test_H07_the_point_flips():
    """Figs. 7 to 9: p = (0, 0, 1) goes from z = +1 to -1 and back; Omega_3 from 100 to -100; energy, momentum stay."""
    model = rigid_body(MOMENTS, joint=FreeUnified())
    q, w = kt.rollout(model, model.neutral(), np.array(W0), None, 1e-4, steps=10000, integrator="rk4")
    V = w @ CUBE.D_inverse.T
    R, omega, J = rotation_matrix(q[:, 3:]), V[:, :3], np.array(MOMENTS)
    z = R[:, 2, 2]
    assert z.max() > 0.9999 and z.min() < -0.9999 and np.abs(V[:, 3:]).max() < 1e-12
    assert omega[:, 2].max() > 99.99 and omega[:, 2].min() < -99.99
    assert np.count_nonzero(np.diff(np.sign(omega[:, 2]))) == 3  # flips within the second, every 0.299 s
    energy = 0.5 * (J * omega**2).sum(1)
    assert np.abs(energy / (0.5 * (J * np.square(OMEGA0)).sum()) - 1.0).max() < 1e-9
    L = np.einsum("tij,tj->ti", R, J * omega)
    np.testing.assert_allclose(L, np.broadcast_to(J * OMEGA0, L.shape), rtol=0.0, atol=1e-6)  # of 436 kg m^2/s


def test_H07_steps_of_the_paper_that_are_too_long():
    """h = 1/10 and 1/40 of its list: RK4 is not stable at 69/s h = 7 and 1.7, energy grows within a few steps."""
    for h, count in ((1 / 10, 3), (1 / 40, 36)):
        X, w = Transform.identity(), list(W0)
        for _ in range(count):
            X, w = unified_rk4_step(CUBE, BOX, h, X, w)
        assert BOX.kinetic_energy(CUBE.twist(w)) > 1.5 * BOX.kinetic_energy(CUBE.twist(W0))


# H09: inside the library ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("integrator", ["rk4", "semi_implicit"])
def test_H09_floating_base_in_unified_velocities(integrator):
    """A quadruped whose base has w for velocities moves as with a twist: steps commute with linear maps.

    Without dry friction, whose smoothed jump is too stiff for RK4 and magnifies rounding.
    """
    twist = kt.load("quadruped", floating_base=True).without_limits()
    twist = twist.replace(dry_friction=np.zeros(twist.nv))
    joint = FreeUnified(Projection.tetrahedral(0.3, 0.15, 0.1))
    unified = kt.surgery.with_base(twist, joint)
    rng = np.random.default_rng(4)
    q0, v0 = twist.random_q(rng), rng.normal(size=twist.nv)
    w0 = np.r_[joint.projection.D @ v0[:6], v0[6:]]
    q, v = kt.rollout(twist, q0, v0, None, 1e-3, steps=100, record=kt.Record(every=100), integrator=integrator)
    q_u, w = kt.rollout(unified, q0, w0, None, 1e-3, steps=100, record=kt.Record(every=100), integrator=integrator)
    np.testing.assert_allclose(q_u[-1], q[-1], rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(joint.projection.D_inverse @ w[-1, :6], v[-1, :6], rtol=0.0, atol=1e-9)
