"""Steps of time stepping against the exact solver of contact problems, with loops, limits and friction of joints."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.collision import ContactPair, Shape
from kinetree.constraints import HardLimits, StickingFriction

DT = 1e-3


def on_floor(model, bodies, height, friction=0.6, **more):
    """The model with balls on some bodies that touch the plane z = height."""
    floor = Shape("world", "plane", p=(0.0, 0.0, height), name="floor")
    pairs = [
        ContactPair(body, floor, Shape(body, "sphere", (0.03,), p=(0.02, 0.01, -0.2), name=body), friction, **more)
        for body in bodies
    ]
    return model.replace(contacts=pairs)


def sprung(legs):
    """Springs and dampers in all joints of the legs, which press them down."""
    every = dict.fromkeys(legs.joint_names, 1.0)
    rest = dict(zip(legs.joint_names, [0.1, 0.5, -0.9] * 4, strict=True))
    return legs.without_limits().replace(
        stiffness={k: 40.0 for k in every}, damping={k: 1.0 for k in every}, spring_reference=rest
    )


def settled(model, q, v, tau, steps=60):
    """The last of some steps under constant forces: states and impulses before and after."""
    impulses = np.zeros(model.n_impulses)
    for _ in range(steps):
        before = q, v, impulses
        q, v, impulses = kt.integrators.contact_step(model, q, v, impulses, tau, DT)
    return before, (q, v, impulses)


def exact(model, q, v, tau, rows=(), bounds=None):
    """Velocities after a step by the exact solver: dense matrices, bounded rows as further rows."""
    kept = tuple(c for c in model.constraints if c.row_kind == "equality")
    free = model.replace(contacts=(), constraints=kept, dry_friction=0.0).without_limits()
    _, v_free = kt.integrators.semi_implicit_step(free, q, v, tau, DT)
    J = np.concatenate([kt.collision.contact_jacobian(model, q), np.reshape(rows, (-1, model.nv))])
    # Units of impulse give the columns of the response; velocities after a step are projected on loops, rates are not.
    units = np.eye(model.nv)
    if kept:
        pushed = [kt.forward_dynamics(free, q, v, tau + unit) for unit in units]
        response = np.array(pushed).T - kt.forward_dynamics(free, q, v, tau)[:, None]
    else:
        pushed = [kt.integrators.semi_implicit_step(free, q, v, tau + unit / DT, DT)[1] for unit in units]
        response = np.array(pushed).T - v_free[:, None]
    A = J @ response @ J.T
    gaps = kt.collision.contact_gaps(model, q)
    bias = np.where(gaps > 0.0, gaps / DT, np.maximum(0.2 * gaps / DT, -1.0))
    problem = kt.contact.ContactProblem(
        0.5 * (A + A.T), J @ v_free, model.contacts[0].friction, bias=bias, bounds=bounds
    )
    found = problem.solve(tolerance=1e-6)  # legs that jam leave a singular matrix
    assert found.status == "solved"
    return v_free + response @ J.T @ np.concatenate([found.impulses.ravel(), found.row_impulses])


@pytest.mark.seeds(3)
def test_steps_of_a_robot_are_those_of_the_exact_solver(seed):
    """Four legs that press against a floor in random postures: velocities after a step agree."""
    legs = sprung(kt.load("quadruped").replace(dry_friction=0.0))
    rng = np.random.default_rng(seed)
    model = on_floor(legs, [name for name in legs.body_names if name.endswith("shank")], -0.33)
    q = np.tile([0.1, 0.7, -1.3], 4) + 0.2 * rng.standard_normal(12)
    tau = 10.0 * rng.standard_normal(12)
    (q0, v0, _), (_, v1, impulses) = settled(model, q, np.zeros(12), tau, 40)
    expected = exact(model, q0, v0, tau)
    assert (impulses.reshape(-1, 3)[:, 2] > 0.0).any()
    assert v1 == pytest.approx(expected, abs=1e-6 * max(1.0, np.abs(expected).max()))


@pytest.mark.parametrize("direction", [1.0, -1.0])
def test_loops_are_part_of_the_step(direction):
    """A four-bar whose coupler meets the floor: the step is the exact one of the closed mechanism, and stays closed."""
    bar = kt.models.four_bar()
    q, v = bar.keyframe("initial")
    floor = Shape("world", "plane", p=(0.0, 0.0, -5.0), R=turned(bar), name="floor")
    tip = Shape("coupler", "sphere", (0.1,), name="tip")
    gap = kt.collision.contact_gaps(bar.replace(contacts=[ContactPair("tip", floor, tip)]), q)[0]
    normal = np.array(floor.R)[:, 2]
    below = Shape("world", "plane", p=tuple(np.array(floor.p) + (gap - 2e-3) * normal), R=floor.R, name="floor")
    model = bar.replace(contacts=[ContactPair("tip", below, tip, 0.4)])
    tau = np.array([direction, 0.0, 0.0])
    impulses, touched = np.zeros(3), 0
    for _ in range(300):
        before = q, v
        q, v, impulses = kt.integrators.contact_step(model, q, v, impulses, tau, DT)
        if impulses[2] > 0.0:
            touched += 1
            expected = exact(model, *before, tau)
            assert v == pytest.approx(expected, abs=1e-4)  # both project on the loops after the step
            if touched > 5:
                break
    assert touched > 5
    assert np.abs(kt.closed_loops.error(model, q)).max() < 1e-9


def turned(bar):
    """Axes of a plane whose normal lies in the plane of the mechanism, along its gravity."""
    g = np.array([*bar.gravity]) if np.linalg.norm([*bar.gravity]) else np.array([0.0, -1.0, 0.0])
    n = -g / np.linalg.norm(g)
    t = np.cross(n, [0.0, 0.0, 1.0]) if abs(n[2]) < 0.9 else np.cross(n, [0.0, 1.0, 0.0])
    t /= np.linalg.norm(t)
    return tuple(map(tuple, np.column_stack([t, np.cross(n, t), n]).tolist()))


@pytest.mark.seeds(3)
def test_friction_and_limits_of_joints_are_part_of_the_step(seed):
    """A leg that stands with dry friction in its joints and one of them at its limit: as rows of the exact problem."""
    rng = np.random.default_rng(seed)
    legs = sprung(kt.load("quadruped").replace(dry_friction=0.4))
    limits = {"lower": {"FL_knee": -1.35}, "limit_stiffness": {"FL_knee": 10.0}}
    model = on_floor(legs.replace(**limits), ["FL_shank", "RR_shank"], -0.33)
    model = model.with_constraints(StickingFriction(), HardLimits())
    q, tau = np.tile([0.1, 0.7, -1.3], 4), 3.0 * rng.standard_normal(12)
    tau[2] = -4.0
    (q0, v0, _), (_, v1, _) = settled(model, q, np.zeros(12), tau, 400)
    knee = model.v_index("FL_knee").start
    at_limit = q0[model.q_index("FL_knee").start] + 1.35
    bounds = [*([-0.4 * DT, 0.4 * DT] for _ in range(12)), [0.0, np.inf]]
    # The limit allows the velocity that reaches it, which shifts its row's rate.
    assert at_limit == pytest.approx(0.0, abs=1e-12)
    expected = exact(model, q0, v0, tau, [*np.eye(12), np.eye(12)[knee]], np.array(bounds))
    assert v1 == pytest.approx(expected, abs=1e-5)


def test_joints_that_stick_are_exactly_at_rest():
    """An arm that its friction holds comes to rest in the first steps, and one in a limit stays there."""
    arm = kt.models.double_pendulum().replace(dry_friction=100.0)
    held = arm.with_constraints(StickingFriction())
    q, v = kt.rollout(held, [1.0, 0.5], None, None, DT, steps=50, integrator="time_stepping")
    assert q == pytest.approx(np.tile([1.0, 0.5], (51, 1)), abs=1e-5) and (v[20:] == 0.0).all()
    free = kt.models.pendulum().replace(lower=-0.5, upper=0.5, limit_stiffness=10.0, damping=0.1)
    stopped = free.with_constraints(HardLimits())
    q, v = kt.rollout(stopped, [0.0], None, [30.0], 5 * DT, steps=400, integrator="time_stepping")
    assert q[-1, 0] == 0.5 and v[-1, 0] == 0.0 and q.max() == 0.5
