"""Free flight: the parabola, and its discrete twin."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.joints import Free
from tests.analytic.mechanisms import G, slider


def thrown():
    """A spinning body without symmetry, free in the world's gravity."""
    b = kt.ModelBuilder("thrown")
    b.add_body(
        "body", joint=Free(), joint_name="root", mass=3.0, com=(0.1, -0.2, 0.3), inertia=np.diag([0.2, 0.3, 0.4])
    )
    return b.build()


def center_of_mass(model, run):
    R_WB, p_WB = kt.forward_kinematics(model, run.q)
    return p_WB[:, 1] + R_WB[:, 1] @ np.array([0.1, -0.2, 0.3])


@pytest.mark.parametrize("integrator, tolerance", [("rk4", 1e-8), ("adaptive", 1e-8)])
def test_center_of_mass_of_a_tumbling_body_draws_a_parabola(integrator, tolerance):
    """c(t) = c0 + c0' t - g t^2 / 2, whatever the rotation. RK4: h^4 w^4 with h = 1 ms and w about 5 rad/s."""
    model = thrown()
    v0 = np.array([3.0, -2.0, 4.0, 1.0, 0.5, 6.0])
    run = kt.simulate(model, v0=v0, duration=2.0, dt=1e-3, integrator=integrator)
    c = center_of_mass(model, run)
    start = v0[3:] + np.cross(v0[:3], [0.1, -0.2, 0.3])  # the body starts with R = 1
    t = run.time[:, None]
    assert c == pytest.approx(c[0] + start * t - 0.5 * np.array([0, 0, G]) * t**2, abs=tolerance)


def test_semi_implicit_euler_draws_its_discrete_parabola():
    """v_n = -g h n and z_n = -g h^2 n (n + 1) / 2, to rounding: the closed form of the method itself."""
    h, n = 0.01, np.arange(101)
    run = kt.simulate(slider(axis=(0.0, 0.0, 1.0)), duration=1.0, dt=h, integrator="semi_implicit")
    assert run.v[:, 0] == pytest.approx(-G * h * n, rel=1e-13)
    assert run.q[:, 0] == pytest.approx(-G * h * h * n * (n + 1) / 2, rel=1e-13)
