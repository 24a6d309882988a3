"""Where the energy of a run went: the work of joint forces and prescribed motions, and losses in the joints."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

NEGLIGIBLE = 1e-9  # of the largest kinetic energy: a joint pressed onto its stop by rounding is no loss

LOSSES = {"damping": "damping", "dry friction": "dry friction", "soft stops": "stops"}


@dataclass(frozen=True, slots=True)
class EnergySummary:
    """Energies over a whole run [J]: ``change = work + prescribed - dissipated + unexplained``.

    Attributes
    ----------
    change : float
        Total energy at the end minus that at the start.
    work : float
        Done by the joint forces tau, external wrenches and components.
    dissipated : float
        Lost in damping, dry friction and soft stops.
    losses : tuple of str
        Which of these took any.
    prescribed : float
        Work done by the motions of joints that depend on time.
    """

    change: float
    work: float
    dissipated: float
    losses: tuple[str, ...]
    prescribed: float = 0.0

    @property
    def unexplained(self) -> float:
        """Error of the integration, and of the sums over the samples [J]."""
        return self.change - self.work - self.prescribed + self.dissipated

    @property
    def is_conservative(self) -> bool:
        """Whether nothing took or gave energy, so that a change of it is the integrator's error."""
        return not self.losses and self.work == self.prescribed == 0.0


def energy_summary(trajectory) -> EnergySummary:
    """The balance of a whole run, from its energy balance.

    Parameters
    ----------
    trajectory : Trajectory
        With its model.

    Returns
    -------
    EnergyBalance
    """
    balance = trajectory.energy_balance
    least = max(NEGLIGIBLE * float(np.max(trajectory.kinetic_energy)), balance.rounding)
    given = {name: balance.work(source) for name, source in LOSSES.items()}
    prescribed = balance.work("prescribed motions")
    work = sum(balance.work(name) for name in balance.works if name not in (*LOSSES.values(), "prescribed motions"))
    return EnergySummary(
        change=float(trajectory.energy[-1] - trajectory.energy[0]),
        work=work if abs(work) > least else 0.0,
        dissipated=0.0 - sum(given.values()),
        prescribed=prescribed if abs(prescribed) > least else 0.0,
        losses=tuple(name for name, work in given.items() if -work > least),
    )
