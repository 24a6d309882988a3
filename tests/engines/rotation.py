"""The rotation matrix of a quaternion, written here once more so that the engine tests do not lean on the library's."""

from __future__ import annotations

import numpy as np


def rotation_matrix(quaternion):
    """R_WB (3, 3) of a unit quaternion (w, x, y, z): 1 + 2 w [u]x + 2 [u]x [u]x."""
    w, x, y, z = quaternion
    u = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + 2.0 * w * u + 2.0 * u @ u
