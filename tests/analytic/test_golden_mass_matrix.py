"""Numbers of the book about the mass matrix: sparsity, costs of factorizations, costs on branched trees, crossovers.

Inventory C06.07-C06.14 and C10.09-C10.12; Featherstone (2008), sections 6.4-6.5, 10.3.
"""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from benchmarks.operations import best, published_tree
from kinetree.algorithms import sparse
from kinetree.model.topology import ancestors_of, branching_of, expanded_parent, sparsity_pattern
from kinetree.spatial import AxialRotation, GeneralRotation, Matrix3, Transform, Vector3
from tests.spatial.counting import Counted, count
from tests.spatial.test_crba_counts import Known, force, inertia, link, vector
from tests.trees.test_sparse_factors import tally

CHAIN = tuple(range(-1, 5))
BINARY = {2**depth - 1: tuple((k + 1) // 2 - 1 for k in range(2**depth - 1)) for depth in range(2, 6)}


# Sparsity and factorizations ----------------------------------------------------------------------------------------


def test_expanded_parents():
    """C06.12, table 6.4: a joint of three freedoms becomes a chain of three."""
    expanded, last = expanded_parent((-1, 0, 1, 1, 2, 2, 3), (0, 1, 3, 1, 1, 1, 1))
    assert expanded[1:] == (0, 1, 2, 3, 1, 4, 4, 5)
    assert last == (0, 1, 4, 5, 6, 7, 8)


def test_sums_of_depths():
    """C06.14: D1 and D2 of the chain of six and of complete binary trees."""
    assert branching_of(CHAIN)[2:4] == (15, 35)
    found = {n: branching_of(parent)[2:4] for n, parent in BINARY.items()}
    assert found == {3: (2, 2), 7: (10, 14), 15: (34, 62), 31: (98, 222)}


@pytest.mark.parametrize("n", range(1, 13))
def test_dense_extremes(n):
    """C06.14, eq. 6.28: a chain has D1 = (n^2 - n)/2 and D2 = (n^3 - n)/6, a star has none of either."""
    chain, star = branching_of(tuple(range(-1, n - 1))), branching_of((-1,) * n)
    assert (chain.D1, chain.D2) == ((n * n - n) // 2, (n**3 - n) // 6)
    assert chain.density == 1.0 and (star.D0, star.D1, star.D2) == (0, 0, 0)
    assert star.nonzeros == n


@pytest.mark.parametrize("n", BINARY)
def test_entries_of_the_mass_matrix(n):
    """C06.08: of binary trees M has n + 2 D1 entries, exactly where the pattern says."""
    model = kt.models.binary_tree((n + 1).bit_length() - 1)
    assert np.count_nonzero(sparsity_pattern(BINARY[n])) == n + 2 * branching_of(BINARY[n]).D1
    with kt.interpreted():
        M = kt.crba(model, np.full(n, 0.3))
    assert np.array_equal(M != 0.0, model.mass_matrix_pattern())


@pytest.mark.parametrize("k", [7, 6, 5])
def test_first_steps_of_the_factorization(k):
    """C06.14, fig. 6.4: on rows 7, 6 and 5 two calculations of area 2 and three of area 3."""
    with_row, without = (tally(sparse.ltdl_factors, BINARY[7][:rows], "M") for rows in (k, k - 1))
    m, a, d, _ = np.subtract(with_row, without)
    assert (d, m, a) == (2, 3, 3)


def factorize_and_solve(parent) -> tuple[int, int]:
    """(m, a) of L^T D L and of the solution of one system, counted as it runs; a division counts as a product."""
    m, a, d, _ = np.add(tally(sparse.ltdl_factors, parent, "M"), tally(sparse.solve_ltdl, parent, "LDb"))
    return m + d, a


@pytest.mark.parametrize("n", range(1, 13))
def test_row_13_of_table_10_1(n):
    """C10.08: factorize and solve takes (n^3/6 + 3n^2/2 - 2n/3)m + (n^3/6 + n^2 - 7n/6)a on a chain; 86, 65 at 6."""
    m, a = factorize_and_solve(tuple(range(-1, n - 1)))
    assert (6 * m, 6 * a) == (n**3 + 9 * n**2 - 4 * n, n**3 + 6 * n**2 - 7 * n)
    if n == 6:
        assert (m, a) == (86, 65)


def test_factorize_and_solve_on_binary_trees():
    """C10.12: 17, 85, 309 and 965 operations for 3, 7, 15 and 31 bodies."""
    assert [sum(factorize_and_solve(parent)) for parent in BINARY.values()] == [17, 85, 309, 965]


# The composite-rigid-body algorithm on trees ------------------------------------------------------------------------


class Turned:
    """A joint about z on a general frame: three axial screws for inertias, a general transform for vectors."""

    def __init__(self, x):
        constant = AxialRotation(2, x(), x())
        _ = constant.products, constant.doubles
        rotation = GeneralRotation(Matrix3([[x(), x(), x()] for _ in range(3)]))
        self.screws = link(x), Transform(constant, Vector3(0.0, 0.0, Known()))
        self.single = Transform(rotation, vector(x))

    def inverse_apply(self, y):
        if y.__class__.__name__ == "Force":
            return self.single.inverse_apply(y)
        return self.screws[1].inverse_apply(self.screws[0].inverse_apply(y))


def listing(I, X, parent):
    """Table 10.2 for a tree, to the letter: every line counts in full, whatever the result needs of it."""
    H, Ic, at_root = [], list(I), []
    for i in reversed(range(len(I))):
        F, j = force(Counted), i
        while parent[j] >= 0:
            H.append(F.angular.z)
            F, j = X[j].inverse_apply(F), parent[j]
        at_root.append(F)
        if parent[i] >= 0:
            Ic[parent[i]] = Ic[parent[i]] + X[i].inverse_apply(Ic[i])
    return H, Ic, at_root


def counted(parent, links) -> tuple[int, int]:
    return count(lambda I, X: listing(I, X, parent), lambda x: [inertia(x) for _ in parent],
                 lambda x: [build(x) for build in links])  # fmt: skip


def test_costs_of_a_general_transform():
    """C10.12: rx = 47m + 48a for three axial screws, vx = 24m + 18a for a general transform."""
    to_parent = lambda X, y: X.inverse_apply(y)  # noqa: E731
    assert count(to_parent, Turned, inertia) == (47, 48)
    assert count(to_parent, Turned, force) == (24, 18)


@pytest.mark.parametrize("n", BINARY)
def test_composite_rigid_bodies_on_binary_trees(n):
    """C10.12, eq. 10.12: one child of each body on a frame of Denavit and Hartenberg, the other on a general one."""
    parent = BINARY[n]
    links = [link if k % 2 else Turned for k in range(n)]
    subtree = [sum(i == k or k in above for i, above in enumerate(ancestors_of(parent))) for k in range(n)]
    D0 = [sum(k % 2 == side for k in range(1, n)) for side in (1, 0)]
    D1 = [sum(subtree[k] for k in range(1, n) if k % 2 == side) for side in (1, 0)]
    assert (sum(D0), sum(D1)) == branching_of(parent)[1:3]
    m, a = counted(parent, links)
    assert m == 32 * D0[0] + 47 * D0[1] + 20 * D1[0] + 24 * D1[1]
    assert a == 43 * D0[0] + 58 * D0[1] + 12 * D1[0] + 18 * D1[1]
    assert m + a == {3: 254, 7: 910, 15: 2518, 31: 6326}[n]


@pytest.mark.parametrize("seed", range(6))
def test_cost_is_that_of_the_sums_of_depths(seed):
    """C10.12, eq. 10.6: D0 (ra + rx) + D1 vx on any tree of such links; a star costs nothing."""
    rng = np.random.default_rng(seed)
    parent = tuple(int(rng.integers(-1, k)) for k in range(9))
    _, D0, D1, _, d = branching_of(parent)
    assert counted(parent, [link] * 9) == (32 * D0 + 20 * D1, 43 * D0 + 12 * D1)
    assert D1 <= 9 * (d - 1)
    assert counted((-1,) * 9, [link] * 9) == (0, 0)


@pytest.mark.parametrize(("n", "total"), [(3, 585), (7, 2005), (15, 5229), (31, 12477)])
def test_forward_dynamics_of_binary_trees(n, total):
    """C10.12: the sum of rnea, crba and the factorization tracks aba on a binary tree (fig. 10.5)."""
    depth = (n + 1).bit_length() - 1
    parts = published_tree("rnea", depth), published_tree("crba", depth), sum(factorize_and_solve(BINARY[n]))
    assert sum(parts) == total
    assert 0.7 < total / published_tree("aba", depth) < 1.0


def test_crossovers():
    """C10.09, fig. 10.4: equal at n = 8, 1.64 times as dear at 18; crba is the largest part until 44."""

    def costs(n):
        rnea, crba = best("rnea", n).total(n), 16 * n**2 + 59 * n - 75
        return rnea, crba, sum(factorize_and_solve(tuple(range(-1, n - 1)))), best("aba", n).total(n)

    assert sum(costs(8)[:3]) == 2921 and costs(8)[3] == 2925
    assert sum(costs(9)[:3]) == 3539 and costs(9)[3] == 3354
    assert sum(costs(18)[:3]) == 11816 and costs(18)[3] == 7215
    assert round(11816 / 7215, 2) == 1.64
    assert costs(8)[:2] == (1184, 1421)
    assert all(costs(n)[1] > max(costs(n)[0], costs(n)[2]) for n in range(6, 45)) and costs(5)[0] > costs(5)[1]
    assert costs(18)[2] == 2721 < costs(18)[0] == 2924 and costs(19)[2] > costs(19)[0]
    assert costs(44)[1:3] == (33497, 33154) and costs(45)[1:3] == (34980, 35355)
