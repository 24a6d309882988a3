"""Contact with bodies whose joints time moves: rates of contacts have the part that time gives."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.collision import ContactPair, Shape
from kinetree.joints import Rheonomic
from kinetree.spatial import Transform, Vector3
from kinetree.spatial.rotations import rz
from kinetree.spatial.scalar import sin
from tests.time_stepping.bodies import at

A, W, SPEED, TURN = 0.02, 6.0, 0.5, 0.4  # [m, rad/s, m/s, rad/s]; A w^2 is less than g


class Carrier(Rheonomic):
    """Goes forward, up and down, and turns about the vertical."""

    def transform_at(self, t, q):
        return Transform(rz(TURN * t), Vector3(SPEED * t, 0.0, A * sin(W * t)))


@pytest.fixture(scope="module")
def carried():
    """A box on a table that time moves."""
    b = kt.ModelBuilder("table")
    b.add_body("table", joint=Carrier(), mass=5.0, inertia=0.1 * np.eye(3))
    b.add_body("box", joint=kt.joints.Free(), parent="world", mass=1.0, inertia=0.01 * np.eye(3))
    top, box = Shape("table", "plane", name="top"), Shape("box", "box", (0.2, 0.2, 0.2), name="box")
    return b.build().replace(contacts=[ContactPair("c", top, box, friction=0.8)])


def test_a_box_goes_with_a_table_that_time_moves(carried):
    """It sticks: forward and around with the table, and up and down; gaps that are left are closed by the next step."""
    q, v = at(carried, (0.0, 0.0, 0.1)), np.array([0.0, 0.0, TURN, SPEED, 0.0, A * W])
    errors = []
    for steps in (1000, 4000):
        run = kt.rollout(carried, q, v, None, 1.0 / steps, steps=steps, record=kt.Record(residuals=True))
        end = run.q[-1]
        np.testing.assert_allclose(end[:2], [SPEED, 0.0], atol=1e-4)
        assert 2.0 * np.arctan2(end[6], end[3]) == pytest.approx(TURN, abs=1e-4)
        assert run.worst_residuals[-1] < 1e-3
        errors.append(abs(end[2] - 0.1 - A * np.sin(W)))
    assert errors[0] < 1e-6 and errors[1] < errors[0] / 10.0  # A w^2 dt^2, and its square law


def test_without_the_rates_of_time_it_would_stay(carried):
    """The table takes along a box that was at rest, by friction that ends when both are equally fast."""
    run = kt.rollout(carried, at(carried, (0.0, 0.0, 0.1)), None, None, 1e-3, steps=500)
    assert run.v[-1, 3] ** 2 + run.v[-1, 4] ** 2 == pytest.approx(SPEED**2, rel=0.05)
    assert run.v[-1, 2] == pytest.approx(TURN, rel=1e-3)
