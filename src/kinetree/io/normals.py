"""Axes of planes that files describe by their normal."""

from __future__ import annotations

import numpy as np


def turned_to(normal: np.ndarray) -> np.ndarray:
    """A rotation whose third column is the normal, of length 1; the others are as near to x and y as that allows."""
    x = np.array([1.0, 0.0, 0.0]) if abs(normal[0]) <= 0.9 else np.array([0.0, 1.0, 0.0])  # y where it stands across x
    x = x - (x @ normal) * normal
    x = x / np.linalg.norm(x)
    return np.column_stack([x, np.cross(normal, x), normal])
