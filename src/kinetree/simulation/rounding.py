"""Effects of rounding on a run: thresholds of energies, forces and velocities."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinetree.algorithms.passive import passive_terms
from kinetree.integrators.system import System, time_argument

EPS = float(np.finfo(float).eps)
LEAST_STEPS = 64  # even a short run rounds every force several times


@dataclass(frozen=True, slots=True, eq=False)
class Rounding:
    """Bounds of the rounding errors that add up over a run.

    Attributes
    ----------
    energy : float
        [J]
    force : float
        Of a joint force, in any one step [N m or N].
    velocity : (nv,) array
        [rad/s or m/s]
    linear_momentum, angular_momentum : float
        [kg m/s, kg m^2/s]
    """

    energy: float
    force: float
    velocity: np.ndarray
    linear_momentum: float
    angular_momentum: float


def rounding(run, energies) -> Rounding:
    """The bounds for a run, from the sizes that occurred in it.

    Parameters
    ----------
    run : Trajectory
        With its model.
    energies : iterable of (T,) array
        By kind [J].

    Returns
    -------
    Rounding

    Notes
    -----
    Every step rounds the energies, and the forces that balance in a mechanism at rest: weights, springs, wrenches and
    given joint forces. With N steps of h, eps the rounding unit and F the largest of these forces, not less than
    the weight of all bodies, which bearings support where joints do not, energies are off by ``N eps (E + F x)`` at
    most, x the largest position or 1 rad or m, velocities by ``N eps (h F / M_kk + v)``, and momenta by ``N eps (h F +
    p)``. A velocity that moves nothing by a unit in its last place over the whole run is rounding as well.
    """
    model, v, span = run.model, run.v, max(run.duration, 1e-300)
    system, now = System(model), time_argument(model, run.time)
    steps = max(int(run.steps or run.metadata.counts.get("steps") or 0), len(run), LEAST_STEPS)
    unit = EPS * steps
    forces = [run.tau, system.function("gravity_forces")(run.q, *now)]
    elastic, _, _ = passive_terms(model.at(run.time), list(run.q.T), list(v.T), list(run.x.T), list(run.u.T))
    forces.append(np.array([np.broadcast_to(x, len(run)) for x in elastic]).T.reshape(v.shape))
    if run.metadata.wrenches is not None:
        forces.append(system.function("external_forces")(run.q, run.metadata.wrenches))
    forces = sum(np.abs(x).max(axis=0, initial=0.0) for x in forces)
    weight = float(model.total_mass) * float(np.linalg.norm(np.array(list(model.gravity), dtype=float)))
    force = max(float(forces.max(initial=0.0)), weight)
    reach = max(1.0, float(np.abs(run.q).max(initial=0.0)))
    n = len(run) // 2
    inertia = np.diagonal(system.function("crba")(run.q[n], *time_argument(model, run.time[n])))
    speed = unit * (span / steps * force / np.maximum(inertia, 1e-300) + np.abs(v).max(axis=0, initial=0.0))
    energy = sum(float(np.abs(x).max(initial=0.0)) for x in energies)
    moving = float(np.sqrt(2.0 * run.kinetic_energy.max(initial=0.0) * max(float(model.total_mass), 0.0)))
    linear = unit * (span * force + moving)
    return Rounding(
        energy=unit * (energy + force * reach),
        force=EPS * LEAST_STEPS * force,
        velocity=speed + EPS * reach / span,
        linear_momentum=linear,
        angular_momentum=linear * reach,
    )
