"""Parts of models in maximal coordinates: rotors, planes, time, limits, friction, internal states, tendons."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import ArgumentError, UnsupportedError
from kinetree.integrators.kernels import implicit_states
from kinetree.joints import (
    Composite,
    Cylindrical,
    Helical,
    MovingFrame,
    Prescribed,
    Prismatic,
    Reversed,
    Revolute,
    Sinusoid,
)
from kinetree.joints.time_functions import derivatives
from tests.forces import loaded
from tests.maximal_coordinates.test_models import alike, of_bodies
from tests.tendons.test_mujoco_tendons import HEAVY
from tests.trees.geared import geared_tree

T = 0.3  # [s]
RANGES = """
<mujoco model="ranges">
  <worldbody>
    <site name="hook" pos="0.3 0 0.4"/>
    <body name="upper">
      <joint name="shoulder" axis="0 1 0" actuatorfrcrange="-2 2"/>
      <geom type="capsule" size="0.05" fromto="0 0 0 0.1 0 -0.5"/>
      <body name="lower" pos="0.1 0 -0.5">
        <joint name="elbow" axis="0 1 0"/>
        <geom type="capsule" size="0.04" fromto="0 0 0 0 0.1 -0.4"/>
        <site name="hand" pos="0 0.1 -0.4"/>
      </body>
    </body>
  </worldbody>
  <tendon><spatial name="cord"><site site="hook"/><site site="hand"/></spatial></tendon>
  <actuator><motor name="motor" joint="shoulder" gear="1.5"/><position name="winch" tendon="cord" kp="20"/>
    <position name="servo" joint="shoulder" kp="3" kv="0.5"/></actuator>
</mujoco>
"""
SINGLE = (Revolute((0, 1, 0)), Revolute((1, 0, 0)), Prismatic(), Helical(pitch=0.1))


@pytest.fixture(autouse=True)
def interpreted_source():
    with kt.interpreted():
        yield


def agreement(model, q, v, tau, f_ext, **t):
    """Accelerations, wrenches of joints, and states there and back, against joint coordinates."""
    system, driven = kt.maximal(model), t if model.time_dependent else {}
    state = system.state(q, v, **t)
    q, v = system.reduced_state(*state, **t)  # positions of composite joints are not unique; tau belongs to these
    a = kt.forward_dynamics(model, q, v, tau, f_ext=f_ext, **t)
    for method in ("sparse", "compiled", "dense"):
        found = system.accelerations(*state, tau, f_ext, method=method, **t)
        alike(found.accelerations, of_bodies(model, q, v, a, **driven))
        alike(system.reduced_accelerations(*state, found.accelerations, **t), a)
    if not model.constraints:
        wrenches = kt.dynamics.joint_wrenches(model, q, v, a, f_ext=f_ext, reference="local", **t)[1:]
        alike(found.wrenches, wrenches)
    e = system.equation(*state, **t)
    alike(e.G @ state[1], e.driven)
    alike(e.phi, np.zeros(len(e.phi)))
    return system, state


def inputs(model, seed: int):
    """A random state, joint forces and wrenches."""
    rng = np.random.default_rng(seed)
    vectors = rng.standard_normal(model.nv), rng.standard_normal(model.nv), rng.standard_normal((model.nb, 6))
    return model.random_q(rng), *vectors


@pytest.mark.seeds(6)
def test_geared_rotors(seed):
    """The angular momentum of rotors in any stator on the path of their joint, with its gyroscopic moment."""
    model = geared_tree(4 + seed % 4, seed, floating=seed % 3 == 0, near=seed % 2 == 0)
    agreement(model, *inputs(model, seed))


def test_rotors_as_bodies():
    """Rotors as inertia, and as bodies on hinges that couplings turn: rows between the rates of joints."""
    b = kt.ModelBuilder.of(kt.models.double_pendulum())
    b.add_rotor("motor", "elbow", 6.0, 2e-3, body="upper", axis=(0, 1, 0), mass=0.3, transverse_inertia=1.5e-3)
    model = b.build()
    bodies = kt.surgery.expand_gears(model)
    q, v, tau = np.array([0.3, -0.4]), np.array([1.0, 2.0]), np.array([0.5, 0.7])
    system, wide = kt.maximal(model), kt.maximal(bodies)
    state = system.state(q, v)
    a = system.reduced_accelerations(*state, system.accelerations(*state, tau).accelerations)
    of = [bodies.v_slice[bodies.joint(joint)].start for joint in ("shoulder", "elbow")]
    motor = bodies.v_slice[bodies.joint("motor")].start
    q_w, v_w, tau_w = np.zeros((3, bodies.nv))
    for found, x in ((q_w, q), (v_w, v), (tau_w, tau)):
        found[of] = x
    q_w[motor], v_w[motor] = 6.0 * q[1], 6.0 * v[1]
    state = wide.state(q_w, v_w)
    a_w = wide.reduced_accelerations(*state, wide.accelerations(*state, tau_w).accelerations)
    alike(a_w[of], a)
    alike(a, kt.forward_dynamics(model, q, v, tau))


@pytest.mark.parametrize("name", ["double_pendulum", "four_bar"])
def test_planar_models(name):
    """They are computed as their spatial models, whose bodies have all six freedoms."""
    spatial = getattr(kt.models, name)()
    model, rng = spatial.planar(), np.random.default_rng(0)
    q = spatial.keyframe("initial")[0] if spatial.constraints else spatial.random_q(rng)
    v = rng.standard_normal(model.nv)
    v = kt.closed_loops.project_velocity(spatial, q, v) if spatial.constraints else v
    system, tau = kt.maximal(model), np.linspace(-1.0, 1.0, model.nv)
    assert system.reduced is spatial
    state = system.state(q, v)
    a = system.reduced_accelerations(*state, system.accelerations(*state, tau).accelerations)
    alike(a, kt.forward_dynamics(model, q, v, tau))


SWAY = Sinusoid(0.2, 3.0, 0.4)
SHAKEN = MovingFrame((SWAY, 0.1, SWAY), "zx", (SWAY, SWAY))
TELESCOPE = Composite((Revolute((0, 1, 0)), Prescribed(Prismatic(), (SWAY,)), Revolute((1, 0, 0))))
CARRIED = [Composite((SHAKEN, Revolute(), Prismatic((1, 0, 0)))), TELESCOPE, Composite((Revolute(), SHAKEN, SHAKEN)),
           Composite((Prescribed(Cylindrical(), (None, SWAY)), Revolute((1, 0, 0)), SHAKEN))]  # fmt: skip


@pytest.mark.seeds(8)
def test_joints_that_depend_on_time(seed):
    """Moving frames with and without freedoms, and prescribed coordinates: rates that time gives, and their rates."""
    rng = np.random.default_rng(seed)
    driven = [joint for _, joint in kt.joints.examples(rng, time_dependent=True) if joint.time_dependent]
    driven = [joint for joint in driven if not framed_between(joint)] + CARRIED
    model = kt.models.random_tree(5, seed=seed, joints=[*driven, *SINGLE], floating=seed % 3 == 0)
    assert model.time_dependent
    agreement(model.replace(armature=0.1, damping=0.3, stiffness=0.2), *inputs(model, seed), t=T)


@pytest.mark.parametrize("hard", [False, True])
def test_limits_and_friction_on_moving_frames(hard):
    """Springs, stops and friction of joints that depend on time, and the forces of rows with bounds."""
    b = kt.ModelBuilder("held")
    kinds = Composite((SHAKEN, Revolute((0, 1, 0)))), Prescribed(Cylindrical((0, 1, 0)), (None, SWAY)), Revolute()
    for name, parent, joint in zip("abc", ("world", "a", "b"), kinds, strict=True):
        inertia = {"mass": 1.2, "com": (0.1, -0.2, 0.3), "inertia": (1, 1, 1)}
        b.add_body(name, parent, joint, placement=((0, 0, 1), (0.2, 0, 0)), **inertia)
    q, v, tau = np.array([0.3, -0.4, 0.5]), np.zeros(3), np.array([3.0, -2.0, 1.0])
    bounds = {"lower": [0.3 if hard else 0.35, -0.4, -9.0], "upper": [9.0, 9.0, 0.5], "limit_stiffness": 100.0}
    model = b.build().replace(**bounds, dry_friction=0.5, stiffness=0.3)
    if hard:
        model = model.with_constraints(kt.constraints.HardLimits(0.4), kt.constraints.StickingFriction())
    system = kt.maximal(model)
    state = system.state(q, v, t=T)
    found = system.accelerations(*state, tau, t=T)
    alike(system.reduced_accelerations(*state, found.accelerations, t=T), kt.forward_dynamics(model, q, v, tau, T))
    if hard:
        _, lam = kt.forward_dynamics(model, q, v, tau, T, multipliers=True)
        alike(found.multipliers[-model.nc :], lam)
        assert np.abs(lam).max() > 1.0


def framed_between(joint) -> bool:
    """Whether a moving frame is between freedoms."""
    if isinstance(joint, Reversed):
        return framed_between(joint.joint)
    parts = getattr(joint, "joints", ())
    free = [n for n, part in enumerate(parts) if part.nv]
    return any(isinstance(part, MovingFrame) and free[0] < n < free[-1] for n, part in enumerate(parts) if free)


def test_prescribed_motions():
    """Of a joint, beside a loop: the multiplier is the force of the drive."""
    arm = kt.models.n_pendulum(3)
    swing = kt.constraints.PrescribedMotion(arm.joint_names[0], Sinusoid(0.4, 2.0, 0.5))
    model = arm.with_constraints(swing)
    f, df, _ = derivatives(swing.motion, T)
    q, v, tau = np.array([f, -0.4, 0.7]), np.array([df, 0.5, -0.3]), np.array([0.0, 0.2, 0.3])
    system, state = agreement(model, q, v, tau, np.zeros((4, 6)), t=T)
    _, drive = kt.forward_dynamics(model, q, v, tau, T, multipliers=True)
    assert system.row_names[-1] == model.row_names[-1]
    alike(system.accelerations(*state, tau, t=T).multipliers[-1], drive[0])
    q_m, *_ = system.step(*state, tau, dt=0.01, t=T, stabilize=True)
    q_r, _ = system.reduced_state(q_m, state[1], t=T + 0.01)
    f, df, _ = derivatives(swing.motion, T + 0.01)
    assert q_r[0] == pytest.approx(f, abs=1e-9)
    with pytest.raises(ArgumentError, match=r"accelerations: t is None, expected the time \[s\]"):
        system.accelerations(*state)
    with pytest.raises(ArgumentError, match=r"step: t is 0.1, expected None, since nothing in the system"):
        kt.maximal(arm).step(*kt.maximal(arm).state(q, v), dt=0.1, t=0.1)


def bounded(seed: int, margin: float, **more):
    """A tree whose joints have limits within a margin of q, or exactly there, and dry friction that sticks."""
    rng = np.random.default_rng(seed)
    tree = kt.models.random_tree(4 + seed % 3, seed=seed, joints=SINGLE)
    q, n = tree.random_q(rng), tree.nv
    at = rng.random(n)
    limits = {
        "lower": np.where(at < 0.35, q - margin * rng.random(n), -np.inf),
        "upper": np.where((at > 0.35) & (at < 0.6) | (at < 0.35) * (margin > 0.0), q + margin * rng.random(n), np.inf),
    }
    friction = np.where(rng.random(n) < 0.5, rng.uniform(1.0, 5.0, n), 0.0)
    model = tree.replace(**limits, dry_friction=friction, limit_stiffness=100.0, **more)
    model = model.with_constraints(kt.constraints.HardLimits(0.4), kt.constraints.StickingFriction())
    return model, q, np.where(rng.random(n) < 0.5, 0.0, rng.standard_normal(n)), 5.0 * rng.standard_normal(n)


@pytest.mark.seeds(8)
def test_limits_and_sticking_friction(seed):
    """At limits and at rest: accelerations and the forces of each row, friction first."""
    model, q, v, tau = bounded(seed, 0.0, stiffness=0.3)
    system = kt.maximal(model)
    state = system.state(q, v)
    a, lam = kt.forward_dynamics(model, q, v, tau, multipliers=True)
    found = system.accelerations(*state, tau)
    alike(system.reduced_accelerations(*state, found.accelerations), a)
    alike(found.multipliers[-model.nc :], lam)
    assert system.row_names[-model.nc :] == model.row_names
    assert np.abs(lam).max() > 0.01 or seed >= 8  # of further seeds some have nothing that acts


@pytest.mark.seeds(8)
def test_steps_to_limits(seed):
    """From rest, where both kinds of coordinates have the same step of semi-implicit Euler."""
    model, q, _, tau = bounded(seed, 0.01, damping=0.0, stiffness=0.0)
    v = np.zeros(model.nv)
    system = kt.maximal(model)
    state = system.state(q, v)
    step = system.step(*state, tau, dt=0.05)
    _, expected = kt.integrators.semi_implicit_step(model, q, v, tau, 0.05)
    alike(system.reduced_state(state[0], step.v)[1], expected)
    assert np.abs(step.multipliers[-model.nc :]).max() > 0.01


def test_bounds_in_loop_joints():
    """Friction that sticks in the joint that closes a loop, in place of friction that is rounded off."""
    bar, c = kt.models.four_bar(), kt.constraints
    loop = dataclasses.replace(bar.loops[0], dry_friction=2.0)
    model = bar.replace(constraints=[loop, c.StickingLoopFriction()])
    q, tau = bar.keyframe("initial")[0], [3.0, 0.0, 0.0]
    system = kt.maximal(model)
    state = system.state(q, np.zeros(3))
    a = system.reduced_accelerations(*state, system.accelerations(*state, tau).accelerations)
    alike(a, kt.forward_dynamics(model, q, np.zeros(3), tau))
    free = kt.forward_dynamics(bar, q, np.zeros(3), tau)
    assert np.abs(a - free).max() > 0.1


def test_parts_without_a_maximal_form_are_named():
    """A moving frame between freedoms that are one joint with it."""
    b = kt.ModelBuilder("crane")
    pivot = Composite((Revolute(), SHAKEN, Prismatic((1, 0, 0))))
    b.add_body("load", "world", pivot, mass=1.0, com=(0, 0, 0.5), inertia=(0.1, 0.1, 0.1))
    with pytest.raises(UnsupportedError, match=r"maximal: .*'crane' has no form .*'load' \(Composite.* moves with"):
        kt.maximal(b.build())


@pytest.mark.seeds(5)
def test_internal_states_in_steps(seed):
    """Muscles, bristles, lags and rotors: the step of their states is that of semi-implicit Euler along the motion."""
    model = loaded.tree(seed)
    system, more, h = kt.maximal(model), loaded.internal(model, seed), 0.01
    rng = np.random.default_rng(seed)
    state = system.state(model.random_q(rng), rng.standard_normal(model.nv))
    q, v = system.reduced_state(*state)
    step = system.step(*state, dt=h, **more)
    _, v_next = system.reduced_state(state[0], step.v)
    given = [more[name].tolist() if name in more else None for name in ("x", "u")]
    expected = implicit_states(model, q.tolist(), v.tolist(), *given, h, v_next.tolist()) if model.nx else []
    alike(step.x, np.array(expected, float))
    assert model.nx == 0 or np.abs(step.x - more["x"]).max() > 1e-4


def test_ranges_of_actuators():
    """The sum of a motor and of a tendon's force on a joint is bounded, with its full force on other joints."""
    model = kt.load(RANGES)
    q, v, tau, f_ext = inputs(model, 0)
    system = kt.maximal(model)
    state, free = system.state(q, v), model.replace(equipment=dataclasses.replace(model.equipment, force_ranges=()))
    for u, bounded in (([0.1, 0.4, 0.1], False), ([3.0, -2.0, 0.5], True)):
        a = kt.forward_dynamics(model, q, v, tau, f_ext=f_ext, u=u)
        assert np.allclose(a, kt.forward_dynamics(free, q, v, tau, f_ext=f_ext, u=u)) != bounded
        found = system.accelerations(*state, tau, f_ext, u=u).accelerations
        alike(system.reduced_accelerations(*state, found), a)
        motions = np.stack([system.state(q, e)[1] for e in np.eye(2)], axis=1)
        for method in ("gauss_newton", "exact"):
            found = [motions.T @ slope @ motions for slope in system.slopes(*state, method, u=u)]
            unbounded = [motions.T @ slope @ motions for slope in kt.maximal(free).slopes(*state, method, u=u)]
            matrices = kt.dynamics.stiffness_matrix, kt.dynamics.damping_matrix
            of = [[matrix(each, q, v, u=u, method=method) for matrix in matrices] for each in (model, free)]
            alike(found[1], of[0][1])
            alike(found[0], of[0][0] + (unbounded[0] - of[1][0] if method == "exact" else 0.0))  # turning of forces
            assert (np.abs(found[1] - unbounded[1]).max() > 0.1) == bounded


def test_inertia_of_tendons():
    """Armatures of spatial and of fixed tendons, over several joints and the pulley of a path."""
    model = kt.load(HEAVY)
    assert model.armatures
    q, v, tau, f_ext = inputs(model, 0)
    plain = kt.forward_dynamics(model.replace(equipment=dataclasses.replace(model.equipment, tendons=())), q, v, tau)
    assert np.abs(plain - kt.forward_dynamics(model, q, v, tau)).max() > 0.01
    system = kt.maximal(model)
    state = system.state(q, v)
    a = system.reduced_accelerations(*state, system.accelerations(*state, tau, f_ext).accelerations)
    alike(a, kt.forward_dynamics(model, q, v, tau, f_ext))
