"""One shape that is drawn: a body, a pose in it, a surface and a color."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinetree.model.parts import read_only
from kinetree.model.texture import Texture
from kinetree.viewer.triangles import Triangles, triangles_of


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """One shape on a body.

    Attributes
    ----------
    name : str
        Unique in a scene.
    body : int
        Number of the body in the model; 0 is the world.
    role : {"visual", "collision", "stick"}
    X : (4, 4) array
        Pose of the shape in the user's coordinates of the body [1, m].
    kind : str
        As of `kinetree.model.parts.Geometry`.
    size : tuple of float
        Lengths of the kind [m]; of a plane the edges of the rectangle that is drawn.
    color : tuple of 4 floats
        Red, green, blue, opacity, each from 0 to 1.
    mesh : tuple of Triangles
        Of meshes, height fields and shapes with an image; shapes of one file share the arrays.
    texture : Texture or None
        The image, which the surfaces of a scene have.
    """

    name: str
    body: int
    role: str
    X: np.ndarray
    kind: str
    size: tuple[float, ...]
    color: tuple[float, float, float, float]
    mesh: tuple[Triangles, ...] = ()
    texture: Texture | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "X", read_only(np.array(self.X, dtype=float)))

    def triangles(self) -> tuple[Triangles, ...]:
        """The surfaces in the coordinates of the shape, with colors."""
        return self.mesh or (triangles_of(self.kind, self.size),)

    def corners(self) -> np.ndarray:
        """The corners of all triangles in the coordinates of the body, (n, 3) [m]."""
        vertices = np.concatenate([x.vertices for x in self.triangles()]).astype(float)
        return vertices @ self.X[:3, :3].T + self.X[:3, 3]


def pose_matrix(R, p) -> np.ndarray:
    """The (4, 4) matrix of a rotation and a position."""
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = R, p
    return X


def along(start, end) -> tuple[np.ndarray, float]:
    """The pose at the middle of a line with z along it, and its length [m]."""
    start, end = np.asarray(start, float), np.asarray(end, float)
    length = float(np.linalg.norm(end - start))
    z = (end - start) / length
    x = np.cross(np.eye(3)[int(np.argmin(np.abs(z)))], z)
    x /= np.linalg.norm(x)
    return pose_matrix(np.stack([x, np.cross(z, x), z], axis=1), 0.5 * (start + end)), length
