"""Pyramids, the convex relaxation and staggered projections: what each keeps of Coulomb's law, and what not."""

from __future__ import annotations

import numpy as np
import pytest

from kinetree.contact import ContactProblem
from tests.contact.problems import KINDS, random_problem

ANGLES = 2.0 * np.pi * np.arange(16) / 16 + 0.1
TRUE_CONE = ("exact", "newton", "admm", "block_gauss_seidel", "projected_gauss_seidel", "staggered")


def pushed(angle: float, method: str, ratio: float):
    """A block of 2 kg, pushed sideways by a share of its weight in a step of 0.1 s, mu = 0.5."""
    b = 0.981 * np.array([ratio * 0.5 * np.cos(angle), ratio * 0.5 * np.sin(angle), -1.0])
    return ContactProblem(np.eye(3) / 2.0, b, 0.5).solve(method, tolerance=1e-13)


@pytest.mark.parametrize("method", TRUE_CONE)
def test_the_true_cone_is_isotropic(method):
    """A push of 1 % below mu times the weight moves nothing, 1 % above slides, in each of 16 directions."""
    for angle in ANGLES:
        still, moves = pushed(angle, method, 0.99), pushed(angle, method, 1.01)
        assert np.abs(still.velocities).max() < 1e-12
        speed = np.hypot(*moves.velocities[0, :2])
        assert speed == pytest.approx(0.01 * 0.5 * 0.981, rel=1e-9)


@pytest.mark.parametrize("method", ["lemke", "staggered_pyramid"])
def test_pyramids_have_weak_and_strong_directions(method):
    """Friction against fast slip over mu times the weight: with edges along t1 and t2 between 0.71 and 1, by boxes
    around the disk between 1 and 1.41; of the true cone it is 1 in every direction."""
    for angle in (*ANGLES, np.pi / 4):
        along = np.array([np.cos(angle), np.sin(angle)])
        shares = [-pushed(angle, name, 1e5).impulses[0, :2] @ along / (0.5 * 2.0 * 0.981) for name in (method, "exact")]
        expected = np.abs(along).max() if method == "lemke" else np.abs(along).sum()
        assert shares == pytest.approx([expected, 1.0], rel=1e-4)


@pytest.mark.parametrize("method", ["anitescu", "anitescu_pyramid"])
def test_the_relaxation_lifts_contacts_that_slide(method):
    """u_n = mu |u_t|, the price of convexity; sticking contacts are exact."""
    still, moves = pushed(0.0, method, 0.99), pushed(0.0, method, 3.0)
    assert np.abs(still.velocities).max() < 1e-12 and moves.status == "solved"
    (u1, _, un), (x1, x2, n) = moves.velocities[0], moves.impulses[0]
    assert un == pytest.approx(0.5 * u1, abs=1e-12) and u1 > 0.1
    assert (x1, x2) == pytest.approx((-0.5 * n, 0.0), abs=1e-12)


@pytest.mark.seeds(20)
@pytest.mark.parametrize("kind", KINDS)
def test_the_relaxation_always_has_a_solution(seed, kind):
    """Solved on all random problems: impulses in their cones, velocities in the dual ones, no power between them."""
    problem = random_problem(seed, kind)
    found = problem.solve("anitescu")
    assert found.status == "solved"
    x, u, mu = found.impulses, found.velocities, problem.friction
    size = np.abs(problem.free_velocity).max()
    assert (np.hypot(x[:, 0], x[:, 1]) <= mu * x[:, 2] + 1e-9).all()
    assert (mu * np.hypot(u[:, 0], u[:, 1]) <= u[:, 2] + 1e-9 * size).all()
    assert np.einsum("ni,ni->n", x, u) == pytest.approx(np.zeros(len(x)), abs=1e-7)


@pytest.mark.seeds(20)
@pytest.mark.parametrize("kind", KINDS)
def test_pyramids_by_lemke_are_always_solved(seed, kind):
    """Signorini's condition to rounding, and friction within the pyramid and against the slip."""
    problem = random_problem(seed, kind)
    for method in ("lemke", "anitescu_pyramid"):
        found = problem.solve(method)
        assert found.status == "solved"
        assert (np.abs(found.impulses[:, :2]).sum(axis=1) <= problem.friction * found.impulses[:, 2] + 1e-9).all()
        assert (np.einsum("ni,ni->n", found.impulses[:, :2], found.velocities[:, :2]) < 1e-8).all()
        assert found.residuals.complementarity < 1e-8 or method != "lemke"


@pytest.mark.seeds(5)
def test_staggered_projections_with_disks_solve_coulombs_law(seed):
    """With small friction the alternation has a limit, and that is the exact solution."""
    problem = random_problem(seed, "definite", most=5)
    problem = ContactProblem(problem.matrix, problem.free_velocity, 0.1 * problem.friction)
    found = problem.solve("staggered", tolerance=1e-11)
    assert found.status == "solved" and found.residuals.natural_map < 1e-8
    assert found.velocities == pytest.approx(problem.solve().velocities, abs=1e-7)


def test_a_warm_start_shortens_staggered_projections():
    """Friction of the last step as the start: fewer alternations for a problem that changed a little."""
    problem = random_problem(3, "definite", most=5)
    problem = ContactProblem(problem.matrix, problem.free_velocity, 0.3 * problem.friction)
    nearby = ContactProblem(problem.matrix, 1.0001 * problem.free_velocity, problem.friction)
    last, options = problem.solve("staggered"), dict(method="staggered", tolerance=1e-6)
    assert nearby.solve(warm_start=last, **options).iterations < nearby.solve(**options).iterations


@pytest.mark.parametrize("method", ["staggered", "staggered_pyramid", "lemke"])
def test_rows_join_the_other_methods(method):
    """A limit that pushes, an equation and dry friction beside a contact: the true law of the rows holds."""
    rng = np.random.default_rng(0)
    J = rng.normal(size=(6, 12))
    bounds = [(0.0, np.inf), (-0.1, 0.1), (-np.inf, np.inf)]
    problem = ContactProblem(J @ J.T, J @ rng.normal(size=12), 0.0, bounds=bounds)
    assert problem.solve(method).residuals.natural_map < 1e-9
