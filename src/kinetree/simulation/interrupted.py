"""What is kept of a run that ends before its time, by Ctrl-C or by an error in the user's own code."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress

from kinetree.simulation.step_loop import is_sane


def keep_run(error: BaseException, state, record, trajectory: Callable) -> None:
    """Give an error the run up to there, as ``error.trajectory``; None if there is nothing of it.

    Parameters
    ----------
    error : BaseException
        One that has a trajectory already is left as it is.
    state : RunState
        Where the run is.
    record : Recorder
        The samples so far.
    trajectory : callable
        ``trajectory(last, interrupted=...)`` makes the run of the samples, with ``last`` of where it is, too.
    """
    if hasattr(error, "trajectory"):
        return
    reached = float(record.time[record.rows - 1]) if record.rows else -math.inf
    by = "Ctrl-C" if type(error) is KeyboardInterrupt else f"{type(error).__name__}: {error}".rstrip(": ")
    error.trajectory = None
    # With the state that no sample holds yet, if there is one and the user's code, which may be at fault, takes it.
    for last in (True, False):
        if not (state.time > reached and is_sane(state.q, state.v) if last else record.rows):
            continue
        where = f"interrupted at t = {state.time if last else reached:.9g} s by {by}"
        with suppress(Exception):
            error.trajectory = trajectory(last=last, interrupted=where)
            error.add_note(f"kinetree: {where}; error.trajectory is the run up to there")
            return
