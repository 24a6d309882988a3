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

    Examples
    --------
    >>> import kinetree as kt
    >>> bar = kt.forces.CubicTorsionBar("bar", kt.models.pendulum().joint_names[0], linear=2.0, cubic=5.0)
    >>> model = kt.models.pendulum().with_forces(bar)
    >>> with kt.interpreted():
    ...     print(kt.dynamics.passive_joint_forces(model, [0.1], [0.0]).round(9))  # -(2 x 0.1 + 5 x 0.001)
    [-0.205]
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
