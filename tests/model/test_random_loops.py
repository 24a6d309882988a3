"""Random mechanisms with loops: their state obeys the loops, and the rank of the rows is that of the family."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.algorithms.constraint_rows import constraint_error, constraint_jacobian
from kinetree.errors import ArgumentError, ModelError, UnknownNameError

FREEDOMS = {"spatial": 6, "planar": 3, "spherical": 3}  # of a body


@pytest.mark.parametrize("family", FREEDOMS)
@pytest.mark.parametrize("seed", range(4))
def test_the_state_obeys_the_loops_and_rows_beyond_the_rank_are_left_out(family, seed):
    """Positions to rounding, velocities, and as many kept rows as the rank at this position."""
    model, q, v = kt.models.random_loops(seed, bodies=9, loops=1 + seed % 4, family=family)
    G = np.array(constraint_jacobian(model, q.tolist()), float)
    assert len(model.loops) == 1 + seed % 4 and np.abs(constraint_error(model, q.tolist())).max() < 1e-13
    assert np.abs(G @ v).max() < 1e-13 and np.abs(v).max() > 0.05
    rank = np.linalg.matrix_rank(G, 1e-8)
    kept = model.independent_rows()
    assert len(kept) == rank == np.linalg.matrix_rank(G[list(kept)], 1e-8) < model.nv
    if family == "spatial":
        assert rank == model.nc
    else:
        assert rank <= FREEDOMS[family] * len(model.loops) < model.nc + len(model.loops)


def test_a_seed_gives_the_same_mechanism_and_kinds_are_respected():
    """Bit for bit; a mechanism closed by welds has six rows for each."""
    first, again = (kt.models.random_loops(5, bodies=10, loops=1, kinds=["fixed"]) for _ in range(2))
    assert np.array_equal(first.model.numbers().values, again.model.numbers().values)
    assert first.q.tobytes() == again.q.tobytes() and first.v.tobytes() == again.v.tobytes()
    assert first.model.nc == 6


def test_bad_choices_are_refused_by_name():
    """Families, kinds that close no loop, and loops that leave no motion."""
    with pytest.raises(ArgumentError, match="family is 'cubic', expected one of 'spatial', 'planar', 'spherical'"):
        kt.models.random_loops(0, family="cubic")
    with pytest.raises(UnknownNameError, match="no kind of joint named 'free' in random_loops: loops of the spatial"):
        kt.models.random_loops(0, kinds=["free"])
    with pytest.raises(ModelError, match="2 bodies with 1 loops of kinds fixed had no motion left"):
        kt.models.random_loops(0, bodies=2, loops=1, kinds=["fixed"], family="planar")
