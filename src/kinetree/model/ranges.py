"""Ranges of joint positions: their own limits, and at masters those of the joints that follow them."""

from __future__ import annotations

import math

import numpy as np


def position_ranges(model, lower=None, upper=None) -> tuple[np.ndarray, np.ndarray]:
    """Limits of the positions, those of coupled joints included where their masters are.

    Parameters
    ----------
    model : Model
    lower, upper : (nv,) array, optional
        Limits of the joints, if they are not the model's [rad or m].

    Returns
    -------
    lower, upper : (nv,) array
        [rad or m]. The rows of coupled joints are their own limits. Limits that exclude each other leave
        ``lower > upper`` at the master.
    """
    lower, upper = (
        np.array(own if given is None else given, dtype=float)
        for given, own in ((lower, model.lower), (upper, model.upper))
    )
    own = lower.copy(), upper.copy()
    for c in model.couplings:
        k, m = model.v_index(c.joint).start, model.v_index(c.master).start
        if c.ratio and not (math.isinf(own[0][k]) and math.isinf(own[1][k])):
            low, high = sorted((float(bound[k]) - c.offset) / c.ratio for bound in own)
            lower[m], upper[m] = max(lower[m], low), min(upper[m], high)
    return lower, upper


def drawn(x: float, low: float, high: float, rng: np.random.Generator) -> float:
    """Uniform between two limits; x itself, clipped to them, if there are fewer."""
    if math.isfinite(low) and math.isfinite(high):
        return float(rng.uniform(low, max(low, high)))
    return min(max(x, low), high)
