# Generated: python -m tests.static.generate.
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from numpy.typing import ArrayLike, NDArray

from kinetree.model.model import Model
from kinetree.model.parts import Frame

from kinetree.simulation.rollout_gradient import DifferentiableRollout as DifferentiableRollout
from kinetree.simulation.limits import LimitMonitor as LimitMonitor
from kinetree.simulation.rollout import Rollout as Rollout
from kinetree.simulation.rollout_gradient import RolloutGradient as RolloutGradient
from kinetree.simulation.snapshot import Snapshot as Snapshot
from kinetree.simulation.rollout_tensors import rollout_to_jax as rollout_to_jax
from kinetree.simulation.rollout_tensors import rollout_to_torch as rollout_to_torch
from kinetree.simulation_files.simulation_file import run_file as run_file

__all__ = [
    "DifferentiableRollout",
    "LimitMonitor",
    "Rollout",
    "RolloutGradient",
    "Snapshot",
    "rollout_to_jax",
    "rollout_to_torch",
    "run_file",
]
