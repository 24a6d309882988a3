"""Force-free rotation: the closed form of the symmetric top, the invariants of the asymmetric one."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from tests.analytic.mechanisms import ball, rigid_body, rotation_matrix


def free_start(omega):
    """Velocity of a free joint: this angular velocity, no translation."""
    return np.concatenate((omega, np.zeros(3)))


def test_asymmetric_top_keeps_energy_and_angular_momentum():
    """I = (1, 2, 3)e-2 at 10 rad/s about its intermediate axis: 10 s of RK4 at 2 ms, errors of 1e-9 and of order 4.

    Over the whole run the energy stays within 1e-9 J of its 1.000002 J, and each component of the world's angular
    momentum, 0.2 kg m^2/s long, within 1e-9 kg m^2/s. RK4 keeps both only to its order: (h w)^4 w / 120 = 1.3e-8 per
    second while the top flips, much less in the steady spin between. Relative to its length L is 6e-10 off at the end,
    but 1.5e-9 during a flip: the classical method's own local error, which other four-stage methods of order 4 share
    (Gill's, the 3/8 rule, Ralston's and a commutator-free variant gave 1.2e-9 to 1.9e-9).
    """
    moments = np.array([0.01, 0.02, 0.03])
    model = rigid_body(moments)
    errors = []
    for dt in (2e-3, 1e-3):
        run = kt.simulate(model, v0=free_start([0.01, 10.0, 0.01]), duration=10.0, dt=dt, integrator="rk4")
        L = np.einsum("tij,tj->ti", rotation_matrix(run.q[:, 3:]), moments * run.v[:, :3])
        assert np.max(np.abs(run.energy - run.energy[0])) < 1e-9 and np.max(np.abs(L - L[0])) < 1e-9  # [J, kg m^2/s]
        off = np.linalg.norm(L - L[0], axis=1) / np.linalg.norm(L[0])
        errors.append((np.max(np.abs(run.energy / run.energy[0] - 1.0)), off.max(), off[-1]))
        assert np.ptp(run.v[:, 1]) > 19.0  # the axis did flip
    assert np.all(np.array(errors[0]) < (1e-9, 2e-9, 1e-9))
    assert np.all(np.array(errors[1])[:2] < np.array(errors[0])[:2] / 12.0)


def test_a_tumbling_top_at_the_defaults():
    """The same top with nothing but a step of 2 ms said: energy to 1e-9 and omega to 1e-6 after 10 s."""
    model, start = rigid_body([0.01, 0.02, 0.03]), free_start([0.01, 10.0, 0.01])
    run = kt.simulate(model, v0=start, duration=10.0, dt=2e-3)
    exact = kt.simulate(
        model, v0=start, duration=10.0, dt=0.1, integrator=kt.integrators.Adaptive(rtol=3e-14, atol=3e-14)
    )
    assert np.max(np.abs(run.energy / run.energy[0] - 1.0)) < 1e-9
    assert np.max(np.abs(run.v[-1] - exact.v[-1])) < 1e-6


@pytest.mark.parametrize("integrator, tolerance", [("rk4", 1e-9), ("adaptive", 1e-8)])
@pytest.mark.parametrize("joint", ["free", "spherical"])
def test_symmetric_top_in_closed_form(joint, integrator, tolerance):
    """J = (1, 1, 2), Omega = (1, 0, 3): Omega(t) = (cos 3t, sin 3t, 3), R(t) = exp(t L/J1) exp(-3t e3).

    Golden quaternions at t = 1 and 5 from that closed form. RK4 with h = 1 ms: h^4 = 1e-12 times 5 s times 7^5/120.
    """
    moments = (1.0, 1.0, 2.0)
    model, v0 = (rigid_body(moments), free_start([1, 0, 3])) if joint == "free" else (ball(moments), [1, 0, 3])
    run = kt.simulate(model, v0=v0, duration=5.0, dt=1e-3, integrator=integrator)
    golden = {
        1.0: (0.028053026945, 0.0011634211688, 0.0164058904767, 0.9994711205873),
        5.0: (0.1404151443212, 0.0273736239463, 0.0740734059825, 0.9869383985252),
    }
    for t, expected in golden.items():
        n = round(t / 1e-3)
        found = run.q[n, -4:] * np.sign(run.q[n, -4:] @ np.array(expected))  # q and -q are one orientation
        assert found == pytest.approx(expected, abs=tolerance)
        assert run.v[n, :3] == pytest.approx((np.cos(3 * t), np.sin(3 * t), 3.0), abs=tolerance)


def test_unstable_box_follows_its_elliptic_functions():
    """The intermediate-axis box (5.2988, 1.1775, 4.3568) at 100 rad/s: Omega at 0.1 and 0.2 s (Landau-Lifshitz).

    The motion amplifies errors by exp(69 t): 1e-12 per step leaves about 1e-6 of 100 rad/s at 0.2 s.
    """
    model = ball((5.2988, 1.1775, 4.3568))
    run = kt.simulate(
        model, v0=[0.01, 0.0, 100.0], duration=0.2, dt=0.1, integrator=kt.integrators.Adaptive(rtol=1e-12, atol=1e-12)
    )
    assert run.v[1] == pytest.approx((5.09817503394895, -5.88683561557081, 99.7949045491813), abs=1e-5)
    assert run.v[2] == pytest.approx((4.86622404453106, -5.61900198584940, -99.8131595510741), abs=1e-5)
    expected = np.array((-0.0257036651, -0.3182552201, 0.9475109991, -0.0166085222))
    assert run.q[2] * np.sign(run.q[2] @ expected) == pytest.approx(expected, abs=1e-6)
