"""The rules of URDF beyond single elements, applied to all links and joints before a model is built.

A collecting document gets every broken rule; the parts that it then keeps of the file are not enough for a model.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinetree.errors import ModelError
from kinetree.io.inertia_rules import NO_MASS, Mass
from kinetree.io.options import Options
from kinetree.io.urdf.joints import Coupling, couplings, settings
from kinetree.io.urdf.notes import Notes, check_extensions
from kinetree.io.urdf.records import JointRecord, LinkRecord, RobotRecord, read_robot
from kinetree.io.urdf.tree import root_and_order, settle_massless
from kinetree.io.xml.reader import Document
from kinetree.model.builder import WORLD


@dataclass(frozen=True, slots=True)
class Plan:
    """Data from which a model is built.

    Attributes
    ----------
    root : str or None
        The root link.
    order : tuple of JointRecord
        Depth first.
    freed : JointRecord or None
        The fixed joint to the world that a floating base replaces.
    masses : dict of str to Mass
        By link, in the frame of the link.
    locked : set of str
        Joints that become fixed because nothing resists them.
    settings : dict of str to dict
        By joint, its arguments of ``add_body``.
    couplings : list of Coupling
    """

    robot: RobotRecord
    root: str | None
    order: tuple[JointRecord, ...]
    freed: JointRecord | None
    masses: dict[str, Mass]
    locked: set[str]
    settings: dict[str, dict[str, object]]
    couplings: list[Coupling]
    notes: Notes


def plan(document: Document, options: Options) -> Plan:
    """Read a robot, and apply the rules to it."""
    notes, attempt = Notes(document, drop=options.drop), document.attempt
    robot = read_robot(document, options, notes)
    root, order = root_and_order(robot)
    if robot.name is None:
        notes.info(document.root, "the robot has no name, though the format requires one", "unnamed-robot")
    check_extensions(document, notes)
    masses = {name: link.mass for name, link in robot.links.items()}
    for link in robot.links.values() if options.inertia_from is not None else ():
        if link.inertial is None:
            masses[link.name] = _mass_of_shapes(link, options.inertia_from, options.density, notes)
    locked = settle_massless(order, masses, options.massless, notes)
    if WORLD in robot.links and root != WORLD:
        message = f"a link is named '{WORLD}', the name of the fixed frame, but it is carried by '{root}'"
        robot.links[WORLD].node.reject(message, code="world-carried", repair="rename the link")
    freed = _joint_to_free(robot, order, notes) if options.floating_base and root == WORLD else None
    of_joints = {
        name: attempt(settings, joint, robot.version, name in locked, notes) for name, joint in robot.joints.items()
    }
    coupled = couplings(robot.joints, locked, notes)
    return Plan(robot, root, order, freed, masses, locked, of_joints, coupled, notes)


def _joint_to_free(robot: RobotRecord, order: list[JointRecord], notes: Notes) -> JointRecord:
    """The fixed joint between a root link called 'world' and the robot, which floating_base=True replaces."""
    carried = [joint for joint in order if joint.parent == WORLD]
    if len(carried) != 1 or carried[0].type != "fixed":
        found = ", ".join(f"'{joint.name}' ({joint.type})" for joint in carried) or "no joint"
        frees = "floating_base=True frees the one fixed joint that holds the robot there"
        message = f"the root link is '{WORLD}', the fixed frame; {frees}, but it carries {found}"
        repair = "load it without floating_base, or rename the link"
        raise robot.links[WORLD].node.fail(message, code="floating-world", repair=repair)
    notes.info(carried[0].node, f"fixed joint '{carried[0].name}' to '{WORLD}' replaced by a free one (floating_base)")
    return carried[0]


def _mass_of_shapes(link: LinkRecord, role: str, density: float, notes: Notes) -> Mass:
    """Return the mass properties of a link without ``<inertial>`` that is filled with matter, and report them.

    Raises
    ------
    GeometryError
        If one of its shapes of this role has no volume.
    """
    from kinetree.geometry import inertia_of_shapes

    who = f"link '{link.name}'"
    try:
        found = inertia_of_shapes(link.shapes, density, role=role, what=who)
    except ModelError as error:
        values = {name: value for name, value in vars(error).items() if name not in ("message", "file")}
        raise link.node.fail(error.message, type(error), **values) from error
    if found is None:
        return NO_MASS
    message = f"{who}: {found.mass:.6g} kg and inertia from its {role} shapes at {density:g} kg/m^3"
    notes.warning(link.node, "; ".join((message, *found.notes)))
    return Mass(found.mass, np.array(found.com), np.array(found.inertia))
