"""M^-1: the matrix, products with it, and the factorization for many right-hand sides."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

import kinetree as kt
from kinetree.algorithms.articulated_factorization import articulated_factorization, articulated_solve
from kinetree.algorithms.crba import crba
from kinetree.algorithms.inverse_mass import inverse_mass_matrix, inverse_mass_product
from kinetree.errors import ShapeError
from tests.engines.pinocchio_bridge import Bridge, pinocchio_model
from tests.engines.robots import robot_path
from tests.identities.systems import close
from tests.identities.test_planar import mechanism


@pytest.fixture
def interpreted_source():
    with kt.interpreted():
        yield


def case(seed: int):
    """A random tree of all kinds of joints, three positions, right-hand sides and terms for the diagonal."""
    model, rng = kt.models.random_tree(8, seed=500 + seed, floating=seed % 3 == 0), np.random.default_rng(seed)
    q = np.array([model.random_q(rng) for _ in range(3)])
    return model, q, rng.standard_normal((3, model.nv)), rng.uniform(0.1, 1.0, (3, model.nv))


def solves(A, y, x):
    """A y = x to the accuracy of a solve: its residual is small next to |A| |y|."""
    residual = np.einsum("...ij,...j->...i", A, y) - x
    size = np.max(np.abs(A)) * np.max(np.abs(y))
    assert np.max(np.abs(residual)) <= 1e3 * np.finfo(float).eps * size


def diagonals(d):
    return d[..., None] * np.eye(d.shape[-1])


@pytest.mark.seeds(20)
@pytest.mark.usefixtures("interpreted_source")
def test_product_solves_with_the_mass_matrix(seed):
    """M y = x and (M + diag(d)) y = x, against a dense M by composite bodies."""
    model, q, x, d = case(seed)
    M = kt.crba(model, q)
    solves(M, kt.dynamics.inverse_mass_product(model, q, x), x)
    solves(M + diagonals(d), kt.dynamics.inverse_mass_product(model, q, x, d), x)


@pytest.mark.seeds(20)
@pytest.mark.usefixtures("interpreted_source")
def test_matrix_is_the_inverse(seed):
    """M^-1 M = 1, exactly symmetric, with terms on the diagonal too; the same as the derivative of aba."""
    model, q, x, d = case(seed)
    M = kt.crba(model, q)
    scale = np.max(np.linalg.cond(M))
    for inverse, A in (
        (kt.dynamics.inverse_mass_matrix(model, q), M),
        (kt.dynamics.inverse_mass_matrix(model, q, d), M + diagonals(d)),
    ):
        close(inverse @ A, np.broadcast_to(np.eye(model.nv), A.shape), scale=scale, ulps=1e3)
        assert np.array_equal(inverse, inverse.transpose(0, 2, 1))
    found = kt.aba_derivatives(model, q[0], np.zeros(model.nv), x[0]).da_dtau
    close(kt.dynamics.inverse_mass_matrix(model, q[0]), found, ulps=1e3)


@pytest.mark.seeds(20)
@pytest.mark.usefixtures("interpreted_source")
def test_factorization_solves_as_the_product(seed):
    """One factorization at each position, with and without terms on the diagonal; D gives the determinant."""
    model, q, x, d = case(seed)
    scale = np.max(np.linalg.cond(kt.crba(model, q)))
    for diagonal in (None, d):
        factorization = kt.dynamics.factorize(model, q, diagonal)
        expected = (
            kt.dynamics.inverse_mass_product(model, q, x)
            if diagonal is None
            else kt.dynamics.inverse_mass_product(model, q, x, d)
        )
        close(factorization.solve(x), expected, scale=scale, ulps=1e2)
    log_det = np.linalg.slogdet(kt.crba(model, q))[1]
    close(kt.dynamics.factorize(model, q).log_determinant(), log_det, scale=scale, ulps=1e2)


def test_many_right_hand_sides_compiled():
    """A floating robot: m right-hand sides for each of a batch of positions, any number for a single one."""
    model, rng = kt.load("quadruped", floating_base=True), np.random.default_rng(0)
    q = np.array([model.random_q(rng) for _ in range(4)])
    x = rng.standard_normal((4, 7, model.nv))
    M = kt.crba(model, q)
    y = kt.dynamics.factorize(model, q).solve(x)
    solves(M[:, None], y, x)
    one = kt.dynamics.factorize(model, q[0])
    solves(M[0], one.solve(x), x)  # leading axes of the right-hand sides alone
    solves(M[0], one.solve(x[0, 0]), x[0, 0])
    close(one.solve(x)[0], y[0], scale=np.linalg.cond(M[0]), ulps=1e2)


def test_single_precision_and_out():
    """float32 gives float32, out takes the result."""
    model = kt.load("arm7")
    q = model.random_q(np.random.default_rng(1)).astype(np.float32)
    factorization, x = kt.dynamics.factorize(model, q), np.ones(model.nv, np.float32)
    y = factorization.solve(x)
    assert y.dtype == np.float32
    out = np.empty(model.nv, np.float32)
    assert factorization.solve(x, out=out) is out
    assert np.array_equal(out, y)


def test_right_hand_sides_of_another_batch_are_refused():
    """Four right-hand sides do not belong to three positions."""
    model = kt.models.double_pendulum()
    factorization = kt.dynamics.factorize(model, np.zeros((3, 2)))
    with pytest.raises(ShapeError, match=r"x has shape \(4, 2\), expected \(3, 2\) or \(3, 'm', 2\).*double_pendulum"):
        factorization.solve(np.zeros((4, 2)))


@pytest.mark.parametrize("floating", [False, True])
def test_inverse_against_pinocchio(floating):
    """computeMinverse on Talos, whose mass matrix has a condition of 1e6."""
    file = robot_path("talos_reduced")
    model = kt.load(file, floating_base=floating, inertia="accept")
    bridge = Bridge(model, pinocchio_model(file, floating))
    q, *_ = bridge.random_state(np.random.default_rng(7), (3,))
    with kt.interpreted():
        found = kt.dynamics.inverse_mass_matrix(model, q)
    for found_k, q_k in zip(found, q, strict=True):
        expected = bridge.symmetric_from_pin(pin.computeMinverse(bridge.pin_model, bridge.data, bridge.q_to_pin(q_k)))
        assert np.max(np.abs(found_k - expected)) <= 1e-10 * np.max(np.abs(expected))


@pytest.mark.seeds(5)
def test_planar_models(seed):
    """The planar algebra gives the same answers."""
    model, planar, q, _, x, _ = mechanism(seed)
    M = np.array(crba(model, q))
    y = inverse_mass_product(planar, q, x)
    solves(M, np.array(y), np.array(x))
    close(articulated_solve(planar, *articulated_factorization(planar, q), x), y, scale=np.linalg.cond(M))
    close(np.array(inverse_mass_matrix(planar, q)) @ M, np.eye(model.nv), scale=np.linalg.cond(M))


# An implicit step (Sueda, algorithm 10) ------------------------------------------------------------------------------


def test_a_linearly_implicit_step_of_springs_and_dampers():
    """(M + h D - h^2 K) y = x for joints with damping d and stiffness k, K = -k: the dense solve."""
    model, h = kt.models.n_pendulum(6), 0.01
    rng = np.random.default_rng(3)
    q, x = rng.standard_normal((2, 6))
    d, k = rng.uniform(0.1, 2.0, (2, 6))
    y = kt.dynamics.factorize(model, q, h * d + h * h * k).solve(x)
    solves(kt.crba(model, q) + np.diag(h * d + h * h * k), y, x)


@pytest.mark.seeds(4)
def test_terms_of_the_bodies(seed):
    """M + J^T blkdiag(B) J + diag(d), with bodies on dampers and springs in the world: the dense solve."""
    model, planar, q, _, x, _ = mechanism(seed)
    rng = np.random.default_rng(seed)
    roots = rng.standard_normal((model.nb, 6, 6))
    B, d = roots @ roots.transpose(0, 2, 1), rng.uniform(0.1, 2.0, model.nv)
    with kt.interpreted():
        y = kt.dynamics.factorize(model, q, d, B).solve(x)
        J = kt.kinematics.frame_jacobians(model, q, reference="local")[: model.nb]
        solves(kt.crba(model, q) + np.einsum("bri,brs,bsj->ij", J, B, J) + np.diag(d), y, x)
        skew = np.tril(np.ones((6, 6))) - np.triu(np.ones((6, 6)))
        assert np.allclose(kt.dynamics.factorize(model, q, d, B + skew).solve(x), y, rtol=1e-12)  # has no effect
        B_planar = B[:, 2:5, 2:5]
        y = kt.dynamics.factorize(planar, q, d, B_planar).solve(x)
        J = kt.kinematics.frame_jacobians(planar, q, reference="local")[: planar.nb]
        solves(kt.crba(planar, q) + np.einsum("bri,brs,bsj->ij", J, B_planar, J) + np.diag(d), y, x)


def test_preconditioned_conjugate_gradients_on_a_stiff_chain():
    """A spring across all joints has no diagonal term; with the rest as preconditioner CG ends soon all the same."""
    n, h = 20, 0.01
    model, rng = kt.models.chain_gu(n), np.random.default_rng(5)
    q, x = rng.standard_normal((2, n))
    stiff = 10.0 ** rng.uniform(0.0, 6.0, n)
    loop = np.outer(g := rng.standard_normal(n), g) * 1e3
    A = kt.crba(model, q) + h * h * (np.diag(stiff) + loop)
    precondition = kt.dynamics.factorize(model, q, h * h * stiff).solve
    plain, assisted = (iterations(A, x, P) for P in (np.copy, precondition))
    assert assisted <= 4  # the rest is of rank one: two eigenvalues
    assert plain > 3 * assisted


def iterations(A, b, precondition, tolerance=1e-10):
    """How many steps conjugate gradients take."""
    y, r = np.zeros_like(b), b.copy()
    z = precondition(r)
    p, rz = z.copy(), r @ z
    for k in range(1, 1000):
        Ap = A @ p
        alpha = rz / (p @ Ap)
        y, r = y + alpha * p, r - alpha * Ap
        if np.linalg.norm(r) <= tolerance * np.linalg.norm(b):
            return k
        z = precondition(r)
        rz, before = r @ z, rz
        p = z + p * (rz / before)
    return 1000


# Work ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["inverse_mass_product", "articulated_factorization", "articulated_solve"])
def test_cost_is_linear(name):
    """A joint more costs the same everywhere in a chain."""
    counts = [kt.compile(kt.models.chain_gu(n), name).operations.total for n in (8, 16, 24, 32)]
    steps = np.diff(counts)
    assert np.max(np.abs(steps - steps.mean())) <= 0.02 * steps.mean()


def test_a_solution_costs_a_fraction_of_a_product():
    """With the factors at hand: a quarter of what inverse_mass_product takes."""
    model = kt.models.chain_gu(30)
    product, solve = (kt.compile(model, n).operations.total for n in ("inverse_mass_product", "articulated_solve"))
    assert solve < 0.3 * product


def test_the_inverse_costs_no_more_than_its_part_of_the_derivatives():
    """Less than aba_derivatives, of which it is one third of the results and no patterns of forces."""
    model = kt.models.chain_gu(8)
    inverse, all_three = (kt.compile(model, n).operations.total for n in ("inverse_mass_matrix", "aba_derivatives"))
    assert inverse < all_three / 3
