"""Ways to keep loops closed besides projection: Baumgarte's stabilization, none, and different ones for each loop."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import ArgumentError, SimulationError, UnknownNameError
from kinetree.integrators import Baumgarte
from tests.constraints.test_loop_steps import four_bar, misfit, rows

T = 0.04


def distance(model, q) -> np.ndarray:
    """The error of position of each state, in no axes."""
    return np.linalg.norm(rows(model)[0](q), axis=-1)


def test_stabilized_accelerations_let_errors_decay():
    """K a + Kdot v = -(2/T) K v - phi / T^2 at states off the closed ones, in the rows that are solved for."""
    model, rng = four_bar(), np.random.default_rng(0)
    kept = list(model.independent_rows())
    soft = kt.simulation.Rollout(model, "rk4", closure=Baumgarte(T)).model
    for _ in range(5):
        q = model.keyframe("initial")[0] + 0.05 * rng.standard_normal(3)
        v = rng.standard_normal(3)
        a, hard = (kt.compile(x, "forward_dynamics", checks=False)(q, v, np.zeros(3)) for x in (soft, model))
        phi, K = (f(q) for f in rows(model))
        expected = -2.0 / T * (K @ v) - phi / T**2
        assert (K @ (a - hard))[kept] == pytest.approx(expected[kept], rel=1e-9)


def test_an_open_start_closes_within_the_time_constant():
    """A small error decays as (1 + t/T) exp(-t/T): critically damped."""
    model, dt = four_bar(), 1e-3
    q = model.keyframe("initial")[0] + [0.0, 1e-5, 0.0]
    found = kt.rollout(model, q, None, None, dt, steps=200, integrator="rk4", closure=Baumgarte(T), checks=False)
    gap, t = distance(model, found.q), dt * np.arange(201)
    assert gap[0] > 1e-5 and gap == pytest.approx(gap[0] * (1.0 + t / T) * np.exp(-t / T), abs=2e-3 * gap[0])


def test_the_time_constant_is_not_critical():
    """Featherstone, section 8.3: a factor of two barely changes the motion, of several radians; nor does projection."""
    runs = [kt.simulate(four_bar(), duration=2.0, dt=4e-3, closure=way).q
            for way in (Baumgarte(2 * T), Baumgarte(T), "projection")]  # fmt: skip
    assert np.ptp(runs[0][:, 0]) > 3.0 and max(np.abs(runs[0] - other).max() for other in runs[1:]) < 1e-6


@pytest.mark.parametrize("integrator", ["rk4", "implicit_midpoint", "linearly_implicit"])
def test_gaps_of_the_three_ways(integrator):
    """Projection: rounding; Baumgarte: the errors of some steps; none: those of all steps. Rollouts are the same."""
    model, dt = four_bar(), 4e-3
    gaps = {}
    for closure in ("projection", Baumgarte(T), "none"):
        run = kt.simulate(model, duration=4.0, dt=dt, integrator=integrator, closure=closure)
        gaps[closure] = misfit(run)[0]
        rolled = kt.rollout(model, run.q[0], None, None, dt, steps=1000, integrator=integrator, closure=closure)
        assert rolled.q[:100] == pytest.approx(run.q[:100], abs=1e-9)
    assert gaps["projection"] < 1e-12 < 1e-9 < gaps[Baumgarte(T)] < 0.5 * gaps["none"]


def test_each_loop_has_its_own_way():
    """A loop without closure drifts, the other one is projected; both are when it is left out."""
    model, q, v = kt.models.random_loops(4, bodies=5, loops=2, family="planar")
    left, right = (c.label for c in model.constraints)
    settings = {"duration": 0.2, "dt": 4e-3, "integrator": "heun"}
    run = kt.simulate(model, q, v, closure={right: "none"}, **settings)
    phi, place = rows(run.model)[0](run.q), model.constraints[0].count(model)
    assert left != right and np.abs(phi[:, :place]).max() < 1e-12 < 1e-9 < np.abs(phi[:, place:]).max()
    assert misfit(kt.simulate(model, q, v, closure={}, **settings))[0] < 1e-12


def test_adaptive_methods_take_them():
    """Errors within the tolerances, damped."""
    exact = kt.integrators.Adaptive("dp54", rtol=1e-7, atol=1e-7)
    gaps = [misfit(kt.simulate(four_bar(), duration=2.0, dt=0.02, integrator=exact, closure=closure))[0]
            for closure in ("projection", Baumgarte(T), "none")]  # fmt: skip
    assert gaps[0] < 1e-12 < gaps[1] < gaps[2] < 1e-3


def test_wrong_ways_are_refused():
    """By name, with those that exist; methods that close loops themselves take none."""
    for wrong in ("x", 3, None, {"closure": 4}):
        with pytest.raises(ArgumentError, match="closure is .*'projection', 'none', kt.integrators.Baumgarte"):
            kt.simulate(four_bar(), duration=0.01, closure=wrong)
    with pytest.raises(UnknownNameError, match="no loop named 'clo'.*Did you mean 'closure'"):
        kt.rollout(four_bar(), four_bar().keyframe("initial")[0], None, None, 1e-3, steps=1, closure={"clo": "none"})
    for name in ("bdf2", "variational"):
        with pytest.raises(SimulationError, match=f"'{name}' closes loops by the equations of its steps"):
            kt.simulate(four_bar(), duration=0.01, integrator=name, closure="none")
    with pytest.raises(ArgumentError, match="Baumgarte: T_stab"):
        Baumgarte(0.0)
    saved = kt.Simulation(four_bar(), dt=1e-3).save()
    with pytest.raises(SimulationError, match="closure"):
        kt.Simulation(four_bar(), dt=1e-3, closure=Baumgarte(T)).restore(saved)


def test_a_tree_has_nothing_to_close():
    """Every way gives the same run."""
    runs = [kt.simulate(kt.models.double_pendulum(), [1.0, 0.5], duration=0.1, closure=closure)
            for closure in ("projection", "none", Baumgarte(T))]  # fmt: skip
    assert (runs[0].q == runs[1].q).all() and (runs[0].q == runs[2].q).all()
