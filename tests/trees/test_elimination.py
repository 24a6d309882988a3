"""The elimination of a joint from an articulated body, against its formulae on matrices."""

from __future__ import annotations

import numpy as np
import pytest

from kinetree.algorithms.elimination import Eliminated
from kinetree.spatial import ArticulatedInertia, Columns, Force, Motion
from tests.spatial import samples

SIZES = pytest.mark.parametrize("n", [0, 1, 3, 6])
TOLERANCE = 1e4 * np.finfo(float).eps  # some hundred products, divided by pivots of a well-conditioned D


def close(found, expected):
    return np.allclose(found, expected, rtol=0.0, atol=TOLERANCE * max(1.0, np.max(np.abs(expected), initial=0.0)))


def inertia(rng):
    """A body with something hung on it: a rigid inertia and a dyad, positive definite."""
    return ArticulatedInertia.of(samples.inertia(rng)).minus_dyad(samples.force(rng), -0.5)


def body(n: int, diagonal):
    """A joint of n freedoms that moves a body, random; S as a matrix and I^A as a matrix."""
    rng = np.random.default_rng(n)
    S = Columns([Motion.of(rng.standard_normal(6)) for _ in range(n)], Motion)
    IA = inertia(rng)
    return Eliminated(IA, S, diagonal, [1.0] * n), np.array([list(column) for column in S]).reshape(n, 6).T, IA.matrix()


@SIZES
@pytest.mark.parametrize("armature", [0.0, 0.3])
def test_formulae_of_table_7_1(n, armature):
    """``I^a = I^A - U D^-1 U^T``, ``p^a = p^A + U D^-1 u``, ``qdd = D^-1 (u - U^T a')``."""
    joint, S, IA = body(n, [armature] * n)
    rng = np.random.default_rng(7)
    U, D_inv = IA @ S, np.linalg.inv(S.T @ IA @ S + armature * np.eye(n))
    u, p, A = rng.standard_normal(n), rng.standard_normal(6), rng.standard_normal(6)
    assert close(joint.inertia().matrix(), IA - U @ D_inv @ U.T)
    assert close(list(joint.force(Force.of(p), u.tolist())), p + U @ D_inv @ u)
    assert close(joint.acceleration(u.tolist(), Motion.of(A)), D_inv @ (u - U.T @ A))


@SIZES
def test_what_the_joint_moves_freely_has_no_inertia(n):
    """Without armature I^a maps S to zero, and ``S^T p^a = tau`` for u = tau - S^T p^A."""
    joint, S, _ = body(n, [0.0] * n)
    rng = np.random.default_rng(8)
    tau, p = rng.standard_normal(n), rng.standard_normal(6)
    assert close(joint.inertia().matrix() @ S, np.zeros((6, n)))
    pa = joint.force(Force.of(p), (tau - S.T @ p).tolist())
    assert close(S.T @ list(pa), tau)


def test_rows_along_a_coordinate_are_structural_zeros():
    """About z, nothing of I^a is about z; with armature something is."""
    S, IA = Columns([Motion.of([0.0, 0.0, 1.0, 0.0, 0.0, 0.0])], Motion), inertia(np.random.default_rng(9))
    bare, armed = (Eliminated(IA, S, [x], [1.0]).inertia() for x in (0.0, 0.1))
    assert isinstance(bare, ArticulatedInertia)
    assert [bare.I.xz, bare.I.yz, bare.I.zz, *bare.H.rows[2]] == [0.0] * 6
    assert abs(armed.I.zz) > 1e-3
