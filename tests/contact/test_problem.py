"""The contact problem with friction: laws, residuals, methods against each other, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.linalg import aslinearoperator

from kinetree.contact import METHODS, ContactProblem, natural_map
from kinetree.errors import ArgumentError, ContactError, NonFiniteError, ShapeError
from tests.contact.problems import KINDS, bodies_problem, random_problem

TRUE_CONE = ("exact", "admm", "block_gauss_seidel", "projected_gauss_seidel")


@pytest.mark.seeds(20)
@pytest.mark.parametrize("kind", KINDS)
def test_exact_solutions_have_residuals_of_rounding(seed, kind):
    """All four residuals below 1e-8; the free velocities are of the order of 1 to 100 m/s."""
    problem = random_problem(seed, kind)
    found = problem.solve("exact")
    assert found.status == "solved"
    assert max(found.residuals) < 1e-8


@pytest.mark.seeds(5)
def test_many_bodies_are_solved_exactly(seed):
    """40 contacts between 20 bodies, beyond the size at which pyramids are tried."""
    found = bodies_problem(seed).solve()
    assert found.status == "solved" and max(found.residuals) < 1e-10


@pytest.mark.sweep
def test_exact_solutions_of_ten_thousand_problems():
    """The same on 10,000 problems of all kinds, two minutes; docs/contact_solvers.md has the result."""
    worst = 0.0
    for seed in range(10_000):
        found = random_problem(seed).solve("exact")
        assert found.status == "solved", seed
        worst = max(worst, *found.residuals)
    assert worst < 1e-8


@pytest.mark.parametrize("kind", KINDS)
def test_residuals_are_those_of_the_law_itself(kind):
    """Signorini, Coulomb's disk and maximal dissipation, written out, at exact solutions."""
    for seed in range(10):
        problem = random_problem(seed, kind)
        found = problem.solve()
        for (x1, x2, n), (u1, u2, un), mu in zip(found.impulses, found.velocities, problem.friction, strict=True):
            slip, size = np.hypot(u1, u2), np.hypot(x1, x2)
            assert n >= -1e-9 and un >= -1e-9 and abs(n * un) < 1e-7
            assert size <= mu * n + 1e-8
            assert x1 * u1 + x2 * u2 == pytest.approx(-mu * n * slip, abs=1e-7)


@pytest.mark.parametrize("method", TRUE_CONE)
def test_methods_for_the_true_cone_agree(method):
    """Two blocks' worth of well separated contacts, where the solution is unique (small friction)."""
    rng = np.random.default_rng(4)
    J = rng.normal(size=(9, 30))
    problem = ContactProblem(J @ J.T, J @ rng.normal(size=30), 0.3)
    assert problem.solve(method, tolerance=1e-12).impulses == pytest.approx(problem.solve("exact").impulses, abs=1e-9)


@pytest.mark.parametrize("method", [name for name in METHODS if "anitescu" not in name])
def test_a_block_sticks_slides_or_leaves(method):
    """One free point of 2 kg: the closed solutions of the three states."""

    def solved(b):
        return ContactProblem(np.eye(3) / 2.0, b, 0.5).solve(method, tolerance=1e-13)

    assert solved([0.3, 0.4, 1.0]).impulses == pytest.approx(np.zeros((1, 3)))
    assert solved([0.3, 0.0, -1.0]).impulses == pytest.approx(np.array([[-0.6, 0.0, 2.0]]))
    slides = solved([3.0, 0.0, -1.0])
    assert slides.impulses == pytest.approx(np.array([[-1.0, 0.0, 2.0]]))
    assert slides.velocities[:, :2] == pytest.approx(np.array([[2.5, 0.0]]))


def test_restitution_returns_the_approach():
    """u_n = -e b_n, and a contact that separates is left alone."""
    found = ContactProblem(np.eye(6), [0, 0, -2.0, 0, 0, 1.0], 0.0, restitution=[0.5, 0.5]).solve()
    assert found.velocities[:, 2] == pytest.approx([1.0, 1.0])


def test_compliance_gives_way():
    """u_n + R lambda_n = 0: the impulse is b / (1/m + R), the velocity is not zero."""
    found = ContactProblem(np.eye(3), [0, 0, -1.0], 0.0, compliance=1.0).solve()
    assert found.impulses[0, 2] == pytest.approx(0.5) and found.velocities[0, 2] == pytest.approx(-0.5)
    assert found.residuals.natural_map < 1e-12


def test_bias_lets_a_gap_close():
    """With gap / dt = 0.4 m/s, an approach at 0.4 m/s is left."""
    found = ContactProblem(np.eye(3), [0, 0, -1.0], 0.0, bias=0.4).solve()
    assert found.velocities[0, 2] == pytest.approx(-0.4)


@pytest.mark.parametrize("method", TRUE_CONE)
def test_rows_with_bounds_join_the_contacts(method):
    """A limit, dry friction that holds, dry friction that slips, an equation: each in its own state."""
    G = np.eye(7)
    G[2, 3:] = G[3:, 2] = 0.1
    bounds = [(0.0, np.inf), (-9.0, 9.0), (-0.2, 0.2), (-np.inf, np.inf)]
    problem = ContactProblem(G, [0.1, 0, -1.0, -1.0, 0.5, 1.0, 2.0], 0.6, bounds=bounds)
    found = problem.solve(method, tolerance=1e-12)
    impulses, u = found.row_impulses, found.row_velocities
    assert found.residuals.natural_map < 1e-11
    assert u[[0, 1, 3]] == pytest.approx([0.0, 0.0, 0.0], abs=1e-11) and impulses[2] == -0.2 and u[2] > 0.5
    assert impulses[0] > 0.5


@pytest.mark.parametrize("form", [np.asarray, csr_array, lambda G: aslinearoperator(np.asarray(G))])
def test_the_delassus_matrix_may_be_sparse_or_an_operator(form):
    """The same solution from each form."""
    problem = random_problem(6)
    again = ContactProblem(form(problem.matrix), problem.free_velocity, problem.friction)
    assert again.solve().velocities == pytest.approx(problem.solve().velocities, abs=1e-9)


def test_warm_starts_end_at_once():
    """The solution as its own start needs no iteration of the exact method, one sweep of the others."""
    problem = random_problem(3)
    found = problem.solve(tolerance=1e-9)
    assert problem.solve(warm_start=found, tolerance=1e-5).iterations == 0
    assert problem.solve("block_gauss_seidel", warm_start=found.impulses, tolerance=1e-6).iterations == 1


def test_the_natural_map_takes_batches():
    """A batch of states of two contacts gives what each state gives; NaN stays NaN."""
    rng = np.random.default_rng(0)
    x, u = rng.normal(size=(2, 4, 5, 2, 3))
    all_at_once = natural_map(x, u, [0.3, 0.8], 2.0)
    assert all_at_once.shape == (4, 5, 2)
    assert all_at_once[2, 3, 1] == natural_map(x[2, 3, 1:], u[2, 3, 1:], 0.8, 2.0)[0]
    x[0, 0, 0, 1] = np.nan
    assert np.isnan(natural_map(x, u, 0.5)[0, 0, 0]) and np.isfinite(natural_map(x, u, 0.5)[1:]).all()


def test_the_natural_map_grows_with_the_error():
    """A velocity error of 1 mm/s at a sticking contact of mass m is 1 mm/s."""
    assert natural_map([[0.0, 0.0, 1.0]], [[1e-3, 0, 0]], 0.5, 0.5)[0] == pytest.approx(1e-3, rel=0.2)


def test_a_failed_solve_names_the_contact():
    """Two opposed walls that close in: no impulses help, and the message has the label and the reason."""
    G = np.zeros((6, 6))
    G[np.ix_([2, 5], [2, 5])] = [[1.0, -1.0], [-1.0, 1.0]]
    problem = ContactProblem(G, [0, 0, -1.0, 0, 0, 0.5], 0.0, labels=["wall and disc", "disc and other wall"])
    found = problem.solve()
    assert found.status == "infeasible"
    with pytest.raises(ContactError, match="no impulses separate the contacts. Worst at '.*wall.*': natural map") as e:
        found.require()
    assert e.value.contact in problem.labels and e.value.status == "infeasible"


@pytest.mark.parametrize("method", ["exact", "lemke", "anitescu", "anitescu_pyramid", "staggered"])
def test_contacts_that_nothing_can_separate_are_infeasible(method):
    """A closing slot with friction, and two immovable bodies that approach."""
    G = np.diag([1.0, 1.0, 0.0, 1.0, 1.0, 0.0])
    G[np.ix_([2, 5], [2, 5])] = [[1.0, -1.0], [-1.0, 1.0]]
    assert ContactProblem(G, [0.3, 0, -1.0, 0, 0.1, 0.5], 0.4).solve(method).status == "infeasible"
    assert ContactProblem(np.zeros((3, 3)), [0, 0, -1.0], 0.5).solve(method).status == "infeasible"


def test_too_few_iterations_are_reported():
    """A status, and an error only if one is asked for."""
    found = random_problem(5).solve("projected_gauss_seidel", iterations=1)
    assert found.status == "not_converged" and found.iterations == 1
    with pytest.raises(ContactError, match="did not converge"):
        found.require()


@pytest.mark.parametrize(
    "arguments, error, text",
    [
        (dict(friction=-0.1), ArgumentError, "friction is -0.1, expected values from 0"),
        (dict(friction=[0.1, 0.2]), ShapeError, r"friction has shape \(2,\), expected a number or \(1,\)"),
        (dict(restitution=1.5), ArgumentError, "restitution is 1.5, expected values from 0 to 1"),
        (dict(delassus=np.diag([1.0, 1.0, -1.0])), ArgumentError, "a diagonal entry is negative"),
        (dict(delassus=np.triu(np.ones((3, 3)))), ArgumentError, "a symmetric matrix"),
        (dict(delassus=np.eye(4), free_velocity=np.zeros(4)), ShapeError, "expected 3 for each contact"),
        (dict(free_velocity=[0.0, 0.0]), ShapeError, r"free_velocity has shape \(2,\)"),
        (dict(free_velocity=[0.0, 0.0, np.nan]), NonFiniteError, "free_velocity contains NaN"),
        (dict(labels=["a", "b"]), ArgumentError, "expected 1 names of contacts"),
        (dict(bounds=[(1.0, 0.0)]), ArgumentError, "lower impulses that are not above"),
    ],
)
def test_wrong_problems_are_named(arguments, error, text):
    """Each with the argument, the value and what was expected."""
    with pytest.raises(error, match=text):
        ContactProblem(**dict(delassus=np.eye(3), free_velocity=np.zeros(3), friction=0.5) | arguments)
