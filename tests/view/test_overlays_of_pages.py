"""Arrows, muscles and deformables in pages: they are where the run has them, and can be switched off."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.viewer.overlays import overlays_of
from kinetree.viewer.recording import thinned
from kinetree.viewer.upright import upright
from tests.view.test_page import pixels

INSTANCE = """([name, mesh, k]) => {
  const overlay = kinetree.overlays.find((x) => x.data.name === name);
  const found = new (overlay[mesh].instanceMatrix.constructor)(new Float32Array(16), 16);
  return Array.from(overlay[mesh].instanceMatrix.array.slice(16 * k, 16 * k + 16));
}"""


def instance(sheet, name: str, mesh: str, k: int) -> np.ndarray:
    """The matrix of one instance of an overlay, (4, 4)."""
    return np.array(sheet.evaluate(INSTANCE, [name, mesh, k])).reshape(4, 4).T


@pytest.fixture(scope="module")
def landed():
    """A box that falls on the ground with spin."""
    q, v = [0.0, 0.0, 0.3, 1.0, 0.0, 0.0, 0.0], [1.0, 2.0, 3.0, 0.5, 0.0, 0.0]
    return kt.simulate(kt.models.free_shape("box"), q, v, duration=0.5, ground=True)


@pytest.fixture(scope="module")
def sheet(landed, open_page, tmp_path_factory):
    """The page of that run."""
    return open_page(landed.save(tmp_path_factory.mktemp("box") / "run.html"))


def test_contact_forces_are_arrows_at_the_contacts(sheet, landed):
    """Both ends of every arrow at a time with contact: the point of contact, and that plus the scaled force."""
    run = thinned(landed, 50.0)
    arrows = next(x for x in overlays_of(run) if x.name == "contact forces")
    k = int(np.argmax(np.linalg.norm(arrows.vectors, axis=-1).max(axis=1)))
    sheet.evaluate(f"kinetree.set({run.time[k]})")
    span = 1.5e-5 * np.ptp(arrows.points.reshape(-1, 3), axis=0).max() + 1.5e-5 * np.ptp(arrows.vectors) + 1e-6
    for n in range(arrows.points.shape[1]):
        point, vector = arrows.points[k, n], arrows.vectors[k, n]
        if np.linalg.norm(vector) < 0.01:
            continue
        shaft, tip = instance(sheet, "contact forces", "shafts", n), instance(sheet, "contact forces", "tips", n)
        assert np.abs(shaft[:3, 3] - point).max() < span
        assert np.abs((tip @ [0.0, 1.0, 0.0, 1.0])[:3] - (point + vector)).max() < 3.0 * span
    assert np.abs(arrows.vectors[k]).max() > 0.01


def test_toggles_show_and_hide(sheet, landed):
    """Without arrows the picture has less of their red; switched on again it is the same as before."""
    k = int(np.argmax(landed.contacts.normal_forces.sum(axis=1)))
    before = pixels(sheet, float(landed.time[k]))
    box = sheet.get_by_label("contact forces")
    assert box.is_checked()
    box.uncheck()
    without = pixels(sheet, float(landed.time[k]))
    box.check()
    assert np.any(before != without)
    assert np.array_equal(before, pixels(sheet, float(landed.time[k])))
    assert not sheet.get_by_label("frames").is_checked()
    sheet.get_by_label("frames").check()
    assert np.any(pixels(sheet) != before)
    for name in ("inertia ellipsoids", "centers of mass"):
        sheet.get_by_label(name, exact=True).check()
    sheet.evaluate("kinetree.set(0.1)")
    assert sheet.messages == []


def test_muscles_follow_their_paths_and_activation(open_page, tmp_path):
    """A muscle of a pendulum whose gravity is along y: its points in the picture, z up, and its color."""
    model = kt.models.pendulum().replace(gravity=(0.0, -9.81, 0.0))
    path = (kt.tendons.ViaPoint("world", (0.3, 0.0, 0.1)), kt.tendons.ViaPoint(model.body_names[1], (0.1, 0.0, 0.0)))
    model = model.with_forces(kt.forces.Muscle("flexor", path, 100.0, 0.1, 0.2))
    run = kt.simulate(model, [0.3], duration=0.1, inputs=kt.Inputs(control={"flexor.excitation": 0.8}))
    path = next(x for x in overlays_of(run) if x.name == "flexor")
    page = open_page(run.save(tmp_path / "arm.html", fps=100))
    R = upright(run.model.gravity)
    assert np.array_equal(R @ [0.0, -1.0, 0.0], [0.0, 0.0, -1.0])
    page.evaluate(f"kinetree.set({run.time[-1]})")
    for n, point in enumerate(path.points[-1]):
        assert np.abs(instance(page, path.name, "knots", n)[:3, 3] - R @ point).max() < 1e-4
    color = page.evaluate("kinetree.overlays.find((x) => x.data.name === 'flexor').segments.material.color.getHex()")
    assert color == int.from_bytes(np.round(255 * path.colors[-1]).astype(np.uint8).tobytes())
    assert path.colors[-1, 0] > path.colors[0, 0] + 0.1  # redder, as it becomes active
    assert page.messages == []


def test_deformables_have_pages(open_page, tmp_path):
    """Nodes of a cloth over time, in a page of a run that has no model."""
    cloth = kt.deformables.cloth(
        (0, 0, 0), (0.2, 0, 0), (0, 0.2, 0), (2, 2), mass=0.1, stretch_stiffness=50.0, fixed=[0]
    )
    run = kt.deformables.Coupled(None, cloth).simulate(0.1, 0.01, progress=False)
    run.save(tmp_path / "cloth.html")
    page = open_page(tmp_path / "cloth.html")
    page.evaluate(f"kinetree.set({run.time[-1]})")
    found = page.evaluate("Array.from(kinetree.overlays[0].geometry.attributes.position.array)")
    assert np.abs(np.reshape(found, (-1, 3)) - run.x[-1]).max() < 1e-4
    assert page.messages == []


@pytest.mark.parametrize("gravity", [(0, -1, 0), (0, 1, 0), (1, 0, 0), (-1, 0, 0), (0, 0, 1), (0, 0, -1)])
def test_upright_pictures_have_gravity_down(gravity):
    """The rotation is one, and turns gravity to -z."""
    R = upright(gravity)
    assert np.allclose(R @ gravity, [0, 0, -1], atol=0)
    assert np.linalg.det(R) == 1.0
    assert np.array_equal(R @ R.T, np.eye(3))
