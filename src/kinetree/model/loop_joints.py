"""The loop joints of a model: their names, checks, and the forces in them."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from kinetree.constraints.loop_joint import LoopJoint
from kinetree.errors import ModelError
from kinetree.forces.contract import ForceElement
from kinetree.forces.loop_forces import LoopForce, loop_forces
from kinetree.forces.registry import PARAMETERS
from kinetree.joints import Joint
from kinetree.model.parts import as_transform
from kinetree.spatial import Transform

CLOSED = 1e-6  # [m or rad]
LIMITS = ("lower", "upper")
DATA = (*PARAMETERS, *LIMITS)  # along the coordinates of a loop joint


def placed(loop: LoopJoint) -> LoopJoint:
    """The loop joint with its frames placed by transforms.

    Raises
    ------
    ModelError
        A placement is in none of the forms.
    """
    given = {what: getattr(loop, what) for what in ("X_P", "X_S")}
    found = {what: as_transform(f"loop joint {loop.name!r}: {what}", X) for what, X in given.items()}
    return loop if all(found[what] is X for what, X in given.items()) else dataclasses.replace(loop, **found)


def named_loops(model) -> dict[str, LoopJoint]:
    """The active loop joints of a model by names that differ from those of its tree joints."""
    names: dict[str, LoopJoint] = {}
    for k, loop in enumerate(model.loops):
        if loop.active:
            clash = not loop.name or loop.name in model.joint_names
            names[f"loop {k}" if clash else loop.name] = loop
    return names


def loop_numbers(model, closed: Sequence[LoopJoint], first: int) -> Mapping[str, int]:
    """Places among ``model.constraints`` of the loop joints that are held, which follow ``first`` others, by name."""
    held = {id(loop): first + k for k, loop in enumerate(closed)}
    return MappingProxyType({n: held[id(loop)] for n, loop in named_loops(model).items() if id(loop) in held})


def forces_in_loops(model) -> tuple[LoopForce, ...]:
    """The forces of the loop joints that are held."""
    return tuple(force for name in model._loop_numbers for force in loop_forces(name, model.loop_joint(name)))


def with_forces(loops: Sequence[LoopJoint], forces: Sequence[ForceElement]):
    """Loop joints with the data of the `LoopForce` elements among these forces; and the other forces.

    Raises
    ------
    ModelError
        There is no such loop joint, or it has such a force.
    """
    given = [force for force in forces if isinstance(force, LoopForce)]
    loops = list(loops)
    for force in given:
        places = [k for k, loop in enumerate(loops) if force.joint in (loop.name, f"loop {k}")]
        coefficient = force.law.parameters[0].name
        if not places or getattr(loops[places[0]], coefficient):
            fault = f"has {coefficient} already" if places else "is none of the model's loop joints"
            raise ModelError(f"force element {force.name!r}: {force.joint!r} {fault}", joint=force.joint)
        loops[places[0]] = dataclasses.replace(loops[places[0]], **dict(force.values))
    return tuple(loops), [force for force in forces if not isinstance(force, LoopForce)]


def without_bare_limits(model):
    """The model without the limits of loop joints that have no stop: random states of others may be beyond them."""
    bare = [id(loop) for name, loop in model.loop_joints() if loop.has_limits and not model.loop_has_stop(name)]
    if not bare:
        return model
    none = {"lower": -math.inf, "upper": math.inf}
    loops = tuple(dataclasses.replace(x, **none) if id(x) in bare else x for x in model.loops)
    return model.replace(equipment=dataclasses.replace(model.equipment, loops=loops))


def without_forces(loop: LoopJoint) -> LoopJoint:
    """The loop joint without springs, friction and stops; limits stay."""
    defaults: Mapping = LoopJoint.__dataclass_fields__
    return dataclasses.replace(loop, **{what: defaults[what].default for what in PARAMETERS})


def misfit(loop: LoopJoint, X_P: Transform, X_S: Transform) -> tuple[float, str]:
    """The largest error of position of a loop joint between two frames of one body, and its unit.

    Parameters
    ----------
    loop : LoopJoint
    X_P, X_S : Transform
        From the body to the predecessor's and to the successor's frame.
    """
    X = loop.X_S @ X_S @ (loop.X_P @ X_P).inverse()
    gap, n = max(((abs(float(x)), n) for n, x in enumerate(loop.joint.at(0.0).implicit(X)[0])), default=(0.0, None))
    return gap, "m" if n is None else loop.unit(n)


def check_loops(model) -> None:
    """Every active loop joint connects two bodies, and has valid data.

    Raises
    ------
    ModelError
    """
    for name, loop in named_loops(model).items():
        where = f"model {model.name!r}, loop joint {name!r}"
        P, S = model.frame(loop.predecessor), model.frame(loop.successor)
        if P.body == S.body:
            gap = ", open by {:.3g} {}".format(*misfit(loop, P.X_FB, S.X_FB)) if loop.has_rows else ""
            raise ModelError(
                f"{where}: frames {P.name!r} and {S.name!r} are both on body {model.body_names[P.body]!r}{gap}, "
                "expected two bodies. A loop joint closes a chain of joints between two bodies; name another frame",
                loop=name,
            )
        given = [what for what in DATA if getattr(loop, what) != LoopJoint.__dataclass_fields__[what].default]
        for what in given:
            _check_data(where, name, loop, what)
        for lower, upper in loop.limits if "lower" in given or "upper" in given else ():
            if lower > upper:
                raise ModelError(f"{where}: lower {lower:g} is above upper {upper:g}; exchange them", loop=name)
        if given and loop.has_rows:
            check_coordinate(loop.joint)


def _check_data(where: str, name: str, loop: LoopJoint, what: str) -> None:
    """Raise an error unless a parameter fits the coordinates of its loop joint, and its values are in range."""
    joint, parameter = loop.joint, PARAMETERS.get(what)
    expected = joint.nq if parameter is not None and parameter.position else joint.nv
    values = getattr(loop, what)
    if isinstance(values, tuple) and len(values) != expected or not expected:
        raise ModelError(
            f"{where}: {what} is {values!r}, expected a number for each of its {expected} coordinates: {joint!r}",
            loop=name,
        )
    if parameter is None and joint.nq != joint.nv:
        raise ModelError(
            f"{where}: {what} is {values!r}, and {joint!r} has {joint.nq} positions for {joint.nv} velocities, "
            "expected a joint whose positions are its coordinates: kinetree.joints.SphericalEuler has limits of angles",
            loop=name,
        )
    if joint.time_dependent:
        raise ModelError(
            f"{where} has {what}, and {joint!r} depends on time, expected one that does not; give it to another joint",
            loop=name,
        )
    least = 0.0 if parameter is not None and not parameter.position else -math.inf
    for x in loop.along(what):
        if not (isinstance(x, (int, float)) and x >= least and (parameter is None or math.isfinite(x))):
            raise ModelError(f"{where}: {what} is {values!r}, expected a finite number, not negative", loop=name)


def check_coordinate(joint: Joint) -> None:
    """Raise an error unless a joint has coordinates over the poses of its frames."""
    joint.at(0.0).loop_coordinates(Transform.identity())
