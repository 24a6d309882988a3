"""Errors of runs that cannot continue, with the samples that are usable and their evidence of the cause."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kinetree.errors import KinetreeError, SimulationError, SingularityError
from kinetree.integrators.trials import RUNAWAY
from kinetree.simulation.divergence import divergence

GROWN = 1e3  # growth of the state since the start that counts as divergence
USABLE = 1e12  # [rad, m, per second] beyond that, no digit of an angle is significant


def blown_up(state, coordinates, integrator: str, contacts=((), ())) -> SimulationError:
    """The error for a state that is not finite.

    Parameters
    ----------
    state : RunState
    coordinates : Coordinates
    integrator : str
    contacts : (sequence of str, sequence of float)
        Labels of candidate points, and the impulses of the last step there.
    """
    bad, size = coordinates.first_bad(state.q, state.v), ""
    if bad is None:
        bad = coordinates.named(int(np.argmax(np.abs(np.concatenate((state.q, state.v))))))
        size = f" (beyond {RUNAWAY:g})"
    other = "integrator='semi_implicit' or 'adaptive'"
    if integrator.startswith(("semi_implicit", "linearly_implicit (passive")):
        other = "integrator='linearly_implicit', which also takes the slopes of tensions, 'rk4' or 'adaptive'"
    labels, contact, touching = contacts[0], "", None
    if labels:
        worst = np.abs(np.nan_to_num(np.asarray(contacts[1], dtype=float), nan=np.inf)).reshape(len(labels), -1)
        touching, other = labels[int(np.argmax(worst.max(axis=1)))], "larger relaxation_time of compliant contacts"
        contact = f"; the largest impulse is that of contact {touching!r}"
    error = SimulationError(
        f"simulate: the motion is no longer finite at t = {state.time:.6g} s{size}; the first bad coordinate is "
        f"the {bad}{contact}. Use a smaller dt (now {state.dt:g} s), or {other}.",
        time=state.time,
        coordinate=bad,
    )
    if touching is not None:
        error.contact = touching
    return error


def with_trajectory(error: KinetreeError, record, trajectory: Callable, diverged: bool) -> KinetreeError:
    """An error with the usable samples, ``error.trajectory``, and their evidence of a divergence.

    Parameters
    ----------
    error : KinetreeError
    record : Recorder
        It keeps the usable samples only.
    trajectory : callable
        ``trajectory(last, checks=..., failed=...)`` makes the run of the samples.
    diverged : bool
        Whether the error is that of a motion that diverged.
    """
    states = np.hstack((record.q[: record.rows], record.v[: record.rows]))
    size = np.maximum.accumulate(np.nan_to_num(np.abs(states).max(axis=1, initial=0.0), nan=np.inf))
    usable, last_resort = (int(np.searchsorted(size, most)) for most in (USABLE, RUNAWAY))
    record.rows = max(usable, min(last_resort, 4), min(record.rows, 1))
    with np.errstate(all="ignore"):
        try:
            error.trajectory = trajectory(last=False, failed=error.message) if record.rows else None
        except SingularityError as singular:
            if size[record.rows - 1] < GROWN * max(1.0, size[0]):  # the cause; else a consequence of the motion
                error = singular
            error.trajectory = trajectory(last=False, checks=False, failed=error.message)
        found = divergence(error.trajectory) if diverged and record.rows else []
    for one in found:
        error.message = f"{error.message} {one.text}"
        error.args = (error.message,)
        error.joint, error.began = one.joint, one.time
    return error
