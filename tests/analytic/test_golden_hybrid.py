"""Featherstone 2008, sections 9.1 and 9.3 to 9.5: sets and matrices of hybrid dynamics, and the slip in its tables."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.algorithms.joint_sets import merged_parent, supported_by
from kinetree.joints import Revolute
from kinetree.model.topology import expanded_parent
from tests.identities.systems import state

LAMBDA = (-1, 0, 1, 2, 2, 1, 5, 5)
"""A tree of seven bodies whose joints 1 and 2 have known accelerations; the book's figure 9.1 is lost."""
FORWARD = (3, 4, 5, 6, 7)


def seven_bodies():
    b = kt.ModelBuilder("seven bodies")
    rng = np.random.default_rng(9)
    for i, p in enumerate(LAMBDA[1:], start=1):
        b.add_body(
            f"body{i}", f"body{p}" if p else "world", Revolute(rng.standard_normal(3)), f"joint{i}",
            placement=(rng.uniform(-1, 1, 3), rng.uniform(-1, 1, 3)), mass=1.0 + i, com=rng.uniform(-0.2, 0.2, 3),
            inertia=(0.2, 0.3, 0.4),
        )  # fmt: skip
    return b.build()


def test_nodes_on_joints_of_known_acceleration_are_merged():
    """C09.04: nodes 1 and 2 merge with 0, and 3 to 7 become 1 to 5."""
    merged, number = merged_parent(LAMBDA, FORWARD)
    assert number == (0, 0, 0, 1, 2, 3, 4, 5)
    assert merged == (-1, 0, 0, 0, 3, 3)


def test_the_merged_tree_is_expanded_to_freedoms():
    """C09.04: with three freedoms at node 5 (now 3), its children stand on the last of them."""
    merged, _ = merged_parent(LAMBDA, FORWARD)
    assert expanded_parent(merged, [0, 1, 1, 3, 1, 1])[0] == (-1, 0, 0, 0, 3, 4, 5, 5)


def test_the_merged_tree_is_the_sparsity_of_the_smaller_matrix():
    """C09.04: H_11 is other than zero where one row is an ancestor of the other in the merged tree, and only there."""
    model = seven_bodies()
    q, *_ = state(model, 0)
    H = kt.crba(model, q)[2:, 2:]
    merged, _ = merged_parent(LAMBDA, FORWARD)

    def ancestors(k):
        return {k} | (ancestors(merged[k]) if k else set())

    related = [[m in ancestors(k) or k in ancestors(m) for m in range(1, 6)] for k in range(1, 6)]
    np.testing.assert_array_equal(H != 0.0, related)


@pytest.mark.parametrize("forward", [(1,), (7,), (1, 7), (2, 5), FORWARD, (1, 2, 3, 4, 5, 6, 7), ()], ids=str)
def test_the_restricted_matrix_is_a_part_of_the_whole_one(forward):
    """C09.03: rows and columns of the joints as in crba, to the last bit; zero elsewhere; and less work."""
    model = seven_bodies()
    q, *_ = state(model, 1)
    f = kt.compile(model, "crba_restricted", forward=forward)
    kept = np.isin(np.arange(1, 8), forward)
    whole = kt.crba(model, q)
    np.testing.assert_allclose(f(q), np.where(np.outer(kept, kept), whole, 0.0), rtol=1e-14)
    work, full = f.operations.total, kt.compile(model, "crba").operations.total
    assert work < full if len(forward) < 7 else work == full


def test_work_shrinks_with_the_set():
    """C09.03: leaving joints out never adds work; a leaf alone is one dot product of its inertia."""
    model = seven_bodies()
    totals = [kt.compile(model, "crba_restricted", forward=range(n, 8)).operations.total for n in range(1, 9)]
    assert totals == sorted(totals, reverse=True) and totals[-1] == 0 and totals[-2] <= 2


def test_bodies_moved_by_a_set():
    """C09.03, eq. 9.5: the union of the subtrees."""
    model = seven_bodies()
    assert supported_by(model, (5, 3)) == {3, 5, 6, 7}
    assert supported_by(model, (2,)) == {2, 3, 4}
    assert supported_by(model, ()) == frozenset()


def test_the_printed_velocity_product_of_tables_95_and_96_vanishes():
    """Erratum 24: v_J x v_J is zero; the bias forces of a turning base need v_i x v_J."""
    robot = kt.load("quadruped", floating_base=True)
    q, v = robot.random_state(np.random.default_rng(2))
    v_J = robot.joints[2].velocity(q[7:8], v[6:7])
    assert not any(v_J.cross(v_J))
    slow = v.copy()
    slow[:6] = 0.0
    here, there = (kt.floating_base.coefficients(robot, q, w) for w in (v, slow))
    np.testing.assert_allclose(np.r_[here.p0c, here.C], kt.bias_forces(robot, q, v), rtol=1e-12, atol=1e-11)
    assert np.abs(here.C - there.C).max() > 0.1
