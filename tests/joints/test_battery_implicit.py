"""Joints as loop joints: the position error delta and the constraint-force basis T, for every kind of joint."""

import numpy as np
import pytest

from kinetree.errors import UnsupportedError
from kinetree.joints import Cylindrical, Fixed, Free, Joint, Prismatic, Revolute, Spherical
from kinetree.joints.dual import Dual
from kinetree.spatial import GeneralRotation, Matrix3, Motion, Transform, Vector3

from .calculus import TOLERANCE, columns, cross, derivative, matrix


def displaced(X, d):
    """exp(-d x) X: the successor displaced by the twist d, in successor coordinates; d x to first order."""
    step = Free().integrate(Free().neutral(), [float(x) for x in d])
    return Free().transform(step) @ X


def delta_of(joint, X):
    return np.array([float(x) for x in joint.implicit(X)[0]])


def basis(joint, X):
    return columns(joint.implicit(X)[1])


def iterates(joint):
    """Whether the position next to a pose is found by iterations."""
    return joint.searched


def test_T_is_orthogonal_to_S_and_complements_it(joint, q):
    """T^T S = 0, and rank T = 6 - nv (eq. 3.36)."""
    X = joint.transform(q)
    T, S = basis(joint, X), columns(joint.motion_subspace(q))
    np.testing.assert_allclose(T.T @ S, 0.0, atol=1e-14 * max(1.0, np.linalg.norm(S)))  # rounding times size
    assert T.shape[1] == 6 - joint.nv == np.linalg.matrix_rank(T, tol=1e-6)


def test_delta_vanishes_where_the_joint_can_be(joint, rng):
    """delta = 0 at X_J(q) for any valid q, also after several turns; in the usual range where iterations find it."""
    for scale in (0.0,) if iterates(joint) else (1.0, 30.0):
        q = joint.integrate(joint.random(rng), [scale * float(x) for x in rng.normal(size=joint.nv)])
        np.testing.assert_allclose(delta_of(joint, joint.transform(q)), 0.0, atol=1e-12)


def test_delta_does_not_vanish_anywhere_else(joint, rng):
    """A random placement is not one of the joint's, and delta says so."""
    X = Free().transform(Free().random(rng))
    assert joint.nv == 6 or np.abs(delta_of(joint, X)).max() > 1e-2


def test_delta_is_T_transpose_d_to_first_order(joint, q, rng):
    """With X = X_err X_J and X_err ~ 1 - d x, the derivative of delta along d is T^T d (eqs. 8.25-8.27)."""
    X = joint.transform(q)
    d = rng.normal(size=6)
    rate = derivative(lambda t: delta_of(joint, displaced(X, t * d)))
    np.testing.assert_allclose(rate, basis(joint, X).T @ d, atol=TOLERANCE)


def test_loop_coordinates_are_q(joint, q):
    """At X_J(q) they are q, of angles but for whole turns and of quaternions but for the sign; W^T S = 1 there."""
    if joint.rheonomic and iterates(joint):
        with pytest.raises(UnsupportedError, match="it has freedoms and depends on time"):
            joint.loop_coordinates(joint.transform(q))
        return
    x, W = joint.loop_coordinates(joint.transform(q))
    np.testing.assert_allclose(matrix(joint.transform(x)), matrix(joint.transform(q)), atol=1e-12)
    np.testing.assert_allclose(columns(W).T @ columns(joint.motion_subspace(x)), np.eye(joint.nv), atol=1e-9)
    assert len(joint.wraps) == len(x) == joint.nq
    assert all(abs(x_k) <= np.pi + 1e-12 for x_k, wraps in zip(x, joint.wraps, strict=True) if wraps) or iterates(joint)


def test_loop_coordinates_have_their_rates(joint, rng):
    """dq/dt = q_dot(q, W^T V) at any pose, and within the joint's reach where its position is found by iterations."""
    X, d = Free().transform(Free().random(rng)), rng.normal(size=6)
    if iterates(joint):
        if joint.rheonomic:
            return
        q = joint.random(rng)
        X, d = joint.transform(q), columns(joint.motion_subspace(q)) @ rng.normal(size=joint.nv)
    q, W = joint.loop_coordinates(X)
    rate = np.array([float(x) for x in joint.q_dot(q, list(columns(W).T @ d))]) if joint.nv else np.zeros(0)
    found = derivative(lambda t: np.array([float(x) for x in joint.loop_coordinates(displaced(X, t * d))[0]]))
    scale = max(1.0, np.abs(rate).max(initial=0.0)) ** 2  # of short pitches
    np.testing.assert_allclose(found, rate, atol=1e3 * TOLERANCE * scale)


def test_constraint_forces_have_no_power_along_the_coordinates(joint, rng):
    """W and T together are a basis of all forces at any pose, so that v and the rates of delta determine the twist."""
    if joint.rheonomic and iterates(joint):
        return
    X = Free().transform(Free().random(rng)) if not iterates(joint) else joint.transform(joint.random(rng))
    both = columns((*joint.loop_coordinates(X)[1], *joint.implicit(X)[1]))
    assert both.shape == (6, 6) and np.linalg.cond(both) < 1e8


def test_force_basis_rate_is_the_apparent_derivative_of_T(joint, q, rng):
    """dT/dt in successor coordinates while the successor moves relative to the predecessor with any twist."""
    X = joint.transform(q)
    d = rng.normal(size=6)
    expected = derivative(lambda t: basis(joint, displaced(X, t * d)))
    rate = columns(joint.force_basis_rate(X, Motion.of([float(x) for x in d])))
    np.testing.assert_allclose(rate, expected, atol=TOLERANCE)


def table_8_1(kind, X):
    """The book's formulas, on the 6x6 matrix with its one-based indices."""

    def x(i, j):
        return X[i - 1, j - 1]

    skew = [(x(2, 3) - x(3, 2)) / 2, (x(3, 1) - x(1, 3)) / 2, (x(1, 2) - x(2, 1)) / 2]
    axis = [x(2, 3), -x(1, 3)]
    line = [x(5, 3), -x(4, 3)]
    return {
        Fixed: skew + [(x(5, 3) - x(6, 2)) / 2, (x(6, 1) - x(4, 3)) / 2, (x(4, 2) - x(5, 1)) / 2],
        Revolute: axis + line + [x(4, 1) * x(2, 1) + x(4, 2) * x(2, 2)],
        Prismatic: skew + line,
        Cylindrical: axis + line,
        Spherical: [
            x(5, 1) * x(3, 1) + x(5, 2) * x(3, 2) + x(5, 3) * x(3, 3),
            x(6, 1) * x(1, 1) + x(6, 2) * x(1, 2) + x(6, 3) * x(1, 3),
            x(4, 1) * x(2, 1) + x(4, 2) * x(2, 2) + x(4, 3) * x(2, 3),
        ],
    }[kind]


@pytest.mark.parametrize("kind", [Fixed, Revolute, Prismatic, Cylindrical, Spherical])
def test_delta_agrees_with_the_book_to_first_order(kind, rng):
    """Featherstone, table 8.1: the same delta up to O(d^2), so a tenth of d makes a hundredth of the difference."""
    one = kind()
    X = one.transform(one.random(rng))
    d = rng.normal(size=6)
    gap = []
    for size in (1e-3, 1e-4):
        near = displaced(X, size * d)
        gap.append(np.abs(delta_of(one, near) - table_8_1(kind, matrix(near))).max())
        assert gap[-1] < 5 * size**2 * (d @ d)
    assert gap[1] <= 0.02 * gap[0] + 1e-15


def test_a_joint_without_implicit_form_says_so():
    """Motions that are dependent everywhere: the error names the joint and both ways out."""

    class Plain(Joint):
        nq = nv = 1

        def transform(self, q):
            return Transform.identity()

        def motion_subspace(self, q):
            return (Motion.zero(),)

    for method in (Plain().implicit, Plain().loop_coordinates):
        with pytest.raises(UnsupportedError, match=r"Plain\(\) has 1 velocities and 0 independent .* implicit form"):
            method(Transform.identity())


def test_moving_transform_of_duals_is_the_transform_rate(rng):
    """What force_basis_rate feeds to implicit is dX/dt = -v x X, here read off the dual entries."""
    X = Free().transform(Free().random(rng))
    V = Motion.of([float(x) for x in rng.normal(size=6)])
    seen = []

    class Probe(Joint):
        nq = nv = 1

        def transform(self, q):
            return X

        def motion_subspace(self, q):
            return (Motion.zero(),)

        def implicit(self, X):
            seen.append(X)
            return [], ()

    Probe().force_basis_rate(X, V)
    (moving,) = seen
    E = np.array([[moving.E.matrix[i, j].rate for j in range(3)] for i in range(3)])
    w = cross(V)[:3, :3]
    np.testing.assert_allclose(E, -w @ matrix(X)[:3, :3], atol=1e-14)
    assert all(isinstance(x, Dual) for x in moving.r)
    h = 1e-6
    stepped = displaced(X, [h * x for x in V])
    np.testing.assert_allclose([x.rate for x in moving.r], (stepped.r.array() - X.r.array()) / h, atol=1e-5)
    assert isinstance(moving.E, GeneralRotation) and isinstance(moving.E.matrix, Matrix3)
    assert isinstance(moving.r, Vector3)
