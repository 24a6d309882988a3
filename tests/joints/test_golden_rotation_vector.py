"""The spherical joint by exponential coordinates against what is printed for it (Sueda, section 2.4.8)."""

from __future__ import annotations

import numpy as np
import pytest

from kinetree.joints import Composite, Reversed, Revolute, Spherical, SphericalExponential
from kinetree.joints.spherical import FAR

from .calculus import columns, matrix, six

JOINT = SphericalExponential()


def skew(a):
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def unskew(A):
    return np.array([A[2, 1], A[0, 2], A[1, 0]])


def rotation(q):
    """R = exp([q]), which is the transpose of the coordinate rotation."""
    return matrix(JOINT.transform(list(q)))[:3, :3].T


def printed(q, v):
    """R, dR/dq_i by eq. 2.43, S by 2.44, and S' by 2.45-2.47, as printed."""
    R, one = rotation(q), np.eye(3)
    d = 1.0 / (q @ q)
    B = [q[i] * skew(q) for i in range(3)]
    C = [skew(skew(q) @ (one - R) @ one[i]) for i in range(3)]
    A = [(B[i] + C[i]) * d for i in range(3)]
    S = np.array([unskew(R.T @ A[i] @ R) for i in range(3)]).T
    R_dot = sum(A[i] @ R * v[i] for i in range(3))
    d_dot = -2.0 * (q @ v) / (q @ q) ** 2
    rate = []
    for i in range(3):
        B_dot = v[i] * skew(q) + q[i] * skew(v)
        C_dot = skew(skew(v) @ (one - R) @ one[i] - skew(q) @ R_dot @ one[i])
        A_dot = (B_dot + C_dot) * d + (B[i] + C[i]) * d_dot
        rate.append(unskew(R_dot.T @ A[i] @ R + R.T @ A_dot @ R + R.T @ A[i] @ R_dot))
    return S, np.array(rate).T


@pytest.mark.parametrize("length", [1e-2, 0.5, 2.0, 3.1, 4.5, 6.0, 9.0])
def test_subspace_and_its_rate_are_the_printed_ones(length):
    """S2.04: eqs. 2.43-2.47, up to the rounding of 1 / |q|^2 and its rate, on both sides of a full turn."""
    rng = np.random.default_rng(int(100 * length))
    q, v = rng.normal(size=(2, 3))
    q *= length / np.linalg.norm(q)
    S, rate = printed(q, v)
    np.testing.assert_allclose(columns(JOINT.motion_subspace(q.tolist()))[:3], S, atol=1e-15 + 1e-16 / length**2)
    found = columns(JOINT.subspace_rate(q.tolist(), v.tolist()))[:3]
    np.testing.assert_allclose(found, rate, atol=1e-14 + 1e-15 / length**3)
    np.testing.assert_allclose(six(JOINT.bias(q.tolist(), v.tolist()))[:3], found @ v, atol=1e-13)


def test_rotation_is_the_matrix_exponential():
    """S2.04: eq. 2.42, R = exp([q])."""
    from scipy.linalg import expm

    for q in np.random.default_rng(1).normal(size=(5, 3)) * 2.0:
        np.testing.assert_allclose(rotation(q), expm(skew(q)), atol=2e-15)


def test_limit_at_zero():
    """S2.04: R = 1, dR/dq_i = [e_i], so S = 1 and its rate is -[v] / 2 (the series of the right Jacobian)."""
    v = [0.3, -0.4, 0.5]
    np.testing.assert_array_equal(columns(JOINT.motion_subspace([0.0] * 3)), np.eye(6)[:, :3])
    np.testing.assert_allclose(columns(JOINT.subspace_rate([0.0] * 3, v))[:3], -0.5 * skew(v), atol=1e-16)


def test_full_turns_are_singular():
    """S2.04: at |q| = 2 pi the shell of rotation vectors is one orientation; S keeps the direction of q alone."""
    q = 2.0 * np.pi * np.array([0.6, 0.0, -0.8])
    singular = np.linalg.svd(columns(JOINT.motion_subspace(q.tolist()))[:3], compute_uv=False)
    np.testing.assert_allclose(singular, [1.0, 0.0, 0.0], atol=1e-15)


def test_reparameterization_of_grassia():
    """S2.04: q = (1 - 2 pi / |q|) q, and v = S^-1 S_prev v_prev."""
    q = 6.0 * np.array([0.6, 0.0, -0.8])
    v = np.array([0.2, 1.0, -0.4])
    new_q, new_v = (np.array(x) for x in JOINT.reparameterize(q.tolist(), v.tolist()))
    np.testing.assert_allclose(new_q, (1.0 - 2.0 * np.pi / 6.0) * q, atol=1e-15)
    S, S_prev = (columns(JOINT.motion_subspace(x.tolist()))[:3] for x in (new_q, q))
    np.testing.assert_allclose(new_v, np.linalg.solve(S, S_prev @ v), atol=1e-13)
    np.testing.assert_allclose(rotation(new_q), rotation(q), atol=2e-15)


def test_threshold_of_the_reparameterization():
    """Nothing happens up to 3/2 pi; beyond, the rotation vector comes out a quarter turn short of what it was."""
    inside, outside = [FAR * (1.0 - 1e-12), 0.0, 0.0], [FAR * (1.0 + 1e-12), 0.0, 0.0]
    assert JOINT.reparameterize(inside, [1.0, 2.0, 3.0]) == (inside, [1.0, 2.0, 3.0])
    assert JOINT.reparameterize(outside, [1.0, 0.0, 0.0])[0][0] == pytest.approx(-0.5 * np.pi)


def test_rates_stay_comparable_to_the_angular_velocity():
    """|v| <= 3.4 |w| up to the threshold: the least singular value of S there is |sin(a/2)| / (a/2) = 0.30."""
    S = columns(JOINT.motion_subspace([0.0, 0.0, FAR]))[:3]
    least = np.linalg.svd(S, compute_uv=False)[-1]
    assert least == pytest.approx(np.sin(FAR / 2.0) / (FAR / 2.0), abs=1e-15)
    assert 1.0 / least < 3.4


def test_reparameterization_reaches_through_other_joints():
    """Reversed and composite joints hand it on, each part its own."""
    q, v = [0.3, 0.0, 0.0, 6.0], [1.0, 0.2, 0.3, 0.4]
    expected = JOINT.reparameterize(q[1:], v[1:])
    for joint in (Composite((Revolute(), JOINT)), Reversed(Composite((Revolute(), Reversed(JOINT))))):
        assert joint.several_charts
        new_q, new_v = joint.reparameterize(q, v)
        assert (new_q[1:], new_v[1:]) == expected and (new_q[0], new_v[0]) == (q[0], v[0])
    assert not Composite((Revolute(), Spherical())).several_charts
