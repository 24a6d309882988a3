"""The identities of joint kinematics, for every kind of joint: they hold by calculus, not by another implementation."""

import numpy as np
import pytest

from kinetree.joints import Reversed

from .calculus import TOLERANCE, along, columns, cross, derivative, matrix, six


def unit(n, k):
    return [float(i == k) for i in range(n)]


def test_transform_rate_is_minus_velocity_cross_transform(joint, later, q, v):
    """dX_J/dt = -v_J x X_J along the motion with constant v (Featherstone, eq. 2.45 for a coordinate transform)."""
    path = along(joint, q, v)
    rate = derivative(lambda t: matrix(later(t).transform(path(t))))
    expected = -cross(joint.velocity(q, v)) @ matrix(joint.transform(q))
    np.testing.assert_allclose(rate, expected, atol=TOLERANCE)


def test_each_column_of_S_is_the_velocity_of_one_direction(joint, q):
    """Column k of S is the velocity when only v_k = 1, measured from the transform alone."""
    X = matrix(joint.transform(q))
    S = joint.motion_subspace(q)
    assert len(S) == joint.nv
    for k, column in enumerate(S):
        path = along(joint, q, unit(joint.nv, k))
        measured = -derivative(lambda t, path=path: matrix(joint.transform(path(t)))) @ np.linalg.inv(X)
        np.testing.assert_allclose(cross(column), measured, atol=TOLERANCE)


def test_velocity_is_S_times_v(joint, q, v):
    """v_J = S v + sigma, sigma zero unless the joint is rheonomic (eqs. 3.31, 3.33)."""
    assert joint.rheonomic or not np.any(six(joint.sigma(q)))
    expected = columns(joint.motion_subspace(q)) @ np.array(v) + six(joint.sigma(q))
    np.testing.assert_allclose(six(joint.velocity(q, v)), expected, atol=1e-13)


def test_bias_is_the_apparent_derivative_of_velocity(joint, later, q, v):
    """c_J = d(S v + sigma)/dt in successor coordinates with constant v (eq. 3.42)."""
    path = along(joint, q, v)
    expected = derivative(lambda t: six(later(t).velocity(path(t), v)))
    np.testing.assert_allclose(six(joint.bias(q, v)), expected, atol=TOLERANCE)


def test_subspace_rate_is_the_apparent_derivative_of_S(joint, later, q, v):
    """Each column of S differentiated along v, in successor coordinates, as time goes by and while it stands still."""
    path = along(joint, q, v)
    expected = derivative(lambda t: columns(later(t).motion_subspace(path(t))))
    np.testing.assert_allclose(columns(joint.subspace_rate(q, v)), expected, atol=TOLERANCE)
    expected = derivative(lambda t: columns(joint.motion_subspace(path(t))))
    np.testing.assert_allclose(columns(joint.subspace_along(q, v)), expected, atol=TOLERANCE)


def test_constant_subspace_is_declared_only_where_true(joint, rng):
    """A joint that declares constant_subspace has the same S at two random positions."""
    if joint.constant_subspace:
        S = [columns(joint.motion_subspace(joint.random(rng))) for _ in range(2)]
        np.testing.assert_allclose(S[0], S[1], atol=1e-14)


def test_q_dot_is_the_derivative_of_integrate(joint, q, v):
    """d/dt integrate(q, t v) = q_dot(q, v) at t = 0."""
    path = along(joint, q, v)
    rate = derivative(lambda t: np.array(path(t), dtype=float))
    np.testing.assert_allclose(np.array(joint.q_dot(q, v), dtype=float), rate, atol=TOLERANCE)


def test_subspace_has_full_rank(joint, q):
    """S has rank nv at a regular position: no velocity variable is idle."""
    S = columns(joint.motion_subspace(q))
    assert np.linalg.matrix_rank(S, tol=1e-6) == joint.nv


def test_canonical_joint_is_the_same_joint_in_other_coordinates(joint, q, v):
    """X_J = R^-1 X_J' R and S = R^-1 S' (block-diagonal R), and J' has the same q and v."""
    R, simple = joint.canonical()
    R = np.array([[float(R.matrix[i, j]) for j in range(3)] for i in range(3)])
    R6 = np.kron(np.eye(2), R)
    np.testing.assert_allclose(R @ R.T, np.eye(3), atol=4e-15)
    np.testing.assert_allclose(matrix(joint.transform(q)), R6.T @ matrix(simple.transform(q)) @ R6, atol=5e-14)
    np.testing.assert_allclose(columns(joint.motion_subspace(q)), R6.T @ columns(simple.motion_subspace(q)), atol=5e-14)


def test_reversed_transform_undoes_the_joint(joint, q, v):
    """X' X = 1, S' = -X^-1 S, c_J' = -X^-1 c_J (table 4.2)."""
    X = matrix(joint.transform(q))
    other = Reversed(joint)
    np.testing.assert_allclose(matrix(other.transform(q)) @ X, np.eye(6), atol=1e-13)
    np.testing.assert_allclose(X @ columns(other.motion_subspace(q)), -columns(joint.motion_subspace(q)), atol=1e-13)
    np.testing.assert_allclose(X @ six(other.bias(q, v)), -six(joint.bias(q, v)), atol=1e-12)


def test_numpy_batch_equals_floats(joint, rng):
    """A batch gives, state by state, what the floats give: X, S, v_J, c_J, q_dot, integrate, difference."""
    states = [(joint.random(rng), list(rng.normal(size=joint.nv))) for _ in range(3)]
    if not joint.nv:
        pytest.skip("no variables")
    q = [np.array(x) for x in zip(*(s[0] for s in states), strict=True)]
    v = [np.array(x) for x in zip(*(s[1] for s in states), strict=True)]

    def everything(q, v):
        X = joint.transform(q)
        E = X.E.matrix
        yield from (E[i, j] for i in range(3) for j in range(3))
        yield from X.r
        for column in joint.motion_subspace(q):
            yield from column
        yield from joint.velocity(q, v)
        yield from joint.bias(q, v)
        yield from joint.q_dot(q, v)
        moved = joint.integrate(q, v)
        yield from moved
        yield from joint.difference(q, moved)
        yield from joint.defect(q)
        yield from joint.normalize(q)

    batch = np.array([np.broadcast_to(x, 3) for x in everything(q, v)]).T
    for row, (q_1, v_1) in zip(batch, states, strict=True):
        expected = list(everything([float(x) for x in q_1], [float(x) for x in v_1]))
        np.testing.assert_allclose(row, np.array(expected, dtype=float), rtol=1e-13, atol=1e-13)
