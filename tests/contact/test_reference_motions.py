"""Motions with contact against closed forms: bounces, inclines, sliding and rolling, grooves, stacks, a turntable."""

from __future__ import annotations

import math

import numpy as np
import pytest

import kinetree as kt
from kinetree.collision import ContactPair, Ground, Shape

G = 9.81
UPRIGHT = (1.0, 0.0, 0.0, 0.0)


@pytest.fixture(scope="module")
def box():
    """A cube of 0.2 m and 1 kg."""
    return kt.models.free_shape("box", (0.2, 0.2, 0.2))


@pytest.fixture(scope="module")
def ball():
    """A solid ball of 0.1 m and 1 kg."""
    return kt.models.free_shape("sphere", 0.1)


def slope(angle: float, direction: float = 0.0):
    """Upward normal of a plane that falls along a horizontal direction, and the unit vector down the slope."""
    c, s = math.cos(direction), math.sin(direction)
    down = np.array([math.cos(angle) * c, math.cos(angle) * s, -math.sin(angle)])
    return np.array([math.sin(angle) * c, math.sin(angle) * s, math.cos(angle)]), down


def resting(normal, height: float) -> np.ndarray:
    """Position of a body whose z axis is along a normal, its origin at a height over the plane through the origin."""
    half = np.array([1.0 + normal[2], -normal[1], normal[0], 0.0])
    return np.concatenate((height * normal, half / np.linalg.norm(half)))


@pytest.mark.parametrize("e", [0.5, 0.8])
def test_bounce_heights_are_powers_of_the_restitution(ball, e):
    """Apex n is e^2n of the height of fall, to the order of dt; at rest after t1 (1 + e) / (1 - e)."""
    dt = 2.5e-4
    q0 = [0.0, 0.0, 1.1, *UPRIGHT]
    run = kt.simulate(ball, q0, duration=4.6 if e == 0.8 else 2.0, dt=dt, ground=Ground(restitution=e))
    z = run.q[:, 2] - 0.1
    tops = z[1:-1][(z[1:-1] > z[:-2]) & (z[1:-1] >= z[2:])]
    np.testing.assert_allclose(tops[:3], [e ** (2 * n) for n in (1, 2, 3)], atol=20 * dt)
    assert run.q[-1, 2] == pytest.approx(0.1, abs=1e-7) and np.abs(run.v[-1]).max() < 1e-6


@pytest.mark.parametrize("direction", [0.0, 0.3, 0.7, 2.5])
@pytest.mark.parametrize(
    ("angle", "mu", "expected"), [(20, 0.3, 0.589702223052), (30, 0.3, 2.356287236662), (10, 0.3, 0)]
)
def test_block_on_an_incline(box, angle, mu, expected, direction):
    """It slides iff tan(angle) > mu, with g (sin - mu cos), the same in all directions: problems 3.2."""
    normal, down = slope(math.radians(angle), direction)
    run = kt.simulate(box, resting(normal, 0.1), duration=0.5, ground=Ground(friction=mu, normal=tuple(normal)))
    moved = (run.q[-1, :3] - run.q[0, :3]) @ down
    assert moved == pytest.approx(0.5 * expected * 0.5**2 * (1.0 + 1e-3 / 0.5), abs=1e-8)  # steps move at their end's v
    if not expected:
        force = run.contacts.on("box")[-1]
        assert force == pytest.approx((0.0, 0.0, G), abs=1e-9)  # weight: friction m g sin, normal m g cos


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_stopping_distance_on_an_incline(box, sign):
    """Uphill and downhill at 3 m/s on 10 degrees, mu = 0.3: problems 3.2, with the order of the method (1.5 mm)."""
    normal, down = slope(math.radians(10.0))
    v0 = np.zeros(6)
    v0[3] = sign * 3.0  # along the box's x axis, down the slope
    run = kt.simulate(box, resting(normal, 0.1), v0, duration=2.8, ground=Ground(friction=0.3, normal=tuple(normal)))
    distance = 3.766318850054 if sign > 0.0 else -0.977882930562
    assert (run.q[-1, :3] - run.q[0, :3]) @ down == pytest.approx(distance, abs=1.6e-3)
    moving = run.time[np.abs(run.v).max(axis=1) > 1e-4]  # the sweeps of some steps remove the rest
    assert moving[-1] == pytest.approx(2.510879233369 if sign > 0.0 else 0.651921953708, abs=2e-3)


def test_pushed_box_slides_v2_over_2_mu_g(box):
    """v0^2 / (2 mu g), the step's h v0 / 2 less."""
    run = kt.simulate(box, v0=[0, 0, 0, 2.0, 0, 0], duration=0.6, ground=Ground(friction=0.5))
    assert run.q[-1, 0] == pytest.approx(4.0 / (2 * 0.5 * G) - 1e-3, abs=1e-5)
    assert run.energy_balance.work("contact friction") == pytest.approx(-2.0, abs=0.01)


def test_sliding_ball_rolls_with_five_sevenths_of_its_speed(ball):
    """Problems 3.3: at 2 v0 / (7 mu g), after 12 v0^2 / (49 mu g); then it loses nothing."""
    run = kt.simulate(ball, v0=[0, 0, 0, 5.0, 0, 0], duration=1.5, ground=Ground(friction=0.2))
    speed, path = (
        kt.kinematics.body_velocities(ball, run.q, run.v, reference="local_world_aligned")[:, 1, 3],
        run.q[:, 0],
    )
    assert speed[-1] == pytest.approx(5 * 5 / 7, abs=1e-9)
    slipping = np.abs(speed - 0.1 * run.v[:, :3] @ [0, 1, 0]) > 1e-6
    at = run.time[~slipping][0]
    assert at == pytest.approx(0.728119994175, abs=2e-3)
    assert path[~slipping][0] == pytest.approx(3.120514260750, abs=5e-3)
    assert np.ptp(run.kinetic_energy[run.time > 0.75]) < 1e-10


@pytest.mark.parametrize(("mu", "rolls"), [(0.5, True), (0.1, False)])
def test_ball_on_an_incline(ball, mu, rolls):
    """It rolls iff mu >= 2/7 tan: problems 3.3 (mu_crit = 0.104 at 20 degrees), with the step's h / 2."""
    angle = math.radians(20.0)
    normal, down = slope(angle)
    run = kt.simulate(ball, resting(normal, 0.1), duration=0.5, ground=Ground(friction=mu, normal=tuple(normal)))
    expected = 2.396584004303 if rolls else G * (math.sin(angle) - mu * math.cos(angle))
    moved = (run.q[-1, :3] - run.q[0, :3]) @ down
    assert moved == pytest.approx(0.5 * expected * 0.5**2 * (1.0 + 1e-3 / 0.5), rel=1e-6)


def test_ball_in_a_groove(ball):
    """Both planes carry m g / (2 sin b), b the half angle of the groove: problems 3.12."""
    half = math.radians(35.0)
    pairs = []
    for side in (-1.0, 1.0):
        n = (side * math.cos(half), 0.0, math.sin(half))
        t = (n[2], 0.0, -n[0])
        plane = Shape("world", "plane", R=tuple(zip(t, (0.0, 1.0, 0.0), n, strict=True)), name=f"wall {side:g}")
        pairs.append(ContactPair(f"wall {side:g}", plane, Shape("sphere", "sphere", (0.1,), name="ball"), friction=0.0))
    groove = ball.with_contacts(pairs=pairs)
    run = kt.simulate(groove, [0.0, 0.0, 0.1 / math.sin(half), *UPRIGHT], duration=0.2)
    assert run.contacts.normal_forces[-1] == pytest.approx(np.full(2, G / (2 * math.sin(half))), rel=1e-9)
    assert np.abs(run.v[-1]).max() < 1e-10


@pytest.mark.parametrize(("angle", "falls"), [(11.0, False), (11.7, True)])
def test_tall_box_tips_where_its_width_over_height_is_below_the_slope(angle, falls):
    """w / h = 0.2 < mu: it tips beyond atan(0.2) = 11.31 degrees, and does not slide."""
    tall = kt.models.free_shape("box", (0.1, 0.1, 0.5))
    normal, _ = slope(math.radians(angle))
    run = kt.simulate(tall, resting(normal, 0.25), duration=1.0, ground=Ground(friction=0.9, normal=tuple(normal)))
    assert (np.abs(run.v).max() > 0.3) == falls
    if not falls:
        assert np.abs(run.q[-1] - run.q[0]).max() < 1e-6  # of the first steps: sweeps converge slowly next to tipping
        assert np.abs(run.v[-1]).max() < 1e-5  # the residual, 1e-7 m/s, over the lever of the corners that lift


def test_ball_on_a_turntable_moves_on_a_circle():
    """Its center turns at 2/7 of the table's rate: radius v / (2/7 rate), a period of 7 pi / rate."""
    model = kt.models.ball_on_turntable(rate=2.0, speed=0.2)
    run = kt.simulate(model, duration=11.0, dt=2e-3)
    x, y = run.q[:, 1], run.q[:, 2]
    radius = 0.2 / (2.0 * 2 / 7)
    growing = radius * np.exp(0.5 * 2e-3 * (2.0 * 2 / 7) ** 2 * run.time)  # steps along tangents: first order
    np.testing.assert_allclose(np.hypot(x - (0.3 - radius), y), growing, rtol=1e-5)
    turned = np.unwrap(np.arctan2(y, x - (0.3 - radius)))
    assert turned[-1] / 11.0 == pytest.approx(2.0 * 2 / 7, rel=1e-3)
    assert run.contacts.touching.all()
