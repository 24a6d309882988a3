"""What belongs to a joint: springs, friction, limits, as attributes of ``<joint>``; and what MJCF does not support."""

from __future__ import annotations

import math

import numpy as np

from kinetree.forces.registry import names_in
from kinetree.io.mjcf.write_joints import Part
from kinetree.io.number_text import number_text, numbers_text
from kinetree.io.unsupported_features import UnsupportedFeatures
from kinetree.joints import Free, Planar
from kinetree.model.equipment import RotationLimit

# Ours, and MuJoCo's name: one number for all freedoms of a joint.
UNIFORM = {"armature": "armature"} | {ours: theirs for theirs, ours in names_in("mjcf").items()}


def settle_physics(model, features: UnsupportedFeatures) -> None:
    """What MJCF has no words for."""
    features.add_parts()
    for i in model.outward():
        joint, v, q = model.joints[i], model.v_slice[i], model.q_slice[i]
        where = f"joint {model.joint_name(i)!r}"
        for what in ("limit_stiffness", "limit_damping"):
            if np.any(getattr(model, what)[v]):
                features.add(f"{what.replace('limit_', 'stop ')} of a constant value", where)
        for what in UNIFORM:
            values = getattr(model, what)[v]
            if not np.any(values):
                continue
            if type(joint) is Free and what != "damping":
                features.add(f"{what.replace('_', ' ')} of free joints in body axes", where)
            elif type(joint) is Planar:
                features.add(f"{what.replace('_', ' ')} of planar joints in body axes", where)
            elif joint.nq != joint.nv and np.any(values != values[0]):
                features.add(f"{what.replace('_', ' ')} that differs among the freedoms of a joint", where)
        reference, neutral = model.spring_reference[q], np.array(joint.neutral())
        if not np.array_equal(reference, neutral):
            if not np.any(model.stiffness[v]):
                features.note(where, "reference of a spring without stiffness left out")
            elif joint.nq != joint.nv:
                features.add("springs of ball joints that are relaxed elsewhere than in the neutral position", where)
        if np.any(np.isfinite(model.velocity_limit[v])):
            features.omit("velocity limits", where)
        effort = model.effort_limit[v]
        if np.any(np.isfinite(effort)) and (joint.nv != 1 or effort[0] == 0.0):
            features.omit("effort limits of zero or of several freedoms", where)


def joint_attributes(model, part: Part, features: UnsupportedFeatures) -> dict[str, str]:
    """The attributes of a joint beside its geometry."""
    v, found = part.v, {}
    single = part.kind in ("hinge", "slide")
    planar = type(model.joints[part.body]) is Planar
    for what, name in UNIFORM.items():
        x = float(getattr(model, what)[v][0])
        if not x or planar or (part.kind == "free" and what != "damping"):
            continue
        found[name] = number_text(x)
        if what == "stiffness" and single and (reference := float(model.spring_reference[part.q][0])):
            found["springref"] = number_text(reference)
    if single:
        low, high = float(model.lower[v][0]), float(model.upper[v][0])
        if low == high:
            features.add("limits without room between them", f"joint {part.name!r}")
        elif math.isfinite(low) or math.isfinite(high):
            found |= {"limited": "true", "range": numbers_text((low, high))}
        effort = float(model.effort_limit[v][0])
        if math.isfinite(effort) and effort > 0.0 and model.joints[part.body].nv == 1:
            found |= {"actuatorfrclimited": "true", "actuatorfrcrange": numbers_text((-effort, effort))}
    if part.kind == "ball":
        name = model.joint_name(part.body)
        limits = [c for c in model.equalities if isinstance(c, RotationLimit) and c.joint == name and c.active]
        if limits:
            found |= {"limited": "true", "range": numbers_text((0.0, min(c.angle for c in limits)))}
    return found
