"""Linear complementarity problems: solutions, infeasible ones, degenerate ones; C11.02, C11.03, C11.06."""

from __future__ import annotations

import numpy as np
import pytest

from kinetree.contact import solve_lcp
from kinetree.errors import ArgumentError, NonFiniteError, ShapeError

PIVOTING = ("lemke", "principal_pivoting")


def random_lcp(seed: int):
    """A semidefinite problem with fewer velocities than rows, whose d is in the range of M, and its normals."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 20))
    N = rng.normal(size=(n, int(rng.integers(1, n + 3))))
    N[rng.integers(n)] = N[rng.integers(n)]
    return N @ N.T, N @ rng.normal(size=N.shape[1]), N


def misfit(M, d, x):
    """The largest |min(x, w)|."""
    return np.abs(np.minimum(x, M @ x + d)).max()


@pytest.mark.seeds(20)
@pytest.mark.parametrize("method", PIVOTING)
def test_semidefinite_problems_are_solved(seed, method):
    """Complementarity to rounding, with rows that are there twice; every positive x has an independent column."""
    M, d, N = random_lcp(seed)
    found = solve_lcp(M, d, method)
    assert found.status == "solved"
    # eps times the condition of the chosen block, whose size is at most 20
    assert misfit(M, d, found.x) < 1e-10 * np.abs(d).max() and found.residual < 1e-10
    assert np.linalg.matrix_rank(N[found.x > 1e-9], tol=1e-8) == (found.x > 1e-9).sum()


@pytest.mark.seeds(20)
def test_velocities_and_joint_forces_are_unique_when_impulses_are_not(seed):
    """Methods may differ in x; N^T x and w agree (property 3 of eq. 11.42)."""
    M, d, N = random_lcp(seed)
    found = [solve_lcp(M, d, method) for method in PIVOTING]
    assert found[0].w == pytest.approx(found[1].w, abs=1e-9 * np.abs(d).max())
    assert N.T @ found[0].x == pytest.approx(N.T @ found[1].x, abs=1e-8)


@pytest.mark.parametrize("method", PIVOTING)
def test_a_slot_that_narrows_is_infeasible_exactly_if_the_sum_is_negative(method):
    """Example 11.1: n2 = -n1, M = m [[1, -1], [-1, 1]], so the sum of accelerations is d1 + d2 whatever the forces."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        m, d = np.exp(rng.normal()), rng.normal(size=2)
        if rng.random() < 0.3:
            d[1] = -d[0] + rng.choice([-1, 1]) * 10.0 ** rng.uniform(-9, -2)
        status = solve_lcp(m * np.array([[1, -1], [-1, 1]]), d, method).status
        assert status == ("infeasible" if d.sum() < 0 else "solved"), d


@pytest.mark.parametrize("method", PIVOTING)
def test_a_slot_of_the_same_width_is_degenerate_and_solved(method):
    """d1 + d2 = 0: infinitely many forces, one motion."""
    found = solve_lcp([[1.0, -1.0], [-1.0, 1.0]], [-0.3, 0.3], method)
    assert found.status == "solved" and found.w == pytest.approx([0.0, 0.0], abs=1e-15)


@pytest.mark.parametrize("method", PIVOTING)
def test_integer_problems_full_of_ties_end(method):
    """Degenerate vertices: entries from -2 to 2, most rows there several times; infeasible ones are agreed on."""
    rng = np.random.default_rng(1)
    seen = set()
    for _ in range(150):
        N = rng.integers(-2, 3, size=(12, 4)).astype(float)
        d = rng.integers(-1, 2, size=12).astype(float)
        found = solve_lcp(N @ N.T, d, method)
        feasible = separable(N, d)
        assert found.status == ("solved" if feasible else "infeasible")
        assert not feasible or misfit(N @ N.T, d, found.x) < 1e-10
        seen.add(feasible)
    assert seen == {True, False}


def separable(N, d) -> bool:
    """Whether some velocity change makes all entries of N v + d not negative, by linear programming."""
    from scipy.optimize import linprog

    return linprog(np.zeros(N.shape[1]), A_ub=-N, b_ub=d, bounds=(None, None)).status == 0


@pytest.mark.seeds(5)
def test_positive_principal_minors_suffice(seed):
    """A P matrix that is not symmetric: least-index pivots and Lemke find its only solution."""
    rng = np.random.default_rng(seed)
    skew = rng.normal(size=(8, 8))
    M, d = np.eye(8) + skew - skew.T, rng.normal(size=8)
    first, second = (solve_lcp(M, d, method) for method in PIVOTING)
    assert misfit(M, d, first.x) < 1e-12
    assert first.x == pytest.approx(second.x, abs=1e-12)


@pytest.mark.seeds(5)
def test_sweeps_agree_with_pivots(seed):
    """Projected Gauss-Seidel converges on a well-conditioned problem to the solution of the pivoting methods."""
    rng = np.random.default_rng(seed)
    N = rng.normal(size=(6, 30))
    M, d = N @ N.T, rng.normal(size=6)
    assert solve_lcp(M, d, "gauss_seidel").x == pytest.approx(solve_lcp(M, d).x, abs=1e-11)


def test_sweeps_report_that_they_did_not_end():
    """The infeasible slot has no status of its own for sweeps: they run out."""
    found = solve_lcp([[1.0, -1.0], [-1.0, 1.0]], [-1.0, 0.5], "gauss_seidel", iterations=50)
    assert (found.status, found.iterations) == ("iteration_limit", 50)


@pytest.mark.parametrize("method", PIVOTING)
def test_a_ray_of_an_indefinite_matrix_proves_nothing(method):
    """x = 2 solves -x + 2 = 0 and x = 0 solves it too; with d < 0 and M < 0 there is no solution, but no proof."""
    assert solve_lcp([[-1.0]], [-1.0], method).status == "failed"


@pytest.mark.parametrize("method", (*PIVOTING, "gauss_seidel"))
def test_resting_contacts_need_no_impulses(method):
    """d >= 0: x = 0."""
    found = solve_lcp(np.eye(2), [1.0, 0.0], method)
    assert found.status == "solved" and not found.x.any()


def test_scales_do_not_matter():
    """Grams and tonnes in one problem: x scales with the masses."""
    M, d, _ = random_lcp(3)
    s = 10.0 ** np.linspace(-4, 4, len(d))
    plain, scaled = solve_lcp(M, d), solve_lcp(M * np.outer(s, s), s * d)
    assert scaled.w / s == pytest.approx(plain.w, abs=1e-9)


@pytest.mark.parametrize(
    "M, d, error, text",
    [
        (np.eye(3), np.zeros(2), ShapeError, r"M has shape \(3, 3\), d \(2,\)"),
        ([[np.nan]], [1.0], NonFiniteError, "M contains NaN"),
        ([[1.0]], [np.inf], NonFiniteError, "d contains NaN or infinity"),
        ([[0.0]], [1.0], ArgumentError, "a matrix with positive diagonal"),
    ],
)
def test_wrong_problems_are_named(M, d, error, text):
    """Shapes, NaN, and a diagonal that sweeps cannot divide by."""
    with pytest.raises(error, match=text):
        solve_lcp(M, d, "gauss_seidel")
