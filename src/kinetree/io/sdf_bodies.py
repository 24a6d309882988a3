"""SDF links as bodies: mass properties in the frame of the link, and shapes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinetree.errors import InertiaError
from kinetree.io.inertia_rules import settle
from kinetree.io.sdf_frames import Placed, Scope
from kinetree.io.sdf_notes import Notes
from kinetree.io.sdf_records import LinkRecord
from kinetree.io.sdf_scopes import Reader
from kinetree.io.sdf_shapes import geometry_of
from kinetree.model.parts import Geometry


@dataclass(frozen=True, slots=True, eq=False)
class Mass:
    """Mass [kg], center of mass [m] and tensor about it [kg m^2]."""

    mass: float
    com: np.ndarray
    I: np.ndarray

    def seen_from(self, place: Placed) -> Mass:
        """The same mass in the frame in which this one is at a place."""
        I = place.R @ self.I @ place.R.T
        return Mass(self.mass, place.R @ self.com + place.p, 0.5 * (I + I.T))


def mass_of(link: LinkRecord, name: str, choice: str, still: bool, notes: Notes) -> Mass:
    """Return the mass properties of a link; see `inertia_rules.settle` for the choice.

    Raises
    ------
    InertiaError
        If no body can have them; ``file``, ``line`` and ``link`` are attributes.
    """
    record = link.inertial
    if record is None:
        if still:
            return Mass(0.0, np.zeros(3), np.zeros((3, 3)))
        notes.warning(link.node, f"link '{name}' has no <inertial>: 1 kg, and 1 kg m^2 about every axis, as SDF says")
        return Mass(1.0, np.zeros(3), np.eye(3))
    try:
        I, change = settle(record.mass, record.tensor, choice, f"link '{name}'")
    except InertiaError as error:
        values = {"mass": error.mass, "inertia": error.inertia}
        raise record.tensor_node.fail(
            f"link '{name}': {error.rule}", InertiaError, code=error.code, repair=error.repair, link=name, **values
        ) from None
    if change is not None:
        notes.warning(record.tensor_node, f"link '{name}': {change}")
    return Mass(record.mass, np.zeros(3), I).seen_from(Placed(record.pose.R, record.pose.p))


def shapes_of(
    link: LinkRecord, scope: Scope, body_in_world: Placed, reader: Reader, notes: Notes
) -> list[Geometry]:
    """The shapes of a link, posed in the body that it became."""
    seen = body_in_world.inverse()
    found = []
    for shape in link.shapes:
        place = seen @ scope.in_world(shape.pose, link.name, shape.node)
        geometry = geometry_of(shape, place.R, place.p, reader.finder(shape.node.document), notes)
        if geometry is not None:
            found.append(geometry)
    return found
