"""The closed forms of inverse and forward dynamics: against finite differences and the identities of mechanics."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest

import kinetree as kt
from kinetree.joints import Free, Prismatic, Revolute, Spherical
from tests.derivatives.states import BALL, CAMS, LONG, TREES, assembled, close, differences, state, tree

ROUTES = 1e-10  # the methods add the same terms in another order, in doubles
DIFFERENCES = 1e-11  # finite differences in extended precision


def cross(w):
    """The matrix of w x."""
    x, y, z = w
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


MODELS = [*(pytest.param(tree(number), id=f"tree{number}") for number in TREES), pytest.param(CAMS, id="cams")]


@pytest.mark.parametrize("model", MODELS)
def test_rnea_derivatives_are_finite_differences(model):
    """Each column is the change of rnea along one coordinate, wrenches held in the world."""
    *x, f_ext = state(model, 1, LONG)
    found = kt.rnea_derivatives(model, *x[:3], f_ext)
    expected = differences(lambda *y: kt.rnea(model, *y, f_ext), model, *x[:3])
    for name, columns in zip(found._fields, expected, strict=True):
        close(getattr(found, name), columns, DIFFERENCES)


@pytest.mark.parametrize("model", MODELS)
def test_aba_derivatives_are_finite_differences(model):
    """Each column is the change of aba along one coordinate, wrenches held in the world."""
    q, v, _, tau, f_ext = state(model, 2, LONG)
    found = kt.aba_derivatives(model, q, v, tau, f_ext)
    expected = differences(lambda *y: kt.aba(model, *y, f_ext), model, q, v, tau)
    # The rounding of extended precision, 5e-20, times the condition of M, over steps of 5e-5.
    lost = 1e-15 * np.linalg.cond(np.asarray(kt.crba(model, q), float))
    for name, columns in zip(found._fields, expected, strict=True):
        close(getattr(found, name), columns, max(DIFFERENCES, lost))


@pytest.mark.parametrize("model", [BALL, tree(0), pytest.param(tree(1), marks=pytest.mark.sweep)], ids=lambda m: m.name)
def test_compiled_code_agrees_with_extended_precision(model):
    """The compiled closed forms, for one state and for a batch, to the rounding of doubles."""
    states = [state(model, seed) for seed in range(9)]
    q, v, a, tau, _ = (np.stack(parts) for parts in zip(*states, strict=True))
    for name, third in (("rnea_derivatives", a), ("aba_derivatives", tau)):
        f = kt.compile(model, name)
        exact = f(*(x.astype(LONG) for x in (q, v, third)))
        for batch, k in zip(f(q, v, third), range(3), strict=True):
            close(batch, exact[k], ROUTES)
            assert np.array_equal(f(q[2], v[2], third[2])[k], batch[2])


@pytest.mark.parametrize("number", TREES)
def test_derivatives_of_the_two_dynamics_are_inverse(number):
    """da/dx = -M^-1 dtau/dx at the same motion, and da/dtau = M^-1."""
    model = tree(number)
    q, v, _, tau, f_ext = state(model, 5, LONG)
    a = kt.aba(model, q, v, tau, f_ext)
    forward, inverse = kt.aba_derivatives(model, q, v, tau, f_ext), kt.rnea_derivatives(model, q, v, a, f_ext)
    close(inverse.dtau_da @ forward.da_dq, -inverse.dtau_dq, ROUTES)
    close(inverse.dtau_da @ forward.da_dv, -inverse.dtau_dv, ROUTES)
    close(inverse.dtau_da @ forward.da_dtau, np.eye(model.nv), ROUTES)


@pytest.mark.parametrize("number", TREES)
def test_derivative_by_acceleration_is_the_inertia_matrix(number):
    """dtau/da = M, which crba computes on another method; M is symmetric to the last bit."""
    model = tree(number)
    q, v, a, _, _ = state(model, 6)
    with kt.interpreted():
        M = kt.rnea_derivatives(model, q, v, a).dtau_da
        close(M, kt.crba(model, q), 1e-13)
    assert np.array_equal(M, M.T)


def test_derivative_by_velocity_holds_the_coriolis_matrix():
    """Velocity forces are quadratic: their derivative times v is twice the Coriolis force, so dtau/dv v = 2 C v."""
    model = tree(1)
    q, v, a, _, _ = state(model, 8, LONG)
    C = kt.coriolis_matrix(model, q, v)
    close(kt.rnea_derivatives(model, q, v, a).dtau_dv @ v, 2.0 * C @ v, 1e-14)


def test_gravity_stiffness_where_coordinates_add_is_symmetric():
    """At rest dtau/dq is the Hessian of the potential energy, symmetric where the coordinates form a vector space."""
    model = assembled("arm", [Revolute((0.0, 0.0, 1.0)), Revolute((0.0, 1.0, 0.0)), Prismatic((1.0, 0.0, 0.0))], 5)
    q, *_ = state(model, 9)
    zero = np.zeros(model.nv)
    K = kt.rnea_derivatives(model, q, zero, zero).dtau_dq
    close(K, K.T, 1e-14)
    assert np.abs(K).max() > 1.0


def test_where_a_floating_robot_stands_does_not_matter():
    """No derivative by the position of a floating base, with or without far distances: nothing is lost to rounding."""
    model = tree(1)
    q, v, a, _, _ = state(model, 10)
    far = np.array(q)
    far[:3] = 1e6
    near, away = kt.rnea_derivatives(model, q, v, a), kt.rnea_derivatives(model, far, v, a)
    linear = [k for k, label in enumerate(model.velocity_labels[:6]) if label.rsplit(".", 1)[-1].startswith("v")]
    assert len(linear) == 3
    assert not near.dtau_dq[:, linear].any()
    assert all(np.array_equal(x, y) for x, y in zip(near, away, strict=True))


@pytest.mark.parametrize("interpreted", [False, True])
def test_a_floating_robot_feels_neither_uniform_gravity_nor_speed(interpreted):
    """Turned as a whole or in steady flight its joints accelerate as before, to exact zeros; the base does not."""
    model = assembled("floating", [Free(), Revolute((0.0, 1.0, 0.0)), Spherical(), Prismatic((1.0, 0.0, 0.0))], 7)
    assert not model.armature[:6].any() and model.armature.any()
    q, v, _, tau, f_ext = state(model, 11)
    with kt.interpreted() if interpreted else contextlib.nullcontext():
        d = kt.aba_derivatives(model, q, v, tau)
        wrenched = kt.aba_derivatives(model, q, v, tau, f_ext)
    assert not d.da_dq[6:, :6].any()
    assert not d.da_dv[6:, 3:6].any()
    assert d.da_dv[6:, :3].all()
    R_WB = kt.pose(model, q, frame="body0").R_WF
    close(d.da_dq[3:6, :3], cross(R_WB.T @ [*model.gravity]), 1e-12)
    close(d.da_dv[3:6, 3:6], -cross(v[:3]), 1e-14)
    assert wrenched.da_dq[6:, :6].all()  # wrenches stay fixed in the world


def test_a_model_of_several_trees_has_no_derivatives_across():
    """Trees that share only the world do not feel each other."""
    builder = kt.ModelBuilder("two")
    for name in ("left", "right"):
        builder.add_body(name, "world", Revolute((0.0, 1.0, 0.0)), mass=1.0, com=(0.1, 0.0, 0.2), inertia=np.eye(3))
    model = builder.build()
    d = kt.aba_derivatives(model, [0.3, -0.2], [1.0, 2.0], [0.1, 0.2])
    for x in d:
        assert x[0, 1] == x[1, 0] == 0.0
    assert d.da_dq[0, 0] != 0.0
