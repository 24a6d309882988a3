"""The rules of URDF beyond single elements, applied to all links and joints before a model is built.

A collecting document gets every broken rule; what it then keeps of the file is not enough for a model.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kinetree.forces.registry import names_in
from kinetree.io.inertia_rules import Mass
from kinetree.io.mesh_paths import MeshFinder
from kinetree.io.options import Options
from kinetree.io.urdf.bodies import mass_of, mass_of_shapes, shapes_of
from kinetree.io.urdf.extensions import check_extensions
from kinetree.io.urdf.limits import limits
from kinetree.io.urdf.massless import settle_massless
from kinetree.io.urdf.mimic import Coupling, couplings
from kinetree.io.urdf.notes import Notes
from kinetree.io.urdf.records import SHAPES, JointRecord, LinkRecord, RobotRecord
from kinetree.io.urdf.tree import root_and_order
from kinetree.io.urdf.version import CAPSULES, spelled
from kinetree.joints import Fixed, Free, Joint, Planar, Prismatic, Revolute
from kinetree.model.builder import WORLD
from kinetree.model.parts import Geometry, transform_of_pose

# Stands for mass properties that could not be read: enough to resist any joint.
_UNKNOWN_MASS = Mass(1.0, np.full(3, np.nan), np.eye(3))

_UNIT = 1e-3  # off a quaternion's length, beyond which that is no matter of rounding

_JOINTS: dict[str, Callable[[tuple], Joint]] = {
    "revolute": Revolute,
    "continuous": Revolute,
    "prismatic": Prismatic,
    "fixed": lambda axis: Fixed(),
    "floating": lambda axis: Free(),
    "planar": lambda axis: Planar(),
}


@dataclass(frozen=True, slots=True)
class Plan:
    """What a model is built from.

    Attributes
    ----------
    root : str or None
        The root link.
    order : tuple of JointRecord
        Depth first.
    freed : JointRecord or None
        The fixed joint to the world that a floating base replaces.
    masses, shapes : dict
        By link, in the frame of the link.
    locked : set of str
        Joints that become fixed because nothing resists them.
    settings : dict of str to dict
        By joint, what ``add_body`` takes of it.
    couplings : list of Coupling
    """

    robot: RobotRecord
    root: str | None
    order: tuple[JointRecord, ...]
    freed: JointRecord | None
    masses: dict[str, Mass]
    shapes: dict[str, list[Geometry]]
    locked: set[str]
    settings: dict[str, dict[str, object]]
    couplings: list[Coupling]
    notes: Notes


def plan(robot: RobotRecord, options: Options) -> Plan:
    """Apply the rules to a robot."""
    document, inertia, inertia_from = robot.document, options.inertia, options.inertia_from
    notes, attempt = Notes(document, drop=options.drop), document.attempt
    root, order = root_and_order(robot)
    if robot.name is None:
        notes.info(document.root, "the robot has no name, though the format requires one", "unnamed-robot")
    check_extensions(document, notes)
    _foreign_shapes(robot, notes)
    _quaternions(robot, notes)
    finder = MeshFinder(document.path.parent if document.path is not None else None, options.package_dirs)
    shapes = {link.name: attempt(shapes_of, link, finder, notes, default=[]) for link in robot.links.values()}
    masses = {link.name: attempt(_mass, link, inertia, notes, default=_UNKNOWN_MASS) for link in robot.links.values()}
    if inertia_from is not None:
        for link in robot.links.values():
            if link.inertial is None:
                masses[link.name] = mass_of_shapes(link, shapes[link.name], inertia_from, options.density, notes)
    locked = settle_massless(order, masses, options.massless, notes)
    if WORLD in robot.links and root != WORLD:
        robot.links[WORLD].node.reject(
            f"a link is named '{WORLD}', the name of the fixed frame, but it is carried by '{root}'",
            code="world-carried",
            repair="rename the link",
        )
    freed = _joint_to_free(robot, order, notes) if options.floating_base and root == WORLD else None
    settings = {}
    for joint in robot.joints.values():
        ranges = attempt(limits, joint, robot.version, notes)
        if ranges is not None and joint.is_known:
            settings[joint.name] = attempt(_settings, joint, ranges, joint.name in locked, notes)
    coupled = couplings(robot.joints, locked, notes)
    return Plan(robot, root, order, freed, masses, shapes, locked, settings, coupled, notes)


def _mass(link: LinkRecord, choice: str, notes: Notes) -> Mass:
    mass = mass_of(link, choice, notes)
    known = np.isfinite(mass.mass) and np.isfinite(mass.I).all() and np.isfinite(mass.com).all()
    return mass if known else _UNKNOWN_MASS


def _joint_to_free(robot: RobotRecord, order: list[JointRecord], notes: Notes) -> JointRecord:
    """The fixed joint between a root link called 'world' and the robot, which floating_base=True replaces."""
    carried = [joint for joint in order if joint.parent == WORLD]
    if len(carried) != 1 or carried[0].type != "fixed":
        found = ", ".join(f"'{joint.name}' ({joint.type})" for joint in carried) or "no joint"
        raise robot.links[WORLD].node.fail(
            f"the root link is '{WORLD}', the fixed frame; floating_base=True frees the one fixed joint that holds the "
            f"robot there, but it carries {found}",
            code="floating-world",
            repair="load it without floating_base, or rename the link",
        )
    notes.info(carried[0].node, f"fixed joint '{carried[0].name}' to '{WORLD}' replaced by a free one (floating_base)")
    return carried[0]


def _settings(
    joint: JointRecord, ranges: tuple[float, float, float, float], locked: bool, notes: Notes
) -> dict[str, object]:
    """Return what ``add_body`` takes of a joint."""
    settings: dict[str, object] = {
        "parent": joint.parent,
        "joint": Fixed() if locked else _JOINTS[joint.type](joint.axis),
        "joint_name": joint.name,
        "placement": transform_of_pose(joint.origin.R, joint.origin.xyz),
    }
    lower, upper, effort, velocity = ranges
    if settings["joint"].nv != 1:
        if joint.damping or joint.friction:
            node = joint.node.child("dynamics")
            if joint.type == "fixed" or locked:
                notes.info(node, f"fixed joint '{joint.name}' has damping or friction: without effect", "idle-dynamics")
            else:
                message = f"joint '{joint.name}' is {joint.type} and has damping or friction: the format gives no units"
                notes.unsupported(node, message, repair="unsupported='drop' leaves them out")
        return settings
    length = np.linalg.norm(joint.axis)
    if abs(length - 1.0) > 1e-6:
        message = f"joint '{joint.name}': axis {joint.axis} normalized, its length is {length:g}"
        notes.info(joint.node.child("axis"), message, "axis-length")
    settings.update({ours: getattr(joint, theirs) for theirs, ours in names_in("urdf").items()})
    settings.update(lower=lower, upper=upper, effort_limit=effort, velocity_limit=velocity)
    return settings


def _foreign_shapes(robot: RobotRecord, notes: Notes) -> None:
    """Refuse shapes that only other programs know, such as the endless plane."""
    for link in robot.links.values():
        for shape in link.shapes:
            if shape.shape not in SHAPES:
                message = f"{shape.node.path} is no shape of the URDF format: known are {', '.join(SHAPES)}"
                repair = f"unsupported='drop' leaves the {shape.role} shape out"
                notes.unsupported(shape.node, message, repair=repair)
            elif shape.shape == "capsule" and robot.version < CAPSULES:
                message = (
                    f"{shape.node.path}: capsules exist since URDF {spelled(CAPSULES)}, and this file is of version "
                    f"{spelled(robot.version)}: read all the same, other programs leave it out"
                )
                notes.info(shape.node, message)


def _quaternions(robot: RobotRecord, notes: Notes) -> None:
    """Report quaternions that are no rotations as they stand: they are normalized, as other programs do."""
    records = [*robot.joints.values()]
    for link in robot.links.values():
        records += [*link.shapes, *([link.inertial] if link.inertial is not None else [])]
    for record in records:
        length = math.hypot(*record.origin.quaternion)
        if record.origin.quaternion and abs(length - 1.0) > _UNIT:
            node = record.node.child("origin")
            w, x, y, z = record.origin.quaternion
            message = f"{node.path}: the quaternion {x, y, z, w} (x, y, z, w) normalized, its length is {length:g}"
            notes.warning(node, message)
