"""Planar vectors: the spatial ones without coordinates 1, 2 and 6 (Featherstone, section 2.16)."""

import numpy as np
import pytest

from kinetree.spatial import (
    PlanarAccelerationField,
    PlanarArticulatedInertia,
    PlanarForce,
    PlanarInertia,
    PlanarMotion,
    PlanarTransform,
    Vector2,
)
from kinetree.spatial.dense import Xpln, crf, crm, mcI

from .samples import close

RNG = np.random.default_rng(15)
KEPT = [2, 3, 4]


def restricted(x):
    """The planar part of a spatial vector or matrix."""
    a = x.array() if hasattr(x, "array") else x.matrix()
    return a[KEPT] if a.ndim == 1 else a[np.ix_(KEPT, KEPT)]


def point():
    return Vector2(*RNG.normal(size=2).tolist())


def motion():
    return PlanarMotion.of(RNG.normal(size=3))


def force():
    return PlanarForce.of(RNG.normal(size=3))


def inertia():
    return PlanarInertia.from_com(1.3, point(), 0.7)


def articulated():
    return PlanarArticulatedInertia(tuple(RNG.normal(size=3).tolist()), point(), float(RNG.normal()))


def transform():
    return PlanarTransform.from_angle(float(RNG.uniform(-3, 3)), point())


def test_cross_products():
    """v x m and v x* f are eq. 2.75 and the spatial products."""
    v, m, f = motion(), motion(), force()
    assert close(v.cross(m), restricted(v.spatial().cross(m.spatial())))
    assert close(v.cross(f), restricted(v.spatial().cross(f.spatial())))
    assert close(v.cross(m), crm(v.array()) @ m.array()) and close(v.cross(f), crf(v.array()) @ f.array())


def test_scalar_product():
    """Power is that of the spatial vectors."""
    v, f = motion(), force()
    assert np.isclose(v.dot(f), v.spatial().dot(f.spatial())) and v.dot(f) == f.dot(v)


def test_transform_is_the_book_s_matrix():
    """Eq. 2.77, which is rows and columns 3, 4, 5 of the spatial transform."""
    angle, r = 0.8, point()
    X = PlanarTransform.from_angle(angle, r)
    assert close(X.matrix(), Xpln(angle, list(r)))
    assert close(X.matrix(), X.spatial().matrix()[np.ix_(KEPT, KEPT)])


@pytest.mark.parametrize("make", [motion, force, inertia, articulated])
def test_transforms_act_as_in_space(make):
    """X x and X^-1 x of every planar type are those of its spatial counterpart."""
    X, x = transform(), make()
    assert close(np.asarray(_numbers(X @ x)), restricted(X.spatial() @ x.spatial()))
    assert close(np.asarray(_numbers(X.inverse_apply(x))), restricted(X.spatial().inverse_apply(x.spatial())))


def _numbers(x):
    return x.matrix() if hasattr(x, "matrix") else x.array()


def test_group_laws():
    """Products and inverses are those of the matrices; points move along."""
    X, Y, p = transform(), transform(), point()
    assert close((X @ Y).matrix(), X.matrix() @ Y.matrix())
    assert close(X.inverse().matrix(), np.linalg.inv(X.matrix()))
    assert close((PlanarTransform.identity() @ X).matrix(), X.matrix())
    assert close(np.array(list(X.apply_point(p))), X.spatial().apply_point(_raised(p)).array()[:2])


def _raised(p):
    return PlanarMotion(0.0, p).spatial().linear


def test_inertia_is_its_matrix():
    """Eq. 2.78, four numbers; the momentum is that of the spatial body."""
    I, v, c = inertia(), motion(), point()
    assert close(I @ v, I.matrix() @ v.array()) and close(I @ v, restricted(I.spatial() @ v.spatial()))
    assert close(PlanarInertia.from_com(2.0, c, 0.3).matrix(), mcI(2.0, list(c), 0.3))
    assert close((I + I).matrix(), (I * 2.0).matrix())


def test_articulated_inertia():
    """Six numbers; sums and updates are those of the matrices."""
    IA, I, v, U = articulated(), inertia(), motion(), force()
    assert close(IA @ v, IA.matrix() @ v.array())
    assert close((IA + I).matrix(), IA.matrix() + I.matrix()) and close((I + IA).matrix(), (IA + I).matrix())
    assert close(IA.minus_dyad(U, 0.4).matrix(), IA.matrix() - 0.4 * np.outer(U.array(), U.array()))
    assert close(PlanarArticulatedInertia.of(I).matrix(), I.matrix())
    Us, D = [force(), force()], np.array([[2.0, 0.3], [0.3, 1.0]])
    Ys = [PlanarForce.of(y) for y in np.linalg.solve(D, np.array([u.array() for u in Us]))]
    expected = IA.matrix() - sum(np.outer(u.array(), y.array()) for u, y in zip(Us, Ys, strict=True))
    assert close(IA.minus_product(Us, Ys).matrix(), expected)


def field():
    return PlanarAccelerationField(float(RNG.normal()), float(RNG.normal()), point())


def agrees(planar, spatial):
    numbers = np.array([planar.w, planar.dw, *planar.a])
    return close(numbers, np.array([spatial.w.z, spatial.dw.z, spatial.a.x, spatial.a.y]))


def test_acceleration_field():
    """Transforms, joints and inertial forces of the field are the spatial ones."""
    f, X, I, V_J, A_J, p = field(), transform(), inertia(), motion(), motion(), point()
    assert agrees(X @ f, X.spatial() @ f.spatial())
    assert agrees(X.inverse_apply(X @ f), f.spatial())
    assert agrees(f.with_joint(V_J, A_J), f.spatial().with_joint(V_J.spatial(), A_J.spatial()))
    assert close(I.inertial_force(f), restricted(I.spatial().inertial_force(f.spatial())))
    assert close(np.array(list(f.at(p))), f.spatial().at(_raised(p)).array()[:2])


def test_types_do_not_mix():
    """The rules of the spatial types hold in the plane."""
    m, f, I, IA, X = motion(), force(), inertia(), articulated(), transform()
    forbidden = [
        lambda: m + f, lambda: m.dot(m), lambda: f.dot(f), lambda: f.cross(m), lambda: m.cross(I), lambda: I @ f,
        lambda: IA @ f, lambda: I + m, lambda: IA + f, lambda: X @ m.spatial(), lambda: X.inverse_apply(1.0),
        lambda: m * m, lambda: I * I, lambda: IA * m, lambda: m + m.spatial(),
    ]  # fmt: skip
    for operation in forbidden:
        with pytest.raises(TypeError, match="has no meaning. Allowed: "):
            operation()


def test_planar_equation_of_motion():
    """A link driven about a fixed point: tau = (I_c + m c^2) dw, through the same operators that space uses."""
    body = PlanarInertia.from_com(2.0, Vector2(0.5, 0.0), 0.1)
    X = PlanarTransform.from_angle(0.3, Vector2.zero())
    rest = PlanarAccelerationField(0.0, 0.0, Vector2.zero())
    S = PlanarMotion(1.0, Vector2.zero())
    force = body.inertial_force((X @ rest).with_joint(S * 3.0, S * 4.0))
    assert np.isclose(S.dot(force), (0.1 + 2.0 * 0.25) * 4.0)
