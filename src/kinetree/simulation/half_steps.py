"""Change of a run by half steps, measured on stretches of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinetree.errors import KinetreeError
from kinetree.integrators.system import System, dynamics_time, time_argument
from kinetree.simulation.components import Components

BUDGET = 20_000  # steps that are made again at most, each as one and as two: a fraction of a second
ITERATED = 2_000  # of methods that iterate, or otherwise are no single compiled function
STRETCHES = 20  # of a controlled or long run: errors of one stretch do not enter the next


@dataclass(frozen=True, slots=True)
class Comparison:
    """Change of a run by half steps.

    Attributes
    ----------
    share : float
        Largest change of the velocities, as a share of the largest ones, weighted as energies are.
    entry : int
        The velocity with the largest change.
    time : float
        When the change first is half of that [s].
    stretch : float
        Length of the stretches over which changes add up [s].
    order : int
        Of the method.
    rounding : float
        Bound of the change by rounding alone, in the measure of ``share``.
    """

    share: float
    entry: int
    time: float
    stretch: float
    order: int
    rounding: float = 0.0


def half_steps(run, rounding, ignored) -> Comparison | None:
    """Repeat stretches of a run with its own steps and with half ones, under the recorded joint forces.

    Parameters
    ----------
    run : Trajectory
        Of a fixed-step method, every step of it recorded; None for others.
    rounding : (nv,) array
        Velocities that rounding alone makes [rad/s or m/s].
    ignored : (T, nv) array of bool
        Velocities that are ignored.

    Returns
    -------
    Comparison or None

    Notes
    -----
    Source: Hairer, Noersett, Wanner (1993), section II.4, step doubling. A run without a controller is one stretch, so
    amplification by the motion is included; the corrections of a controller are part of the recorded forces, so
    controlled runs are cut into stretches.
    """
    metadata = run.metadata
    if metadata.method is None or metadata.every != 1 or len(run) < 4 or Components(metadata.components).having("wrap"):
        return None
    system = System(run.model, metadata.wrenches is not None)
    if hasattr(metadata.method(system), "get_state"):  # a method with a memory makes other steps from here
        return None
    steps, budget = len(run) - 1, BUDGET if getattr(metadata.method, "algorithm", None) else ITERATED
    whole = not metadata.controlled and not metadata.impulses and steps <= budget
    length = steps if whole else int(np.clip(steps // STRETCHES, 10, budget // STRETCHES))
    starts = np.arange(0, steps, length)
    starts = starts[np.unique(np.linspace(0, len(starts) - 1, min(STRETCHES, len(starts))).astype(int))]
    n = len(run) // 2
    M = system.function("crba")(run.q[n], *time_argument(run.model, run.time[n]))
    weight = np.sqrt(np.maximum(np.diagonal(M), 0.0))  # velocities as shares of the energy, so that units compare
    total = float(np.linalg.norm(weight * np.abs(run.v).max(axis=0)))
    if not total > 0.0:
        return None
    changes = np.zeros(run.v.shape)
    for start in starts.tolist():
        _along(run, system, start, min(start + length, steps), changes)
    changes *= weight / total
    changes[ignored] = 0.0
    size = np.linalg.norm(changes, axis=1)
    worst = int(np.argmax(size))
    first = int(np.argmax(size >= 0.5 * size[worst]))
    entry = int(np.argmax(changes[worst]))
    stretch = float(run.time[min(length, steps)] - run.time[0])
    return Comparison(
        float(size[worst]), entry, float(run.time[first]), stretch, int(getattr(metadata.method, "order", 1)),
        float(np.linalg.norm(weight * rounding)) / total,
    )  # fmt: skip


def _along(run, system, start: int, end: int, changes: np.ndarray) -> None:
    """Write the differences of velocity along one stretch into ``changes``."""
    wrenches, model, nv = run.metadata.wrenches, run.model, run.model.nv
    one, two = run.metadata.method(system), run.metadata.method(system)
    q, v = np.ascontiguousarray(run.q[start]), np.concatenate((run.v[start], run.x[start]))
    p, w = q, v
    for n in range(start, end):
        t, h = float(run.time[n]), float(run.time[n + 1] - run.time[n])
        wrench = (() if wrenches is None else (wrenches[n],)) + ((run.u[n],) if model.nu else ())
        constant = np.ascontiguousarray(run.tau[n])
        given = (lambda _, constant=constant: constant), (lambda s, wrench=wrench: (*dynamics_time(model, s), *wrench))
        try:
            q, v = one.step(t, h, q, v, *given)
            p, w = two.step(t, 0.5 * h, p, w, *given)
            p, w = two.step(t + 0.5 * h, 0.5 * h, p, w, *given)
        except KinetreeError:
            return
        change = np.abs(v - w)[:nv]
        if not np.isfinite(change).all():
            return
        changes[n + 1] = change
