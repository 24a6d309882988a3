"""Checks of the arguments that pictures of all kinds take."""

from __future__ import annotations

import numpy as np

from kinetree.arguments import array, refuse, whole

ROLES = ("visual", "collision", "stick")
LARGEST = 8192  # pixels


def runs_or_models(what: str, value: object) -> None:
    """A run or a model, or several."""
    several = value if isinstance(value, (list, tuple)) else [value]
    kinds = (("joint_names", "frames"), ("time", "q"))  # of models and of runs
    fits = [not isinstance(x, type) and any(hasattr(x, a) and hasattr(x, b) for a, b in kinds) for x in several]
    if not fits or not all(fits):
        refuse(what, value, "a Trajectory or a Model, or a list of them")


def a_size(what: str, value: object) -> None:
    """Width and height."""
    pair = isinstance(value, (tuple, list)) and len(value) == 2
    for x in value if pair else refuse(what, value, "width and height in pixels, such as (1280, 720)"):
        whole(what, x, f"width and height in pixels, from 2 to {LARGEST}", least=2, most=LARGEST)


def a_direction(what: str, value: object) -> None:
    """A vector that is not vertical."""
    x = array(what, value, "a vector to the camera of shape (3,)", shape=(3,))
    if not np.linalg.norm(x[:2]) > 1e-9 * np.linalg.norm(x):
        refuse(what, value, "a vector to the camera that is not vertical")
