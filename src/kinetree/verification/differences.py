"""Finite differences with error estimates: the reference for all derivatives."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kinetree.verification.plain import PRECISE

EPS = float(np.finfo(PRECISE).eps)
H = EPS**0.2 / 2.0
"""The step at which truncation, h^4, and rounding, eps / h, are about equal; half of it, since twice it is used too."""

KINKS = 4.0
"""Where a function is smooth, the difference of the two steps is 15 times the error. Where a spline has a knot nearby
it may be no more than the error itself."""

POINTS = (-4.0, -2.0, -1.0, 1.0, 2.0, 4.0)


def steps() -> np.ndarray:
    """The six steps, in extended precision."""
    return np.array(POINTS, PRECISE) * PRECISE(H)


def derivative(values, size) -> tuple[np.ndarray, np.ndarray]:
    """The derivative at zero from values at `steps` along the first axis, and a bound of its error.

    Parameters
    ----------
    values : (6, ...) array
    size : array
        Size of the terms of the function, whose rounding is divided by the step.

    Returns
    -------
    found, error : (...) array
        Central differences of fourth order with the step h; their difference from those with 2h, which are off by 16
        times as much, and rounding.
    """
    y = np.asarray(values)
    fine = (y[1] - 8.0 * y[2] + 8.0 * y[3] - y[4]) / (12.0 * PRECISE(H))
    coarse = (-8.0 * y[1] + 8.0 * y[4]) / (24.0 * PRECISE(H)) + (y[0] - y[5]) / (24.0 * PRECISE(H))
    return fine, KINKS * np.abs(fine - coarse).astype(float) + 1e2 * EPS / H * np.asarray(size, float)


def along(states, function: Callable, size, *, timed: bool = True):
    """The rate of a function of the state as the mechanism moves with the states' v and a.

    Parameters
    ----------
    states : States
    function : callable
        ``function(q, v, t)`` on arrays with the steps as a further first axis, (6, n, ...).
    size : array
        Size of its terms.
    timed : bool
        Whether time advances; else joints that depend on it are at rest.
    """
    h = steps()[:, None, None]
    v, a = states.v.astype(PRECISE), states.a.astype(PRECISE)
    q = states.call("integrate", states.q[None].astype(PRECISE), h * v + 0.5 * h * h * a, form="precise")
    t = None
    if states.t is not None:
        t = states.t + (steps()[:, None] if timed else np.zeros((len(POINTS), 1), PRECISE))
    return derivative(function(q, v + h * a, t), size)


def by_position(states, function: Callable, size):
    """The derivative of a function of the position along every velocity coordinate, the last axis of the result.

    Parameters
    ----------
    states : States
    function : callable
        ``function(q, t)`` on arrays with leading axes (6, nv, n).
    size : array
        Size of its terms, (n, ...).
    """
    nv = states.model.nv
    directions = steps()[:, None, None, None] * np.eye(nv, dtype=PRECISE)[:, None, :]
    q = states.call("integrate", states.q.astype(PRECISE), directions, form="precise")
    found, error = derivative(function(q, states.t), np.asarray(size, float)[None])
    return np.moveaxis(found, 0, -1), np.moveaxis(error, 0, -1)
