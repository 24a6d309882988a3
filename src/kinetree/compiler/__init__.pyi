# Generated: python -m tests.static.generate.
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from numpy.typing import ArrayLike, NDArray

from kinetree.model.model import Model
from kinetree.model.parts import Frame

from kinetree.compiler.function import Function as Function
from kinetree.compiler.packed_function import packed as packed

__all__ = [
    "Function",
    "packed",
]
