"""Dry friction of a joint, rounded off near rest."""

from __future__ import annotations

from dataclasses import dataclass

from kinetree.forces.contract import JointForce, Parameter, of_coordinates
from kinetree.spatial.scalar import absolute, maximum, where

FRICTION_VELOCITY = 1e-3  # [rad/s or m/s]


@dataclass(frozen=True)
class DryFriction(JointForce):
    """Coulomb's law, rounded off at small sliding speeds: ``-c v / max(|v|, v_s)``, v_s = ``FRICTION_VELOCITY``.

    A joint loaded below c creeps at a speed below v_s instead of sticking exactly.

    Parameters
    ----------
    joint : str
    dry_friction : tuple of scalars
        c, one for each velocity coordinate [N m or N].
    """

    joint: str
    dry_friction: tuple

    parameters = (Parameter("dry_friction", "force", urdf="friction", mjcf="frictionloss", sdf="friction"),)
    power_channel = "dry friction"
    kinked = stiff_at_rest = True
    rounding_velocity = FRICTION_VELOCITY

    def dissipative(self, at):
        d = [0.0] * len(at.v)
        for m, c in of_coordinates(self.dry_friction, len(d)):
            d[m] = c / maximum(absolute(at.v[m]), FRICTION_VELOCITY)
        return d

    def dissipative_slope(self, at):
        slope = self.dissipative_at_rest(at)
        for m, _ in of_coordinates(self.dry_friction, len(slope)):
            slope[m] = where(absolute(at.v[m]) < FRICTION_VELOCITY, slope[m], 0.0)
        return slope

    def dissipative_at_rest(self, at):
        return [c * (1.0 / FRICTION_VELOCITY) for c in self.dry_friction]
