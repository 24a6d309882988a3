"""Chapter 7's equations and examples: articulated bodies by every method (C07.01 to C07.17)."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import kinetree as kt
from kinetree.algorithms.force_basis import force_basis
from kinetree.joints import examples
from kinetree.spatial.algebra import SPATIAL
from tests.identities.systems import close

M1, I1, M2, I2 = 2.0, 0.5, 1.25, 0.3
EXAMPLE_7_1 = np.diag([I1, I1 + I2, I1 + I2, M1 + M2, M1, M1 + M2])
SEEDS = range(8)


class TwoBodies:
    """Random bodies 1 and 2, rigid or articulated, and a joint of one of the registered kinds between them."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.I1, self.I2 = (A @ A.T + 0.1 * np.eye(6) for A in rng.standard_normal((2, 6, 6)))
        self.p1, self.p2, self.c, self.a1 = rng.standard_normal((4, 6))
        joints = [joint for _, joint in examples(rng) if 0 < joint.nv < 6]
        joint = joints[int(rng.integers(len(joints)))]
        S = joint.motion_subspace(joint.random(rng))
        self.S, self.T, self.T_a = (
            np.array([list(column) for column in columns], dtype=float).T for columns in (S, *force_basis(SPATIAL, S))
        )
        self.tau = rng.standard_normal(joint.nv)
        self.active = self.T_a @ self.tau

    def standard(self):
        """C07.07, eq. 7.15-7.20: I^A and p^A by the motion subspace."""
        I2S = self.I2 @ self.S
        D = self.S.T @ I2S
        IA = self.I1 + self.I2 - I2S @ np.linalg.solve(D, I2S.T)
        rest = self.tau - self.S.T @ (self.I2 @ self.c + self.p2)
        return IA, self.p1 + self.p2 + self.I2 @ self.c + I2S @ np.linalg.solve(D, rest)

    def free(self, number: int):
        """Body 1 or 2 alone, as an articulated body with one handle."""
        I, p = ((self.I1, self.p1), (self.I2, self.p2))[number - 1]
        return kt.dynamics.ArticulatedBody((number,), np.linalg.inv(I), -np.linalg.solve(I, p))


# Example 7.1 ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["projection", "assembly"])
def test_example_7_1(method):
    """C07.05: I^A = diag(I1, I1 + I2, I1 + I2, m1 + m2, m1, m1 + m2), by the public call, both ways.

    By assembly the cylinder's carrier is massless, which inverse inertias cannot describe: there the joint is one of
    two freedoms.
    """
    if method == "projection":
        model = kt.models.box_cylinder(M1, I1, M2, I2)
    else:
        b = kt.ModelBuilder("box and cylinder", gravity=(0.0, 0.0, 0.0))
        b.add_body("box", joint=kt.joints.Free(), mass=M1, inertia=(I1, I1, I1))
        slide_and_turn = kt.joints.Composite([kt.joints.Prismatic((0, 1, 0)), kt.joints.Revolute((1, 0, 0))])
        b.add_body("cylinder", "box", slide_and_turn, mass=M2, inertia=(I2, I2, I2))
        model = b.build()
    found = kt.dynamics.articulated_inertia(
        model, model.neutral(), handles="box", bodies=model.body_names[1:], method=method
    )
    np.testing.assert_allclose(found.IA, EXAMPLE_7_1, rtol=0.0, atol=1e-14)
    np.testing.assert_allclose(found.pA, 0.0, atol=1e-14)


def test_apparent_mass_depends_on_the_direction():
    """C07.01: across the slot the box drags the cylinder along, along the slot it does not."""
    model = kt.models.box_cylinder(M1, I1, M2, I2)
    Phi, _ = kt.dynamics.articulated_inverse_inertia(model, model.neutral(), handles="box")
    np.testing.assert_allclose(1.0 / np.diag(Phi)[3:], [M1 + M2, M1, M1 + M2], rtol=1e-14)


# Properties (section 7.1) --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_gluing_handles_adds_inertias(seed):
    """C07.02: a joint without freedoms between two handles makes I^A = I1 + I2, p^A = p1 + p2 (with c = 0)."""
    two = TwoBodies(seed)
    glued = two.free(1).beside(two.free(2))
    rigid = np.eye(6), np.eye(6), np.zeros(6), np.zeros(6), np.zeros(6)
    glued = glued.joined(1, 2, *rigid).keeping([1])
    IA = np.linalg.inv(glued.Phi)
    close(IA, two.I1 + two.I2, ulps=1e6)
    close(-IA @ glued.b, two.p1 + two.p2, scale=np.linalg.cond(IA))


def test_rank_of_inverse_inertia_is_the_freedom_of_the_handles():
    """C07.03, C07.04: arms of 1 to 8 joints give their hand min(n, 6) freedoms; two handles share what there is."""
    for n in range(1, 9):
        arm = kt.models.chain_gu(n)
        q = arm.random_q(np.random.default_rng(n))
        Phi, _ = kt.dynamics.articulated_inverse_inertia(arm, q, handles=f"body{n}")
        values = np.linalg.eigvalsh(Phi)
        assert np.sum(values > 1e-9 * values[-1]) == min(n, 6)
        assert values[0] > -1e-12 * values[-1]
    Phi, _ = kt.dynamics.articulated_inverse_inertia(arm, q, handles=("body3", "body8"))
    values = np.linalg.eigvalsh(Phi)
    assert np.sum(values > 1e-9 * values[-1]) == 8  # three by the first, five more by the second
    close(Phi, Phi.T)


# Assembly formulae (sections 7.2 and 7.4) ----------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_composite_system_of_the_standard_formulae(seed):
    """C07.11 with erratum 19: the 5 x 5 block system, solved as it stands, gives f = I^A a_1 + p^A and qdd."""
    two, n = TwoBodies(seed), TwoBodies(seed).S.shape[1]
    one, zero, S = np.eye(6), np.zeros((6, 6)), two.S
    none = np.zeros((6, n))
    system = np.block(
        [
            [one, -one, -one, zero, none],
            [zero, one, zero, zero, none],
            [zero, zero, one, -two.I2, none],
            [zero, zero, zero, one, -S],
            [none.T, none.T, S.T, none.T, np.zeros((n, n))],
        ]
    )
    right = np.concatenate([np.zeros(6), two.p1 + two.I1 @ two.a1, two.p2, two.c + two.a1, two.tau])
    f, _, _, a2, qdd = np.split(np.linalg.solve(system, right), [6, 12, 18, 24])
    IA, pA = two.standard()
    close(f, IA @ two.a1 + pA, scale=1e4)
    close(qdd, two.T_a.T @ (a2 - two.a1 - two.c), scale=1e4)  # C07.15


@pytest.mark.parametrize("seed", SEEDS)
def test_composite_system_of_variant_1(seed):
    """C07.13 with erratum 19: the fifth row is -T^T a_1 + T^T a_2 = T^T c; unknown are f1, f2, a1, a2, lambda."""
    two, f = TwoBodies(seed), TwoBodies(seed).a1
    T, k = two.T, two.T.shape[1]
    P1, P2 = np.linalg.inv(two.I1), np.linalg.inv(two.I2)
    one, zero, none = np.eye(6), np.zeros((6, 6)), np.zeros((6, k))
    system = np.block(
        [
            [one, one, zero, zero, none],
            [-P1, zero, one, zero, none],
            [zero, -P2, zero, one, none],
            [zero, one, zero, zero, -T],
            [none.T, none.T, -T.T, T.T, np.zeros((k, k))],
        ]
    )
    right = np.concatenate([f, -P1 @ two.p1, -P2 @ two.p2, two.active, T.T @ two.c])
    a1 = np.linalg.solve(system, right)[12:18]
    IA, pA = two.standard()
    close(IA @ a1 + pA, f, scale=1e4)


@pytest.mark.parametrize("seed", SEEDS)
def test_composite_system_of_variant_2(seed):
    """C07.14 with erratum 19: right-hand side [0; p1; p2; T_a tau; T^T c] + [0; I1; 0; 0; T^T] a_1."""
    two = TwoBodies(seed)
    T, k = two.T, two.T.shape[1]
    one, zero, none = np.eye(6), np.zeros((6, 6)), np.zeros((6, k))
    system = np.block(
        [
            [one, -one, -one, zero, none],
            [zero, one, zero, zero, none],
            [zero, zero, one, -two.I2, none],
            [zero, zero, one, zero, -T],
            [none.T, none.T, none.T, T.T, np.zeros((k, k))],
        ]
    )
    right = [np.zeros(6), two.p1 + two.I1 @ two.a1, two.p2, two.active, T.T @ (two.c + two.a1)]
    f = np.linalg.solve(system, np.concatenate(right))[:6]
    IA, pA = two.standard()
    close(f, IA @ two.a1 + pA, scale=1e4)


@pytest.mark.parametrize("seed", SEEDS)
def test_variant_1(seed):
    """C07.13: Phi^A and b^A of two bodies, from inverse inertias and T, with erratum 19's separate lines."""
    two = TwoBodies(seed)
    P1, P2, T, active = np.linalg.inv(two.I1), np.linalg.inv(two.I2), two.T, two.active
    b1, b2 = -P1 @ two.p1, -P2 @ two.p2
    Y = T.T @ (P1 + P2) @ T
    z = T.T @ (two.c + b1 - b2 - (P1 + P2) @ active)
    Phi = P1 - P1 @ T @ np.linalg.solve(Y, T.T @ P1)
    b = b1 - P1 @ active - P1 @ T @ np.linalg.solve(Y, z)
    IA, pA = two.standard()
    close(Phi @ IA, np.eye(6), scale=1e4)
    close(IA @ b, -pA, scale=1e4)
    # The library's assembly is this formula for any handles; its signs are those of the second body minus the first.
    E = np.zeros(T.shape[1])
    found = two.free(1).beside(two.free(2)).joined(1, 2, np.eye(6), T, E, active, two.c).keeping([1])
    close(found.Phi, Phi, scale=1e2)
    close(found.b, b, scale=1e2)


@pytest.mark.parametrize("seed", SEEDS)
def test_variant_2_and_its_matrix_identity(seed):
    """C07.14: I2 - I2 S (S^T I2 S)^-1 S^T I2 = T (T^T I2^-1 T)^-1 T^T, and the bias force with it."""
    two = TwoBodies(seed)
    T, S, P2 = two.T, two.S, np.linalg.inv(two.I2)
    U = two.I2 @ S
    W = T @ np.linalg.solve(T.T @ P2 @ T, T.T)
    close(two.I2 - U @ np.linalg.solve(S.T @ U, U.T), W, scale=1e4)
    z = T.T @ (two.c - P2 @ (two.active - two.p2))
    IA, pA = two.standard()
    close(two.I1 + W, IA, scale=1e4)
    close(two.p1 + two.active + T @ np.linalg.solve(T.T @ P2 @ T, z), pA, scale=1e4)


@pytest.mark.parametrize("seed", SEEDS)
def test_apparent_inertia_across_a_joint(seed):
    """C07.08: I^a S = 0, and the force through the joint is I^A a_j + p^A = I^a a_lambda + p^a."""
    two = TwoBodies(seed)
    U = two.I2 @ two.S
    D = two.S.T @ U
    Ia = two.I2 - U @ np.linalg.solve(D, U.T)
    pa = two.p2 + Ia @ two.c + U @ np.linalg.solve(D, two.tau - two.S.T @ two.p2)
    close(Ia @ two.S, np.zeros_like(two.S), scale=1e4)
    qdd = np.linalg.solve(D, two.tau - two.S.T @ (two.I2 @ (two.a1 + two.c) + two.p2))  # eq. 7.18
    a2 = two.a1 + two.c + two.S @ qdd
    close(two.I2 @ a2 + two.p2, Ia @ two.a1 + pa, scale=1e4)


# Two handles (section 7.5) -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_two_handle_assembly(seed):
    """C07.16, eq. 7.57-7.63 with erratum 18: handles 1, 2 on one articulated body, 3, 4 on another, a joint 2-3."""
    two, rng = TwoBodies(seed), np.random.default_rng(100 + seed)
    A, B = (
        kt.dynamics.ArticulatedBody(h, R @ R.T, rng.standard_normal(12))
        for h, R in zip(((1, 2), (3, 4)), rng.standard_normal((2, 12, 14)), strict=True)
    )
    (P1, P12), (P21, P2) = blocks(A.Phi)
    (P3, P34), (P43, P4) = blocks(B.Phi)
    (b1, b2), (b3, b4) = np.split(A.b, 2), np.split(B.b, 2)
    T, E = two.T, np.zeros(two.T.shape[1])
    W = T @ np.linalg.solve(T.T @ (P2 + P3) @ T, T.T)
    beta = two.c - b3 + b2
    Phi = np.block([[P1 - P12 @ W @ P21, P12 @ W @ P34], [(P12 @ W @ P34).T, P4 - P43 @ W @ P34]])
    b = np.concatenate([b1 - P12 @ W @ beta, b4 + P43 @ W @ beta])
    found = A.beside(B).joined(2, 3, np.eye(6), T, E, np.zeros(6), two.c).keeping([1, 4])
    close(found.Phi, Phi, scale=1e3)
    close(found.b, b, scale=1e3)


def blocks(Phi):
    return [np.split(rows, 2, axis=1) for rows in np.split(Phi, 2)]


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_order_of_assembly_is_irrelevant(order):
    """C07.17: four bodies and three joints, assembled in every order."""
    bodies = [TwoBodies(seed).free(1) for seed in range(4)]
    whole = kt.dynamics.ArticulatedBody((0,), bodies[0].Phi, bodies[0].b)
    for k in range(1, 4):
        whole = whole.beside(kt.dynamics.ArticulatedBody((k,), bodies[k].Phi, bodies[k].b))
    one, expected = np.eye(6), whole
    joints = [TwoBodies(10 + k) for k in range(3)]

    def add(body, k):
        return body.joined(k, k + 1, one, joints[k].T, np.zeros(joints[k].T.shape[1]), joints[k].active, joints[k].c)

    for k in range(3):
        expected = add(expected, k)
    for k in order:
        whole = add(whole, k)
    close(whole.Phi, expected.Phi, scale=1e2)
    close(whole.b, expected.b, scale=1e2)


@pytest.mark.parametrize("n", [2, 3, 7, 8, 20])
def test_depth_of_divide_and_conquer(n):
    """C07.17: a chain of n bodies is assembled in ceil(log2 n) levels, and its accelerations are those of aba."""
    model = kt.models.chain_gu(n)
    assert kt.dynamics.assembly_tree(model).depth == math.ceil(math.log2(n))
    q, v, tau = np.random.default_rng(n).standard_normal((3, n))
    with kt.interpreted():
        expected = kt.aba(model, q, v, tau)
        close(kt.dynamics.divide_and_conquer(model, q, v, tau), expected, scale=np.linalg.cond(kt.crba(model, q)))


# Tests by force ------------------------------------------------------------------------------------------------------


def test_inverse_inertia_by_test_forces():
    """C07.03: b is the acceleration of the handle without a force, Phi f what a force adds, as aba says."""
    model = kt.load("arm7")
    rng = np.random.default_rng(8)
    q, (v, tau) = model.random_q(rng), rng.standard_normal((2, model.nv))
    Phi, b = kt.dynamics.articulated_inverse_inertia(model, q, v, tau, handles="tool")
    X = np.array(kt.kinematics.frame_transforms(model, q))[[frame.name for frame in model.frames].index("tool")]
    for f in np.eye(6):
        n_W, f_W = X[:3, :3] @ f[:3], X[:3, :3] @ f[3:]
        wrench = np.concatenate([n_W + np.cross(X[:3, 3], f_W), f_W])
        f_ext = np.zeros((model.nb, 6))
        f_ext[model.frame("tool").body] = wrench
        a = kt.aba(model, q, v, tau, f_ext)
        moved = kt.acceleration(model, q, v, a, frame="tool", reference="local", kind="spatial")
        close(moved, Phi @ f + b, scale=np.max(np.abs(Phi)), ulps=1e5)
