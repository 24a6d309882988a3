"""Stacks of boxes in simulations: forces pass through many bodies, where sweeps alone would let them creep."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt

G = 9.81


@pytest.mark.parametrize(("n", "duration"), [(4, 0.5), pytest.param(10, 60.0, marks=pytest.mark.sweep)])
def test_a_stack_stands_still(n, duration):
    """Boxes on each other keep their places to 0.2 um, and carry the weights of those above."""
    model = kt.models.stack_of_boxes(n)
    run = kt.simulate(model, duration=duration, dt=1e-3, record=kt.Record(every=100))
    sixth = len(run) // 6
    assert np.abs(run.q[sixth:] - run.q[sixth]).max() < 2e-7
    assert np.abs(run.v).max() < 1e-5
    normal = run.contacts.normal_forces[-1].reshape(n, 4).sum(axis=1)
    assert normal == pytest.approx(G * np.arange(n, 0, -1), abs=0.02)
