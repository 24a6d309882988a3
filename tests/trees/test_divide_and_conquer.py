"""The assembly tree and its depth, linear work on paths of logarithmic length, and levels that go at once."""

from __future__ import annotations

import math

import numpy as np
import pytest

import kinetree as kt
from kinetree.algorithms import divide_and_conquer as module
from kinetree.algorithms.assembly_tree import tree_of
from kinetree.algorithms.levels import each
from kinetree.algorithms.matrices import reflection, triangular_factor
from kinetree.algorithms.subassemblies import branches, pair
from tests.identities.systems import close, state


def chain(n):
    return tuple(range(-1, n))


def star(n):
    """One body with n others on it."""
    return (-1, 0, *[1] * n)


def caterpillar(n):
    """A chain of the odd bodies with an even body on each."""
    return (-1, *[k - 1 if k % 2 == 0 else max(k - 2, 0) for k in range(1, 2 * n + 1)])


def binary(depth):
    return (-1, *[i // 2 for i in range(1, 2**depth)])


def random_parents(n, rng):
    return (-1, *[int(rng.integers(max(0, k - 6), k)) for k in range(1, n + 1)])


# The assembly tree ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 8, 9, 31, 64, 65, 1000])
def test_depth_of_a_chain(n):
    """ceil(log2 n) levels, the least that pairs can do (Featherstone, section 7.5)."""
    assert tree_of(chain(n)).depth == math.ceil(math.log2(n))


@pytest.mark.parametrize("n", [1, 2, 7, 64, 1000])
def test_depth_of_a_star(n):
    """n branches are added pairwise, then the body that carries them is one more step, the longest branch another."""
    assert tree_of(star(n)).depth <= math.ceil(math.log2(n)) + 2


def test_depth_of_any_tree_is_logarithmic():
    """At most 2 log2 n + 3 levels: chains, stars, caterpillars, binary and random trees."""
    rng = np.random.default_rng(0)
    trees = [binary(9), caterpillar(300), star(200), *(random_parents(n, rng) for n in (20, 100, 500, 2000))]
    trees += [(-1, *[int(rng.integers(0, k)) for k in range(1, 800)])]
    for parent in trees:
        assert tree_of(parent).depth <= 2.0 * math.log2(len(parent) - 1) + 3.0


@pytest.mark.seeds(10)
def test_every_body_is_in_one_link_and_every_part_in_one_whole(seed):
    """Links cut the bodies into sets, nodes form trees, and parts come before wholes, on lower levels."""
    rng = np.random.default_rng(seed)
    tree = tree_of(random_parents(40, rng), lambda i: i % 5 == seed % 5)
    assert sorted(i for node in tree.nodes for i in node.bodies) == list(range(1, 41))
    used = [k for node in tree.nodes for k in node.parts if k >= 0]
    assert sorted([*used, *tree.roots]) == list(range(len(tree.nodes)))
    for k, node in enumerate(tree.nodes):
        assert all(part < k and tree.nodes[part].level < node.level for part in node.parts if part >= 0)
    assert sorted(k for level in tree.levels() for k in level) == list(range(len(tree.nodes)))
    assert max(node.level for node in tree.nodes) == tree.depth


# Work and length of paths --------------------------------------------------------------------------------------------


def longest_path(function) -> int:
    """Operations that must follow upon one another."""
    length = []
    for op, *arguments in function.program.code:
        free = op in ("const", "input", "param")
        length.append(0 if free else 1 + max(length[k] for k in arguments))
    return max(length)


@pytest.fixture(scope="module")
def compiled():
    """Operations and longest path of divide and conquer and of aba on chains of 4, 8, 16 and 32 joints."""
    found = {}
    for n in (4, 8, 16, 32):
        model = kt.models.chain_gu(n)
        for name in ("divide_and_conquer", "aba"):
            f = kt.compile(model, name)
            found[name, n] = f.operations.total, longest_path(f)
    return found


def test_work_grows_linearly(compiled):
    """From 16 to 32 joints, twice the work and a bit: subassemblies of the upper levels have all six freedoms."""
    (half, _), (whole, _) = compiled["divide_and_conquer", 16], compiled["divide_and_conquer", 32]
    assert 1.8 < whole / half < 2.6
    assert whole / 32 < 2200


def test_longest_path_grows_with_the_logarithm(compiled):
    """A doubling adds one level, at most 200 operations in a row; aba's path doubles."""
    paths = [compiled["divide_and_conquer", n][1] for n in (4, 8, 16, 32)]
    assert all(b - a <= 200 for a, b in zip(paths, paths[1:], strict=False))
    assert compiled["aba", 32][1] > 1.9 * compiled["aba", 16][1]
    assert paths[-1] < compiled["aba", 32][1] / 1.5


def test_a_level_goes_at_once(monkeypatch):
    """Within `interpreted` the number of calls is that of the levels and forms, not that of the bodies."""
    calls = []

    def counted(*parts):
        calls.append(1)
        return pair(*parts)

    monkeypatch.setattr(module, "pair", counted)
    counts = []
    for n in (16, 64):
        model = kt.models.chain_gu(n)
        q, v, _, tau = state(model, n)
        calls.clear()
        with kt.interpreted():
            close(kt.dynamics.divide_and_conquer(model, q, v, tau), kt.aba(model, q, v, tau), scale=1e3)
        counts.append(len(calls))
    assert counts[0] >= 4
    assert counts[1] - counts[0] <= 8  # two levels more, each in two or three forms


def test_batches_and_levels_go_together():
    """The axis of the members stands beside those of the batch."""
    model = kt.models.chain_gu(5)
    rng = np.random.default_rng(2)
    q, v, tau = rng.standard_normal((3, 4, 3, 5))
    with kt.interpreted():
        close(kt.dynamics.divide_and_conquer(model, q, v, tau), kt.aba(model, q, v, tau), scale=1e3)
        close(kt.dynamics.divide_and_conquer(model, q, v[0, 0], tau), kt.aba(model, q, v[0, 0], tau), scale=1e3)


# Building blocks -----------------------------------------------------------------------------------------------------


def subassembly(rng, rank):
    """An open subassembly with these freedoms at its outer handle, its J positive."""
    A, L, J = rng.standard_normal((6, 6)), rng.standard_normal((6, rank)), rng.standard_normal((6, 6))
    return A.tolist(), L.tolist(), (J @ J.T).tolist(), *rng.standard_normal((2, 6)).tolist()


@pytest.mark.parametrize("ranks", [(1, 1, 1), (2, 6, 3), (6, 6, 6), (0, 4, 6)])
def test_the_order_of_assembly_does_not_matter(ranks):
    """(a b) c = a (b c): the equations of the whole do not depend on which pair comes first."""
    rng = np.random.default_rng(sum(ranks))
    a, b, c = (subassembly(rng, rank) for rank in ranks)
    left, right = pair(pair(a, b)[0], c)[0], pair(a, pair(b, c)[0])[0]
    for k, (x, y) in enumerate(zip(left, right, strict=True)):
        x, y = np.array(x), np.array(y)
        x, y = (x @ x.T, y @ y.T) if k == 1 else (x, y)  # L is a root of the inverse inertia, L L^T counts
        close(x, y, scale=1e2)


def test_a_pair_solves_the_equations_of_its_parts():
    """The joined equations, against the two sets of equations with the inner acceleration and force eliminated."""
    rng = np.random.default_rng(4)
    first, second = subassembly(rng, 3), subassembly(rng, 6)
    (A1, L1, J1, b1, n1), (A2, L2, J2, b2, n2) = ([np.array(x) for x in part] for part in (first, second))
    a_0, f = rng.standard_normal((2, 6))
    # a_1 + C_1 f_1 = A_1 a_0 + b_1,  f_1 - J_2 a_1 = A_2^T f + eta_2
    system = np.block([[np.eye(6), L1 @ L1.T], [-J2, np.eye(6)]])
    inner = np.linalg.solve(system, np.concatenate([A1 @ a_0 + b1, A2.T @ f + n2]))
    a_1, f_1 = inner[:6], inner[6:]
    A, L, J, b, n = (np.array(x) for x in pair(first, second)[0])
    close(A @ a_0 - L @ L.T @ f + b, A2 @ a_1 - L2 @ L2.T @ f + b2, scale=1e2)
    close(J @ a_0 + A.T @ f + n, J1 @ a_0 + A1.T @ f_1 + n1, scale=1e2)


def test_branches_on_one_body_add():
    """Two complete branches need the sum of the forces."""
    assert branches(([[1.0]], [2.0]), ([[10.0]], [20.0])) == ([[11.0]], [22.0])


@pytest.mark.parametrize("rank", [0, 1, 3, 6])
def test_triangular_factor_of_any_rank(rank):
    """L L^T = N N^T with L lower triangular, without division by zero where N has not full rank."""
    rng = np.random.default_rng(rank)
    N = rng.standard_normal((6, rank)) @ rng.standard_normal((rank, 9))
    L = np.array(triangular_factor(N.tolist()))
    assert np.array_equal(L, np.tril(L))
    close(L @ L.T, N @ N.T, scale=10.0)


def test_reflection_of_nothing_is_nothing():
    """A vector of zeros has no direction; the reflection leaves everything as it is, in batches too."""
    x = np.array([[0.0, 0.0], [3.0, 0.0], [4.0, 0.0]])  # of two states, the second zero
    alpha, reflect = reflection(list(x))
    close(np.array(reflect(list(x))), [[alpha[0], 0.0], [0.0, 0.0], [0.0, 0.0]], ulps=10)
    close(abs(alpha), [5.0, 0.0], ulps=10)


def test_each_groups_members_by_form():
    """Members of different sizes are computed apart, results stand in the order of the members."""
    calls = []

    def double(x):
        calls.append(1)
        return [2.0 * entry for entry in x]

    assert each(double, [([1.0],), ([2.0, 3.0],), ([4.0],)]) == [[2.0], [4.0, 6.0], [8.0]]
    assert len(calls) == 2
