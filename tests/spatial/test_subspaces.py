"""Subspaces (Featherstone, section 3.3): decompositions, complements in the dual space, the split of forces.

Inventory C03.10 to C03.13.
"""

from __future__ import annotations

import numpy as np
import pytest

from kinetree.algorithms.force_basis import force_basis
from kinetree.errors import ModelError, ShapeError
from kinetree.joints import Cylindrical, Free, Helical, Planar, Prismatic, Revolute, Spherical, examples
from kinetree.spatial import Force, Motion
from kinetree.spatial.algebra import SPATIAL
from kinetree.spatial.screws import screw
from kinetree.spatial.subspaces import (
    apparent_inverse_inertia,
    complement,
    decompose,
    dimension,
    is_direct_sum,
    is_same,
    split_force,
)
from tests.spatial.samples import inertia, transform

EPS = np.finfo(float).eps
PAIRS = [(m, n) for n in (3, 6) for m in range(n + 1)]


@pytest.fixture
def rng():
    return np.random.default_rng(11)


def close(found, expected, ulps=1e3):
    """Equal to rounding; the systems solved here have conditions of some tens."""
    size = max(1.0, np.max(np.abs(expected), initial=0.0))
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=ulps * EPS * size)


@pytest.mark.parametrize(("m", "n"), PAIRS)
def test_basis_does_not_matter(rng, m, n):
    """C03.10: S and S A are one subspace; another basis has m^2 numbers, the subspace m (n - m)."""
    S, A = rng.standard_normal((n, m)), rng.standard_normal((m, m))
    assert dimension(S) == dimension(S @ A) == m
    assert is_same(S, S @ A)
    assert m in (0, n) or not is_same(S, rng.standard_normal((n, m)))
    if m:  # with ones in m rows, m (n - m) numbers are left that tell the subspace
        normal = S @ np.linalg.inv(S[:m])
        close((S @ A) @ np.linalg.inv((S @ A)[:m]), normal, ulps=1e6)
        assert np.count_nonzero((normal != 0.0) & (normal != 1.0)) >= m * (n - m)


@pytest.mark.parametrize("sizes", [(2, 4), (6, 0), (1, 2, 3), (1, 1, 1, 3)])
def test_components_in_a_direct_sum(rng, sizes):
    """C03.11, eq. 3.24-3.27: the components are in their subspaces, and their sum is the vector."""
    bases = [rng.standard_normal((6, size)) for size in sizes]
    v = rng.standard_normal(6)
    assert is_direct_sum(*bases)
    components = decompose(v, *bases)
    close(sum(components), v, ulps=1e5)
    for S, part in zip(bases, components, strict=True):
        assert dimension(np.hstack([S, part[:, None]]), tolerance=1e-8) == S.shape[1]


def test_components_do_not_depend_on_the_basis(rng):
    """C03.11: S A instead of S gives the same components."""
    S1, S2, v = rng.standard_normal((6, 2)), rng.standard_normal((6, 4)), rng.standard_normal(6)
    for found, expected in zip(
        decompose(v, S1 @ rng.standard_normal((2, 2)), S2 @ rng.standard_normal((4, 4))),
        decompose(v, S1, S2),
        strict=True,
    ):
        close(found, expected, ulps=1e6)


def test_what_is_no_direct_sum_is_refused(rng):
    """The message counts the columns, or says that the subspaces overlap."""
    S = rng.standard_normal((6, 2))
    with pytest.raises(ShapeError, match=r"2 \+ 2 columns, expected 6"):
        decompose(np.ones(6), S, S)
    with pytest.raises(ModelError, match="direction in common"):
        decompose(np.ones(6), S, np.hstack([S, rng.standard_normal((6, 2))]))
    with pytest.raises(ShapeError, match="its basis as columns"):
        complement(np.ones(6))


@pytest.mark.parametrize(("m", "n"), PAIRS)
def test_table_3_1(rng, m, n):
    """C03.12, table 3.1: dimensions add up; the complement of the complement; direct sums of S1 and S2's complement."""
    S1, S2 = rng.standard_normal((n, m)), rng.standard_normal((n, m))  # S1 in U, S2 in its dual V
    T1, T2 = complement(S1), complement(S2)  # T1 in V, T2 in U
    assert dimension(S1) + dimension(T1) == n
    close(T1.T @ S1, np.zeros((n - m, m)))
    assert is_same(complement(T1), S1)
    # S1 + complement of S2 is U if S1^T S2 is regular, and then complement of S1 + S2 is V.
    assert is_direct_sum(S1, T2) and is_direct_sum(T1, S2)
    if 0 < m < n:  # one direction of V that S1 does no work on
        singular = np.hstack([S2[:, : m - 1], T1[:, :1]])
        assert np.linalg.svd(S1.T @ singular, compute_uv=False)[-1] < 1e-14
        assert not is_direct_sum(S1, complement(singular)) and not is_direct_sum(T1, singular)
    if m:
        part = S1[:, : m // 2 + 1]  # what is orthogonal to a set is orthogonal to its parts
        close(T1.T @ part, np.zeros((n - m, part.shape[1])))


def test_complements_are_dual_and_not_euclidean(rng):
    """C03.12: the complement of X S is X* times that of S; X times it is in general no complement of anything."""
    X = transform(rng)
    S = Revolute((1, 2, 2)).motion_subspace([0.0])[0].array()[:, None]
    T = complement(S)
    assert is_same(complement(X.matrix() @ S), np.linalg.inv(X.matrix()).T @ T)
    assert not is_same(complement(X.matrix() @ S), X.matrix() @ T)


def test_vectors_have_no_magnitude():
    """C02.12: rotations and translations have magnitudes, each in its own unit; a motion or force as such has none."""
    for kind in (Motion, Force):
        assert not {"norm", "length", "magnitude", "__abs__"} & set(dir(kind))
    assert screw(Motion.of([0.0, 0.0, 2.0, 0.0, 0.0, 1.0])).magnitude == 2.0  # rad/s
    assert screw(Motion.of([0.0, 0.0, 0.0, 0.0, 3.0, 4.0])).magnitude == 5.0  # m/s
    assert screw(Force.of([0.0, 0.0, 0.0, 0.0, 3.0, 4.0])).magnitude == 5.0  # N
    assert screw(Force.of([0.0, 3.0, 4.0, 0.0, 0.0, 0.0])).magnitude == 5.0  # N m


TABLE_4_1 = {
    Revolute(): (0, 1, 3, 4, 5),
    Prismatic(): (0, 1, 2, 3, 4),
    Cylindrical(): (0, 1, 3, 4),
    Planar(): (0, 1, 5),
    Spherical(): (3, 4, 5),
    Free(): (),
}


@pytest.mark.parametrize("joint", TABLE_4_1, ids=lambda joint: joint.kind)
def test_constraint_forces_of_table_4_1(joint):
    """C04.12 to C04.18: the column T of table 4.1 is the complement of the column S, entry by entry."""
    S = np.array([s.array() for s in joint.motion_subspace(joint.neutral())], dtype=float).T
    np.testing.assert_array_equal(complement(S), np.eye(6)[:, list(TABLE_4_1[joint])])


def test_constraint_forces_of_the_helical_joint():
    """C04.14: e1, e2, e4, e5 and [0 0 -h 0 0 1]."""
    S = np.array([s.array() for s in Helical(pitch=0.25).motion_subspace([0.0])], dtype=float).T
    expected = np.eye(6)[:, [0, 1, 3, 4, 5]]
    expected[2, 4] = -0.25
    np.testing.assert_array_equal(complement(S), expected)


def test_complements_of_all_joints_are_those_of_the_algorithms(rng):
    """The T of `force_basis`, over scalars, spans the same constraint forces for every registered joint."""
    for label, joint in examples(rng):
        S = joint.motion_subspace(joint.random(rng))
        T = np.array([list(f) for f in force_basis(SPATIAL, S)[0]], dtype=float).reshape(-1, 6).T
        assert is_same(complement(np.array([s.array() for s in S], dtype=float).reshape(-1, 6).T), T, 1e-8), label


@pytest.mark.parametrize("m", range(7))
def test_split_of_a_force(rng, m):
    """C03.13, example 3.1, eq. 3.28: f_a in I S, f_c without work on S; no matter which basis; a = I^-1 f_a."""
    I, S, f = inertia(rng).matrix(), rng.standard_normal((6, m)), rng.standard_normal(6)
    f_a, f_c = split_force(I, S, f)
    close(f_a + f_c, f)
    close(S.T @ f_c, np.zeros(m), ulps=1e5)
    assert is_direct_sum(I @ S, complement(S))
    for found, expected in zip(decompose(f, I @ S, complement(S)), (f_a, f_c), strict=True):
        close(found, expected, ulps=1e6)
    close(split_force(I, S @ rng.standard_normal((m, m)), f)[0], f_a, ulps=1e7)
    close(np.linalg.solve(I, f_a), apparent_inverse_inertia(I, S) @ f, ulps=1e5)


@pytest.mark.parametrize("m", range(7))
def test_apparent_inverse_inertia(rng, m):
    """C03.20, eq. 3.54: symmetric, positive, of rank m; its range is S and its null space S's complement."""
    I, S = inertia(rng).matrix(), rng.standard_normal((6, m))
    Phi = apparent_inverse_inertia(I, S)
    close(Phi, Phi.T)
    assert np.linalg.eigvalsh(Phi).min() >= -1e-12
    assert dimension(Phi) == m and is_same(Phi, S, 1e-8)
    close(Phi @ complement(S), np.zeros((6, 6 - m)), ulps=1e5)
