"""The tree that the joints of a URDF file form: one root, one parent per link, no cycle; joints that nothing resists.

The acceleration of a joint that moves no inertia is undefined.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from kinetree.errors import ModelError
from kinetree.io.inertia_rules import Mass
from kinetree.io.urdf.notes import Notes
from kinetree.io.urdf.records import UNKNOWN, JointRecord, RobotRecord


def root_and_order(robot: RobotRecord) -> tuple[str | None, tuple[JointRecord, ...]]:
    """Return the root link, and the joints depth first, siblings in the order of the file.

    Raises
    ------
    URDFError
        If a link has two parents, if no link or several are without a parent, or if joints form a cycle. A collecting
        document keeps each of these; then the order has the joints that some root leads to.
    """
    joint_of: dict[str, JointRecord] = {}
    for joint in robot.joints.values():
        other = joint_of.setdefault(joint.child, joint)
        if other is not joint:
            message = (
                f"link '{joint.child}' has two parents: '{other.parent}' by joint '{other.name}' (line "
                f"{other.node.line}) and '{joint.parent}' by joint '{joint.name}'. URDF describes trees; a closed loop "
                "is a [[loop]] of the file robot.loops.toml beside it"
            )
            joint.node.reject(message, code="two-parents", link=joint.child)
    roots = [link for link in robot.links if link not in joint_of]
    if len(roots) > 1 and robot.complete:
        others = ", ".join(f"'{link}' (line {robot.links[link].node.line})" for link in roots[1:8])
        message = (
            f"{len(roots)} links have no parent: '{roots[0]}' (line {robot.links[roots[0]].node.line}), {others}; a "
            "robot has one root. Is a joint missing?"
        )
        robot.links[roots[1]].node.reject(message, code="disconnected", roots=tuple(roots))
    order = _depth_first(robot, joint_of, roots)
    if len(order) < len(joint_of):
        _refuse_cycles(robot, joint_of, order)
    return roots[0] if roots else None, tuple(order)


def _depth_first(robot: RobotRecord, joint_of: dict[str, JointRecord], roots: list[str]) -> list[JointRecord]:
    joints_below: dict[str, list[JointRecord]] = {link: [] for link in robot.links}
    for joint in joint_of.values():
        joints_below[joint.parent].append(joint)
    order: list[JointRecord] = []
    open_joints = [joint for root in reversed(roots) for joint in reversed(joints_below[root])]
    while open_joints:
        joint = open_joints.pop()
        order.append(joint)
        open_joints.extend(reversed(joints_below[joint.child]))
    return order


def _refuse_cycles(robot: RobotRecord, joint_of: dict[str, JointRecord], order: list[JointRecord]) -> None:
    """Climb from each joint without a root above it, until the path closes or meets an earlier one."""
    seen = {joint.name for joint in order}
    for joint in joint_of.values():
        path: dict[str, JointRecord] = {}
        while joint.name not in seen:
            seen.add(joint.name)
            path[joint.name] = joint
            joint = joint_of[joint.parent]
        if joint.name not in path:
            continue
        climbed = list(path.values())
        cycle = climbed[list(path).index(joint.name) :][::-1]  # parents first
        links = [repr(joint.parent) for joint in [*cycle, cycle[0]]]
        names = [repr(joint.name) for joint in cycle]
        message = f"the joints {_listed(names, ', ')} form a cycle: {_listed(links, ' -> ')}"
        repair = "a robot is a tree; one of the joints has parent and child exchanged, or closes a loop"
        cycle[0].node.reject(message, code="cycle", repair=repair, joints=tuple(joint.name for joint in cycle))


def _listed(words: list[str], separator: str) -> str:
    return separator.join(words if len(words) <= 12 else [*words[:6], "...", *words[-5:]])


def settle_massless(order: Sequence[JointRecord], masses: Mapping[str, Mass], choice: str, notes: Notes) -> set[str]:
    """Find the joints that move no inertia and apply the user's choice; return the names of those to lock.

    Parameters
    ----------
    order : sequence of JointRecord
        All joints, parents first.
    masses : mapping of str to Mass
        Of every link, in its own frame.
    choice : {"raise", "lock"}
    notes : Notes

    Raises
    ------
    ModelError
        If there is such a joint and the choice is "raise".

    Notes
    -----
    A joint is found if all that it carries has no mass at all, or if it carries one rigid piece with all its mass on
    the axis of a revolute joint. Chains of joints without mass between them are fine as long as their end has some: so
    do many files write joints of several degrees of freedom.
    """
    found = _unresisted(order, masses)
    if choice == "raise":
        _refuse(found)
        return set()
    for joint in found:
        notes.warning(joint.node, f"joint '{joint.name}' moves no inertia: made fixed", "massless-leaf")
    return {joint.name for joint in found}


def _refuse(found: Sequence[JointRecord]) -> None:
    """Raise about the first of these joints and name the others; a collecting document keeps an error for each."""
    names = ", ".join(f"'{joint.name}' (line {joint.node.line})" for joint in found[:8])
    if len(found) > 8:
        names += f", ... ({len(found)} in all)"
    for joint in found:
        others = f" Joints concerned: {names}." if joint.node.document.problems is None else ""
        joint.node.reject(
            f"link '{joint.child}' has no inertia that resists its {joint.type} joint '{joint.name}', so its "
            f"acceleration is undefined.{others}",
            error=ModelError,
            code="massless-leaf",
            repair="give the link mass and inertia, or choose massless='lock', which makes such joints fixed, or "
            "inertia_from='collision', which fills the shapes of links that have no <inertial> with matter",
            joints=tuple(joint.name for joint in found),
        )


def _unresisted(order: Sequence[JointRecord], masses: Mapping[str, Mass]) -> list[JointRecord]:
    """The joints without inertia beyond them, in the given order."""
    # Per link: all mass below it, and the rigid piece it belongs to seen from it (None once a joint moves within).
    below = {link: mass.mass for link, mass in masses.items()}
    piece: dict[str, Mass] = dict(masses)
    carries_joint: dict[str, bool] = dict.fromkeys(masses, False)
    found = []
    for joint in reversed(order):
        mass = piece[joint.child]
        below[joint.parent] += below[joint.child]
        if joint.type == "fixed":
            piece[joint.parent] = _joined(
                piece[joint.parent], mass.seen_from(joint.origin.R, np.array(joint.origin.xyz))
            )
            carries_joint[joint.parent] |= carries_joint[joint.child]
            continue
        empty = below[joint.child] == 0.0 and not mass.I.any() and joint.type != UNKNOWN
        turns_one_piece = joint.type in ("revolute", "continuous") and not carries_joint[joint.child]
        if empty or (turns_one_piece and _on_axis(mass, joint)):
            found.append(joint)
        carries_joint[joint.parent] = True
    return list(reversed(found))


def _on_axis(mass: Mass, joint: JointRecord) -> bool:
    """Whether a rigid piece has no moment of inertia about the axis of its joint."""
    axis = np.array(joint.axis) / np.linalg.norm(joint.axis)
    lever = np.cross(axis, mass.com)
    moment = axis @ mass.I @ axis + mass.mass * (lever @ lever)
    # Less than the mass at a nanometer: no moment was meant.
    return moment <= 1e-18 * mass.mass


def _joined(a: Mass, b: Mass) -> Mass:
    """Two pieces as one, about their common center of mass."""
    mass = a.mass + b.mass
    if mass == 0.0:
        return Mass(0.0, a.com, a.I + b.I)
    com = (a.mass * a.com + b.mass * b.com) / mass
    I = a.I + b.I
    for piece in (a, b):
        d = piece.com - com
        I = I + piece.mass * ((d @ d) * np.eye(3) - np.outer(d, d))
    return Mass(mass, com, I)
