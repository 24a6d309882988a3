"""Control frames of splines: poses as numbers of a joint."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from kinetree.errors import JointError
from kinetree.spatial import GeneralRotation, Matrix3, Transform, Vector3
from kinetree.spatial.rotations import euler, quaternion_from_rotation, quaternion_to_rotation
from kinetree.spatial.scalar import SNAP

ControlFrame = tuple[tuple[float, float, float], tuple[float, float, float, float]]
"""Position of the origin [m] and unit quaternion (w, x, y, z), in predecessor coordinates."""

_FORMS = (
    "a Transform, a pair (xyz, quaternion (w, x, y, z)), a pair (xyz, rpy), a pair (R, p) or a 4x4 array of the pose"
)


def control_frame(frame, what: str) -> ControlFrame:
    """A pose from any of the forms in which users have it.

    Parameters
    ----------
    frame : Transform, (xyz, quaternion), (xyz, rpy), (R, p) or (4, 4) array
        The transform to the frame; its position [m] and unit quaternion (w, x, y, z); position and roll-pitch-yaw
        angles [rad]; rotation matrix and position; the homogeneous matrix of both.
    what : str
        Opens the message of an error.

    Raises
    ------
    JointError
        If it is none of these, not finite, or not a rotation.

    Examples
    --------
    >>> control_frame(((1, 2, 3), (0, 0, 0)), "frame")
    ((1.0, 2.0, 3.0), (1.0, 0.0, 0.0, 0.0))
    """
    if isinstance(frame, Transform):
        position, rotation = list(frame.r), np.array(frame.E.matrix.rows, dtype=float).T
    elif getattr(frame, "shape", None) == (4, 4):
        position, rotation = frame[:3, 3], np.array(frame[:3, :3], dtype=float)
    else:
        try:
            position, rotation = (np.array(part, dtype=float) for part in frame)
        except (TypeError, ValueError, OverflowError):
            position = rotation = np.empty(0)
        if position.shape == (3, 3):
            position, rotation = rotation, position
    position = np.array(position, dtype=float)
    if position.shape != (3,) or rotation.shape not in ((3,), (4,), (3, 3)):
        raise JointError(f"{what}: {frame!r} is not a pose; give {_FORMS}.", frame=frame)
    if not (np.isfinite(position).all() and np.isfinite(rotation).all()):
        raise JointError(f"{what}: {frame!r} is not finite.", frame=frame)
    return tuple(position.tolist()), _quaternion(rotation, what)


def transform_of(frame: ControlFrame) -> Transform:
    """The coordinate transform to the control frame."""
    position, quaternion = frame
    return Transform(quaternion_to_rotation(quaternion), Vector3(*position))


def _quaternion(rotation: np.ndarray, what: str) -> tuple[float, ...]:
    """The unit quaternion of a quaternion, of roll-pitch-yaw angles or of a rotation matrix; residues become exact."""
    if rotation.shape == (4,):
        quaternion, defect = rotation.tolist(), abs(math.hypot(*rotation) - 1.0)
    elif rotation.shape == (3,):
        roll, pitch, yaw = rotation.tolist()
        quaternion, defect = quaternion_from_rotation(euler("zyx", (yaw, pitch, roll))), 0.0
    else:
        defect = float(np.abs(rotation @ rotation.T - np.eye(3)).max()) + float(np.linalg.det(rotation) < 0.0)
        rows = tuple(map(tuple, rotation.T.tolist()))
        quaternion = quaternion_from_rotation(GeneralRotation(Matrix3(rows)))
    if not defect < 1e-6:
        raise JointError(
            f"{what}: {rotation.tolist()!r} is off a rotation by {defect:.3g}; a quaternion (w, x, y, z) must have "
            "unit length, a matrix must be orthonormal with determinant 1.",
            defect=defect,
        )
    return _unit(quaternion)


def _unit(quaternion: Sequence[float]) -> tuple[float, ...]:
    exact = [0.0 if abs(x) < SNAP else float(x) for x in quaternion]
    length = math.hypot(*exact)
    if abs(length - 1.0) < 1e-15:  # a unit quaternion stays as it is, so that a repr gives the same joint back
        return tuple(exact)
    exact = [x / length for x in exact]
    return tuple(float(round(x)) if abs(abs(x) - 1.0) < SNAP else x for x in exact)
