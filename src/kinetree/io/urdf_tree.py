"""The tree that the joints of a URDF file form: one root, one parent per link, no cycle."""

from __future__ import annotations

from kinetree.io.urdf_records import JointRecord, RobotRecord


def root_and_order(robot: RobotRecord) -> tuple[str, tuple[JointRecord, ...]]:
    """Return the root link, and the joints depth first, siblings in the order of the file.

    Raises
    ------
    URDFError
        If a link has two parents, if no link or several are without a parent, or if joints form a cycle.
    """
    joint_of: dict[str, JointRecord] = {}
    for joint in robot.joints.values():
        other = joint_of.setdefault(joint.child, joint)
        if other is not joint:
            raise joint.node.fail(
                f"link '{joint.child}' has two parents: '{other.parent}' by joint '{other.name}' (line "
                f"{other.node.line}) and '{joint.parent}' by joint '{joint.name}'. URDF describes trees; a closed loop "
                "is added to the loaded model as a loop joint",
                link=joint.child,
            )
    roots = [link for link in robot.links if link not in joint_of]
    if len(roots) > 1:
        others = ", ".join(f"'{link}' (line {robot.links[link].node.line})" for link in roots[1:8])
        raise robot.links[roots[1]].node.fail(
            f"{len(roots)} links have no parent: '{roots[0]}' (line {robot.links[roots[0]].node.line}), {others}; a "
            "robot has one root. Is a joint missing?",
            roots=tuple(roots),
        )
    joints_below: dict[str, list[JointRecord]] = {link: [] for link in robot.links}
    for joint in robot.joints.values():
        joints_below[joint.parent].append(joint)
    order: list[JointRecord] = []
    open_joints = list(reversed(joints_below[roots[0]])) if roots else []
    while open_joints:
        joint = open_joints.pop()
        order.append(joint)
        open_joints.extend(reversed(joints_below[joint.child]))
    if len(order) < len(robot.joints):
        reached = {joint.name for joint in order}
        joint = next(joint for joint in robot.joints.values() if joint.name not in reached)
        cycle = _cycle(joint, joint_of)
        names = " -> ".join(f"'{joint.parent}'" for joint in [*cycle, cycle[0]])
        raise cycle[0].node.fail(
            f"the joints {', '.join(repr(joint.name) for joint in cycle)} form a cycle: {names}",
            joints=tuple(joint.name for joint in cycle),
        )
    return roots[0], tuple(order)


def _cycle(joint: JointRecord, joint_of: dict[str, JointRecord]) -> list[JointRecord]:
    """Climb from a joint without a root above it until the path bites its tail; parents come first."""
    path: list[JointRecord] = []
    while joint not in path:
        path.append(joint)
        joint = joint_of[joint.parent]
    return list(reversed(path[path.index(joint) :]))
