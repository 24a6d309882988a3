"""Conversion of states, forces and matrices between the conventions of kinetree and those of other engines.

One class for each engine, made of a model here and the model there; nothing of the engine is imported. The conventions
themselves are a table: docs/conventions.md.
"""

from __future__ import annotations

from kinetree.conventions.engine import Engine
from kinetree.conventions.engines import Drake, Exudyn, MuJoCo, Pinocchio
from kinetree.conventions.rotations import quaternion_from_xyzw, quaternion_to_xyzw

__all__ = [
    "Drake", "Engine", "Exudyn", "MuJoCo", "Pinocchio", "from_drake", "from_exudyn", "from_mujoco", "from_pinocchio",
    "quaternion_from_xyzw", "quaternion_to_xyzw", "to_drake", "to_exudyn", "to_mujoco", "to_pinocchio",
]  # fmt: skip


def to_pinocchio(model, other, **arrays):
    """Arrays in the conventions of a Pinocchio model, by name: ``to_pinocchio(model, other, q=q, v=v)``."""
    return Pinocchio(model, other).to(**arrays)


def from_pinocchio(model, other, **arrays):
    """Arrays of a Pinocchio model in kinetree's conventions, by name."""
    return Pinocchio(model, other).back(**arrays)


def to_mujoco(model, other, **arrays):
    """Arrays in the conventions of a MuJoCo model, by name."""
    return MuJoCo(model, other).to(**arrays)


def from_mujoco(model, other, **arrays):
    """Arrays of a MuJoCo model in kinetree's conventions, by name."""
    return MuJoCo(model, other).back(**arrays)


def to_drake(model, other, **arrays):
    """Arrays in the conventions of a Drake plant, by name.

    Examples
    --------
    >>> from pydrake.multibody.plant import MultibodyPlant
    >>> from pydrake.multibody.parsing import Parser
    >>> import kinetree as kt
    >>> arm = kt.models.double_pendulum()
    >>> plant = MultibodyPlant(0.0)
    >>> _ = Parser(plant).AddModelsFromString(kt.io.to_urdf(arm), "urdf")
    >>> plant.Finalize()
    >>> kt.conventions.to_drake(arm, plant, q=[0.1, 0.2])["q"].tolist()
    [0.1, 0.2]
    """
    return Drake(model, other).to(**arrays)


def from_drake(model, other, **arrays):
    """Arrays of a Drake plant in kinetree's conventions, by name.

    Examples
    --------
    >>> from pydrake.multibody.plant import MultibodyPlant
    >>> from pydrake.multibody.parsing import Parser
    >>> import kinetree as kt
    >>> arm = kt.models.double_pendulum()
    >>> plant = MultibodyPlant(0.0)
    >>> _ = Parser(plant).AddModelsFromString(kt.io.to_urdf(arm), "urdf")
    >>> plant.Finalize()
    >>> kt.conventions.from_drake(arm, plant, q=[0.1, 0.2])["q"].tolist()
    [0.1, 0.2]
    """
    return Drake(model, other).back(**arrays)


def to_exudyn(model, places, **arrays):
    """Arrays in the conventions of an Exudyn system, by name; ``places`` as for `Exudyn`.

    Examples
    --------
    >>> import kinetree as kt
    >>> arm = kt.models.double_pendulum()
    >>> first, second = arm.joint_names
    >>> there = kt.conventions.to_exudyn(arm, {second: 0, first: 1}, q=[0.1, 0.2], v=[1.0, 2.0])
    >>> there["q"].tolist(), there["v"].tolist()
    ([0.2, 0.1], [2.0, 1.0])
    """
    return Exudyn(model, places).to(**arrays)


def from_exudyn(model, places, **arrays):
    """Arrays of an Exudyn system in kinetree's conventions, by name; ``places`` as for `Exudyn`.

    Examples
    --------
    >>> import kinetree as kt
    >>> arm = kt.models.double_pendulum()
    >>> first, second = arm.joint_names
    >>> kt.conventions.from_exudyn(arm, {second: 0, first: 1}, q=[0.2, 0.1])["q"].tolist()
    [0.1, 0.2]
    """
    return Exudyn(model, places).back(**arrays)
