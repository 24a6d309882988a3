"""All bodies, then all constraints (Featherstone, section 3.7): a method for the accelerations that has no recursion.

Inventory C03.04, C03.05, C03.23, C06.15.
"""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.joints import Prismatic
from kinetree.spatial.dense import crf
from tests.identities.systems import close, state
from tests.trees.maximal import Bodies, Chord


@pytest.fixture(autouse=True)
def interpreted_source():
    with kt.interpreted():
        yield


def case(seed: int):
    """A random tree of all kinds of joints without armatures, a state, and external wrenches."""
    model = kt.models.random_tree(4 + seed % 5, seed=300 + seed, floating=seed % 3 == 0, armature=False)
    q, v, _, tau = state(model, seed)
    return model, q, v, tau, np.random.default_rng(seed).standard_normal((model.nb, 6))


def condition(matrix):
    """Condition number of a system, without the directions in which redundant constraints leave it singular."""
    values = np.linalg.svd(matrix, compute_uv=False)
    return values[0] / values[values > 1e-12 * values[0]][-1]


def scale(bodies, tau, found, chords=()):
    """Size of the forward error of a solution, in rounding units: condition number times the largest unknown.

    A backward-stable solution of n equations errs by at most a small multiple of n of these units; all systems here
    have 50 to 200 equations, which is where the 1e2 units of the comparisons come from.
    """
    unknowns = max(np.max(np.abs(x), initial=0.0) for x in (found.a, found.lam))
    return condition(bodies.system(tau, chords)[0]) * unknowns


@pytest.mark.seeds(12)
def test_four_ways_to_put_equations_together(seed):
    """C03.04: all bodies and all constraints; the tree's equation; body by body; in pairs: one acceleration."""
    model, q, v, tau, f_ext = case(seed)
    bodies = Bodies(model, q, v, f_ext)
    found = bodies.solve(tau)
    size = scale(bodies, tau, found)
    close(found.qdd, kt.dynamics.forward_dynamics_crba(model, q, v, tau, f_ext), scale=size, ulps=1e2)
    close(found.qdd, kt.aba(model, q, v, tau, f_ext), scale=size, ulps=1e2)
    close(found.qdd, kt.dynamics.divide_and_conquer(model, q, v, tau, f_ext), scale=size, ulps=1e2)


@pytest.mark.seeds(12)
def test_forces_through_the_joints(seed):
    """C03.17, C03.23, eq. 3.34-3.38: S^T f_J = tau, and f_J is what the bodies beyond the joint need to move so."""
    model, q, v, tau, f_ext = case(seed)
    bodies = Bodies(model, q, v, f_ext)
    found = bodies.solve(tau)
    size = scale(bodies, tau, found)
    for i in model.outward():
        close(bodies.S[i].T @ found.f_J[i - 1], tau[model.v_slice[i]], scale=size, ulps=1e2)
        close(bodies.T[i].T @ (bodies.V[i] - bodies.V[model.parent[i]]), np.zeros(6 - model.joints[i].nv), ulps=1e5)
        beyond = sum(bodies.I[k] @ found.a[k] + bodies.p[k] for k in model.subtree(i))
        close(found.f_J[i - 1], beyond, scale=size, ulps=1e2)


@pytest.mark.seeds(4)
def test_structure_of_the_system(seed):
    """C03.23: a column of P has one block per moving end; v_J = P^T v, f = P f_J; the matrix is regular, indefinite."""
    model, q, v, tau, _ = case(seed)
    bodies = Bodies(model, q, v)
    matrix, _, P, T, _ = bodies.system(tau)
    blocks = np.abs(P).reshape(model.nb - 1, 6, model.nb - 1, 6).sum(axis=(1, 3)) / 6
    assert blocks.sum(axis=0).tolist() == [1 + (model.parent[i] > 0) for i in model.outward()]
    V_J = (P.T @ bodies.V[1:].ravel()).reshape(-1, 6)
    for i in model.outward():
        close(V_J[i - 1], bodies.V[i] - bodies.V[model.parent[i]])
    constraints = sum(6 - model.joints[i].nv for i in model.outward())
    assert T.shape == (6 * (model.nb - 1), constraints)
    close(matrix, matrix.T)
    signs = np.sign(np.linalg.eigvalsh(matrix))
    assert (signs > 0).sum() == 6 * (model.nb - 1) and (signs < 0).sum() == constraints


@pytest.mark.seeds(6)
def test_separate_systems_stand_side_by_side(seed):
    """C03.05, eq. 3.10: the mass matrix of two robots in one world is block diagonal, and each moves by itself."""
    one, other = (kt.models.random_tree(3, seed=seed + shift, armature=False) for shift in (20, 40))
    both = kt.surgery.attach(one, other, at="world", prefix="other_")
    q1, v1, _, tau1 = state(one, seed)
    q2, v2, _, tau2 = state(other, seed + 1)
    q, v, tau = np.r_[q1, q2], np.r_[v1, v2], np.r_[tau1, tau2]
    M = kt.crba(both, q)
    assert not M[: one.nv, one.nv :].any()
    close(M[: one.nv, : one.nv], kt.crba(one, q1))
    expected = np.r_[kt.aba(one, q1, v1, tau1), kt.aba(other, q2, v2, tau2)]
    bodies = Bodies(both, q, v)
    found = bodies.solve(tau)
    close(found.qdd, expected, scale=scale(bodies, tau, found), ulps=1e2)


def chord(model, rng):
    """Two constraints on the body that most freedoms carry, or as many as it has freedoms."""
    freedoms = [sum(model.joints[j].nv for j in model.support(i) if j) for i in range(model.nb)]
    last = int(np.argmax(freedoms))
    return Chord(0, last, rng.standard_normal((6, min(2, freedoms[last]))))


def loop_terms(model, bodies, q, v, chords):
    """K and k of eq. 3.11 for chords, by Jacobians in world coordinates (eq. 8.15, 8.19)."""
    J = kt.kinematics.frame_jacobians(model, q, reference="world")
    bias = kt.kinematics.body_accelerations(model, q, v, np.zeros(model.nv), reference="world", kind="spatial")
    K = [c.T.T @ (J[c.s] - J[c.p]) for c in chords]
    k = [
        -c.T.T @ (bias[c.s] - bias[c.p]) - (crf(bodies.V[c.s]) @ c.T).T @ (bodies.V[c.s] - bodies.V[c.p])
        for c in chords
    ]
    return np.vstack(K), np.concatenate(k)


@pytest.mark.seeds(12)
def test_a_loop_in_maximal_coordinates_is_a_loop_on_the_spanning_tree(seed):
    """C03.04, C03.08, C03.23: eq. 3.74 with one joint more gives what eq. 3.17 gives with the tree's M, c, K and k."""
    rng = np.random.default_rng(seed)
    model, q, v, tau, f_ext = case(seed)
    bodies, chords = Bodies(model, q, v, f_ext), (chord(model, rng),)
    found = bodies.solve(tau, chords)
    K, k = loop_terms(model, bodies, q, v, chords)
    M, c = kt.crba(model, q), kt.bias_forces(model, q, v, f_ext)
    matrix, n = np.block([[M, K.T], [K, np.zeros((len(k), len(k)))]]), model.nv
    expected = np.linalg.solve(matrix, np.r_[tau - c, k])
    size = max(condition(matrix) * np.max(np.abs(expected)), scale(bodies, tau, found, chords))
    close(found.qdd, expected[:n], scale=size, ulps=1e2)
    close(found.lam[-len(k) :], -expected[n:], scale=size, ulps=1e2)


@pytest.mark.seeds(4)
def test_redundant_constraints_leave_the_motion_unique(seed):
    """C03.08, C03.23: a chord given twice makes the matrix singular; the motion is the same, its force is shared."""
    rng = np.random.default_rng(seed)
    model, q, v, tau, _ = case(seed)
    bodies, one = Bodies(model, q, v), chord(model, rng)
    single, double = bodies.solve(tau, (one,)), bodies.solve(tau, (one, one))
    matrix = bodies.system(tau, (one, one))[0]
    m = one.T.shape[1]
    assert np.linalg.matrix_rank(matrix, tol=1e-9) == len(matrix) - m
    size = scale(bodies, tau, double, (one, one))
    close(double.qdd, single.qdd, scale=size, ulps=1e2)
    close(double.lam[-2 * m : -m] + double.lam[-m:], single.lam[-m:], scale=size, ulps=1e2)


def test_two_rails_share_what_one_could_carry():
    """A sledge on two rails in one line: the shortest lambda lets both carry half of the weight and of its moment."""
    b = kt.ModelBuilder("sledge")
    b.add_body("sledge", joint=Prismatic((1, 0, 0)), mass=20.0, com=(0.4, 0.0, 0.0), inertia=(1.0, 1.0, 1.0))
    bodies = Bodies(b.build(), np.zeros(1), np.zeros(1))
    twice = bodies.solve(np.zeros(1), (Chord(0, 1, bodies.T[1]),))
    close(twice.qdd, np.zeros(1))
    close(twice.f_J[0], np.array([0.0, -0.4 * 20.0 * 9.81, 0.0, 0.0, 0.0, 20.0 * 9.81]) / 2, scale=100.0)
    close(twice.f_J[1], twice.f_J[0], scale=100.0)
