"""SO(3) and the unit quaternions: round trips from 1e-12 rad to a half turn, tangent maps, published values."""

import numpy as np
import pytest
from scipy.linalg import expm

from kinetree.liegroup import so3
from kinetree.spatial import AxialRotation, IdentityRotation, Matrix3, Vector3
from kinetree.spatial.rotations import (
    quaternion_from_rotation,
    quaternion_inverse,
    quaternion_product,
    quaternion_to_rotation,
)
from tests.spatial import samples
from tests.spatial.samples import EPS, close

from .rotation_vectors import ANGLES, series, turn

RNG = np.random.default_rng(13)


def pose(E):
    """R, whose columns are B's axes in A: the transpose of the coordinate rotation."""
    return E.matrix.array().T


def test_quaternion_group():
    """R(p q) = R(p) R(q), q q^-1 = 1, exp and log are inverse."""
    p, q = so3.quaternion_exp(turn(1.2)), so3.quaternion_exp(turn(2.5))
    product = quaternion_product(p, q)
    R = [pose(quaternion_to_rotation(x)) for x in (p, q, product)]
    assert close(R[2], R[0] @ R[1])
    assert close(np.array(quaternion_product(q, quaternion_inverse(q))), np.array([1.0, 0.0, 0.0, 0.0]))


def test_quaternion_from_rotation_everywhere():
    """Exact to rounding for all rotations, also those by half a turn where w or all but one component vanish."""
    for E in [*samples.rotations(RNG), *(so3.exp_so3(turn(a)) for a in ANGLES), *(so3.exp_so3(turn(np.pi)),) * 5]:
        q = np.array(quaternion_from_rotation(E))
        assert abs(q @ q - 1.0) < 10 * EPS
        assert close(quaternion_to_rotation(q).matrix, E.matrix)
        assert q[np.argmax(np.abs(q))] > 0.0


@pytest.mark.parametrize("angle", ANGLES)
def test_exponential_of_so3(angle):
    """exp_so3 is the matrix exponential of -v x, quaternion_exp the same rotation."""
    v = turn(angle)
    # SciPy's expm is itself off by a few dozen rounding errors
    assert np.max(np.abs(so3.exp_so3(v).matrix.array() - expm(-Matrix3.cross(v).array()))) < 1e-13
    assert close(quaternion_to_rotation(so3.quaternion_exp(v)).matrix, so3.exp_so3(v).matrix)


@pytest.mark.parametrize("angle", ANGLES)
def test_round_trips_of_so3(angle):
    """The logarithms undo the exponentials to a relative few eps, from tiny angles to nearly half a turn."""
    v = turn(angle)
    for back in (so3.log_so3(so3.exp_so3(v)), so3.quaternion_log(so3.quaternion_exp(v))):
        assert np.max(np.abs((back - v).array())) <= 20 * EPS * angle + 1e-320


def test_logarithm_of_cheap_rotations():
    """Identity and axial rotations keep their structure."""
    assert so3.log_so3(IdentityRotation()).is_zero
    assert close(so3.log_so3(AxialRotation(1, np.cos(2.0), np.sin(2.0))), np.array([0.0, 2.0, 0.0]))


def test_logarithm_at_half_a_turn():
    """One of the two rotation vectors, of length pi."""
    for axis in np.eye(3).tolist() + [[0.6, 0.0, 0.8], [0.0, -0.6, 0.8]]:
        v = so3.log_so3(so3.exp_so3(Vector3.of(np.pi * np.array(axis)))).array()
        assert np.isclose(abs(v @ axis), np.pi, rtol=1e-15)


def test_quaternion_logarithm_takes_the_shorter_way():
    """q and -q give the same vector of at most half a turn, and the length of q does not matter."""
    q = np.array(so3.quaternion_exp(turn(4.0)))
    v = so3.quaternion_log(q)
    assert np.isclose(np.linalg.norm(v.array()), 2 * np.pi - 4.0)
    assert close(so3.quaternion_log(-3.0 * q), v)


@pytest.mark.parametrize("angle", ANGLES)
def test_tangent_maps_of_so3(angle):
    """The left Jacobian is sum (v x)^k / (k + 1)!, the right one its transpose; inverses and applications agree."""
    v, x = turn(angle), samples.vector(RNG)
    J = series(Matrix3.cross(v).array(), 1)
    assert close(so3.left_jacobian(v), J)
    assert close(so3.right_jacobian(v), J.T)
    assert close(so3.left_jacobian_inverse(v), np.linalg.inv(J))
    assert close(so3.right_jacobian_inverse(v), np.linalg.inv(J).T)
    assert close(so3.left_jacobian_apply(v, x), J @ x.array())
    assert close(so3.right_jacobian_apply(v, x), J.T @ x.array())
    assert close(so3.left_jacobian_solve(v, x), np.linalg.solve(J, x.array()))
    assert close(so3.right_jacobian_solve(v, x), np.linalg.solve(J.T, x.array()))


def test_right_jacobian_is_the_body_rate():
    """R^T dR/dt = (J_r v') x: finite differences of the exponential, error h^2 + eps / h = 1e-10."""
    v, rate, h = turn(1.3), samples.vector(RNG), 1e-5
    R = [pose(so3.exp_so3(v + rate * s)) for s in (-h, 0.0, h)]
    W = R[1].T @ (R[2] - R[0]) / (2 * h)
    assert np.allclose(W, Matrix3.cross(so3.right_jacobian_apply(v, rate)).array(), atol=1e-9)


def composed(v, w):
    return so3.quaternion_log(quaternion_product(so3.quaternion_exp(v), so3.quaternion_exp(w)))


def test_published_compositions():
    """exp(v) exp(w) as a rotation vector: values of Exudyn's test suite, the first reduced to the principal vector."""
    parallel = composed(Vector3(1.0, 2.0, 3.0), Vector3(0.1, 0.2, 0.3)).array()
    long = np.array([1.1, 2.2, 3.3])
    assert np.allclose(parallel, long * (1 - 2 * np.pi / 4.115823125451335), atol=1e-14)
    v = Vector3(0.814723686393179, 0.905791937075619, 0.126986816293506)
    w = Vector3(0.913375856139019, 0.632359246225410, 0.097540404999410)
    assert np.allclose(composed(v, w).array(), [1.723793103824437, 1.555433894116284, 0.047932757694710], atol=2e-15)
    full = Vector3(1.0, 1.0, 1.0) * (np.pi / np.sqrt(3.0))
    assert np.max(np.abs(composed(full, full).array())) < 10 * EPS


def test_published_inverse_tangent_maps():
    """Body rates to vector rates, values of Exudyn's test suite; the left map differs."""
    ones, v = Vector3(1.0, 1.0, 1.0), Vector3(1.0, 2.0, 3.0)
    expected = [-0.402160845072268, 1.774459788731933, 0.951080422536134]
    assert np.allclose(so3.right_jacobian_solve(v, ones).array(), expected, atol=2e-15)
    expected = [0.597839154927732, -0.225540211268067, 1.951080422536134]
    assert np.allclose(so3.left_jacobian_solve(v, ones).array(), expected, atol=2e-15)
    v = Vector3(0.141886338627215, 0.421761282626275, 0.915735525189067)
    expected = [0.682902413227995, 1.351928852030877, 0.887043643491090]
    assert np.allclose(so3.right_jacobian_solve(v, ones).array(), expected, atol=2e-15)
    assert list(so3.right_jacobian_solve(Vector3.zero(), ones)) == [1.0, 1.0, 1.0]


def test_published_right_jacobian():
    """At (0.3, -0.2, 0.5), computed independently to fifteen digits."""
    expected = [
        [0.952576734970354, 0.232371223513412, 0.121402448423153],
        [-0.25199464352568, 0.944400309965242, 0.128956910101505],
        [-0.072343898392484, -0.161662610121951, 0.97874129498671],
    ]
    assert np.allclose(so3.right_jacobian(Vector3(0.3, -0.2, 0.5)).array(), expected, atol=2e-15)


def test_nan_stays_nan():
    """A NaN in a rotation vector or quaternion reaches every component that depends on it."""
    nan = float("nan")
    assert np.all(np.isnan(so3.exp_so3(Vector3(nan, 0.0, 0.0)).matrix.array()))
    assert np.isnan(so3.quaternion_log((nan, 0.1, 0.0, 0.0)).x)
    assert np.isnan(so3.quaternion_log((0.5, nan, 0.1, 0.0)).y)
    assert np.all(np.isnan(so3.left_jacobian_inverse(Vector3(nan, nan, nan)).array()))
