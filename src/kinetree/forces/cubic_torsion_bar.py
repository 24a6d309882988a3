"""A torsion bar that stiffens with its angle."""

from __future__ import annotations

from dataclasses import dataclass

from kinetree.forces.contract import ForceElement


@dataclass(frozen=True)
class CubicTorsionBar(ForceElement):
    """``tau = -k1 x - k3 x^3`` along a joint of one coordinate, x from the relaxed position.

    Parameters
    ----------
    name, joint : str
    linear : float
        k1 [N m/rad or N/m]
    cubic : float
        k3 [N m/rad^3 or N/m^3]
    relaxed : float
        Position without a force [rad or m].
    """

    name: str
    joint: str
    linear: float
    cubic: float
    relaxed: float = 0.0

    passive = True

    def energy(self, kin):
        square = (kin.coordinate(self.joint) - self.relaxed) ** 2
        return (0.5 * self.linear + 0.25 * self.cubic * square) * square
