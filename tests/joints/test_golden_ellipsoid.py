"""The ellipsoid joint: where it puts its successor, against the formulas of Seth et al. (2010) and of Simbody."""

from __future__ import annotations

import numpy as np
import pytest

from kinetree.errors import JointError
from kinetree.joints import Ellipsoid, SphericalEuler

from .calculus import columns, matrix, six

RADII = (0.3, 0.5, 0.8)
A, B, C = RADII
Q = [0.4, -0.7, 1.2]
BOTH = pytest.mark.parametrize("exact", [False, True], ids=["stretched", "exact"])


def pose(example, q):
    """R and p of the successor in predecessor coordinates."""
    X = example.transform(q)
    return matrix(X)[:3, :3].T, np.array(list(X.r))


def test_point_of_seth_et_al():
    """r = (a sin q2, -b sin q1 cos q2, c cos q1 cos q2)."""
    (s1, s2, _), (c1, c2, _) = np.sin(Q), np.cos(Q)
    np.testing.assert_allclose(pose(Ellipsoid(RADII), Q)[1], [A * s2, -B * s1 * c2, C * c1 * c2], atol=1e-16)


def test_velocity_of_simbody():
    """H of Simbody's ellipsoid mobilizer: the linear velocity that unit angular velocities give, all in F_p."""
    R, _ = pose(Ellipsoid(RADII), Q)
    n = R[:, 2]
    H = np.array([
        [0.0, n[2] * A, -n[1] * A],
        [-n[2] * B, 0.0, n[0] * B],
        [n[1] * C, -n[0] * C, 0.0],
    ])  # fmt: skip
    S = columns(Ellipsoid(RADII).motion_subspace(Q))
    np.testing.assert_allclose(R @ S[3:], H @ (R @ S[:3]), atol=1e-15)


def test_turns_are_those_of_the_euler_angles_xyz():
    """The orientation and the angular part of S do not know of the surface."""
    angles = SphericalEuler("xyz")
    for example in (Ellipsoid(RADII), Ellipsoid(RADII, True)):
        np.testing.assert_array_equal(matrix(example.transform(Q))[:3, :3], matrix(angles.transform(Q))[:3, :3])
        np.testing.assert_array_equal(columns(example.motion_subspace(Q))[:3], columns(angles.motion_subspace(Q))[:3])


@BOTH
def test_the_point_is_on_the_ellipsoid(exact):
    """(x/a)^2 + (y/b)^2 + (z/c)^2 = 1 at random positions."""
    example, rng = Ellipsoid(RADII, exact), np.random.default_rng(1)
    for _ in range(10):
        _, p = pose(example, example.random(rng))
        assert np.sum((p / RADII) ** 2) == pytest.approx(1.0, abs=1e-14)


def test_z_axis_is_the_exact_normal_only_where_it_is_said_to_be():
    """With exact_normal the gradient of the surface is along z and no velocity is; without it neither holds."""
    z = np.array([0.0, 0.0, 1.0])
    for exact in (True, False):
        example = Ellipsoid(RADII, exact)
        R, p = pose(example, Q)
        gradient = R.T @ (p / np.square(RADII))
        off = np.linalg.norm(np.cross(gradient / np.linalg.norm(gradient), z))
        normal_speed = abs(six(example.velocity(Q, [0.3, -0.5, 0.7]))[5])
        assert (off < 1e-15 and normal_speed < 1e-15) if exact else (off > 0.1 and normal_speed > 1e-2)


@BOTH
def test_spheres_are_balls_on_a_stick(exact):
    """With equal radii both forms put the origin at radius n, and the joint turns about the center."""
    example = Ellipsoid((0.7, 0.7, 0.7), exact)
    R, p = pose(example, Q)
    np.testing.assert_allclose(p, 0.7 * R[:, 2], atol=1e-15)
    S = columns(example.motion_subspace(Q))
    np.testing.assert_allclose(S[3:], np.cross(S[:3].T, [0.0, 0.0, 0.7]).T, atol=1e-15)


@BOTH
def test_frames_are_parallel_at_neutral(exact):
    """E = 1 and r = (0, 0, c) at q = 0."""
    example = Ellipsoid(RADII, exact)
    R, p = pose(example, example.neutral())
    np.testing.assert_array_equal(R, np.eye(3))
    np.testing.assert_allclose(p, [0.0, 0.0, C], atol=2e-16)


@pytest.mark.parametrize("radii", [(1.0, 2.0), (1.0, 0.0, 2.0), (1.0, -1.0, 2.0), 3.0, (1.0, 2.0, float("inf")), "abc"])
def test_radii_must_be_three_positive_lengths(radii):
    """The error names the joint and what is expected."""
    with pytest.raises(JointError, match="ellipsoid joint: "):
        Ellipsoid(radii)
