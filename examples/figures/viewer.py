"""The pictures of docs/viewer.md: the live viewer in a browser without a window.

Run it from the root of the repository: ``python -m examples.figures.viewer``. It needs viser, playwright, Chromium,
example-robot-data and Pillow.
"""

from __future__ import annotations

import io
import pathlib

import numpy as np
from PIL import Image

import kinetree as kt
from kinetree.viewer.chromium import chromium
from tests.engines.robots import robot_path

DOCS = pathlib.Path(__file__).parents[2] / "docs"
SHARE = str(pathlib.Path(robot_path("panda")).parents[4])
SIZE = {"width": 1000, "height": 560}
SMALL = {"width": 780, "height": 380}
SCENE = (0, 0, 456, 380)  # of a small one, without the panel


def loaded(path: str, **options):
    return kt.load(robot_path(path), package_dirs=[SHARE], inertia="project", **options)


def panda(viewer) -> None:
    """A frame to drag."""
    stage = viewer.stage
    stage._frame.value = "panda_hand"
    stage.ask("frame", "panda_hand")


def standing():
    """A quadruped that lands on the ground."""
    return kt.simulate(kt.load("quadruped", floating_base=True), duration=0.5, ground=True)


def reaching():
    """An arm whose elbow flexors are excited."""
    model = kt.models.arm26()
    flexors = {f"{m.name}.excitation": 0.8 for m in model.muscles if m.name.startswith(("BIC", "BRA"))}
    return kt.simulate(model, duration=0.12, dt=1e-3, inputs=kt.Inputs(control=flexors))


def linkage():
    """A four-bar that falls."""
    model = kt.models.four_bar()
    return kt.simulate(model, kt.assemble(model), duration=0.5)


def shot(browser, subject, q=None, prepare=lambda viewer: None, size=SIZE) -> Image.Image:
    """The page, once it is drawn, without the notice on software rendering; runs at their end."""
    options = {} if q is None else {"q": q}
    with kt.view(subject, play=False, quiet=True, port=18800, **options) as viewer:
        prepare(viewer)
        if hasattr(viewer.stage, "clock"):
            viewer.stage.clock.seek(viewer.stage.clock.end)
            viewer.stage.refresh()
        sheet = browser.new_context(viewport=size).new_page()
        sheet.goto(f"{viewer.url}?fixedDpr=1")
        sheet.locator(".mantine-Notification-closeButton").first.dispatch_event("click", timeout=120_000)
        before = None
        while True:
            sheet.wait_for_timeout(2000)
            now = sheet.screenshot(timeout=120_000)
            if now == before:
                sheet.close()
                return Image.open(io.BytesIO(now)).convert("RGB")
            before = now


def main() -> None:
    """Write the pictures."""
    with chromium() as browser:
        bent = np.array([0.0, -0.5, 0.0, -2.0, 0.0, 1.6, 0.8, 0.03, 0.03])
        shot(browser, loaded("panda"), bent, panda).save(DOCS / "viewer_panda.png", optimize=True)
        shot(browser, standing()).save(DOCS / "viewer_quadruped.png", optimize=True)
        four = [
            shot(browser, subject, size=SMALL)
            for subject in (
                loaded("anymal_c_simple_description/urdf/anymal.urdf", floating_base=True),
                loaded("talos_reduced", floating_base=True), linkage(), reaching(),
            )
        ]  # fmt: skip
        width, height = SCENE[2] - SCENE[0], SCENE[3] - SCENE[1]
        sheet = Image.new("RGB", (2 * width, 2 * height), "white")
        for k, picture in enumerate(four):
            sheet.paste(picture.crop(SCENE), (k % 2 * width, k // 2 * height))
        sheet.save(DOCS / "viewer_robots.png", optimize=True)


if __name__ == "__main__":
    main()
