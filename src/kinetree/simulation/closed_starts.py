"""Starts of mechanisms with loops: closed positions, consistent velocities, and errors that name the loop."""

from __future__ import annotations

import numpy as np

from kinetree.algorithms.constraint_rows import CONSTRAINT_MISFIT
from kinetree.algorithms.domain import CLOSED_LOOPS, CONSTRAINT_TOLERANCE
from kinetree.errors import SimulationError
from kinetree.integrators.methods import described, goes_through_singular
from kinetree.integrators.singular_steps import Passage, regular_or_passing
from kinetree.integrators.system import System
from kinetree.model.closing import HELD, Closing, closed_position

SMALL = 1e-9  # [rad or m, per second] from which on a change of the start is noted


def assembled(model, q, whose: str) -> tuple[np.ndarray, list[str]]:
    """The closed position next to one that nobody gave, and a note on it."""
    search = Closing(model)
    if search.gap(q) <= HELD:
        return q, []
    note = f"loops are open at the {whose} position: it starts at kt.assemble(model, q), closed, next to it"
    return closed_position(model, q), [note]


def closed_start(system, q, w, given_v: bool) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """The start with its loops closed by projection, and a note if that changes it.

    Parameters
    ----------
    system : System
    q, w : numpy.ndarray
        Positions; velocities, followed by internal states.
    given_v : bool
        Whether the velocities are the caller's, who has to give consistent ones.

    Raises
    ------
    ConstraintError
        A loop is open by more than 1e-6, or given velocities open it.
    """
    model, nv = system.model, system.model.nv
    system = regular_or_passing(system, q)
    start, consistent = model.at(0.0), system.function("closed_loops_project_velocity", checks=False)
    check_closed(start, q, w[:nv] if given_v else consistent(q, w[:nv], *system.end_time(0.0)))
    q_closed, w_closed = system.closed(q, w)
    move = np.abs(system.function("difference", checks=False)(q, q_closed)).max(initial=0.0)
    change = np.abs(w_closed - w).max(initial=0.0)
    check_closed(start, q_closed, w_closed[:nv])
    if max(move, change) <= SMALL:
        return q, w, []
    return (
        q_closed,
        w_closed,
        [f"the start is closed by projection: positions by {move:.2g} rad or m, velocities by {change:.2g}"],
    )


def require_regular_start(system, q, method) -> None:
    """Raise SimulationError for a start in a singular position, by a method whose steps do not go through it."""
    if goes_through_singular(method) or regular_or_passing(system, q) is system:
        return
    note = Passage(0.0, 0.0, q, np.zeros(system.model.nv)).described(system.model)
    raise SimulationError(
        f"simulate: the start is a {note.partition(';')[0]}. Steps of integrator {described(method)!r} do not go "
        "through singular positions: use 'rk4', 'semi_implicit' or 'adaptive'.",
        integrator=method.name,
    )


def inexact_rows(model) -> list[str]:
    """A note on rows that are left out because of errors of placements, or the decimals of a file."""
    rows = [row for row in model.redundant_rows() if row.inexact]
    if not rows:
        return []
    names, misfit = ", ".join(row.name for row in rows), max(row.misfit for row in rows)
    return [f"rows that others imply but for {misfit:.2g} of their size are left out: {names}"]


def check_closed(model, q: np.ndarray, v: np.ndarray, which: str = "simulate: the initial state (q0, v0): ") -> None:
    """Raise an error for a state that violates a loop, of a model at a time."""
    inputs = {"q": q.tolist(), "v": v.tolist()}
    for index, violated in enumerate(CLOSED_LOOPS.violations(model, inputs)):
        if violated:
            error = CLOSED_LOOPS.explain(model, inputs, index)
            error.message = which + error.message
            error.args = (error.message,)
            raise error


def check_closed_batch(model, q, v, t0, precision) -> None:
    """Raise an error for the first of the states (..., nq), (..., nv) of rollouts that violates a loop.

    ``t0`` is the time, an array or None.
    """
    t0 = np.zeros(()) if t0 is None else t0
    batch = np.broadcast_shapes(q.shape[:-1], v.shape[:-1], t0.shape)
    t0 = np.array(np.broadcast_to(t0, batch))
    states = (q, v[..., : model.nv])
    q, v = (np.ascontiguousarray(np.broadcast_to(x, (*batch, x.shape[-1])), dtype=float) for x in states)
    most = max(CONSTRAINT_TOLERANCE, 1e3 * float(np.finfo(precision).eps))
    system = System(model)
    found = system.function(CONSTRAINT_MISFIT, checks=False)(q, v, *system.end_time(t0))
    misfit = np.concatenate(found, axis=-1)
    broken = np.argwhere((np.abs(misfit) > most).any(axis=-1))
    if len(broken):
        state = tuple(map(int, broken[0]))
        where = f", state {state if len(state) > 1 else state[0]}" if state else ""
        check_closed(model.at(float(t0[state])), q[state], v[state], f"rollout, at the start{where}: ")
