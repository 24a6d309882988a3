"""Example 4.5 of Featherstone and what is wrong with it; Sueda's free joints: one motion in several coordinates."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.joints import (
    Composite,
    Free,
    FreeLocal,
    FreeSplit,
    Joint,
    Planar,
    PlanarLocal,
    PlanarSplit,
    Prismatic,
    Revolute,
    Spherical,
    SphericalExponential,
    Translational,
)

from .calculus import TOLERANCE, columns, cross, derivative, matrix, six

Q = (0.7, -0.4, 1.1)
V = (0.3, -1.2, 0.5)


def residual(joint, q, v, rate):
    """dX/dt + v_J x X when q moves with the given rate: zero if S and the rate belong together."""
    moving = derivative(lambda t: matrix(joint.transform([x + t * dx for x, dx in zip(q, rate, strict=True)])))
    return np.abs(moving + cross(joint.velocity(q, v)) @ matrix(joint.transform(q))).max()


# Planar joints: C04.16, C04.20, [ERR 1] ------------------------------------------------------------------------------


def printed_rates(q, v):
    """Example 4.5 as printed: the first column of the rate matrix is (1, -q3, q2)."""
    _, q2, q3 = q
    c, s = np.cos(q[0]), np.sin(q[0])
    return np.array([[1.0, 0.0, 0.0], [-q3, c, -s], [q2, s, c]]) @ v


def test_planar_transform_is_that_of_table_4_1():
    """C04.16: E = rz(q1), r = (c q2 - s q3, s q2 + c q3, 0)."""
    (q1, q2, q3), X = Q, PlanarLocal().transform(Q)
    c, s = np.cos(q1), np.sin(q1)
    np.testing.assert_allclose(matrix(X)[:3, :3], [[c, s, 0], [-s, c, 0], [0, 0, 1]], atol=1e-16)
    np.testing.assert_allclose(list(X.r), [c * q2 - s * q3, s * q2 + c * q3, 0.0], atol=1e-16)


def test_planar_rates_for_translations_in_the_predecessor():
    """C04.20: q' = [[1, 0, 0], [0, c, -s], [0, s, c]] alpha."""
    c, s = np.cos(Q[0]), np.sin(Q[0])
    expected = np.array([[1, 0, 0], [0, c, -s], [0, s, c]]) @ V
    np.testing.assert_allclose(Planar().q_dot(Q, V), expected, atol=1e-16)
    assert residual(Planar(), Q, V, expected) < TOLERANCE


def test_planar_rates_for_translations_in_the_successor():
    """C04.20: q1' = a1, q2' = a2 + a1 q3, q3' = a3 - a1 q2."""
    (_, q2, q3), (a1, a2, a3) = Q, V
    expected = [a1, a2 + a1 * q3, a3 - a1 * q2]
    np.testing.assert_allclose(PlanarLocal().q_dot(Q, V), expected, atol=1e-16)
    assert residual(PlanarLocal(), Q, V, expected) < TOLERANCE


@pytest.mark.parametrize("example", [Planar(), PlanarLocal()], ids=lambda joint: joint.kind)
def test_printed_planar_rates_break_the_kinematics(example):
    """[ERR 1]: with the constant S = (e3, e4, e5), the printed rates violate dX/dt = -v_J x X for either storage."""
    assert example.constant_subspace
    assert residual(example, Q, V, printed_rates(Q, V)) > 0.1
    assert residual(example, Q, V, V) > 0.1  # and v is not q' either, which table 4.1 on its own suggests


def test_printed_planar_rates_belong_to_other_velocities():
    """[ERR 1]: with alpha = rates of the translations in F_s they take these to the rates of those in F_p, times E.

    Then S = ((0, 0, 1, -q3, q2, 0), e4, e5) and c_J = (0, 0, 0, -q1' q3', q1' q2', 0): the split joint.
    """
    (_, q2, q3), (v1, v2, v3), joint = Q, V, PlanarSplit("rotation")
    np.testing.assert_array_equal(columns(joint.motion_subspace(Q))[:, 0], [0, 0, 1, -q3, q2, 0])
    np.testing.assert_array_equal(columns(joint.motion_subspace(Q))[3:5, 1:], np.eye(2))
    np.testing.assert_allclose(six(joint.bias(Q, V)), [0, 0, 0, -v1 * v3, v1 * v2, 0], atol=1e-16)
    assert residual(joint, Q, V, joint.q_dot(Q, V)) < TOLERANCE
    # The first column (1, -q3, q2) is the linear velocity that a spin gives the origin, in F_s coordinates.
    spin = six(joint.velocity(Q, (1.0, 0.0, 0.0)))
    np.testing.assert_allclose(printed_rates(Q, (1.0, 0.0, 0.0)), spin[2:5], atol=1e-16)


@pytest.mark.parametrize("example", [PlanarLocal(), PlanarSplit("translation"), PlanarSplit("rotation")], ids=repr)
def test_planar_joints_are_one_motion(example):
    """Every displacement in the plane has coordinates in all of them: the implicit form is the same."""
    for reached in (example.transform(Q), Planar().transform(Q)):
        for other in (example, Planar()):
            delta, T = other.implicit(reached)
            np.testing.assert_allclose(delta, 0.0, atol=1e-16)
            np.testing.assert_array_equal(columns(T), np.eye(6)[:, [0, 1, 5]])


# Free joints: C04.18, C04.20 -----------------------------------------------------------------------------------------


def test_free_transform_is_that_of_table_4_1():
    """C04.18: r = E^-1 (q5, q6, q7)."""
    q = FreeLocal().random(np.random.default_rng(1))
    X = FreeLocal().transform(q)
    np.testing.assert_allclose(list(X.E @ X.r), q[:3], atol=1e-15)


def test_free_rates_in_both_conventions():
    """C04.18, C04.20: r' = E^T v for positions in F_p, r' = v - w x r for those in F_s; the quaternion as eq. 4.13."""
    rng = np.random.default_rng(2)
    q, v = Free().random(rng), [float(x) for x in rng.normal(size=6)]
    E, w, linear = matrix(Free().transform(q))[:3, :3], np.array(v[:3]), np.array(v[3:])
    np.testing.assert_allclose(Free().q_dot(q, v)[:3], E.T @ linear, atol=1e-15)
    np.testing.assert_allclose(FreeLocal().q_dot(q, v)[:3], linear - np.cross(w, q[:3]), atol=1e-15)
    for joint in (Free(), FreeLocal()):
        np.testing.assert_allclose(joint.q_dot(q, v)[3:], Spherical().q_dot(q[3:], v[:3]), atol=0)
        assert residual(joint, q, v, joint.q_dot(q, v)) < TOLERANCE


def test_free_rates_of_the_other_convention_break_the_kinematics():
    """C04.20: the rates of one storage are wrong for the other."""
    rng = np.random.default_rng(3)
    q, v = Free().random(rng), [float(x) for x in rng.normal(size=6)]
    assert residual(Free(), q, v, FreeLocal().q_dot(q, v)) > 0.1
    assert residual(FreeLocal(), q, v, Free().q_dot(q, v)) > 0.1


# A body far away: C04.20 ---------------------------------------------------------------------------------------------

FAR = 1e6


@pytest.mark.parametrize(
    ("slow", "fast"),
    [(Planar(), PlanarLocal()), (PlanarSplit("translation"), PlanarSplit("rotation"))],
    ids=["twist", "rate"],
)
def test_a_distant_planar_body_that_spins(slow, fast):
    """C04.20: translations in F_p rest while the body spins in place; those in F_s run around at w FAR."""
    X = slow.transform([0.3, FAR, -FAR])
    q = [0.3, *[float(x) for x in X.E @ X.r][:2]]
    spin = [2.0, 0.0, 0.0]
    assert slow.q_dot([0.3, FAR, -FAR], spin) == spin
    rate = np.linalg.norm(fast.q_dot(q, spin if fast.constant_subspace else in_place(fast, q, spin[0]))[1:])
    assert rate == pytest.approx(2.0 * FAR * 2.0**0.5, rel=1e-12)


def in_place(joint, q, w):
    """The velocity variables of a joint for a spin w about its successor's origin."""
    return np.linalg.solve(columns(joint.motion_subspace(q))[2:5], [w, 0.0, 0.0]).tolist()


def test_a_distant_planar_body_in_a_simulation():
    """C04.20: a body that spins at 2 rad/s 1e6 m from the origin of its joint, RK4 with 10 ms for 5 s.

    In F_p its position rests to the last digits. In F_s it runs around a circle of that radius: the step is exact for
    a constant twist, but every step rounds the position at 1e-16 of 1e6 m, so digits are lost that the other keeps.
    """

    def drift(joint, q):
        b = kt.ModelBuilder("far", gravity=(0.0, 0.0, 0.0))
        b.add_body("body", joint=joint, mass=1.0, inertia=(0.1, 0.1, 0.2))
        run = kt.simulate(b.build(), q, [2.0, 0.0, 0.0], duration=5.0, dt=1e-2, integrator="rk4")
        r = np.array([list(joint.transform(x.tolist()).r) for x in run.q])
        return np.abs(r - r[0]).max(), np.abs(np.diff(run.q[:, 1:], axis=0)).max()

    resting, step = drift(Planar(), [0.0, FAR, 0.0])
    assert resting == step == 0.0
    drifting, step = drift(PlanarLocal(), [0.0, FAR, 0.0])
    assert 1e-10 < drifting < 1e-6 and step > 1e4


# Sueda, section 2.4 --------------------------------------------------------------------------------------------------


def permuted(joint: Joint, split: Joint, order_q, order_v, seed=4):
    """X, S, c_J of a composite against a joint whose variables are those of the composite in another order."""
    rng = np.random.default_rng(seed)
    q, v = split.random(rng), [float(x) for x in rng.normal(size=split.nv)]
    q_c, v_c = [q[k] for k in order_q], [v[k] for k in order_v]
    np.testing.assert_allclose(matrix(joint.transform(q_c)), matrix(split.transform(q)), atol=1e-15)
    S = columns(split.motion_subspace(q))[:, list(order_v)]
    np.testing.assert_allclose(columns(joint.motion_subspace(q_c)), S, atol=1e-15)
    np.testing.assert_allclose(six(joint.bias(q_c, v_c)), six(split.bias(q, v)), atol=1e-14)
    rate = columns(split.subspace_rate(q, v))[:, list(order_v)]
    np.testing.assert_allclose(columns(joint.subspace_rate(q_c, v_c)), rate, atol=1e-14)
    np.testing.assert_allclose(joint.q_dot(q_c, v_c), [split.q_dot(q, v)[k] for k in order_q], atol=1e-15)


SLIDES = (Prismatic((1, 0, 0)), Prismatic((0, 1, 0)))


@pytest.mark.parametrize(
    ("joints", "split", "order_q", "order_v"),
    [
        ((*SLIDES, Revolute()), PlanarSplit("translation"), (1, 2, 0), (1, 2, 0)),
        ((Revolute(), *SLIDES), PlanarSplit("rotation"), (0, 1, 2), (0, 1, 2)),
        ((Translational(), Spherical()), FreeSplit("translation"), range(7), (3, 4, 5, 0, 1, 2)),
        ((Spherical(), Translational()), FreeSplit("rotation"), (3, 4, 5, 6, 0, 1, 2), range(6)),
    ],
    ids=["planar, translation first", "planar, rotation first", "translation first", "rotation first"],
)
def test_split_joints_are_composites(joints, split, order_q, order_v):
    """S2.04: translation and rotation in a row, in either order (sections 2.4.10 and 2.4.11)."""
    permuted(Composite(joints), split, order_q, order_v)


def test_jacobian_of_the_2d_free_joint():
    """S2.04: eqs. 2.55 and 2.56 in the order (x, y, angle), -Q^yx in place of the -Q^xy printed in the last column."""
    joint, (angle, x, y), (w, vx, vy) = Composite((*SLIDES, Revolute())), Q, V
    Qxx, Qxy, Qyx, Qyy = np.cos(angle), -np.sin(angle), np.sin(angle), np.cos(angle)
    S = np.zeros((6, 3))
    S[2, 2], S[3:5, 0], S[3:5, 1] = 1.0, (Qxx, Qxy), (Qyx, Qyy)
    np.testing.assert_allclose(columns(joint.motion_subspace((x, y, angle))), S, atol=1e-16)
    rate = np.zeros((6, 3))
    rate[3:5, 0], rate[3:5, 1] = (w * Qxy, -w * Qxx), (w * Qyy, -w * Qyx)
    np.testing.assert_allclose(columns(joint.subspace_rate((x, y, angle), (vx, vy, w))), rate, atol=1e-16)


def test_jacobian_of_the_3d_free_joint():
    """S2.04: eqs. 2.58 and 2.59, S = [[S_1, 0], [-[q_2] S_1, 1]], with the rotation vector of section 2.4.8."""
    turn = SphericalExponential()
    joint = Composite((turn, Translational()))
    q1, q2, v1, v2 = np.random.default_rng(5).normal(size=(4, 3))
    S1, rate1 = columns(turn.motion_subspace(q1))[:3], columns(turn.subspace_rate(q1, v1))[:3]

    def skew(a):
        return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])

    S = np.block([[S1, np.zeros((3, 3))], [-skew(q2) @ S1, np.eye(3)]])
    rate = np.block([[rate1, np.zeros((3, 3))], [-skew(v2) @ S1 - skew(q2) @ rate1, np.zeros((3, 3))]])
    q, v = [*q1, *q2], [*v1, *v2]
    np.testing.assert_allclose(columns(joint.motion_subspace(q)), S, atol=1e-15)
    np.testing.assert_allclose(columns(joint.subspace_rate(q, v)), rate, atol=1e-14)


def test_composite_rate_is_eq_2_52():
    """S2.04: S' = (-ad(S_2 v_2) Ad S_1 + Ad S_1', S_2'): two blocks, where the comma is printed as a minus."""
    first, second, rng = Composite(SLIDES), SphericalExponential(), np.random.default_rng(6)
    q1, q2, v1, v2 = (list(map(float, rng.normal(size=n))) for n in (2, 3, 2, 3))
    Ad, ad = matrix(second.transform(q2)), cross(second.velocity(q2, v2))
    left = -ad @ Ad @ columns(first.motion_subspace(q1)) + Ad @ columns(first.subspace_rate(q1, v1))
    expected = np.hstack([left, columns(second.subspace_rate(q2, v2))])
    joint = Composite((first, second))
    np.testing.assert_allclose(columns(joint.subspace_rate(q1 + q2, v1 + v2)), expected, atol=1e-14)


def test_planar_joint_without_rotation():
    """S2.04: eq. 2.26, two directions of travel, S = (e4, e5) constant."""
    joint = Composite(SLIDES)
    assert joint.constant_subspace
    np.testing.assert_array_equal(columns(joint.motion_subspace([0.3, 0.4])), np.eye(6)[:, 3:5])


def test_translational_joint():
    """S2.04: eqs. 2.27, 2.28."""
    X = Translational().transform([1.0, 2.0, 3.0])
    np.testing.assert_array_equal(matrix(X)[:3, :3], np.eye(3))
    np.testing.assert_array_equal(columns(Translational().motion_subspace([1.0, 2.0, 3.0])), np.eye(6)[:, 3:])
