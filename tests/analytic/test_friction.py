"""Dry friction: sticking up to creep, sliding to a stop."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from tests.analytic.mechanisms import G, pendulum, slider

V_S = 1e-3  # [rad/s or m/s] below this speed the model rounds Coulomb's law off


@pytest.mark.parametrize("integrator, dt", [("semi_implicit", 1e-3), ("adaptive", 1e-2)])
def test_pendulum_released_within_the_friction_cone_creeps_at_most(integrator, dt):
    """m g l sin q0 < tau_c: the speed stays below v_s (m g l sin q0) / tau_c, so the pendulum stays but for a creep."""
    tau_c, q0 = 5.0, 0.4
    load = G * np.sin(q0)
    assert load < tau_c
    if integrator == "adaptive":
        integrator = kt.integrators.Adaptive("Radau", rtol=1e-8, atol=1e-10)
    run = kt.simulate(pendulum(dry_friction=tau_c), [q0], duration=2.0, dt=dt, integrator=integrator)
    creep = V_S * load / tau_c
    assert np.max(np.abs(run.v)) <= creep * (1 + 1e-6)
    assert 0.9 * 2.0 * creep < q0 - run.q[-1, 0] <= 2.0 * creep  # the rounded law creeps; it does not stick exactly


def test_stopping_distance_of_a_sliding_mass():
    """A mass at v stops after m v^2 / (2 tau_c), and after another m v_s^2 / (2 tau_c) of the rounded law."""
    m, tau_c, v0 = 2.0, 5.0, 1.0
    run = kt.simulate(slider(m, dry_friction=tau_c), v0=[v0], duration=0.5, dt=1e-2, integrator="adaptive")
    expected = m * (v0**2 + V_S**2) / (2.0 * tau_c)
    assert run.q[-1, 0] == pytest.approx(expected, abs=1e-8)
    assert abs(run.v[-1, 0]) < 1e-8


def test_semi_implicit_friction_stops_a_mass_without_reversing_it():
    """Steps of 10 ms, far beyond the explicit bound 2 m v_s / tau_c = 0.8 ms: v decays to zero from one side.

    The distance is that of Coulomb's law within one step, h v0.
    """
    m, tau_c, v0, h = 2.0, 5.0, 1.0, 1e-2
    run = kt.simulate(slider(m, dry_friction=tau_c), v0=[v0], duration=2.0, dt=h, integrator="semi_implicit")
    assert np.all(run.v >= 0.0) and run.v[-1, 0] < 1e-12
    assert np.all(np.diff(run.v[:, 0]) <= 0.0)
    assert run.q[-1, 0] == pytest.approx(m * v0**2 / (2.0 * tau_c), abs=h * v0)
