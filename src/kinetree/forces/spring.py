"""The spring of a joint."""

from __future__ import annotations

from dataclasses import dataclass

from kinetree.forces.contract import JointForce, Parameter, present


@dataclass(frozen=True)
class Spring(JointForce):
    """Hooke's law along each velocity coordinate of a joint: ``-k (q (-) q_ref)``.

    Parameters
    ----------
    joint : str
    stiffness : tuple of scalars
        k, one for each velocity coordinate [N m/rad or N/m].
    spring_reference : tuple of scalars, optional
        Position at which the spring is relaxed, one for each position [rad or m; quaternions unit]; by default the
        neutral position.

    Notes
    -----
    The force is the gradient of ``k (q (-) q_ref)^2 / 2`` for joints whose coordinates commute; for ball joints if
    their stiffness is the same about all axes.
    """

    joint: str
    stiffness: tuple
    spring_reference: tuple | None = None

    parameters = (
        Parameter("stiffness", "force/position", mjcf="stiffness", sdf="spring_stiffness"),
        Parameter("spring_reference", "position", position=True, sdf="spring_reference"),
    )
    energy_channel = "springs"

    def energy(self, at):
        twice = 0.0
        for k, x in zip(self.stiffness, at.deflection(self.spring_reference), strict=True):
            if present(k):
                twice = twice + k * x * x
        return 0.5 * twice

    def elastic(self, at):
        deflection = at.deflection(self.spring_reference)
        return [-(k * x) for k, x in zip(self.stiffness, deflection, strict=True)]

    def stiffness_diagonal(self, at):
        return self.stiffness

    def stiffness_rows(self, at):
        rate = at.tangent_inverse(at.deflection(self.spring_reference))  # of the deflection, as it moves with the joint
        return [[k * x for x in row] for k, row in zip(self.stiffness, rate, strict=True)]
