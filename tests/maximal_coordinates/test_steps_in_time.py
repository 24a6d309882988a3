"""Steps of models whose joints depend on time, compiled: hundreds of them cost less than the compilation."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.joints import Composite, Revolute
from tests.maximal_coordinates.test_parts_of_models import SHAKEN, TELESCOPE


@pytest.mark.parametrize("options", [{}, {"baumgarte": 10.0}, {"stabilize": True}])
def test_steps_on_moving_frames(options):
    """They approach the motion of the joint coordinates with the order of the method."""
    b = kt.ModelBuilder("shaken")
    pivot = Composite((SHAKEN, Revolute((0, 1, 0))))
    for name, parent, joint in (("boom", "world", pivot), ("arm", "boom", TELESCOPE)):
        b.add_body(name, parent, joint, mass=1.0, com=(0, 0.1, -0.5), inertia=(0.1, 0.2, 0.3), armature=0.1)
    model, end = b.build(), 0.1
    system, start = kt.maximal(model), ([0.3, -0.4, 0.5], [1.0, 0.5, -0.7])
    exact = kt.simulate(model, *start, duration=end, dt=1e-3, integrator="rk4")
    errors = []
    for steps in (20, 40):
        q, v = system.state(*start, t=0.0)
        for n in range(steps):
            q, v, *_ = system.step(q, v, dt=end / steps, t=n * end / steps, **options)
        q, v = system.reduced_state(q, v, t=end)
        errors.append(np.concatenate([q - exact.q[-1], v - exact.v[-1]]))
    assert 1e-3 < np.abs(errors[0]).max() < 0.02
    assert np.abs(errors[0] - 2.0 * errors[1]).max() < 0.02 * np.abs(errors[0]).max()  # of first order
