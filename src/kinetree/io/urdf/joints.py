"""URDF joints as the builder takes them: their limits, with unstated values made explicit, and couplings.

Mimic joints are coupled to the first leader of their chain.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping

import numpy as np

from kinetree.io.urdf.notes import Notes
from kinetree.io.urdf.records import DYNAMICS, JOINT_TYPES, LIMITS, UNKNOWN, JointRecord, known
from kinetree.io.urdf.version import EFFORT_OPTIONAL, RANGES_REQUIRED, Version, spelled
from kinetree.joints import Fixed
from kinetree.model.parts import transform_of_pose

# follower, leader, ratio, offset: q[follower] = ratio q[leader] + offset
Coupling = tuple[str, str, float, float]
_Leader = tuple[JointRecord, float, float]


def settings(joint: JointRecord, version: Version, locked: bool, notes: Notes) -> dict[str, object] | None:
    """Return the arguments of ``add_body`` for a joint; None if a collecting document cannot read it."""
    ranges = limits(joint, version, notes)
    if not joint.is_known:
        return None
    kind = Fixed if locked else JOINT_TYPES[joint.type]
    found: dict[str, object] = {
        "parent": joint.parent,
        "joint": kind(joint.axis) if kind.nv == 1 else kind(),
        "joint_name": joint.name,
        "placement": transform_of_pose(joint.origin.R, joint.origin.xyz),
    }
    if kind.nv != 1:
        if any(joint.dynamics.values()):
            node = joint.node.child("dynamics")
            if kind is Fixed:
                notes.info(node, f"fixed joint '{joint.name}' has damping or friction: without effect", "idle-dynamics")
            else:
                message = f"joint '{joint.name}' is {joint.type} and has damping or friction: the format gives no units"
                notes.unsupported(node, message, repair="unsupported='drop' leaves them out")
        return found
    length = np.linalg.norm(joint.axis)
    if abs(length - 1.0) > 1e-6:
        message = f"joint '{joint.name}': axis {joint.axis} normalized, its length is {length:g}"
        notes.info(joint.node.child("axis"), message, "axis-length")
    return found | ranges | {ours: joint.dynamics.get(theirs, 0.0) for theirs, ours in DYNAMICS.items()}


def limits(joint: JointRecord, version: Version, notes: Notes) -> dict[str, float]:
    """Return the limits by the names of the builder; infinite where there is none.

    Parameters
    ----------
    joint : JointRecord
    version : tuple of 2 ints
        Of the file's format.
    notes : Notes
        Receives values that the file leaves out, and those that the model does not support.

    Raises
    ------
    URDFError
        If the lower limit is above the upper one, or if there is none where the version of the format requires one.

    Notes
    -----
    Up to 1.1 the format requires ``<limit>`` with effort and velocity of revolute and prismatic joints, and gives lower
    and upper the default 0. Taken literally, a wheel whose limit states effort and velocity alone would be locked, so
    without both the range is unlimited. From 1.2 on it is the range that is required, and effort and velocity may be
    left out. The largest float means no limit too: the format's usual parser refuses infinity.
    """
    stated = {name: _limit(value) for name, value in joint.limits.items()}
    lower, upper = stated.get("lower"), stated.get("upper")
    node = joint.node.child("limit") or joint.node
    if of_motion := ", ".join(f"{name} {value:g}" for name, value in joint.limits.items() if name not in LIMITS):
        message = f"joint '{joint.name}': the limits of {of_motion} are not held: no dynamics depend on them"
        notes.info(node, message, "ignored")
    if joint.type in ("revolute", "prismatic"):
        if version >= RANGES_REQUIRED and (lower is None or upper is None):
            since = f"URDF {spelled(RANGES_REQUIRED)} requires lower and upper of {joint.type} joints"
            repair = "a joint without limits is continuous, or has a range as large as the largest float"
            message = f"joint '{joint.name}' states no range: {since}"
            raise node.fail(message, code="missing-attribute", repair=repair, joint=joint.name)
        missing = ""
        if not any(name in stated for name in LIMITS):
            missing = "has no limits, though the format requires them: unlimited"
        elif lower is None and upper is None:
            missing = "states no range: unlimited, although the format's default is 0"
        elif lower is None or upper is None:
            missing = f"states no {'lower' if lower is None else 'upper'} limit: 0, the format's default"
            lower, upper = lower or 0.0, upper or 0.0
        if missing:
            notes.warning(node, f"joint '{joint.name}' {missing}", "missing-limit")
        absent = [name for name in ("effort", "velocity") if name not in stated]
        if absent and version < EFFORT_OPTIONAL and any(name in stated for name in LIMITS):
            message = (
                f"joint '{joint.name}' states no {' and '.join(absent)} limit, which the format requires: unlimited"
            )
            notes.info(node, message, "missing-effort")
    elif joint.type != UNKNOWN and (lower is not None or upper is not None):
        if (lower or 0.0, upper or 0.0) != (0.0, 0.0):
            message = f"joint '{joint.name}' is {joint.type}: its lower and upper limits have no meaning"
            notes.info(node, message, "idle-limit")
        lower = upper = None
    found = {"lower": -math.inf if lower is None else lower, "upper": math.inf if upper is None else upper}
    if found["lower"] > found["upper"]:
        repair = "were they exchanged? Some programs take this for 'no limit', which is written as type continuous"
        message = f"joint '{joint.name}' has lower limit {found['lower']} above its upper limit {found['upper']}"
        raise node.fail(message, code="limit-order", repair=repair, joint=joint.name)
    return found | {LIMITS[name]: stated.get(name, math.inf) for name in ("effort", "velocity")}


def _limit(value: float) -> float:
    """Infinity for the largest float; NaN, which stands for an unreadable number, stays."""
    return math.copysign(math.inf, value) if abs(value) >= sys.float_info.max else value


def couplings(joints: Mapping[str, JointRecord], locked: set[str], notes: Notes) -> list[Coupling]:
    """Return the couplings that the mimic elements of a robot state.

    Parameters
    ----------
    joints : mapping of str to JointRecord
    locked : set of str
        Joints that the loader made fixed.
    notes : Notes
        Receives all that is ignored or dropped.

    Raises
    ------
    URDFError
        If joints mimic each other in a ring, or a joint mimics one that cannot move, or one that does not exist and
        ``notes.drop`` is False.
    UnsupportedError
        If a follower or a leader has more than one variable and ``notes.drop`` is False.
    """
    rings: set[str] = set()  # joints of the rings that were found
    resolved: dict[str, _Leader] = {}
    found = [
        joint.node.document.attempt(_coupling, joint, joints, locked, notes, rings, resolved)
        for joint in joints.values() if joint.mimic
    ]  # fmt: skip
    return [coupling for coupling in found if coupling is not None]


def _coupling(
    joint: JointRecord,
    joints: Mapping[str, JointRecord],
    locked: set[str],
    notes: Notes,
    rings: set[str],
    resolved: dict[str, _Leader],
) -> Coupling | None:
    mimic = joint.mimic
    if joint.type == "fixed" or joint.name in locked:
        message = f"fixed joint '{joint.name}' mimics '{mimic.joint}': it cannot move"
        notes.info(mimic.node, message, "mimic-idle")
        return None
    if mimic.joint not in joints:
        message = f"joint '{joint.name}' mimics '{mimic.joint}', and there is no such joint"
        if not notes.drop:
            hint = f"{known(mimic.joint, joints, joint.node.document)}. unsupported='drop' leaves '{joint.name}' free"
            raise mimic.node.fail(message + hint, code="mimic-unknown", joint=joint.name)
        notes.dropped(mimic.node, message, "mimic-unknown")
        return None
    leader, ratio, offset = _first_leader(joint, joints, rings, resolved)
    if leader.name in rings:
        return None
    if leader.type == "fixed" or leader.name in locked:
        message = f"joint '{joint.name}' mimics '{leader.name}', a fixed joint, so it could not move"
        repair = "remove <mimic>, or make it fixed too"
        raise mimic.node.fail(message, code="mimic-of-fixed", repair=repair, joint=joint.name)
    if UNKNOWN in (joint.type, leader.type):
        return None
    wide = next((j for j in (joint, leader) if JOINT_TYPES[j.type].nv != 1), None)
    if wide is not None:
        which = f"{'which' if wide is leader else 'but'} is {wide.type}: only joints with one variable can be coupled"
        message = f"joint '{joint.name}' mimics '{leader.name}', {which}"
        notes.unsupported(mimic.node, message, "mimic-unsupported", "unsupported='drop' leaves it free")
        return None
    return (joint.name, leader.name, ratio, offset)


def _first_leader(
    joint: JointRecord, joints: Mapping[str, JointRecord], rings: set[str], resolved: dict[str, _Leader]
) -> _Leader:
    """Follow a chain of mimics: q = m1 (m2 q2 + o2) + o1 = (m1 m2) q2 + (m1 o2 + o1). Each joint is visited once."""
    chain: dict[str, JointRecord] = {}
    at = joint
    while at.name not in resolved and (at is joint or (_follows(at, joints) and at.name not in rings)):
        if at.name in chain:
            names = list(chain)
            ring = names[names.index(at.name) :]
            rings.update(ring)
            named = f"{', '.join(map(repr, ring[:12]))}{', ...' if len(ring) > 12 else ''}"
            values = {"repair": "one of them must lead", "joint": joint.name, "joints": tuple(ring)}
            raise joint.mimic.node.fail(f"the joints {named} mimic each other", code="mimic-cycle", **values)
        chain[at.name] = at
        at = joints[at.mimic.joint]
    leader, ratio, offset = resolved.get(at.name, (at, 1.0, 0.0))
    for follower in reversed(chain.values()):
        mimic = follower.mimic
        ratio, offset = mimic.multiplier * ratio, mimic.multiplier * offset + mimic.offset
        resolved[follower.name] = leader, ratio, offset
    return resolved[joint.name]


def _follows(joint: JointRecord, joints: Mapping[str, JointRecord]) -> bool:
    return joint.mimic is not None and joint.mimic.joint in joints and joint.type != "fixed"
