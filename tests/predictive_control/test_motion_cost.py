"""Compiled costs of motions: those of NumPy and of iLQR, rows of a reference, kinks, errors."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.spatial.scalar import maximum

ARM, DT, T = kt.models.double_pendulum(), 0.02, 6
TIP = ARM.body_names[2], (0.8, 0.0, 0.1)


def motions(dtype=np.float64, n=5):
    """Some motions of a controller that forces the second joint alone."""
    kept = []

    def keep(s):
        kept.append(s)
        return np.zeros(n)

    kt.control.CEM(
        ARM, keep, dt=DT, horizon=T, samples=n, covariance=4.0, iterations=1, actuated=ARM.joint_names[1], dtype=dtype,
    )(0.3, [0.4, -0.2], [1.0, 0.5])  # fmt: skip
    return kept[0]


def running(s):
    """With a kink, a frame, forces and a row of a reference."""
    p = s.point(*TIP)
    return maximum(p[2] + 1.05, 0.0) + (p[0] - s.reference[0]) ** 2 + 0.1 * s.tau[1] ** 2 + s.v[0] ** 2


def terminal(s):
    return 3.0 * (s.q[0] - s.reference[1]) ** 2


def rows(time):
    return np.stack([np.sin(time), time**2], axis=1)


@pytest.mark.parametrize(("dtype", "digits"), [(np.float64, 1e-13), (np.float32, 2e-6)])
def test_costs_are_those_of_numpy(dtype, digits):
    """The sum over the instants of each motion, in double and single precision."""
    s = motions(dtype)
    found = kt.control.MotionCost(ARM, running, terminal, reference=rows)(s)
    R, p = kt.pose(ARM, s.q.astype(float), frame=TIP[0])
    tip, row = p + R @ np.array(TIP[1]), rows(s.time)
    each = (
        np.maximum(tip[:, :-1, 2] + 1.05, 0.0) + (tip[:, :-1, 0] - row[:-1, 0]) ** 2
        + 0.1 * s.u[..., 0] ** 2 + s.v[:, :-1, 0] ** 2
    )  # fmt: skip
    wanted = DT * each.sum(axis=1) + 3.0 * (s.q[:, -1, 0] - row[-1, 1]) ** 2
    assert np.abs(found - wanted).max() < digits * np.abs(wanted).max() and np.ptp(wanted) > 0.1
    assert (tip[..., 2] > -1.05).any() and (tip[..., 2] < -1.05).any()
    assert np.array_equal(s.tau[..., 1], s.u[..., 0].astype(dtype)) and not s.tau[..., 0].any()


def test_the_cost_of_a_motion_of_ilqr_is_its_own():
    """Both take the same functions and mean the same sum."""
    effort, rest = lambda s: 0.1 * s.tau[0] ** 2 + s.v[1] ** 2, lambda s: (s.q[0] - 1.0) ** 2 + s.q[1] ** 2
    found = kt.control.iLQR(ARM, effort, rest, dt=DT, horizon=T, iterations=3)([0.3, 0.2])
    alone = kt.control.SampledMotions(found.time, found.q[None], found.v[None], found.tau[None], found.tau[None])
    (cost,) = kt.control.MotionCost(ARM, effort, rest)(alone)
    assert abs(cost - found.cost) < 1e-14 * cost


def test_wrong_costs_are_named():
    """No cost at all, and rows for other instants."""
    with pytest.raises(kt.errors.ArgumentError, match="MotionCost: there is no cost"):
        kt.control.MotionCost(ARM)
    s = motions()
    for reference, kind, text in (
        (lambda time: np.zeros((3, 2)), kt.errors.ShapeError, r"shape \(3, 2\), expected \(7, n\)"),
        (lambda time: "up", kt.errors.ArgumentError, r"reference\(time\) is 'up', expected numbers"),
    ):
        with pytest.raises(kind, match=text):
            kt.control.MotionCost(ARM, running, reference=reference)(s)
