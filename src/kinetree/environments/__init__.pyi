# Generated: python -m tests.static.generate.
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from numpy.typing import ArrayLike, NDArray

from kinetree.model.model import Model
from kinetree.model.parts import Frame

from kinetree.environments.gym import Environment as Environment
from kinetree.environments.task import State as State
from kinetree.environments.tasks import TASKS as TASKS
from kinetree.environments.task import Task as Task
from kinetree.environments.gym import VectorEnvironment as VectorEnvironment
from kinetree.environments.registration import register as register

__all__ = [
    "Environment",
    "State",
    "TASKS",
    "Task",
    "VectorEnvironment",
    "register",
]
