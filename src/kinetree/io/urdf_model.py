"""URDF records to a Model: one body per link, frames where the joints are fixed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kinetree.errors import ModelError, UnsupportedError
from kinetree.io.urdf_bodies import mass_of, shapes_of
from kinetree.io.urdf_limits import limits
from kinetree.io.urdf_massless import settle_massless
from kinetree.io.urdf_mimic import couplings
from kinetree.io.urdf_notes import Notes
from kinetree.io.urdf_records import JointRecord, LinkRecord, RobotRecord
from kinetree.io.urdf_tree import root_and_order
from kinetree.joints import Fixed, Free, Joint, Planar, Prismatic, Revolute
from kinetree.model import Model, ModelBuilder
from kinetree.model.builder import WORLD, rotation_of_rpy
from kinetree.model.parts import transform_of_pose

UNSUPPORTED = ("raise", "drop")

_JOINTS: dict[str, Callable[[tuple], Joint]] = {
    "revolute": Revolute,
    "continuous": Revolute,
    "prismatic": Prismatic,
    "fixed": lambda axis: Fixed(),
    "floating": lambda axis: Free(),
    "planar": lambda axis: Planar(),
}


def build(
    robot: RobotRecord,
    *,
    name: str | None,
    floating_base: bool,
    base_joint: str,
    merge_fixed: bool,
    package_dirs: tuple,
    drop: bool,
    inertia: str,
    massless: str,
) -> Model:
    """Build the model of a robot; the options are those of `load_urdf`."""
    notes = Notes(robot.document)
    root, order = root_and_order(robot)
    path = robot.document.path
    base = path.parent if path is not None else None
    if robot.name is None:
        notes.info(robot.document.root, "the robot has no name, though the format requires one")
    _extensions(robot, drop, notes)
    masses = {link.name: mass_of(link, inertia, notes) for link in robot.links.values()}
    locked = settle_massless(order, masses, massless, notes)

    builder = ModelBuilder(
        name or robot.name or (path.stem if path is not None else "robot"),
        accept_impossible_inertia=inertia == "accept",
    )
    builder.source = robot.document.file

    def add(link: LinkRecord, **joint: object) -> None:
        mass = masses[link.name]
        geometry = shapes_of(link, base, package_dirs, notes)
        builder.add_body(link.name, mass=mass.mass, com=mass.com, inertia=mass.I, geometry=geometry, **joint)

    if WORLD in robot.links and root != WORLD:
        raise robot.links[WORLD].node.fail(
            f"a link is named '{WORLD}', the name of the fixed frame, but it is carried by '{root}'; rename the link"
        )
    freed = _joint_to_free(robot, order, notes) if floating_base and root == WORLD else None
    if root == WORLD:
        for shape in shapes_of(robot.links[root], base, package_dirs, notes):
            builder.add_geometry(WORLD, shape)
    elif floating_base:
        add(robot.links[root], joint=Free(), joint_name=base_joint)
    else:
        add(robot.links[root], joint=Fixed(), joint_name=f"{root}_to_world")
    for joint in order:
        link = robot.links[joint.child]
        settings = _joint_settings(joint, joint.name in locked, drop, notes)
        if joint is freed:
            settings |= {"joint": Free(), "joint_name": base_joint}
        normal = _plane_normal(joint)
        if normal is not None:
            # Our planar joint moves in its own xy plane: a massless body with z along the normal carries the link.
            R = _turned_to(normal)
            plane = f"{link.name}_plane"
            settings["placement"] = transform_of_pose(rotation_of_rpy(*joint.origin.rpy) @ R, joint.origin.xyz)
            builder.add_body(plane, **settings)
            back = transform_of_pose(R.T, (0.0, 0.0, 0.0))
            settings = {"parent": plane, "joint": Fixed(), "joint_name": f"{joint.name}_plane", "placement": back}
            notes.info(joint.node, f"planar joint '{joint.name}': body '{plane}' has z along the normal of the plane")
        add(link, **settings)
    for follower, leader, ratio, offset in couplings(robot.joints, locked, drop, notes):
        builder.add_coupling(follower, leader, ratio=ratio, offset=offset)
    if merge_fixed and not (floating_base and root != WORLD):
        _welded_masses(robot, root, [joint for joint in order if joint is not freed], locked, masses, notes)
    notes.ignored()
    # The report of the file replaces the builder's own: it says the same with lines.
    builder.report = notes.report()
    try:
        return builder.build(merge_fixed=merge_fixed)
    except ModelError as error:
        # What only the whole mechanism shows, such as a joint without inertia: point to the line of the joint.
        joint = robot.joints.get(getattr(error, "joint", None))
        raise robot.document.fail(joint and joint.node, error.message, type(error), **_values(error)) from error


def _joint_to_free(robot: RobotRecord, order: list[JointRecord], notes: Notes) -> JointRecord:
    """The fixed joint between a root link called 'world' and the robot, which floating_base=True replaces."""
    carried = [joint for joint in order if joint.parent == WORLD]
    if len(carried) != 1 or carried[0].type != "fixed":
        found = ", ".join(f"'{joint.name}' ({joint.type})" for joint in carried) or "no joint"
        raise robot.links[WORLD].node.fail(
            f"the root link is '{WORLD}', the fixed frame; floating_base=True frees the one fixed joint that holds the "
            f"robot there, but it carries {found}. Load it without floating_base, or rename the link"
        )
    notes.info(carried[0].node, f"fixed joint '{carried[0].name}' to '{WORLD}' replaced by a free one (floating_base)")
    return carried[0]


def _welded_masses(robot: RobotRecord, root: str, order, locked, masses, notes: Notes) -> None:
    """Say which links with mass stand still, because fixed joints hold them to the world."""
    welded = [root]
    for joint in order:
        if joint.parent in welded and (joint.type == "fixed" or joint.name in locked):
            welded.append(joint.child)
    heavy = [link for link in welded if masses[link].mass > 0.0]
    if not heavy:
        return
    shown = ", ".join(f"'{link}' with {masses[link].mass:g} kg" for link in heavy[:4])
    more = f" and {len(heavy) - 4} more" if len(heavy) > 4 else ""
    verb, count = ("is", "does") if len(heavy) == 1 else ("are", "do")
    notes.info(
        robot.links[heavy[0]].node,
        f"link{'s' if len(heavy) > 1 else ''} {shown}{more} {verb} welded to the world and {count} not count in "
        "total_mass; floating_base=True lets the robot move",
    )


def _values(error: ModelError) -> dict[str, object]:
    return {name: value for name, value in vars(error).items() if name not in ("message", "file", "line")}


def _joint_settings(joint: JointRecord, locked: bool, drop: bool, notes: Notes) -> dict[str, object]:
    """Return what ``add_body`` takes of a joint."""
    settings: dict[str, object] = {
        "parent": joint.parent,
        "joint": Fixed() if locked else _JOINTS[joint.type](joint.axis),
        "joint_name": joint.name,
        "placement": transform_of_pose(rotation_of_rpy(*joint.origin.rpy), joint.origin.xyz),
    }
    lower, upper, effort, velocity = limits(joint, notes)
    if settings["joint"].nv != 1:
        if joint.damping or joint.friction:
            node = joint.node.child("dynamics")
            if joint.type == "fixed" or locked:
                notes.info(node, f"fixed joint '{joint.name}' has damping or friction: without effect")
            else:
                message = f"joint '{joint.name}' is {joint.type} and has damping or friction: the format gives no units"
                if not drop:
                    raise node.fail(f"{message}. unsupported='drop' leaves them out", UnsupportedError)
                notes.dropped(node, f"dropped: {message}")
        return settings
    length = np.linalg.norm(joint.axis)
    if abs(length - 1.0) > 1e-6:
        message = f"joint '{joint.name}': axis {joint.axis} normalized, its length is {length:g}"
        notes.info(joint.node.child("axis"), message)
    settings.update(damping=joint.damping, dry_friction=joint.friction)
    settings.update(lower=lower, upper=upper, effort_limit=effort, velocity_limit=velocity)
    return settings


def _plane_normal(joint: JointRecord) -> np.ndarray | None:
    """Return the unit normal of a planar joint, unless it is z, which needs no care."""
    if joint.type != "planar":
        return None
    normal = np.array(joint.axis) / np.linalg.norm(joint.axis)
    return None if np.abs(normal - (0.0, 0.0, 1.0)).max() < 1e-13 else normal


def _turned_to(normal: np.ndarray) -> np.ndarray:
    """Return a rotation whose third column is the normal; the others are as near to x and y as that allows."""
    x = np.array([1.0, 0.0, 0.0])
    if abs(normal @ x) > 0.9:
        # The plane stands across x: its first axis is y.
        x = np.array([0.0, 1.0, 0.0])
    x = x - (x @ normal) * normal
    x = x / np.linalg.norm(x)
    return np.column_stack([x, np.cross(normal, x), normal])


def _extensions(robot: RobotRecord, drop: bool, notes: Notes) -> None:
    """Refuse what extensions of the format say about the mechanism itself: loops closed by joints of <gazebo>."""
    for node in robot.document.root.all_children():
        loops = [child for child in node.all_children() if child.tag == "joint"] if node.tag == "gazebo" else []
        if loops:
            message = f"{loops[0].path} closes a kinematic loop, which the model of a URDF file does not hold"
            if not drop:
                raise loops[0].fail(f"{message}. unsupported='drop' leaves it open", UnsupportedError)
            notes.dropped(loops[0], f"dropped: {message}")

