"""Quadratic programs of section 11.5, and cones by a conic library; with the package clarabel."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csc_matrix, triu

from kinetree.contact import ContactProblem, least_constraint, solve_lcp
from kinetree.errors import ArgumentError, NonFiniteError, ShapeError
from tests.contact.problems import KINDS, random_problem
from tests.contact.test_lcp import random_lcp

clarabel = pytest.importorskip("clarabel")

GAP = 1e-10
"""Of the conic programs: at 1e-12 Clarabel's iterates leave the solutions of some of them again ("AlmostSolved")."""


@pytest.mark.seeds(20)
@pytest.mark.parametrize("method", ["qp", "qp_complementarity"])
def test_programs_solve_the_complementarity_problem(seed, method):
    """Eq. 11.43 and the program of both conditions have the velocities and joint forces of Lemke's method."""
    M, d, N = random_lcp(seed)
    found, pivots = solve_lcp(M, d, method), solve_lcp(M, d)
    assert found.status == "solved"
    assert found.w == pytest.approx(pivots.w, abs=1e-7 * np.abs(d).max())
    assert N.T @ found.x == pytest.approx(N.T @ pivots.x, abs=1e-6)


@pytest.mark.seeds(20)
def test_least_constraint_gives_the_accelerations_of_the_forces(seed):
    """Eq. 11.44: a = a_0 + H^-1 T lambda with lambda of eq. 11.42; and the forces solve that problem."""
    rng = np.random.default_rng(seed)
    nv, n = int(rng.integers(2, 8)), int(rng.integers(1, 12))
    root, T, free = rng.normal(size=(nv, nv)), rng.normal(size=(nv, n)), rng.normal(size=nv)
    H, bias = root @ root.T + 0.1 * np.eye(nv), np.zeros(n)
    found = least_constraint(H, free, T, bias)
    M, d = T.T @ np.linalg.solve(H, T), T.T @ free
    lam = solve_lcp(M, d).x
    assert found.status == "solved"
    assert found.accelerations == pytest.approx(free + np.linalg.solve(H, T @ lam), abs=1e-7)
    assert np.abs(np.minimum(found.forces, M @ found.forces + d)).max() < 1e-7


@pytest.mark.parametrize(
    "test, seed, method",
    [
        (test_programs_solve_the_complementarity_problem, 24, ["qp_complementarity"]),
        (test_programs_solve_the_complementarity_problem, 66, ["qp_complementarity"]),
        (test_programs_solve_the_complementarity_problem, 167, ["qp"]),
        (test_least_constraint_gives_the_accelerations_of_the_forces, 27, []),
    ],
)
def test_programs_whose_iterates_leave_the_solution_again(test, seed, method):
    """Clarabel misses its smallest tolerance; in the last problem only a = 0 is allowed and forces have no bound."""
    test(seed, *method)


@pytest.mark.parametrize("method", ["qp", "qp_complementarity"])
def test_programs_find_the_slot_infeasible(method):
    """Example 11.1 by 11.43 (unbounded), by both conditions and by 11.44 (no point)."""
    M = np.array([[1.0, -1.0], [-1.0, 1.0]])
    for d, status in (([-1.0, 1.5], "solved"), ([-1.0, 0.5], "infeasible")):
        assert solve_lcp(M, d, method).status == status
        found = least_constraint([[1.0]], [0.0], [[1.0, -1.0]], d)
        assert found.status == status and np.isnan(found.accelerations).any() == (status == "infeasible")


def conic(problem: ContactProblem, shift=0.0) -> tuple[np.ndarray, float]:
    """Velocities of ``min x^T G x / 2 + x^T (b + shift n)`` over the cones, by second-order cones, and their error.

    Impulses whose goal is by g above the least one are off by e with ``e^T G e <= 2 g``.
    """
    n, N = problem.count, len(problem.matrix)
    q = problem.free_velocity.copy()
    q[2::3] += shift
    rows = np.zeros((N, N))
    for i, mu in enumerate(problem.friction):
        rows[3 * i, 3 * i + 2], rows[3 * i + 1, 3 * i], rows[3 * i + 2, 3 * i + 1] = -mu, -1.0, -1.0
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = GAP
    cones = [clarabel.SecondOrderConeT(3)] * n
    args = csc_matrix(triu(problem.matrix)), q, csc_matrix(rows), np.zeros(N), cones, settings
    found = clarabel.DefaultSolver(*args).solve()
    assert str(found.status) == "Solved"
    gap = GAP * max(1.0, abs(found.obj_val))
    return problem.matrix @ found.x + problem.free_velocity, np.sqrt(2.0 * gap * np.linalg.norm(problem.matrix, 2))


@pytest.mark.seeds(10)
@pytest.mark.parametrize("kind", KINDS)
def test_the_relaxation_is_the_conic_program(seed, kind):
    """The velocities of the convex relaxation, which are unique, are those of second-order cones."""
    problem = random_problem(seed, kind, most=6)
    found = problem.solve("anitescu")
    other, error = conic(problem)
    assert found.status == "solved"
    assert found.velocities.ravel() == pytest.approx(other, abs=error)


@pytest.mark.seeds(10)
def test_exact_solutions_are_fixed_points_of_conic_programs(seed):
    """De Saxcé: with normals shifted by mu |u_t| of the solution, the conic program has the solution's velocities."""
    problem = random_problem(seed, most=6)
    found = problem.solve("exact")
    shift = problem.friction * np.hypot(found.velocities[:, 0], found.velocities[:, 1])
    other, error = conic(problem, shift)
    assert found.velocities.ravel() == pytest.approx(other, abs=error)


@pytest.mark.parametrize(
    "change, error, text",
    [
        (dict(H=[[-1.0]]), ArgumentError, "a positive definite mass matrix"),
        (dict(T=[[1.0]]), ShapeError, r"T \(1, 1\), bias \(2,\), expected"),
        (dict(free=[np.nan]), NonFiniteError, "free contains NaN"),
    ],
)
def test_wrong_programs_are_named(change, error, text):
    """Mass matrices that are none, shapes, NaN."""
    right = dict(H=[[1.0]], free=[0.0], T=[[1.0, -1.0]], bias=[0.0, 0.0])
    with pytest.raises(error, match=text):
        least_constraint(**right | change)


def test_a_matrix_that_is_not_symmetric_has_no_first_form():
    """11.43 needs M = M^T; the message has the other form."""
    with pytest.raises(ArgumentError, match="qp_complementarity"):
        solve_lcp([[1.0, 0.5], [0.0, 1.0]], [1.0, 1.0], "qp")
