"""Stiffness and damping matrices of all forces: differences on the manifold, symmetry, definiteness."""

import numpy as np
import pytest

import kinetree as kt
from tests.forces.loaded import internal, joint_forces, tree
from tests.forces.test_elements import KINDS, Muscle, along, machine
from tests.identities.systems import close, state

dynamics = kt.dynamics


def slopes(model, q, v, method="exact", **given):
    """(K, D)"""
    return (f(model, q, v, method=method, **given) for f in (dynamics.stiffness_matrix, dynamics.damping_matrix))


def differences(model, q, v, h=2e-4, **given):
    """K and D by central differences of fourth order: in one batch all positions and velocities around the state."""
    steps = h * np.array([-2.0, -1.0, 1.0, 2.0])[:, None, None] * np.eye(model.nv)
    weights = np.array([1.0, -8.0, 8.0, -1.0]) / (12.0 * h)
    Q, V = np.broadcast_to(q, (*steps.shape[:-1], model.nq)), np.broadcast_to(v, steps.shape)
    by_q = joint_forces(model, kt.integrate(model, Q, steps), V, **given)
    by_v = joint_forces(model, Q, v + steps, **given)
    return (-np.einsum("s,sij->ji", weights, np.asarray(x)) for x in (by_q, by_v))


@pytest.mark.seeds(20)
def test_slopes_are_differences_of_the_forces(seed):
    """On random trees with every joint, joint forces without kinks and random elements: exact K and D, their parts."""
    model = tree(seed).replace(dry_friction=0.0)  # whose slope jumps near rest
    q, v, *_ = state(model, seed)
    given = internal(model, seed)
    with kt.interpreted():
        K, D = (np.asarray(A) for A in slopes(model, q, v, **given))
        both = (differences(model, q, v, h, **given) for h in (2e-4, 4e-4))
        for A, fine, coarse in zip((K, D), *both, strict=True):  # steep curves: as far as two steps agree
            assert np.all(np.abs(A - fine) <= 2e-7 * max(1.0, np.abs(A).max()) + 0.2 * np.abs(fine - coarse))
        for A, symmetric in zip((K, D), slopes(model, q, v, "symmetric", **given), strict=True):
            close(symmetric, 0.5 * (A + A.T))
        K_gn, D_gn = (np.asarray(A) for A in slopes(model, q, v, "gauss_newton", **given))
    close(K_gn, K_gn.T)
    close(D_gn, 0.5 * (D + D.T))  # dampers, laws over velocities: no approximation
    if all(element.passive for element in model.laws):
        assert np.linalg.eigvalsh(D_gn).min() > -1e-12 * max(1.0, np.abs(D_gn).max())


def test_the_symmetric_stiffness_is_the_hessian_of_the_energy():
    """At rest, where all forces have an energy: second differences of the energy along the manifold."""
    model = machine(kt.forces.Bushing).with_forces(kt.forces.PointSpring("s", "world", "b2", 20.0, 0.4))
    q, v, *_ = state(model, 3)
    K = dynamics.stiffness_matrix(model, q, 0.0 * v, method="symmetric")
    h, n = 1e-3, model.nv

    def energy(x):
        return dynamics.elastic_energy(model, kt.integrate(model, q, x))

    e = h * np.eye(n)
    hessian = [[(energy(a + b) - energy(a - b) - energy(b - a) + energy(-a - b)) / (4 * h * h) for b in e] for a in e]
    np.testing.assert_allclose(K, hessian, atol=1e-5 * np.abs(K).max())


@pytest.mark.parametrize("cls", [kt.forces.PointSpring, kt.forces.Bushing, kt.forces.BodyDamping, kt.forces.Drag])
def test_gauss_newton_slopes_of_passive_elements_are_positive_semidefinite(cls):
    """At any state, also under compression, where the exact K is indefinite."""
    model = machine(cls)
    for seed in range(5):
        q, v, *_ = state(model, seed)
        for A in slopes(model, q, v, "gauss_newton"):
            assert np.linalg.eigvalsh(A).min() > -1e-12 * max(1.0, np.abs(A).max())
    if cls is kt.forces.PointSpring:
        (spring,) = model.elements
        pressed = model.replace(forces=[spring._with({"rest_length": 9.0})])
        assert np.linalg.eigvalsh(dynamics.stiffness_matrix(pressed, q, 0 * v, method="symmetric")).min() < -1.0


def test_a_tension_that_falls_with_its_length_counts_as_constant():
    """A muscle beyond its optimal length has no negative Gauss-Newton stiffness."""
    model = machine(Muscle)
    (muscle,) = model.elements
    model = model.replace(forces=[muscle._with({"strength": -1.0})])
    q, v, *_ = state(model, 1)
    assert not np.any(dynamics.stiffness_matrix(model, q, v, method="gauss_newton"))
    assert np.any(dynamics.stiffness_matrix(model, q, v))


def test_they_are_compiled_batched_and_differentiated():
    """As interpreted; a batch as its states; derivatives of K by differences; other numbers; both in one function."""
    model = machine(kt.forces.Bushing).replace(damping=0.3)
    states = [state(model, seed)[:2] for seed in range(3)]
    q, v = (np.stack(x) for x in zip(*states, strict=True))
    for method in ("exact", "symmetric", "gauss_newton"):
        found = list(slopes(model, q, v, method))
        with kt.interpreted():
            for k, one in enumerate(states):
                for A, B in zip(found, slopes(model, *one, method), strict=True):
                    close(A[k], B)
    K = kt.compile(model, "stiffness_matrix", method="gauss_newton")
    names = ["stiffness_matrix:gauss_newton", "damping_matrix"]
    close(kt.compile(model, names)(q, v)[0], K(q, v))
    slope = kt.differentiate(model, "stiffness_matrix", wrt="q")(q[0], v[0])
    expected = along(model, lambda x: dynamics.stiffness_matrix(model, x, v[0]), q[0])
    np.testing.assert_allclose(slope, expected, atol=1e-6 * np.abs(expected).max())
    with pytest.raises(kt.errors.UnknownNameError, match="'hessian'.* exact, symmetric, gauss_newton"):
        dynamics.stiffness_matrix(model, q[0], v[0], method="hessian")


@pytest.mark.parametrize("cls", KINDS)
def test_every_kind_takes_part(cls):
    """K and D of a model are those of its element and of its joints together."""
    model = machine(cls)
    q, v, *_ = state(model, 2)
    both = model.replace(stiffness=0.7, damping=0.4)
    bare = both.replace(forces=[force for force in both.forces if force not in model.forces])
    with kt.interpreted():
        for A, B, C in zip(*(slopes(m, q, v) for m in (both, model, bare)), strict=True):
            close(A, np.asarray(B) + np.asarray(C))
