"""Viscous friction of a joint."""

from __future__ import annotations

from dataclasses import dataclass

from kinetree.forces.contract import JointForce, Parameter


@dataclass(frozen=True)
class Damping(JointForce):
    """``-d v`` along each velocity coordinate of a joint.

    Parameters
    ----------
    joint : str
    damping : tuple of scalars
        d, one for each velocity coordinate [N m s/rad or N s/m].
    """

    joint: str
    damping: tuple

    parameters = (Parameter("damping", "force s/position", urdf="damping", mjcf="damping", sdf="damping"),)
    power_channel = "damping"

    def dissipative(self, at):
        return self.damping
