"""Mechanisms with loops against Exudyn: other coordinates, other equations of the joints, implicit steps."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from tests.engines.exudyn_mechanisms import Mechanism

pytest.importorskip("exudyn")


@pytest.mark.parametrize(
    ("make", "duration"),
    [(kt.models.four_bar, 1.0), (kt.models.slider_crank, 1.0), (kt.models.stewart_platform, 0.5)],
)
def test_motions_are_those_of_exudyn(make, duration):
    """Poses of all bodies after motions of several radians and meters.

    Exudyn's methods are of second order: its error falls to a quarter at half the step, and extrapolation to the step
    zero leaves 1e-9 and less.
    """
    model = make()
    q, _ = model.keyframe("initial")
    run = kt.simulate(model, duration=duration, dt=1e-3)
    theirs = []
    for steps in (1000, 2000):
        there = Mechanism(model, q)
        theirs.append(there.run(there.settings(duration, steps, 1e-10)))
    ours, start = there.poses(run.q[-1]), there.poses(q)
    coarse, fine = (np.abs(x - ours).max() for x in theirs)
    assert np.abs(ours - start).max() > 0.5
    assert 3.9 < coarse / fine < 4.1 and fine < 1e-4
    assert (4.0 * theirs[1] - theirs[0]) / 3.0 == pytest.approx(ours, abs=5e-9)
