"""The force elements that the tendons of a model's equipment are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kinetree.forces.tendon_force import TendonForce
from kinetree.model.equipment import INFINITE, Equipment, Tendon

PREFIX = "tendon "


def tendon_forces(equipment: Equipment) -> tuple[TendonForce, ...]:
    """An element for each tendon with a path, with or without forces, in the order of the tendons."""
    return tuple(_element(tendon) for tendon in equipment.tendons if tendon.path)


def _element(tendon: Tendon) -> TendonForce:
    computed = not tendon.not_computed
    lower, upper = (x if computed and np.isfinite(x) else None for x in (tendon.lower, tendon.upper))
    laws = ("stiffness", "damping", "dry_friction", "limit_stiffness", "limit_damping")
    given = {what: getattr(tendon, what) for what in laws if computed}
    return TendonForce(
        PREFIX + tendon.name, tendon.path, rest_length=tendon.rest_length, lower=lower, upper=upper, **given
    )


def with_tendon_forces(equipment: Equipment, elements: Sequence[TendonForce]) -> Equipment:
    """The equipment whose tendons have the numbers of these elements."""
    found = {element.name: element for element in elements}
    return replace(equipment, tendons=tuple(_with(t, found.get(PREFIX + t.name)) for t in equipment.tendons))


def _with(tendon: Tendon, element: TendonForce | None) -> Tendon:
    if element is None:
        return tendon
    if tendon.not_computed:
        return replace(tendon, path=element.path)
    lower = -INFINITE if element.lower is None else element.lower
    upper = INFINITE if element.upper is None else element.upper
    rest_length = element.rest_length[0], element.rest_length[-1]
    laws = ("stiffness", "damping", "dry_friction", "limit_stiffness", "limit_damping")
    numbers = {what: getattr(element, what) for what in laws}
    return replace(tendon, path=element.path, rest_length=rest_length, lower=lower, upper=upper, **numbers)
