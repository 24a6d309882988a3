# Generated: python -m tests.static.generate.
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from numpy.typing import ArrayLike, NDArray

from kinetree.model.model import Model
from kinetree.model.parts import Frame

from kinetree.maximal_coordinates.free_bodies import Body as Body
from kinetree.maximal_coordinates.results import Equation as Equation
from kinetree.maximal_coordinates.of_model import MaximalSystem as MaximalSystem
from kinetree.maximal_coordinates.results import Solution as Solution
from kinetree.maximal_coordinates.results import Step as Step
from kinetree.maximal_coordinates.system import System as System

__all__ = [
    "Body",
    "Equation",
    "MaximalSystem",
    "Solution",
    "Step",
    "System",
]
