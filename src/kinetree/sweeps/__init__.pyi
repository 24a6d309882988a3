# Generated: python -m tests.static.generate.
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from numpy.typing import ArrayLike, NDArray

from kinetree.model.model import Model
from kinetree.model.parts import Frame

from kinetree.sweeps.batch import Batch as Batch
from kinetree.sweeps.measures import Distance as Distance
from kinetree.sweeps.chunk import Failure as Failure
from kinetree.sweeps.measures import MEASURES as MEASURES
from kinetree.sweeps.measures import Path as Path
from kinetree.sweeps.runs import Runs as Runs
from kinetree.sweeps.sweep import SweepRun as SweepRun
from kinetree.sweeps.distributions import log_uniform as log_uniform
from kinetree.sweeps.distributions import normal as normal
from kinetree.simulation_files.sweeping import run_file as run_file
from kinetree.sweeps.distributions import uniform as uniform

__all__ = [
    "Batch",
    "Distance",
    "Failure",
    "MEASURES",
    "Path",
    "Runs",
    "SweepRun",
    "log_uniform",
    "normal",
    "run_file",
    "uniform",
]
