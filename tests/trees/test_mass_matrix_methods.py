"""The mass matrix by its three methods, and forward dynamics through it."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.algorithms.crba import crba
from kinetree.algorithms.mass_factors import forward_dynamics_crba
from kinetree.compiler.calls import public_call
from kinetree.model.planar import PlanarModel
from kinetree.textbook.mass_matrix import mass_matrix_columns, mass_matrix_jacobians
from tests.identities.systems import close, state

METHODS = ("mass_matrix_jacobians", "mass_matrix_columns")


@pytest.fixture
def interpreted_source():
    with kt.interpreted():
        yield


def case(seed: int, bodies: int = 8):
    """A random tree of all kinds of joints and a state."""
    model = kt.models.random_tree(bodies, seed=300 + seed, floating=seed % 3 == 0)
    return model, *state(model, seed)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.seeds(20)
@pytest.mark.usefixtures("interpreted_source")
def test_methods_agree(seed, method):
    """Composite bodies, the sum of J^T I J, and columns by inverse dynamics give one M, with one pattern of zeros."""
    model, q, *_ = case(seed)
    M, found = kt.crba(model, q), public_call(method)(model, q)
    close(found, M)
    assert not np.any(found[~model.mass_matrix_pattern()])
    assert not np.any(M[~model.mass_matrix_pattern()])


@pytest.mark.parametrize("method", METHODS)
def test_methods_agree_compiled(method):
    """Batches, for a robot with a free base and branches."""
    model, rng = kt.load("quadruped", floating_base=True), np.random.default_rng(0)
    q = np.array([model.random_q(rng) for _ in range(9)])
    close(public_call(method)(model, q), kt.crba(model, q))


@pytest.mark.parametrize("method", [mass_matrix_jacobians, mass_matrix_columns])
def test_methods_run_on_planar_models(method):
    """The planar algebra gives the same matrix."""
    model = kt.models.zigzag_arm(4)
    q = [0.3, -0.2, 0.5, 1.0]
    close(method(PlanarModel(model), q), crba(model, q))


def test_composite_inertias_cost_least():
    """The methods cost O(n d), O(n d^2) and O(n^2): on chains all grow faster than crba."""
    for n in (4, 8):
        costs = [kt.compile(kt.models.chain_gu(n), name).operations.total for name in ("crba", *METHODS)]
        assert costs[0] < min(costs[1:])


# Forward dynamics by the mass matrix --------------------------------------------------------------------------------


@pytest.mark.seeds(20)
@pytest.mark.usefixtures("interpreted_source")
def test_forward_dynamics_by_the_mass_matrix_is_that_of_articulated_bodies(seed):
    """a = M^-1 (tau - c), with external wrenches; the error of a solve grows with the condition of M."""
    model, q, v, _, tau = case(seed)
    f_ext = np.random.default_rng(seed).standard_normal((model.nb, 6))
    condition = np.linalg.cond(kt.crba(model, q))
    found = kt.dynamics.forward_dynamics_crba(model, q, v, tau, f_ext)
    close(found, kt.aba(model, q, v, tau, f_ext), scale=condition, ulps=1e3)


@pytest.mark.sweep
@pytest.mark.usefixtures("interpreted_source")
def test_forward_dynamics_on_a_thousand_trees():
    """Both methods to 1e-9 relative, times the condition where it is bad."""
    for seed in range(1000):
        model, q, v, _, tau = case(1000 + seed, 4 + seed % 9)
        expected, condition = kt.aba(model, q, v, tau), np.linalg.cond(kt.crba(model, q))
        error = np.max(np.abs(kt.dynamics.forward_dynamics_crba(model, q, v, tau) - expected), initial=0.0)
        size = np.max(np.abs(expected), initial=1.0)
        assert error <= 1e-9 * max(1.0, condition * 1e-6) * size, f"seed {seed}"


def test_forward_dynamics_by_the_mass_matrix_runs_on_planar_models():
    """Solving M a = tau - c in the plane."""
    model, rng = kt.models.zigzag_arm(4), np.random.default_rng(3)
    q, v, tau = rng.standard_normal((3, 4)).tolist()
    found = forward_dynamics_crba(PlanarModel(model), q, v, tau)
    close(found, forward_dynamics_crba(model, q, v, tau), scale=1e3)


@pytest.mark.parametrize("n", [3, 6])
def test_methods_of_complete_forward_dynamics_agree(n):
    """Arms and zigzags: whichever method the complete dynamics take, the accelerations are those of the bare tree."""
    rng = np.random.default_rng(n)
    for model in (kt.models.chain_gu(n), kt.models.zigzag_arm(n)):
        q, v, tau = rng.standard_normal((3, n))
        expected = kt.aba(model, q, v, tau)
        close(kt.forward_dynamics(model, q, v, tau), expected, scale=np.linalg.cond(kt.crba(model, q)), ulps=1e3)
