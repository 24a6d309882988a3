"""Locks and prescribed motions in the complete dynamics: against surgery, hybrid dynamics and rheonomic joints."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.constraints import Lock, PrescribedMotion
from kinetree.errors import ConstraintError
from kinetree.joints import Sinusoid

SWING = Sinusoid(amplitude=0.4, omega=5.0, offset=0.3)


def arm():
    """arm7 without limits and friction, and a random state."""
    model = kt.load("arm7").without_limits().replace(dry_friction=0.0)
    return model, *model.random_state(np.random.default_rng(0))


def test_a_locked_joint_leaves_the_accelerations_of_the_model_without_it():
    """kinetree.surgery.lock merges the bodies; the multiplier is the force of hybrid dynamics at acceleration zero."""
    model, q, v = arm()
    name, k = model.joint_names[3], 3
    v[k] = 0.0
    tau = np.arange(1.0, 10.0)
    a, force = kt.forward_dynamics(model.with_constraints(Lock(name)), q, v, tau, multipliers=True)
    held = kt.surgery.lock(model, {name: q[k]})
    to_held = kt.surgery.StateMap(model, held)
    assert to_held.v(q, a) == pytest.approx(kt.forward_dynamics(held, to_held.q(q), to_held.v(q, v), to_held.v(q, tau)))
    others = [x for x in model.joint_names if x != name]
    same, needed = kt.hybrid_dynamics(model, q, v, tau, np.zeros(9), forward=others)
    assert a == pytest.approx(same, rel=1e-10)
    assert force[len(model.couplings)] == pytest.approx(needed[k] - tau[k], rel=1e-10)


def test_a_locked_master_locks_its_followers():
    """And the lock carries the loads of both."""
    model, q, v = arm()
    (coupling,) = model.couplings
    locked = model.with_constraints(Lock(coupling.master))
    ends = [model.v_index(name).start for name in coupling.joints]
    v[ends] = 0.0
    a, force = kt.forward_dynamics(locked, q, v, np.ones(9), multipliers=True)
    assert (a[ends] == 0.0).all() and locked.random_state(np.random.default_rng(1))[1][ends].tolist() == [0.0, 0.0]
    follower, master = kt.inverse_dynamics(model.replace(constraints=()), q, v, a)[ends] - 1.0
    assert force == pytest.approx([follower, master + coupling.ratio * follower], rel=1e-10)


def test_a_prescribed_motion_is_a_rheonomic_joint():
    """The other joints accelerate as in the model whose joint depends on time; the time is the last input."""
    b, given = kt.ModelBuilder("cart"), kt.ModelBuilder("cart")
    rail = kt.joints.Prismatic((1, 0, 0))
    for builder, joint in ((b, rail), (given, kt.joints.Prescribed(rail, SWING))):
        builder.add_body("cart", joint=joint, joint_name="rail", mass=3.0, inertia=np.eye(3))
        builder.add_body("pole", "cart", kt.joints.Revolute((0, 1, 0)), "pole", mass=1.0, com=(0, 0, 0.5),
                         inertia=0.1 * np.eye(3))  # fmt: skip
    model, whole, t = b.build().with_constraints(PrescribedMotion("rail", SWING)), given.build(), 0.7
    q, v = np.array([SWING(t), 0.4]), np.array([0.4 * 5.0 * np.cos(5.0 * t), 1.2])
    a = kt.forward_dynamics(model, q, v, [0.0, 0.3], t)
    assert a[0] == pytest.approx(-0.4 * 25.0 * np.sin(5.0 * t), rel=1e-12)
    assert a[1:] == pytest.approx(kt.forward_dynamics(whole, q[1:], v[1:], [0.3], t), rel=1e-12)
    assert kt.aba(model, q, v, [0.0, 0.3]).shape == (2,)  # of the tree, which does not depend on time
    with pytest.raises(TypeError, match="prescribed motion of 'rail': give the time t"):
        kt.forward_dynamics(model, q, v, [0.0, 0.3])
    with pytest.raises(ConstraintError, match="q breaks the prescribed motion of 'rail'"):
        kt.forward_dynamics(model, q + 0.1, v, [0.0, 0.3], t)
    with pytest.raises(ConstraintError, match="at the start: .* q breaks the prescribed motion of 'rail'"):
        kt.rollout(model, q, v, None, 1e-3, steps=2)
    for integrator in ("semi_implicit", "rk4", "implicit_midpoint"):
        Q, V = kt.rollout(model, q, v, None, 1e-2, steps=30, integrator=integrator, t0=t)
        same = kt.rollout(whole, q[1:], v[1:], None, 1e-2, steps=30, integrator=integrator, t0=t)
        assert Q[:, 1:] == pytest.approx(same.q, abs=1e-11) and V[:, 1:] == pytest.approx(same.v, abs=1e-10)
        assert Q[:, 0] == pytest.approx([SWING(t + 1e-2 * n) for n in range(31)], abs=1e-13)


def test_rollouts_take_locks():
    """The same bits for ever at the locked joint, the same motion as by `simulate`."""
    model, q, v = arm()
    v[3] = 0.0
    locked = model.with_constraints(Lock(model.joint_names[3]))
    Q, V = kt.rollout(locked, q, v, None, 1e-3, steps=50, integrator="rk4")
    run = kt.simulate(locked, q, v, duration=0.05, integrator="rk4")
    assert (Q[:, 3] == q[3]).all() and (V[:, 3] == 0.0).all()
    assert Q[-1] == pytest.approx(run.q[-1], abs=1e-12) and np.ptp(Q, axis=0).max() > 1e-3


@pytest.mark.parametrize("integrator", ["rk4", "dp54", "linearly_implicit", "implicit_midpoint", "variational"])
def test_rollouts_by_any_step_hold_a_lock(integrator):
    """The motion of the model whose bodies surgery merges, and not one bit of the locked joint."""
    model, q, v = kt.models.double_pendulum(), np.array([0.4, 0.7]), np.array([1.0, 0.0])
    Q, V = kt.rollout(model.with_constraints(Lock("elbow")), q, v, None, 1e-2, steps=5, integrator=integrator)
    held = kt.surgery.lock(model, {"elbow": 0.7})
    other, _ = kt.rollout(held, q[:1], v[:1], None, 1e-2, steps=5, integrator=integrator)
    assert Q[:, 0] == pytest.approx(other[:, 0], abs=1e-12) and (Q[:, 1] == 0.7).all() and (V[:, 1] == 0.0).all()


def test_models_with_locks_are_verified():
    """All methods agree on states that obey the locks."""
    model = kt.models.double_pendulum().with_constraints(Lock("elbow"))
    found = kt.verify(model, states=2, fast=True)
    assert found.ok and "forward_dynamics" in str(found)
