"""Pages without a graphics card: coarse shapes and fewer pixels while the picture moves, all of both when it rests."""

from __future__ import annotations

import numpy as np
import pytest

from tests.view.test_page import pixels, reddish, swinging

RADIUS, TRIANGLES = 0.1, 20 * 4**5
LATE = "for (let k = 0; k < 12; k++) kinetree.pace(0.2)"  # frames of a fifth of a second


@pytest.fixture(scope="module")
def sheet(open_page, tmp_path_factory):
    """The page of a ball of 20,480 triangles."""
    trimesh = pytest.importorskip("trimesh")
    folder = tmp_path_factory.mktemp("ball")
    trimesh.creation.icosphere(subdivisions=5, radius=RADIUS).export(folder / "ball.stl")
    return open_page(swinging(folder, f'<mesh filename="{folder / "ball.stl"}"/>').save(folder / "run.html"))


@pytest.fixture(autouse=True)
def at_rest(sheet):
    """Each test begins with a page that has not been late."""
    yield
    sheet.evaluate("kinetree.play(false); kinetree.moving = 1; kinetree.set(0)")


def drawn(sheet) -> int:
    """Triangles of the shapes in the last picture, without the floor."""
    sheet.evaluate("kinetree.stage.floor.visible = false; kinetree.draw()")
    count = sheet.evaluate("kinetree.stage.renderer.info.render.triangles")
    sheet.evaluate("kinetree.stage.floor.visible = true")
    return count


def test_moving_pictures_are_coarse_and_those_at_rest_are_not(sheet):
    """Software draws at most 12,000 triangles while the run plays; the number of the page stays that of the file."""
    assert sheet.evaluate("kinetree.stage.software") and drawn(sheet) == TRIANGLES
    sheet.evaluate("kinetree.play()")
    assert 1000 < drawn(sheet) <= 12000 and sheet.evaluate("kinetree.triangles") == [TRIANGLES]
    sheet.evaluate("kinetree.play(false)")
    assert drawn(sheet) == TRIANGLES


def test_coarse_shapes_lie_on_the_shape(sheet):
    """Corners of the copy are corners of the sphere, normals point away from its center, and no side is missing."""
    copy = "[...kinetree.copies.values()][0]"
    sheet.evaluate("kinetree.draft(1)")
    arrays = [
        sheet.evaluate(f"Array.from({copy}.{x}.array)") for x in ("attributes.position", "attributes.normal", "index")
    ]
    sheet.evaluate("kinetree.draft(0)")
    places, normals, faces = (np.reshape(x, (-1, 3)) for x in arrays)
    assert np.linalg.norm(places, axis=1) == pytest.approx(RADIUS, rel=1e-4)  # 16 bits in the box
    assert (np.einsum("vi,vi->v", places, normals) > 0.9 * RADIUS).all()
    a, b, c = places[faces].transpose(1, 0, 2)
    area = 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1).sum()
    assert area == pytest.approx(4.0 * np.pi * RADIUS**2, rel=0.02)


def test_the_picture_is_the_same_but_for_its_edge(sheet):
    """The coarse ball covers the pixels of the fine one, within 2 %, and is as bright, but for its highlight."""
    images = []
    for level in (0, 1):
        sheet.evaluate(f"kinetree.draft({level})")
        images.append(pixels(sheet, 0.3).astype(int))
    sheet.evaluate("kinetree.draft(0)")
    fine, coarse = map(reddish, images)
    assert fine.sum() > 100 and np.count_nonzero(fine != coarse) < 0.02 * fine.sum() + 4
    both = fine & coarse
    assert np.abs(images[0][both] - images[1][both]).mean() < 10.0
    assert images[1][both][:, 0].std() > 5.0  # shaded


def test_late_frames_take_fewer_pixels(sheet):
    """Whenever the mean of ten of twelve frames is late; others change nothing; a pause brings all pixels back."""
    ratio = "kinetree.stage.renderer.getPixelRatio()"
    whole = sheet.evaluate(ratio)
    sheet.evaluate("kinetree.draft(1)")
    found = [sheet.evaluate(f"{LATE}; {ratio}") / whole for _ in range(4)]
    assert found == [0.75, 0.5, 0.5, 0.5]
    sheet.evaluate("kinetree.draft(0)")
    assert sheet.evaluate(ratio) == whole
    sheet.evaluate("kinetree.moving = 1; for (let k = 0; k < 72; k++) kinetree.pace(k % 6 ? 0.016 : 0.2)")
    assert sheet.evaluate("kinetree.moving") == 1
