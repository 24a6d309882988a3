"""The force elements that the tendons of a model's equipment are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace

import numpy as np

from kinetree.forces.tendon_force import TendonForce
from kinetree.model.equipment import Equipment
from kinetree.model.tendon import INFINITE, Tendon

PREFIX = "tendon "
SHARED = tuple(sorted({f.name for f in fields(Tendon)} & {f.name for f in fields(TendonForce)} - {"name", "path"}))


def tendon_forces(equipment: Equipment) -> tuple[TendonForce, ...]:
    """An element for each tendon with a path, with or without forces, in the order of the tendons."""
    return tuple(_element(tendon) for tendon in equipment.tendons if tendon.path)


def _element(tendon: Tendon) -> TendonForce:
    given = {what: getattr(tendon, what) for what in SHARED} if not tendon.not_computed else {}
    limits = {what: None for what in ("lower", "upper") if what in given and not np.isfinite(given[what])}
    return TendonForce(PREFIX + tendon.name, tendon.path, **given | limits)


def with_tendon_forces(equipment: Equipment, elements: Sequence[TendonForce]) -> Equipment:
    """The equipment whose tendons have the numbers of these elements."""
    found = {element.name: element for element in elements}
    return replace(equipment, tendons=tuple(_with(t, found.get(PREFIX + t.name)) for t in equipment.tendons))


def _with(tendon: Tendon, element: TendonForce | None) -> Tendon:
    if element is None:
        return tendon
    if tendon.not_computed:
        return replace(tendon, path=element.path)
    given = {what: getattr(element, what) for what in SHARED}
    limits = {"lower": -INFINITE, "upper": INFINITE}
    limits = {what: x for what, x in limits.items() if given[what] is None}
    rest_length = element.rest_length[0], element.rest_length[-1]
    return replace(tendon, path=element.path, **given | limits | {"rest_length": rest_length})
