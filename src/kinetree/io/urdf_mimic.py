"""Mimic joints: which joint leads each of them, with chains resolved to their first leader."""

from __future__ import annotations

from collections.abc import Mapping

from kinetree.errors import UnsupportedError
from kinetree.io.urdf_notes import Notes
from kinetree.io.urdf_records import JOINT_TYPES, JointRecord, known

# follower, leader, ratio, offset: q[follower] = ratio q[leader] + offset
Coupling = tuple[str, str, float, float]


def couplings(joints: Mapping[str, JointRecord], locked: set[str], drop: bool, notes: Notes) -> list[Coupling]:
    """Return the couplings that the mimic elements of a robot state.

    Parameters
    ----------
    joints : mapping of str to JointRecord
    locked : set of str
        Joints that the loader made fixed.
    drop : bool
        Whether to drop what a coupling cannot express.
    notes : Notes
        Gets what is ignored or dropped.

    Raises
    ------
    URDFError
        If joints mimic each other in a ring, or a joint mimics one that cannot move, or one that does not exist and
        ``drop`` is False.
    UnsupportedError
        If a follower or a leader has more than one variable and ``drop`` is False.
    """
    found = []
    for joint in joints.values():
        mimic = joint.mimic
        if mimic is None:
            continue
        if joint.type == "fixed" or joint.name in locked:
            notes.info(mimic.node, f"fixed joint '{joint.name}' mimics '{mimic.joint}': it cannot move")
            continue
        if mimic.joint not in joints:
            message = f"joint '{joint.name}' mimics '{mimic.joint}', and there is no such joint"
            if not drop:
                hint = f"{known(mimic.joint, joints)}. unsupported='drop' leaves '{joint.name}' free"
                raise mimic.node.fail(message + hint, joint=joint.name)
            notes.dropped(mimic.node, f"dropped: {message}")
            continue
        leader, ratio, offset = _first_leader(joint, joints)
        if leader.type == "fixed" or leader.name in locked:
            raise mimic.node.fail(
                f"joint '{joint.name}' mimics '{leader.name}', a fixed joint, so it could not move; "
                "remove <mimic>, or make it fixed too",
                joint=joint.name,
            )
        wide = next((j for j in (joint, leader) if JOINT_TYPES[j.type] != 1), None)
        if wide is not None:
            message = (
                f"joint '{joint.name}' mimics '{leader.name}'"
                + (f", which is {wide.type}" if wide is leader else f", but is {wide.type}")
                + ": only joints with one variable can be coupled"
            )
            if not drop:
                raise mimic.node.fail(f"{message}. unsupported='drop' leaves it free", UnsupportedError)
            notes.dropped(mimic.node, f"dropped: {message}")
            continue
        found.append((joint.name, leader.name, ratio, offset))
    return found


def _first_leader(joint: JointRecord, joints: Mapping[str, JointRecord]) -> tuple[JointRecord, float, float]:
    """Follow a chain of mimics: q = m1 (m2 q2 + o2) + o1 = (m1 m2) q2 + (m1 o2 + o1)."""
    ratio, offset, chain = joint.mimic.multiplier, joint.mimic.offset, [joint.name]
    leader = joints[joint.mimic.joint]
    while leader.mimic is not None and leader.mimic.joint in joints and leader.type != "fixed":
        if leader.name in chain:
            ring = ", ".join(repr(name) for name in chain[chain.index(leader.name) :])
            raise joint.mimic.node.fail(f"the joints {ring} mimic each other; one of them must lead", joint=joint.name)
        chain.append(leader.name)
        offset += ratio * leader.mimic.offset
        ratio *= leader.mimic.multiplier
        leader = joints[leader.mimic.joint]
    return leader, ratio, offset
