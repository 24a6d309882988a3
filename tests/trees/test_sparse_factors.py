"""Factorizations and products with the zeros of the tree: against dense algebra, at the cost that the book states."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.algorithms import sparse
from kinetree.algorithms.constrained import matrix_pays
from kinetree.algorithms.couplings import coupled_rows, coupling_columns
from kinetree.joints import Revolute
from kinetree.model.topology import ancestors_of, branching_of, filled_rows, sparsity_pattern
from tests.engines.pinocchio_bridge import Bridge, pinocchio_model
from tests.engines.robots import robot_path

ROUNDING = 1e-12  # sums of some dozen products, divided by pivots of well-conditioned matrices


def random_parents(rng, n: int) -> tuple[int, ...]:
    """A tree of n nodes that is neither a chain nor a star, several of them on the world."""
    return tuple(int(rng.integers(max(-1, k - 4), k)) for k in range(n))


def matrix_of(rng, parent) -> np.ndarray:
    """A symmetric, diagonally dominant matrix with the zeros of a tree."""
    M = np.where(sparsity_pattern(parent), rng.uniform(-1.0, 1.0, (len(parent),) * 2), 0.0)
    M = M + M.T
    return M + np.diag(np.abs(M).sum(axis=1) + 1.0)


def case(seed: int):
    """A tree, its ancestors, a matrix and a vector."""
    rng = np.random.default_rng(seed)
    parent = random_parents(rng, 9 + seed)
    return parent, ancestors_of(parent), matrix_of(rng, parent), rng.standard_normal(len(parent))


def poisoned(M, parent, diagonal: bool = False) -> np.ndarray:
    """M with NaN in the upper triangle and wherever the tree says zero."""
    keep = np.tril(sparsity_pattern(parent), -1 if diagonal else 0)
    return np.where(keep, M, np.nan)


@pytest.mark.seeds(8)
def test_factors_multiply_to_the_matrix_and_read_nothing_else(seed):
    """L^T L = M and L^T D L = M, though all entries that need not be read are NaN; L keeps the zeros of the tree."""
    parent, above, M, _ = case(seed)
    L = np.array(sparse.ltl_factors(poisoned(M, parent), above))
    np.testing.assert_allclose(L.T @ L, M, rtol=0.0, atol=ROUNDING)
    assert not np.any(L[~np.tril(sparsity_pattern(parent))])
    L, D = sparse.ltdl_factors(poisoned(M, parent), above)
    L = np.array(L)
    np.testing.assert_allclose(L.T @ np.diag(D) @ L, M, rtol=0.0, atol=ROUNDING)
    assert np.array_equal(np.diagonal(L), np.ones(len(M)))
    assert not np.any(L[~np.tril(sparsity_pattern(parent))])


@pytest.mark.seeds(8)
@pytest.mark.parametrize("unit", [False, True])
def test_products_and_solutions_are_those_of_dense_algebra(seed, unit):
    """L x, L^T x, L^-1 x, L^-T x, with a given and with a unit diagonal; x itself is left as it was."""
    parent, above, M, x = case(seed)
    L, before = poisoned(M, parent, diagonal=unit), x.copy()
    dense = np.tril(M, -1) + (np.eye(len(M)) if unit else np.diag(np.diagonal(M)))
    if unit:
        L, dense = L / 10.0, (dense - np.eye(len(M))) / 10.0 + np.eye(len(M))
    close = {"rtol": 0.0, "atol": ROUNDING}
    np.testing.assert_allclose(sparse.times_lower(L, x, above, unit), dense @ x, **close)
    np.testing.assert_allclose(sparse.times_lower_transpose(L, x, above, unit), dense.T @ x, **close)
    np.testing.assert_allclose(dense @ sparse.solve_lower(L, x, above, unit), x, **close)
    np.testing.assert_allclose(dense.T @ sparse.solve_lower_transpose(L, x, above, unit), x, **close)
    assert np.array_equal(x, before)


@pytest.mark.seeds(8)
def test_product_and_solution_with_the_matrix(seed):
    """M x from the lower triangle; both factorizations solve M x = b."""
    parent, above, M, b = case(seed)
    bad = poisoned(M, parent)
    np.testing.assert_allclose(sparse.times_symmetric(bad, b, above), M @ b, rtol=0.0, atol=ROUNDING)
    x = np.linalg.solve(M, b)
    np.testing.assert_allclose(sparse.solve_ltl(sparse.ltl_factors(bad, above), b, above), x, rtol=0.0, atol=ROUNDING)
    factors = sparse.ltdl_factors(bad, above)
    np.testing.assert_allclose(sparse.solve_ltdl(*factors, b, above), x, rtol=0.0, atol=ROUNDING)


def test_ordinary_cholesky_fills_what_ltl_leaves_zero():
    """On a branched tree L L^T has more entries than M; L^T L never has (section 6.4)."""
    parent = (-1, 0, 0, 1, 1, 2, 2)
    M = matrix_of(np.random.default_rng(0), parent)
    entries = branching_of(parent).n + branching_of(parent).D1
    assert np.count_nonzero(sparse.ltl_factors(M, ancestors_of(parent))) == entries == 17
    assert np.count_nonzero(np.linalg.cholesky(M)) > entries


def test_two_numberings_of_a_tree_are_permutations_of_each_other():
    """Fig. 6.2: the pattern follows the graph, not the numbers; a base with several children gives blocks."""
    depth_first, breadth_first = (-1, 0, 1, 0, 3), (-1, 0, 0, 1, 2)
    order = [0, 1, 3, 2, 4]  # node k of the first is node order[k] of the second
    permuted = sparsity_pattern(breadth_first)[np.ix_(order, order)]
    assert np.array_equal(sparsity_pattern(depth_first), permuted)
    assert np.array_equal(sparsity_pattern((-1, -1, -1)), np.eye(3, dtype=bool))
    assert sparsity_pattern((-1, 0, 1, 2)).all()
    two_legs = sparsity_pattern((-1, 0, -1, 2))
    assert not two_legs[:2, 2:].any() and two_legs[:2, :2].all() and two_legs[2:, 2:].all()


# As functions of a model ---------------------------------------------------------------------------------------------


@pytest.mark.seeds(20)
def test_factors_of_mass_matrices_of_random_trees(seed):
    """Joints of every kind: both factorizations give M, with entries only where the model's pattern has them."""
    model = kt.models.random_tree(7, seed=seed, floating=seed % 2 == 0)
    q = model.random_q(np.random.default_rng(seed))
    with kt.interpreted():
        M, L1, (L, D) = kt.crba(model, q), kt.sparse.ltl(model, q), kt.sparse.ltdl(model, q)
    atol = 1e-13 * max(1.0, np.abs(M).max())
    np.testing.assert_allclose(L1.T @ L1, M, rtol=0.0, atol=atol)
    np.testing.assert_allclose(L.T @ np.diag(D) @ L, M, rtol=0.0, atol=atol)
    pattern = model.mass_matrix_pattern()
    assert not np.any(M[~pattern]) and not np.any(L[~pattern]) and not np.any(L1[~pattern])
    np.testing.assert_allclose(np.sqrt(D)[:, None] * L, L1, rtol=0.0, atol=atol)


def test_one_factorization_serves_many_right_hand_sides_compiled():
    """A batch of right-hand sides shares one L, and a batch of factors one right-hand side."""
    model = kt.load("quadruped", floating_base=True)
    rng = np.random.default_rng(0)
    q = np.array([model.random_q(rng) for _ in range(5)])
    M, b = kt.crba(model, q), rng.standard_normal((6, model.nv))
    L, D = kt.sparse.ltdl(model, q)
    solved = kt.sparse.ltdl_solve(model, L[0], D[0], b)
    np.testing.assert_allclose(solved @ M[0], b, rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(
        kt.sparse.ltl_solve(model, kt.sparse.ltl(model, q), b[0]), kt.sparse.ltdl_solve(model, L, D, b[0]), atol=1e-9
    )
    np.testing.assert_allclose(kt.sparse.symmetric_product(model, M, b[0]), M @ b[0], atol=1e-12 * np.abs(M).max())
    y = kt.sparse.lower_product(model, L, b[0])
    np.testing.assert_allclose(y, L @ b[0], atol=1e-10)
    np.testing.assert_allclose(kt.sparse.lower_solve(model, L, y), np.broadcast_to(b[0], y.shape), atol=1e-9)
    y = kt.sparse.lower_transpose_product(model, L, b[0])
    np.testing.assert_allclose(y, np.swapaxes(L, -1, -2) @ b[0], atol=1e-10)
    np.testing.assert_allclose(kt.sparse.lower_transpose_solve(model, L, y), np.broadcast_to(b[0], y.shape), atol=1e-9)


def test_factors_of_a_matrix_beside_the_model():
    """M + h D of an implicit step has the tree's zeros; the lower triangle alone is read."""
    model = kt.load("quadruped", floating_base=True)
    M = kt.crba(model, model.neutral()) + np.diag(np.linspace(0.1, 1.0, model.nv))
    L, D = kt.sparse.ltdl_factorize(model, np.tril(M))
    np.testing.assert_allclose(L.T @ np.diag(D) @ L, M, rtol=0.0, atol=1e-12)
    L = kt.sparse.ltl_factorize(model, np.tril(M))
    np.testing.assert_allclose(L.T @ L, M, rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("robot", ["ur5", "anymal_b"])
def test_factors_are_those_of_pinocchio(robot):
    """Pinocchio's M = U D U^T eliminates from the leaves too: U = L^T, D = D, for the same numbering of the joints."""
    import pinocchio as pin

    file = robot_path(robot)
    model, pin_model = kt.load(file, inertia="accept"), pinocchio_model(file)
    bridge = Bridge(model, pin_model)
    q = bridge.random_state(np.random.default_rng(1), (1,))[0][0]
    data = bridge.data
    pin.crba(pin_model, data, bridge.q_to_pin(q))
    pin.cholesky.decompose(pin_model, data)
    order = bridge._pin_of_v
    L, D = kt.sparse.ltdl(model, q)
    np.testing.assert_allclose(L, np.triu(data.U)[np.ix_(order, order)].T, rtol=0.0, atol=1e-11)
    np.testing.assert_allclose(D, data.D[order], rtol=1e-11)


# What it costs ------------------------------------------------------------------------------------------------------


class Tally:
    """A number that counts the operations done with it."""

    __slots__ = ("counts",)

    def __init__(self, counts):
        self.counts = counts

    def _done(self, what):
        self.counts[what] = self.counts.get(what, 0) + 1
        return self

    def __mul__(self, other):
        return self._done("m")

    def __add__(self, other):
        return self._done("a")

    def __truediv__(self, other):
        return self._done("d")

    def sqrt(self):
        return self._done("sqrt")

    def absolute(self):  # the check of the pivots, which the table does not count
        return self

    def __le__(self, other):
        return False

    __rmul__, __radd__, __sub__, __rsub__ = __mul__, __add__, __add__, __add__


def tally(routine, parent, operands: str, **options) -> tuple[int, int, int, int]:
    """(m, a, d, sqrt) of a routine on matrices (upper case letters) and vectors of unknowns."""
    counts, n = {}, len(parent)
    x = Tally(counts)
    unknowns = [[[x] * n for _ in range(n)] if name.isupper() and name != "D" else [x] * n for name in operands]
    routine(*unknowns, ancestors_of(parent), **options)
    return tuple(counts.get(what, 0) for what in ("m", "a", "d", "sqrt"))


@pytest.mark.seeds(8)
def test_costs_of_table_6_6(seed):
    """Every routine takes exactly the operations that table 6.6 states, on random trees."""
    parent, _, _, _ = case(seed)
    n, _, D1, D2, _ = branching_of(parent)
    assert tally(sparse.ltl_factors, parent, "M") == (D2, D2, D1, n)
    assert tally(sparse.ltdl_factors, parent, "M") == (D2, D2, D1, 0)
    assert tally(sparse.solve_ltl, parent, "Lb") == (2 * D1, 2 * D1, 2 * n, 0)
    assert tally(sparse.solve_ltdl, parent, "LDb") == (2 * D1, 2 * D1, n, 0)
    for times in (sparse.times_lower, sparse.times_lower_transpose):
        assert tally(times, parent, "Lx") == (n + D1, D1, 0, 0)
        assert tally(times, parent, "Lx", unit=True) == (D1, D1, 0, 0)
    for solve in (sparse.solve_lower, sparse.solve_lower_transpose):
        assert tally(solve, parent, "Lb") == (D1, D1, n, 0)
        assert tally(solve, parent, "Lb", unit=True) == (D1, D1, 0, 0)
    assert tally(sparse.times_symmetric, parent, "Mx") == (n + 2 * D1, 2 * D1, 0, 0)


@pytest.mark.seeds(8)
def test_bounds_of_the_costs(seed):
    """D1 <= n (d - 1), D2 <= n d (d - 1) / 2, and at most what a full matrix takes (eq. 6.28-6.29)."""
    n, D0, D1, D2, d = branching_of(case(seed)[0])
    assert 0 <= D0 <= n - 1
    assert D1 <= min(n * (d - 1), (n * n - n) // 2)
    assert D2 <= min(n * d * (d - 1) // 2, (n**3 - n) // 6)


def test_compiled_routines_cost_the_same():
    """Of a model with branches the compiled solve takes n divisions and 2 D1 (m + a), and no other entry."""
    model = kt.models.binary_tree(4)
    n, _, D1, D2, _ = model.branching()
    found = kt.compile(model, "ltdl_solve").operations
    assert (found.multiplications, found.additions, found.divisions) == (2 * D1, 2 * D1, n)
    found = kt.compile(model, "ltdl_factorize").operations
    assert found.additions == D2
    # Divisions by one pivot share its reciprocal; the check multiplies the diagonal by its tolerance.
    assert found.multiplications + found.divisions <= D1 + D2 + 2 * n
    assert found.divisions <= n


# Where the library solves with M ------------------------------------------------------------------------------------


def hand():
    """A wrist with four fingers of three joints; the last joint of each follows the one before it."""
    rng, b = np.random.default_rng(0), kt.ModelBuilder("hand")

    def link(name, parent):
        place = (tuple(rng.uniform(-1.0, 1.0, 3)), tuple(rng.uniform(-0.2, 0.2, 3)))
        b.add_body(name, parent, Revolute(), f"j_{name}", (place[1], place[0]), mass=1.0, inertia=(0.02, 0.03, 0.04))

    link("palm", "world")
    for f in "abcd":
        for k in range(3):
            link(f"{f}{k}", f"{f}{k - 1}" if k else "palm")
        b.add_coupling(f"j_{f}2", f"j_{f}1", 0.7)
    return b.build()


def test_coupled_systems_keep_the_zeros_of_the_tree():
    """The fingers of a hand meet in the palm alone: 12 entries below the diagonal of the independent system, not 36."""
    model = hand()
    with kt.interpreted():
        M = kt.crba(model, np.full(model.nv, 0.3)).tolist()
    above = coupled_rows(M, sorted(coupling_columns(model), key=lambda rows: min(k for k, _ in rows)))
    assert [len(row) for row in above] == [0] + [1, 2] * 4
    assert sum(map(len, above)) == 12 < 9 * 8 // 2


def test_couplings_between_branches_fill_no_more_than_they_must():
    """Two fingers that are coupled to each other: rows are filled along the path, and the answer is the dense one."""
    rows = [(), (0,), (0,), (1,), (2, 3)]  # 3 and 4 are coupled across the branches 1 and 2
    above = filled_rows(rows)
    assert above == ((), (0,), (1, 0), (2, 1), (3, 2))
    rng, n = np.random.default_rng(3), len(rows)
    M = np.eye(n) * 5.0
    for k, row in enumerate(rows):
        for i in row:
            M[k, i] = M[i, k] = rng.uniform(-1.0, 1.0)
    b = rng.standard_normal(n)
    x = sparse.solve_ltdl(*sparse.ltdl_factors(M, above), b, above)
    np.testing.assert_allclose(x, np.linalg.solve(M, b), rtol=0.0, atol=ROUNDING)


FEWER = {
    "arm": (kt.models.chain_gu(6), True),
    "long arm": (kt.models.chain_gu(9), False),
    "branches": (kt.models.binary_tree(3), True),
    "planar arm": (kt.models.zigzag_arm(6), False),
    "star": (kt.models.star(5), False),
}


@pytest.mark.parametrize("name", FEWER)
def test_forward_dynamics_takes_the_cheaper_method(name):
    """Complete forward dynamics takes no more operations than articulated bodies, nor than the mass matrix."""
    model, pays = FEWER[name]
    assert matrix_pays(model) == matrix_pays(model.reframed()) == pays
    count = {f: kt.compile(model, f).operations.total for f in ("forward_dynamics", "aba", "forward_dynamics_crba")}
    assert count["forward_dynamics"] == min(count["aba"], count["forward_dynamics_crba"])
