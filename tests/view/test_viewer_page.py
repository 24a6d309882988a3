"""The live viewer in a browser: it loads without errors, shows the robot, its sliders move it, a replay advances."""

from __future__ import annotations

import io
import time

import numpy as np
import pytest

import kinetree as kt
from kinetree.viewer.live import show_model

pytest.importorskip("viser")
image = pytest.importorskip("PIL.Image")
ROBOT = {"x": 0, "y": 190, "width": 300, "height": 170}  # beside the panel and below the notice on software rendering


@pytest.fixture(scope="module")
def viewer():
    with kt.view(kt.load("double_pendulum"), port=18500, quiet=True) as opened:
        yield opened


def joined(browser, viewer):
    """A page of the viewer that has drawn, with its messages and requests."""
    sheet = browser.new_context(viewport={"width": 640, "height": 360}).new_page()
    sheet.errors, sheet.requests = [], []
    sheet.on("console", lambda message: sheet.errors.append(message.text) if message.type == "error" else None)
    sheet.on("pageerror", lambda error: sheet.errors.append(str(error)))
    sheet.on("request", lambda request: sheet.requests.append(request.url))
    before = len(viewer.server.get_clients())
    sheet.goto(f"{viewer.url}?fixedDpr=1")  # else the resolution follows the load
    until(lambda: len(viewer.server.get_clients()) > before, sheet)
    settled(sheet)
    return sheet


def until(condition, sheet) -> None:
    """Wait, while the page goes on."""
    end = time.perf_counter() + 60.0
    while not condition():
        assert time.perf_counter() < end, "the page did not react"
        sheet.wait_for_timeout(50)


def picture(sheet) -> np.ndarray:
    """The pixels of the robot."""
    return np.asarray(image.open(io.BytesIO(sheet.screenshot(clip=ROBOT))).convert("RGB"), int)


def settled(sheet) -> np.ndarray:
    """The picture when it no longer changes and has content."""
    found = [picture(sheet)]

    def still() -> bool:
        sheet.wait_for_timeout(300)
        found.append(picture(sheet))
        return len(np.unique(found[-1].reshape(-1, 3), axis=0)) > 100 and changed(found[-1], found[-2]) == 0

    until(still, sheet)
    return found[-1]


def changed(first, second) -> int:
    """Number of pixels that differ visibly."""
    return int((np.abs(first - second).max(axis=-1) > 12).sum())


@pytest.fixture(scope="module")
def sheet(browser, viewer):
    return joined(browser, viewer)


def test_the_page_loads_without_errors_and_without_a_network(sheet):
    """The robot is there in its colors, nothing is asked from elsewhere."""
    found = settled(sheet)
    orange = (found[..., 0] > found[..., 2] + 60).sum()
    assert len(np.unique(found.reshape(-1, 3), axis=0)) > 100 and orange > 50
    assert not sheet.errors
    assert {url.split("/")[2].split(":")[0] for url in sheet.requests if "://" in url} == {"127.0.0.1"}


def test_a_slider_of_the_page_moves_a_link(sheet, viewer):
    """Against the picture before; without a change there is none, and back again it is the same picture."""
    before = settled(sheet)
    assert changed(before, settled(sheet)) == 0
    entry = sheet.locator("input[inputmode=decimal]:visible, input[inputmode=numeric]:visible").first
    for value, condition in (("0.6", lambda n: n > 300), ("0", lambda n: n == 0)):
        entry.fill(value)
        entry.press("Enter")
        until(lambda value=value: abs(viewer.stage.q[0] - float(value)) < 1e-9, sheet)
        until(lambda condition=condition: condition(changed(before, settled(sheet))), sheet)
    assert not sheet.errors


def test_a_replay_advances_in_two_browsers(browser, sheet, viewer):
    """Scrubbed to two times the pictures differ, played they change; a second browser joins and shows the same."""
    run = kt.simulate(kt.load("double_pendulum"), [0.8, 0.2], duration=1.0)
    viewer.replay(run, play=False)
    stage, pictures = viewer.stage, []
    for t in (0.05, 0.45):
        with viewer.lock:
            stage.clock.seek(t)
        stage.refresh()
        until(lambda t=t: stage.drawn == t, sheet)
        pictures.append(settled(sheet))
    assert changed(*pictures) > 300
    second = joined(browser, viewer)
    assert len(viewer.server.get_clients()) == 2 and not second.errors
    until(lambda: changed(settled(second), pictures[-1]) < 50, second)
    sheet.get_by_role("button", name="Play").click()
    until(lambda: stage.clock.playing and stage.drawn != 0.45, sheet)
    until(lambda: changed(picture(sheet), pictures[-1]) > 300, sheet)
    assert not sheet.errors
    stage.pause()
    second.close()
    show_model(viewer, kt.load("double_pendulum"))
