"""The balance of a run: what the joints lost and what the forces gave is the change of energy."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.simulation.summary import energy_summary
from tests.analytic.mechanisms import pendulum, slider


@pytest.mark.parametrize(
    "passive, loss",
    [
        ({"damping": 0.5}, "damping"),
        ({"dry_friction": 0.3}, "dry friction"),
        ({"lower": -0.2, "upper": 0.2, "limit_stiffness": 100.0, "limit_damping": 5.0}, "soft stops"),
    ],
)
def test_losses_are_the_change_of_energy(passive, loss):
    """Each loss alone takes what is missing at the end, to the trapezoidal sum's h |dP| / 2 where the power P jumps.

    The stop is hit with less than 1.5 rad/s, at a power of 5 * 1.5^2 = 11 W, about twice: 1.1e-3 J at 0.1 ms.
    """
    run = kt.simulate(pendulum(**passive), [0.19], [1.0], duration=1.0, dt=1e-4, integrator="rk4")
    balance = energy_summary(run)
    assert balance.dissipated_by == (loss,) and not balance.is_conservative and balance.work == 0.0
    assert balance.dissipated > 0.05 and abs(balance.unexplained) < 1.2e-3


def test_work_of_a_constant_force_is_force_times_way():
    """F = 3 N on a free mass: the work is F x, all of it kinetic energy."""
    run = kt.simulate(slider(2.0), inputs=kt.Inputs(tau=[3.0]), duration=1.0, dt=1e-2, integrator="rk4")
    balance = energy_summary(run)
    assert balance.work == pytest.approx(3.0 * run.q[-1, 0], rel=1e-12)  # the power is linear in time: no sum error
    assert balance.dissipated_by == () and abs(balance.unexplained) < 1e-12


def test_integration_errors_stay_unexplained():
    """Without losses and forces the change is the integrator's alone, also where the model could lose energy."""
    run = kt.simulate(pendulum(), [1.0], duration=1.0)
    balance = energy_summary(run)
    assert balance.is_conservative and balance.unexplained == run.energy[-1] - run.energy[0] != 0.0
    falling = kt.simulate(kt.load("quadruped", floating_base=True), duration=0.1)
    assert np.any(falling.model.damping) and energy_summary(falling).is_conservative
