"""Pages of runs in a real browser: they open from the disk, show the right triangles, and move as the run did."""

from __future__ import annotations

import io

import numpy as np
import pytest

import kinetree as kt
from kinetree.viewer.camera import Camera
from kinetree.viewer.recording import direction_of, recording
from kinetree.viewer.scene import Scene

BOX = """<robot name="{name}">
<link name="base"/>
<link name="arm"><inertial><origin xyz="0.4 0 0"/><mass value="1"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
<visual><origin xyz="0.4 0 0"/><geometry>{shape}</geometry>
<material name="red"><color rgba="0.9 0.05 0.05 1"/></material></visual></link>
<joint name="turn" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/></joint></robot>"""
CUBE = '<box size="0.1 0.1 0.1"/>'


def swinging(folder, shape=CUBE, name="box", duration=1.0, q=0.0):
    """A run of a red shape on a pendulum."""
    file = folder / "box.urdf"
    file.write_text(BOX.format(name=name, shape=shape))
    return kt.simulate(kt.load(str(file)), [q], duration=duration, dt=0.005)


def pixels(sheet, t: float | None = None) -> np.ndarray:
    """The canvas as (height, width, 3) bytes, at a time or as it is."""
    from PIL import Image

    if t is not None:
        sheet.evaluate(f"kinetree.set({t})")
    sheet.evaluate("document.getElementById('toggles').style.opacity = 0")  # it is in front of the canvas
    sheet.evaluate("kinetree.draw()")
    content = sheet.locator("#canvas").screenshot()
    return np.asarray(Image.open(io.BytesIO(content)).convert("RGB"))


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A ball of a mesh file, 320 triangles."""
    trimesh = pytest.importorskip("trimesh")
    folder = tmp_path_factory.mktemp("ball")
    trimesh.creation.icosphere(subdivisions=2, radius=0.1).export(folder / "ball.stl")
    return swinging(folder, f'<mesh filename="{folder / "ball.stl"}"/>')


@pytest.fixture(scope="module")
def sheet(run, open_page, tmp_path_factory):
    """The page of that run."""
    return open_page(run.save(tmp_path_factory.mktemp("page") / "run.html"))


def test_page_opens_from_disk_without_network(sheet):
    """The file is the only request, and the console stays empty."""
    assert sheet.messages == []
    assert [url.partition(":")[0] for url in sheet.requests] == ["file"]


def test_meshes_are_there(sheet, run):
    """The page draws the triangles of the mesh file; their number is that of the icosphere, 20 * 4^2."""
    assert sheet.evaluate("kinetree.triangles") == [320]
    assert sum(len(x.faces) for part in Scene.of(run.model).parts for x in part.triangles()) == 320


def test_canvas_is_not_blank_and_hides_with_the_robot(sheet):
    """Red pixels are those of the robot: without it there are none."""
    red = reddish(pixels(sheet, 0.0))
    sheet.evaluate("kinetree.robots[0].root.visible = false")
    without = reddish(pixels(sheet, 0.0))
    sheet.evaluate("kinetree.robots[0].root.visible = true")
    assert red.sum() > 200
    assert without.sum() == 0


def reddish(image: np.ndarray) -> np.ndarray:
    """Pixels of the red shape."""
    red, green, blue = image.astype(int).transpose(2, 0, 1)
    return (red > 1.6 * green) & (red > 1.6 * blue)  # in light and in shade


def test_scrubbing_moves_the_link(sheet):
    """The picture changes with the time, and only with it: the same time gives the same pixels."""
    scrub = sheet.get_by_label("time")
    scrub.fill("0.0")
    first = pixels(sheet)
    assert np.array_equal(first, pixels(sheet))  # nothing done, nothing moved
    scrub.fill("0.4")
    moved = pixels(sheet)
    scrub.fill("0.0")
    assert np.sum(np.any(first != moved, axis=-1)) > 200
    assert np.array_equal(first, pixels(sheet))


def test_bodies_are_where_the_run_has_them(sheet, run):
    """Poses between the frames of the page: those of the run, up to the distance of a frame's arc and its chord."""
    frame = 1.0 / 50.0
    for t in (0.0, 0.123, 0.377, 0.991):
        sheet.evaluate(f"kinetree.set({t})")
        matrix = np.array(sheet.evaluate(
            "(() => { const b = kinetree.robots[0].bodies.find((b) => b.name === 'arm'); b.updateMatrixWorld(true);"
            " return b.matrixWorld.elements })()"
        )).reshape(4, 4).T  # fmt: skip
        q, v = run.state(t)
        expected = np.array([np.cos(q[0]), -np.sin(q[0])])  # x axis of the arm in the plane of x and z
        curvature = np.max(np.abs(run.a)) + np.max(run.v**2)
        assert np.abs(matrix[[0, 2], 0] - expected).max() < curvature * frame**2 / 8.0 + 2.0 / 32767.0


def test_the_ball_is_drawn_where_the_camera_sees_it(sheet, run):
    """The middle of the red pixels against the projection of the ball's center by Python's camera."""
    found = recording([run], 50.0)
    height, width = pixels(sheet).shape[:2]
    camera = Camera.around(found, direction_of(found.low, found.high), 1.0, width / height)
    for t in (0.0, 0.3, 0.6):
        rows, columns = np.nonzero(reddish(pixels(sheet, t)))
        q = run.state(t)[0][0]
        (x, y), _ = camera.project(np.array([0.4 * np.cos(q), 0.0, -0.4 * np.sin(q)]))
        middle = np.array([columns.mean(), rows.mean()])
        assert np.abs(middle - [0.5 * width + 0.5 * height * x, 0.5 * height * (1.0 - y)]).max() < 2.5


def test_play_advances_and_pauses(sheet):
    """The button starts and stops the motion; at the end it begins again."""
    sheet.evaluate("kinetree.set(0)")
    sheet.locator("#play").click()
    sheet.wait_for_function("kinetree.time > 0.2")
    sheet.locator("#play").click()
    stopped = sheet.evaluate("kinetree.time")
    sheet.wait_for_timeout(150)
    assert sheet.evaluate("kinetree.time") == stopped
    sheet.evaluate("kinetree.set(0.95)")
    sheet.evaluate("kinetree.play(true)")
    sheet.wait_for_function("kinetree.time < 0.5")
    sheet.evaluate("kinetree.play(false)")


def test_plot_follows_the_channel(sheet, run):
    """The menu has the energies and the joint; choosing another one redraws the curves, and a click sets the time."""
    options = sheet.locator("#channel option").all_text_contents()
    assert options == ["energy", "position: turn", "velocity: turn"]
    before = sheet.locator("#plot").screenshot()
    sheet.locator("#channel").select_option("1")
    sheet.evaluate("kinetree.draw()")
    assert sheet.locator("#plot").screenshot() != before
    values = sheet.evaluate("[...kinetree.plot.channel.values]")
    assert np.allclose(values, run.q[::4, 0], rtol=1e-6, atol=1e-7)
    box = sheet.locator("#plot").bounding_box()
    sheet.mouse.click(box["x"] + 0.5 * box["width"], box["y"] + 0.5 * box["height"])
    assert 0.4 < sheet.evaluate("kinetree.time") < 0.6


def test_names_and_transparency(sheet):
    """Names of joints appear at their bodies; see-through shapes are paler."""
    assert not sheet.get_by_text("turn", exact=True).is_visible()
    solid = pixels(sheet, 0.2)
    sheet.get_by_label("joint names").check()
    sheet.evaluate("kinetree.draw()")
    assert sheet.get_by_text("turn", exact=True).is_visible()
    sheet.get_by_label("joint names").uncheck()
    sheet.get_by_label("see-through").check()
    pale = pixels(sheet, 0.2)
    sheet.get_by_label("see-through").uncheck()
    assert reddish(solid).sum() > 200
    assert pale[reddish(solid)].mean() > solid[reddish(solid)].mean() + 30
    assert sheet.messages == []


def test_two_runs_in_one_page(open_page, tmp_path):
    """Runs of different starts are both drawn, with a legend, and each at its own place."""
    one, other = swinging(tmp_path), swinging(tmp_path, q=-1.0)
    two = open_page(kt.viz.save_view([one, other], tmp_path / "two.html"))
    assert two.evaluate("kinetree.triangles") == [12, 12]
    assert two.locator("#runs div").all_text_contents() == ["box, run 1", "box, run 2"]
    rotation = "kinetree.robots.map((r) => r.bodies[1].quaternion.toArray())"
    q = np.array(two.evaluate(rotation))
    angle = 2.0 * np.arctan2(q[:, 1], q[:, 3])
    assert np.abs(angle - [0.0, -1.0]).max() < 1e-4
    assert two.messages == []


def test_names_cannot_end_the_script(open_page, tmp_path):
    """A model may be called as it likes: its name is shown, and is no markup."""
    name = "&lt;/script>&lt;b>bold"
    found = open_page(swinging(tmp_path, name=name, duration=0.1).save(tmp_path / "run.html"))
    assert found.locator("#title").text_content() == "</script><b>bold"
    assert found.messages == []


def test_equal_runs_give_equal_files(tmp_path):
    """Nothing of the time or the place of writing is in the file."""
    files = [swinging(tmp_path, duration=0.2).save(tmp_path / f"{k}.html").read_bytes() for k in range(2)]
    assert files[0] == files[1]
    assert files[0] != swinging(tmp_path, duration=0.2, q=0.1).save(tmp_path / "other.html").read_bytes()
