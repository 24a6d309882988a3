"""Joint forces of a model: elements made of the arrays of their parameters, and the arrays from elements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from kinetree.errors import ModelError
from kinetree.forces.contract import ForceElement, JointForce, present
from kinetree.forces.registry import JOINT_FORCES
from kinetree.model import validation as check


def joint_forces(tree, structure=None) -> tuple[tuple[JointForce, ...], ...]:
    """The elements of the registered kinds that act at each joint of a Model or ScalarModel, empty for the world.

    A kind acts where the first of its parameters is other than a structural zero, and where it does in the model that
    gives the structure.
    """
    found: list[tuple[JointForce, ...]] = [()]
    for i in range(1, tree.nb):
        known = {type(force) for force in structure.joint_forces[i]} if structure else ()
        at_joint = []
        for cls in JOINT_FORCES:
            first = getattr(tree, cls.parameters[0].name)[tree.v_slice[i]]
            if cls in known or any(present(x) for x in _scalars(first)):
                slots = ((tree.q_slice if p.position else tree.v_slice)[i] for p in cls.parameters)
                values = (getattr(tree, p.name)[slot] for p, slot in zip(cls.parameters, slots, strict=True))
                at_joint.append(cls(tree.joint_names[i], *(tuple(_scalars(x)) for x in values)))
        found.append(tuple(at_joint))
    return tuple(found)


def _scalars(values) -> Sequence:
    return values.tolist() if isinstance(values, np.ndarray) else values


def enter_joint_forces(model, forces: Sequence[ForceElement], arrays: Mapping[str, np.ndarray]) -> None:
    """Write the parameters of joint forces into the arrays of a model that is being made.

    Raises
    ------
    ModelError
        There are two of a kind at a joint.
    """
    for force in forces:
        i = model.joint(force.joint)
        for parameter in force.parameters:
            value, slot = getattr(force, parameter.name), (model.q_slice if parameter.position else model.v_slice)[i]
            if value is None:
                continue
            found = arrays[parameter.name][slot]
            if not parameter.position and np.any(found):
                raise ModelError(
                    f"joint {force.joint!r} has two forces of kind {force.kind!r}: {parameter.name} is "
                    f"{found.tolist()} and {value!r}. Give one of them.",
                    joint=force.joint,
                )
            arrays[parameter.name][slot] = check.of_joint(force.joint, parameter.name, value, slot.stop - slot.start)
