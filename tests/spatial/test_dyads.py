"""Dyads and the tensors that are sums of them (Featherstone, sections 2.1, 2.10, 2.13 and tables 2.4, 2.5)."""

import numpy as np
import pytest

from kinetree.joints.dual import Dual, rate_of
from kinetree.spatial import ArticulatedInertia, Force, Matrix3, Motion, Symmetric3, Transform, Vector3
from kinetree.spatial.dense import crf, crm, dyadic

from . import samples
from .samples import close

RNG = np.random.default_rng(28)
KINDS = [(Motion, Force), (Force, Motion), (Force, Force), (Motion, Motion)]  # of the left and the right vectors
SYMMETRIC = [(Force, Force), (Motion, Motion)]


def vectors(kind, n):
    return [kind.of(row) for row in RNG.normal(size=(n, 6))]


def in_other_coordinates(X, kinds, L):
    """The laws of table 2.5: similarity for M -> M and F -> F, congruence for M -> F and F -> M."""
    to, dual_of_from = kinds
    there, back = X.matrix(), np.linalg.inv(X.matrix())
    left = there if to is Motion else back.T
    right = back if dual_of_from is Force else there.T
    return left @ L @ right


@pytest.mark.parametrize("kinds", KINDS)
def test_a_tensor_acts_by_scalar_products(kinds):
    """L x = sum a_i (b_i . x): b_i is dual to what the tensor acts on."""
    a, b = vectors(kinds[0], 3), vectors(kinds[1], 3)
    x = (Motion if kinds[1] is Force else Force).of(RNG.normal(size=6))
    expected = sum((a_i * b_i.dot(x) for a_i, b_i in zip(a, b, strict=True)), start=kinds[0].zero())
    assert close(dyadic(a, b) @ x.array(), expected)


@pytest.mark.parametrize("r", range(1, 8))
def test_rank_is_the_number_of_independent_dyads(r):
    """Regular if and only if there are six of them; a seventh adds nothing."""
    L = dyadic(vectors(Force, r), vectors(Force, r))
    assert np.linalg.matrix_rank(L) == min(r, 6)
    assert (np.linalg.cond(L) < 1e6) == (r >= 6)


def test_dyads_that_share_a_side_are_not_independent():
    """a b. + a c. = a (b + c). is one dyad."""
    a, (b, c) = vectors(Motion, 1)[0], vectors(Force, 2)
    assert np.linalg.matrix_rank(dyadic([a, a], [b, c])) == 1
    assert close(dyadic([a, a], [b, c]), dyadic([a], [b + c]))


def test_inverse_by_reciprocal_vectors():
    """(sum a_i b_i .)^-1 = sum d_i c_i ., where d is reciprocal to b and c to a (section 2.1)."""
    a, b = ([kind.of(row) for row in RNG.normal(size=(6, 6)) + 4.0 * np.eye(6)] for kind in (Force, Force))
    c, d = ([Motion.of(column) for column in np.linalg.inv(np.array([x.array() for x in side])).T] for side in (a, b))
    assert close(dyadic(d, c) @ dyadic(a, b), np.eye(6), k=1e4)  # condition of about a hundred


@pytest.mark.parametrize("kinds", KINDS)
def test_tensors_are_transformed_with_their_vectors(kinds):
    """X acts on every dyad's vectors: the four laws of table 2.5 follow, and the rank stays."""
    X, a, b = samples.transform(RNG), vectors(kinds[0], 4), vectors(kinds[1], 4)
    L = dyadic(a, b)
    there = dyadic([X @ x for x in a], [X @ x for x in b])
    assert close(there, in_other_coordinates(X, kinds, L), k=2e3)
    assert np.linalg.matrix_rank(there) == np.linalg.matrix_rank(L) == 4


@pytest.mark.parametrize("kinds", KINDS)
def test_eigenvalues_are_kept_by_similarity_only(kinds):
    """M -> M and F -> F keep them; M -> F and F -> M do not (table 2.5)."""
    X, L = samples.transform(RNG), dyadic(vectors(kinds[0], 6), vectors(kinds[1], 6))
    here, there = (np.poly(A) for A in (L, in_other_coordinates(X, kinds, L)))  # smooth where eigenvalues coincide
    kept = np.allclose(here, there, rtol=1e-9, atol=1e-9 * np.max(np.abs(here)))
    assert kept == (kinds not in SYMMETRIC)


@pytest.mark.parametrize("kinds", KINDS)
def test_symmetry_and_definiteness_are_kept_by_congruence_only(kinds):
    """M -> F and F -> M keep them; M -> M and F -> F do not (table 2.5)."""
    root = RNG.normal(size=(6, 6))
    there = in_other_coordinates(samples.transform(RNG), kinds, root @ root.T + np.eye(6))
    symmetric = close(there, there.T, k=2e3)
    assert symmetric == (kinds in SYMMETRIC)
    assert not symmetric or np.all(np.linalg.eigvalsh(there) > 0.0)


def test_signature_is_kept_by_congruence():
    """An indefinite F -> M tensor keeps its numbers of positive, zero and negative directions (Sylvester)."""
    a = vectors(Motion, 4)
    signs = [1.0, 1.0, -1.0, -1.0]
    Phi = dyadic([x * s for x, s in zip(a, signs, strict=True)], a)
    values = np.linalg.eigvalsh(in_other_coordinates(samples.transform(RNG), (Motion, Motion), Phi))
    small = 1e-9 * np.max(np.abs(values))
    assert [np.sum(values > small), np.sum(values < -small), np.sum(np.abs(values) <= small)] == [2, 2, 2]


def test_the_four_kinds_in_use():
    """v x maps M to M, v x* F to F, an inertia M to F, its inverse F to M: each follows the law of its kind."""
    X, v, I = samples.transform(RNG), samples.motion(RNG), samples.inertia(RNG)
    moved = X @ v, X @ I
    assert close(in_other_coordinates(X, (Motion, Force), crm(v.array())), crm(moved[0].array()), k=2e3)
    assert close(in_other_coordinates(X, (Force, Motion), crf(v.array())), crf(moved[0].array()), k=2e3)
    assert close(in_other_coordinates(X, (Force, Force), I.matrix()), moved[1].matrix(), k=2e3)
    Phi, moved_Phi = np.linalg.inv(I.matrix()), np.linalg.inv(moved[1].matrix())
    assert close(in_other_coordinates(X, (Motion, Motion), Phi), moved_Phi, k=1e5)  # condition of some hundred


# Inertia as six dyads (eq. 2.64) ---------------------------------------------------------------------------------


def six_dyads(I):
    """The columns g_i of Cholesky's factor: forces with I = sum g_i g_i ."""
    return [Force.of(column) for column in np.linalg.cholesky(I.matrix()).T]


def test_inertia_is_a_sum_of_six_symmetric_dyads():
    """I = sum g_i g_i. , in any coordinates; taking all of them away leaves nothing (eq. 2.64)."""
    I, X = samples.inertia(RNG), samples.transform(RNG)
    g = six_dyads(I)
    assert close(dyadic(g, g), I.matrix())
    moved = [X @ g_i for g_i in g]
    assert close(dyadic(moved, moved), (X @ I).matrix(), k=2e3)
    rest = ArticulatedInertia.of(I)
    for g_i in g:
        rest = rest.minus_dyad(g_i, 1.0)
    assert np.max(np.abs(rest.matrix())) < 1e-13 * np.max(np.abs(I.matrix()))


def test_kinetic_energy_is_a_sum_of_squares():
    """T = 1/2 sum (g_i . v)^2."""
    I, v = samples.inertia(RNG), samples.motion(RNG)
    assert np.isclose(I.kinetic_energy(v), sum(g.dot(v) ** 2 for g in six_dyads(I)) / 2.0, rtol=1e-12)


def test_inertia_moves_with_its_dyads():
    """g_i' = v x* g_i gives I' = v x* I - I v x (eq. 2.65)."""
    I, v = samples.inertia(RNG), samples.motion(RNG)
    g = six_dyads(I)
    rates = [v.cross(g_i) for g_i in g]
    expected = crf(v.array()) @ I.matrix() - I.matrix() @ crm(v.array())
    assert close(dyadic(rates, g) + dyadic(g, rates), expected, k=2e3)


# Product rules of table 2.4 --------------------------------------------------------------------------------------


def moving(values, rates):
    return [Dual(x, dx) for x, dx in zip(values, rates, strict=True)]


def rates(entries):
    return np.array([rate_of(x) for x in entries])


@pytest.mark.parametrize("kinds", KINDS)
def test_product_rule_of_a_dyad(kinds):
    """d(a b.) = da b. + a db. (table 2.4)."""
    (a, da), (b, db) = vectors(kinds[0], 2), vectors(kinds[1], 2)
    found = rates(x * y for x in moving(a, da) for y in moving(b, db)).reshape(6, 6)
    assert close(found, dyadic([da, a], [b, db]))


def test_product_rule_of_a_three_dimensional_dyad():
    """d(a b^T) = da b^T + a db^T."""
    a, da, b, db = (samples.vector(RNG) for _ in range(4))
    dyad = Vector3(*moving(a, da)).outer(Vector3(*moving(b, db)))
    assert close(rates(x for row in dyad.rows for x in row).reshape(3, 3), da.outer(b) + a.outer(db))


def test_product_rule_of_matrix_times_vector():
    """d(M x) = dM x + M dx in three dimensions, d(L v) = dL v + L dv in six, d(X v) = dX v + X dv (table 2.4)."""
    M, dM, x, dx = samples.matrix(RNG), samples.matrix(RNG), samples.vector(RNG), samples.vector(RNG)
    changing = Matrix3([moving(row, drow) for row, drow in zip(M.rows, dM.rows, strict=True)])
    assert close(rates(changing @ Vector3(*moving(x, dx))), dM @ x + M @ dx)

    L, dL, v, dv = samples.articulated(RNG), samples.articulated(RNG), samples.motion(RNG), samples.motion(RNG)
    blocks = [
        Symmetric3(*moving(L.M, dL.M)),
        Matrix3([moving(row, drow) for row, drow in zip(L.H.rows, dL.H.rows, strict=True)]),
        Symmetric3(*moving(L.I, dL.I)),
    ]
    assert close(rates(ArticulatedInertia(*blocks) @ Motion.of(moving(v, dv))), dL @ v + L @ dv)

    E, r, dr = samples.rotation(RNG), samples.vector(RNG), samples.vector(RNG)
    translating = Transform(E, Vector3(*moving(r, dr)))
    X, dX = Transform(E, r), Transform(E, dr).matrix() - Transform(E, Vector3.zero()).matrix()
    assert close(rates(translating @ Motion.of(moving(v, dv))), dX @ v.array() + (X @ dv).array())
