"""The rules of URDF beyond single elements, applied to all links and joints before a model is built.

A collecting document gets every broken rule; what it then keeps of the file is not enough for a model.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from kinetree.io.inertia_rules import Mass
from kinetree.io.mesh_paths import MeshFinder
from kinetree.io.options import Options
from kinetree.io.urdf.bodies import UNKNOWN_MASS, mass_of, mass_of_shapes, shapes_of
from kinetree.io.urdf.joints import Coupling, couplings, settings
from kinetree.io.urdf.notes import Notes, check_extensions
from kinetree.io.urdf.records import JointRecord, RobotRecord
from kinetree.io.urdf.tree import root_and_order, settle_massless
from kinetree.model.builder import WORLD
from kinetree.model.parts import Geometry

_UNIT = 1e-3  # off a quaternion's length, beyond which that is no matter of rounding


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
    document = robot.document
    notes, attempt = Notes(document, drop=options.drop), document.attempt
    root, order = root_and_order(robot)
    if robot.name is None:
        notes.info(document.root, "the robot has no name, though the format requires one", "unnamed-robot")
    check_extensions(document, notes)
    _quaternions(robot, notes)
    finder = MeshFinder(document.path.parent if document.path is not None else None, options.package_dirs)
    version, links = robot.version, robot.links
    shapes = {name: attempt(shapes_of, link, version, finder, notes, default=[]) for name, link in links.items()}
    masses = {
        name: attempt(mass_of, link, options.inertia, notes, default=UNKNOWN_MASS) for name, link in links.items()
    }
    for name, link in links.items() if options.inertia_from is not None else ():
        if link.inertial is None:
            masses[name] = mass_of_shapes(link, shapes[name], options.inertia_from, options.density, notes)
    locked = settle_massless(order, masses, options.massless, notes)
    if WORLD in robot.links and root != WORLD:
        message = f"a link is named '{WORLD}', the name of the fixed frame, but it is carried by '{root}'"
        robot.links[WORLD].node.reject(message, code="world-carried", repair="rename the link")
    freed = _joint_to_free(robot, order, notes) if options.floating_base and root == WORLD else None
    of_joints = {
        name: attempt(settings, joint, robot.version, name in locked, notes) for name, joint in robot.joints.items()
    }
    coupled = couplings(robot.joints, locked, notes)
    return Plan(robot, root, order, freed, masses, shapes, locked, of_joints, coupled, notes)


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
