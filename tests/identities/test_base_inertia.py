"""Base inertial parameters: other inertias than the bodies' own that need the same joint forces for every motion."""

import numpy as np
import pytest

import kinetree as kt
from kinetree.algorithms import base_inertia
from kinetree.algorithms.base_inertia import base_inertias
from kinetree.algorithms.rnea import inward_pass, outward_pass
from kinetree.algorithms.rnea import rnea as on_scalars
from kinetree.compiler.calls import public_call
from kinetree.joints import Fixed, Prismatic, Revolute
from kinetree.model import ModelBuilder
from kinetree.models import binary_tree, chain_gu, random_tree

SCALE = 1e-11  # sums of some thousand terms of order ten, by two different routes


def from_own_inertias(model, q, v, a, f_ext=None):
    """Newton and Euler's equations for the bodies as they are."""
    tau = inward_pass(model, *outward_pass(model, q, v, a, f_ext, model.I))
    return [t + I * x for t, I, x in zip(tau, model.armature, a, strict=True)]


@pytest.mark.seeds(6)
@pytest.mark.parametrize("floating", [False, True])
def test_joint_forces_are_the_same(seed, floating):
    """All kinds of joints, armatures, external forces, free and fixed roots; also joints without freedom."""
    model = random_tree(40, seed, floating=floating)
    rng = np.random.default_rng(seed)
    q, v, a = model.random_q(rng).tolist(), rng.normal(size=model.nv).tolist(), rng.normal(size=model.nv).tolist()
    f_ext = rng.normal(size=(model.nb, 6)).tolist()
    for tree in (model, model.reframed()):
        found = on_scalars(tree, q, v, a, f_ext)
        expected = from_own_inertias(tree, q, v, a, f_ext)
        np.testing.assert_allclose(found, expected, rtol=0, atol=SCALE * np.abs(expected).max())


def test_bodies_on_revolute_joints_have_seven_numbers():
    """Of a chain of general links, every body is left without mass, h_z and P_zz; nobody else carries them."""
    for I in base_inertias(chain_gu(6).reframed())[1:]:
        assert (I.m, I.h.z, I.second_moments.zz) == (0.0, 0.0, 0.0)
        assert all(x != 0.0 for x in (I.h.x, I.h.y, *list(I.second_moments)[:-1]))


def test_the_sum_is_the_inertia_of_the_locked_tree():
    """On a free root nothing is lost: base inertias and the bodies' own make the same composite at any position."""
    model = random_tree(12, 3, joints=[Revolute(), Prismatic(), Fixed()], floating=True).reframed()
    q = model.random_q(np.random.default_rng(1)).tolist()

    def composite(inertias):
        Ic = list(inertias)
        for i in model.inward():
            X = model.joints[i].transform(model.q_of(i, q)).collapse() @ model.X_T[i]
            if model.parent[i]:
                Ic[model.parent[i]] = Ic[model.parent[i]] + X.inverse_apply(Ic[i])
        return Ic[1].matrix()

    own = composite(model.I)
    np.testing.assert_allclose(composite(base_inertias(model)), own, rtol=0, atol=1e-13 * np.abs(own).max())


def test_nothing_moves_where_the_parent_would_pay_more():
    """A symmetric flywheel on a carriage with its own center: moving it would fill five zeros to save three numbers."""
    b = ModelBuilder("flywheel")
    b.add_body("carriage", joint=kt.joints.Free(), mass=5.0, inertia=(1.0, 1.0, 1.0))
    placement = ((0.3, 0.2, 0.1), (0.0, 0.0, 0.0))
    b.add_body("wheel", "carriage", Revolute(), "spin", placement, mass=1.0, inertia=(0.1, 0.1, 0.2))
    model = b.build()
    assert base_inertias(model)[1] is model.I[1]
    placement = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    b = ModelBuilder("flywheel")
    b.add_body("carriage", joint=kt.joints.Free(), mass=5.0, inertia=(1.0, 1.0, 1.0))
    b.add_body("wheel", "carriage", Revolute(), "spin", placement, mass=1.0, inertia=(0.1, 0.1, 0.2))
    assert base_inertias(b.build())[1].m == 6.0


def test_massless_bodies_pass_on_what_others_carry():
    """Bodies without inertia stay without as long as nothing arrives, and forces stay the same."""
    b = ModelBuilder("gimbal")
    b.add_body("outer", joint=Revolute())
    b.add_body("inner", "outer", Revolute((1, 0, 0)), "tilt", ((0.0, 0.1, 0.0), (0.0, 0.0, 0.0)))
    b.add_body(
        "top", "inner", Revolute(), "spin", ((0.0, 0.0, 0.3), (0.2, 0.1, 0.0)),
        mass=2.0, com=(0.1, 0.0, 0.2), inertia=(0.1, 0.2, 0.25),
    )  # fmt: skip
    model = b.build()
    q, v, a = [0.3, -0.4, 1.0], [1.0, 2.0, -3.0], [0.5, 0.1, -0.7]
    np.testing.assert_allclose(on_scalars(model, q, v, a), from_own_inertias(model, q, v, a), rtol=0, atol=SCALE)


@pytest.mark.parametrize("model", [chain_gu(30), binary_tree(5), random_tree(30, 4, floating=True)], ids=str)
@pytest.mark.parametrize("algorithm", ["rnea", "aba"])
def test_no_digits_are_lost(monkeypatch, algorithm, model):
    """Against extended precision the error of doubles is at most twice what the bodies' own inertias would give.

    Median over states of the largest error relative to the largest entry; twice, and an ulp, for the scatter.
    """
    if np.finfo(np.longdouble).eps >= np.finfo(float).eps:
        pytest.skip("this machine has no extended precision")
    rng = np.random.default_rng(5)
    q = np.array([model.random_q(rng) for _ in range(40)])
    arrays = q, *rng.normal(size=(2, 40, model.nv))

    def run(dtype):
        with kt.interpreted():
            return public_call(algorithm)(model, *(x.astype(dtype) for x in arrays))

    found, exact = run(float), run(np.longdouble)
    monkeypatch.setattr("kinetree.algorithms.rnea.base_inertias", lambda model: model.I)
    plain = run(float)

    def error(y):
        return float(np.median(np.abs(y - exact).max(axis=1) / np.abs(exact).max(axis=1)))

    assert error(found) < 2.0 * error(plain) + np.finfo(float).eps
    assert base_inertia.base_inertias(model) != model.I


@pytest.mark.parametrize("algorithm", ["rnea", "aba"])
def test_nan_reaches_every_result_that_depends_on_it(algorithm):
    """Without checks: what a small change of an input changes is NaN when that input is NaN; nothing hides it."""
    model = chain_gu(5)
    f = kt.compile(model, algorithm, checks=False)
    rng = np.random.default_rng(2)
    inputs = list(rng.normal(size=(3, model.nv)))
    before = f(*inputs)
    for x in inputs:
        for k in range(model.nv):
            kept = x[k]
            x[k] = kept + 0.1
            depends = np.abs(f(*inputs) - before) > 1e-9 * np.abs(before).max()
            x[k] = np.nan
            assert np.all(np.isnan(f(*inputs)[depends]))
            x[k] = kept
    assert np.array_equal(f(*inputs), before)
