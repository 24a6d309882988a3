"""Vectors and inertias: types, duality, cross products, equations of motion (Featherstone, chapter 2)."""

import copy
import pickle

import numpy as np
import pytest

from kinetree.spatial import ArticulatedInertia, Force, Inertia, Matrix3, Motion, Symmetric3, Transform, Vector3
from kinetree.spatial.dense import crf, crm, mcI

from . import samples
from .samples import close

RNG = np.random.default_rng(11)


def test_meaningless_operations_raise_and_say_what_is_allowed():
    """Motions and forces are dual: neither adds to the other, forces are no operators, an inertia maps motions only."""
    m, f, I = samples.motion(RNG), samples.force(RNG), samples.inertia(RNG)
    IA, X = ArticulatedInertia.of(I), Transform.identity()
    forbidden = [
        lambda: m + f, lambda: f + m, lambda: m - f, lambda: m + 1.0, lambda: m * m, lambda: m * f, lambda: m / f,
        lambda: f.cross(m), lambda: f.cross(f), lambda: m.cross(I), lambda: m.dot(m), lambda: f.dot(f), lambda: I @ f,
        lambda: IA @ f, lambda: I + m, lambda: IA + f, lambda: I * m, lambda: I - IA, lambda: X @ 1.0,
        lambda: X.inverse_apply(m.angular), lambda: IA - I, lambda: IA * IA,
    ]  # fmt: skip
    for operation in forbidden:
        with pytest.raises(TypeError, match="has no meaning. Allowed: "):
            operation()


def test_vectors_refuse_foreign_operands():
    """Vectors and matrices add to their own kind only, and scale by scalars only."""
    v, M, S = samples.vector(RNG), samples.matrix(RNG), samples.symmetric(RNG)
    for operation in (
        lambda: v + 1.0, lambda: v - M, lambda: v * v, lambda: v / v, lambda: M + S, lambda: M - v, lambda: M * M,
        lambda: S + M, lambda: S - 1.0, lambda: S * S, lambda: M @ 2.0, lambda: S @ 2.0,
    ):  # fmt: skip
        with pytest.raises(TypeError):
            operation()


def test_vectors_have_components_by_number():
    """v[k] is component k, as of any sequence of three."""
    v = Vector3(1.0, 2.0, 3.0)
    assert [v[0], v[1], v[2], v[-1]] == [1.0, 2.0, 3.0, 3.0]
    with pytest.raises(IndexError):
        v[3]


def test_linear_structure():
    """Sums, differences, multiples and negatives act on the coordinates."""
    for make in (samples.motion, samples.force, samples.vector, samples.symmetric, samples.matrix):
        x, y = make(RNG), make(RNG)
        expected = 3.0 * x.array() - y.array()
        assert close(x * 3.0 - y, expected) and close(3.0 * x + -y, expected)
    assert close(samples.vector(np.random.default_rng(1)) / 2.0, samples.vector(np.random.default_rng(1)) * 0.5)
    assert close(samples.motion(np.random.default_rng(1)) / 2.0, samples.motion(np.random.default_rng(1)) * 0.5)


def test_three_dimensional_cross_matrix():
    """The nine lines of table 2.1."""
    a, b = samples.vector(RNG), samples.vector(RNG)
    E, s = samples.rotation(RNG), 1.7
    x = Matrix3.cross
    assert close(x(a).T, -x(a))
    assert close(x(a + b), x(a) + x(b)) and close(x(a * s), x(a) * s)
    assert close(x(E @ a), E.similarity(x(a)))
    assert close(x(a) @ b, -(x(b) @ a)) and close(x(a) @ b, a.cross(b))
    assert close(np.array(a.cross(b).array()), a.array() @ x(b).array())
    assert close(x(a.cross(b)), x(a) @ x(b) - x(b) @ x(a)) and close(x(a.cross(b)), b.outer(a) - a.outer(b))
    assert close(x(a) @ x(b), b.outer(a) - Matrix3.identity() * a.dot(b))
    assert close(x(a).vee, a * 2.0)


def test_symmetric_matrices_are_matrices():
    """Storage of the lower triangle changes no result."""
    S, v, M = samples.symmetric(RNG), samples.vector(RNG), samples.matrix(RNG)
    assert close(S @ v, S.matrix @ v) and close(S @ M, S.matrix.array() @ M.array())
    assert close(S.skew_product(v), Matrix3.cross(v) @ S.matrix)
    assert close(Symmetric3.of(S.array()), S.array())
    assert np.isclose(S.trace, S.matrix.trace) and S[0, 2] == S[2, 0] == S.xz


def test_scalar_product_is_symmetric_and_scales():
    """m . f = f . m = w . n + v . f; (alpha f) . (beta v) = alpha beta f . v (eq. 2.11-2.13)."""
    m, f = samples.motion(RNG), samples.force(RNG)
    assert m.dot(f) == f.dot(m)
    assert np.isclose(m.dot(f), m.array() @ f.array(), rtol=1e-14)
    assert np.isclose((m * 2.0).dot(f * 3.0), 6.0 * m.dot(f), rtol=1e-14)


def test_cross_products_are_the_matrices():
    """v x and v x* are crm and crf, and v x* = -(v x)^T (eq. 2.31-2.34)."""
    v, m, f = samples.motion(RNG), samples.motion(RNG), samples.force(RNG)
    assert close(v.cross(m), crm(v.array()) @ m.array())
    assert close(v.cross(f), crf(v.array()) @ f.array())
    assert np.isclose(v.cross(m).dot(f), -m.dot(v.cross(f)), rtol=1e-13)


def test_cross_product_identities():
    """Table 2.3: antisymmetry, both Jacobi identities, and covariance under transforms."""
    u, v, m, f = *(samples.motion(RNG) for _ in range(3)), samples.force(RNG)
    assert close(u.cross(v), -v.cross(u))
    assert close(u.cross(v).cross(m), u.cross(v.cross(m)) - v.cross(u.cross(m)))
    assert close(u.cross(v).cross(f), u.cross(v.cross(f)) - v.cross(u.cross(f)))
    for X in samples.transforms(RNG):
        assert close((X @ v).cross(X @ m), X @ v.cross(m))
        assert close((X @ v).cross(X @ f), X @ v.cross(f))


def test_multiplication_table_of_the_bases():
    """Products of the basis motions with each other and with the basis forces (figure 2.5)."""
    d = [Motion.of(row) for row in np.eye(6)]
    e = [Force.of(row) for row in np.eye(6)[[3, 4, 5, 0, 1, 2]]]  # e_x, e_y, e_z, e_Ox, e_Oy, e_Oz
    signs = np.array([[0, 3, -2], [-3, 0, 1], [2, -1, 0]])  # of the vector product, 1-based

    def product(basis, i, j, shift):
        k = signs[i, j]
        return basis[abs(k) - 1 + shift] * float(np.sign(k)) if k else basis[0] * 0.0

    for i in range(3):
        for j in range(3):
            assert close(d[i].cross(d[j]), product(d, i, j, 0))
            assert close(d[i].cross(d[j + 3]), product(d, i, j, 3))
            assert close(d[i + 3].cross(d[j]), product(d, i, j, 3))
            assert close(d[i + 3].cross(d[j + 3]), np.zeros(6))
            assert close(d[i].cross(e[j]), product(e, i, j, 0))
            assert close(d[i].cross(e[j + 3]), product(e, i, j, 3))
            assert close(d[i + 3].cross(e[j]), product(e, i, j, 3))
            assert close(d[i + 3].cross(e[j + 3]), np.zeros(6))


def test_velocity_field_and_moment_shift():
    """v_P = v_O + w x OP and n_P = n_O + f x OP: the Pluecker translation (eq. 2.1, 2.6, 2.5)."""
    v, f, p = samples.motion(RNG), samples.force(RNG), samples.vector(RNG)
    at_p = Transform(Transform.identity().E, p)
    assert close(v.velocity_at(p), (at_p @ v).linear)
    assert close(f.moment_about(p), (at_p @ f).angular)
    assert close(Force.at_point(f.linear, p).moment_about(p), np.zeros(3))


def test_inertia_is_its_matrix():
    """[[I_c + m c x c x^T, m c x], [m c x^T, m 1]] (eq. 2.63), positive definite for a possible body."""
    m, c, a = 1.3, samples.vector(RNG), RNG.normal(size=(3, 3))
    I_c = np.trace(a @ a.T) * np.eye(3) - a @ a.T
    I = Inertia.from_com(m, c, Symmetric3.of(I_c))
    assert close(I.matrix(), mcI(m, c.array(), I_c))
    assert np.all(np.linalg.eigvalsh(I.matrix()) > 0.0)
    assert close(I.com, c)


def test_inertia_maps_velocity_to_momentum():
    """h = I v, T = v . I v / 2 (eq. 2.61, 2.67); articulated and rigid inertias of one body agree."""
    I, v = samples.inertia(RNG), samples.motion(RNG)
    assert close(I @ v, I.matrix() @ v.array())
    assert close(ArticulatedInertia.of(I) @ v, I @ v)
    assert np.isclose(I.kinetic_energy(v), v.array() @ I.matrix() @ v.array() / 2, rtol=1e-13)


def test_inertias_add():
    """Inertias of parts that move together add, whatever their kind (section 2.13)."""
    I, J, IA = samples.inertia(RNG), samples.inertia(RNG), samples.articulated(RNG)
    assert close((I + J).matrix(), I.matrix() + J.matrix())
    assert close((IA + I).matrix(), IA.matrix() + I.matrix()) and close((I + IA).matrix(), IA.matrix() + I.matrix())
    assert close((IA + IA).matrix(), 2.0 * IA.matrix())
    assert close((I * 0.5 - J).matrix(), 0.5 * I.matrix() - J.matrix())
    assert close((IA * 0.5 - IA).matrix(), -0.5 * IA.matrix())
    assert close((I + Inertia.zero()).matrix(), I.matrix())
    assert close((IA + ArticulatedInertia.zero()).matrix(), (IA * 1.0).matrix())


def test_articulated_inertia_is_its_matrix():
    """[[I, H], [H^T, M]]."""
    IA, v = samples.articulated(RNG), samples.motion(RNG)
    assert close(IA @ v, IA.matrix() @ v.array())
    assert close(IA.matrix(), IA.matrix().T)


def test_rank_one_update():
    """I^A - scale U U^T."""
    IA, U = samples.articulated(RNG), samples.force(RNG)
    assert close(IA.minus_dyad(U, 0.7).matrix(), IA.matrix() - 0.7 * np.outer(U.array(), U.array()))


def test_update_by_a_symmetric_product():
    """I^A - U D^-1 U^T by columns of U and of Y = U D^-1."""
    IA, U = samples.articulated(RNG), RNG.normal(size=(6, 3))
    a = RNG.normal(size=(3, 3))
    Y = U @ np.linalg.inv(a @ a.T + np.eye(3))
    updated = IA.minus_product([Force.of(u) for u in U.T], [Force.of(y) for y in Y.T])
    assert close(updated.matrix(), IA.matrix() - U @ Y.T)


@pytest.mark.parametrize("axes", [(2,), (5,), (0, 1, 2), (2, 3, 4)])
def test_the_known_kernel_changes_no_value(axes):
    """I^a = I^A - U D^-1 U^T vanishes on S; entries set to zero are those that would be (section A.4)."""
    IA = ArticulatedInertia.of(samples.inertia(RNG))
    S = [Motion.of([float(i == k) for i in range(6)]) for k in axes]
    U = [IA @ s for s in S]
    D = np.array([[s.dot(u) for u in U] for s in S])
    Y = [Force.of(y) for y in np.linalg.solve(D, np.array([u.array() for u in U]))]
    plain, told = IA.minus_product(U, Y), IA.minus_product(U, Y, kernel=S)
    assert close(told.matrix(), plain.matrix(), k=1e4)  # D may be ill-conditioned by two orders
    assert np.all(told.matrix()[list(axes)] == 0.0)
    slanted = IA.minus_product(U, Y, kernel=[samples.motion(RNG)])
    assert close(slanted.matrix(), plain.matrix())  # a kernel off the axes has no zero rows to offer


def test_newton_and_euler():
    """f = I a + v x* I v gives f = m c'' and n_C = I_c dw + w x I_c w at the center of mass (example 2.6)."""
    I, w, dw, a = samples.inertia(RNG), samples.vector(RNG), samples.vector(RNG), samples.vector(RNG)
    about_com = Transform(Transform.identity().E, I.com) @ I
    V = Motion(w, samples.vector(RNG))
    A = Motion(dw, a - w.cross(V.linear))
    f = about_com @ A + V.cross(about_com @ V)
    assert close(f.linear, a * I.m)
    assert close(f.angular, about_com.I @ dw + w.cross(about_com.I @ w))


def test_numpy_leaves_operators_to_the_algebra():
    """A NumPy scalar or array on the left scales, and does not take the object apart."""
    v = samples.motion(RNG)
    scaled = np.float64(2.0) * v
    assert isinstance(scaled, Motion) and close(scaled, v * 2.0)
    batch = np.array([1.0, 2.0]) * v
    assert isinstance(batch, Motion) and batch.array().shape == (2, 6)
    assert isinstance(np.float64(2.0) * samples.inertia(RNG), Inertia)


def test_objects_are_copied_pickled_and_shown():
    """Values survive pickling and deep copies; a representation names the type."""
    for x in (samples.inertia(RNG), samples.articulated(RNG), samples.transform(RNG)):
        for twin in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x)):
            assert np.array_equal(twin.matrix(), x.matrix())
        assert repr(x).startswith(type(x).__name__)
    assert repr(Vector3(1.0, 2.0, 3.0)) == "Vector3(1.0, 2.0, 3.0)"
    with pytest.raises(AttributeError):
        Vector3(1.0, 2.0, 3.0).scratch = 1.0
