"""Loop joints of every kind, between any frames: error, rows, rates, biases, and kinds without an implicit form."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import kinetree as kt
from kinetree.constraints import Kinematics, LoopJoint
from kinetree.errors import UnsupportedError
from kinetree.joints import JOINTS, examples
from kinetree.spatial import Transform, Vector3
from kinetree.spatial.rotations import euler

H = 1e-5


@functools.cache
def chain():
    """A tree whose last two bodies are on two branches, and a position."""
    joints = [kt.joints.Revolute(), kt.joints.Spherical(), kt.joints.Prismatic((0, 1, 0)), kt.joints.Universal()]
    model = kt.models.random_tree(6, seed=2, joints=joints, branching=0.4)
    return model, model.random_q(np.random.default_rng(1))


@functools.cache
def loops():
    """A loop joint of every kind, closed at the position: between branches, or between a body and the world."""
    model, q = chain()
    found, rng = {}, np.random.default_rng(4)
    turned = Transform(euler("xyz", (0.3, -0.5, 0.7)), Vector3(0.1, -0.2, 0.3))
    for n, (label, joint) in enumerate(examples(rng)):
        ends = (model.frames[0].name if n % 3 else model.frames[2].name), model.frames[model.nb - 1].name
        X = Kinematics(model, q.tolist()).relative(*ends, Transform.identity(), turned).X
        X_J = joint.transform(joint.random(rng))
        found[label] = LoopJoint("loop", joint, *ends, X_J.inverse() @ X, turned)
    return found


def has_form(loop) -> bool:
    return loop.has_rows


@pytest.mark.parametrize("label", [label for label, loop in loops().items() if has_form(loop)])
def test_rows_rates_and_biases(label):
    """Of the relative motion, whatever turns T: against differences, at a closed position."""
    (model, q), loop = chain(), loops()[label]
    v = np.random.default_rng(5).standard_normal(model.nv)
    kin = Kinematics(model, q.tolist(), v.tolist())
    rate = np.array(loop.rate(kin), float)
    assert len(rate) == loop.count(model) == 6 - loop.joint.nv
    assert np.abs(np.array(loop.residual(kin), float)).max(initial=0.0) < 1e-12
    rows = np.zeros((len(rate), model.nv))
    for n, row in enumerate(loop.rows(kin)):
        for k, x in row.items():
            rows[n, k] = x
    assert rate == pytest.approx(rows @ v, abs=1e-12)
    moved = [Kinematics(model, kt.integrate(model, q, s * v).tolist(), v.tolist()) for s in (H, -H)]
    error = [np.array(loop.residual(now), float) for now in moved]
    assert rate == pytest.approx((error[0] - error[1]) / (2 * H), abs=2e-8)
    rates = [np.array(loop.rate(now), float) for now in moved]
    assert np.array(loop.bias(kin), float) == pytest.approx((rates[0] - rates[1]) / (2 * H), abs=1e-6)
    if len(rate):
        closed = model.with_constraints(loop)
        assert closed.nc == len(rate) and len(loop.natural_sizes(closed, np.ones(len(rate)))) == len(rate)


def test_all_kinds_are_there():
    """Every registered kind has an implicit form; freedoms on both sides of a moving frame in one joint have none."""
    kinds = {loop.joint.kind: loop for loop in loops().values()}
    assert set(kinds) | {"moving_frame", "prescribed"} == set(JOINTS)
    assert all(map(has_form, loops().values()))
    (model, q), ends = chain(), {"predecessor": "world", "successor": chain()[0].frames[-1].name}
    driven = kt.joints.MovingFrame((kt.joints.Sinusoid(0.1, 2.0), 0.0, 0.0))
    between = kt.joints.Composite((kt.joints.Revolute(), driven, kt.joints.Revolute((0, 1, 0))))
    loop = LoopJoint("loop", between, **ends)
    bad = model.with_constraints(loop)
    assert bad.nc == 0 and any("loop" in name for name in bad.unsupported)
    with pytest.raises(UnsupportedError, match=r"loop joint 'loop' \(\w+ has no implicit form, '"):
        kt.forward_dynamics(bad, q, np.zeros(model.nv), np.zeros(model.nv))
    with pytest.raises(UnsupportedError, match="has no implicit form: it has freedoms and depends on time"):
        loop.joint.at(0.3).implicit(Transform.identity())


def test_a_loop_of_six_freedoms_holds_nothing():
    """The 6-DoF loop joint of the book has no rows."""
    model, q = chain()
    loop = next(loop for loop in loops().values() if loop.joint.kind == "free")
    free, v = model.with_constraints(loop), np.ones(model.nv)
    assert free.nc == 0
    assert kt.forward_dynamics(free, q, v, 0 * v) == pytest.approx(kt.forward_dynamics(model, q, v, 0 * v))
