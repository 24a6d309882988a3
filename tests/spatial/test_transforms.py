"""Transforms: group laws, duality, the laws of table A.4 against matrices, factored form, acceleration fields."""

import numpy as np
import pytest

from kinetree.spatial import (
    AccelerationField,
    AxialRotation,
    FactoredTransform,
    GeneralRotation,
    IdentityRotation,
    Inertia,
    Matrix3,
    Motion,
    Transform,
    Vector3,
    rotation_from_matrix,
)

from . import samples
from .samples import close

RNG = np.random.default_rng(12)
TRANSFORMS = samples.transforms(RNG)
FACTORED = [FactoredTransform(X, samples.transform(RNG)) for X in TRANSFORMS[::7]]


def test_force_transform_is_the_dual():
    """X* = X^-T, so power does not depend on the coordinates."""
    for X in TRANSFORMS:
        assert close(X.force_matrix(), np.linalg.inv(X.matrix()).T)
        v, f = samples.motion(RNG), samples.force(RNG)
        assert np.isclose((X @ v).dot(X @ f), v.dot(f), rtol=1e-12, atol=1e-12)


def test_matrix_has_the_book_s_blocks():
    """X = [[E, 0], [-E r x, E]], T = [[E, -E r], [0, 1]] (eq. 2.24-2.28)."""
    for X in TRANSFORMS:
        E, rx = X.E.matrix.array(), Matrix3.cross(X.r).array()
        assert close(X.matrix(), np.block([[E, np.zeros((3, 3))], [-E @ rx, E]]))
        assert close(X.homogeneous(), np.block([[E, -E @ X.r.array()[:, None]], [np.zeros((1, 3)), np.eye(1)]]))


@pytest.mark.parametrize("X", [*TRANSFORMS[::3], *FACTORED])
def test_laws_of_table_A4(X):
    """X m, X* f, X* I X^-1 and X* I^A X^-1, and all of them back."""
    Xm, Xf = X.matrix(), X.force_matrix()
    back = np.linalg.inv(Xm)
    m, f = samples.motion(RNG), samples.force(RNG)
    assert close(X @ m, Xm @ m.array()) and close(X.inverse_apply(m), back @ m.array())
    assert close(X @ f, Xf @ f.array()) and close(X.inverse_apply(f), Xm.T @ f.array())
    for I in (samples.inertia(RNG), samples.articulated(RNG)):
        assert close((X @ I).matrix(), Xf @ I.matrix() @ back, k=2e3)  # offsets of a few units enter squared
        assert close(X.inverse_apply(I).matrix(), Xm.T @ I.matrix() @ Xm, k=2e3)


def test_group_laws():
    """Products and inverses of transforms are those of their matrices; X^-1 X = 1."""
    for X in TRANSFORMS[::2]:
        Y = samples.transform(RNG)
        assert close((X @ Y).matrix(), X.matrix() @ Y.matrix())
        assert close((Y @ X).matrix(), Y.matrix() @ X.matrix())
        assert close(X.inverse().matrix(), np.linalg.inv(X.matrix()))
        assert close(X.inverse_apply(Y).matrix(), np.linalg.inv(X.matrix()) @ Y.matrix())


def test_translations_add():
    """xlt(a) xlt(b) = xlt(a + b)."""
    a, b = samples.vector(RNG), samples.vector(RNG)
    shift = [Transform(IdentityRotation(), r) for r in (a, b, a + b)]
    assert close((shift[0] @ shift[1]).matrix(), shift[2].matrix())


def test_factored_transform_is_the_product():
    """Applying the factors in turn is applying their product, for everything that a transform takes."""
    for X in FACTORED:
        whole, p, Y = X.collapse(), samples.vector(RNG), samples.transform(RNG)
        assert close(X.matrix(), X.outer.matrix() @ X.inner.matrix())
        assert close(X.apply_point(p), whole.apply_point(p))
        assert close(X.inverse_apply_point(p), whole.inverse_apply_point(p))
        assert close((X @ Y).matrix(), X.matrix() @ Y.matrix()) and close((Y @ X).matrix(), Y.matrix() @ X.matrix())
        assert close(X.inverse().matrix(), np.linalg.inv(X.matrix()))
        assert close(X.homogeneous(), whole.homogeneous())
        assert close(Y.inverse_apply(X).matrix(), np.linalg.inv(Y.matrix()) @ X.matrix())


def test_points_move_with_the_frame():
    """E (p - r) and back; velocities of points agree in both frames."""
    for X in TRANSFORMS[::3]:
        p, v = samples.vector(RNG), samples.motion(RNG)
        q = X.apply_point(p)
        assert close(X.inverse_apply_point(q), p)
        assert close(q.array(), (X.homogeneous() @ [*p, 1.0])[:3])
        assert close(X.E @ v.velocity_at(p), (X @ v).velocity_at(q))


def test_inertia_of_a_moved_body_is_that_of_its_parts():
    """X* I X^-1 = (m, E (c - r), E I_c E^T) rebuilt at the new origin (eq. 2.66)."""
    for X in TRANSFORMS[::3]:
        I = samples.inertia(RNG)
        I_c = (Transform(IdentityRotation(), I.com) @ I).I
        rebuilt = Inertia.from_com(I.m, X.apply_point(I.com), X.E.congruence(I_c))
        assert close((X @ I).matrix(), rebuilt.matrix(), k=2e3)


def test_identity_returns_its_operand():
    """Nothing is computed, nor copied, by the transform that does nothing."""
    X = Transform.identity()
    for x in (samples.motion(RNG), samples.force(RNG), samples.inertia(RNG), samples.articulated(RNG), TRANSFORMS[5]):
        assert X @ x is x and X.inverse_apply(x) is x


def test_rotations_are_orthonormal_and_compose():
    """E E^T = 1 and (E F) as matrices, for all pairs of kinds of rotation."""
    kinds = samples.rotations(RNG)
    for E in kinds:
        assert close((E @ E.T).matrix, np.eye(3))
        for F in kinds:
            assert close((E @ F).matrix.array(), E.matrix.array() @ F.matrix.array())


def test_rotation_of_matrices():
    """E S E^T and E M E^T by the tricks of section A.5, and back, for all kinds of rotation."""
    for E in samples.rotations(RNG):
        e, S, M, v = E.matrix.array(), samples.symmetric(RNG), samples.matrix(RNG), samples.vector(RNG)
        assert close(E.congruence(S), e @ S.array() @ e.T) and close(E.inverse_congruence(S), e.T @ S.array() @ e)
        assert close(E.similarity(M), e @ M.array() @ e.T) and close(E.inverse_similarity(M), e.T @ M.array() @ e)
        assert close(E @ v, e @ v.array()) and close(E.inverse_apply(v), e.T @ v.array())


def test_rotation_from_matrix_finds_the_cheapest_kind():
    """Identity, axial with its axis, general; residues of 1e-16 do not hide the structure, 3.7e-6 is not a residue."""
    assert isinstance(rotation_from_matrix(np.eye(3)), IdentityRotation)
    for axis in range(3):
        E = samples.axial(RNG, axis)
        noisy = E.matrix.array() + 1e-16 * RNG.normal(size=(3, 3))
        found = rotation_from_matrix(noisy)
        assert isinstance(found, AxialRotation) and found.axis == axis
        assert np.isclose(found.c, E.c, atol=1e-15) and np.isclose(found.s, E.s, atol=1e-15)
    assert isinstance(rotation_from_matrix(samples.rotation(RNG).matrix), GeneralRotation)
    off = 3.7e-6  # an angle of 1.5708 is no right angle
    assert rotation_from_matrix([[1.0, 0.0, 0.0], [0.0, off, 1.0], [0.0, -1.0, off]]).c == off


def test_rotation_from_matrix_keeps_the_matrix():
    """Whatever kind is chosen, it is the same rotation, and a tilted one is factored."""
    for E in samples.rotations(RNG):
        assert close(rotation_from_matrix(E.matrix).matrix, E.matrix)
    tilted = (AxialRotation(0, 0.0, 1.0) @ samples.axial(RNG, 2)).matrix
    assert rotation_from_matrix(tilted).factors[0].__class__ is AxialRotation


def test_an_improper_matrix_is_not_taken_for_a_rotation_about_an_axis():
    """A reflection keeps all of its nine entries."""
    mirror = [[1.0, 0.0, 0.0], [0.0, 0.8, 0.6], [0.0, 0.6, -0.8]]
    assert close(rotation_from_matrix(mirror).matrix, np.array(mirror))


def velocity_and_acceleration():
    return samples.motion(RNG), samples.motion(RNG)


def fields_agree(f, g):
    return close(f.w, g.w) and close(f.dw, g.dw) and close(f.a, g.a)


def test_acceleration_field_is_the_spatial_acceleration():
    """A = (dw, a - w x v) (eq. 2.47-2.50), and points accelerate as differentiating v + w x p says."""
    V, A = velocity_and_acceleration()
    field, p = AccelerationField.from_spatial(V, A), samples.vector(RNG)
    assert close(field.spatial(V.linear), A)
    w, dw = V.angular, A.angular
    assert close(field.at(p), A.linear + dw.cross(p) + w.cross(V.linear + w.cross(p)))
    assert close(field.gradient, Matrix3.cross(dw) + Matrix3.cross(w) @ Matrix3.cross(w))
    U = field.gradient
    differences = Vector3(U[2, 2] - U[1, 1], U[0, 0] - U[2, 2], U[1, 1] - U[0, 0])
    assert close(field.diagonal_differences, differences)


@pytest.mark.parametrize("X", [*TRANSFORMS[::3], *FACTORED])
def test_fields_transform_like_accelerations(X):
    """X @ field is the field of X V and X A, and the way back undoes it."""
    V, A = velocity_and_acceleration()
    field = AccelerationField.from_spatial(V, A)
    assert fields_agree(X @ field, AccelerationField.from_spatial(X @ V, X @ A))
    assert fields_agree(X.inverse_apply(X @ field), field)
    assert close((X @ field).gradient, AccelerationField.from_spatial(X @ V, X @ A).gradient)


@pytest.mark.parametrize("turning, sliding", [(True, True), (True, False), (False, True), (False, False)])
def test_step_through_a_joint(turning, sliding):
    """with_joint is V + V_J and A + A_J + V x V_J (table 5.1)."""
    V, A = velocity_and_acceleration()
    V_J = Motion(samples.vector(RNG) if turning else Vector3.zero(), samples.vector(RNG) if sliding else Vector3.zero())
    A_J = samples.motion(RNG)
    child = AccelerationField.from_spatial(V + V_J, A + A_J + V.cross(V_J))
    assert fields_agree(AccelerationField.from_spatial(V, A).with_joint(V_J, A_J), child)


def test_inertial_force_is_the_spatial_equation_of_motion():
    """m a + U h and h x a + vee(U P) are I A + V x* I V, with A = (dw, a - w x v)."""
    for _ in range(10):
        I, (V, A) = samples.inertia(RNG), velocity_and_acceleration()
        force = I.inertial_force(AccelerationField.from_spatial(V, A))
        assert close(force, I @ A + V.cross(I @ V), k=2e3)


def test_second_moments():
    """P = tr(I)/2 1 - I is m c c^T + P_c, the integral of r r^T."""
    I = samples.inertia(RNG)
    particle = Inertia.from_com(2.0, Vector3(1.0, 2.0, 3.0), (I * 0.0).I)
    assert close(particle.second_moments, 2.0 * np.outer([1.0, 2.0, 3.0], [1.0, 2.0, 3.0]))
    assert close(I.second_moments.array(), 0.5 * I.I.trace * np.eye(3) - I.I.array())


def test_uniform_rotation_has_no_spatial_acceleration():
    """About a fixed axis the spatial acceleration is zero, although points accelerate (figure 2.6)."""
    V = Motion.of([0.0, 0.0, 2.0, 0.0, -2.0, 0.0])  # about the line x = 1
    field = AccelerationField.from_spatial(V, Motion.zero())
    assert close(field.at(Vector3(1.0, 0.0, 0.0)), np.zeros(3))
    assert close(field.at(Vector3(2.0, 0.0, 0.0)), np.array([-4.0, 0.0, 0.0]))


@pytest.mark.parametrize("angle", [1e-7, 1e-9, 1e-12])
def test_small_angles_are_not_lost(angle):
    """The cosine of 1e-8 is an exact 1.0: the rotation is about its axis, not the identity."""
    for axis in range(3):
        E = AxialRotation(axis, float(np.cos(angle)), float(np.sin(angle)))
        found = rotation_from_matrix(E.matrix)
        assert isinstance(found, AxialRotation) and (found.axis, found.s) == (axis, E.s)
    both = (AxialRotation(0, 1.0, angle) @ AxialRotation(1, 1.0, angle)).matrix
    kept, S = rotation_from_matrix(both), samples.symmetric(RNG)
    e = kept.matrix.array()
    assert np.allclose(e, both.array(), rtol=0.0, atol=1e-13)  # what counts as a residue
    assert close(kept.congruence(S), e @ S.array() @ e.T)
