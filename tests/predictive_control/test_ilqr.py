"""Optimal control by iLQR and DDP: Riccati's solution on linear models, exact derivatives, conditions of an optimum."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.linalg import solve_discrete_are

import kinetree as kt
from kinetree.predictive_control.box_quadratic import box_quadratic
from kinetree.predictive_control.linearized_steps import LinearizedSteps
from kinetree.predictive_control.stage_costs import StageCost
from tests.predictive_control.linear_masses import DT, masses, matrices, riccati

START = np.array([1.0, -0.5]), np.array([0.3, 0.2])
EPS = np.finfo(float).eps


def quadratic(s):
    """Half of |x|^2 + 0.1 |u|^2 for each second."""
    return 0.5 * (sum(x * x for x in (*s.q, *s.v)) + 0.1 * sum(x * x for x in s.tau))


def last(s):
    return 3.0 * sum(x * x for x in (*s.q, *s.v))


def test_one_iteration_is_the_solution_of_riccati_on_a_linear_model():
    """Gains, forces and cost are those of the recursion, to rounding; a second iteration has nothing to do."""
    model, T = masses(), 30
    found = kt.control.iLQR(model, quadratic, last, dt=DT, horizon=T, integrator="semi_implicit")(*START)
    A, B = matrices(model)
    K, P = riccati(A, B, DT * np.eye(4), 0.1 * DT * np.eye(2), 6.0 * np.eye(4), T)
    x = np.concatenate(START)
    assert found.iterations == 1 and found.converged
    assert np.allclose(found.K, -K, rtol=0, atol=1e3 * EPS * np.abs(K).max())
    assert abs(found.cost - 0.5 * x @ P @ x) < 1e3 * EPS * found.cost
    for k in range(T):
        assert np.allclose(found.tau[k], -K[k] @ x, rtol=0, atol=1e4 * EPS)
        x = (A - B @ K[k]) @ x


def test_the_first_gain_of_a_long_horizon_is_that_of_lqr():
    """Finite horizons tend to the algebraic equation; the difference decays with the closed loop's poles."""
    model = masses()
    found = kt.control.iLQR(model, quadratic, last, dt=DT, horizon=600, integrator="semi_implicit")(*START)
    A, B = matrices(model)
    P = solve_discrete_are(A, B, DT * np.eye(4), 0.1 * DT * np.eye(2))
    K = np.linalg.solve(0.1 * DT * np.eye(2) + B.T @ P @ B, B.T @ P @ A)
    assert np.allclose(found.K[0], -K, rtol=0, atol=1e-9)


def swing():
    """Costs and bounds of a pole that swings up."""
    return (
        lambda s: 1e-2 * s.tau[0] ** 2 + 1e-2 * s.v[1] ** 2,
        lambda s: 30.0 * (s.q[1] ** 2 + 0.1 * s.v[1] ** 2 + s.q[0] ** 2 + 0.1 * s.v[0] ** 2),
    )


def test_the_solution_satisfies_the_conditions_of_an_optimum_within_bounds():
    """The gradient, by `rollout_gradient`, is zero where a force is free and pushes outward at bounds.

    DDP ends quadratically, iLQR linearly.
    """
    pole, (running, terminal), bound, iterations = kt.models.cart_pole(), swing(), 8.0, []
    for method in ("ddp", "ilqr"):
        solve = kt.control.iLQR(
            pole, running, terminal, dt=0.04, horizon=50, method=method, actuated="slider", effort_limit=bound,
            integrator="rk4", tolerance=1e-13,
        )  # fmt: skip
        found = solve([0.0, np.pi])
        check = kt.rollout_gradient(
            pole, [0.0, np.pi], None, found.tau, 0.04, running=running, terminal=terminal, integrator="rk4"
        )
        slope, force = check.tau[:, 0], found.tau[:, 0]
        held = np.abs(force) == bound
        assert found.converged and held.sum() >= 5 and (~held).sum() >= 20
        assert abs(check.value - found.cost) < 1e-12 * found.cost
        assert np.abs(slope[~held]).max() < 1e-5
        assert (slope[held] * np.sign(force[held]) < 0.0).all()
        assert np.abs(found.q[-1]).max() < 0.05 and not found.tau[:, 1].any()
        assert (np.diff(found.costs) < 0.0).all()
        iterations.append(found.iterations)
    assert 2 * iterations[0] < iterations[1]


def spinning_arm() -> kt.Model:
    """A ball joint and a hinge, with damping: positions are no vector space."""
    b = kt.ModelBuilder("spinner")
    b.add_body("ball", "world", kt.joints.Spherical(), "socket", mass=1.0, com=(0, 0, -0.4), inertia=np.eye(3) * 0.05)
    b.add_body("rod", "ball", kt.joints.Revolute((0, 1, 0)), "elbow", ((0, 0, -0.5), (0, 0, 0)), mass=0.5,
               com=(0.2, 0, 0), inertia=np.eye(3) * 0.01, damping=0.1)  # fmt: skip
    return b.build()


def test_derivatives_of_steps_are_those_of_differences_on_the_manifold():
    """First and second derivatives of a step against central differences of the step itself."""
    model, rng, dt = spinning_arm(), np.random.default_rng(3), 0.02
    steps = LinearizedSteps("test", model, "semi_implicit", dt, None)
    q, v, tau = model.random_q(rng), rng.standard_normal(4), rng.standard_normal(4)
    end, _ = steps.next(q, v, tau)

    def moved(x):
        q_next, v_next = steps.next(kt.integrate(model, q, x[:4]), v + x[4:8], tau + x[8:])
        return np.concatenate((kt.difference(model, end, q_next), v_next))

    A, B = steps.jacobians(q, v, tau, end)
    J, h = np.concatenate((A, B), axis=1), 1e-5
    differences = np.stack([(moved(h * e) - moved(-h * e)) / (2 * h) for e in np.eye(12)], axis=1)
    assert np.abs(J - differences).max() < 1e-8  # h^2 and eps / h

    slope, h = rng.standard_normal(8), 1e-3
    H = steps.curvature(q, v, tau, end, slope, np.eye(12))
    f = lambda x: slope @ moved(x)  # noqa: E731
    unit = h * np.eye(12)
    second = np.array([
        [(f(a + b) - f(a - b) - f(b - a) + f(-a - b)) / (4 * h * h) for a in unit] for b in unit
    ])  # fmt: skip
    assert np.abs(H - second).max() < 1e-5 * max(1.0, np.abs(H).max())


def test_derivatives_of_costs_are_those_of_differences_on_the_manifold():
    """Gradient and Hessian of a cost with a point, a rate and a reference."""
    model, rng = spinning_arm(), np.random.default_rng(4)
    q, v, tau, row = model.random_q(rng), rng.standard_normal(4), rng.standard_normal(4), rng.standard_normal(3)

    def cost(s):
        p = s.point("rod", (0.3, 0.0, 0.0))
        return sum((p[k] - s.reference[k]) ** 2 for k in range(3)) + s.v[0] * s.tau[1] + 0.5 * s.tau[2] ** 2

    stage = StageCost(model, cost, True, 3, None)
    f = lambda x: stage.value(kt.integrate(model, q, x[:4]), v + x[4:8], tau + x[8:], row)  # noqa: E731
    gradient, H = stage.derivatives(q, v, tau, row)
    unit, h = np.eye(12), 1e-4
    assert np.abs(gradient - [(f(h * e) - f(-h * e)) / (2 * h) for e in unit]).max() < 1e-6
    second = np.array([[(f(h * (a + b)) - f(h * (a - b)) - f(h * (b - a)) + f(-h * (a + b))) / (4 * h * h)
                        for a in unit] for b in unit])  # fmt: skip
    assert np.abs(H - second).max() < 1e-5


def test_a_body_with_a_ball_joint_is_turned_to_an_orientation():
    """Feedback on the manifold: the solution is found, and its controller repeats the motion in `simulate`."""
    model, target = spinning_arm(), (0.3, -0.2, -0.3)

    def there(s):
        p = s.point("ball", (0.0, 0.0, -0.5))
        return 200.0 * sum((p[k] - target[k]) ** 2 for k in range(3)) + 1.0 * sum(x * x for x in s.v)

    effort = lambda s: 1e-3 * sum(x * x for x in s.tau)  # noqa: E731
    solve = kt.control.iLQR(model, effort, there, dt=0.02, horizon=40, integrator="semi_implicit")
    found = solve(model.neutral(), np.array([0.0, 0.5, 3.0, 0.0]))
    R, p = kt.pose(model, found.q[-1], frame="ball")
    aim = np.array(target) * 0.5 / np.linalg.norm(target)
    assert found.converged and np.abs(p + R @ [0, 0, -0.5] - aim).max() < 0.1
    run = kt.simulate(
        model, found.q[0], found.v[0], duration=0.8, dt=0.02, integrator="semi_implicit", controller=found
    )
    assert np.abs(run.q - found.q).max() < 1e-9


def test_programs_in_a_box_are_those_of_all_active_sets():
    """The best of the 3^n combinations of free and held entries that satisfies the bounds."""
    rng = np.random.default_rng(5)
    for _ in range(40):
        M, g = rng.standard_normal((4, 4)), 3.0 * rng.standard_normal(4)
        H, lower, upper = M @ M.T + 0.1 * np.eye(4), -rng.uniform(0.1, 1, 4), rng.uniform(0.1, 1, 4)
        x, free = box_quadratic(H, g, lower, upper, np.zeros(4))
        best = np.inf
        for choice in itertools.product((-1, 0, 1), repeat=4):
            c = np.array(choice)
            y, f = np.where(c < 0, lower, upper), c == 0
            if f.any():
                y[f] = np.linalg.solve(H[np.ix_(f, f)], -(g + H[:, ~f] @ y[~f])[f])
            if (y >= lower).all() and (y <= upper).all():
                best = min(best, 0.5 * y @ H @ y + g @ y)
        assert abs(0.5 * x @ H @ x + g @ x - best) < 1e-12 * (1.0 + abs(best))
        assert np.array_equal(free, (x > lower) & (x < upper))


def test_wrong_arguments_are_named():
    """Each error says what was found and what is expected."""
    model = masses()
    make = lambda **more: kt.control.iLQR(model, quadratic, **({"dt": DT, "horizon": 5} | more))  # noqa: E731
    for given, text in (
        ({"horizon": 0}, "iLQR: horizon is 0, expected a positive number of steps"),
        ({"method": "newton"}, "method"),
        ({"actuated": ()}, "actuated is empty"),
        ({"effort_limit": -1.0}, "effort_limit is -1.0, expected positive numbers"),
        ({"tolerance": 0.0}, "tolerance"),
    ):
        with pytest.raises(kt.errors.KinetreeError, match=text):
            make(**given)
    with pytest.raises(kt.errors.ArgumentError, match="there is no cost"):
        kt.control.iLQR(model, dt=DT, horizon=5)
    with pytest.raises(kt.errors.ArgumentError, match=r"plan is .*expected finite forces of shape \(5, 2\) or \(2,\)"):
        make()([0.0, 0.0], plan=np.zeros((4, 2)))
    with pytest.raises(kt.errors.ShapeError, match=r"reference has shape \(3, 1\), expected \(6, n\)"):
        make()([0.0, 0.0], reference=np.zeros((3, 1)))
    with pytest.raises(kt.errors.UnsupportedError, match="has constraints"):
        kt.control.iLQR(kt.models.four_bar(), quadratic, dt=DT, horizon=5)
    root = kt.control.iLQR(model, lambda s: (s.q[0] - 5.0) ** 0.5, dt=DT, horizon=5)
    with pytest.raises(kt.errors.NonFiniteError, match="the cost of a motion that is finite is nan"):
        root([0.0, 0.0])
