"""The tree that the joints of a URDF file form: one root, one parent per link, no cycle."""

from __future__ import annotations

from kinetree.io.urdf.records import JointRecord, RobotRecord


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
            joint.node.reject(
                f"link '{joint.child}' has two parents: '{other.parent}' by joint '{other.name}' (line "
                f"{other.node.line}) and '{joint.parent}' by joint '{joint.name}'. URDF describes trees; a closed loop "
                "is added to the loaded model as a loop joint",
                code="two-parents",
                link=joint.child,
            )
    roots = [link for link in robot.links if link not in joint_of]
    if len(roots) > 1 and robot.complete:
        others = ", ".join(f"'{link}' (line {robot.links[link].node.line})" for link in roots[1:8])
        robot.links[roots[1]].node.reject(
            f"{len(roots)} links have no parent: '{roots[0]}' (line {robot.links[roots[0]].node.line}), {others}; a "
            "robot has one root. Is a joint missing?",
            code="disconnected",
            roots=tuple(roots),
        )
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
    """Climb from each joint without a root above it, until the path bites its tail or meets an earlier one."""
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
        cycle[0].node.reject(
            f"the joints {_listed(names, ', ')} form a cycle: {_listed(links, ' -> ')}",
            code="cycle",
            repair="a robot is a tree; one of the joints has parent and child exchanged, or closes a loop",
            joints=tuple(joint.name for joint in cycle),
        )


def _listed(words: list[str], separator: str) -> str:
    return separator.join(words if len(words) <= 12 else [*words[:6], "...", *words[-5:]])
