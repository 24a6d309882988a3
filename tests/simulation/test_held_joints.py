"""Locked and prescribed joints: against models that lack these freedoms, and against hybrid dynamics."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.constraints import Lock, PrescribedMotion, StickingFriction
from kinetree.errors import ConstraintError, ModelError, SimulationError, UnknownNameError
from kinetree.joints import Polynomial, Prescribed, Prismatic, Revolute, Sinusoid
from kinetree.surgery.states import StateMap

START = np.array([0.2, 0.6, -0.1, 1.2, 0.3, 0.5, 0.1, 0.0, 0.0])
SWING = Sinusoid(amplitude=0.4, omega=5.0, offset=0.3)


def locking(model, names):
    """The model with locks on these joints."""
    return model.with_constraints(*map(Lock, (names,) if isinstance(names, str) else names))


def moving(model, name, motion):
    """The model with a prescribed motion."""
    return model.with_constraints(PrescribedMotion(name, motion))


def arm():
    """arm7 without limits and friction."""
    return kt.load("arm7").without_limits().replace(dry_friction=0.0)


def cart_pole(joint=None, damping=0.0):
    """A cart on a rail, and a pole that swings on it."""
    b = kt.ModelBuilder("cart")
    b.add_body("cart", joint=joint or Prismatic((1, 0, 0)), joint_name="rail", mass=3.0, inertia=np.eye(3))
    b.add_body("pole", parent="cart", joint=Revolute((0, 1, 0)), joint_name="pole", mass=1.0, com=(0, 0, 0.5),
               inertia=0.1 * np.eye(3), damping=damping)  # fmt: skip
    return b.build()


def test_a_locked_joint_is_at_rest_and_the_others_are_those_of_surgery():
    """The same motion as of the model whose bodies are one; not one bit of the locked joints changes."""
    whole, locked = arm(), ("elbow_pitch", "shoulder_yaw")
    q = START.copy()
    names = [whole.joint_name(i) for i in whole.outward()]
    locked = tuple(name for name in names if "elbow" in name)[:1] + (names[0],)
    entries = [whole.v_slice[whole.joint(name)].start for name in locked]
    v = np.array([0.0, 0.3, 0.5, 0.0, -0.4, 1.0, 0.2, 0.0, 0.0])
    v[entries] = 0.0
    run = kt.simulate(locking(whole, locked), q, v, duration=0.5)
    held = kt.surgery.lock(whole, {name: q[k] for name, k in zip(locked, entries, strict=True)})
    to_held = StateMap(whole, held)
    other = kt.simulate(held, to_held.q(q), to_held.v(q, v), duration=0.5, integrator="semi_implicit")
    assert (run.q[:, entries] == q[entries]).all() and (run.v[:, entries] == 0.0).all()
    assert np.ptp(run.q, axis=0).max() > 0.3
    assert to_held.q(run.q[-1]) == pytest.approx(other.q[-1], abs=1e-11)
    assert to_held.v(run.q[-1], run.v[-1]) == pytest.approx(other.v[-1], abs=1e-10)


def test_the_lock_carries_what_inverse_dynamics_asks():
    """The force of the lock is that of the hybrid dynamics with acceleration zero there."""
    model = cart_pole()
    run = kt.simulate(locking(model, "rail"), [0.0, 1.0], duration=0.4)
    force = run.energy_balance.others["force.locked joints"]
    for n in (0, 150, 400):
        a, tau = kt.hybrid_dynamics(model, run.q[n], run.v[n], np.zeros(2), np.zeros(2), forward=("pole",))
        assert force[n, 0] == pytest.approx(tau[0], rel=1e-11) and run.a[n] == pytest.approx(a, abs=1e-11)


def test_quaternions_stay_to_the_bit():
    """A locked spherical joint under load: the same four numbers."""
    b = kt.ModelBuilder("ball")
    b.add_body("a", joint=kt.joints.Spherical(), joint_name="ball", mass=1.0, com=(0.3, 0, 0), inertia=np.eye(3))
    b.add_body("b", parent="a", joint=Revolute((0, 1, 0)), joint_name="hinge", mass=1.0, com=(0.3, 0, 0.2),
               inertia=np.eye(3))  # fmt: skip
    quaternion = np.array([0.3, -0.7, 0.2, 0.5])
    q = np.append(quaternion / np.linalg.norm(quaternion), 0.4)
    run = kt.simulate(locking(b.build(), ("ball",)), q, duration=0.3)
    assert (run.q[:, :4] == q[:4]).all() and np.ptp(run.q[:, 4]) > 0.001


@pytest.mark.parametrize("motion", [SWING, Polynomial((0.1, 0.5, -0.8, 0.3)), lambda t: 0.2 * t * t])
def test_a_prescribed_joint_is_the_time_dependent_model(motion):
    """The other joints move as in the model whose joint depends on time, step by step to rounding; the prescribed
    coordinate has the motion's own value and rate, to the bit."""
    model, given = cart_pole(damping=0.2), cart_pole(Prescribed(Prismatic((1, 0, 0)), motion), damping=0.2)
    run = kt.simulate(moving(model, "rail", motion), [0.0, 1.0], duration=1.0)
    other = kt.simulate(given, [1.0], duration=1.0, integrator="semi_implicit")
    assert run.q[:, 1] == pytest.approx(other.q[:, 0], abs=1e-11) and run.v[:, 1] == pytest.approx(
        other.v[:, 0], abs=1e-10
    )
    assert [float(motion(t)) for t in run.time[1:].tolist()] == pytest.approx(run.q[1:, 0].tolist(), abs=1e-14)
    work, theirs = run.energy_balance.work("prescribed motions"), other.energy_balance.work("prescribed motions")
    assert work == pytest.approx(theirs, rel=1e-3, abs=1e-3)


def test_the_force_of_a_prescribed_motion_is_that_of_hybrid_dynamics():
    """At every sample the recorded force and the acceleration of the pole are those of hybrid_aba."""
    model = cart_pole()
    run = kt.simulate(moving(model, "rail", SWING), [0.3, 1.0], duration=0.5)
    for n in (1, 200, 499):
        rate = -0.4 * 25.0 * np.sin(5.0 * run.time[n])
        a, tau = kt.dynamics.hybrid_aba(model, run.q[n], run.v[n], np.zeros(2), [rate, 0.0], forward=("pole",))
        assert run.energy_balance.others["force.prescribed motions"][n, 0] == pytest.approx(tau[0], rel=1e-10)
        assert run.a[n] == pytest.approx(a, rel=1e-9)


def test_the_drive_of_a_prescribed_joint_overcomes_friction():
    """A mass pushed at 0.5 m/s against 3 N of friction: the drive gives 3 N, friction takes 1.5 W."""
    b = kt.ModelBuilder("mass")
    b.add_body("mass", joint=Prismatic((1, 0, 0)), joint_name="rail", mass=2.0, inertia=np.eye(3), dry_friction=3.0)
    pushed = moving(b.build(), "rail", Polynomial((0.0, 0.5))).with_constraints(StickingFriction())
    run = kt.simulate(pushed, duration=0.5)
    book = run.energy_balance
    assert book.others["force.prescribed motions"] == pytest.approx(3.0, rel=1e-12)
    assert book.work("dry friction") == pytest.approx(-0.75, rel=1e-9)
    assert book.work("prescribed motions") == pytest.approx(0.75, rel=1e-9)


@pytest.mark.parametrize("integrator", ["rk4", "dp54", "cg3", "implicit_midpoint", "bdf2", "generalized_alpha"])
def test_other_fixed_steps_keep_their_order(integrator):
    """Given motions under any fixed step: the motion of the time-dependent model under the same step, to rounding; the
    force is that of hybrid dynamics, and its work explains the energy."""
    model, given = cart_pole(damping=0.2), cart_pole(Prescribed(Prismatic((1, 0, 0)), SWING), damping=0.2)
    run = kt.simulate(moving(model, "rail", SWING), [0.3, 1.0], duration=0.5, integrator=integrator)
    other = kt.simulate(given, [1.0], duration=0.5, integrator=integrator)
    assert run.q[:, 1] == pytest.approx(other.q[:, 0], abs=1e-12)
    work, same = (x.energy_balance.work("prescribed motions") for x in (run, other))
    assert work == pytest.approx(same, abs=1e-7)
    assert np.abs(run.energy_balance.remainder).max() < (1e-4 if integrator in ("bdf2", "cg3") else 1e-5)
    a, tau = kt.hybrid_dynamics(model, run.q[200], run.v[200], np.zeros(2),
                                [-10.0 * np.sin(5.0 * run.time[200]), 0.0], forward=("pole",))  # fmt: skip
    assert run.energy_balance.others["force.prescribed motions"][200, 0] == pytest.approx(tau[0], rel=1e-10)
    assert run.a[200] == pytest.approx(a, rel=1e-9)


@pytest.mark.parametrize("integrator", ["variational", "linearly_implicit"])
def test_methods_that_take_motions_by_their_mean_or_linearized_rate(integrator):
    """Errors against dop853 fall with the order; the energy balance closes, and a rollout has the same motion."""
    driven = moving(cart_pole(damping=0.2), "rail", SWING)
    exact = kt.simulate(driven, [0.3, 1.0], duration=0.4, dt=0.1, integrator="adaptive")
    runs = [kt.simulate(driven, [0.3, 1.0], duration=0.4, dt=dt, integrator=integrator) for dt in (4e-3, 2e-3)]
    errors = [np.abs(run.q[-1] - exact.q[-1]).max() for run in runs]
    order = 2 if integrator == "variational" else 1
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.1) and errors[1] < 10.0 ** (-1 - 2 * order)
    left = [np.abs(run.energy_balance.remainder).max() for run in runs]
    assert np.log2(left[0] / left[1]) == pytest.approx(order, abs=0.3)
    rolled = kt.rollout(driven, runs[1].q[0], runs[1].v[0], None, 2e-3, steps=200, integrator=integrator)
    assert rolled.q == pytest.approx(runs[1].q, abs=1e-11)


def test_locked_under_runge_kutta():
    """rk4 with a locked elbow: the model of surgery, to rounding; the lock does no work."""
    whole = arm()
    name = whole.joint_names[3]
    k, q = whole.v_slice[4].start, START.copy()
    v = np.where(np.arange(9) == k, 0.0, 0.5) * (np.arange(9) < 7)
    run = kt.simulate(locking(whole, name), q, v, duration=0.3, integrator="rk4")
    to_held = StateMap(whole, held := kt.surgery.lock(whole, {name: q[k]}))
    other = kt.simulate(held, to_held.q(q), to_held.v(q, v), duration=0.3, integrator="rk4")
    assert (run.q[:, k] == q[k]).all() and (run.v[:, k] == 0.0).all()
    assert to_held.q(run.q[-1]) == pytest.approx(other.q[-1], abs=1e-11)
    assert np.any(run.energy_balance.others["force.locked joints"][:, k])
    assert np.abs(run.energy_balance.remainder).max() < 1e-4


@pytest.mark.parametrize("integrator", ["rk4", "cg3", "implicit_midpoint", "adaptive",
                                        kt.integrators.Adaptive("Radau")])  # fmt: skip
def test_couplings_to_prescribed_joints_and_planar_models(integrator):
    """A finger whose master is prescribed: its follower is prescribed, too, at the ratio; the drive gives both
    shares. In the plane as in space."""
    whole = arm()
    (c,), master = whole.couplings, whole.couplings[0].master
    run = kt.simulate(moving(whole, master, SWING), START, duration=0.02, integrator=integrator)
    k, follower = (whole.q_index(name).start for name in (master, c.joint))
    assert run.q[:, k] == pytest.approx([float(SWING(t)) for t in run.time], abs=1e-14)
    assert run.q[:, follower] == pytest.approx(c.ratio * run.q[:, k] + c.offset, abs=1e-14)
    assert run.v[:, follower] == pytest.approx(c.ratio * run.v[:, k], abs=1e-14)
    force = run.energy_balance.others["force.prescribed motions"][5]
    needed = kt.inverse_dynamics(whole, run.q[5], run.v[5], run.a[5])
    assert force[k] == pytest.approx(needed[k], rel=1e-9) and needed[:k] == pytest.approx(np.zeros(k), abs=1e-8)
    flat, tree = kt.models.double_pendulum().planar(), kt.models.double_pendulum()
    runs = [kt.simulate(moving(x, "elbow", SWING), [1.0, 0.3], duration=0.1, integrator=integrator)
            for x in (flat, tree)]  # fmt: skip
    assert runs[0].q == pytest.approx(runs[1].q, abs=1e-8) and np.ptp(runs[0].q[:, 0]) > 1e-3
    assert np.abs(runs[0].energy_balance.remainder).max() < 1e-5


def test_events_move_no_locked_joint():
    """An action gives all velocities 1: locked joints are at rest, prescribed ones stay on their motion."""
    model = cart_pole()
    for robot in (whole := arm(), kt.models.double_pendulum().planar()):
        name = robot.couplings[0].master if robot is whole else "elbow"
        locked = kt.simulate(locking(robot, name), duration=0.01, integrator="rk4")
        assert np.ptp(locked.q[:, robot.q_index(name)]) == 0.0
    kick = kt.Event(lambda t, q, v: t - 0.0105, action=lambda t, q, v: (q, v + 1.0), name="kick")
    for integrator in ("rk4", "adaptive", "semi_implicit"):
        run = kt.simulate(locking(model, "rail"), duration=0.02, integrator=integrator, events=kick)
        assert run.v[-1, 0] == 0.0 == run.q[-1, 0] and run.v[-1, 1] > 0.9
        run = kt.simulate(moving(model, "rail", SWING), duration=0.02, integrator=integrator, events=kick)
        assert run.q[:, 0] == pytest.approx([float(SWING(t)) for t in run.time], abs=1e-14) and run.v[-1, 1] > 0.9


def test_starts_are_put_right_and_said():
    """A start that is not on the motion, a locked joint that moves: a note each."""
    run = kt.simulate(moving(cart_pole(), "rail", SWING), [0.5, 0.0], duration=0.01)
    assert run.q[0, 0] == pytest.approx(0.3) and any("start where it does" in note for note in run.notes)
    run = kt.simulate(locking(cart_pole(), ("rail",)), v0=[1.0, 0.0], duration=0.01)
    assert (run.v[:, 0] == 0.0).all() and any("start at rest" in note for note in run.notes)


def test_what_cannot_be_is_refused():
    """Unknown joints, both at once, followers, quaternions, other integrators."""
    model, whole = cart_pole(), arm()
    with pytest.raises(UnknownNameError, match="rial"):
        locking(model, "rial")
    with pytest.raises(ConstraintError, match="both locked and prescribed"):
        moving(locking(model, "rail"), "rail", SWING)
    with pytest.raises(ConstraintError, match="follows joint"):
        locking(whole, whole.couplings[0].joint)
    with pytest.raises(ModelError, match="prescribed motion of 'joint'"):
        top = kt.ModelBuilder("top")
        top.add_body("body", joint=kt.joints.Spherical(), joint_name="joint", mass=1.0, inertia=np.eye(3))
        moving(top.build(), "joint", 0.0)
    with pytest.raises(SimulationError, match="sticking friction.*'time_stepping' and 'event_driven'.*'adaptive'"):
        stuck = model.replace(dry_friction=1.0).with_constraints(StickingFriction())
        kt.simulate(stuck, duration=0.1, integrator="adaptive")


@pytest.mark.parametrize("integrator", ["adaptive", "generalized_alpha", "Radau"])
def test_locks_are_kept_by_every_method(integrator):
    """Adaptive ones too: the motion of the model of surgery, the force of hybrid dynamics, the balance of energy."""
    whole = arm()
    name, q = whole.joint_names[3], START.copy()
    method = kt.integrators.Adaptive("Radau", rtol=1e-9) if integrator == "Radau" else integrator
    run = kt.simulate(locking(whole, name), q, duration=0.2, dt=2e-3, integrator=method)
    to_held = StateMap(whole, held := kt.surgery.lock(whole, {name: q[3]}))
    other = kt.simulate(held, to_held.q(q), duration=0.2, dt=2e-3, integrator=method)
    assert (run.q[:, 3] == q[3]).all() and (run.v[:, 3] == 0.0).all()
    assert to_held.q(run.q[-1]) == pytest.approx(other.q[-1], abs=1e-9 if method == "generalized_alpha" else 1e-7)
    others = [x for x in whole.joint_names if x != name]
    _, needed = kt.hybrid_dynamics(whole, run.q[50], run.v[50], np.zeros(9), np.zeros(9), forward=others)
    assert run.energy_balance.others["force.locked joints"][50, 3] == pytest.approx(needed[3], rel=1e-9)
    assert np.abs(run.energy_balance.remainder).max() < 1e-4
