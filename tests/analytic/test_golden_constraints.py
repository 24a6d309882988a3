"""Chapter 3's equations and examples: constraints in both forms, joints, one constrained body by three methods.

Inventory C03.06 to C03.22; Featherstone (2008), sections 3.2 to 3.6.
"""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import UnsupportedError
from kinetree.joints import Free, Prismatic, Revolute, examples
from kinetree.spatial import Motion
from kinetree.spatial.dense import crf, crm, skew
from kinetree.spatial.subspaces import apparent_inverse_inertia, is_same
from tests.identities.systems import close
from tests.spatial.samples import inertia
from tests.trees.maximal import Bodies

G = 9.81

# Section 3.2: a two-link arm whose tip slides along the x axis, so that the elbow follows the shoulder ----------------

L1, L2 = 0.5, 1.2


class Slider:
    """The constraint of the arm's tip in both forms, by hand, at y = q1 with the rate yd."""

    def __init__(self, y, yd):
        self.y, self.yd = y, yd
        s, c = L1 * np.sin(y), L1 * np.cos(y)
        w = np.sqrt(L2**2 - s**2)  # distance from the elbow's foot to the tip
        self.q = np.array([y, -y - np.arcsin(s / L2)])
        self.G = np.array([[1.0], [-1.0 - c / w]])
        self.g = np.array([0.0, (s / w - c**2 * s / w**3) * yd**2])
        self.qd = self.G[:, 0] * yd

    @staticmethod
    def phi(q):
        """Height of the tip."""
        return L1 * np.sin(q[0]) + L2 * np.sin(q[0] + q[1])

    @staticmethod
    def K(q):
        """d phi / dq."""
        return np.array([[L1 * np.cos(q[0]) + L2 * np.cos(q[0] + q[1]), L2 * np.cos(q[0] + q[1])]])

    @staticmethod
    def k(q, v):
        """- dK/dt v."""
        return np.array([L1 * np.sin(q[0]) * v[0] ** 2 + L2 * np.sin(q[0] + q[1]) * (v[0] + v[1]) ** 2])


@pytest.fixture(scope="module")
def arm():
    """Two rods in a vertical plane, x to the right and y upward."""
    b = kt.ModelBuilder("arm", gravity=(0.0, -G, 0.0))
    for k, (length, mass) in enumerate([(L1, 2.0), (L2, 3.0)]):
        parent, at = (f"rod{k - 1}", (L1, 0, 0)) if k else ("world", (0, 0, 0))
        thin = mass * length**2 / 12 * np.diag([0.01, 1, 1])
        b.add_body(f"rod{k}", parent, Revolute(), f"joint{k}", (at, (0, 0, 0)), mass=mass, com=(length / 2, 0, 0),
                   inertia=thin)  # fmt: skip
    return b.build()


STATES = [(0.3, 1.0), (1.9, -2.0), (-2.5, 0.7)]
states = pytest.mark.parametrize("state", STATES)


@states
def test_implicit_and_explicit_forms_are_one_constraint(state):
    """C03.06, eq. 3.11-3.12: phi(gamma(y)) = 0, K G = 0, K g = k; G and g are derivatives of gamma, K of phi."""
    at = Slider(*state)
    close(at.phi(at.q), 0.0)
    close(at.K(at.q) @ at.G, np.zeros((1, 1)))
    close(at.K(at.q) @ at.g, at.k(at.q, at.qd))
    h = 1e-4  # error h^2 = 1e-8
    back, ahead = (Slider(at.y + s * at.yd * h, at.yd) for s in (-1, 1))
    np.testing.assert_allclose((ahead.q - back.q) / (2 * h), at.qd, atol=1e-6)
    np.testing.assert_allclose((ahead.qd - back.qd) / (2 * h), at.g, atol=1e-6)


def forms(arm, state, tau):
    """Solutions (qdd, tau_c) of eq. 3.17, 3.18, 3.19 with erratum 10, and 3.20."""
    at = Slider(*state)
    H, C = kt.crba(arm, at.q), kt.bias_forces(arm, at.q, at.qd)
    K, k, G_, g = at.K(at.q), at.k(at.q, at.qd), at.G, at.g
    one, zero = np.eye(2), np.zeros((2, 1))
    x = np.linalg.solve(np.block([[H, K.T], [K, np.zeros((1, 1))]]), np.r_[tau - C, k])
    found = {"3.17": (x[:2], -K.T @ x[2:])}
    blocks = [[H, -one, zero], [-one, np.zeros((2, 2)), G_], [zero.T, G_.T, np.zeros((1, 1))]]
    x = np.linalg.solve(np.block(blocks), np.r_[tau - C, -g, 0.0])
    found["3.18"] = x[:2], x[2:4]
    H_inv = np.linalg.inv(H)
    x = np.linalg.solve(np.block([[-H_inv, G_], [G_.T, np.zeros((1, 1))]]), np.r_[H_inv @ (tau - C) - g, 0.0])
    found["3.19"] = G_ @ x[2:] + g, x[:2]
    ydd = np.linalg.solve(G_.T @ H @ G_, G_.T @ (tau - C - H @ g))
    found["3.20"] = G_ @ ydd + g, H @ (G_ @ ydd + g) - (tau - C)
    return at, H, C, found


@states
def test_constrained_dynamics_in_four_forms(arm, state):
    """C03.08, C03.09, eq. 3.17-3.20: one acceleration and one constraint force, with -H^-1 in eq. 3.19 (erratum 10)."""
    tau = np.array([3.0, -1.0])
    _, _, _, found = forms(arm, state, tau)
    for qdd, tau_c in found.values():
        close(qdd, found["3.17"][0], scale=100.0)
        close(tau_c, found["3.17"][1], scale=100.0)


@states
def test_constraint_forces_do_no_work(arm, state):
    """C03.07, eq. 3.14-3.16: tau_c = K^T lambda, G^T tau_c = 0."""
    at, _, _, found = forms(arm, state, np.array([3.0, -1.0]))
    tau_c = found["3.20"][1]
    close(at.G.T @ tau_c, np.zeros(1), scale=100.0)
    lam = np.linalg.lstsq(at.K(at.q).T, tau_c, rcond=None)[0]
    close(at.K(at.q).T @ lam, tau_c, scale=100.0)
    close(tau_c @ at.qd, 0.0, scale=100.0)


@states
def test_reduced_equation_has_the_same_energy_and_power(arm, state):
    """C03.09, eq. 3.21-3.23: T = yd H_G yd / 2, u . yd = tau . qd, and their balance with what gravity does."""
    tau = np.array([3.0, -1.0])
    at, H, C, found = forms(arm, state, tau)
    H_G, C_G = (at.G.T @ H @ at.G)[0, 0], (at.G.T @ (C + H @ at.g))[0]
    close(0.5 * H_G * at.yd**2, kt.kinetic_energy(arm, at.q, at.qd))
    u = (at.G.T @ tau)[0]
    close(u * at.yd, tau @ at.qd)
    close((u - C_G) / H_G, found["3.17"][0][0], scale=100.0)
    h = 1e-4  # the rate of energy along the motion is the power of tau; error h^2
    ydd = found["3.17"][0][0]

    def energy(t):
        there = Slider(at.y + at.yd * t + 0.5 * ydd * t * t, at.yd + ydd * t)
        return kt.kinetic_energy(arm, there.q, there.qd) + kt.potential_energy(arm, there.q)

    np.testing.assert_allclose((energy(h) - energy(-h)) / (2 * h), u * at.yd, rtol=1e-5, atol=1e-5)


def test_equal_angles_are_one_freedom():
    """S2.08, eq. 2.80-2.83: a chain whose joints turn alike has J_rR = (1 ... 1)^T; couplings and eq. 3.17 agree."""
    n = 5
    free = kt.models.n_pendulum(n)
    b = kt.ModelBuilder.of(free)
    for k in range(2, n + 1):
        b.add_coupling(f"joint{k}", "joint1")
    coupled = b.build()
    q, v, tau = np.full(n, 0.4), np.full(n, -0.8), np.arange(1.0, n + 1)
    J = np.ones((n, 1))
    M, c = kt.crba(free, q), kt.bias_forces(free, q, v)
    thetadd = np.linalg.solve(J.T @ M @ J, J.T @ (tau - c))
    close(kt.forward_dynamics(coupled, q, v, tau), np.full(n, thetadd[0]), scale=10.0)
    K = np.eye(n)[:-1] - np.eye(n)[1:]  # neighbors turn alike: the same as constraints
    matrix = np.block([[M, K.T], [K, np.zeros((n - 1, n - 1))]])
    close(np.linalg.solve(matrix, np.r_[tau - c, np.zeros(n - 1)])[:n], J @ thetadd, scale=10.0, ulps=1e5)


# Section 3.4: constraints that are no joints -------------------------------------------------------------------------


def test_three_discs_in_a_string():
    """C03.15, figure 3.2 (c): l1 + l2 + l3 + 2 pi r = p holds three bodies; turning, it pulls m w^2 R / sqrt(3).

    The discs' centers form an equilateral triangle about the axis at distance R. The two straight parts that leave a
    disc are at 30 degrees to the inward direction.
    """
    m, w, R = 0.7, 3.0, 0.4
    b = kt.ModelBuilder("discs", gravity=(0, 0, 0))
    for k in range(3):
        b.add_body(f"carrier{k}", joint=Prismatic((1, 0, 0)))
        b.add_body(f"disc{k}", f"carrier{k}", Prismatic((0, 1, 0)), mass=m, inertia=np.eye(3))
    discs = b.build()
    angle = 2.0 * np.pi / 3.0 * np.arange(3)
    q = (R * np.column_stack([np.cos(angle), np.sin(angle)])).ravel()
    v = (w * R * np.column_stack([-np.sin(angle), np.cos(angle)])).ravel()

    def K(q):
        x, rows = q.reshape(3, 2), np.zeros((3, 2))
        for i, j in ((0, 1), (1, 2), (2, 0)):
            along = (x[i] - x[j]) / np.linalg.norm(x[i] - x[j])
            rows[i] += along
            rows[j] -= along
        return rows.reshape(1, 6)

    h = 1e-5
    k = -(K(q + h * v) - K(q - h * v)) @ v / (2 * h)  # error h^2
    H = kt.crba(discs, q)
    x = np.linalg.solve(np.block([[H, K(q).T], [K(q), np.zeros((1, 1))]]), np.r_[-kt.bias_forces(discs, q, v), k])
    np.testing.assert_allclose(x[6], m * w**2 * R / np.sqrt(3.0), rtol=1e-8)  # -lambda, the pull of the string
    np.testing.assert_allclose(x[:6], -(w**2) * q, atol=1e-7)
    close(K(q) @ v, np.zeros(1))


RADIUS, SLOPE = 0.2, 0.3


@pytest.fixture(scope="module")
def ball():
    """A solid ball of 1.5 kg; gravity is that of an incline whose normal is z and which falls along x."""
    b = kt.ModelBuilder("ball", gravity=(G * np.sin(SLOPE), 0.0, -G * np.cos(SLOPE)))
    b.add_body("ball", joint=Free(), mass=1.5, inertia=0.4 * 1.5 * RADIUS**2 * np.eye(3))
    return b.build()


def rolling(model, q, v):
    """K and k of a ball that rolls on z = 0: the velocity v_C + r n x w of the point of contact is zero (eq. 3.29)."""
    lever = RADIUS * skew([0.0, 0.0, 1.0])
    J = kt.jacobian(model, q, frame="ball", reference="local_world_aligned")
    rate = kt.kinematics.jacobian_rate(model, q, v, frame="ball", reference="local_world_aligned")
    return J[3:] + lever @ J[:3], -(rate[3:] + lever @ rate[:3]) @ v


@pytest.mark.parametrize("spin", [0.0, 5.0])
def test_rolling_ball_accelerates_by_five_sevenths(ball, spin):
    """C03.15, figure 3.2 (d): with velocity constraints alone the ball gains 5/7 g sin(slope), however it rolls."""
    q = np.r_[0.3, -0.1, RADIUS, 0.8, 0.0, 0.6, 0.0]
    w = np.array([0.4, -1.1, spin])  # in world axes; the center moves with -r n x w
    R = np.linalg.inv(kt.pose(ball, q, frame="ball").R_WF)
    v = np.r_[R @ w, R @ -(RADIUS * skew([0.0, 0.0, 1.0]) @ w)]
    K, k = rolling(ball, q, v)
    close(K @ v, np.zeros(3))
    M = kt.crba(ball, q)
    x = np.linalg.solve(np.block([[M, K.T], [K, np.zeros((3, 3))]]), np.r_[-kt.bias_forces(ball, q, v), k])
    a = kt.acceleration(ball, q, v, x[:6], frame="ball", reference="local_world_aligned", kind="classical")
    close(a[3:], np.array([5.0 / 7.0 * G * np.sin(SLOPE), 0.0, 0.0]), scale=10.0)


def test_rolling_around_a_square_turns_the_ball(ball):
    """C03.15: three freedoms of velocity, five of position: back at the start the ball is turned."""
    q = np.r_[0.0, 0.0, RADIUS, 1.0, 0.0, 0.0, 0.0]
    for direction in ((1, 0), (0, 1), (-1, 0), (0, -1)):
        step = np.array([*direction, 0.0]) * RADIUS * np.pi / 2
        w = skew([0.0, 0.0, 1.0]) @ step / RADIUS  # v = w x r n
        R = kt.pose(ball, q, frame="ball").R_WF.T
        K, _ = rolling(ball, q, np.r_[R @ w, R @ step])
        close(K @ np.r_[R @ w, R @ step], np.zeros(3))
        parts = 64  # along a straight line the velocity is constant in world axes
        for _ in range(parts):
            R = kt.pose(ball, q, frame="ball").R_WF.T
            turned = kt.integrate(ball, q, np.r_[R @ w, np.zeros(3)] / parts)
            q = np.r_[q[:3] + step / parts, turned[3:]]
    close(q[:3], np.array([0.0, 0.0, RADIUS]))
    assert abs(q[3]) < 0.9  # four quarter turns about y, -x, -y, x are no identity
    assert kt.models.free_body().nv - np.linalg.matrix_rank(rolling(ball, q, np.zeros(6))[0]) == 3


# Section 3.5: joints -------------------------------------------------------------------------------------------------


def test_gear_driven_hinge():
    """C03.17, C03.19, example 3.2: T_a = [0 0 1 0 -1/r 0]^T; r changes the bearing's force, not the motion."""
    b = kt.ModelBuilder("wheel", gravity=(0, 0, 0))
    b.add_body("wheel", joint=Revolute(), mass=3.0, com=(0.1, 0.0, 0.0), inertia=np.diag([0.2, 0.3, 0.4]))
    wheel, tau, v = b.build(), np.array([2.0]), np.array([1.5])
    found = {}
    for r in (0.05, 0.1):
        f = np.array([0.0, 0.0, -r, 0.0, 1.0, 0.0])  # a force of 1 N along y at the contact (-r, 0, 0)
        close(f[:3], np.cross([-r, 0.0, 0.0], f[3:]))
        bodies = Bodies(wheel, np.zeros(1), v)
        bodies.T_a[1] = (f / (f @ bodies.S[1]))[:, None]
        close(bodies.T_a[1][:, 0], np.array([0.0, 0.0, 1.0, 0.0, -1.0 / r, 0.0]))
        solution = bodies.solve(tau)
        found[r] = solution.qdd, solution.f_J[0] - bodies.T_a[1] @ tau, solution.f_J[0]
    (a1, bearing1, whole1), (a2, bearing2, whole2) = found.values()
    close(a1, kt.aba(wheel, np.zeros(1), v, tau))
    close(a2, a1)
    close(whole2, whole1)
    close(bearing1 - bearing2, np.array([0.0, 0.0, 0.0, 0.0, 2.0 / 0.05 - 2.0 / 0.1, 0.0]))


def with_constraint_forces():
    """The registered joints that have an implicit form, by their labels, and the reversed ones."""
    for label, joint in examples(np.random.default_rng(0)):
        try:
            joint.implicit(joint.transform(joint.neutral()))
        except UnsupportedError:
            continue
        yield pytest.param(joint, id=label)


JOINTS = list(with_constraint_forces())
every_joint = pytest.mark.parametrize("joint", JOINTS)


def constrained_body(joint):
    """One body on the joint, in a random state: I, S, T, v, Sdot qd and Tdot in body coordinates; the state."""
    rng = np.random.default_rng(1)
    q, qd = joint.random(rng), list(rng.standard_normal(joint.nv))
    X, V = joint.transform(q), joint.velocity(q, qd)
    T, ring = joint.implicit(X)[1], joint.force_basis_rate(X, V)
    S, T, ring = (np.array([x.array() for x in columns], dtype=float).reshape(-1, 6).T
                  for columns in (joint.motion_subspace(q), T, ring))  # fmt: skip
    v = np.array(V.array(), dtype=float)
    return inertia(rng), S, T, v, joint.bias(q, qd).array() + crm(v) @ v, ring + crf(v) @ T, q, qd, rng


@every_joint
def test_constrained_body_by_three_methods(joint):
    """C03.20-C03.22, eq. 3.45-3.64: projection, constraint forces, generalized coordinates; and aba of the body."""
    body, S, T, v, Sdot_qd, Tdot, q, qd, rng = constrained_body(joint)
    I, f = np.asarray(body.matrix(), dtype=float), rng.standard_normal(6)
    p = crf(v) @ I @ v
    # Method 1: a = Phi f + b
    Phi = apparent_inverse_inertia(I, S)
    a = Phi @ f + Sdot_qd - Phi @ (I @ Sdot_qd + p)
    size = np.linalg.cond(I) * (np.linalg.cond(S) ** 2 if S.size else 1.0) * max(1.0, np.abs(p).max())
    # Method 2: with T and lambda
    n = T.shape[1]
    matrix = np.block([[I, T], [T.T, np.zeros((n, n))]])
    found = np.linalg.solve(matrix, np.r_[f - p, -Tdot.T @ v])
    close(found[:6], a, scale=size * np.linalg.cond(matrix) ** 0.5)
    f_c = -T @ found[6:]
    close(f + f_c, I @ a + p, scale=size * np.linalg.cond(matrix) ** 0.5)
    assert np.sum(np.linalg.eigvalsh(matrix) > 0.0) == 6
    # Method 3: H qdd + C = tau
    if joint.nv:
        H, C = S.T @ I @ S, S.T @ (I @ Sdot_qd + p)
        qdd = np.linalg.solve(H, S.T @ f - C)
        close(S @ qdd + Sdot_qd, a, scale=size)
        b = kt.ModelBuilder("body", gravity=(0, 0, 0))
        com = np.array(list(body.com))
        about = I[:3, :3] - body.m * skew(com) @ skew(com).T
        b.add_body("body", joint=joint, mass=body.m, com=com, inertia=about)
        with kt.interpreted():
            close(kt.aba(b.build(), q, qd, S.T @ f), qdd, scale=size)


@every_joint
def test_forces_of_one_generalized_force(joint):
    """C03.22: adding T x to f leaves tau and the motion as they are, and changes the constraint force by - T x."""
    body, S, T, v, Sdot_qd, Tdot, _, _, rng = constrained_body(joint)
    I, f, n = np.asarray(body.matrix(), dtype=float), rng.standard_normal(6), T.shape[1]
    more = T @ rng.standard_normal(n)
    matrix = np.block([[I, T], [T.T, np.zeros((n, n))]])
    size = np.linalg.cond(matrix) * max(1.0, np.abs(v).max() ** 2)
    one, other = (np.linalg.solve(matrix, np.r_[x - crf(v) @ I @ v, -Tdot.T @ v]) for x in (f, f + more))
    close(S.T @ more, np.zeros(S.shape[1]))
    close(one[:6], other[:6], scale=size)
    close(-T @ (other[6:] - one[6:]), -more, scale=size)


@every_joint
def test_rates_of_S_and_T_belong_together(joint):
    """C03.18, eq. 3.44: Tdot^T v_J = - T^T (c_J + v_s x v_J), from T^T S = 0; and T spans the complement of S."""
    _, S, T, v, Sdot_qd, Tdot, *_ = constrained_body(joint)
    close(Tdot.T @ v, -T.T @ Sdot_qd, scale=max(1.0, np.abs(v).max() ** 2), ulps=1e5)
    if S.size and T.size:
        assert is_same(np.linalg.svd(T.T)[2][T.shape[1] :].T, S, 1e-8)


def test_zero_freedoms_and_zero_constraints():
    """C03.16: matrices of no columns work: a fixed joint has S of 6 x 0, a free one T of 6 x 0."""
    assert np.zeros((6, 0)) @ np.zeros(0) == pytest.approx(np.zeros(6))
    still = kt.joints.Fixed()
    assert list(still.velocity([], [])) == list(Motion.zero()) and still.motion_subspace([]) == ()
    assert len(still.implicit(still.transform([]))[1]) == 6
    assert Free().implicit(Free().transform(Free().neutral())) == ([], ())
