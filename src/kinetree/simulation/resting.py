"""Joints that lie on their stops at the end of a run."""

from __future__ import annotations

import numpy as np

from kinetree.algorithms.passive import joint_forces

STILL = 1e-3  # rad/s or m/s
NEGLIGIBLE = 1e-6  # of the largest force on a stop


def resting(run, balance, noise) -> list[str]:
    """A sentence on the joints that rest on their stops at the end of a run; none if none does.

    Parameters
    ----------
    run : Trajectory
    balance : EnergyBalance
    noise : Rounding

    Returns
    -------
    list of str
    """
    c, force = run.coordinates, np.zeros(run.v.shape[1])
    if "force.stops" in balance.others:  # hard ones, which are no part of the model as simulated
        force = balance.others["force.stops"][-1].copy()
    for coordinates, stop, at in joint_forces(run.model, run.q[-1].tolist()):
        if stop.beyond_limits:
            force[list(coordinates)] = stop.elastic(at)
    least = max(noise.force, NEGLIGIBLE * float(np.abs(force).max(initial=0.0)))
    found = [
        f"{c.velocity_labels[k]!r} ({'lower' if force[k] > 0.0 else 'upper'}, {abs(force[k]):.3g} {c.force_units[k]})"
        for k in np.flatnonzero((np.abs(force) > least) & (np.abs(run.v[-1]) < STILL))
    ]
    return [f"At rest on their stops at the end, with the stops' forces: {', '.join(found)}."] if found else []
