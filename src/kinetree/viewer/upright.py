"""Pictures have z up: worlds whose gravity is along another axis are turned for them, with all that is in them."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np

from kinetree.conventions.rotations import quaternion_of, rotation_matrix

VECTORS = ("points", "vectors", "vertices")  # of overlays: rows of three numbers


def upright(gravity) -> np.ndarray:
    """The rotation from the axes of the world to those of its picture, by whole quarters.

    Parameters
    ----------
    gravity : (3,) array_like
        [m/s^2]; zero leaves the world as it is.

    Returns
    -------
    (3, 3) array

    Examples
    --------
    >>> upright((0.0, -9.81, 0.0)) @ (1.0, 2.0, 3.0)
    array([ 1., -3.,  2.])
    """
    g = np.asarray([*gravity], float)
    axis = int(np.argmax(np.abs(g)))
    if g[axis] == 0.0 or (axis == 2 and g[2] < 0.0):
        return np.eye(3)
    up = -np.sign(g[axis]) * np.eye(3)[axis]
    first = np.eye(3)[0 if axis else 1]
    return np.stack([first, np.cross(up, first), up])


def turned(recorded, R: np.ndarray):
    """A recorded run in other axes.

    Parameters
    ----------
    recorded : Recorded
    R : (3, 3) array
        A rotation by quarters.
    """
    if np.array_equal(R, np.eye(3)):
        return recorded
    ends = np.sort(recorded.boxes @ R.T, axis=1)
    overlays = tuple(_overlay(x, R) for x in recorded.overlays)
    return replace(recorded, poses=turned_poses(recorded.poses, R), overlays=overlays, boxes=ends)


def _overlay(overlay, R: np.ndarray):
    changed = {}
    for name in (x.name for x in fields(overlay)):
        value = getattr(overlay, name)
        if name == "poses":
            changed[name] = turned_poses(value, R)
        elif name in VECTORS:
            changed[name] = [np.asarray(x) @ R.T for x in value] if isinstance(value, list) else np.asarray(value) @ R.T
    return replace(overlay, **changed)


def turned_poses(poses, R: np.ndarray) -> np.ndarray:
    """Poses (..., 7), positions and quaternions, in other axes.

    Parameters
    ----------
    poses : (..., 7) array
    R : (3, 3) array
    """
    return np.concatenate([poses[..., :3] @ R.T, quaternion_of(R @ rotation_matrix(poses[..., 3:]))], axis=-1)
