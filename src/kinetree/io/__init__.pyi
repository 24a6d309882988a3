# Generated: python -m tests.static.generate.
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from numpy.typing import ArrayLike, NDArray

from kinetree.model.model import Model
from kinetree.model.parts import Frame

from kinetree.io.dh import DHRow as DHRow
from kinetree.io.dh import DHTable as DHTable
from kinetree.io.isolated import Isolation as Isolation
from kinetree.io.mjcf.read import load_mjcf as load_mjcf
from kinetree.io.mjcf.objects import load_mujoco as load_mujoco
from kinetree.io.pinocchio.read import load_pinocchio as load_pinocchio
from kinetree.io.sdf.read import load_sdf as load_sdf
from kinetree.io.urdf.read import load_urdf as load_urdf
from kinetree.io.dh_extract import to_dh as to_dh
from kinetree.io.mjcf.write import to_mjcf as to_mjcf
from kinetree.io.mjcf.objects import to_mujoco as to_mujoco
from kinetree.io.pinocchio.write import to_pinocchio as to_pinocchio
from kinetree.io.urdf.write import to_urdf as to_urdf

__all__ = [
    "DHRow",
    "DHTable",
    "Isolation",
    "load_mjcf",
    "load_mujoco",
    "load_pinocchio",
    "load_sdf",
    "load_urdf",
    "to_dh",
    "to_mjcf",
    "to_mujoco",
    "to_pinocchio",
    "to_urdf",
]
