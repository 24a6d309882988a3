"""Rotations from angles and quaternions, over any scalar; rotation vectors are in :mod:`kinetree.liegroup.so3`.

Conventions. A rotation is described as that of frame B relative to frame A, and every function that returns a
:class:`Rotation` returns the *coordinate* rotation E from A to B, which is the transpose of the matrix R that turns A's
axes into B's. Quaternions are (w, x, y, z), and the product of quaternions composes as R does: ``R(p q) = R(p) R(q)``.
"""

from __future__ import annotations

import numpy as np

from kinetree.errors import JointError, QuaternionError
from kinetree.spatial.rotation import AxialRotation, GeneralRotation, IdentityRotation, Rotation
from kinetree.spatial.scalar import sincos, sqrt, where
from kinetree.spatial.vectors import Matrix3

EULER_SEQUENCES = ("xyz", "xzy", "yxz", "yzx", "zxy", "zyx", "xyx", "xzx", "yxy", "yzy", "zxz", "zyz")


def rx(angle) -> AxialRotation:
    """Coordinate rotation for a frame turned by ``angle`` [rad] about x: ``[[1, 0, 0], [0, c, s], [0, -s, c]]``."""
    s, c = sincos(angle)
    return AxialRotation(0, c, s)


def ry(angle) -> AxialRotation:
    """Coordinate rotation for a frame turned by ``angle`` [rad] about y: ``[[c, 0, -s], [0, 1, 0], [s, 0, c]]``."""
    s, c = sincos(angle)
    return AxialRotation(1, c, s)


def rz(angle) -> AxialRotation:
    """Coordinate rotation for a frame turned by ``angle`` [rad] about z: ``[[c, s, 0], [-s, c, 0], [0, 0, 1]]``."""
    s, c = sincos(angle)
    return AxialRotation(2, c, s)


def euler(sequence: str, angles) -> Rotation:
    """Coordinate rotation of a frame turned about three axes in succession.

    Parameters
    ----------
    sequence : str
        Three of x, y, z, the first rotation first. Each rotation is about an axis of the frame as turned so far
        (intrinsic axes), like three revolute joints in a row. 'zyx' is yaw, pitch, roll; URDF's rpy (r, p, y) is
        ``euler('zyx', (y, p, r))``.
    angles : sequence of three scalars
        [rad], in the order of the sequence.

    Returns
    -------
    Rotation
        ``E_3 E_2 E_1``.

    Raises
    ------
    JointError
        If the sequence is none of the twelve.

    Notes
    -----
    SciPy writes intrinsic sequences in capitals: its 'ZYX' is 'zyx' here.

    Examples
    --------
    >>> from kinetree.spatial import Vector3
    >>> euler("zxz", (0.0, 0.0, 0.0)) @ Vector3(1.0, 2.0, 3.0)
    Vector3(1.0, 2.0, 3.0)
    """
    if sequence not in EULER_SEQUENCES:
        raise JointError(
            f"Euler sequence {sequence!r} is unknown; expected lower-case axes of the turned frame, one of "
            f"{', '.join(EULER_SEQUENCES)}.",
            sequence=sequence,
        )
    first, second, third = (ABOUT[axis](angle) for axis, angle in zip(sequence, angles, strict=True))
    return third @ (second @ first)


ABOUT = {"x": rx, "y": ry, "z": rz}


# Quaternions ---------------------------------------------------------------------------------------------------------


def quaternion_to_rotation(q) -> GeneralRotation:
    """Coordinate rotation of a unit quaternion (Featherstone eq. 4.12).

    Parameters
    ----------
    q : sequence of four scalars
        (w, x, y, z), of unit length.

    Returns
    -------
    GeneralRotation
        E, the transpose of R(q).
    """
    w, x, y, z = q
    x2, y2, z2 = x + x, y + y, z + z
    xx, yy, zz = x * x2, y * y2, z * z2
    xy, xz, yz = x * y2, x * z2, y * z2
    wx, wy, wz = w * x2, w * y2, w * z2
    return GeneralRotation(
        Matrix3(
            (
                (1.0 - (yy + zz), xy + wz, xz - wy),
                (xy - wz, 1.0 - (xx + zz), yz + wx),
                (xz + wy, yz - wx, 1.0 - (xx + yy)),
            )
        )
    )


def quaternion_from_rotation(E: Rotation) -> tuple:
    """Unit quaternion of a rotation, the one of the two whose largest component is positive; no branch, no singularity.

    Parameters
    ----------
    E : Rotation

    Returns
    -------
    tuple of four scalars
        (w, x, y, z).

    Notes
    -----
    The rows of ``4 q q^T`` are linear in E; the one with the largest diagonal entry, normalized, is q (Shepperd).
    """
    if E.__class__ is IdentityRotation:
        return 1.0, 0.0, 0.0, 0.0
    (E11, E12, E13), (E21, E22, E23), (E31, E32, E33) = E.matrix.rows
    wx, wy, wz = E23 - E32, E31 - E13, E12 - E21
    xy, xz, yz = E12 + E21, E13 + E31, E23 + E32
    ww, xx = 1.0 + E11 + E22 + E33, 1.0 + E11 - E22 - E33
    yy, zz = 1.0 - E11 + E22 - E33, 1.0 - E11 - E22 + E33
    largest, row = ww, (ww, wx, wy, wz)
    for size, candidate in ((xx, (wx, xx, xy, xz)), (yy, (wy, xy, yy, yz)), (zz, (wz, xz, yz, zz))):
        larger = size > largest
        largest = where(larger, size, largest)
        row = tuple(where(larger, new, old) for new, old in zip(candidate, row, strict=True))
    return quaternion_normalize(row)


def quaternion_product(p, q) -> tuple:
    """Hamilton's product (16m + 12a); ``R(p q) = R(p) R(q)``."""
    a, b, c, d = p
    w, x, y, z = q
    return (
        a * w - b * x - c * y - d * z,
        a * x + b * w + c * z - d * y,
        a * y - b * z + c * w + d * x,
        a * z + b * y - c * x + d * w,
    )


def quaternion_inverse(q) -> tuple:
    """The inverse of a unit quaternion: its conjugate."""
    w, x, y, z = q
    return w, -x, -y, -z


def require_direction(q, length) -> None:
    """Refuse a quaternion of numbers whose length is zero or infinite: no rotation can be read from it.

    Raises
    ------
    QuaternionError
    """
    if isinstance(length, (float, np.ndarray, np.generic)) and np.any((length == 0.0) | (length == np.inf)):
        raise QuaternionError(
            f"the quaternion {tuple(q)!r} has length {length!r}, so it is no rotation. Quaternions are "
            "(w, x, y, z); (1, 0, 0, 0) is the identity.",
            norm=length,
        )


def quaternion_normalize(q) -> tuple:
    """The quaternion divided by its length.

    Raises
    ------
    QuaternionError
        It is zero, or too long for its length to be a number. Traced code cannot raise: see `kinetree.normalize`.
    """
    w, x, y, z = q
    length = sqrt(w * w + x * x + y * y + z * z)
    require_direction(q, length)
    return w / length, x / length, y / length, z / length
