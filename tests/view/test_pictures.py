"""Pictures and films without a display: two renderers that agree, frames that differ, errors that name the repair."""

from __future__ import annotations

import base64
import io
import sys

import matplotlib
import numpy as np
import pytest
from PIL import Image

import kinetree as kt
from kinetree.errors import ArgumentError, KinetreeError, MissingDependencyError, UnsupportedError
from tests.view.conftest import need_browser
from tests.view.test_page import reddish, swinging

SMALL = {"size": (320, 180), "renderer": "matplotlib"}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A red cube that swings."""
    return swinging(tmp_path_factory.mktemp("cube"))


def read(path) -> np.ndarray:
    """The pixels of a picture."""
    return np.asarray(Image.open(path).convert("RGB"))


def test_both_renderers_draw_the_same_outline(run, tmp_path):
    """The browser's picture and matplotlib's have the red cube at the same pixels; only its border differs."""
    need_browser()
    masks = []
    for renderer in ("browser", "matplotlib"):
        path = run.save(tmp_path / f"{renderer}.png", time=0.25, size=(320, 180), renderer=renderer)
        masks.append(reddish(read(path)))
    both, either = np.sum(masks[0] & masks[1]), np.sum(masks[0] | masks[1])
    assert either > 200
    # Lit faces only differ in shade; along the border of n pixels one pixel may belong to either.
    assert both / either > 0.9


def test_picture_is_of_its_time(run, tmp_path):
    """Pictures of two times differ, and of the same time do not; the default is the end."""
    paths = [run.save(tmp_path / f"{k}.png", time=t, **SMALL) for k, t in enumerate((0.0, 0.4, 0.0))]
    first, moved, again = map(read, paths)
    assert first.shape == (180, 320, 3)
    assert np.array_equal(first, again)
    assert np.any(first != moved, axis=-1).sum() > 200
    end = [read(run.save(tmp_path / name, **SMALL, **more)) for name, more in (("a.png", {}), ("b.png", {"time": 1.0}))]
    assert np.array_equal(*end)


def test_frames_of_a_gif_differ(run, tmp_path):
    """Ten frames per second of a second, each unlike the one before; half the speed has twice as many."""
    film = Image.open(run.save(tmp_path / "run.gif", fps=10, **SMALL))
    assert (film.n_frames, film.info["duration"], film.info["loop"]) == (10, 100, 0)
    frames = []
    for k in range(film.n_frames):
        film.seek(k)
        frames.append(np.asarray(film.convert("RGB")))
    assert all(np.any(a != b) for a, b in zip(frames, frames[1:], strict=False))
    assert Image.open(run.save(tmp_path / "slow.gif", fps=10, speed=0.5, **SMALL)).n_frames == 20


def test_frames_of_a_film_are_those_of_the_pictures(run, tmp_path):
    """ffmpeg reads the film again: number and size of the frames, and each is the picture of its time."""
    imageio_ffmpeg = pytest.importorskip("imageio_ffmpeg")
    path = run.save(tmp_path / "run.mp4", fps=5, **SMALL)
    reader = imageio_ffmpeg.read_frames(str(path))
    meta = next(reader)
    frames = [np.frombuffer(frame, np.uint8).reshape(180, 320, 3) for frame in reader]
    assert meta["fps"] == 5.0
    assert len(frames) == 5
    for k, frame in enumerate(frames):
        picture = read(run.save(tmp_path / f"{k}.png", time=k / 5.0, **SMALL))
        differ = reddish(frame) ^ reddish(picture)
        assert differ.sum() < 0.15 * reddish(picture).sum()  # compressed colors blur the border
        if k:
            assert (reddish(frame) ^ reddish(frames[k - 1])).sum() > 0.15 * reddish(picture).sum()


def test_models_have_pictures(tmp_path):
    """A model is drawn at a position, also one without shapes, as a stick figure."""
    model = kt.load("double_pendulum")
    first, other = (kt.viz.save_view(model, tmp_path / f"{x}.png", q=[x, x], **SMALL) for x in (0, 1))
    assert np.any(read(first) != read(other))
    sticks = read(kt.viz.save_view(kt.models.four_bar(), tmp_path / "sticks.png", **SMALL))
    assert len(np.unique(sticks.reshape(-1, 3), axis=0)) > 20


def test_camera_and_zoom(run, tmp_path):
    """Twice the magnification gives four times the pixels; from behind, the cube is on the other side."""
    size = {"size": (320, 180), "renderer": "matplotlib", "time": 0.0}
    near, far = (reddish(read(run.save(tmp_path / f"{z}.png", zoom=z, **size))) for z in (0.5, 0.25))
    assert near.sum() / far.sum() == pytest.approx(4.0, rel=0.25)  # perspective of a cube of a sixth of the distance
    front, back = (reddish(read(run.save(tmp_path / f"{y}.png", camera=(0, y, 0.1), **size))) for y in (-1, 1))
    assert np.nonzero(front)[1].mean() > 160 > np.nonzero(back)[1].mean()


def test_animations_draw_their_frames(run, tmp_path):
    """A frame for each time, each the picture of matplotlib at that time; in a notebook's page all of them."""
    found = run.animate(fps=2, size=(320, 180), shapes="visual")
    with matplotlib.rc_context({"savefig.dpi": "figure"}):  # whatever style is in use
        texts = found.to_jshtml().split("data:image/png;base64,")[1:]
    assert len(texts) == 2
    for k, text in enumerate(texts):
        content = base64.b64decode(text.split('"')[0].replace("\\\n", ""))
        picture = read(run.save(tmp_path / f"{k}.png", time=0.5 * k, **SMALL))
        assert np.array_equal(read(io.BytesIO(content)), picture)
    sticks = kt.viz.animate(run, fps=2).to_jshtml().split("data:image/png;base64,")[1:]
    assert len(set(sticks)) == 2


def test_runs_between_samples_are_interpolated(tmp_path):
    """Samples farther apart than frames are interpolated on the manifold, not by straight lines."""
    from kinetree.viewer.recording import thinned

    run = kt.simulate(kt.models.pendulum(), [1.0], duration=1.0, record=kt.Record(every=100))
    dense = thinned(run, 50.0)
    assert len(dense) == 51
    assert np.abs(dense.q - run.state(dense.time)[0]).max() < 1e-12
    fine = thinned(kt.simulate(kt.models.pendulum(), [1.0], duration=1.0), 50.0)
    assert np.allclose(np.diff(fine.time), 0.02)


@pytest.mark.parametrize(
    ("name", "options", "error", "text"),
    [
        ("run.bmp", {}, KinetreeError, "no trajectory format '.bmp'. Known: .npz"),
        ("run.npz", {"fps": 5}, ArgumentError, "'fps': it belongs to pictures (.html"),
        ("run.png", {"time": 7.0}, ArgumentError, "save_view: time is 7.0, expected a time of the run, 0 to 1 s."),
        ("run.png", {"fps": 5}, ArgumentError, "is a picture: fps is an option of .html, .glb, .rrd, .gif, .mp4"),
        ("run.png", {"camera": (0, 0, 1)}, ArgumentError, "a vector to the camera that is not vertical"),
        ("run.png", {"size": (0, 5)}, ArgumentError, "width and height in pixels"),
        ("run.gif", {"speed": 0}, ArgumentError, "save_view: speed is 0, expected a positive number"),
        ("run.png", {"zom": 2}, ArgumentError, "save_view: there is no option 'zom'. Did you mean 'zoom'?"),
    ],
)
def test_wrong_options_are_named(run, tmp_path, name, options, error, text):
    """Every error has the option, the expected value or the valid names; nothing is written."""
    with pytest.raises(error) as caught:
        run.save(tmp_path / name, **options)
    assert text in str(caught.value)
    assert not [*tmp_path.iterdir()]


def test_missing_parts_are_named(run, tmp_path, monkeypatch):
    """A run without its model, and formats without their packages."""
    path = run.save(tmp_path / "run.npz")
    with pytest.raises(KinetreeError, match=r"load\(path, model=model\)"):
        kt.Trajectory.load(path).save(tmp_path / "run.png", **SMALL)
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    with pytest.raises(MissingDependencyError, match="pip install imageio-ffmpeg"):
        run.save(tmp_path / "run.mp4", **SMALL)
    monkeypatch.setattr("kinetree.viewer.pictures.program", lambda: None)
    with pytest.raises(MissingDependencyError, match="pip install playwright"):
        run.save(tmp_path / "run.png", renderer="browser")
    with pytest.raises(UnsupportedError, match="'.tiff' names no format"):
        kt.viz.save_view(run, tmp_path / "run.tiff")
