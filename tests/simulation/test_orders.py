"""Orders of convergence of the fixed-step integrators, on trees with joints of every kind."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.joints import Free, Revolute, Spherical


def tree():
    """A free base, a spherical shoulder and two hinges, all of them damped: every term of the dynamics is there."""
    rng = np.random.default_rng(5)
    b = kt.ModelBuilder("tree")
    parts = [("base", None, Free()), ("upper", "base", Spherical()), ("lower", "upper", Revolute((0, 1, 0))),
             ("tail", "base", Revolute((1, 0, 0)))]  # fmt: skip
    for name, parent, joint in parts:
        A = rng.normal(size=(3, 3))
        at = (
            {}
            if parent is None
            else {"parent": parent, "placement": (rng.uniform(-0.4, 0.4, 3), rng.uniform(-1, 1, 3))}
        )
        moments = A @ A.T * 0.01
        inertia = np.trace(moments) * np.eye(3) - moments
        b.add_body(name, joint=joint, mass=rng.uniform(0.5, 2.0), com=rng.uniform(-0.2, 0.2, 3), inertia=inertia, **at)
    model = b.build()
    return model.replace(damping=np.full(model.nv, 0.05))


def start(model):
    rng = np.random.default_rng(6)
    return kt.integrate(model, model.neutral(), rng.uniform(-1, 1, model.nv)), rng.uniform(-2, 2, model.nv)


@pytest.mark.parametrize("integrator, order, steps", [("semi_implicit", 1, (200, 400, 800)), ("rk4", 4, (20, 40, 80))])
def test_order_of_convergence(integrator, order, steps):
    """Halving the step divides the error at t = 0.4 s by 2^order: measured order within 0.2 of the nominal one.

    The reference is DOP853 at 1e-12; the forces are smooth in time, so nothing hides the order.
    """
    model = tree()
    q0, v0 = start(model)
    settings = {"duration": 0.4, "inputs": kt.Inputs(tau=lambda t: np.sin(5.0 * t + np.arange(model.nv)))}
    exact = kt.simulate(model, q0, v0, dt=0.4, integrator=kt.integrators.Adaptive(rtol=1e-12, atol=1e-12), **settings)
    errors = []
    for n in steps:
        run = kt.simulate(model, q0, v0, dt=0.4 / n, integrator=integrator, record=kt.Record(every=n), **settings)
        dq = kt.difference(model, exact.q[-1], run.q[-1])
        errors.append(np.linalg.norm(np.concatenate((dq, run.v[-1] - exact.v[-1]))))
    measured = np.log2(np.array(errors[:-1]) / np.array(errors[1:]))
    assert np.all(np.abs(measured - order) < 0.2), (measured, errors)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_rk4_meets_the_adaptive_solution_on_random_trees(seed):
    """Random trees with all kinds of joints: RK4 at h = 0.5 ms agrees with DOP853 at 1e-11 to 1e-7 after 0.1 s."""
    model = kt.models.random_tree(5, seed=seed, floating=seed % 2 == 0).without_limits()
    q0, v0 = model.random_q(np.random.default_rng(seed)), np.random.default_rng(seed + 9).uniform(-1, 1, model.nv)
    common = {"duration": 0.1}
    fixed = kt.simulate(model, q0, v0, dt=5e-4, integrator="rk4", **common)
    exact = kt.simulate(model, q0, v0, dt=0.1, integrator=kt.integrators.Adaptive(rtol=1e-11, atol=1e-11), **common)
    assert np.max(np.abs(kt.difference(model, exact.q[-1], fixed.q[-1]))) < 1e-7
    assert fixed.v[-1] == pytest.approx(exact.v[-1], abs=1e-6)


@pytest.mark.parametrize("integrator", ["semi_implicit", "rk4", "adaptive"])
def test_quaternions_stay_of_unit_length(integrator):
    """Every recorded quaternion has length 1 to rounding."""
    model = tree()
    q0, v0 = start(model)
    run = kt.simulate(model, q0, v0, duration=0.3, dt=1e-3, integrator=integrator)
    for part in (run.q[:, 3:7], run.q[:, 7:11]):
        assert np.linalg.norm(part, axis=1) == pytest.approx(1.0, abs=1e-14)


@pytest.mark.parametrize("method", ["scipy:DOP853", "scipy:RK45", "scipy:RK23", "Radau", "BDF", "LSODA"])
def test_every_scipy_method_runs(method):
    """All methods of solve_ivp give the same motion within their tolerance."""
    run = kt.simulate(
        kt.models.pendulum(),
        [1.0],
        duration=0.5,
        dt=0.1,
        integrator=kt.integrators.Adaptive(method, rtol=1e-6, atol=1e-8),
    )
    exact = kt.simulate(kt.models.pendulum(), [1.0], duration=0.5, dt=0.1, integrator="adaptive")
    assert run.q == pytest.approx(exact.q, abs=1e-4)
