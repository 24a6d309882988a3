"""Ranges of the sum of all actuators' forces on a joint."""

from __future__ import annotations

from kinetree.actuators.dynamics import clipped
from kinetree.spatial.scalar import where


def within_ranges(model, tau) -> list:
    """Joint forces of all actuators [N m or N], each within its range."""
    tau = list(tau)
    for k, *limits in model._force_ranges:
        tau[k] = clipped(tau[k], limits)
    return tau


def range_shares(model, forces) -> dict[int, object]:
    """By velocity coordinate with a range the part of the actuators' forces, given one by one, that is left."""
    found = {}
    for k, *limits in model._force_ranges:
        total = sum((f[k] for f in forces), start=0.0)
        acts = total * total > 0.0
        found[k] = where(acts, clipped(total, limits) / where(acts, total, 1.0), 1.0)
    return found
