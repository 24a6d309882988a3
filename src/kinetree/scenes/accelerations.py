"""Scenes by accelerations of other formulations than that of `simulate`, integrated by SciPy's DOP853."""

from __future__ import annotations

import numpy as np
from scipy.integrate import solve_ivp

from kinetree.compiler.calls import public_call
from kinetree.errors import SimulationError
from kinetree.maximal_coordinates.of_model import maximal
from kinetree.redmax.constrained import accelerations as redmax_accelerations
from kinetree.redmax.rows import model_rows
from kinetree.scenes.velocity_euler import consistent_start

TOLERANCE = 1e-10
PIECE = 0.1  # [s] after which charts of rotations are checked


def _now(model, t: float) -> dict[str, float]:
    """The time as an argument, of models whose constraints depend on it."""
    return {"t": t} if model.has_given_motions else {}


def in_maximal_coordinates(model):
    """Joint accelerations by the equation of motion of all bodies and joints (KKT), as a function of t, q, v, tau.

    They are those that give the rates of the bodies' twists, in whatever coordinates rotations are.
    """
    system, rest, local = maximal(model), np.zeros(model.nv), {"reference": "local"}

    def accelerations(t, q, v, tau):
        now = _now(model, t)
        state = system.state(q, v, **now)
        rates = system.accelerations(*state, tau, method="dense", **now).accelerations  # small systems
        bias = public_call("body_accelerations")(model, q, v, rest, **local, kind="spatial")
        J = public_call("frame_jacobians")(model, q, **local)[1 : model.nb]
        return np.linalg.lstsq(J.reshape(-1, model.nv), (rates - bias[-len(rates) :]).ravel(), rcond=None)[0]

    return accelerations


def in_reduced_coordinates(model):
    """The same by REDMAX: ``J^T M J`` and the rows of the model's own constraints."""

    def accelerations(t, q, v, tau):
        rows = [model_rows(model, q, v, **_now(model, t))] if model.constraints else []
        return redmax_accelerations(model, q, v, tau, rows).values

    return accelerations


ACCELERATIONS = {"maximal": in_maximal_coordinates, "redmax": in_reduced_coordinates}
"""Functions that give the joint accelerations of a model, by formulation."""


def states(scene, formulation: str):
    """Times, positions and velocities of a run, whose joints have as many velocities as positions."""
    accelerations = ACCELERATIONS[formulation](scene.model)
    (q, v), n = consistent_start(scene), len(scene.start[1])
    jumps = [end for end, _ in scene.torques if end < scene.duration]
    times = np.unique(np.round([*np.arange(0.0, scene.duration, PIECE), *jumps, scene.duration], 9))
    found = [(q, v)]
    for t, end in zip(times, times[1:], strict=False):
        tau = scene.tau(0.5 * (t + end))

        def rate(now, y, tau=tau):
            return np.concatenate((y[n:], accelerations(now, y[:n], y[n:], tau)))

        solved = solve_ivp(rate, (t, end), np.concatenate((q, v)), method="DOP853", rtol=TOLERANCE, atol=TOLERANCE)
        if not solved.success:
            raise SimulationError(f"scene {scene.key!r}, {formulation}: {solved.message}", time=float(solved.t[-1]))
        q, v = public_call("reparameterize")(scene.tree, solved.y[:n, -1], solved.y[n:, -1])
        found.append((q, v))
    return times, *map(np.array, zip(*found, strict=True))
