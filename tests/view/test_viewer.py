"""The live viewer without a browser: what it sends, its sliders, dragging, replay, and simulations that it shows."""

from __future__ import annotations

import sys
import time
from types import SimpleNamespace

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import KinetreeError, MissingDependencyError
from kinetree.viewer.camera import FIELD_OF_VIEW, first_view, up_of
from kinetree.viewer.live import advance_watched, show_model
from kinetree.viewer.playback import Clock, sample_at, thinned
from kinetree.viewer.sliders import slots

pytest.importorskip("viser")
A_USER = SimpleNamespace(client_id=0)


@pytest.fixture(scope="module")
def viewer():
    with kt.view(kt.models.double_pendulum(), port=18400, quiet=True) as opened:
        yield opened


def until(condition) -> None:
    """Wait for the viewer's thread."""
    end = time.perf_counter() + 60.0
    while not condition():
        assert time.perf_counter() < end, "the viewer did not react"
        time.sleep(0.01)


def user_sets(handle, value) -> None:
    """What happens when a user changes an input of the page."""
    handle._impl.value = value
    for callback in handle._impl.update_cb:
        callback(SimpleNamespace(client=A_USER, client_id=0, target=handle))


def sent(bodies) -> np.ndarray:
    """Poses of the nodes of the bodies, (nb, 7)."""
    return np.array([[*node.position, *node.wxyz] for node in bodies._frames])


def test_shown_positions_are_those_of_the_model(viewer):
    """Nodes of all bodies have the poses of forward kinematics; the sliders show the position."""
    arm = kt.load("arm7")
    show_model(viewer, arm)
    stage = viewer.stage
    q = np.array([0.3, 0.6, -0.2, 1.2, 0.1, 0.5, 0.4, 0.01, 0.01])
    viewer.show(q)
    until(lambda: np.array_equal(stage.q, q) and not stage._dirty)
    _, p = kt.forward_kinematics(arm, q)
    assert sent(stage._bodies)[:, :3] == pytest.approx(p)
    assert stage.sliders.read(np.zeros(9))[:8] == pytest.approx(q[:8], abs=1e-12)


def test_a_slider_moves_its_joint_and_those_that_follow(viewer):
    """One slider for each joint that moves freely; the finger that follows has none, and follows."""
    arm = kt.load("arm7")
    show_model(viewer, arm)
    stage = viewer.stage
    assert [slot.label for slot in stage.sliders._slots] == [arm.joint_name(i) for i in range(1, 9)]
    user_sets(stage.sliders._handles[7], 0.02)
    until(lambda: stage.q[7] == 0.02)
    assert stage.q[8] == pytest.approx(0.02)


def test_sliders_stay_within_limits_and_go_round_on_manifolds(viewer):
    """Limits are the model's; positions of every kind of joint are read as they are written."""
    arm = kt.load("arm7")
    for slot in slots(arm, 1.0):
        n = arm.v_slice[slot.body].start
        assert (slot.lower, slot.upper) == (arm.lower[n], arm.upper[n])
    model, rng = kt.load("quadruped", floating_base=True), np.random.default_rng(2)
    show_model(viewer, model)
    q = model.random_q(rng)
    viewer.stage.sliders.write(q)
    found = viewer.stage.sliders.read(model.neutral())
    for mine, expected in ((found[:3], q[:3]), (found[7:], q[7:]), (found[3:7], q[3:7] * np.sign(q[3] * found[3]))):
        assert mine == pytest.approx(expected, abs=1e-12)


def test_sliders_keep_loops_closed(viewer):
    """The moved joint keeps its value, the others follow; beyond its reach it stays, with a message."""
    model = kt.models.four_bar()
    start = kt.assemble(model)
    show_model(viewer, model, start)
    stage = viewer.stage
    handle = stage.sliders._handles[0]
    user_sets(handle, float(start[0]) + 0.3)
    until(lambda: stage.q[0] != start[0])
    assert stage.q[0] == pytest.approx(start[0] + 0.3, abs=1e-6)
    assert kt.closed_loops.error(model, stage.q) == pytest.approx(0.0, abs=1e-6)


def far_from(arm, q, p, R) -> float:
    """Largest difference of the tool's pose from another."""
    found = kt.pose(arm, q, frame="tool")
    return max(np.abs(found[1] - p).max(), 0.0 if R is None else np.abs(found[0] - R).max())


def test_a_dragged_frame_goes_where_it_is_dragged(viewer):
    """Within the limits; the position and, on request, the orientation of another position of the robot."""
    arm = kt.load("arm7")
    show_model(viewer, arm, [0.1, 0.5, 0.0, 1.0, 0.0, 0.5, 0.0, 0.0, 0.0])
    stage = viewer.stage
    R, p = kt.pose(arm, [0.2, 0.6, 0.1, 1.1, 0.1, 0.4, 0.1, 0.0, 0.0], frame="tool")
    for turn in (False, True):
        stage._turn.value = turn
        user_sets(stage._frame, "tool")
        until(lambda: stage._gizmo is not None and not stage._asked)
        stage.ask("drag", (p, kt.conventions.rotations.quaternion_of(R), True))
        until(lambda turn=turn: far_from(arm, stage.q, p, R if turn else None) < 1e-5)
    assert (stage.q >= arm.lower - 1e-9).all() and (stage.q <= arm.upper + 1e-9).all()
    assert np.asarray(stage._gizmo.position) == pytest.approx(p, abs=1e-4)


def test_free_motion_is_that_of_the_simulation(viewer):
    """At every instant the state of `simulate`; without gravity the pendulum stays."""
    model = kt.models.double_pendulum()
    q = [0.5, 0.2]
    show_model(viewer, model, q)
    stage = viewer.stage
    stage.ask("motion", True)
    until(lambda: stage.motion.running and stage.motion.t > 0.05)
    stage.motion.advance = lambda: False  # no further
    t, found = stage.motion.t, stage.motion.q
    expected = kt.simulate(model, q, duration=t)
    assert found == pytest.approx(expected.q[-1], abs=1e-9)
    stage.ask("motion", False)
    show_model(viewer, model, q)
    user_sets(viewer.stage.motion._gravity, 0.0)
    viewer.stage.ask("motion", True)
    until(lambda: viewer.stage.motion.running and viewer.stage.motion.t > 0.03)
    assert viewer.stage.q == pytest.approx(q, abs=1e-12)


def test_replay_shows_the_sample_of_the_time(viewer):
    """Two runs over each other, scrubbed to a time: poses of both are those of their states."""
    model = kt.models.double_pendulum()
    runs = [kt.simulate(model, q, duration=0.2) for q in ([0.5, 0.2], [0.9, 0.0])]
    viewer.replay(*runs, play=False)
    stage = viewer.stage
    user_sets(stage._slider, 0.1)
    until(lambda: stage.drawn == 0.1)
    for actor, run in zip(stage.actors, runs, strict=True):
        k = sample_at(actor.time, 0.1)
        assert abs(actor.time[k] - 0.1) <= 0.01
        q, _ = run.state(actor.time[k])
        assert sent(actor.bodies)[:, :3] == pytest.approx(kt.forward_kinematics(model, q)[1])
    first, second = (actor.bodies._shapes for actor in stage.actors)
    opacities = [next(x.opacity for x in shapes["stick", False]) for shapes in (first, second)]
    assert opacities[0] is None and 0.0 < opacities[1] < 1.0
    viewer.watched_by(1)
    stage.play()
    until(lambda: stage.drawn > 0.12 or stage.drawn < 0.08)
    viewer.watched_by(-1)
    with pytest.raises(KinetreeError, match="replays"):
        viewer.show([0.0, 0.0])


def test_forces_and_muscles_are_drawn(viewer):
    """Arrows end at the forces of the run; a kind that is switched off is hidden."""
    run = kt.simulate(kt.models.free_shape("box"), duration=0.05, ground=True)
    viewer.replay(run, play=False)
    stage = viewer.stage
    user_sets(stage._slider, 0.04)
    until(lambda: stage.drawn == 0.04)
    (arrows,) = [x for x in stage.actors[0].overlays if x.name == "contact forces"]
    handle = stage.actors[0].drawn._handles["/run 0 overlays/contact forces"]
    k = sample_at(stage.actors[0].time, 0.04)
    assert handle.points[:, 1] - handle.points[:, 0] == pytest.approx(arrows.vectors[k], abs=1e-5)
    user_sets(stage.display._boxes["contact forces"], False)
    until(lambda: not handle.visible)


def test_a_simulation_that_is_watched_has_the_same_bits(viewer):
    """With and without a page: the same samples; the page gets positions on the way, and the replay."""
    model = kt.models.double_pendulum()
    expected = kt.simulate(model, [0.5, 0.2], duration=0.3)
    shown = []
    show_model(viewer, model)
    viewer.watched_by(1)
    simulation = kt.Simulation(model, [0.5, 0.2])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(viewer, "offer", lambda q, t: shown.append((t, q)))
        advance_watched(simulation, 0.3, viewer, False)
    viewer.watched_by(-1)
    assert len(shown) > 3
    for t, q in shown:
        assert np.array_equal(q, expected.q[round(t / 1e-3)])
    found = kt.simulate(model, [0.5, 0.2], duration=0.3, view=viewer)
    assert np.array_equal(found.q, expected.q) and np.array_equal(found.time, expected.time)
    assert viewer.stage.actors[0].run is found
    with pytest.raises(KinetreeError, match="view"):
        kt.simulate(model, duration=0.1, view="yes")


def test_shadows_are_off_where_they_take_long(viewer, monkeypatch):
    """Of many triangles at first; the box of the page switches the light."""
    model = kt.models.double_pendulum()
    for most, expected in ((10**6, True), (1, False)):
        monkeypatch.setattr("kinetree.viewer.viewer.MANY", most)
        show_model(viewer, model)
        light = viewer.server.scene.get_handle_by_name("/light/key")
        assert light.cast_shadow is expected and viewer.shadows.value is expected
        user_sets(viewer.shadows, not expected)
        assert light.cast_shadow is not expected


def test_the_clock_begins_again_and_keeps_its_time():
    """Speeds, pauses and seeks do not jump."""
    wall = [0.0]
    clock = Clock(1.0, 3.0, lambda: wall[0])
    clock.play()
    wall[0] = 0.5
    assert clock.time == pytest.approx(1.5)
    clock.speed = 0.1
    wall[0] = 1.5
    assert clock.time == pytest.approx(1.6)
    clock.pause()
    wall[0] = 9.0
    assert clock.time == pytest.approx(1.6)
    clock.seek(7.0)
    assert clock.time == 3.0
    clock.play()
    wall[0] = 10.0
    assert clock.time == pytest.approx(1.1)
    clock.speed = 1.0
    wall[0] = 12.1
    assert clock.time == pytest.approx(1.2)


def test_runs_are_thinned_to_the_rate_of_the_page():
    """Sixty samples in a second: some of the run's own, or states between samples that are far apart."""
    model = kt.models.double_pendulum()
    dense = thinned(kt.simulate(model, [0.5, 0.2], duration=0.5))
    assert 28 <= len(dense) <= 34
    coarse = kt.simulate(model, [0.5, 0.2], duration=0.5, record=kt.Record(every=100))
    fine = thinned(coarse)
    assert len(fine) > 28 and fine.q[-1] == pytest.approx(coarse.q[-1])


@pytest.mark.parametrize("edges", [(1.0, 1.0, 1.0), (3.0, 2.0, 0.01), (0.3, 0.2, 2.0)])
@pytest.mark.parametrize("up", [(0.0, 0.0, 1.0), (0.0, 1.0, 0.0)])
def test_the_camera_sees_everything(edges, up):
    """All corners of the box are within the field of view."""
    upper = np.array(edges) + 0.3
    position, center = first_view(np.full(3, 0.3), upper, np.array(up))
    axis = (center - position) / np.linalg.norm(center - position)
    assert abs(axis @ up) < 0.8
    for bits in np.ndindex(2, 2, 2):
        ray = np.where(bits, upper, 0.3) - position
        assert np.arccos(ray @ axis / np.linalg.norm(ray)) < 0.5 * FIELD_OF_VIEW


def test_up_is_against_gravity():
    """Mechanisms that are drawn in the plane x-y stand upright."""
    model = kt.models.pendulum()
    assert up_of(model.replace(gravity=(0.0, -9.8, 0.0))).tolist() == [0.0, 1.0, 0.0]
    assert up_of(model.replace(gravity=(0.0, 0.0, 0.0))).tolist() == [0.0, 0.0, 1.0]


def test_the_address_is_local_and_printed_with_the_line_for_ssh(capsys):
    """A second viewer takes the next port; closed twice is closed."""
    with kt.view(kt.models.pendulum(), port=18400) as second:
        shown = capsys.readouterr().out
        assert second.url == f"http://127.0.0.1:{second.port}" and second.url in shown
        assert f"ssh -L {second.port}:127.0.0.1:{second.port}" in shown
        assert second.url in second._repr_html_()
    second.close()
    with pytest.raises(KinetreeError, match="closed"):
        second.show([0.0])


def test_without_viser_the_line_that_installs_it_is_named(monkeypatch):
    """And what works without."""
    monkeypatch.setitem(sys.modules, "viser", None)
    with pytest.raises(MissingDependencyError, match=r"pip install viser.*matplotlib"):
        kt.view(kt.models.pendulum())


def test_wrong_arguments_are_named(viewer):
    """Also runs without their models."""
    model = kt.models.pendulum()
    run = kt.simulate(model, duration=0.01)
    for wrong in (
        dict(model_or_run=3), dict(model_or_run=model, role="x"), dict(model_or_run=model, port=0),
        dict(model_or_run=model, detail="fine"),
        dict(model_or_run=model, port=70000), dict(model_or_run=model, host=3), dict(model_or_run=model, block=2),
    ):  # fmt: skip
        with pytest.raises(KinetreeError, match="view"):
            kt.view(**wrong)
    with pytest.raises(KinetreeError, match="more_runs"):
        kt.view(model, run)
    import dataclasses

    with pytest.raises(KinetreeError, match="no model"):
        kt.view(dataclasses.replace(run, model=None))
    show_model(viewer, model)
    with pytest.raises(KinetreeError, match="Viewer.show"):
        viewer.show([0.0, 1.0])
