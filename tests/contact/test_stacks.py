"""Stacks of boxes in simulations: forces pass through many bodies, where sweeps alone would let them creep."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import kinetree as kt
from kinetree.collision import Ground
from kinetree.model import Geometry

G, EDGE, SPEED = 9.81, 0.2, 0.5


@pytest.mark.parametrize(("n", "duration"), [(4, 0.5), pytest.param(10, 60.0, marks=pytest.mark.sweep)])
def test_a_stack_stands_still(n, duration):
    """Boxes on each other keep their places to 1e-10 m, and carry the weights of those above."""
    model = kt.models.stack_of_boxes(n)
    run = kt.simulate(model, duration=duration, dt=1e-3, record=kt.Record(every=100))
    sixth = len(run) // 6
    assert np.abs(run.q[sixth:] - run.q[sixth]).max() < 1e-10
    assert np.abs(run.v).max() < 1e-5
    normal = run.contacts.normal_forces[-1].reshape(n, 4).sum(axis=1)
    assert normal == pytest.approx(G * np.arange(n, 0, -1), abs=0.02)


def moving_stack(n: int):
    """n boxes on a heavy belt that glides, and a ball that rolls past on the ground; the positions and velocities."""
    builder, names = kt.ModelBuilder("boxes on a belt"), [f"box{k}" for k in range(n)]
    builder.add_body("belt", joint=kt.joints.Prismatic((1.0, 0.0, 0.0)), mass=1e6, inertia=1e5 * np.eye(3))
    builder.add_geometry("belt", Geometry("box", (20.0, 1.0, 0.2), name="belt", p_BG=(0.0, 0.0, -0.1)))
    for name in names:
        builder.add_body(name, joint=kt.joints.Free(), mass=1.0, inertia=EDGE**2 / 6.0 * np.eye(3))
        builder.add_geometry(name, Geometry("box", (EDGE,) * 3, name=name))
    builder.add_body("ball", joint=kt.joints.Free(), mass=1.0, inertia=4e-3 * np.eye(3))
    builder.add_geometry("ball", Geometry("sphere", (0.1,), name="ball"))
    pairs = list(zip(["belt", *names], names, strict=False))
    model = builder.build().with_contacts(Ground(friction=0.8), bodies=["ball"], pairs=pairs)
    q, v = model.neutral(), np.zeros(model.nv)
    v[0] = SPEED
    for k, name in enumerate(names):
        q[model.q_index(name).start + 2] = (k + 0.5) * EDGE
        v[model.v_index(name).start + 3] = SPEED
    at, first = model.q_index("ball").start, model.v_index("ball").start
    q[at : at + 3] = 0.0, 2.0, 0.1
    v[first : first + 6] = 0.0, 10.0 * SPEED, 0.0, SPEED, 0.0, 0.0
    return model, q, v


def places(model, q) -> np.ndarray:
    """Positions of the boxes, (T, n, 3)."""
    boxes = [model.q_index(name).start for name in model.body_names if name.startswith("box")]
    return np.stack([q[:, k : k + 3] for k in boxes], axis=1)


@pytest.mark.sweep
def test_a_stack_on_a_belt_does_not_creep():
    """Ten boxes for 10 s beside a ball that rolls at 5 rad/s: relative to the belt no box moves by 1e-9 m."""
    duration = 10.0
    model, q, v = moving_stack(10)
    run = kt.simulate(model, q, v, duration=duration, dt=1e-3, record=kt.Record(every=50))
    x = places(model, run.q)
    x[..., 0] -= run.q[:, :1]
    assert np.abs(x - x[0]).max() < 1e-9
    assert run.q[-1, 0] == pytest.approx(SPEED * duration, abs=1e-9)
    ball = run.v[-1, model.v_index("ball")]
    assert np.linalg.norm(ball[3:]) == pytest.approx(SPEED, abs=1e-9)


@pytest.mark.parametrize(
    ("n", "friction", "duration"),
    [(4, 0.1, 0.6), *(pytest.param(10, friction, 10.0, marks=pytest.mark.sweep) for friction in (0.0, 0.05))],
)
def test_a_stack_that_was_pushed_glides_as_one(n, friction, duration):
    """On smooth or slippery ground: the boxes go on together, or stop after v^2 / (2 mu g); none tips over."""
    stack = kt.models.stack_of_boxes(n)
    model = stack.replace(
        contacts=[replace(c, friction=friction) if c.first.body == "world" else c for c in stack.contacts]
    )
    v = np.zeros(model.nv)
    v[3::6] = SPEED
    run = kt.simulate(model, model.keyframe("initial")[0], v, duration=duration, dt=1e-3, record=kt.Record(every=20))
    x = places(model, run.q)
    moved = x - x[0]
    assert np.abs(moved - moved[:, :1]).max() < 1e-9
    way = SPEED * duration if friction == 0.0 else SPEED**2 / (2.0 * friction * G)
    assert moved[-1, 0, 0] == pytest.approx(way, abs=SPEED * 1e-3)  # to one step
    assert np.abs(moved[:, 0, 1:]).max() < 1e-9
