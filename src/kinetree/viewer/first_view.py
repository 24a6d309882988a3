"""Where the camera begins, so that the whole mechanism is seen."""

from __future__ import annotations

import numpy as np

FIELD_OF_VIEW = np.radians(40.0)
FLAT = 0.2  # of the largest edge: a mechanism that is thinner along a horizontal axis is seen along it


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
