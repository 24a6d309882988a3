"""Inverse kinematics against closed forms and forward kinematics: limits, several frames, postures, loops, misfits."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import ArgumentError, ShapeError, UnknownNameError

METHODS = ("levenberg_marquardt", "qp")
solve = kt.control.inverse_kinematics


@functools.cache
def arm():
    """Seven joints with limits, and a gripper of two coupled fingers."""
    return kt.load("arm7")


def inside(model, q):
    """Whether q is within the limits of joints with one coordinate."""
    single = [i for i in model.outward() if model.joints[i].nq == model.joints[i].nv == 1]
    x = q[[model.q_slice[i].start for i in single]]
    k = [model.v_slice[i].start for i in single]
    return bool(np.all((model.lower[k] - 1e-12 <= x) & (x <= model.upper[k] + 1e-12)))


@functools.cache
def two_links():
    """A planar arm of two links of 1 m, with two frames at its tip."""
    b = kt.ModelBuilder.of(kt.models.double_pendulum())
    for name in ("tip", "twin"):
        b.add_frame(name, "lower", placement=((0.0, 0.0, -1.0), (0.0, 0.0, 0.0)))
    return b.build()


@pytest.mark.parametrize("method", METHODS)
def test_two_links_against_the_law_of_cosines(method):
    """A planar arm of two equal links reaches a point with the elbow at pi - 2 asin(r / 2)."""
    model = two_links()
    r, angle = 1.3, 0.4
    tip = kt.pose(model, [0.0, 0.0], frame="tip")[1] / 2.0  # along the arm at zero, one link
    axis = kt.jacobian(model, [0.0, 0.0], frame="tip", reference="world")[:3, 0]
    c, s = np.cos(angle), np.sin(angle)
    direction = c * tip + s * np.cross(axis, tip)
    found = solve(model, {"tip": r * direction}, [0.1, 0.5], method=method)
    elbow = 2.0 * np.arccos(r / 2.0)
    assert found.success and np.allclose(found.q, [angle - elbow / 2.0, elbow], atol=1e-6)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.seeds(10)
def test_random_poses_are_reached(method, seed):
    """Poses of random positions within the limits: with restarts all are reached, and limits and couplings hold."""
    model, rng = arm(), np.random.default_rng(seed)
    R, p = kt.pose(model, model.random_q(rng), frame="tool")
    found = solve(model, {"tool": (R, p)}, method=method, restarts=30, seed=seed)
    assert found.success, found
    R_found, p_found = kt.pose(model, found.q, frame="tool")
    assert np.abs(p_found - p).max() < 1e-6 and np.abs(R_found - R).max() < 2e-6
    assert found.position_error["tool"] == pytest.approx(np.linalg.norm(p_found - p), abs=1e-12)
    assert inside(model, found.q)
    with kt.interpreted():
        assert np.abs(kt.kinematics.apply_couplings(model, found.q, np.zeros(model.nv))[0] - found.q).max() < 1e-9


def test_parts_of_poses():
    """A position alone, an orientation alone, a homogeneous matrix: what is not given is free."""
    model, rng = arm(), np.random.default_rng(4)
    R, p = kt.pose(model, model.random_q(rng), frame="tool")
    T = np.block([[R, p[:, None]], [np.zeros((1, 3)), 1.0]])
    point, turn, both = (solve(model, {"tool": x}, restarts=20) for x in (p, R, T))
    assert point.success and turn.success and both.success
    assert not point.rotation_error and not turn.position_error and set(both.rotation_error) == {"tool"}
    assert np.abs(kt.pose(model, turn.q, frame="tool")[0] - R).max() < 2e-6
    assert np.abs(kt.pose(model, turn.q, frame="tool")[1] - p).max() > 1e-3
    assert point.iterations <= both.iterations


def test_several_frames_of_a_floating_robot():
    """Four feet and the trunk of a quadruped at once, on the manifold of the free base."""
    model = kt.load("quadruped", floating_base=True)
    rng = np.random.default_rng(1)
    feet = [frame.name for frame in model.frames if "foot" in frame.name][:4]
    q = model.random_q(rng)
    targets = {foot: kt.pose(model, q, frame=foot)[1] for foot in feet}
    targets[model.body_names[1]] = kt.pose(model, q, frame=model.body_names[1])
    found = solve(model, targets, restarts=20)
    assert len(feet) == 4 and found.success, found
    for foot in feet:
        assert np.abs(kt.pose(model, found.q, frame=foot)[1] - targets[foot]).max() < 1e-6


@pytest.mark.parametrize("method", METHODS)
def test_posture_within_the_freedom_of_the_targets(method):
    """The distance to the posture is stationary: its gradient has no part in the null space of the target's rows."""
    model = kt.surgery.lock(arm(), arm().joint_names[-2:])
    q_posture = np.array([0.0, 0.6, 0.3, 1.2, 0.0, 0.5, 0.0])
    p = kt.pose(model, q_posture + 0.2, frame="tool")[1]
    plain = solve(model, {"tool": p}, q_posture + 0.5, method=method)
    found = solve(model, {"tool": p}, q_posture + 0.5, method=method, posture=q_posture)
    assert plain.success and found.success and plain.posture_distance is None
    assert found.posture_distance < np.linalg.norm(plain.q - q_posture)
    J = kt.jacobian(model, found.q, frame="tool", reference="local_world_aligned")[3:]
    free = np.eye(7) - np.linalg.pinv(J) @ J
    assert np.linalg.norm(free @ (found.q - q_posture)) < 1e-4 and not found.active_limits


@pytest.mark.parametrize("method", METHODS)
def test_limits_bind_where_the_target_is_beyond_them(method):
    """The nearest point within the limits: the distance is that of a fine search over the joints."""
    model = two_links().replace(lower=[-0.5, 0.2], upper=[0.5, 1.0])
    target = kt.pose(model, [1.2, 0.4], frame="tip")[1]
    found = solve(model, {"tip": target}, [0.0, 0.5], method=method)
    Q = np.stack(np.meshgrid(np.linspace(-0.5, 0.5, 401), np.linspace(0.2, 1.0, 401), indexing="ij"), axis=-1)
    nearest = np.linalg.norm(kt.pose(model, Q, frame="tip")[1] - target, axis=-1).min()
    assert not found.success and found.position_error["tip"] == pytest.approx(nearest, abs=1e-4)
    assert model.joint_names[0] in found.active_limits and inside(model, found.q)
    assert "out of reach within the limits of" in found.message
    free = solve(model, {"tip": target}, [0.0, 0.5], method=method, limits=False)
    assert free.success and not inside(model, free.q)


@pytest.mark.parametrize("method", METHODS)
def test_a_target_out_of_reach_is_flagged_with_the_misfit(method):
    """An arm of length 2 stretches towards a point at distance 3, and stays 1 m off."""
    model = two_links()
    along = kt.pose(model, [0.0, 0.0], frame="tip")[1]
    found = solve(model, {"tip": 1.5 * along}, [0.3, 0.2], method=method, max_iterations=300)
    assert not found.success and found.position_error["tip"] == pytest.approx(1.0, abs=1e-6)
    assert found.message.startswith("frame 'tip' is 1 m from its target: out of reach, or another start")
    assert str(found).endswith("1 starts)")


def test_weights_decide_between_targets_that_contradict_each_other():
    """Two points for two frames at one place: the heavier one is met nine times as closely."""
    model = two_links()
    a, b = (kt.pose(model, q, frame="tip")[1] for q in ([0.3, 0.5], [0.35, 0.5]))
    found = solve(model, {"tip": a, "twin": b}, [0.3, 0.4], weights={"tip": 3.0})
    assert not found.success
    assert found.position_error["twin"] / found.position_error["tip"] == pytest.approx(9.0, rel=1e-2)


@pytest.mark.parametrize("method", METHODS)
def test_closed_loops_stay_closed(method):
    """A four-bar's coupler point: reached on the loop; the point of an open chain is not, and the loop holds still."""
    model = kt.models.four_bar()
    q, _ = model.keyframe("initial")
    G = kt.closed_loops.null_space(model, q, independent="crank")[:, 0]
    there = kt.closed_loops.project_position(model, kt.integrate(model, q, 0.3 * G))
    body = model.body_names[-1]
    target = kt.pose(model, there, frame=body)
    found = solve(model, {body: target}, q, method=method)
    assert found.success and found.constraint_error < 1e-9, found
    assert np.allclose(found.q, there, atol=1e-5)
    away = solve(model, {body: (target[0], target[1] + [0.0, 0.0, 5.0])}, q, method=method)
    assert not away.success


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: solve(arm(), {"tol": np.eye(4)}), UnknownNameError, "tool"),
        (lambda: solve(arm(), {}), ArgumentError, "one at least"),
        (lambda: solve(arm(), {"tool": np.eye(5)}), ArgumentError, r"a pose, \(4, 4\)"),
        (lambda: solve(arm(), {"tool": np.eye(4)}, method="newton"), ArgumentError, "levenberg_marquardt"),
        (lambda: solve(arm(), {"tool": np.eye(4)}, q0=[0.0]), ArgumentError, r"shape \(9,\)"),
        (lambda: solve(arm(), {"tool": np.eye(4)}, weights={"tol": 1.0}), ArgumentError, "frames among tool"),
        (lambda: solve(arm(), {"tool": np.eye(4)}, weights={"tool": -1.0}), ArgumentError, "positive"),
        (lambda: kt.ik, AttributeError, "kt.control.inverse_kinematics"),
    ],
)
def test_errors_name_the_argument(make, error, message):
    """Frames, forms of poses, methods, weights; the name of other libraries leads here."""
    with pytest.raises((error, ShapeError), match=message):
        make()
