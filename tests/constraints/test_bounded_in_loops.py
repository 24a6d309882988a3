"""Friction that sticks and hard limits in mechanisms with loops: closed forms, conditions of the solution, steps."""

from __future__ import annotations

import functools
import itertools

import numpy as np
import pytest

import kinetree as kt
from kinetree.algorithms.constraint_rows import constraint_error, constraint_jacobian
from kinetree.constraints import HardLimits, StickingFriction
from tests.constraints.test_bounded import by_kind
from tests.constraints.test_loops import rhombus

G = 9.81


@functools.cache
def mechanism(seed: int):
    """A closed mechanism with friction at all joints of the tree and limits at a closed position."""
    family = ("spatial", "planar", "spherical")[seed % 3]
    model, q, v = kt.models.random_loops(seed + 7, bodies=6, loops=1 + seed % 2, family=family)
    rng = np.random.default_rng(seed)
    single = [model.joint_name(i) for i in model.outward() if model.joints[i].nq == model.joints[i].nv == 1]
    bounds = {"lower": {}, "upper": {}}
    for name in single[::3]:
        x = q[model.q_index(name)][0]
        bounds["lower" if rng.random() < 0.5 else "upper"][name] = x
    friction = rng.uniform(0.1, 3.0, model.nv)
    model = model.replace(dry_friction=friction, damping=0.0, **bounds)
    return model.with_constraints(StickingFriction(), HardLimits()), q, v


@pytest.mark.seeds(12)
def test_conditions_of_the_solution(seed):
    """The equation of motion, loops, bounds, and slip against friction; they have one solution."""
    model, q, v = mechanism(seed)
    bare = model.replace(constraints=(), dry_friction=0.0).without_limits()
    rng, c = np.random.default_rng(seed), np.asarray(model.dry_friction)
    K = np.array(constraint_jacobian(model, q.tolist()))
    box = [n for n, label in enumerate(model.constraint_labels) if label.startswith(("sticking", "hard"))]
    loops = [n for n in range(model.nc) if n not in box]
    for n in range(6):
        tau = rng.standard_normal(model.nv) * 10.0 ** rng.uniform(-1, 2)
        rate = 0.0 * v if n % 3 else v
        with kt.interpreted():
            a, lam = kt.forward_dynamics(model, q, rate, tau, multipliers=True)
        forces = by_kind(model, lam)
        f, push = forces["sticking_friction"], forces["hard_limits"]
        small = 1e-7 * (1.0 + np.abs(lam).max())
        left = kt.inverse_dynamics(bare, q, rate, a) - tau - K[loops].T @ lam[loops]
        assert left == pytest.approx(f + push, abs=small)
        if n % 3:
            assert pytest.approx(0.0, abs=small) == K[loops] @ a
        assert (np.abs(f) <= c + small).all()
        slips = (rate == 0.0) & (np.abs(a) > 1e-6 * (1.0 + np.abs(a).max()))
        assert f[slips] == pytest.approx((-c * np.sign(a))[slips], abs=small)
        assert f[rate != 0.0] == pytest.approx((-c * np.sign(rate))[rate != 0.0])
        assert np.abs(push * a).max() <= small * (1.0 + np.abs(a).max())


@pytest.mark.parametrize("push", [0.2, 0.59, 0.61, 3.0, -2.0])
def test_a_parallelogram_with_friction_in_all_joints(push):
    """Its joints turn together: it starts against the sum of their friction, and rests exactly below that."""
    model = rhombus(gravity=(0.0, 0.0, 0.0)).replace(dry_friction=0.2).with_constraints(StickingFriction())
    q, zero = np.array([1.2, -1.2, 1.2 - np.pi]), np.zeros(3)
    a, lam = kt.forward_dynamics(model, q, zero, [push, 0.0, 0.0], multipliers=True)
    expected = np.sign(push) * max(abs(push) - 0.6, 0.0) / (5.0 / 3.0)
    assert a == pytest.approx(expected * np.array([1.0, -1.0, 1.0]), abs=1e-9)
    assert expected or not a.any()
    friction = by_kind(model, lam)["sticking_friction"]
    assert friction @ [1.0, -1.0, 1.0] == pytest.approx(-min(0.6, max(-0.6, push)), abs=1e-9)


def test_a_limit_carries_the_load_of_a_loop():
    """The rocker of a parallelogram at its stop: no motion, and the stop gives the moment of the weight."""
    q, zero = np.array([1.2, -1.2, 1.2 - np.pi]), np.zeros(3)
    model = rhombus().replace(lower={"rocker": q[2]}).with_constraints(HardLimits(of="rocker"))
    a, lam = kt.forward_dynamics(model, q, zero, zero, multipliers=True)
    assert np.abs(a).max() < 1e-12
    assert by_kind(model, lam)["hard_limits"][2] == pytest.approx(2.0 * G * np.cos(1.2), rel=1e-9)
    a = kt.forward_dynamics(model, q, zero, [25.0, 0.0, 0.0])
    assert a[0] == pytest.approx((25.0 - 2.0 * G * np.cos(1.2)) * 0.6, rel=1e-9)


def quadratic_program(M, f, K, C):
    """``min x M x / 2 - f x`` with ``K x = 0``, ``C x >= 0``, by all sets of active rows; x and their forces."""
    found = []
    for active in itertools.chain.from_iterable(itertools.combinations(range(len(C)), n) for n in range(len(C) + 1)):
        rows = np.vstack([K, C[list(active)]])
        whole = np.block([[M, -rows.T], [rows, np.zeros((len(rows), len(rows)))]])
        if np.linalg.matrix_rank(rows, 1e-9) == len(rows):
            x = np.linalg.solve(whole, np.concatenate([f, np.zeros(len(rows))]))
            push = np.zeros(len(C))
            push[list(active)] = x[len(M) + len(K) :]
            if (C @ x[: len(M)] > -1e-9).all() and (push > -1e-9).all():
                found.append((x[: len(M)], push))
    return found[0]


@pytest.mark.seeds(8)
def test_limits_in_loops_solve_a_quadratic_program(seed):
    """Sueda, eqs. 2.104-2.105 for a step's velocities, 2.125-2.127 for accelerations: joints at limits in a ladder."""
    tree, rng, h = kt.models.ladder(2), np.random.default_rng(seed), 0.01
    q, _ = tree.keyframe("initial")
    stops = {"left1": 1.0, "right1": -1.0, "left2": 1.0, "rung2": -1.0}  # the sides on which they are free
    bounds = {side: {name: q[tree.q_index(name)][0] for name, x in stops.items() if x == sign}
              for side, sign in (("lower", 1.0), ("upper", -1.0))}  # fmt: skip
    model = tree.replace(**bounds).with_constraints(HardLimits())
    K = np.array(constraint_jacobian(tree, q.tolist()))[list(tree.independent_rows())]
    C = np.zeros((4, model.nv))
    for n, (name, sign) in enumerate(stops.items()):
        C[n, tree.v_index(name)] = sign
    tau, rest = 30.0 * rng.standard_normal(model.nv), np.zeros(model.nv)
    M = kt.crba(tree, q)
    a, push = quadratic_program(M, tau - kt.bias_forces(tree, q, rest), K, C)
    with kt.interpreted():
        found, lam = kt.forward_dynamics(model, q, rest, tau, multipliers=True)
    assert found == pytest.approx(a, abs=1e-8 * (1.0 + np.abs(a).max()))
    bounded = by_kind(model, lam)["hard_limits"]  # which limits of one motion share a force is not unique
    along = kt.closed_loops.null_space(tree, q).T
    assert along @ bounded == pytest.approx(along @ C.T @ push, abs=1e-7 * (1.0 + np.abs(push).max()))
    assert (C @ bounded >= 0.0).all()
    v = kt.closed_loops.project_velocity(tree, q, rng.standard_normal(model.nv))
    force = M @ v + h * (tau - kt.bias_forces(tree, q, v))
    after, _ = quadratic_program(M, force, K, C)
    with kt.interpreted():
        found = v + h * kt.dynamics.semi_implicit_acceleration(model, q, v, tau, h)
    assert found == pytest.approx(after, abs=1e-8 * (1.0 + np.abs(after).max()))


def test_compiled_in_both_precisions():
    """Batches as interpreted; float32 to its precision."""
    model, q, v = mechanism(1)
    tau = np.random.default_rng(0).standard_normal((5, model.nv))
    f = kt.compile(model, "forward_dynamics", multipliers=True, checks=False)
    a, _ = f(np.tile(q, (5, 1)), np.zeros((5, model.nv)), tau)
    with kt.interpreted():
        expected = kt.forward_dynamics(model, np.tile(q, (5, 1)), np.zeros((5, model.nv)), tau)
    assert a == pytest.approx(expected, abs=1e-8 * (1.0 + np.abs(expected).max()))
    single, _ = f(*(np.asarray(x, np.float32) for x in (np.tile(q, (5, 1)), np.zeros((5, model.nv)), tau)))
    assert single == pytest.approx(expected, abs=2e-2 * (1.0 + np.abs(expected).max()))


def test_rollouts_stick_with_loops_closed():
    """A parallelogram swings and stops as the pendulum of its inertia, weight and friction; it stays closed."""
    model = rhombus().replace(dry_friction=2.0).with_constraints(StickingFriction())
    b = kt.ModelBuilder("pendulum")
    joint = {"joint": kt.joints.Revolute(), "dry_friction": 6.0}
    b.add_body("rod", mass=4.0, com=(0.5, 0, 0), inertia=np.eye(3) * 2 / 3, **joint)
    single = b.build().replace(gravity=(0, -G, 0)).with_constraints(StickingFriction())
    q = np.array([0.4, -0.4, 0.4 - np.pi])
    run = kt.rollout(model, q, None, None, 1e-3, steps=4000)
    alone = kt.rollout(single, q[:1], None, None, 1e-3, steps=4000)
    assert run.q[..., 0] == pytest.approx(alone.q[..., 0], abs=2e-3)
    assert np.ptp(run.q[..., 0]) > 1.0 and not run.v[-1].any() and not alone.v[-1].any()
    assert np.abs([constraint_error(model, x) for x in run.q[::300].tolist()]).max() < 1e-9
