"""The book's simple functions: tables A.1 and A.2, and the derivatives of sections 2.9 and 2.10."""

import numpy as np
import pytest
from scipy.linalg import expm

from kinetree.errors import ShapeError
from kinetree.liegroup import se3
from kinetree.spatial import AxialRotation, Transform, Vector3, dense
from kinetree.spatial.dense import Xpln, XtoV, crf, crm, mcI, xlt

from . import samples
from .samples import close

RNG = np.random.default_rng(16)


def test_transforms_are_those_of_the_classes():
    """rotx, roty, rotz and xlt are Transforms; rotations are the same for motions and forces."""
    r = samples.vector(RNG)
    for axis, (make, small) in enumerate(((dense.rotx, dense.rx), (dense.roty, dense.ry), (dense.rotz, dense.rz))):
        E = AxialRotation(axis, np.cos(0.4), np.sin(0.4))
        assert close(make(0.4), Transform(E, Vector3.zero()).matrix())
        assert close(make(0.4), Transform(E, Vector3.zero()).force_matrix())
        assert close(small(0.4), E.matrix)
        assert close(make(0.4) @ xlt(list(r)), Transform(E, r).matrix())


def test_derivative_of_a_moving_transform():
    """dX/dt = -v_B x X for a frame B that moves with v_B in B's coordinates (eq. 2.45); h^2 + eps / h = 1e-10."""
    X, v, h = samples.transform(RNG), samples.motion(RNG), 1e-5
    after, before = ((se3.exp_se3(v * s) @ X).matrix() for s in (h, -h))
    assert np.allclose((after - before) / (2 * h), -crm(v.array()) @ X.matrix(), atol=1e-8)


def test_derivative_of_a_moving_inertia():
    """dI/dt = v x* I - I v x, in fixed coordinates (eq. 2.65)."""
    I, v, h = samples.inertia(RNG), samples.motion(RNG), 1e-5
    after, before = ((se3.exp_se3(v * s).inverse() @ I).matrix() for s in (h, -h))
    assert np.allclose((after - before) / (2 * h), crf(v.array()) @ I.matrix() - I.matrix() @ crm(v.array()), atol=1e-7)


def test_similarity_and_congruence():
    """v x keeps its eigenvalues under a transform, an inertia its signature only (table 2.5)."""
    X, v, I = samples.transform(RNG), samples.motion(RNG), samples.inertia(RNG)

    def invariants(A):  # characteristic polynomial: smooth where eigenvalues coincide
        return np.poly(A)

    assert np.allclose(invariants(crm((X @ v).array())), invariants(crm(v.array())), atol=1e-10)
    there, here = np.linalg.eigvalsh((X @ I).matrix()), np.linalg.eigvalsh(I.matrix())
    assert np.all(there > 0) and not np.allclose(there, here)


def test_inverse_inertia():
    """Phi = [[J, J c x^T], [c x J, 1/m 1 + c x J c x^T]], J = I_c^-1 (eq. 2.74)."""
    m, c, I_c = 1.7, RNG.normal(size=3), np.diag([0.3, 0.4, 0.5])
    C, J = dense.skew(c), np.linalg.inv(I_c)
    Phi = np.block([[J, J @ C.T], [C @ J, np.eye(3) / m + C @ J @ C.T]])
    assert close(Phi @ mcI(m, c, I_c), np.eye(6), k=1e3)


@pytest.mark.parametrize("angle", [1e-6, 0.1, 1.0])
def test_spatial_XtoV(angle):
    """v = X v = X^-1 v, and relative error O(angle^2) against the exact velocity."""
    u = se3.Motion(samples.vector(RNG), samples.vector(RNG))
    u = u * (angle / np.sqrt(u.angular.dot(u.angular)))
    X = se3.exp_se3(u).matrix()
    v = XtoV(X)
    assert close(X @ v, v, k=20) and close(np.linalg.solve(X, v), v)
    assert np.linalg.norm(v - u.array()) <= angle**2 * np.linalg.norm(u.array()) + 1e-15


def test_XtoV_is_exact_for_translations():
    """In space and, in both versions, in the plane."""
    r = RNG.normal(size=3)
    assert close(XtoV(xlt(r)), np.array([0.0, 0.0, 0.0, *r]))
    for accurate in (False, True):
        assert close(XtoV(Xpln(0.0, r[:2]), accurate), np.array([0.0, *r[:2]]))


@pytest.mark.parametrize("angle", [1e-6, 0.1, 1.0, -1.2])
def test_accurate_planar_XtoV(angle):
    """v = X v, and u = v asin(X23) / X23 is the exact velocity: X = exp(-u x) (table A.1)."""
    X = Xpln(angle, RNG.normal(size=2))
    v = XtoV(X, accurate=True)
    assert close(X @ v, v)
    u = v * np.arcsin(X[1, 2]) / X[1, 2]
    assert np.max(np.abs(expm(-crm(u)) - X)) < 1e-14 * 10 / min(1.0, abs(angle)) ** 0.5


def test_simple_planar_XtoV_converges():
    """The error of the simple version is of first order in the angle, relative to the offset."""
    r = np.array([1.0, 2.0])
    errors = [np.linalg.norm(XtoV(Xpln(a, r)) - XtoV(Xpln(a, r), True)) for a in (1e-2, 1e-3)]
    assert 8.0 < errors[0] / errors[1] < 12.0


def test_wrong_sizes_are_named():
    """A vector of four numbers is neither spatial nor planar."""
    with pytest.raises(ShapeError, match=r"crm: v has shape \(4,\), expected \(6,\)"):
        crm(np.zeros(4))
    with pytest.raises(ShapeError, match=r"mcI: c has shape \(4,\)"):
        mcI(1.0, np.zeros(4), np.eye(3))
    with pytest.raises(ShapeError, match=r"XtoV: X has shape \(4, 4\)"):
        XtoV(np.eye(4))
