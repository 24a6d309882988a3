"""The plane pendulum: published positions, the elliptic period, the energy that damping takes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import simpson
from scipy.special import ellipk

import kinetree as kt
from tests.analytic.mechanisms import G, pendulum

# IFToMM benchmark A01 with g = 9.81: time, x, y, angular velocity, integrated there to 1e-12.
A01 = [
    (1.0, 0.986291751132, -0.165010853126, 1.799309016907),
    (5.0, -0.942305435044, -0.334754338414, 2.562787568192),
    (9.99, -0.316436469914, -0.948613704576, 4.314139645836),
    (10.0, -0.275087462577, -0.961419205099, 4.343160692864),
]


@pytest.mark.parametrize("integrator, dt, tolerance", [("adaptive", 1e-2, 1e-8), ("rk4", 1e-3, 1e-8)])
def test_benchmark_positions(integrator, dt, tolerance):
    """Released horizontally: x, y and angular velocity of the IFToMM benchmark A01 over 10 s.

    Tolerance: rtol 1e-10 over some 30 rad of path; for RK4, h^4 = 1e-12 with constants of (m/s^2)^2 size.
    """
    run = kt.simulate(pendulum(), [-np.pi / 2], duration=10.0, dt=dt, integrator=integrator)
    for t, x, y, rate in A01:
        n = round(t / dt)
        found = np.sin(run.q[n, 0]), -np.cos(run.q[n, 0]), run.v[n, 0]
        assert found == pytest.approx((x, y, rate), abs=tolerance)


def test_the_benchmark_has_the_stated_period():
    """A01 is back where it was released after 2.36784194757624 s, that is 4 K(1/2) / sqrt(g)."""
    period = 2.36784194757624
    assert period == pytest.approx(4.0 * ellipk(0.5) / np.sqrt(9.81), rel=1e-14)
    exact = kt.integrators.Adaptive(rtol=1e-12, atol=1e-12)
    run = kt.simulate(pendulum(), [-np.pi / 2], duration=period, dt=period / 20, integrator=exact)
    assert run.q[-1, 0] == pytest.approx(-np.pi / 2, abs=1e-10) and run.v[-1, 0] == pytest.approx(0.0, abs=1e-8)


@pytest.mark.parametrize("amplitude", [0.1, 1.0, 2.5])
def test_period_is_the_complete_elliptic_integral(amplitude):
    """After T = 4 sqrt(L/g) K(sin^2(q0/2)) the pendulum stands where it was released, at rest.

    The velocity there is g/L sin(q0) times the error of the period, so 1e-8 rad/s is 1e-9 s or better.
    """
    length = 0.7
    period = 4.0 * np.sqrt(length / G) * ellipk(np.sin(amplitude / 2.0) ** 2)
    run = kt.simulate(
        pendulum(length),
        [amplitude],
        duration=period,
        dt=period / 50,
        integrator=kt.integrators.Adaptive(rtol=1e-12, atol=1e-12),
    )
    assert run.q[-1, 0] == pytest.approx(amplitude, abs=1e-9)
    assert abs(run.v[-1, 0]) < 1e-8


def test_damping_takes_the_integral_of_d_v_squared():
    """The energy lost up to any sample is the integral of d v^2 up to there (Simpson's rule, h = 1 ms: error 1e-12)."""
    damping = 0.3
    run = kt.simulate(pendulum(damping=damping), [2.0], duration=4.0, dt=1e-3, integrator="adaptive")
    for n in (1000, 2500, 4000):
        lost = run.energy[0] - run.energy[n]
        assert lost == pytest.approx(simpson(damping * run.v[: n + 1, 0] ** 2, x=run.time[: n + 1]), rel=1e-8)
    assert run.energy[0] - run.energy[-1] > 5.0  # of 13.9 J: the damping is not a small correction


def test_double_pendulum_keeps_its_energy_over_ten_seconds():
    """A chaotic motion of two rods: the total energy changes by less than 1e-8 of the kinetic energy."""
    run = kt.simulate(kt.load("double_pendulum"), [2.0, 1.0], duration=10.0, dt=1e-2, integrator="adaptive")
    assert run.energy_drift < 1e-8
    assert np.ptp(run.q[:, 1]) > np.pi  # it did tumble
