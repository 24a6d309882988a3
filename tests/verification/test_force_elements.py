"""``kt.verify`` on random mechanisms with force elements of every kind."""

import pytest

import kinetree as kt
from tests.forces.loaded import loaded, tree


@pytest.mark.seeds(1)
def test_random_trees_with_elements_pass(seed):
    """Forces, energies, powers, slopes and internal states of every element, at random states."""
    model = tree(seed + 1)
    result = kt.verify(model, 2, fast=True)
    rows = [row for row in result if row.quantity == "force elements"]
    assert result.ok and len(rows) == 7 and sum(row.verdict == "ok" for row in rows) >= 6 - (model.nx == 0)


def test_elements_beside_loops_pass():
    """A four-bar with springs, bushings and drag."""
    model = loaded(kt.models.four_bar(), 4)
    assert len(model.laws) > 3 and kt.verify(model, 2, fast=True).ok
