"""Joint forces of a model: elements made of the arrays of their parameters, and the arrays from elements."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np

from kinetree.errors import DuplicateNameError, ModelError, UnknownNameError
from kinetree.forces.contract import ForceElement, JointForce, present
from kinetree.forces.motor import Motor
from kinetree.forces.registry import JOINT_FORCES, check_force
from kinetree.model import validation as check
from kinetree.model.loop_joints import check_coordinate, named_loops


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
                at_joint.append(cls(tree.joint_name(i), *(tuple(_scalars(x)) for x in values)))
        found.append(tuple(at_joint))
    return tuple(found)


def _scalars(values) -> Sequence:
    return values.tolist() if isinstance(values, np.ndarray) else values


def entered_forces(model, forces: Sequence[ForceElement], arrays: Mapping[str, np.ndarray]) -> tuple[ForceElement, ...]:
    """The elements of a model under construction; parameters of joint forces are written into its arrays instead.

    Raises
    ------
    ModelError
        An object is no force element, its names or numbers are invalid, or a joint has two elements of one kind.
    DuplicateNameError, UnknownNameError, NonFiniteError
    """
    others = []
    for force in forces:
        check_force(f"model {model.name!r}", force)
        if isinstance(force, JOINT_FORCES):
            _enter(model, force, arrays)
        else:
            _check_names(model, force)
            _check_element(model, force)
            others.append(force)
    check.check_names("force element", [force.name for force in others], model.name)
    return tuple(others)


def _check_kind(model, force: ForceElement, joint: str) -> None:
    """Refuse a joint that closes a loop or is not of the kind that the element needs."""
    found = "closes a loop" if model.is_loop(joint) else f"is {model.joints[model.joint(joint)]!r}"
    if found != "closes a loop" and model.joints[model.joint(joint)].kind == force.joint_kind:
        return
    message = f"{type(force).__name__} {force.name!r}: joint {joint!r} {found}, expected a {force.joint_kind} joint"
    raise ModelError(f"{message} of the tree.", joint=joint)


def _check_names(model, force: ForceElement) -> None:
    """Refuse joints and frames that the model does not have; the error names the element, too."""
    try:
        for joint in force.joints:
            if not model.is_loop(joint):
                model.joint(joint)
        for frame in force.frames:
            model.frame(frame)
    except UnknownNameError as error:
        values = {k: x for k, x in vars(error).items() if k != "message"}
        raise UnknownNameError(f"{type(force).__name__} {force.name!r}: {error.message}", **values) from None


def _check_element(model, force: ForceElement) -> None:
    for joint in force.joints:
        if force.joint_kind:
            _check_kind(model, force, joint)
        if model.is_loop(joint) and not force.commanded:
            kind = named_loops(model)[joint].joint
            check_coordinate(kind)
            if getattr(force, "coordinate", 0) >= max(kind.nv, 1):
                raise ModelError(
                    f"{type(force).__name__} of joint {joint!r}: coordinate is {force.coordinate}, expected less than "
                    f"its {kind.nv} velocities.",
                    joint=joint,
                )
            continue
        if model.is_loop(joint):
            raise ModelError(
                f"{type(force).__name__} of joint {joint!r}: this joint closes a loop, so it has no entry of tau. Use "
                "kinetree.forces.LoopMotor, whose command is an input, or put the joint into the tree: "
                "kinetree.surgery.retree",
                joint=joint,
            )
        i = model.joint(joint)
        if force.commanded and model.joints[i].nv != 1:
            raise ModelError(
                f"{type(force).__name__} of joint {joint!r}: it has {model.joints[i].nv} velocities, expected one.",
                joint=joint,
            )
    _check_internal(force)
    for field in dataclasses.fields(force):
        value = getattr(force, field.name)
        if field.type in (float, "float") and (value is None or isinstance(value, (str, bool))):
            raise ModelError(f"force element {force.name!r}: {field.name} is {value!r}, expected a number", found=value)
    for number, x in force.numbers().items():
        if not isinstance(x, (int, float)):
            raise ModelError(
                f"force element {force.name!r}: {number} is {x!r}, expected a number, text, or a tuple of numbers",
                found=x,
            )
        if not isinstance(force, Motor):  # which may be unlimited
            check.check_finite(f"force element {force.name!r}: {number}", float(x))


def _check_internal(force: ForceElement) -> None:
    what = f"force element {force.name!r} of class {type(force).__name__}"
    for kind in ("states", "inputs"):
        names = getattr(force, kind)
        valid = isinstance(names, tuple) and all(isinstance(name, str) for name in names)
        if not valid or len(set(names)) < len(names) or not all(n.isidentifier() and n[0] != "_" for n in names):
            raise ModelError(
                f"{what}: {kind} is {names!r}, expected a tuple of different Python names that do not begin with _, "
                'such as ("activation",)',
                found=names,
            )
    if not force.states:
        return
    if not (force.commanded or force.defines("state_rate")):
        raise ModelError(f"{what} has states, {', '.join(force.states)}: define state_rate(kin, x, u).")
    initial = list(force.initial_state())
    if len(initial) != len(force.states):
        raise ModelError(
            f"{what}: initial_state() gives {len(initial)} numbers, expected {len(force.states)}, one for each of its "
            f"states: {', '.join(force.states)}."
        )
    for name, x in zip(force.states, initial, strict=True):
        check.check_finite(f"{what}: initial_state() of {name}", float(x))


def check_number_names(model) -> None:
    """The numbers of elements, constraints and contacts must have unique names."""
    names = model.numbers().names if model.elements or model.constraints or model.contacts else ()
    if len(set(names)) != len(names):
        name = next(name for name in names if names.count(name) > 1)
        raise DuplicateNameError(
            f"model {model.name!r}: number {name!r} of a force element, constraint or contact has the name of another "
            "number of the model; give it another name",
            kind="number",
            name=name,
        )


def _enter(model, force: JointForce, arrays: Mapping[str, np.ndarray]) -> None:
    i = model.joint(force.joint)
    for parameter in force.parameters:
        value, slot = getattr(force, parameter.name), (model.q_slice if parameter.position else model.v_slice)[i]
        if value is None:
            continue
        found = arrays[parameter.name][slot]
        if not parameter.position and np.any(found):
            raise ModelError(
                f"joint {force.joint!r} has two forces of kind {force.kind!r}: {parameter.name} is {found.tolist()} "
                f"and {value!r}. Give one of them.",
                joint=force.joint,
            )
        arrays[parameter.name][slot] = check.of_joint(force.joint, parameter.name, value, slot.stop - slot.start)
