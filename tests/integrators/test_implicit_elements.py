"""Implicit steps with stiff springs between bodies: stability, the choices of slopes, conjugate gradients."""

from __future__ import annotations

import functools
import math

import numpy as np
import pytest

import kinetree as kt
from kinetree.algorithms.force_elements import gauss_newton_slopes
from kinetree.integrators import FIXED_STEP, LinearlyImplicit, System
from kinetree.integrators.conjugate_gradients import MatrixFreeStep, conjugate_gradients
from tests.forces.user_elements import ActivatedMuscle

FAST = LinearlyImplicit("passive", "gauss_newton")
MATRIX_FREE = LinearlyImplicit("passive", "gauss_newton", "conjugate_gradients")


@functools.cache
def chain(links: int, grounded: int, long: int = 0):
    """Hanging links on hinges about x and y in turn; springs across every joint, some to the world, some over five.

    All springs are relaxed in the position of the second result; their stiffness is 1.
    """
    b, names = kt.ModelBuilder("stiff chain"), ["world", *(f"b{n}" for n in range(links))]
    for n, name in enumerate(names[1:]):
        axis = (0, 1, 0) if n % 2 else (1, 0, 0)
        b.add_body(name, names[n], kt.joints.Revolute(axis), placement=((0, 0, -0.1 * bool(n)), (0, 0, 0)), mass=0.1,
                   com=(0, 0, -0.05), inertia=1e-4 * np.eye(3))  # fmt: skip
    model, q0 = b.build(), 0.3 * np.cos(np.arange(links))
    side = (0.02, 0.02, -0.05)
    ends = [(names[n], names[n + 1], side, side) for n in range(1, links)]
    ends += [("world", names[-1 - 5 * n], (0.1, 0.0, 0.0), side) for n in range(grounded)]
    ends += [(names[1 + n], names[6 + n], side, side) for n in range(long)]

    def point(body, at):
        pose = kt.pose(model, q0, frame=body)
        return pose.p_WF + pose.R_WF @ np.array(at)

    springs = [
        kt.forces.PointSpring(f"s{n}", a, b, 1.0, math.dist(point(a, x), point(b, y)), 0.0, x, y)
        for n, (a, b, x, y) in enumerate(ends)
    ]
    return model.with_forces(*springs), q0


def stiffened(model, k: float):
    """The same springs with another stiffness [N/m]; compiled code is shared."""
    return model.replace(forces=[x.with_numbers([k, *list(x.numbers().values())[1:]]) for x in model.forces])


@pytest.mark.parametrize("method", ["linearly_implicit", FAST, "bdf1", "bdf2"], ids=str)
def test_a_stiff_chain_is_stable(method):
    """Springs of 1e2 to 1e9 N/m and dt = 10 ms: the energy does not rise, by more than 0.1 J where springs are soft."""
    model, q0 = chain(5, 1)
    for k in (1e2, 1e5, 1e9):
        run = kt.simulate(stiffened(model, k), q0, duration=1.0, dt=1e-2, integrator=method, record=kt.Record(every=5))
        assert np.all(np.isfinite(run.energy)) and (run.energy - run.energy[0]).max() < 0.1
        assert k < 1e9 or np.abs(run.q - q0)[:, 1:].max() < 1e-5  # weights of 1 N; no spring is across the first joint


def test_explicit_steps_are_not():
    """The same with 1e6 N/m by Runge and Kutta: the run ends by name."""
    model, q0 = chain(5, 1)
    with pytest.raises(kt.errors.SimulationError):
        kt.simulate(stiffened(model, 1e6), q0, duration=1.0, dt=1e-2, integrator="rk4")


@pytest.mark.parametrize("forces", ["all", "passive"])
def test_gauss_newton_steps_solve_their_equation(forces):
    """``(M + h D + h^2 K) (v+ - v) = h (f - h K v)`` with K and D of the elements, by a dense solution."""
    from kinetree.integrators.implicit import force_slopes, passive_slopes

    model, q0 = chain(5, 1)
    model, rng, h = stiffened(model, 1e3).with_forces(
        kt.forces.PointSpring("damper", "world", "b4", 20.0, 0.3, 2.0, (0.2, 0.1, 0.0))
    ), np.random.default_rng(2), 0.01  # fmt: skip
    q, v = q0 + 0.1 * rng.standard_normal(5), rng.standard_normal(5)
    K, D = (np.array(x, float) for x in gauss_newton_slopes(model, list(q), list(v)))
    if forces == "all":
        given = model, list(q), list(v)
        dq, dv, _ = (np.array(x, float) for x in force_slopes(*given, [0.0] * 5))
        K_exact, D_exact = (np.array(x, float) for x in passive_slopes(*given))
        K, D = K + dq + K_exact, D + dv - D_exact
    f = kt.crba(model, q) @ kt.forward_dynamics(model, q, v, np.zeros(5))
    expected = v + np.linalg.solve(kt.crba(model, q) + h * D + h * h * K, h * (f - h * K @ v))
    step = LinearlyImplicit(forces, "gauss_newton")(System(model))
    _, found = step.step(0.0, h, q, v, lambda t: np.zeros(5), lambda t: ())
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-10)


def test_conjugate_gradients_take_one_iteration_for_each_long_spring():
    """Springs in a chain of 12 links: the direct solution to 1e-9, at most 1 + 3 iterations at every stiffness.

    Without the preconditioner they take more than 12.
    """
    model, q0 = chain(12, 2, long=3)
    rest = np.zeros(12)
    for k in 10.0 ** np.arange(2, 10):
        system = System(stiffened(model, k))
        matrix_free, plain, direct = MatrixFreeStep(system), MatrixFreeStep(system, False), FAST(system)
        states = [(q0, rest)] * 3
        for n in range(5):
            states = [
                method.step(0.01 * n, 0.01, *state, lambda t: rest, lambda t: ())
                for method, state in zip((matrix_free, plain, direct), states, strict=True)
            ]
        assert states[0][1] == pytest.approx(states[2][1], abs=1e-9 * np.abs(states[2][1]).max())
        assert max(matrix_free.iterations) <= 4 and max(plain.iterations) > 12


def test_conjugate_gradients_with_internal_states_and_inputs():
    """An activated muscle across a joint, wrenches and a controller: the run of the direct solver to 1e-9."""
    model, q0 = chain(5, 1)
    model = stiffened(model, 1e4).with_forces(ActivatedMuscle("muscle", "b3", "b2", "b3", 30.0, 0.05))
    runs = [
        kt.simulate(model, q0, duration=0.1, dt=1e-2, integrator=method,
                    inputs=kt.Inputs(tau=lambda t: np.full(5, 0.01 * t), control=[0.5]))
        for method in (FAST, MATRIX_FREE)
    ]  # fmt: skip
    assert runs[1].q == pytest.approx(runs[0].q, abs=1e-9) and runs[1].x == pytest.approx(runs[0].x, abs=1e-9)
    assert runs[1].integrator == "linearly_implicit (passive, gauss_newton, conjugate_gradients)"


@pytest.mark.parametrize("order", [1, 2])
def test_backward_differentiation_by_conjugate_gradients(order):
    """The same equations: runs of the direct solver to 1e-9, with springs, a muscle's states, inputs and torques."""
    model, q0 = chain(5, 1)
    model = stiffened(model, 1e4).with_forces(ActivatedMuscle("muscle", "b3", "b2", "b3", 30.0, 0.05))
    runs = [
        kt.simulate(model, q0, duration=0.1, dt=1e-2, integrator=kt.integrators.BDF(order, solver),
                    inputs=kt.Inputs(tau=lambda t: np.full(5, 0.01 * t), control=[0.5]))
        for solver in ("direct", "conjugate_gradients")
    ]  # fmt: skip
    assert runs[1].q == pytest.approx(runs[0].q, abs=1e-9) and runs[1].x == pytest.approx(runs[0].x, abs=1e-9)
    assert runs[1].v == pytest.approx(runs[0].v, abs=1e-7)


@pytest.mark.parametrize("order", [1, 2])
def test_backward_differentiation_without_matrices_under_large_tensions(order):
    """A rope of links between ceiling and floor, stretched by a tenth: runs of the direct solver to 1e-9 up to 1e9 N/m.

    There Gauss-Newton slopes, without that of the tension, do not contract: the exact products take over.
    """
    rope = kt.models.n_pendulum(4)
    v0 = np.array([3.0, 0.0, -2.0, 0.0])
    for k in (1e4, 1e9):
        spring = kt.forces.PointSpring("spring", rope.body_names[-1], "world", k, 1.9, 0.0, (0, 0, -1), (0, 0, -6))
        runs = [
            kt.simulate(rope.with_forces(spring), v0=v0, duration=0.2, dt=1e-2,
                        integrator=kt.integrators.BDF(order, solver))
            for solver in ("direct", "conjugate_gradients")
        ]  # fmt: skip
        assert runs[1].q == pytest.approx(runs[0].q, abs=1e-9) and runs[1].v == pytest.approx(runs[0].v, abs=1e-7)
        assert np.abs(runs[1].v).max() < 10.0


def test_what_conjugate_gradients_refuse():
    """Rows of constraints, rollouts and matrices that are not positive definite, each by name."""
    with pytest.raises(kt.errors.UnsupportedError, match=r"four_bar.*constraints"):
        kt.simulate(kt.models.four_bar(), duration=0.1, integrator=MATRIX_FREE)
    with pytest.raises(kt.errors.UnsupportedError, match="no single function"):
        kt.rollout(kt.models.pendulum(), [0.1], None, None, 1e-3, steps=2, integrator=MATRIX_FREE)
    with pytest.raises(kt.errors.SimulationError, match="not positive definite"):
        conjugate_gradients(lambda y: -y, np.ones(3), lambda r: r, np.zeros(3), 1e-10, 20)


def test_options_of_the_step_in_rollouts():
    """The step with Gauss-Newton slopes is that of "semi_implicit"."""
    model, q0 = chain(5, 1)
    model = stiffened(model, 1e4)
    found, expected = (kt.rollout(model, q0, None, None, 1e-2, steps=20, integrator=x) for x in (FAST, "semi_implicit"))
    assert np.array_equal(found.q, expected.q)
    for order in (1, 2):
        runs = [
            kt.rollout(kt.models.double_pendulum(), [1.0, 0.5], None, None, 1e-2, steps=5, integrator=x).q
            for x in (kt.integrators.BDF(order), f"bdf{order}")
        ]
        assert np.array_equal(*runs)


@pytest.mark.parametrize("name", ["bdf1", "bdf2"])
def test_loops_stay_closed(name):
    """A spring in a four-bar linkage: gaps to 1e-10, and the adaptive motion to the order of the method."""
    model = kt.models.four_bar().with_forces(kt.forces.PointSpring("spring", "world", "coupler_tip", 50.0, 0.2, 1.0))
    exact = kt.simulate(model, duration=0.2, dt=0.2, integrator="adaptive")
    errors = []
    for dt in (2e-3, 1e-3):
        run = kt.simulate(model, duration=0.2, dt=dt, integrator=name)
        errors.append(np.abs(run.q[-1] - exact.q[-1]).max())
        assert np.abs(kt.closed_loops.error(model, run.q)).max() < 1e-10
    assert math.log2(errors[0] / errors[1]) == pytest.approx(FIXED_STEP[name].order, abs=0.2)


def test_the_first_step_of_bdf2_has_order_two():
    """One step of SDIRK2 from rest: its error falls by 8 with half the length, not by 4 as that of implicit Euler."""
    model, errors = kt.models.double_pendulum(), {}
    for name in ("bdf1", "bdf2"):
        for h in (0.004, 0.002):
            exact = kt.simulate(model, [1.0, 0.5], [0.5, -1.0], duration=h, dt=h, integrator="adaptive")
            run = kt.simulate(model, [1.0, 0.5], [0.5, -1.0], duration=h, dt=h, integrator=name)
            errors[name, h] = np.abs(run.v[-1] - exact.v[-1]).max()
    ratios = [math.log2(errors[name, 0.004] / errors[name, 0.002]) for name in ("bdf1", "bdf2")]
    assert ratios == [pytest.approx(2.0, abs=0.2), pytest.approx(3.0, abs=0.3)]
