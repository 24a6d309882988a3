"""Euler angles and universal joint as Sueda prints them (sections 2.4.5 and 2.4.6, inventory S2.04).

Sueda's R takes coordinates of the child to those of the parent; E of a transform is its transpose.
"""

from __future__ import annotations

import numpy as np
import pytest

from kinetree.joints import SphericalEuler, Universal

Q, V = (0.4, -0.7, 1.1), (0.3, -1.2, 0.8)
C1, C2, C3 = np.cos(Q)
S1, S2, S3 = np.sin(Q)
V1, V2, V3 = V

EULER_R = {
    "xzx": [
        [C2, -S2 * C3, S2 * S3],
        [C1 * S2, C1 * C2 * C3 - S1 * S3, -S1 * C3 - C1 * C2 * S3],
        [S1 * S2, C1 * S3 + S1 * C2 * C3, C1 * C3 - S1 * C2 * S3],
    ],
    "xyz": [
        [C2 * C3, -C2 * S3, S2],
        [C1 * S3 + S1 * S2 * C3, C1 * C3 - S1 * S2 * S3, -S1 * C2],
        [S1 * S3 - C1 * S2 * C3, S1 * C3 + C1 * S2 * S3, C1 * C2],
    ],
}
UNIVERSAL_R = [[C2, 0.0, S2], [S1 * S2, C1, -S1 * C2], [-C1 * S2, S1, C1 * C2]]


def columns(motions):
    return np.array([m.array() for m in motions], dtype=float).T


def turn(joint, q):
    """R of the joint's pose."""
    X = joint.transform(q)
    np.testing.assert_array_equal(list(X.r), [0.0, 0.0, 0.0])
    return np.array(list(X.matrix()))[:3, :3].T


@pytest.mark.parametrize("sequence", EULER_R)
def test_rotations_of_euler_angles(sequence):
    """S2.04: R by XZX (eq. 2.31) and XYZ (eq. 2.36)."""
    np.testing.assert_allclose(turn(SphericalEuler(sequence), Q), EULER_R[sequence], atol=1e-15)


def test_jacobian_of_xzx():
    """S2.04: S and its rate (eq. 2.33 to 2.35)."""
    joint = SphericalEuler("xzx")
    S = columns(joint.motion_subspace(Q))
    np.testing.assert_allclose(S[:3], [[C2, 0, 1], [-C3 * S2, S3, 0], [S2 * S3, C3, 0]], atol=1e-15)
    rate = [
        [-S2 * V2, 0.0, 0.0],
        [S3 * S2 * V3 - C3 * C2 * V2, C3 * V3, 0.0],
        [C2 * S3 * V2 + S2 * C3 * V3, -S3 * V3, 0.0],
    ]
    np.testing.assert_allclose(columns(joint.subspace_rate(Q, V))[:3], rate, atol=1e-15)
    assert not S[3:].any()


def test_universal_joint():
    """S2.04: R, S and its rate (eq. 2.37 to 2.40)."""
    joint = Universal()
    np.testing.assert_allclose(turn(joint, Q[:2]), UNIVERSAL_R, atol=1e-15)
    np.testing.assert_allclose(columns(joint.motion_subspace(Q[:2]))[:3], [[C2, 0], [0, 1], [S2, 0]], atol=1e-15)
    rate = [[-S2 * V2, 0], [0, 0], [C2 * V2, 0]]
    np.testing.assert_allclose(columns(joint.subspace_rate(Q[:2], V[:2]))[:3], rate, atol=1e-15)
