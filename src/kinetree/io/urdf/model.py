"""A planned URDF robot to a Model: one body per link, frames where the joints are fixed."""

from __future__ import annotations

from functools import partial

import numpy as np

from kinetree.errors import KinetreeError
from kinetree.io.free_names import Names, base_joint_name
from kinetree.io.normals import turned_to
from kinetree.io.options import Options
from kinetree.io.urdf.loop_file import LoopFile
from kinetree.io.urdf.notes import Notes
from kinetree.io.urdf.plan import Plan
from kinetree.io.urdf.records import JointRecord, LinkRecord, RobotRecord
from kinetree.io.xml.reader import values_of
from kinetree.joints import Fixed, Free
from kinetree.model import Equipment, LoopJoint, Model, ModelBuilder
from kinetree.model.builder import WORLD
from kinetree.model.parts import transform_of_pose


def build(plan: Plan, options: Options, loops: LoopFile | None = None) -> Model:
    """Build the model of a plan, with the loops of a side file."""
    robot, root, notes, masses = plan.robot, plan.root, plan.notes, plan.masses
    path, base_joint, floating_base = robot.document.path, options.base_joint, options.floating_base
    name = options.name or robot.name or (path.stem if path is not None else "robot")
    builder = ModelBuilder(name, accept_impossible_inertia=options.accept)
    builder.source = robot.document.file

    def add(link: LinkRecord, **joint: object) -> None:
        mass = masses[link.name]
        builder.add_body(link.name, mass=mass.mass, com=mass.com, inertia=mass.I, geometry=link.shapes, **joint)

    taken = [name for name, joint in robot.joints.items() if joint is not plan.freed]
    body_names, joint_names = Names(robot.links), Names(taken)

    def free_joint(link: LinkRecord) -> dict[str, object]:
        at = robot.joints[base_joint] if base_joint in taken else link
        return {"joint": Free(), "joint_name": base_joint_name(
            base_joint, joint_names, taken, at.node.fail, partial(notes.info, at.node))}  # fmt: skip

    try:
        # Numbers near the end of the floats overflow; the builder refuses the results.
        with np.errstate(over="ignore", invalid="ignore"):
            if root == WORLD:
                for shape in robot.links[root].shapes:
                    builder.add_geometry(WORLD, shape)
            elif floating_base:
                add(robot.links[root], **free_joint(robot.links[root]))
            else:
                add(robot.links[root], joint=Fixed(), joint_name=joint_names.new(f"{root}_to_world"))
            for joint in plan.order:
                link = robot.links[joint.child]
                settings = dict(plan.settings[joint.name])
                if joint is plan.freed:
                    settings |= free_joint(link)
                add(link, **_in_its_plane(builder, joint, link, settings, body_names, joint_names, notes))
            for follower, leader, ratio, offset in plan.couplings:
                builder.add_coupling(follower, leader, ratio=ratio, offset=offset)
            if options.merge_fixed and not (floating_base and root != WORLD):
                _welded_masses(robot, root, [j for j in plan.order if j is not plan.freed], plan.locked, masses, notes)
            if loops is not None:
                _add_loops(builder, loops, robot, notes)
            notes.ignored()
            # The report of the file replaces the builder's own: it has the same entries, with lines.
            builder.report = notes.report()
            return builder.build(merge_fixed=options.merge_fixed)
    except KinetreeError as error:
        if getattr(error, "file", None) is not None:
            raise
        if loops is not None and getattr(error, "loop", None) is not None:
            raise loops.fail(error) from error
        # Faults that only the whole mechanism shows, such as a joint without inertia: point to the line of the joint.
        joint = robot.joints.get(getattr(error, "joint", None))
        node = joint.node if joint is not None else None
        raise robot.document.fail(node, error.message, type(error), **values_of(error)) from error


def _add_loops(builder: ModelBuilder, loops: LoopFile, robot: RobotRecord, notes: Notes) -> None:
    loops.check([WORLD, *builder._bodies, *builder._frames], builder._joint_names)
    made = [c for c, _ in loops.constraints]
    builder.equipment += Equipment(loops=tuple(c for c in made if isinstance(c, LoopJoint)))
    for c in made:
        if not isinstance(c, LoopJoint):
            builder.add_constraint(c)
    count = f"{len(made)} constraint{'' if len(made) == 1 else 's'}"
    notes.info(robot.document.root, f"{count} of {loops.path.name}", "loop")


def _in_its_plane(
    builder: ModelBuilder, joint: JointRecord, link: LinkRecord, settings: dict, body_names: Names, joint_names: Names,
    notes: Notes,
) -> dict:  # fmt: skip
    """The settings of the link itself: behind a planar joint whose normal is not z it has a carrier body of its own.

    Our planar joint moves in its own xy plane: a massless body with z along the normal carries the link.
    """
    normal = _plane_normal(joint)
    if normal is None:
        return settings
    R = turned_to(normal)
    plane = body_names.new(f"{link.name}_plane")
    settings["placement"] = transform_of_pose(joint.origin.R @ R, joint.origin.xyz)
    builder.add_body(plane, **settings)
    back = transform_of_pose(R.T, (0.0, 0.0, 0.0))
    notes.info(joint.node, f"planar joint '{joint.name}': body '{plane}' has z along the normal of the plane")
    return {"parent": plane, "joint": Fixed(), "joint_name": joint_names.new(f"{joint.name}_plane"), "placement": back}


def _welded_masses(robot: RobotRecord, root: str, order, locked, masses, notes: Notes) -> None:
    """Report the links with mass that fixed joints hold to the world."""
    welded = {root: None}  # a dict keeps the order
    for joint in order:
        if joint.parent in welded and (joint.type == "fixed" or joint.name in locked):
            welded[joint.child] = None
    heavy = [link for link in welded if masses[link].mass > 0.0]
    if not heavy:
        return
    shown = ", ".join(f"'{link}' with {masses[link].mass:g} kg" for link in heavy[:4])
    more = f" and {len(heavy) - 4} more" if len(heavy) > 4 else ""
    verb, count = ("is", "does") if len(heavy) == 1 else ("are", "do")
    message = (
        f"link{'s' if len(heavy) > 1 else ''} {shown}{more} {verb} welded to the world and {count} not count in "
        "total_mass; floating_base=True lets the robot move"
    )
    notes.info(robot.links[heavy[0]].node, message, "welded")


def _plane_normal(joint: JointRecord) -> np.ndarray | None:
    """Return the unit normal of a planar joint, unless it is z, which needs no care."""
    if joint.type != "planar":
        return None
    normal = np.array(joint.axis) / np.linalg.norm(joint.axis)
    return None if np.abs(normal - (0.0, 0.0, 1.0)).max() < 1e-13 else normal
