"""Measured orders of the explicit methods: asymmetric top in closed form, double pendulum, trees of all joints."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import kinetree as kt
from kinetree.integrators import FIXED_STEP, Adaptive, System, crouch_grossman, explicit
from kinetree.joints import Free, Revolute, Spherical
from tests.analytic.mechanisms import rigid_body, rotation_matrix
from tests.integrators import asymmetric_top as top

METHODS = ["rk4", *(m.name for m in (*explicit.METHODS, *crouch_grossman.METHODS))]
TOP_STEPS = {1: 1600, 2: 400, 3: 200, 4: 100, 5: 120, 8: 12}  # of the coarser run; fewer for higher orders
PENDULUM_STEPS = {1: 800, 2: 320, 3: 320, 4: 160, 5: 384, 8: 64}
TREE_STEPS = {1: 1600, 2: 400, 3: 200, 4: 200, 5: 320, 8: 48}
DRIFT = (0.3, -0.2, 0.5)  # velocity of the free top [m/s], in the world

every_method = pytest.mark.parametrize("name", METHODS)


def measured(error, steps: int, refined: int) -> float:
    """The order from the errors of two runs."""
    return float(np.log(error(steps) / error(refined)) / np.log(refined / steps))


@functools.cache
def top_at(t: float):
    return top.motion(t)


@pytest.mark.parametrize("joint", [Spherical(), Free()], ids=lambda joint: joint.kind)
@every_method
def test_order_on_the_asymmetric_top(name, joint):
    """Rates, attitude and position after 2 s converge to the closed form with the order of the method, within 0.1."""
    model = rigid_body(top.MOMENTS, joint=joint)
    (w0, R0), (w1, R1), drift = top_at(0.0), top_at(2.0), np.array(DRIFT)
    q0, v0 = np.array(model.neutral(), dtype=float), np.zeros(model.nv)
    q0[-4:], v0[:3] = top.quaternion(R0), w0
    if model.nv == 6:
        v0[3:] = R0.T @ drift

    @functools.cache
    def errors(n):
        run = kt.simulate(model, q0, v0, duration=2.0, dt=2.0 / n, integrator=name, record=kt.Record(every=n))
        off = [np.linalg.norm(run.v[-1, :3] - w1), np.linalg.norm(rotation_matrix(run.q[-1, -4:]) - R1)]
        return off if model.nv == 3 else [*off, np.linalg.norm(run.q[-1, :3] - 2.0 * drift)]

    order, n = FIXED_STEP[name].order, TOP_STEPS[FIXED_STEP[name].order]
    found = [measured(lambda n, k=k: errors(n)[k], n, n * 3 // 2) for k in range(len(errors(n)))]
    assert found == pytest.approx([order] * len(found), abs=0.1)


@functools.cache
def pendulum_reference(q0, v0, duration):
    """The double pendulum without losses at nine times, by DOP853 at 1e-13."""
    model = kt.load("double_pendulum").without_limits().replace(damping=0.0, dry_friction=0.0)
    return model, *reference(model, np.array(q0), np.array(v0), duration, None)


def reference(model, q0, v0, duration, tau):
    drive = (lambda t, q, v: np.zeros(model.nv)) if tau is None else (lambda t, q, v: tau(t))
    times = np.linspace(0.0, duration, 9)
    solution = Adaptive("scipy:DOP853", 1e-13, 1e-14).solve(System(model), q0, v0, times, drive, lambda t: ())
    return q0, v0, solution.q, solution.v


@every_method
def test_order_on_the_double_pendulum(name):
    """The largest error at eight times, of hinges, whose charts are trivial; methods above 4 need more to do.

    Within 0.1; of order 8 within 0.6: less than a decade of h lies between the first steps that resolve the motion and
    those whose error is rounding.
    """
    order = FIXED_STEP[name].order
    gentle, swing = ((0.9, -0.4), (0.4, 0.3), 0.5), ((2.0, -0.5), (0.4, 0.3), 1.0)
    case = gentle if order < 5 else swing
    model, q0, v0, Q, V = pendulum_reference(*case)

    @functools.cache
    def error(n):
        run = kt.simulate(
            model,
            q0,
            v0,
            duration=case[2],
            dt=case[2] / n,
            integrator=name,
            record=kt.Record(every=n // 8),
        )
        return np.max(np.linalg.norm(np.hstack((run.q - Q, run.v - V)), axis=1))

    n = PENDULUM_STEPS[order]
    assert measured(error, n, n * 3 // 2) == pytest.approx(order, abs=0.1 if order < 8 else 0.6)


@functools.cache
def tree_reference():
    """A free base with a ball joint and two hinges, under forces that vary with time; by DOP853 at 1e-13."""
    rng = np.random.default_rng(5)
    b = kt.ModelBuilder("tree")
    parts = (("base", None, Free()), ("upper", "base", Spherical()), ("lower", "upper", Revolute((0, 1, 0))),
             ("tail", "base", Revolute((1, 0, 0))))  # fmt: skip
    for name, parent, joint in parts:
        A = rng.normal(size=(3, 3))
        at = {}
        if parent is not None:
            at = {"parent": parent, "placement": (rng.uniform(-0.4, 0.4, 3), rng.uniform(-1, 1, 3))}
        inertia = (np.trace(A @ A.T) * np.eye(3) - A @ A.T) * 0.01
        b.add_body(name, joint=joint, mass=rng.uniform(0.5, 2.0), com=rng.uniform(-0.2, 0.2, 3), inertia=inertia, **at)
    model = b.build()
    q0 = kt.integrate(model, model.neutral(), rng.uniform(-1, 1, model.nv))
    return model, *reference(model, q0, rng.uniform(-2, 2, model.nv), 0.8, push)


def push(t):
    return np.sin(5.0 * t + np.arange(11))


@every_method
def test_order_on_a_tree_of_free_and_ball_joints(name):
    """Joint forces that vary within the step are taken at the nodes of the method. Order 8 within 0.6, see above."""
    model, q0, v0, Q, V = tree_reference()
    method = FIXED_STEP[name]

    @functools.cache
    def error(n):
        run = kt.simulate(
            model,
            q0,
            v0,
            duration=0.8,
            dt=0.8 / n,
            integrator=name,
            record=kt.Record(every=n),
            inputs=kt.Inputs(tau=push),
        )
        return np.linalg.norm(np.concatenate((kt.difference(model, Q[-1], run.q[-1]), run.v[-1] - V[-1])))

    n = TREE_STEPS[method.order]
    assert measured(error, n, n * 3 // 2) == pytest.approx(method.order, abs=0.1 if method.order < 8 else 0.6)


@pytest.mark.parametrize("name", ["dp54", "rkmk3", "rkmk4", "terze", "cg3"])
def test_random_trees_converge_with_every_kind_of_joint(name):
    """One method for each kernel: a third of the step leaves an error of 3^-order, up to a quarter, or rounding."""
    model = kt.models.random_tree(5, seed=4, floating=True).without_limits()
    rng = np.random.default_rng(1)
    q0, v0 = np.array(model.random_q(rng), dtype=float), rng.uniform(-0.5, 0.5, model.nv)
    _, _, Q, V = reference(model, q0, v0, 0.05, None)

    def error(n):
        run = kt.simulate(
            model, q0, v0, duration=0.05, dt=0.05 / n, integrator=name, record=kt.Record(every=n)
        )
        return np.linalg.norm(np.concatenate((kt.difference(model, Q[-1], run.q[-1]), run.v[-1] - V[-1])))

    assert error(60) < max(1.25 * error(20) / 3.0 ** FIXED_STEP[name].order, 1e-10)
