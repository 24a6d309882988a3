# Generated: python -m tests.static.generate.
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from numpy.typing import ArrayLike, NDArray

from kinetree.model.model import Model
from kinetree.model.parts import Frame

from kinetree.control.digital import Delayed as Delayed
from kinetree.control.digital import Sampled as Sampled
from kinetree.control.digital import Sum as Sum

__all__ = [
    "Delayed",
    "Sampled",
    "Sum",
]
