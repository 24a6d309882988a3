"""Friction of contacts with a stiffness from event to event: closed forms, and time stepping as dt goes to zero."""

from __future__ import annotations

import math

import numpy as np
import pytest

import kinetree as kt
from kinetree.collision import ContactPair, Shape
from kinetree.errors import ContactError
from tests.contact.test_event_driven import BALL, BOX, FLOOR, G, flat_on, moved, on, slope, times

SOFT = dict(stiffness=2e4, relaxation_time=2e-3)


@pytest.mark.parametrize("law", [dict(), dict(law="hunt_crossley", dissipation=0.5)])
def test_a_ball_on_a_soft_floor_slides_and_then_rolls(law):
    """As on a rigid one, with the arm from its center to the middle of both surfaces; the load is its weight."""
    soft = dict(stiffness=2e4, **(law or dict(relaxation_time=2e-3)))
    mu, v0 = 0.2, 1.0
    depth = (G / 2e4) ** (2.0 / 3.0) if law else G / 2e4
    arm = 0.1 - 0.5 * depth
    run = moved(on(BALL, friction=mu, **soft), [0, 0, 0.1 - depth, 1, 0, 0, 0], [0, 0, 0, v0, 0, 0], 0.4)
    k = 0.004 / arm**2
    assert times(run, "stick") == pytest.approx([v0 / (mu * G * (1.0 + 1.0 / k))], abs=1e-9)
    assert np.linalg.norm(run.v[-1, 3:]) == pytest.approx(v0 / (1.0 + k), abs=1e-9)
    assert np.linalg.norm(run.v[-1, :3]) * arm == pytest.approx(v0 / (1.0 + k), abs=1e-9)
    assert np.abs(run.energy_balance.remainder).max() < 1e-9


@pytest.mark.parametrize(("mu", "a"), [(0.3, 0.589702223052), (0.37, 0.0)])
def test_a_block_on_a_soft_slope_slides_or_sticks(mu, a):
    """a = g (sin - mu cos) once its springs carry the moment of friction; or rest without creep."""
    floor, R = slope(math.pi / 9, 0.7)
    start = flat_on(R, 0.05 - G * math.cos(math.pi / 9) / 4.0 / 2e4)
    run = moved(on(BOX, floor, friction=mu, **SOFT), start, np.zeros(6), 1.0, dt=0.1)
    speeds = np.linalg.norm(run.v[:, 3:], axis=1)
    assert speeds[-1] - speeds[5] == pytest.approx(0.5 * a, abs=1e-6)
    assert abs(run.energy_balance.remainder[-1]) < 1e-9
    if not a:
        assert np.abs(run.q[-1] - run.q[5]).max() < 1e-9


def point(mass=1.0):
    """A ball that cannot turn."""
    b = kt.ModelBuilder("point")
    b.add_body("rail", joint=kt.joints.Prismatic((1, 0, 0)), mass=0.0, inertia=np.zeros((3, 3)))
    b.add_body("body", joint=kt.joints.Prismatic((0, 0, 1)), parent="rail", mass=mass, inertia=0.1 * np.eye(3))
    return b.build()


def falling(**material):
    pair = ContactPair("c", FLOOR, Shape("body", "sphere", (0.1,), name="ball"), **material)
    return point().replace(contacts=[pair])


def test_a_rebound_that_slides_loses_mu_times_the_normal_impulse():
    """Loads that begin and end with the contact: m (v0 - v) = mu (m (1 + e) w + m g T), between the two events."""
    run = moved(falling(friction=0.3, **SOFT), [0.0, 0.3], [2.0, 0.0], 0.3, dt=0.3)
    (end,) = [x for x in run.events if x.name.startswith("lift-off")]
    begin, w = math.sqrt(0.4 / G), -math.sqrt(0.4 * G)
    normal = end.v[1] - w + G * (end.time - begin)
    assert end.v[0] == pytest.approx(2.0 - 0.3 * normal, abs=1e-8)


def test_a_body_that_meets_a_soft_slope_without_slip():
    """It falls along the normal while its weight has a part along the slope: slip begins with the load, then ends."""
    tilt = 0.15
    model = falling(friction=0.5, **SOFT).replace(gravity=(G * math.sin(tilt), 0.0, -G * math.cos(tilt)))
    fall = math.sqrt(0.02 / (G * math.cos(tilt)))
    start = [0.0, 0.11], [-G * math.sin(tilt) * fall, 0.0]  # slip is zero where it meets the slope
    exact = moved(model, *start, 0.15, dt=0.05)
    errors = [np.abs(moved(model, *start, 0.15, dt, "time_stepping").q[-1] - exact.q[-1]).max() for dt in (2e-4, 1e-4)]
    assert errors[0] < 5e-4 and errors[0] / errors[1] == pytest.approx(2.0, abs=0.3)
    assert np.abs(exact.energy_balance.remainder).max() < 1e-8


def test_rubbing_without_end_is_named():
    """The last creep of a box on four soft corners, which turns: directions of slip change without end."""
    start = [0, 0, 0.05 - G / 8e4, 1, 0, 0, 0], [0, 0, 0.02, 0.05, 0, 0]
    with pytest.raises(ContactError, match=r"change without end.*'time_stepping', or kt\.forces\.SoftContact"):
        moved(on(BOX, friction=0.4, **SOFT), *start, 0.5)
