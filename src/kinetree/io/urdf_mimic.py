"""Mimic joints: which joint leads each of them, with chains resolved to their first leader."""

from __future__ import annotations

from collections.abc import Mapping

from kinetree.errors import UnsupportedError
from kinetree.io.urdf_notes import Notes
from kinetree.io.urdf_records import JOINT_TYPES, UNKNOWN, JointRecord, known

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
    attempt = next(iter(joints.values())).node.document.attempt if joints else None
    rings: set[str] = set()  # joints of the rings that were found
    found = [attempt(_coupling, joint, joints, locked, drop, notes, rings) for joint in joints.values() if joint.mimic]
    return [coupling for coupling in found if coupling is not None]


def _coupling(
    joint: JointRecord, joints: Mapping[str, JointRecord], locked: set[str], drop: bool, notes: Notes, rings: set[str]
) -> Coupling | None:
    mimic = joint.mimic
    if joint.type == "fixed" or joint.name in locked:
        message = f"fixed joint '{joint.name}' mimics '{mimic.joint}': it cannot move"
        notes.info(mimic.node, message, "mimic-idle")
        return None
    if mimic.joint not in joints:
        message = f"joint '{joint.name}' mimics '{mimic.joint}', and there is no such joint"
        if not drop:
            hint = f"{known(mimic.joint, joints)}. unsupported='drop' leaves '{joint.name}' free"
            raise mimic.node.fail(message + hint, code="mimic-unknown", joint=joint.name)
        notes.dropped(mimic.node, message, "mimic-unknown")
        return None
    leader, ratio, offset = _first_leader(joint, joints, rings)
    if leader.name in rings:
        return None
    if leader.type == "fixed" or leader.name in locked:
        raise mimic.node.fail(
            f"joint '{joint.name}' mimics '{leader.name}', a fixed joint, so it could not move",
            code="mimic-of-fixed",
            repair="remove <mimic>, or make it fixed too",
            joint=joint.name,
        )
    if UNKNOWN in (joint.type, leader.type):
        return None
    wide = next((j for j in (joint, leader) if JOINT_TYPES[j.type] != 1), None)
    if wide is not None:
        message = (
            f"joint '{joint.name}' mimics '{leader.name}'"
            + (f", which is {wide.type}" if wide is leader else f", but is {wide.type}")
            + ": only joints with one variable can be coupled"
        )
        if not drop:
            repair = "unsupported='drop' leaves it free"
            raise mimic.node.fail(message, UnsupportedError, code="mimic-unsupported", repair=repair)
        notes.dropped(mimic.node, message, "mimic-unsupported")
        return None
    return (joint.name, leader.name, ratio, offset)


def _first_leader(
    joint: JointRecord, joints: Mapping[str, JointRecord], rings: set[str]
) -> tuple[JointRecord, float, float]:
    """Follow a chain of mimics: q = m1 (m2 q2 + o2) + o1 = (m1 m2) q2 + (m1 o2 + o1)."""
    ratio, offset, chain = joint.mimic.multiplier, joint.mimic.offset, {joint.name: 0}
    leader = joints[joint.mimic.joint]
    while leader.mimic is not None and leader.mimic.joint in joints and leader.type != "fixed":
        if leader.name in rings:
            break
        if leader.name in chain:
            ring = list(chain)[chain[leader.name] :]
            rings.update(ring)
            raise joint.mimic.node.fail(
                f"the joints {', '.join(map(repr, ring[:12]))}{', ...' if len(ring) > 12 else ''} mimic each other",
                code="mimic-cycle",
                repair="one of them must lead",
                joint=joint.name,
                joints=tuple(ring),
            )
        chain[leader.name] = len(chain)
        offset += ratio * leader.mimic.offset
        ratio *= leader.mimic.multiplier
        leader = joints[leader.mimic.joint]
    return leader, ratio, offset
