"""Mimic joints: which joint leads each of them, with chains resolved to their first leader."""

from __future__ import annotations

from collections.abc import Mapping

from kinetree.io.urdf.notes import Notes
from kinetree.io.urdf.records import JOINT_TYPES, UNKNOWN, JointRecord, known

# follower, leader, ratio, offset: q[follower] = ratio q[leader] + offset
Coupling = tuple[str, str, float, float]
_Leader = tuple[JointRecord, float, float]


def couplings(joints: Mapping[str, JointRecord], locked: set[str], notes: Notes) -> list[Coupling]:
    """Return the couplings that the mimic elements of a robot state.

    Parameters
    ----------
    joints : mapping of str to JointRecord
    locked : set of str
        Joints that the loader made fixed.
    notes : Notes
        Gets what is ignored or dropped.

    Raises
    ------
    URDFError
        If joints mimic each other in a ring, or a joint mimics one that cannot move, or one that does not exist and
        ``notes.drop`` is False.
    UnsupportedError
        If a follower or a leader has more than one variable and ``notes.drop`` is False.
    """
    attempt = next(iter(joints.values())).node.document.attempt if joints else None
    rings: set[str] = set()  # joints of the rings that were found
    resolved: dict[str, _Leader] = {}
    followers = [joint for joint in joints.values() if joint.mimic]
    found = [attempt(_coupling, joint, joints, locked, notes, rings, resolved) for joint in followers]
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
            raise joint.mimic.node.fail(
                f"the joints {', '.join(map(repr, ring[:12]))}{', ...' if len(ring) > 12 else ''} mimic each other",
                code="mimic-cycle",
                repair="one of them must lead",
                joint=joint.name,
                joints=tuple(ring),
            )
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
