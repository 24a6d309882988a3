"""Images of materials: read from files, drawn in a browser with the colors of their pixels, missing ones reported."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

import kinetree as kt
from kinetree.errors import ModelError
from kinetree.model.texture import Texture
from kinetree.viewer.scene import Scene
from tests.view.test_page import BOX, CUBE, pixels

MJCF = """<mujoco><compiler texturedir="{folder}"/><asset>
<texture name="tiles" type="2d" builtin="checker" rgb1="1 0 0" rgb2="0 0 1" width="64" height="64"/>
<texture name="moss" type="2d" file="green.png"/><texture name="lost" type="2d" file="none.png"/>
<material name="floor" texture="tiles" texrepeat="2 2" texuniform="true"/><material name="side" texture="moss"/>
<material name="plain" texture="lost" rgba="1 1 1 1"/></asset><worldbody>
<geom type="plane" size="2 2 0.1" material="floor"/>
<body name="box" pos="0 0 1"><freejoint/><geom name="cube" type="box" size="0.3 0.3 0.3" material="side"/>
<geom name="ball" size="0.1" pos="0 0 1" material="plain"/></body></worldbody></mujoco>"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a green image whose lower half is dark."""
    folder = tmp_path_factory.mktemp("images")
    image = np.zeros((16, 16, 3), np.uint8)
    image[:8, :, 1], image[8:, :, 1] = 220, 60
    Image.fromarray(image).save(folder / "green.png")
    return folder


@pytest.fixture(scope="module")
def world(folder):
    return kt.load(MJCF.format(folder=folder))


def counts(picture) -> dict[str, int]:
    """Pixels that are mostly of one color."""
    channels = dict(zip("rgb", np.moveaxis(picture.astype(int), -1, 0), strict=True))
    return {
        name: int(np.sum((x > 70) & (x > 2 * np.maximum(*(y for other, y in channels.items() if other != name)))))
        for name, x in channels.items()
    }  # fmt: skip


def test_materials_of_mjcf_have_images(world, folder):
    """Patterns and files by their materials; the missing file is in the report, and what is used is not."""
    shapes = {shape.name or shape.kind: shape.texture for body in world.geometry for shape in body}
    assert shapes["plane"] == Texture(pattern="checker", colors=((1, 0, 0), (0, 0, 1)), repeat=(2, 2), uniform=True)
    assert shapes["cube"] == Texture(str(folder / "green.png")) and shapes["ball"] is None
    assert "texture 'lost' not found" in str(world.report) and "texrepeat" not in str(world.report)


def test_materials_of_urdf_have_images(folder):
    """One in the shape, one named at the top of the file; a missing one is reported."""
    text = BOX.format(name="box", shape=CUBE)
    own = text.replace('<color rgba="0.9 0.05 0.05 1"/>', f'<texture filename="{folder}/green.png"/>')
    top = f'<link name="base"/><material name="red"><texture filename="{folder}/green.png"/></material>'
    shared = text.replace('<color rgba="0.9 0.05 0.05 1"/>', "").replace('<link name="base"/>', top)
    for source in (own, shared):
        model = kt.load(source)
        assert model.geometry[1][0].texture == Texture(str(folder / "green.png")), source
    assert kt.load(kt.io.to_urdf(kt.load(own))).geometry[1][0].texture == Texture(str(folder / "green.png"))
    assert "texture 'lost.png' not found" in str(kt.load(own.replace(f"{folder}/green.png", "lost.png")).report)


def test_pages_show_images(world, open_page, tmp_path):
    """The checkers of the floor are red and blue, the box is green, and gray without its file; coarse pictures, too."""
    world = world.replace(gravity=(0.0, 0.0, 0.0))
    page = open_page(kt.viz.save_view(world, tmp_path / "world.html"))
    found = counts(pixels(page))
    page.evaluate("kinetree.draft(1)")
    coarse = counts(pixels(page))
    assert page.messages == [] and all(found[name] > 1500 for name in "rgb"), found
    assert all(abs(coarse[name] - found[name]) < 0.05 * found[name] for name in "rgb"), (found, coarse)
    bare = kt.load(MJCF.format(folder=tmp_path))  # without the file
    assert counts(pixels(open_page(kt.viz.save_view(bare, tmp_path / "bare.html"))))["g"] < 100


def test_positions_in_images(world):
    """Each face of a box has the whole image; a uniform one has 2 images per meter."""
    parts = {part.name: part for part in Scene.of(world).parts}
    (cube,) = parts["cube"].triangles()
    assert all(np.ptp(cube.uv[k : k + 4], axis=0).tolist() == [1.0, 1.0] for k in range(0, 24, 4))
    (floor,) = parts["world"].triangles()
    assert np.allclose(floor.uv, 2.0 * floor.vertices[:, :2])
    image = np.asarray(Image.open(io.BytesIO(floor.image)))
    assert image[0, 0].tolist() == image[-1, -1].tolist() == [255, 0, 0] and image[0, -1].tolist() == [0, 0, 255]


def test_broken_images_are_noted(tmp_path):
    """A file that is no image is drawn without it, and named."""
    (tmp_path / "green.png").write_text("no image")
    scene = Scene.of(kt.load(MJCF.format(folder=tmp_path)))
    assert "green.png is not shown" in " ".join(scene.notes)
    with pytest.raises(ModelError, match="expected one of them"):
        Texture("a.png", "checker")
