# Generated: python -m tests.static.generate.
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from numpy.typing import ArrayLike, NDArray

from kinetree.model.model import Model
from kinetree.model.parts import Frame

from kinetree.model.library import auto_tree as auto_tree
from kinetree.model.library import binary_tree as binary_tree
from kinetree.model.library import box_cylinder as box_cylinder
from kinetree.model.library import cart_pole as cart_pole
from kinetree.model.library import chain_gu as chain_gu
from kinetree.model.library import double_pendulum as double_pendulum
from kinetree.model.library import free_body as free_body
from kinetree.model.library import geared_arm as geared_arm
from kinetree.model.library import n_pendulum as n_pendulum
from kinetree.model.library import pendulum as pendulum
from kinetree.model.library import puma_like as puma_like
from kinetree.model.random_loops import random_loops as random_loops
from kinetree.model.library import random_tree as random_tree
from kinetree.model.library import satellite as satellite
from kinetree.model.library import star as star
from kinetree.model.library import zigzag_arm as zigzag_arm

__all__ = [
    "auto_tree",
    "binary_tree",
    "box_cylinder",
    "cart_pole",
    "chain_gu",
    "double_pendulum",
    "free_body",
    "geared_arm",
    "n_pendulum",
    "pendulum",
    "puma_like",
    "random_loops",
    "random_tree",
    "satellite",
    "star",
    "zigzag_arm",
]
