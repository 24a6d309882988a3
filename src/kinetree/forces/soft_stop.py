"""Soft stops at the position limits of a joint."""

from __future__ import annotations

import math
from dataclasses import dataclass

from kinetree.forces.contract import JointForce, Parameter, of_coordinates
from kinetree.spatial.scalar import where


@dataclass(frozen=True)
class SoftStop(JointForce):
    """A spring and a damper that act outside a position limit of a joint by e: ``-k e - d v``.

    Parameters
    ----------
    joint : str
        The limits are data of the joint.
    limit_stiffness, limit_damping : tuple of scalars
        k and d, one for each velocity coordinate [N m/rad or N/m; N m s/rad or N s/m].
    """

    joint: str
    limit_stiffness: tuple
    limit_damping: tuple = 0.0

    parameters = (
        Parameter("limit_stiffness", "force/position"),
        Parameter("limit_damping", "force s/position"),
    )
    energy_channel = power_channel = "stops"
    kinked = beyond_limits = True

    def energy(self, at):
        twice = 0.0
        for _, k, excess, _ in self.contacts(at):
            twice = twice + k * excess * excess
        return 0.5 * twice

    def elastic(self, at):
        force = [0.0] * len(self.limit_stiffness)
        for m, k, excess, _ in self.contacts(at):
            force[m] = -(k * excess)
        return force

    def dissipative(self, at):
        d = [0.0] * len(self.limit_damping)
        for m, _, _, active in self.contacts(at):
            d[m] = active * self.limit_damping[m]
        return d

    def stiffness_diagonal(self, at):
        diagonal = [0.0] * len(self.limit_stiffness)
        for m, k, _, active in self.contacts(at):
            diagonal[m] = active * k
        return diagonal

    def largest_slopes(self, at):
        bounded = {m for m, *_ in self.contacts(at)}
        n = range(len(self.limit_stiffness))
        return tuple([x[m] if m in bounded else 0.0 for m in n] for x in (self.limit_stiffness, self.limit_damping))

    def depth(self, at):
        depth = [0.0] * len(self.limit_stiffness)
        for m, _, excess, _ in self.contacts(at):
            depth[m] = excess
        return depth

    def contacts(self, at):
        """Coordinates that have limits: number, stiffness, the excess over one (signed, zero inside), whether."""
        for m, k in of_coordinates(self.limit_stiffness, len(self.limit_stiffness)):
            if _unbounded(at.lower[m]) and _unbounded(at.upper[m]):
                continue
            above, below = at.q[m] - at.upper[m], at.q[m] - at.lower[m]
            excess = where(above > 0.0, above, where(below < 0.0, below, 0.0))
            yield m, k, excess, where(above > 0.0, 1.0, where(below < 0.0, 1.0, 0.0))


def _unbounded(limit) -> bool:
    return isinstance(limit, float) and math.isinf(limit)
