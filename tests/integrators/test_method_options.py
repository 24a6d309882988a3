"""Options of a method belong to its object: longest steps, spectral radii; objects do what their names do."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.integrators import FIXED_STEP, Adaptive, GeneralizedAlpha
from tests.analytic.mechanisms import pendulum, slider


@pytest.mark.parametrize("method", ["bs32", "dp54", "dop853"])
def test_no_step_is_longer_than_allowed(method):
    """A pendulum at loose tolerances: as many steps as the bound asks for, fewer without it; the same motion."""
    free, bound = (
        kt.simulate(pendulum(), [0.1], duration=1.0, dt=0.5, integrator=Adaptive(method, 1e-4, 1e-4, max_step))
        for max_step in (None, 0.01)
    )
    assert free.metadata.counts["steps"] < 100 <= bound.metadata.counts["steps"] <= 104
    assert bound.q[-1] == pytest.approx(free.q[-1], abs=1e-3)


@pytest.mark.parametrize("method", ["scipy:RK45", "Radau", "BDF", "LSODA"])
def test_solvers_of_others_obey_the_longest_step(method):
    """The instants at which they ask for forces are never farther apart than the longest step."""
    times = []
    kt.simulate(
        pendulum(), [0.1], duration=1.0, dt=1.0, integrator=Adaptive(method, 1e-3, 1e-3, max_step=0.02),
        controller=lambda t, q, v: times.append(t) or np.zeros(1),
    )  # fmt: skip
    assert np.diff(np.unique(times)).max() <= 0.02 * (1.0 + 1e-9)


@pytest.mark.parametrize("rho", [0.2, 0.5, 0.8])
def test_rho_is_left_of_a_fast_vibration_after_a_step(rho):
    """h w = 1e4: all three eigenvalues of a step are -rho, so q_n is a quadratic polynomial in n times (-rho)^n."""
    run = kt.simulate(
        slider(1.0).replace(stiffness=1e12), [1e-3], duration=0.4, dt=0.01, integrator=GeneralizedAlpha(rho)
    )
    n, q = np.arange(len(run)), run.q[:, 0]
    left = q[2:30] / (-rho) ** n[2:30]
    fit = np.polynomial.Polynomial.fit(n[2:30], left, 2)(n[2:30])
    assert np.abs(left - fit).max() < 1e-3 * np.abs(left).max()


def test_objects_and_names_give_the_same_bits():
    """A method by its name, as a class, and with its default options."""
    arm, how = kt.load("double_pendulum"), {"duration": 0.1, "dt": 1e-3}
    for name, method in (
        ("rk38", FIXED_STEP["rk38"]),
        ("generalized_alpha", GeneralizedAlpha()),
        ("adaptive", Adaptive()),
    ):
        one, two = (kt.simulate(arm, [1.0, 0.5], integrator=x, **how) for x in (name, method))
        assert np.array_equal(one.q, two.q) and one.integrator == two.integrator
    one, two = (
        kt.rollout(arm, [1.0, 0.5], None, None, 1e-3, steps=20, integrator=x) for x in ("rk38", FIXED_STEP["rk38"])
    )
    assert np.array_equal(one.q, two.q)


def test_runs_that_follow_each_other_do_not_see_each_other():
    """What a model keeps of its last run is used for the same model, start, step and method alone."""
    arm = kt.load("arm7")
    start = arm.neutral() + 0.1
    ways = [{}, {"q0": start}, {"q0": start, "dt": 2e-3}, {"q0": start, "integrator": "rk4"}]
    ways.append({"model": arm.without_limits()})
    first = [kt.simulate(**{"model": kt.load("arm7")} | way, duration=0.02) for way in ways]
    for _ in range(2):
        for way, expected in zip(ways, first, strict=True):
            found = kt.simulate(**{"model": arm} | way, duration=0.02)
            assert np.array_equal(found.q, expected.q) and found.notes == expected.notes
            assert found.provenance.simulated_digest == expected.provenance.simulated_digest
