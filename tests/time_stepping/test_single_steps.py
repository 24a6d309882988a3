"""Single steps of a simulation with contact: their record, and states that are not usable."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import SimulationError
from tests.time_stepping.bodies import at, body


@pytest.fixture(scope="module")
def box():
    return body("box").with_contacts(ground=kt.collision.Ground(friction=0.5))


def simulation(box, **more):
    return kt.Simulation(box, at(box, (0.0, 0.0, 0.2), (1.0, 0.2, 0.1, 0.0)), dt=2e-3, **more)


def test_single_steps_are_recorded_as_those_of_a_run(box):
    """Whatever is read between them: samples that wait to be written are part of it."""
    one, all_together = simulation(box), simulation(box)
    for k in range(150):
        one.step()
        if k in (0, 62, 63, 64, 65, 100):
            assert len(one.trajectory().time) == k + 2
    one.advance(10 * 2e-3)
    one.step()
    all_together.advance(161 * 2e-3)
    found, expected = one.trajectory(), all_together.trajectory()
    for name in ("time", "q", "v", "tau"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    np.testing.assert_array_equal(found.contacts.forces, expected.contacts.forces)
    assert found.contacts.forces[-2].any()


def test_a_step_that_fails_is_recorded_once(box):
    """An error of the controller: the next attempt is from the same sample."""
    fails = []

    def controller(t, q, v):
        if t > 0.1 and not fails:
            fails.append(t)
            raise ValueError("no forces")
        return np.zeros(6)

    sim = simulation(box, controller=controller)
    with pytest.raises(ValueError, match="no forces"):
        for _ in range(100):
            sim.step()
    sim.step()
    times = sim.trajectory().time
    np.testing.assert_allclose(np.diff(times), 2e-3, atol=1e-12)


def test_states_that_are_not_usable_end_the_run(box):
    """Forces beyond all numbers: the step that they act in is the last one."""
    sim = simulation(box, controller=lambda t, q, v: np.full(6, 1e300 if t > 0.1 else 0.0))
    with pytest.raises(SimulationError, match="no longer finite|not finite|diverged"):
        for _ in range(100):
            sim.step()
    assert sim.time < 0.11
