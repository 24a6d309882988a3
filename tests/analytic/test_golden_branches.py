"""Section 10.3.2: the sums on which the cost of composite rigid bodies depends, and what they are between.

Inventory C10.12; Featherstone (2008), eq. 10.4-10.9.
"""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt


@pytest.mark.parametrize("seed", range(20))
def test_sums_and_their_bounds(seed):
    """D0 = n - |mu(0)|, D1 = sum of |kappa(i)| - 1; 0 <= D0 <= n - 1, 0 <= D1 <= n (n - 1) / 2 and n (d - 1)."""
    n = 3 + seed
    model = kt.models.random_tree(n, seed=seed, joints=[kt.joints.Revolute()], fixed=False)
    found = model.branching()
    assert found.D0 == n - len(model.children(0))
    assert found.D1 == sum(len(model.support(i)) - 1 for i in model.outward())
    d = max(len(model.support(i)) for i in model.outward())
    assert 0 <= found.D0 <= n - 1
    assert 0 <= found.D1 <= min(n * (n - 1) // 2, n * (d - 1))


def test_extremes():
    """A chain reaches the upper bounds, a star the lower ones."""
    chain, star = kt.models.chain_gu(7).branching(), kt.models.star(7).branching()
    assert (chain.D0, chain.D1) == (6, 21)
    assert (star.D0, star.D1) == (0, 0)


def test_mass_matrix_of_a_star_costs_nothing():
    """H of a star is diagonal and does not depend on q."""
    star = kt.models.star(5)
    with kt.interpreted():
        H = kt.crba(star, np.random.default_rng(0).standard_normal((4, 5)))
    assert np.array_equal(H, np.broadcast_to(np.diag(np.diagonal(H[0])), H.shape))
    assert kt.compile(star, "crba").operations.total == 0
