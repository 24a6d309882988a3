"""Bodies and joints of a compiled MJCF model, in ours.

MuJoCo places a body with joints 1 to n, whose anchors p_k are given in the body's own frame, by ``T = T0 P1 J1 P1^-1
... Pn Jn Pn^-1``, where P_k moves to the anchor. So joint k is placed at ``p_k - p_(k-1)`` in the body that joint
k - 1 carries, and the MuJoCo frame lies at ``-p_n`` in the last one. A joint has moved by nothing at its ``ref``, not
at zero: a constant turn (or shift) before the joint makes q MuJoCo's qpos.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from kinetree.errors import InertiaError
from kinetree.forces.registry import names_in
from kinetree.io.mjcf.layout import BALL, FREE, HINGE, SLIDE, Layout, anchors, rotation_about
from kinetree.io.mjcf.notes import Notes
from kinetree.io.mjcf.options import Physics
from kinetree.joints import Fixed, Free, Joint, Prismatic, Revolute, Spherical
from kinetree.model import ModelBuilder
from kinetree.model.builder import rotation_of_quaternion

LARGEST = 1e300  # a limit beyond it is none


def add_tree(
    builder: ModelBuilder, place: Layout, physics: Physics, inertias: Mapping[int, tuple], notes: Notes
) -> None:
    """Add all bodies and joints to a builder.

    Parameters
    ----------
    builder : ModelBuilder
    place : Layout
    physics : Physics
    inertias : mapping of int to (mass, com, I)
        Mass properties that replace the compiled ones, by number of the body, in MuJoCo's frame.
    notes : Notes
    """
    for body in range(1, place.mj.nbody):
        _add_body(builder, place, physics, body, inertias, notes)


def _add_body(builder, place: Layout, physics: Physics, body: int, inertias: Mapping, notes: Notes) -> None:
    mj, name = place.mj, place.bodies[body]
    parent = int(mj.body_parentid[body])
    above = place.bodies[parent]
    mass, com, I = inertias.get(body) or compiled_inertia(mj, body)
    if not (np.isfinite(mass) and np.isfinite(com).all() and np.isfinite(I).all()):
        moments = ", ".join(f"{moment:g}" for moment in mj.body_inertia[body])
        found = f"the mass {mass:g} kg and the principal moments ({moments}) kg m^2 in MuJoCo"
        message, repair = f"body '{name}' has {found}, expected finite numbers", "is the size of a geom in meters?"
        raise notes.sources.fail(("body", name), message, InertiaError, code="bad-number", repair=repair, body=name)
    content = {"mass": mass, "com": com + place.shift[body] if mass else np.zeros(3), "inertia": I}
    R, p = place.pose(parent, mj.body_pos[body], mj.body_quat[body])
    joints = place.joints_of(body)
    if body == place.freed:
        builder.add_body(name, above, Free(), place.base_joint, (np.eye(3), place.shift[parent]), **content)
        return
    if not joints:
        first = mj.body_jntadr[body]
        if mj.body_jntnum[body] and mj.jnt_type[first] == FREE:  # made fixed
            pose = mj.qpos0[place.positions(first)]
            R, p = place.pose(parent, pose[:3], pose[3:])
        builder.add_body(name, above, Fixed(), place.joint_names.new(name), (R, p), **content)
        if mj.body_mocapid[body] >= 0:
            notes.warning(("body", name), f"mocap body '{name}' stands still; in MuJoCo the user moves it")
        return
    last = np.zeros(3)
    for j, anchor in zip(joints, anchors(mj, joints), strict=True):
        joint, (R_ref, p_ref) = _joint(mj, j)
        d = anchor - last + p_ref
        if mj.jnt_type[j] == FREE:
            R, p = np.eye(3), place.shift[parent]
        pose = (R @ R_ref, p + R @ d)
        data = _joint_data(place, physics, j, notes)
        if j == joints[-1]:
            builder.add_body(name, above, joint, place.joints[j], pose, **content, **data)
        else:
            link = place.names.new(f"{name}/{place.joints[j]}")
            builder.add_body(link, above, joint, place.joints[j], pose, **data)
            above = link
        R, p, last = np.eye(3), np.zeros(3), anchor
    if place.shift[body].any():
        builder.add_frame(name, name, (np.eye(3), place.shift[body]))


def compiled_inertia(mj, body: int) -> tuple[float, np.ndarray, np.ndarray]:
    """Mass [kg], center of mass [m] and inertia about it [kg m^2] in MuJoCo's body frame."""
    R = rotation_of_quaternion(mj.body_iquat[body])
    with np.errstate(over="ignore", invalid="ignore"):  # an overflow is refused with the body's name
        I = (R * mj.body_inertia[body]) @ R.T
    return float(mj.body_mass[body]), np.array(mj.body_ipos[body]), 0.5 * (I + I.T)


def _joint(mj, j: int) -> tuple[Joint, tuple[np.ndarray, np.ndarray]]:
    """The joint, and the constant pose before it that makes it rest at its reference position."""
    kind, still = mj.jnt_type[j], (np.eye(3), np.zeros(3))
    if kind == FREE:
        return Free(), still
    if kind == BALL:
        return Spherical(), still
    axis = np.array(mj.jnt_axis[j])
    ref = float(mj.qpos0[mj.jnt_qposadr[j]])
    if kind == SLIDE:
        return Prismatic(axis.tolist()), (np.eye(3), -ref * axis)
    return Revolute(axis.tolist()), (rotation_about(axis, -ref), np.zeros(3))


def _joint_data(place: Layout, physics: Physics, j: int, notes: Notes) -> dict[str, object]:
    mj, dofs = place.mj, place.dofs(j)
    stiffness = physics.stiffness[j]
    spring = {"stiffness": stiffness, "spring_reference": np.array(mj.qpos_spring[place.positions(j)])}
    if mj.jnt_type[j] == FREE:  # other passive forces that MuJoCo has there are refused, or dropped
        turning = np.repeat([stiffness, 0.0], 3)  # `add_free_springs` has the displacement
        return {"damping": physics.damping[dofs], **(spring | {"stiffness": turning} if stiffness else {})}
    data: dict[str, object] = {
        "armature": np.array(mj.dof_armature[dofs]) + physics.extra_armature[dofs],
        **{ours: getattr(physics, theirs)[dofs] for theirs, ours in names_in("mjcf").items() if theirs != "stiffness"},
    }
    if stiffness:
        data |= spring
    if mj.jnt_type[j] in (SLIDE, HINGE):
        data |= _limits(place, physics, j, notes)
    return data


def _limits(place: Layout, physics: Physics, j: int, notes: Notes) -> dict[str, float]:
    """Range and effort limit of a hinge or slide."""
    mj, name, data = place.mj, place.joints[j], {}
    at, (low, high) = ("joint", name), mj.jnt_range[j]
    if mj.jnt_limited[j] and physics.limits:
        data["lower"] = -np.inf if low <= -LARGEST else float(low)
        data["upper"] = np.inf if high >= LARGEST else float(high)
    elif low > high:
        message = f"joint '{name}': its range {low:g} to {high:g} is reversed, so MuJoCo takes it for no limit"
        notes.warning(at, message, "limit-order")
    if mj.jnt_actfrclimited[j]:
        low, high = map(float, mj.jnt_actfrcrange[j])
        data["effort_limit"] = max(-low, high, 0.0)
        if low != -high:
            effort = f"an effort limit of {data['effort_limit']:g}"
            notes.info(at, f"joint '{name}': actuatorfrcrange {low:g} to {high:g} read as {effort}")
    return data
