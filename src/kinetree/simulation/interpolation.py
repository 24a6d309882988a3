"""The motion of a run between its samples, with its known discontinuities."""

from __future__ import annotations

import numpy as np

from kinetree.integrators.system import System


def interpolate(run, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Positions and velocities at times within a run of two samples or more; see `Trajectory.state`.

    Parameters
    ----------
    run : Trajectory
        With its model.
    t : (...) array
        Times [s].

    Returns
    -------
    q : (..., nq) array
    v : (..., nv) array
    """
    time, leaving, arriving = _nodes(run)
    n = np.clip(np.searchsorted(time, t, side="right") - 1, 0, len(time) - 2)
    h = (time[n + 1] - time[n])[..., None]
    s = np.clip((t[..., None] - time[n][..., None]) / h, 0.0, 1.0)
    (q0, v0, a0), (q1, v1, a1) = (x[n] for x in leaving), (x[n + 1] for x in arriving)
    function = System(run.model).function
    end = function("difference")(q0, q1)
    xi = _hermite(s, np.zeros_like(end), h * v0, end, h * function("tangent_rate")(end, v1))
    return function("integrate")(q0, xi), _hermite(s, v0, h * a0, v1, h * a1)


def arriving_velocities(time, v, events) -> np.ndarray:
    """Velocities with which the motion arrives at the samples, (T, nv): those before an event that changed them."""
    V = v.copy()
    for x in reversed(events):  # of several at once the first has the state before all
        n = int(np.searchsorted(time, x.time))
        if n < len(V) and time[n] == x.time:
            V[n] = x.v
    return V


def _nodes(run):
    """Times of samples and discontinuities; states (q, v, a) in which the motion leaves them, and arrives at them."""
    resets = [x for x in run.events if x.q_after is not x.q or not np.array_equal(x.v, x.v_after)]
    resets = [x for x in resets if run.time[0] <= x.time <= run.time[-1]]
    states = (run.q, run.v, run.a)
    if not resets:
        return run.time, states, states
    # Impacts at stops; all other discontinuities are samples.
    between = np.setdiff1d([x.time for x in resets], run.time)
    rows = np.searchsorted(run.time, between)
    time = np.insert(run.time, rows, between)
    # An impact takes its states from its record, and its accelerations from the samples on both sides.
    leaving = [np.insert(x, rows, x[rows], axis=0) for x in states]
    arriving = [np.insert(x, rows, x[rows - 1], axis=0) for x in states]
    for x in resets:
        n = np.searchsorted(time, x.time)
        leaving[0][n], leaving[1][n] = x.q_after, x.v_after
    for x in reversed(resets):  # of several at once the first has the state before all
        n = np.searchsorted(time, x.time)
        arriving[0][n], arriving[1][n] = x.q, x.v
    return time, leaving, arriving


def _hermite(s, x0, m0, x1, m1):
    """Cubic on [0, 1] with values x0, x1 and slopes m0, m1."""
    return x0 + s * (m0 + s * (3.0 * (x1 - x0) - 2.0 * m0 - m1 + s * (2.0 * (x0 - x1) + m0 + m1)))
