"""Random robots dropped in random attitudes: finite, and without penetration at rest."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.joints import Revolute

DROPS, DT, STEPS = 50, 2e-3, 5000


def robot(rng) -> kt.Model:
    """A floating body with four limbs of two damped hinges, boxes and spheres of random size."""
    b = kt.ModelBuilder("dropped")
    b.add_body("trunk", joint=kt.joints.Free(), mass=4.0, inertia=np.diag(rng.uniform(0.05, 0.08, 3)))
    b.add_geometry("trunk", kt.model.Geometry("box", tuple(rng.uniform(0.1, 0.4, 3)), name="trunk"))
    for n in range(4):
        at, parent = rng.uniform(-0.2, 0.2, 3), "trunk"
        for part in ("upper", "lower"):
            axis = rng.normal(size=3)
            hinge = Revolute(tuple(axis / np.linalg.norm(axis)))
            b.add_body(f"{part}{n}", parent, hinge, f"{part}{n}", (at, (0, 0, 0)),
                       mass=0.5, com=(0, 0, -0.1), inertia=np.eye(3) * 2e-3, damping=0.3, stiffness=5.0)  # fmt: skip
            parent, at = f"{part}{n}", (0.0, 0.0, -0.2)
        b.add_geometry(
            parent, kt.model.Geometry("sphere", (rng.uniform(0.02, 0.05),), p_BG=(0, 0, -0.2), name=f"foot{n}")
        )
    return b.build().with_contacts(kt.collision.Ground(friction=float(rng.uniform(0.2, 1.0))))


@pytest.mark.seeds(2)
def test_dropped_robots_come_to_rest_on_the_ground(seed):
    """50 drops of each robot: no NaN; after 10 s all rest, and no point is deeper than a micrometer."""
    rng = np.random.default_rng(seed)
    model = robot(rng)
    q = np.tile(model.neutral(), (DROPS, 1))
    turn = rng.normal(size=(DROPS, 4))
    q[:, 3:7] = turn / np.linalg.norm(turn, axis=1)[:, None]
    q[:, 2] += 0.3 - kt.collision.contact_gaps(model, q).min(axis=1)
    v = rng.normal(size=(DROPS, model.nv))
    end, speed = (x[:, -1] for x in kt.rollout(model, q, v, None, DT, steps=STEPS, record=kt.Record(every=STEPS)))
    assert np.isfinite(end).all() and np.isfinite(speed).all()
    rests = np.abs(speed).max(axis=1) < 1e-3
    assert rests.all(), f"{(~rests).sum()} of {DROPS} move"
    assert kt.collision.contact_gaps(model, end).min() > -1e-6
