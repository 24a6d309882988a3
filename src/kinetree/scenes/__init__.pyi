# Generated: python -m tests.static.generate.
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from numpy.typing import ArrayLike, NDArray

from kinetree.model.model import Model
from kinetree.model.parts import Frame

from kinetree.scenes.runs import SCENES as SCENES
from kinetree.scenes.runs import SceneRun as SceneRun
from kinetree.scenes.plot import plot_scene as plot_scene
from kinetree.scenes.runs import run as run

__all__ = [
    "SCENES",
    "SceneRun",
    "plot_scene",
    "run",
]
