"""Inverse kinematics against closed forms and forward kinematics: limits, several frames, postures, loops, misfits."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import ArgumentError, ShapeError, UnknownNameError

METHODS = ("levenberg_marquardt", "qp")
solve = kt.inverse_kinematics


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


@pytest.mark.parametrize("method", METHODS)
def test_legs_of_a_stewart_platform_have_the_distances_of_their_anchors(method):
    """The inverse kinematics of a hexapod in closed form: |p + R b_k - a_k| is the length of leg k."""
    model = kt.models.stewart_platform()
    q0, legs = model.neutral(), range(1, 7)
    P, R0 = kt.pose(model, q0, frame="platform")[::-1]
    loops = {loop.name: loop for loop in model.loops}
    ends = {k: kt.pose(model, q0, frame=loops[f"ball{k}"].successor)[1] for k in legs}
    feet = {k: kt.pose(model, q0, frame=model.body_names[model.joint(f"universal{k}")])[1] for k in legs}
    turn = np.array(kt.spatial.rotations.rx(0.2).T.matrix.rows)
    target = turn @ R0, P + [0.05, -0.03, 0.08]
    found = solve(model, {"platform": target}, method=method)
    assert found.success and found.constraint_error < 1e-10 and found.iterations < 10
    for k in legs:
        b = R0.T @ (ends[k] - P)
        change = np.linalg.norm(target[1] + target[0] @ b - feet[k]) - np.linalg.norm(ends[k] - feet[k])
        assert found.q[model.q_index(f"prismatic{k}")] == pytest.approx(change, abs=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_limits_bind_inside_a_loop(method):
    """The nearest point of a four-bar's rocker within the limits of its crank, by a fine search over the crank."""
    model = kt.models.four_bar()
    q, _ = model.keyframe("initial")
    G = kt.closed_loops.null_space(model, q, independent="crank")[:, 0]
    slot, limit = model.q_index("coupler"), np.inf * np.ones(3)
    ahead = kt.closed_loops.project_position(model, kt.integrate(model, q, 0.15 * G))
    beyond = kt.closed_loops.project_position(model, kt.integrate(model, q, 0.3 * G))
    k = model.v_index("coupler")
    limit[k] = np.abs(ahead[slot] - q[slot])
    tight = model.replace(
        lower=np.where(np.isfinite(limit), q - limit, -limit), upper=np.where(np.isfinite(limit), q + limit, limit)
    )
    body = model.body_names[-1]
    R, p = kt.pose(model, beyond, frame=body)
    found = solve(tight, {body: (R, p)}, q, method=method)
    assert not found.success and found.active_limits == ("coupler",) and "within the limits of coupler" in found.message
    assert np.allclose(found.q, ahead, atol=1e-6) and found.constraint_error < 1e-9


def test_lower_priorities_move_within_the_freedom_of_higher_ones():
    """Three links: the tip stays on its target, the elbow comes as near to its own as a search over all positions.

    With the first link at an angle, the others reach the tip by the law of cosines, in two ways.
    """
    b = kt.ModelBuilder("three links")
    for n in range(3):
        b.add_body(
            f"link{n}",
            f"link{n - 1}" if n else "world",
            kt.joints.Revolute((0, 0, 1)),
            mass=1.0,
            inertia=np.eye(3),
            placement=((float(n > 0), 0, 0), (0, 0, 0)),
        )
    b.add_frame("tip", "link2", ((1, 0, 0), (0, 0, 0)))
    model = b.build()
    tip, elbow = np.array([1.5, 0.6, 0.0]), np.array([0.2, 1.9, 0.0])
    first = np.linspace(-np.pi, np.pi, 20001)
    rest = tip[:2] - np.stack((np.cos(first), np.sin(first)), axis=-1)
    length, heading = np.linalg.norm(rest, axis=-1), np.arctan2(rest[:, 1], rest[:, 0])
    bend = np.arccos(np.clip(length / 2.0, -1.0, 1.0))
    distances = [
        np.linalg.norm(np.stack((np.cos(first) + np.cos(a), np.sin(first) + np.sin(a)), axis=-1) - elbow[:2], axis=-1)[
            length <= 2.0
        ]
        for a in (heading + bend, heading - bend)
    ]
    for method in METHODS:
        found = solve(model, [{"tip": tip}, {"link2": elbow}], [0.3, 0.3, 0.3], method=method, restarts=10)
        assert found.success and found.reached == (True, False) and found.position_error["tip"] < 1e-7
        assert found.position_error["link2"] == pytest.approx(np.min(distances), abs=1e-6)
        assert found.message.startswith("frame 'link2' is") and "of second priority" in found.message
        far = solve(model, [{"tip": 3.0 * tip}, {"link2": elbow}], [0.3, 0.3, 0.3], method=method, max_iterations=400)
        assert far.reached == (False, False) and not far.success
        assert far.position_error["tip"] == pytest.approx(3.0 * np.linalg.norm(tip) - 3.0, abs=1e-5)
        other = solve(model, [{"link2": elbow}, {"tip": tip}], [0.3, 0.3, 0.3], method=method, restarts=10)
        assert other.success and other.position_error["link2"] < 1e-6 < other.position_error["tip"]


def test_locked_joints_and_open_loops():
    """A locked joint keeps its position; a mechanism that cannot close is an error with its gap; a start is closed."""
    model = two_links().with_constraints(kt.constraints.Lock("shoulder"))
    found = solve(model, {"tip": kt.pose(model, [0.3, 0.9], frame="tip")[1]}, [0.3, 0.2])
    assert found.success and np.allclose(found.q, [0.3, 0.9], atol=1e-6)
    away = solve(model, {"tip": kt.pose(model, [0.4, 0.9], frame="tip")[1]}, [0.3, 0.2])
    assert not away.success and away.q[0] == 0.3
    bar = kt.models.four_bar()
    target = {"rocker": kt.pose(bar, bar.keyframe("initial")[0], frame="rocker")}
    assert solve(bar, target, bar.keyframe("initial")[0] + 0.2).success
    rod = kt.constraints.Distance("world", "rocker", 50.0, at_S=(0.1, 0.0, 0.0))
    with pytest.raises(kt.errors.AssemblyError, match="stays open by"):
        solve(bar.replace(constraints=()).with_constraints(rod), target)


def test_batches_of_targets():
    """Positions, orientations and poses along a first axis: each result is that of its target alone, to the bit."""
    model, rng = arm(), np.random.default_rng(7)
    Q = np.array([model.random_q(rng) for _ in range(3)])
    R, p = kt.pose(model, Q, frame="tool")
    T = np.tile(np.eye(4), (3, 1, 1))
    T[:, :3, :3], T[:, :3, 3] = R, p
    alone = [solve(model, {"tool": (R[k], p[k])}, Q[k] + 0.1) for k in range(3)]
    for poses in ((R, p), T):
        found = solve(model, {"tool": poses}, Q + 0.1)
        assert len(found) == 3 and np.array_equal(found.q, [one.q for one in alone]) and found.success.all()
    points, turns = solve(model, {"tool": (None, p)}, Q + 0.1), solve(model, {"tool": R}, Q + 0.1)
    assert np.abs(kt.pose(model, points.q, frame="tool")[1] - p).max() < 1e-6 and not points[0].rotation_error
    assert np.abs(kt.pose(model, turns.q, frame="tool")[0] - R).max() < 2e-6 and not turns[0].position_error
    four = solve(
        model, {"tool": np.tile(p[0], (4, 1)), "forearm_link": kt.pose(model, Q[0], frame="forearm_link")[1]}, Q[0]
    )
    assert len(four) == 4 and str(four) == "4 of 4 targets are reached" and np.array_equal(four.q, [four[0].q] * 4)


def test_a_path_is_followed_without_jumps():
    """Two links along a straight line: the closed form of the same elbow, and the first point out of reach by name."""
    model = two_links()
    axis = kt.jacobian(model, [0.0, 0.0], frame="tip", reference="world")[:3, 0]
    along = kt.pose(model, [0.0, 0.0], frame="tip")[1] / 2.0
    across = np.cross(axis, along)
    x = np.linspace(0.5, 1.9, 15)
    found = solve(model, {"tip": (None, x[:, None] * along + 0.3 * across)}, [-1.0, 2.0], path=True)
    r = np.hypot(x, 0.3)
    elbow = 2.0 * np.arccos(r / 2.0)
    exact = np.stack((np.arctan2(0.3, x) - elbow / 2.0, elbow), axis=-1)
    assert found.success.all() and np.abs(found.q - exact).max() < 1e-5
    far = solve(model, {"tip": (None, np.linspace(1.0, 3.0, 3)[:, None] * along)}, [-1.0, 2.0], path=True)
    assert far.success.tolist() == [True, False, False] or far.success.tolist() == [True, True, False]
    assert far[2].position_error["tip"] == pytest.approx(1.0, abs=1e-4) and "the first that is not" in str(far)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: solve(arm(), {"tool": np.ones((3, 3))}), ArgumentError, r"three positions give \(None, p\)"),
        (lambda: solve(arm(), {"tool": (None, None)}), ArgumentError, "a batch of them"),
        (
            lambda: solve(arm(), {"tool": (None, np.ones((2, 3))), "forearm_link": np.ones((4, 3))}),
            ShapeError,
            "different lengths: 'tool' 2, 'forearm_link' 4",
        ),
        (lambda: solve(arm(), {"tool": np.ones(3)}, path=True), ShapeError, "path=True needs targets"),
        (lambda: solve(arm(), {"tool": np.full(3, np.nan)}), ArgumentError, "finite"),
        (lambda: solve(arm(), {"tol": np.eye(4)}), UnknownNameError, "tool"),
        (lambda: solve(arm(), {}), ArgumentError, "one at least"),
        (lambda: solve(arm(), {"tool": np.eye(5)}), ArgumentError, r"a pose, \(4, 4\)"),
        (lambda: solve(arm(), {"tool": np.eye(4)}, method="newton"), ArgumentError, "levenberg_marquardt"),
        (lambda: solve(arm(), {"tool": np.eye(4)}, q0=[0.0]), ArgumentError, r"shape \(9,\)"),
        (lambda: solve(arm(), {"tool": np.eye(4)}, weights={"tol": 1.0}), ArgumentError, "frames among tool"),
        (lambda: solve(arm(), {"tool": np.eye(4)}, weights={"tool": -1.0}), ArgumentError, "positive"),
        (lambda: kt.ik, AttributeError, "kt.inverse_kinematics"),
    ],
)
def test_errors_name_the_argument(make, error, message):
    """Frames, forms of poses, methods, weights; the name of other libraries leads here."""
    with pytest.raises((error, ShapeError), match=message):
        make()
