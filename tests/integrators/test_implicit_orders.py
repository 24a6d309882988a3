"""Implicit methods: measured orders against closed forms and against DOP853, on every kind of joint."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ellipj

import kinetree as kt
from kinetree.integrators import FIXED_STEP
from tests.analytic.mechanisms import ball
from tests.simulation.test_orders import start, tree

ORDERS = {"linearly_implicit": 1, "bdf1": 1} | dict.fromkeys(
    ("implicit_midpoint", "variational", "bdf2", "generalized_alpha"), 2
)
every = pytest.mark.parametrize("name", ORDERS)
STEPS = {1: (2000, 4000, 8000), 2: (200, 400, 800)}


def slopes(errors):
    """Orders measured between neighboring steps, each half of the one before."""
    return np.log2(np.array(errors[:-1]) / np.array(errors[1:]))


def elliptic_rates(moments, omega, t):
    """Angular velocity of a free body with A < B < C that starts at (w_A, 0, w_C), L^2 > 2 E B (Landau, Lifshitz)."""
    A, B, C = moments
    E2, L2 = A * omega[0] ** 2 + C * omega[2] ** 2, (A * omega[0]) ** 2 + (C * omega[2]) ** 2
    assert L2 > E2 * B
    p = np.sqrt((C - B) * (L2 - E2 * A) / (A * B * C))
    m = (B - A) * (E2 * C - L2) / ((C - B) * (L2 - E2 * A))
    sn, cn, dn, _ = ellipj(p * t, m)
    return np.array([omega[0] * cn, np.sqrt((E2 * C - L2) / (B * (C - B))) * sn, omega[2] * dn])


@every
def test_order_on_the_free_asymmetric_top(name):
    """Moments (1, 2, 3), Omega from (1, 0, 2): the rates meet the elliptic functions, order within 0.1 of theory."""
    moments, omega = (1.0, 2.0, 3.0), np.array([1.0, 0.0, 2.0])
    model, errors = ball(moments), []
    for n in STEPS[ORDERS[name]]:
        run = kt.simulate(model, v0=omega, duration=2.0, dt=2.0 / n, integrator=name, record=kt.Record(every=n))
        errors.append(np.abs(run.v[-1] - elliptic_rates(moments, omega, 2.0)).max())
    assert slopes(errors) == pytest.approx(ORDERS[name], abs=0.1), errors


def distance(model, found, exact):
    """Between two states, along the manifold."""
    return np.linalg.norm(np.concatenate((kt.difference(model, exact.q[-1], found.q[-1]), found.v[-1] - exact.v[-1])))


def orders(model, q0, v0, name, duration, steps, **settings):
    model = model.without_limits()
    exact = kt.simulate(
        model,
        q0,
        v0,
        duration=duration,
        dt=duration,
        integrator=kt.integrators.Adaptive(rtol=1e-13, atol=1e-13),
        **settings,
    )
    errors = []
    for n in steps:
        fixed = {"dt": duration / n, "integrator": name, "record": kt.Record(every=n)}
        run = kt.simulate(model, q0, v0, duration=duration, **fixed, **settings)
        errors.append(distance(model, run, exact))
    return slopes(errors), errors


@every
def test_order_on_the_double_pendulum(name):
    """Against DOP853 at 1e-13."""
    steps = STEPS[ORDERS[name]]
    measured, errors = orders(kt.models.double_pendulum(), [1.0, 0.5], [0.0, 0.0], name, 0.5, steps)
    assert measured == pytest.approx(ORDERS[name], abs=0.1), errors


@every
def test_order_with_free_and_ball_joints_and_forces_in_time(name):
    """A damped tree with a free base and a ball joint, forces sin(5 t + k): order 2 also of what is not conserved."""
    model = tree()
    q0, v0 = start(model)
    steps = (1600, 3200, 6400) if ORDERS[name] == 1 else (100, 200, 400)
    measured, errors = orders(
        model, q0, v0, name, 0.4, steps, inputs=kt.Inputs(tau=lambda t: np.sin(5.0 * t + np.arange(model.nv)))
    )
    assert measured == pytest.approx(ORDERS[name], abs=0.1), errors


@pytest.mark.parametrize("name", [name for name in ORDERS if ORDERS[name] == 2])
@pytest.mark.parametrize("seed", [1, 2])
def test_random_trees_meet_the_adaptive_solution(name, seed):
    """Joints of all kinds: h = 0.5 ms and 0.25 ms after 0.1 s, errors divided by four and below 1e-3."""
    model = kt.models.random_tree(5, seed=seed, floating=seed % 2 == 0)
    rng = np.random.default_rng(seed)
    q0, v0 = model.random_q(rng), rng.uniform(-1, 1, model.nv)
    measured, errors = orders(model, q0, v0, name, 0.1, (200, 400))
    assert errors[0] < 1e-3 and measured == pytest.approx(2.0, abs=0.1), errors


def test_bdf2_keeps_its_order_with_steps_of_any_length():
    """Steps that alternate between h and 1.5 h: order 2 at the end."""
    model = kt.models.double_pendulum()
    system_of = FIXED_STEP["bdf2"]
    exact = kt.simulate(
        model, [1.0, 0.5], duration=0.5, dt=0.5, integrator=kt.integrators.Adaptive(rtol=1e-13, atol=1e-13)
    )
    from kinetree.integrators import System

    rest, errors = np.zeros(2), []
    for n in (100, 200, 400):
        method, t, q, v = system_of(System(model)), 0.0, np.array([1.0, 0.5]), np.zeros(2)
        for k in range(2 * n):
            h = (1.0 if k % 2 == 0 else 1.5) * 0.5 / (2.5 * n)
            q, v = method.step(t, h, q, v, lambda t: rest, lambda t: ())
            t += h
        errors.append(np.abs(np.concatenate((q - exact.q[-1], v - exact.v[-1]))).max())
    assert slopes(errors) == pytest.approx(2.0, abs=0.1), errors


@pytest.mark.parametrize("name", ["linearly_implicit", "bdf1", "implicit_midpoint", "variational"])
def test_rollouts_are_the_motion_of_simulate(name):
    """A fixed number of corrections in machine code gives what iterating to rounding gives, to 1e-12."""
    model = tree()
    q0, v0 = start(model)
    run = kt.simulate(model, q0, v0, duration=0.2, dt=1e-3, integrator=name)
    q, v = kt.rollout(model, q0, v0, None, 1e-3, steps=200, integrator=name)
    assert q == pytest.approx(run.q, abs=1e-12) and v == pytest.approx(run.v, abs=1e-11)


@pytest.mark.parametrize("name", ["bdf2", "generalized_alpha"])
def test_methods_with_a_memory_go_on_where_a_snapshot_was_taken(name):
    """get_state, then set_state in a new method: the same bits; without it, other ones."""
    from kinetree.integrators import System

    model = kt.models.double_pendulum()
    rest, system = np.zeros(2), System(model)

    def march(method, t, q, v, n):
        for k in range(n):
            q, v = method.step(t + k * 0.01, 0.01, q, v, lambda t: rest, lambda t: ())
        return q, v

    first = FIXED_STEP[name](system)
    q, v = march(first, 0.0, np.array([1.0, 0.5]), np.zeros(2), 10)
    state = first.get_state()
    whole = march(first, 0.1, q, v, 10)
    second, third = FIXED_STEP[name](system), FIXED_STEP[name](system)
    second.set_state(state)
    assert np.array_equal(march(second, 0.1, q, v, 10), whole)
    assert not np.array_equal(march(third, 0.1, q, v, 10), whole)


def test_rollouts_refuse_generalized_alpha_by_name():
    """Its steps need the one before."""
    with pytest.raises(kt.errors.UnsupportedError, match="generalized_alpha"):
        kt.rollout(kt.models.pendulum(), [1.0], None, None, 1e-3, steps=2, integrator="generalized_alpha")
