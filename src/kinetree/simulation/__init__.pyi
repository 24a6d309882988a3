# Generated: python -m tests.static.generate.
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from numpy.typing import ArrayLike, NDArray

from kinetree.model.model import Model
from kinetree.model.parts import Frame

from kinetree.simulation.limits import LimitMonitor as LimitMonitor
from kinetree.simulation.rollout import Rollout as Rollout
from kinetree.simulation.snapshot import Snapshot as Snapshot

__all__ = [
    "LimitMonitor",
    "Rollout",
    "Snapshot",
]
