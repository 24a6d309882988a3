"""Where joint positions may be: their own limits, and at masters those of the joints that follow them."""

from __future__ import annotations

import math

import numpy as np


def position_ranges(model) -> tuple[np.ndarray, np.ndarray]:
    """Limits of the positions, those of coupled joints included where their masters are.

    Parameters
    ----------
    model : Model

    Returns
    -------
    lower, upper : (nv,) array
        [rad or m]. The rows of coupled joints are their own limits. Limits that exclude each other leave
        ``lower > upper`` at the master.
    """
    lower, upper = (np.array(x, dtype=float) for x in (model.lower, model.upper))
    own = lower.copy(), upper.copy()
    for c in model.couplings:
        k, m = model.v_index(c.joint).start, model.v_index(c.master).start
        if c.ratio and model.has_limit(k):
            low, high = sorted((float(bound[k]) - c.offset) / c.ratio for bound in own)
            lower[m], upper[m] = max(lower[m], low), min(upper[m], high)
    return lower, upper


def drawn(x: float, low: float, high: float, rng: np.random.Generator) -> float:
    """Uniform between two limits; x itself, clipped to them, if there are fewer."""
    if math.isfinite(low) and math.isfinite(high):
        return float(rng.uniform(low, max(low, high)))
    return min(max(x, low), high)
