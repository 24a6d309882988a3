"""Derivatives of soft contact: of steps and through rollouts, against finite differences, away from kinks."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from tests.time_stepping.bodies import BOX, at, body

DT = 1e-3


FLOOR = kt.collision.Ground(friction=0.5, stiffness=5e3, relaxation_time=0.02)


@pytest.fixture(scope="module")
def soft():
    """A box on a soft floor."""
    return body("box").with_contacts(ground=FLOOR)


def sliding(model):
    """A state in which the box, pressed into the floor, slides on all corners; and forces."""
    q = at(model, (0.0, 0.0, BOX[2] / 2 - 2e-3), (1.0, 1e-4, 2e-4, 0.3))
    return q, np.array([0.0, 0.0, 0.2, 0.5, 0.3, 0.0]), np.array([0.0, 0.0, 0.0, 1.0, 0.5, -2.0])


@pytest.mark.parametrize("moves", [True, False])
def test_derivatives_of_a_step_are_those_of_finite_differences(soft, moves):
    """With respect to velocities and forces, for contacts that slide and that stick."""
    q, v, tau = sliding(soft)
    v = v if moves else 0.0 * v
    impulses = np.zeros(soft.n_impulses)
    for _ in range(20):  # warm, and converged
        _, _, impulses = kt.integrators.contact_step(soft, q, v, impulses, tau, DT)
    f = kt.differentiate(soft, "contact_step", "jacobian", wrt=["v", "tau"])
    found = f(q, v, impulses, tau, DT)
    h, names = 1e-6, [name for name in found._fields if name.startswith("dv_next")]
    assert len(names) == 2
    for name, x in zip(names, (v, tau), strict=True):
        expected = np.empty((6, 6))
        for k in range(6):
            ends = []
            for sign in (1.0, -1.0):
                given = {"v": v, "tau": tau}
                given["v" if x is v else "tau"] = x + sign * h * np.eye(6)[k]
                ends.append(kt.integrators.contact_step(soft, q, given["v"], impulses, given["tau"], DT)[1])
            expected[:, k] = (ends[0] - ends[1]) / (2.0 * h)
        assert getattr(found, name) == pytest.approx(expected, rel=1e-5, abs=1e-6 * np.abs(expected).max())


def test_gradients_of_rollouts_are_those_of_finite_differences(soft):
    """The distance that a box has slid after 50 steps, by its velocity at the start and by forces."""
    q, v, _ = sliding(soft)
    tau = np.tile([0.0, 0.0, 0.0, 1.0, 0.5, -2.0], (50, 1))
    goal = {"terminal": lambda s: s.q[0] * s.q[0] + 2.0 * s.q[1]}
    found = kt.rollout_gradient(soft, q, v, tau, DT, wrt=["tau"], **goal)

    def objective(v, tau):
        end = kt.rollout(soft, q, v, tau, DT).q[-1]
        return end[0] ** 2 + 2.0 * end[1]

    assert found.value == pytest.approx(objective(v, tau), rel=1e-12)
    h = 1e-6
    for k in (3, 4):
        unit = h * np.eye(6)[k]
        assert found.v0[k] == pytest.approx((objective(v + unit, tau) - objective(v - unit, tau)) / (2.0 * h), rel=1e-5)
        at_20 = np.zeros((50, 6))
        at_20[20] = 1e3 * unit
        slope = (objective(v, tau + at_20) - objective(v, tau - at_20)) / (2e3 * h)
        assert found.tau[20, k] == pytest.approx(slope, rel=1e-4)
    named = kt.rollout_gradient(body("box"), q, v, tau, DT, wrt=["tau"], ground=FLOOR, **goal)
    np.testing.assert_array_equal(named.tau, found.tau)
