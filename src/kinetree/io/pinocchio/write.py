"""``to_pinocchio``: a ``pinocchio.Model`` of a Model."""

from __future__ import annotations

import sys

import numpy as np

from kinetree.arguments import a_model, checked
from kinetree.errors import MissingDependencyError, UnsupportedError
from kinetree.forces.registry import VELOCITY_PARAMETERS, names_in
from kinetree.io.number_text import central
from kinetree.io.pinocchio.joints import position_to, to_joint, velocity_order
from kinetree.io.writing import UnsupportedFeatures
from kinetree.model.parts import pose_of_transform
from kinetree.surgery import merge_fixed

_NO_LIMIT = sys.float_info.max
_ACTING = names_in("urdf")  # Pinocchio has those numbers of joints that URDF has, by the same names


@checked(model=a_model)
def to_pinocchio(model, *, unsupported: str = "raise"):
    """Make a ``pinocchio.Model`` of a model.

    Parameters
    ----------
    model : Model
    unsupported : {"raise", "drop"}
        Treatment of features that Pinocchio's model does not have (constraints, force elements, springs, tendons):
        refuse the model, naming them, or leave them out.

    Returns
    -------
    pinocchio.Model
        Joints, bodies and frames by their names here, numbered depth first as Pinocchio requires; keyframes are its
        reference configurations. It has no shapes: those are of a ``pinocchio.GeometryModel``.

    Raises
    ------
    UnsupportedError
        A joint is of a kind that Pinocchio does not have, or features would be lost.
    MissingDependencyError
        Pinocchio is not installed.

    Notes
    -----
    *Identities* Mass matrix, bias forces and frames of both models are the same, by `kinetree.conventions.Pinocchio`.

    Examples
    --------
    >>> import kinetree as kt
    >>> model = kt.models.double_pendulum()
    >>> there = kt.io.to_pinocchio(model)
    >>> list(there.names), there.nv
    (['universe', 'shoulder', 'elbow'], 2)
    >>> kt.load(there).body_names
    ('world', 'upper', 'lower')
    """
    try:
        import pinocchio as pin
    except ImportError:
        message = "to_pinocchio needs the package pinocchio, which is not installed: pip install pin"
        raise MissingDependencyError(message) from None
    features = UnsupportedFeatures(model, "a Pinocchio model", unsupported)
    _check(model, features)
    there = pin.Model()
    there.name = model.name
    there.gravity = pin.Motion(np.concatenate([np.array(model.gravity, dtype=float), np.zeros(3)]))
    if any(joint.nv == 0 for joint in model.joints[1:]):
        model = merge_fixed(model)
    number, outer = {0: 0}, {0: 0}
    waiting = list(model.children(0))[::-1]
    while waiting:  # depth first, as Pinocchio's algorithms need it
        i = waiting.pop()
        waiting += list(model.children(i))[::-1]
        _add_body(pin, there, model, i, number, outer)
    if any(number[i] != i for i in number):
        features.note("", "joints are numbered depth first, so q has another order than in this model")
    for frame in model.frames:
        if frame.name != model.body_names[frame.body] or not frame.is_identity:
            place = pin.SE3(np.array(frame.R_BF), np.array(frame.p_BF))
            kind = pin.FrameType.OP_FRAME
            there.addFrame(pin.Frame(frame.name, number[frame.body], outer[frame.body], place, kind))
    for name in model.keyframes:
        q, v = model.keyframe(name)[:2]
        if np.any(v):
            features.omit("velocities of keyframes", repr(name))
        positions = [position_to(model.joints[i], q[model.q_slice[i]]) for i in sorted(number, key=number.get) if i]
        there.referenceConfigurations[name] = np.concatenate(positions)
    features.report()
    return there


def _add_body(pin, there, model, i: int, number: dict[int, int], outer: dict[int, int]) -> None:
    """A joint with its numbers, and its body with inertia and frame."""
    name, joint = model.joint_name(i), to_joint(pin, model.joints[i])
    v = np.arange(model.nv)[model.v_slice[i]][np.argsort(velocity_order(model.joints[i]))]  # in the order there
    if joint is None:
        raise UnsupportedError(
            f"model {model.name!r}: joint {name!r} is {model.joints[i]!r}, for which Pinocchio has no joint; it has "
            "revolute, prismatic, helical, universal, spherical, planar, translational, ellipsoid and free joints and "
            "composites of them",
            joint=name,
        )
    R, p = pose_of_transform(model.X_T[i])
    nq, nv = int(joint.nq), int(joint.nv)
    lower, upper = np.full(nq, -_NO_LIMIT), np.full(nq, _NO_LIMIT)
    if nq == nv:
        lower, upper = _finite(model.lower[v]), _finite(model.upper[v])
    speed, effort = _finite(model.velocity_limit[v]), _finite(model.effort_limit[v])
    friction, damping = (getattr(model, _ACTING[name])[v] for name in ("friction", "damping"))
    place, parent = pin.SE3(R, p), number[model.parent[i]]
    try:
        j = there.addJoint(
            parent, joint, place, name, -effort, effort, -speed, speed, lower, upper, -friction, friction, damping
        )  # fmt: skip
    except TypeError:  # before Pinocchio 4 limits have one side
        j = there.addJoint(parent, joint, place, name, effort, speed, lower, upper, friction, damping)
    there.armature[int(there.idx_vs[j]) : int(there.idx_vs[j]) + nv] = model.armature[v]
    mass, com, I = central(model.I[i])
    there.appendBodyToJoint(j, pin.Inertia(mass, np.array(com), np.array(I.matrix.rows)), pin.SE3.Identity())
    own = there.addJointFrame(j, outer[model.parent[i]])
    if model.frames[i].is_identity:
        own = there.addBodyFrame(model.body_names[i], j, pin.SE3.Identity(), own)
    number[i], outer[i] = int(j), int(own)


def _finite(limits) -> np.ndarray:
    """Without infinities, for which Pinocchio has the largest float."""
    return np.clip(np.array(limits, dtype=float), -_NO_LIMIT, _NO_LIMIT)


def _check(model, features: UnsupportedFeatures) -> None:
    features.add_parts()
    for constraint in model.constraints:
        features.add("constraints", str(constraint))
    for kind in ("tendons", "actuators"):
        for piece in getattr(model.equipment, kind):
            features.add(kind, repr(piece.name))
    for name in sorted({*VELOCITY_PARAMETERS} - {*_ACTING.values()}):
        for label, x in zip(model.velocity_labels, getattr(model, name), strict=True):
            if x:
                features.add(name.replace("limit", "stop").replace("_", " "), f"joint {label!r}")
