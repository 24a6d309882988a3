"""Quaternions and rotation matrices as arrays with leading batch axes; the type of the numbers is kept."""

from __future__ import annotations

import numpy as np

from kinetree.arguments import a_shape, checked

XYZW = np.array([1, 2, 3, 0])
"""Picks (x, y, z, w) out of kinetree's (w, x, y, z)."""

WXYZ = np.array([3, 0, 1, 2])
"""Picks (w, x, y, z) out of (x, y, z, w)."""


@checked(quaternion=a_shape(..., 4))
def quaternion_to_xyzw(quaternion: np.ndarray) -> np.ndarray:
    """(..., 4) arrays (x, y, z, w), as in Pinocchio, from (w, x, y, z)."""
    return np.asarray(quaternion)[..., XYZW]


@checked(quaternion=a_shape(..., 4))
def quaternion_from_xyzw(quaternion: np.ndarray) -> np.ndarray:
    """(..., 4) arrays (w, x, y, z) from (x, y, z, w)."""
    return np.asarray(quaternion)[..., WXYZ]


def matrix_of(rows) -> np.ndarray:
    """Nested lists of arrays over the batch as one array with the rows and columns behind the batch."""
    return np.stack([np.stack(np.broadcast_arrays(*row), axis=-1) for row in rows], axis=-2)


def rotation_matrix(quaternion) -> np.ndarray:
    """R_WB (..., 3, 3) of a quaternion (w, x, y, z): body to world coordinates."""
    w, x, y, z = np.moveaxis(np.asarray(quaternion), -1, 0)
    return matrix_of([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ])  # fmt: skip


def quaternion_of(R) -> np.ndarray:
    """The quaternion (..., 4), (w, x, y, z) with w >= 0, of rotation matrices (..., 3, 3)."""
    R = np.asarray(R)
    (a, b, c), (d, e, f), (g, h, i) = np.moveaxis(R, (-2, -1), (0, 1))
    # The matrix 4 q q^T, whose columns are all parallel to q: the longest is the most accurate.
    Q = matrix_of([
        [1 + a + e + i, h - f, c - g, d - b],
        [h - f, 1 + a - e - i, b + d, c + g],
        [c - g, b + d, 1 - a + e - i, f + h],
        [d - b, c + g, f + h, 1 - a - e + i],
    ])  # fmt: skip
    longest = np.argmax(np.diagonal(Q, axis1=-2, axis2=-1), axis=-1)
    q = np.take_along_axis(Q, longest[..., None, None], axis=-1)[..., 0]
    q = q / np.linalg.norm(q, axis=-1, keepdims=True)
    return np.where(q[..., :1] < 0, -q, q)


def quaternion_product(a, b) -> np.ndarray:
    """The rotation b, then a, as quaternions (..., 4)."""
    (w, x, y, z), (W, X, Y, Z) = np.moveaxis(np.asarray(a), -1, 0), np.moveaxis(np.asarray(b), -1, 0)
    return np.stack(np.broadcast_arrays(
        w * W - x * X - y * Y - z * Z, w * X + x * W + y * Z - z * Y, w * Y + y * W + z * X - x * Z,
        w * Z + z * W + x * Y - y * X,
    ), axis=-1)  # fmt: skip


def quaternion_of_rpy(rpy) -> np.ndarray:
    """The quaternion of ``Rz(yaw) Ry(pitch) Rx(roll)``."""
    half = np.asarray(rpy) * 0.5
    (cx, cy, cz), (sx, sy, sz) = np.moveaxis(np.cos(half), -1, 0), np.moveaxis(np.sin(half), -1, 0)
    return np.stack([
        cx * cy * cz + sx * sy * sz, sx * cy * cz - cx * sy * sz, cx * sy * cz + sx * cy * sz,
        cx * cy * sz - sx * sy * cz,
    ], axis=-1)  # fmt: skip


def rpy_of(R) -> np.ndarray:
    """(roll, pitch, yaw) [rad] of rotation matrices, pitch within a quarter turn."""
    R = np.asarray(R)
    return np.stack([
        np.arctan2(R[..., 2, 1], R[..., 2, 2]),
        np.arctan2(-R[..., 2, 0], np.hypot(R[..., 0, 0], R[..., 1, 0])),
        np.arctan2(R[..., 1, 0], R[..., 0, 0]),
    ], axis=-1)  # fmt: skip


def quaternion_rates(quaternion) -> np.ndarray:
    """Q (..., 4, 3) with ``d quaternion / dt = Q w`` for the angular velocity w in body coordinates; 4 Q^T Q = 1."""
    w, x, y, z = 0.5 * np.moveaxis(np.asarray(quaternion), -1, 0)
    return matrix_of([[-x, -y, -z], [w, -z, y], [z, w, -x], [-y, x, w]])
