"""The exponential of SE(3): against matrix exponentials, published values, and its tangent maps."""

import numpy as np
import pytest
from scipy.linalg import expm, logm

from kinetree.liegroup import se3
from kinetree.spatial import Force, IdentityRotation, Matrix3, Motion, Transform, Vector3, rotation_from_matrix
from kinetree.spatial.dense import crm
from tests.spatial import samples
from tests.spatial.samples import close

from .rotation_vectors import ANGLES, series, turn

RNG = np.random.default_rng(14)


def twist(angle):
    return Motion(turn(angle), samples.vector(RNG))


def bracket(u):
    """[[w x, v], [0, 0]] (Sueda eq. 1.6)."""
    return np.block([[Matrix3.cross(u.angular).array(), u.linear.array()[:, None]], [np.zeros((1, 4))]])


def pose(X):
    """[[R, p], [0, 1]] of the frame B in A."""
    return np.linalg.inv(X.homogeneous())


@pytest.mark.parametrize("angle", ANGLES)
def test_exponential_of_se3(angle):
    """X = exp(-u x) on motions, and exp([u]) as a pose; SciPy's expm is good to some 1e-14."""
    u = twist(angle)
    X = se3.exp_se3(u)
    assert np.max(np.abs(X.matrix() - expm(-crm(u.array())))) < 1e-13
    assert np.max(np.abs(pose(X) - expm(bracket(u)))) < 1e-13


@pytest.mark.parametrize("angle", ANGLES)
def test_round_trips_of_se3(angle):
    """The logarithm undoes the exponential."""
    u = twist(angle)
    assert close(se3.log_se3(se3.exp_se3(u)), u, k=20)


@pytest.mark.parametrize("angle", [1e-3, 0.7, 2.0, 3.0])
def test_logarithm_is_the_matrix_logarithm(angle):
    """log of the pose by SciPy, to 1e-12."""
    X = se3.exp_se3(twist(angle))
    assert np.max(np.abs(bracket(se3.log_se3(X)) - logm(pose(X)).real)) < 1e-12


def test_twist_is_invariant_under_its_own_transform():
    """u has the same coordinates in both frames: X u = u."""
    u = twist(1.1)
    assert close(se3.exp_se3(u) @ u, u)


def test_pure_translation():
    """Without rotation the twist is the displacement."""
    X = Transform(IdentityRotation(), Vector3(1.0, 2.0, 3.0))
    assert list(se3.log_se3(X)) == [0.0, 0.0, 0.0, 1.0, 2.0, 3.0]


@pytest.mark.parametrize("angle", ANGLES)
def test_tangent_maps_of_se3(angle):
    """The left Jacobian is sum (u x)^k / (k + 1)!, the right one with -u; solve inverts apply."""
    u, x = twist(angle), samples.motion(RNG)
    J = series(crm(u.array()), 1)
    J_right = series(-crm(u.array()), 1)
    assert close(se3.left_jacobian_apply(u, x), J @ x.array())
    assert close(se3.right_jacobian_apply(u, x), J_right @ x.array())
    assert close(se3.left_jacobian_solve(u, x), np.linalg.solve(J, x.array()))
    assert close(se3.right_jacobian_solve(u, x), np.linalg.solve(J_right, x.array()))


def test_right_jacobian_is_the_body_velocity():
    """dX/dt = -(J_r u') x X (eq. 2.45): finite differences, error h^2 + eps / h = 1e-10."""
    u, rate, h = twist(0.9), samples.motion(RNG), 1e-5
    X = [se3.exp_se3(u + rate * s).matrix() for s in (-h, 0.0, h)]
    velocity = se3.right_jacobian_apply(u, rate)
    assert np.allclose((X[2] - X[0]) / (2 * h), -crm(velocity.array()) @ X[1], atol=1e-8)


def test_published_exponential():
    """exp of w = (0.3, -0.2, 0.5), v = (1, 2, -1), computed independently to fifteen digits."""
    T = pose(se3.exp_se3(Motion.of([0.3, -0.2, 0.5, 1.0, 2.0, -1.0])))
    R = [
        [0.859533898558663, -0.497991537002922, -0.114916953936367],
        [0.439867632958231, 0.835315605206709, -0.329794337692255],
        [0.260226714048094, 0.232921164284437, 0.937032437284918],
    ]
    assert np.allclose(T[:3, :3], R, atol=2e-15)
    assert np.allclose(T[:3, 3], [0.520931346311478, 2.282834453565847, -0.599425026360548], atol=2e-15)


PRINTED_POSE = np.array(
    [[-0.7372, -0.2659, 0.6211, 0.6877], [-0.1676, -0.8186, -0.5493, 0.3886], [0.6545, -0.5091, 0.5589, 0.9371]]
)
PRINTED_LOG = np.array([1.1157, -0.9257, 2.7242, 1.3245, -0.6727, 0.3156])


def test_printed_logarithm():
    """Sueda's MATLAB example after eq. 1.10. Four digits of E near half a turn leave 1e-3 in its logarithm."""
    R, p = PRINTED_POSE[:, :3], PRINTED_POSE[:, 3]
    X = Transform(rotation_from_matrix(R.T), Vector3.of(p))
    assert np.allclose(se3.log_se3(X).array(), PRINTED_LOG, atol=1e-3)
    assert np.allclose(pose(se3.exp_se3(Motion.of(PRINTED_LOG)))[:3], PRINTED_POSE, atol=1.5e-4)


def test_printed_derivative_of_a_pose():
    """Sueda's example after eq. 1.11: dE/dt = E [phi], by finite differences of the exponential and as printed."""
    E = np.array(
        [[-0.9227, -0.3845, -0.0274, -0.5020], [0.2865, -0.6364, -0.7162, 0.4564], [0.2579, -0.6687, 0.6973, -1.5617],
         [0.0, 0.0, 0.0, 1.0]]
    )  # fmt: skip
    phi = Motion.of([-0.1285, 1.2666, 0.8058, -0.6903, -0.5538, -0.1246])
    printed = np.array(
        [[-0.2751, 0.7470, -1.2181, 0.8533], [0.3944, -0.1388, 0.2811, 0.2439], [-1.4221, -0.2974, 0.2408, 0.1054]]
    )
    h = 1e-6
    rate = E @ (pose(se3.exp_se3(phi * h)) - pose(se3.exp_se3(phi * -h))) / (2 * h)
    assert np.allclose(rate, E @ bracket(phi), atol=1e-9)
    assert np.allclose(rate[:3], printed, atol=2e-4)  # four printed digits in, four out


def test_material_jacobian():
    """Sueda eq. 1.12-1.13 and the printed example: under z rotation a point on x moves along y; J^T f is a wrench."""
    x = Vector3(1.0, 0.0, 0.0)
    assert list(Motion.of([0.0, 0.0, 0.0, 1.0, 0.0, 0.0]).velocity_at(x)) == [1.0, 0.0, 0.0]
    assert list(Motion.of([0.0, 0.0, 1.0, 0.0, 0.0, 0.0]).velocity_at(x)) == [0.0, 1.0, 0.0]
    phi, f, p = samples.motion(RNG), samples.vector(RNG), samples.vector(RNG)
    assert np.isclose(phi.velocity_at(p).dot(f), phi.dot(Force.at_point(f, p)), rtol=1e-12)


def test_adjoint_and_its_rate():
    """Ad = [[R, 0], [p x R, R]] takes motions from B to A, and dAd/dt = Ad (phi x) (Sueda eq. 1.14, 1.18-1.20)."""
    X, phi, h = samples.transform(RNG), samples.motion(RNG), 1e-5
    R, p = X.E.matrix.array().T, Matrix3.cross(X.r).array()
    Ad = X.inverse().matrix()
    assert close(Ad, np.block([[R, np.zeros((3, 3))], [p @ R, R]]))
    after, before = ((se3.exp_se3(phi * s) @ X).inverse().matrix() for s in (h, -h))
    assert np.allclose((after - before) / (2 * h), Ad @ crm(phi.array()), atol=1e-8)
