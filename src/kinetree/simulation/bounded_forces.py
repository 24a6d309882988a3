"""Forces of hard limits and of sticking friction in runs whose steps solve for them together with contacts."""

from __future__ import annotations

import numpy as np

from kinetree.algorithms.bounded_rows import bounded_constraints, bounded_places, column_laws, row_laws, wide_rows
from kinetree.algorithms.couplings import coupling_columns
from kinetree.constraints import HardLimits, HardLoopLimits
from kinetree.integrators.kernels import part
from kinetree.simulation.channels import Quantity, frozen
from kinetree.state_kinematics import Kinematics

FORCES = {"dry friction": "sticking_friction_force", "stops": "stop_force"}
"""Sources of the energy balance, and the channels of their forces in runs."""
LIMITS = HardLimits, HardLoopLimits


def _bounded_action(model, q, v, forces):
    """Joint forces of friction and of limits: what a row of both gives is friction as far as that can."""
    kin, places, columns = Kinematics(model, q, v), bounded_places(model), coupling_columns(model)
    rows, friction, stops = row_laws(model, kin, 1.0, v), [0.0] * model.nv, [0.0] * model.nv
    for m, law in column_laws(rows, columns).items():
        if law.bounds:
            force = forces[min(places[n] for k, _ in columns[m] for n, _ in rows.get(k, ()))]
            friction[columns[m][0][0]] = sticks = law.frictional(force)
            stops[columns[m][0][0]] = force - sticks
    limiting = {n for c, numbers in model.constraint_rows() if isinstance(c, LIMITS) for n in numbers}
    for n, each in wide_rows(model, kin, 1.0, v).items():
        kind = stops if n in limiting else friction
        for k, x in each.row.items():
            kind[k] = kind[k] + x * forces[places[n]]
    return friction, stops


ACTION = part("bounded_action", _bounded_action, "q[nq] v[nv] forces[n_impulses]", "friction[nv] stops[nv]", domains=())


def bounded_forces(system, q, v, forces, now=()) -> np.ndarray:
    """Joint forces of friction and of limits of states, (T, 2, nv), from the forces of all rows of steps.

    ``now`` is the time as an argument of models with joints that depend on it.
    """
    return np.stack(system.function(ACTION, checks=False)(q, v, forces, *now), axis=-2)


def force_channels(system, time, forces) -> tuple[Quantity, ...]:
    """The channels of forces, (T, 2, nv) [N m or N]; of what the model has."""
    model, coordinates = system.model, system.coordinates
    limited = [isinstance(c, LIMITS) for c in bounded_constraints(model)]
    return tuple(
        Quantity(
            name, time, frozen(forces[:, n].copy()), coordinates.force_units, coordinates.velocity_labels,
            f"forces of {'hard limits' if n else 'sticking friction'} on the velocities", (f"{name} column",),
        )
        for n, name in enumerate(FORCES.values()) if bool(n) in limited
    )  # fmt: skip


def recorded_forces(run) -> dict[str, np.ndarray]:
    """The recorded forces by the source of the energy balance, (T, nv)."""
    values = {x.name: x.values for x in run.extra}
    return {kind: values[name] for kind, name in FORCES.items() if name in values}
