"""Columns of spatial vectors: every product is that of the matrices that they stand for."""

from __future__ import annotations

import numpy as np
import pytest

from kinetree.spatial import Columns, Force, Motion, PlanarForce, PlanarMotion, PlanarTransform, Transform
from tests.spatial import samples

RNG = np.random.default_rng(20)
TOLERANCE = 100.0 * np.finfo(float).eps  # sums of six products of numbers of order one


def matrix(S):
    """The matrix, shape (6, n)."""
    return np.array([list(column) for column in S]).reshape(len(S), -1).T


def close(found, expected):
    return np.allclose(found, expected, rtol=TOLERANCE, atol=TOLERANCE)


@pytest.mark.parametrize("n", [1, 3, 6])
def test_products_are_those_of_matrices(n):
    """``S x``, ``S^T f``, ``S^T U``, ``I S``, ``X S``, ``X^-1 S`` and ``v x S``."""
    S, U = (Columns([kind.of(RNG.standard_normal(6)) for _ in range(n)], kind) for kind in (Motion, Force))
    x, f, V = RNG.standard_normal(n), Force.of(RNG.standard_normal(6)), Motion.of(RNG.standard_normal(6))
    X, I = samples.transform(RNG), samples.inertia(RNG)
    assert close(list(S @ x), matrix(S) @ x)
    assert close(list(S.onto(V, x)), V.array() + matrix(S) @ x)
    assert close(S.T @ f, matrix(S).T @ f.array())
    assert close(S.T @ U, matrix(S).T @ matrix(U))
    assert close(matrix(I @ S), I.matrix() @ matrix(S))
    assert close(matrix(X @ S), X.matrix() @ matrix(S))
    assert close(matrix(X.inverse_apply(U)), X.matrix().T @ matrix(U))
    assert close(matrix(V.cross(S)), np.array([V.cross(column).array() for column in S]).T)
    assert close(matrix(-S * 2.0 + S - S[::-1]), -matrix(S) - matrix(S)[:, ::-1])
    assert (I @ S).kind is Force and (X @ S).kind is Motion


def test_vectors_of_a_joint_add_entry_by_entry():
    """Also to lists and arrays, from both sides, where a list would be lengthened."""
    S = Columns([Motion.of(RNG.standard_normal(6)) for _ in range(2)], Motion)
    f = Force.of(RNG.standard_normal(6))
    x = matrix(S).T @ f.array()
    u = S.T @ f
    for other in ([1.0, 2.0], (1.0, 2.0), np.array([1.0, 2.0])):
        assert close(u + other, x + [1.0, 2.0]) and close(other + u, x + [1.0, 2.0])
        assert close(u - other, x - [1.0, 2.0]) and close(other - u, [1.0, 2.0] - x)
    assert close(-u, -x)
    with pytest.raises(ValueError, match="argument 2 is shorter"):
        u + [1.0]


@pytest.mark.parametrize(
    ("motion", "force", "X"), [(Motion, Force, Transform), (PlanarMotion, PlanarForce, PlanarTransform)]
)
def test_a_matrix_without_columns_has_a_class(motion, force, X):
    """The subspace of a fixed joint gives the zero motion, and nothing to multiply forces with."""
    S = Columns([], motion)
    assert list(S @ []) == list(motion.zero())
    assert S.T @ force.zero() == ()
    assert (X.identity() @ S).kind is motion


def test_other_operands_are_refused():
    """A number or a list where vectors of the dual space belong."""
    S = Columns([Motion.of(RNG.standard_normal(6))], Motion)
    with pytest.raises(TypeError, match="has no meaning"):
        S.T @ Motion.zero()
    with pytest.raises(TypeError, match="has no meaning"):
        samples.inertia(RNG) @ (S.T @ Force.zero())
