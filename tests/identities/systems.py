"""Random mechanisms and states for the theorems."""

from __future__ import annotations

import functools

import numpy as np

import kinetree as kt

EPS = np.finfo(float).eps


@functools.cache
def tree(seed: int, bodies: int = 6):
    """A random tree with joints of every kind, floating for every third seed; bodies vary with the seed."""
    return kt.models.random_tree(bodies + seed % 4, seed=seed, floating=seed % 3 == 0)


def state(model, seed: int):
    """A random position and standard normal v, a, tau."""
    rng = np.random.default_rng(seed)
    return model.random_q(rng), *rng.standard_normal((3, model.nv))


def close(found, expected, scale: float = 1.0, ulps: float = 1e4) -> None:
    """Assert equality to rounding: ``ulps`` units of the largest entry of either side, or of ``scale``.

    A theorem's two sides are sums of some hundred products each; 1e4 units leave room for cancellation within one side.
    """
    found, expected = np.asarray(found), np.asarray(expected)
    size = max(np.max(np.abs(found), initial=0.0), np.max(np.abs(expected), initial=0.0), scale)
    worst = np.max(np.abs(found - expected), initial=0.0)
    assert worst <= ulps * EPS * size, f"off by {worst:.3g}, {worst / (EPS * size):.3g} ulps of {size:.3g}"


def along(model, q, v, function, h: float = 2e-4):
    """Derivative of ``function(q)`` while q moves with velocity v: central differences of fourth order.

    The truncation error is O(h^4), the rounding error eps / h times the size of the function: about 1e-12 relative
    here.
    """
    f = [np.asarray(function(kt.integrate(model, q, k * h * v))) for k in (-2, -1, 1, 2)]
    return (f[0] - 8.0 * f[1] + 8.0 * f[2] - f[3]) / (12.0 * h)
