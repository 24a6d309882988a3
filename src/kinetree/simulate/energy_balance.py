"""Where the energy of a run went: the work of joint forces and prescribed motions, and losses in the joints."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinetree.algorithms.passive import limit_excess, passive_terms
from kinetree.integrate.system import System

NEGLIGIBLE = 1e-9  # of the largest kinetic energy: a joint pressed onto its stop by rounding is no loss


@dataclass(frozen=True, slots=True)
class EnergyBalance:
    """Energies over a whole run [J]: ``change = work + prescribed - dissipated + unexplained``.

    Attributes
    ----------
    change : float
        Total energy at the end minus that at the start.
    work : float
        Done by the joint forces tau.
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


def energy_balance(trajectory) -> EnergyBalance:
    """The balance of a run without external wrenches.

    Parameters
    ----------
    trajectory : Trajectory
        With its model.

    Returns
    -------
    EnergyBalance

    Notes
    -----
    Source: the power theorem d(T + U)/dt = tau . v + f . sigma - v . D v, with D the dissipative coefficients of
    `passive_terms` and f . sigma the `prescribed_power`; trapezoidal sums over the samples, so that a joint that hits a
    stop between two of them is off by up to half a sample's worth of the stop's power.
    """
    model, time, v = trajectory.model, trajectory.time, trajectory.v
    q_columns, v_columns = list(trajectory.q.T), list(v.T)
    _, damping, _ = passive_terms(model, q_columns, v_columns)
    stops = np.zeros(len(time))
    for k, _, active in limit_excess(model, q_columns):
        stops += active * model.limit_damping[k] * v_columns[k] ** 2
    viscous = v**2 @ model.damping
    total = sum((d * v_k**2 for d, v_k in zip(damping, v_columns, strict=True)), np.zeros(len(time)))
    parts = {"damping": viscous, "dry friction": total - viscous - stops, "soft stops": stops}
    least = NEGLIGIBLE * float(np.max(trajectory.kinetic_energy))
    work = _integral(np.einsum("tk,tk->t", trajectory.tau, v), time)
    prescribed = 0.0
    if model.time_dependent:
        power = System(model).function("prescribed_power")(trajectory.q, v, trajectory.a, time)
        prescribed = _integral(power, time)
    return EnergyBalance(
        change=float(trajectory.energy[-1] - trajectory.energy[0]),
        work=work if abs(work) > least else 0.0,
        dissipated=_integral(total, time),
        prescribed=prescribed if abs(prescribed) > least else 0.0,
        losses=tuple(what for what, power in parts.items() if _integral(power, time) > least),
    )


def _integral(power: np.ndarray, time: np.ndarray) -> float:
    return float(0.5 * np.sum((power[1:] + power[:-1]) * np.diff(time)))
