"""The cameras of pictures and of the live page: so far away that a box is in the picture."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

DIRECTION = (1.0, -1.35, 0.55)  # from the middle of the picture to the camera
HALF = float(np.tan(np.radians(16.0)))  # of the vertical field of view; these numbers are those of page/source/stage.js
FREE = 1.04
FIELD_OF_VIEW = np.radians(40.0)
FLAT = 0.2  # of the largest edge: a mechanism that is thinner along a horizontal axis is seen along it


@dataclass(frozen=True, slots=True)
class Camera:
    """A camera that looks at a point.

    Attributes
    ----------
    target : (3,) array
        [m]
    axes : (3, 3) array
        Rows: right, up, and back to the camera, in world axes [1].
    distance : float
        Of the target [m].
    aspect : float
        Width over height of the picture [1].
    """

    target: np.ndarray
    axes: np.ndarray
    distance: float
    aspect: float

    @classmethod
    def around(cls, recording, direction, zoom: float, aspect: float) -> Camera:
        """The camera that has the box of a recording in its picture.

        Parameters
        ----------
        recording : Recording
        direction : (3,) array_like
            To the camera [1].
        zoom : float
            Magnification [1].
        aspect : float
            Width over height [1].
        """
        back = np.asarray(direction, float) / np.linalg.norm(direction)
        right = np.cross([0.0, 0.0, 1.0], back)
        right /= np.linalg.norm(right)
        axes = np.stack([right, np.cross(back, right), back])
        corners = np.array([np.where(bits, recording.high, recording.low) for bits in np.ndindex(2, 2, 2)])
        x, y, z = axes @ (corners - recording.center).T
        across = np.maximum(np.abs(y), np.abs(x) / aspect)
        distance = max(recording.radius, float(np.max(FREE * across / HALF + z)))
        return cls(recording.center, axes, distance / zoom, aspect)

    def project(self, points) -> tuple[np.ndarray, np.ndarray]:
        """Places in the picture, whose height is from -1 to 1, and distances from the camera.

        Parameters
        ----------
        points : (..., 3) array
            World coordinates [m].

        Returns
        -------
        places : (..., 2) array
            [1]
        depth : (...) array
            Along the view [m].
        """
        x = (np.asarray(points, float) - self.target) @ self.axes.T
        depth = np.maximum(self.distance - x[..., 2], 1e-6 * self.distance)
        return x[..., :2] / (HALF * depth[..., None]), depth


def up_of(model) -> np.ndarray:
    """The axis of the world that points against gravity; z without gravity."""
    g = -np.asarray(model.gravity, float) if np.shape(model.gravity) == (3,) else np.zeros(3)
    if not np.linalg.norm(g):
        return np.array([0.0, 0.0, 1.0])
    axis = int(np.argmax(np.abs(g)))
    return np.sign(g[axis]) * np.eye(3)[axis]


def first_view(lower: np.ndarray, upper: np.ndarray, up: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Position of the camera and the point that it looks at [m].

    Parameters
    ----------
    lower, upper : (3,) array
        The box to be seen [m].
    up : (3,) array
        Unit vector.
    """
    center, edges = 0.5 * (lower + upper), np.maximum(upper - lower, 1e-6)
    height = int(np.argmax(np.abs(up)))
    across = [k for k in range(3) if k != height]
    thin = min(across, key=lambda k: edges[k])
    # From the front left of a robot that looks along x; along the thin axis of one that moves in a plane.
    direction = np.zeros(3)
    if edges[thin] < FLAT * edges.max() and edges[thin] < 0.5 * max(edges[k] for k in across):
        other = across[0] if thin == across[1] else across[1]
        direction[thin], direction[other] = (-1.0 if thin == 1 else 1.0), 0.25
        rise = 0.2
    else:
        direction[across[0]], direction[across[1]] = 1.0, -0.9 if height == 2 else 0.9
        rise = 0.45
    direction = direction + rise * np.linalg.norm(direction) * up
    distance = 0.5 * float(np.linalg.norm(edges)) / np.sin(0.5 * FIELD_OF_VIEW) * 1.1
    return center + distance * direction / np.linalg.norm(direction), center
