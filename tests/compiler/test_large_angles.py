"""Angles of any finite size: compiled functions agree with interpreted ones, and a wheel may turn for years."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.joints import examples
from kinetree.native.large_angles import TABLE, WORDS

TURNING = ("revolute", "universal", "cylindrical", "helical", "spherical_euler", "planar", "rack_and_pinion")


def test_table_holds_the_digits_of_two_over_pi():
    """Against multiple precision."""
    mpmath = pytest.importorskip("mpmath")
    with mpmath.workprec(64 * WORDS + 100):
        digits = int(mpmath.floor(2 / mpmath.pi * mpmath.mpf(2) ** (64 * WORDS)))
    assert sum(word << 64 * (WORDS - k) for k, word in enumerate(TABLE)) == digits


@pytest.mark.parametrize("dtype, angle", [("f4", 2.0**17), ("f4", 3e30), ("f8", 2.0**40), ("f8", 3e300), ("f8", -1e18)])
@pytest.mark.parametrize("batch", [(), (5,), (100,)])
def test_a_wheel_that_has_turned_far(dtype, angle, batch):
    """Its torque of gravity is m g l sin q: after 22 minutes at 100 rad/s single precision gave NaN."""
    wheel = kt.models.pendulum()
    q = np.full((*batch, 1), angle, dtype)
    still = np.zeros((*batch, 1), dtype)
    found = kt.rnea(wheel, q, still, still)
    quarter = kt.rnea(wheel, np.array([np.pi / 2]), np.zeros(1), np.zeros(1))[0]
    assert found.dtype == dtype
    expected = quarter * np.sin(q.astype(float))  # NumPy reduces large angles exactly
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=4 * np.finfo(dtype).eps * abs(quarter))


@pytest.mark.parametrize("size", [1e6, 1e13, 1e17])
def test_all_joints_far_away(size):
    """Every kind of joint that turns: compiled positions are the interpreted ones, to rounding of their size."""
    joints = [joint for _, joint in examples(np.random.default_rng(0)) if joint.kind in TURNING]
    assert {joint.kind for joint in joints} >= {"revolute", "universal", "spherical_euler"}
    model = kt.models.random_tree(len(joints), seed=1, joints=joints)
    q = size * np.random.default_rng(2).uniform(-1.0, 1.0, (20, model.nq))
    found = kt.forward_kinematics(model, q)
    with kt.interpreted():
        expected = kt.forward_kinematics(model, q)
    for x, y in zip(found, expected, strict=True):
        np.testing.assert_allclose(x, y, rtol=0.0, atol=1e-13 * max(1.0, np.abs(y).max()))


def test_a_rollout_through_the_limit():
    """Single precision, 200 rad/s: the sine of the angle stays on the circle past 2^17 rad."""
    wheel = kt.models.pendulum()
    q, v = kt.rollout(wheel, np.float32([131000.0]), np.float32([200.0]), np.zeros((100, 1), "f4"), np.float32(0.01))
    assert np.isfinite(q).all() and np.isfinite(v).all() and q[-1, 0] > 2.0**17
