"""The camera of pictures: perspective, from a direction, so far away that a box is in the picture."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

DIRECTION = (1.0, -1.35, 0.55)  # from the middle of the picture to the camera
HALF = float(np.tan(np.radians(16.0)))  # of the vertical field of view; these numbers are those of page/source/stage.js
FREE = 1.04


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
