"""Fiber lengths at which fiber and tendon are in equilibrium, for initial states: arrays, not traced."""

from __future__ import annotations

import numpy as np

from kinetree.muscles.fiber import contraction, height, least_projection, passive_force, tendon_force, velocity

STEPS = 60
"""Safeguarded steps of Newton's method at most: bisections alone would do."""


def fiber_length(m, activation, length, rate=0.0) -> np.ndarray:
    """The fiber length at which the muscle's force along the tendon is the tendon's force [m].

    Parameters
    ----------
    m : Muscle
    activation : array
    length : array
        Of the path [m].
    rate : array
        Of the fiber length [m/s].

    Returns
    -------
    array
        The fiber at its least length where no longer one has enough tendon force; with a slack tendon where the fiber
        does not pull.

    Notes
    -----
    ``g(y) = (a fl(l) fv(v) + fp(l) + b v) cos(alpha) - ft(L - y)`` increases from negative to positive between the
    least length of the fiber and the slack tendon, but not everywhere; a bracket around a sign change is kept, and
    Newton's step taken where it stays inside. The unknown is the projection y, since its l is real for any y > 0.
    """
    activation, length, rate = np.broadcast_arrays(*(np.asarray(x, dtype=float) for x in (activation, length, rate)))
    given, h = [x.ravel() for x in (activation, length, rate)], height(m)
    low = np.full(given[1].shape, least_projection(m))
    high = np.maximum(given[1] - m.tendon_slack_length, low)
    found, y = high.copy(), high.copy()
    left = np.arange(y.size)
    for _ in range(STEPS):
        g, slope = _residual(m, *given, y, h)
        low, high = np.where(g <= 0.0, y, low), np.where(g >= 0.0, y, high)
        with np.errstate(all="ignore"):
            step = y - g / slope
        inside = (step >= low) & (step <= high)  # false for NaN
        new = np.where(inside, step, 0.5 * (low + high))
        found[left] = new
        moving = np.abs(new - y) > 2e-16 * given[1]
        left, y, low, high, *given = (x[moving] for x in (left, new, low, high, *given))
    return np.sqrt(found * found + h * h).reshape(length.shape)


def _residual(m, activation, length, rate, y, h):
    """g and its slope."""
    fiber = np.sqrt(y * y + h * h)
    cosine, curves = y / fiber, m.curve_set
    active, damping = contraction(m, activation, fiber, rate)
    force = active + damping + passive_force(m, fiber)
    ratio, optimal = fiber / m.optimal_fiber_length, m.optimal_fiber_length
    gain = np.maximum(activation, m.minimum_activation) * curves.force_velocity(velocity(m, activation, rate)[1])
    stiffness = (gain * curves.active_force_length.slope(ratio) + curves.passive_force_length.slope(ratio)) / optimal
    pulls = force > 0.0
    along = np.where(pulls, stiffness * cosine * cosine + force * h * h / fiber**3, 0.0)
    slack = m.tendon_slack_length
    tendon = curves.tendon_force_length.slope((length - y) / slack) / slack
    return np.where(pulls, force * cosine, 0.0) - tendon_force(m, length - y), along + tendon
