"""Embedded pairs on the manifold: tolerances are kept, steps are counted, errors say where they are."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import SimulationError
from kinetree.integrators import Adaptive, System
from kinetree.joints import Fixed, Free, Prismatic, SphericalExponential
from tests.analytic.mechanisms import pendulum, rigid_body, rotation_matrix, slider
from tests.integrators import asymmetric_top as top

PAIRS = ("bs32", "dp54", "dop853")

EXACT = Adaptive("scipy:DOP853", 1e-13, 1e-13)


def free(model):
    return (lambda t, q, v: np.zeros(model.nv)), (lambda t: ())


@pytest.mark.parametrize("method", PAIRS)
def test_error_follows_the_tolerance_on_the_top(method):
    """Ten times the accuracy asked for is about ten times the accuracy got; within 100 tolerances over 2 s.

    The error per step is controlled with the estimate, whose order k - 1 is one less than the step's: the error goes
    with tolerance^((order of the step) / k), so the slope is 1, give or take the start.
    """
    model = rigid_body(top.MOMENTS)
    (w0, R0), (w1, R1) = top.motion(0.0), top.motion(2.0)
    q0, v0 = np.array(model.neutral(), dtype=float), np.zeros(6)
    q0[3:], v0[:3] = top.quaternion(R0), w0
    tolerances, errors = (1e-5, 1e-7) if method == "bs32" else (1e-7, 1e-10), []
    for tolerance in tolerances:
        run = kt.simulate(
            model,
            q0,
            v0,
            duration=2.0,
            dt=0.5,
            integrator=Adaptive(method, rtol=tolerance, atol=tolerance),
        )
        off = max(np.abs(run.v[-1, :3] - w1).max(), np.abs(rotation_matrix(run.q[-1, 3:]) - R1).max())
        errors.append(off)
        assert off < 100 * tolerance
    slope = np.log(errors[0] / errors[1]) / np.log(tolerances[0] / tolerances[1])
    assert 0.7 < slope < 1.3


@pytest.mark.parametrize("method", PAIRS)
def test_samples_between_steps_are_as_good_as_the_steps(method):
    """The dense output at 1 ms of a tree with free and ball joints, against DOP853 of SciPy at 1e-13."""
    model = kt.models.random_tree(5, seed=3, floating=True).without_limits()
    rng = np.random.default_rng(0)
    q0, v0 = np.array(model.random_q(rng), dtype=float), rng.uniform(-0.3, 0.3, model.nv)
    times = np.linspace(0.0, 0.3, 301)
    tolerance = 1e-6 if method == "bs32" else 1e-9
    found = Adaptive(method, tolerance, tolerance).solve(System(model), q0, v0, times, *free(model))
    exact = EXACT.solve(System(model), q0, v0, times, *free(model))
    assert found.steps < 300  # most samples lie within steps
    error = np.abs(np.hstack((kt.difference(model, exact.q, found.q), found.v - exact.v))).max(axis=1)
    at_end = error[-1]
    assert error.max() < max(30 * at_end, 300 * tolerance)
    assert np.array_equal(found.q[0], q0)


@pytest.mark.parametrize("method, scipy, order", [("dp54", "scipy:RK45", 5), ("dop853", "scipy:DOP853", 8)])
def test_no_more_work_than_scipy(method, scipy, order):
    """Evaluations at equal error, over eight trees in the geometric mean, are fewer than with SciPy's own pairs.

    They go with error^(-1/order). Measured at 1e-6: dp54 809 evaluations in all and 1.2e-7, RK45 748 and 1.9e-6;
    dop853 924 and 2.1e-9, DOP853 937 and 1.3e-8.
    """
    work, times = [], np.array((0.0, 0.5))
    for seed in range(8):
        model = kt.models.random_tree(4, seed=seed, floating=seed % 2 == 0).without_limits()
        rng, system = np.random.default_rng(0), System(model)
        state = np.array(model.random_q(rng), dtype=float), rng.uniform(-0.3, 0.3, model.nv)
        exact = EXACT.solve(system, *state, times, *free(model))
        for name in (method, scipy):
            found = Adaptive(name, 1e-6, 1e-6).solve(system, *state, times, *free(model))
            error = np.abs(found.v[-1] - exact.v[-1]).max()
            work.append(np.log(found.evaluations) + np.log(error) / order)
    assert np.mean(work[::2]) < np.mean(work[1::2])


def test_evaluations_steps_and_rejections_are_counted():
    """Of dp54: two evaluations to begin with, six for every step that was tried."""
    model = pendulum()
    found = Adaptive("dp54", 1e-6, 1e-6).solve(
        System(model), np.array([3.0]), np.array([0.0]), np.array((0.0, 5.0)), *free(model)
    )
    assert found.evaluations == 2 + 6 * (found.steps + found.rejections)
    assert found.steps > 50 and found.rejections == 0


def test_a_jump_of_the_force_is_found_by_rejections():
    """A force that is switched on within a step: the steps across the switch are rejected until they are short.

    The estimate sees less of a jump than of a smooth error: at 1e-8 the velocity is up to 2e-6 off, as with SciPy's.
    """
    model = slider(mass=2.0)

    def push(t, q, v):
        return np.array([1.0 if t >= 0.5 else 0.0])

    found = Adaptive("dp54", 1e-8, 1e-8).solve(
        System(model), np.zeros(1), np.array([0.1]), np.array((0.0, 1.0)), push, lambda t: ()
    )
    assert found.v[-1, 0] == pytest.approx(0.1 + 0.25, abs=1e-5)
    assert found.rejections > 2
    assert found.evaluations == 2 + 6 * (found.steps + found.rejections)


def test_charts_may_change_between_steps():
    """A body that tumbles through full turns in exponential coordinates, which change their chart on the way."""
    model = rigid_body((1.0, 2.0, 3.0), joint=SphericalExponential())
    ball = rigid_body((1.0, 2.0, 3.0), joint=Free())
    v0 = np.array([0.3, 4.0, 0.2])
    found = kt.simulate(
        model, v0=v0, duration=4.0, dt=0.1, integrator=Adaptive("dp54", rtol=1e-9, atol=1e-9)
    )
    exact = kt.simulate(
        ball, v0=[*v0, 0, 0, 0], duration=4.0, dt=0.1, integrator=Adaptive(rtol=1e-12, atol=1e-12)
    )
    poses = kt.forward_kinematics(model, found.q[-1]), kt.forward_kinematics(ball, exact.q[-1])
    R = [np.asarray(pose[0] if isinstance(pose, tuple) else pose.R)[-1] for pose in poses]
    assert pytest.approx(R[1], abs=1e-6) == R[0]


def test_same_run_in_the_same_pieces_has_the_same_bits():
    """A snapshot is taken up by a solver that starts anew, as `advance` does."""

    def make():
        model = kt.load("double_pendulum")
        return kt.Simulation(model, [1.0, 0.5], dt=0.01, integrator=Adaptive("dp54"))

    sim = make()
    sim.advance(0.2)
    snapshot = sim.save()
    sim.advance(0.2)
    other = make()
    other.restore(snapshot)
    other.advance(0.2)
    assert np.array_equal(sim.q, other.q) and np.array_equal(sim.v, other.v)
    assert sim.counts["rejections"] >= 0 and sim.counts["steps"] > 0


def test_a_singular_force_stops_the_solver_with_a_time():
    """q'' = -1/q^2 falls into the origin at t = pi/(2 sqrt 2): the steps become as short as rounding there."""
    model = slider(mass=1.0)
    with pytest.raises(SimulationError, match=r"\(dp54\) stopped after t = 1.1107|no longer finite") as info:
        kt.simulate(model, [1.0], duration=2.0, dt=0.1, integrator=Adaptive("dp54"),
                    controller=lambda t, q, v: -1.0 / q**2)  # fmt: skip
    assert info.value.time == pytest.approx(np.pi / (2.0 * np.sqrt(2.0)), abs=1e-3)


def test_a_model_without_freedom_stays():
    """Nothing moves, and nothing is divided by zero."""
    b = kt.ModelBuilder("still")
    b.add_body("post", joint=Fixed(), mass=1.0, inertia=np.eye(3))
    model = b.build(merge_fixed=False)
    found = Adaptive("dp54").solve(System(model), np.empty(0), np.empty(0), np.array((0.0, 1.0)), *free(model))
    assert found.q.shape == (2, 0)


def test_limits_stop_the_run():
    """LimitMonitor: a falling mass reaches its limit; the time is that of the closed form within the tolerance."""
    b = kt.ModelBuilder("bounded")
    b.add_body("mass", joint=Prismatic((0, 0, 1)), mass=1.0, inertia=np.eye(3), lower=-1.0, upper=1.0)
    model = b.build()
    with pytest.raises(kt.errors.LimitError) as info:
        monitor = kt.simulation.LimitMonitor(model)
        kt.simulate(model, [0.0], duration=2.0, dt=0.1, integrator=Adaptive("dp54"), components=[monitor])
    assert info.value.time == pytest.approx(np.sqrt(2.0 / 9.81), abs=1e-9)
