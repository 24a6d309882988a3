"""The compact classes (tables A.3 to A.5) against plain matrices (tables A.1 and A.2), on generated operands.

Unlike normal random numbers, these are often zero, equal, tiny, large or along the axes, where the compact classes skip
work.
"""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from kinetree.spatial import (
    ArticulatedInertia,
    AxialRotation,
    Force,
    Inertia,
    Matrix3,
    Motion,
    PlanarArticulatedInertia,
    PlanarForce,
    PlanarInertia,
    PlanarMotion,
    PlanarTransform,
    Symmetric3,
    Transform,
    Vector2,
    Vector3,
)
from kinetree.spatial.dense import Xpln, crf, crm, mcI, rotx, roty, rotz, xlt
from kinetree.spatial.rotation import rotation_from_matrix

EPS = np.finfo(float).eps
often = settings(max_examples=60, deadline=None, derandomize=True)

numbers = st.one_of(st.sampled_from([0.0, 1.0, -1.0]), st.floats(-1e3, 1e3), st.floats(-1e-9, 1e-9))
angles = st.one_of(st.sampled_from([0.0, np.pi / 2, -np.pi / 2, np.pi]), st.floats(-4.0, 4.0), st.floats(-1e-7, 1e-7))


def listed(n):
    return st.lists(numbers, min_size=n, max_size=n)


three = listed(3).map(lambda x: Vector3(*x))
symmetric = listed(6).map(lambda x: Symmetric3(*x))
matrix = listed(9).map(lambda x: Matrix3([x[:3], x[3:6], x[6:]]))
motions, forces = listed(6).map(Motion.of), listed(6).map(Force.of)
inertias = st.builds(Inertia, numbers, three, symmetric)
articulated = st.builds(ArticulatedInertia, symmetric, matrix, symmetric)
DENSE_ROTATIONS = (rotx, roty, rotz)


@st.composite
def transforms(draw):
    """(X, its 6x6 matrix): up to three axial rotations, and an offset. The matrix is made by table A.2 alone."""
    dense, turns = np.eye(6), draw(st.lists(st.tuples(st.integers(0, 2), angles), max_size=3))
    for axis, angle in turns:
        dense = DENSE_ROTATIONS[axis](angle) @ dense
    r = draw(three)
    if len(turns) == 1:
        (axis, angle) = turns[0]
        E = AxialRotation(axis, float(np.cos(angle)), float(np.sin(angle)))
    else:
        E = rotation_from_matrix(dense[:3, :3])  # snaps residues below 1e-13
        dense[:3, :3] = dense[3:, 3:] = E.matrix.array()
    return Transform(E, r), dense @ xlt(list(r))


def same(found, expected, *factors):
    """Equal up to rounding, where sums of products of these factors may cancel."""
    size = np.prod([max(1.0, np.max(np.abs(factor))) for factor in factors])
    found, expected = np.asarray(found, dtype=float), np.asarray(expected, dtype=float)
    return bool(np.max(np.abs(found - expected)) <= 1e3 * EPS * size)


@often
@given(transforms(), motions, forces)
def test_vectors(X, m, f):
    """X m, X^-1 m, X* f, X^T f."""
    X, D = X
    back = X.inverse().matrix()
    assert same(D @ back, np.eye(6), D, D)
    assert same((X @ m).array(), D @ m.array(), D, m.array())
    assert same(X.inverse_apply(m).array(), back @ m.array(), D, m.array())
    assert same((X @ f).array(), back.T @ f.array(), D, f.array())
    assert same(X.inverse_apply(f).array(), D.T @ f.array(), D, f.array())


@often
@given(transforms(), transforms())
def test_products_of_transforms(X, Y):
    """X Y, X^-1 Y, and the force transform of a product."""
    (X, D), (Y, C) = X, Y
    assert same((X @ Y).matrix(), D @ C, D, C)
    assert same(X.inverse_apply(Y).matrix(), X.inverse().matrix() @ C, D, C)
    assert same((X @ Y).force_matrix(), X.force_matrix() @ Y.force_matrix(), D, C)


@often
@given(transforms(), inertias, articulated)
def test_inertias(X, I, IA):
    """X* I X^-1 and X^T I X, of rigid and articulated bodies."""
    X, D = X
    back = X.inverse().matrix()
    for J in (I, IA):
        A = J.matrix()
        assert same((X @ J).matrix(), back.T @ A @ back, D, A, D)
        assert same(X.inverse_apply(J).matrix(), D.T @ A @ D, D, A, D)


@often
@given(motions, motions, forces, inertias, articulated)
def test_products(v, m, f, I, IA):
    """v x m, v x* f, v . f, I v, and the sums of inertias."""
    assert same(v.cross(m).array(), crm(v.array()) @ m.array(), v.array(), m.array())
    assert same(v.cross(f).array(), crf(v.array()) @ f.array(), v.array(), f.array())
    assert same(v.dot(f), v.array() @ f.array(), v.array(), f.array())
    for J in (I, IA):
        assert same((J @ v).array(), J.matrix() @ v.array(), J.matrix(), v.array())
        assert same((J + IA).matrix(), J.matrix() + IA.matrix(), J.matrix() + IA.matrix())


@often
@given(numbers, three, symmetric)
def test_inertia_from_the_center_of_mass(m, c, I_c):
    """from_com is mcI."""
    expected = mcI(m, c.array(), I_c.array())
    assert same(Inertia.from_com(m, c, I_c).matrix(), expected, m, c.array(), c.array(), I_c.array())


@often
@given(articulated, forces, numbers)
def test_dyads_are_taken_away(IA, U, scale):
    """I^A - scale U U^T."""
    u = U.array()
    assert same(IA.minus_dyad(U, scale).matrix(), IA.matrix() - scale * np.outer(u, u), IA.matrix(), u, u, scale)


# The plane ---------------------------------------------------------------------------------------------------------

planar_motions, planar_forces = listed(3).map(PlanarMotion.of), listed(3).map(PlanarForce.of)


planar_points = listed(2).map(lambda x: Vector2(*x))
planar_inertias = st.builds(PlanarInertia, numbers, planar_points, numbers)
planar_articulated = st.builds(PlanarArticulatedInertia, st.tuples(numbers, numbers, numbers), planar_points, numbers)


@st.composite
def planar_transforms(draw):
    """(X, its 3x3 matrix by table A.1)."""
    angle, r = draw(angles), draw(planar_points)
    return PlanarTransform(float(np.cos(angle)), float(np.sin(angle)), r), Xpln(angle, list(r))


@often
@given(planar_transforms(), planar_motions, planar_forces, planar_motions)
def test_planar_vectors(X, m, f, v):
    """X m, X* f and back, v x m, v x* f."""
    X, D = X
    back = X.inverse().matrix()
    assert same(D @ back, np.eye(3), D, D)
    assert same((X @ m).array(), D @ m.array(), D, m.array())
    assert same(X.inverse_apply(m).array(), back @ m.array(), D, m.array())
    assert same((X @ f).array(), back.T @ f.array(), D, f.array())
    assert same(X.inverse_apply(f).array(), D.T @ f.array(), D, f.array())
    assert same(v.cross(m).array(), crm(v.array()) @ m.array(), v.array(), m.array())
    assert same(v.cross(f).array(), crf(v.array()) @ f.array(), v.array(), f.array())


@often
@given(planar_transforms(), planar_inertias, planar_articulated, planar_motions)
def test_planar_inertias(X, I, IA, v):
    """X* I X^-1, X^T I X and I v, of rigid and articulated bodies."""
    X, D = X
    back = X.inverse().matrix()
    for J in (I, IA):
        A = J.matrix()
        assert same((X @ J).matrix(), back.T @ A @ back, D, A, D)
        assert same(X.inverse_apply(J).matrix(), D.T @ A @ D, D, A, D)
        assert same((J @ v).array(), A @ v.array(), A, v.array())
