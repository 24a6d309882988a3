"""MPPI and CEM: closed forms of their updates, the LQR solution as limit, swings, seeds, and errors."""

from __future__ import annotations

from math import erf, exp, pi, sqrt

import numpy as np
import pytest

import kinetree as kt
from tests.predictive_control.linear_masses import DT, masses, matrices, riccati

START = np.array([1.0, -0.5]), np.array([0.3, 0.2])
T = 5


def quadratic(s):
    """Half of |x|^2 + 0.1 |u|^2 for each second, without that of the start, and 6 |x|^2 / 2 at the end."""
    x = np.concatenate((s.q, s.v), axis=-1)
    running = 0.5 * DT * ((x[:, 1:-1] ** 2).sum((1, 2)) + 0.1 * (s.u**2).sum((1, 2)))
    return running + 3.0 * (x[:, -1] ** 2).sum(1)


def hessian_and_minimum(model):
    """Of `quadratic` over all forces (T, 2): by the motion's linear dependence on them, and by Riccati."""
    A, B = matrices(model)
    K, _ = riccati(A, B, DT * np.eye(4), 0.1 * DT * np.eye(2), 6.0 * np.eye(4), T)
    x, u = np.concatenate(START), []
    for gain in K:
        u.append(-gain @ x)
        x = A @ x + B @ u[-1]
    G = np.zeros((T + 1, 4, T, 2))
    for k in range(T):
        G[k + 1] = np.tensordot(A, G[k], 1)
        G[k + 1, :, k] += B
    G = G.reshape(T + 1, 4, 2 * T)
    H = 0.1 * DT * np.eye(2 * T) + 6.0 * G[-1].T @ G[-1] + DT * sum(g.T @ g for g in G[1:-1])
    return H, np.array(u).ravel()


@pytest.mark.parametrize("weight", [0.0, 1.0])
def test_an_update_of_mppi_is_the_mean_of_the_posterior(weight):
    """With a quadratic cost the weighted samples are Gaussian: the new mean has a closed form."""
    model, n, temperature, variance = masses(), 100_000, 3.0, 4.0
    H, best = hessian_and_minimum(model)
    plan = np.linspace(-1.0, 1.0, 2 * T)
    precision = np.eye(2 * T) / variance
    about = (1.0 - weight) * plan  # the noise is about the plan, or, with the control's weight, about zero
    wanted = np.linalg.solve(precision + H / temperature, precision @ about + H @ best / temperature)
    mppi = kt.control.MPPI(
        model, quadratic, dt=DT, horizon=T, samples=n, covariance=variance, temperature=temperature,
        control_weight=weight, plan=plan.reshape(T, 2), integrator="semi_implicit",
    )  # fmt: skip
    mppi(0.0, *START)
    deviation = np.sqrt(np.diag(np.linalg.inv(precision + H / temperature)))
    assert np.abs(plan - wanted).max() > 0.5
    noise = 6.0 * deviation / sqrt(mppi.reports[-1].effective_samples)
    assert (np.abs(mppi.plan.ravel() - wanted) < noise).all() and noise.max() < 0.1


def test_mppi_and_cem_converge_to_the_solution_of_lqr():
    """The plan approaches Riccati's, and its cost the least one, as iterations go on."""
    model = masses()
    H, best = hessian_and_minimum(model)
    common = {"dt": DT, "horizon": T, "samples": 512, "integrator": "semi_implicit"}
    excess = {}
    for controller in (
        kt.control.MPPI(model, quadratic, covariance=0.5, temperature=0.02, iterations=150, **common),
        kt.control.CEM(model, quadratic, covariance=9.0, iterations=30, least_deviation=1e-4, **common),
    ):
        controller(0.0, *START)
        off = controller.plan.ravel() - best
        excess[type(controller).__name__] = 0.5 * off @ H @ off
    at_zero = 0.5 * best @ H @ best
    assert excess["MPPI"] < 5e-3 * at_zero  # noise of the mean remains
    assert excess["CEM"] < 1e-6 * at_zero


def test_an_update_of_cem_is_that_of_the_tail_of_a_normal_distribution():
    """A cost linear in one force: mean and deviation of the elites are those of a truncated normal distribution."""
    model, n, deviation, part = masses(), 100_000, 2.0, 0.1
    cem = kt.control.CEM(
        model, lambda s: s.u[:, 0, 0], dt=DT, horizon=1, samples=n, covariance=deviation**2, elite_fraction=part,
        iterations=1, integrator="semi_implicit",
    )  # fmt: skip
    cem(0.0, *START)
    quantile = -1.2815515655446004  # of the normal distribution at 0.1
    assert abs(0.5 * (1 + erf(quantile / sqrt(2))) - part) < 1e-12
    ratio = exp(-0.5 * quantile**2) / sqrt(2 * pi) / part
    spread = sqrt(1 - quantile * ratio - ratio**2) * deviation
    noise = 6.0 * deviation / sqrt(part * n)
    assert abs(cem.plan[0, 0] + deviation * ratio) < noise and abs(cem.plan[0, 1]) < noise
    assert abs(cem._widths[0, 0] - spread) < noise and abs(cem._widths[0, 1] - deviation) < noise


def upright(s):
    """Of a cart-pole: the pole up, the cart in the middle, slow at the end."""
    up = 1.0 - np.cos(s.q[..., 1])
    return (20.0 * up + s.q[..., 0] ** 2 + 0.05 * s.v[..., 1] ** 2 + 0.1 * s.v[..., 0] ** 2).mean(axis=1)


@pytest.mark.parametrize("kind", ["MPPI", "CEM"])
def test_a_pole_is_swung_up_and_held(kind):
    """From hanging to within 20 degrees of upright after 3.5 s by a bounded force, in closed loop."""
    options = {"dt": 0.04, "horizon": 40, "samples": 256, "knots": 10, "actuated": "slider", "effort_limit": 10.0}
    pole = kt.models.cart_pole()
    if kind == "MPPI":
        controller = kt.control.MPPI(pole, upright, covariance=25.0, temperature=0.02, iterations=2, **options)
    else:
        controller = kt.control.CEM(pole, upright, covariance=25.0, iterations=3, **options)
    run = kt.simulate(
        pole, [0.0, np.pi], duration=4.0, dt=0.02, integrator="rk4", controller=kt.control.Sampled(controller, 0.04)
    )
    last = run.time > 3.5
    assert (np.cos(run.q[last, 1]) > np.cos(np.radians(20.0))).all() and np.abs(run.q[:, 0]).max() < 3.0
    assert np.abs(run.tau[:, 0]).max() <= 10.0 and not run.tau[:, 1].any()


def pendulum(**more):
    options = {"dt": 0.05, "horizon": 8, "samples": 64, "covariance": 4.0, "temperature": 0.5}
    cost = lambda s: (s.q[..., 0] ** 2).sum(axis=1)  # noqa: E731
    return kt.control.MPPI(kt.models.pendulum(), cost, **(options | more))


def test_random_numbers_depend_on_the_seed_and_the_call_alone():
    """The same bits again after a reset, for any threads, and from a state in the middle; others for another seed."""
    state = np.array([0.3]), np.array([0.1])
    a, b = pendulum(threads=1), pendulum(threads=2)
    first = [a(0.05 * k, *state) for k in range(3)]
    assert np.array_equal(first, [b(0.05 * k, *state) for k in range(3)])
    a.reset()
    assert np.array_equal(a(0.0, *state), first[0])
    middle = a.get_state()
    assert np.array_equal(a(0.05, *state), first[1])
    a.set_state(middle)
    assert np.array_equal(a(0.05, *state), first[1])
    assert not np.array_equal(pendulum(seed=1)(0.0, *state), first[0])
    assert np.array_equal(b(0.0, *state), first[0])  # an earlier time resets


def test_the_plan_is_shifted_by_the_time_between_calls():
    """With almost no noise a plan stays what it is, moved by one or by one and a half entries."""
    plan = np.arange(8.0)[:, None]
    for later, wanted in ((0.05, [1, 2, 3, 4, 5, 6, 7, 7]), (0.075, [1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7, 7])):
        still = pendulum(plan=plan, covariance=1e-18)
        still(0.0, [0.0], [0.0])
        still(later, [0.0], [0.0])
        assert np.allclose(still.plan[:, 0], wanted, rtol=0, atol=1e-7)


def test_motions_that_blow_up_have_no_weight():
    """Huge forces end motions in infinity; the plan comes from the others, here that of no forces in equilibrium."""
    cost = lambda s: np.abs(s.u).sum((1, 2))  # noqa: E731
    cem = kt.control.CEM(kt.models.double_pendulum(), cost, dt=1.0, horizon=30, samples=64, covariance=1e12)
    cem(0.0, [0.0, 0.0], [0.0, 0.0])
    assert 0 < cem.reports[-1].diverged < 64 and np.isfinite(cem.plan).all()


def test_wrong_costs_and_arguments_are_named():
    """Each error says which sample or argument, what is expected, and what was found."""
    state = np.array([0.3]), np.array([0.1])
    good = lambda s: s.q[:, -1, 0]  # noqa: E731

    def call(cost, **more):
        options = {"dt": 0.05, "horizon": 4, "samples": 16, "covariance": 1.0, "temperature": 1.0} | more
        return kt.control.MPPI(kt.models.pendulum(), cost, **options)(0.0, *state)

    def one_nan(s):
        x = s.q[:, -1, 0].copy()
        x[7] = np.nan
        return x

    for cost, more, kind, text in (
        (one_nan, {}, kt.errors.NonFiniteError, "the cost of sample 7 is nan.*1 of 16"),
        (lambda s: s.q[:, :, 0], {}, kt.errors.ShapeError, r"cost has shape \(16, 5\), expected \(16,\)"),
        (lambda s: "low", {}, kt.errors.KinetreeError, "the cost gives 'low', expected an array of 16 numbers"),
        (lambda s: np.full(16, np.inf), {}, kt.errors.NonFiniteError, "the costs of all 16 samples are infinite"),
        (good, {"horizon": 0}, kt.errors.ArgumentError, "horizon is 0, expected a positive number of controls"),
        (good, {"samples": 1}, kt.errors.ArgumentError, "samples is 1, expected a number of samples, 2 or more"),
        (good, {"covariance": -1.0}, kt.errors.ArgumentError, "covariance has the eigenvalue -1"),
        (good, {"temperature": 0.0}, kt.errors.ArgumentError, "temperature is 0.0, expected a positive number"),
        (good, {"knots": 5}, kt.errors.ArgumentError, "knots is 5, expected a number of knots from 1 to 4"),
        (good, {"plan": [1.0, 2.0]}, kt.errors.ArgumentError, r"plan is .* expected finite forces of shape \(4, 1\)"),
        (good, {"actuated": "elbow"}, kt.errors.UnknownNameError, "no joint named 'elbow'"),
        (good, {"dtype": np.int32}, kt.errors.ArgumentError, "expected float64 or float32"),
        ("good", {}, kt.errors.ArgumentError, "cost is 'good', expected"),
    ):
        with pytest.raises(kind, match=text):
            call(cost, **more)
    with pytest.raises(kt.errors.NonFiniteError, match=r"q\[0\] is not finite"):
        pendulum()(0.0, [np.nan], [0.0])
    with pytest.raises(kt.errors.UnsupportedError, match="has internal states"):
        kt.control.MPPI(kt.models.arm26(), good, dt=0.01, horizon=4, covariance=1.0, temperature=1.0)
