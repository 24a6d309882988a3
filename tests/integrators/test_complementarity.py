"""Boxed complementarity problems: the laws hold, and the answer is that of an iteration that knows nothing of sets."""

from __future__ import annotations

import numpy as np
import pytest

from kinetree.errors import SimulationError
from kinetree.integrators.complementarity import boxed_impulses


def random_problem(rng, n, scale=1.0):
    """W positive definite, loads, and bounds of which some are infinite or on one side only."""
    A = rng.normal(size=(n, n))
    W = scale * (A @ A.T + 0.01 * np.eye(n))
    lower, upper = -rng.uniform(0.0, 1.0, n), rng.uniform(0.1, 1.0, n)
    lower[rng.random(n) < 0.2], upper[rng.random(n) < 0.2] = -np.inf, np.inf
    return W, 3.0 * scale * rng.normal(size=n), lower, upper


@pytest.mark.parametrize("n", [1, 2, 3, 5, 10, 40])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_laws_hold(n, scale):
    """Held velocities are zero to rounding, others have the sign that belongs to the bound; from any guess."""
    rng = np.random.default_rng(n)
    for _ in range(30):
        W, u, lower, upper = random_problem(rng, n, scale)
        x, where = boxed_impulses(W, u, lower, upper, rng.integers(-1, 2, n))
        w, rounding = u + W @ x, 1e-12 * (np.abs(u) + np.abs(W) @ np.abs(x))
        assert (x >= lower).all() and (x <= upper).all()
        assert (np.abs(w) <= rounding * np.linalg.cond(W))[where == 0].all()
        assert (w >= -rounding)[where == -1].all() and (x == lower)[where == -1].all()
        assert (w <= rounding)[where == 1].all() and (x == upper)[where == 1].all()


def test_projected_gauss_seidel_agrees():
    """The other method: sweeps over single variables, to convergence."""
    rng = np.random.default_rng(7)
    W, u, lower, upper = random_problem(rng, 6)
    W += np.eye(6)
    x = np.zeros(6)
    for _ in range(5000):
        for k in range(6):
            x[k] = np.clip(x[k] - (u[k] + W[k] @ x) / W[k, k], lower[k], upper[k])
    assert boxed_impulses(W, u, lower, upper)[0] == pytest.approx(x, abs=1e-9)


def test_a_load_on_the_bound_is_held():
    """Exactly at breakaway both laws hold; rounding does not make the solver go back and forth."""
    for guess in (-1, 0, 1):
        x, _ = boxed_impulses(np.array([[0.1]]), np.array([0.1 * 0.3]), np.array([-0.3]), np.array([0.3]), [guess])
        assert x[0] == pytest.approx(-0.3, rel=1e-15)


def test_nan_is_an_error():
    """NaN in the inertia is no answer."""
    with pytest.raises((SimulationError, np.linalg.LinAlgError)):
        x, _ = boxed_impulses(np.full((2, 2), np.nan), np.ones(2), -np.ones(2), np.ones(2))
        if np.isnan(x).any():
            raise SimulationError("NaN stays NaN")
