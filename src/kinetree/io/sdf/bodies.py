"""SDF links as bodies: mass properties in the frame of the link, and shapes."""

from __future__ import annotations

import numpy as np

from kinetree.errors import InertiaError, ModelError
from kinetree.geometry import inertia_of_shapes
from kinetree.io.inertia_rules import NO_MASS, Mass, settle_link, violation
from kinetree.io.sdf.frames import Scope
from kinetree.io.sdf.notes import Notes
from kinetree.io.sdf.records import LinkRecord
from kinetree.io.sdf.values import Placed
from kinetree.model.parts import Geometry

# Stands for mass properties that could not be read: enough to resist any joint.
UNKNOWN_MASS = Mass(1.0, np.zeros(3), np.eye(3))


def mass_of(link: LinkRecord, name: str, scope: Scope, choice: str, still: bool, notes: Notes) -> Mass:
    """Return the mass properties of a link in its own frame; see `inertia_rules.settle` for the choice.

    Raises
    ------
    InertiaError
        If no body can have them; ``file``, ``line`` and ``link`` are attributes.
    """
    record = link.inertial
    if record is None:
        if still:
            return NO_MASS
        message = f"link '{name}' has no <inertial>: 1 kg, and 1 kg m^2 about every axis, as SDF defines"
        notes.warning(link.node, message, "missing-inertial")
        return Mass(1.0, np.zeros(3), np.eye(3))
    if record.density is not None:
        return _mass_of_shapes(link, name, scope, notes)
    if not record.is_known:  # in a collecting document, which has the error
        return UNKNOWN_MASS
    rule = violation(record.mass, record.tensor) if still else None
    if rule is not None:
        notes.info(record.tensor_node, f"static link '{name}': {rule}; its mass is left out, since it does not move")
        return NO_MASS
    I = settle_link(name, record.mass, record.tensor, choice, record.tensor_node, notes, record.node.child("mass"))
    mass = Mass(record.mass, np.zeros(3), I).seen_from(record.pose.R, record.pose.p)
    # The pose of a link determines whether it resists its joint.
    return mass if link.pose.is_known and link.name not in scope.uncertain else UNKNOWN_MASS


def _mass_of_shapes(link: LinkRecord, name: str, scope: Scope, notes: Notes) -> Mass:
    """Mass and inertia of the collision shapes by their densities, or by that of the link."""
    place = scope.place @ scope.pose(link.name, link.node)
    parts = []
    for shape, geometry in zip(link.shapes, shapes_of(link, scope, place), strict=True):
        density = link.inertial.density if shape.density is None else shape.density
        try:
            parts.append(inertia_of_shapes([geometry], density, what=f"link '{name}'"))
        except ModelError as error:
            raise shape.node.fail(error.message, type(error), code="auto-inertia", link=name) from None
    parts = [part for part in parts if part is not None]  # visual shapes weigh nothing
    if not parts:
        message = f"link '{name}' is to have the inertia of its collision shapes, and has none with a volume"
        repair = "state <mass> and <inertia>"
        raise link.inertial.node.fail(message, InertiaError, code="auto-inertia", repair=repair, link=name)
    total = sum(parts[1:], start=parts[0])
    notes.info(link.inertial.node, f"link '{name}': {total.mass:.6g} kg by the volume of its collision shapes")
    return Mass(total.mass, total.com, total.inertia)


def shapes_of(link: LinkRecord, scope: Scope, body_in_world: Placed) -> list[Geometry]:
    """The shapes of a link, posed in the body that it became."""
    seen = body_in_world.inverse()
    return [shape.placed(seen @ scope.in_world(shape.pose, link.name, shape.node)) for shape in link.shapes]
