"""A browser without a window, and pages in it that keep a record of messages and requests."""

from __future__ import annotations

import os

import pytest

from kinetree.viewer.chromium import chromium
from kinetree.viewer.pictures import has_browser

SIZE = {"width": 640, "height": 360}


def need_browser() -> None:
    """Skip without a browser; where the environment promises one, fail."""
    if not has_browser():
        message = "needs playwright, and Chromium: apt-get install chromium, or playwright install chromium"
        pytest.fail(message) if os.environ.get("KINETREE_NEEDS_BROWSER") else pytest.skip(message)


@pytest.fixture(scope="module")
def browser():
    """Chromium of playwright's, for the tests of one module."""
    need_browser()
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def open_page(browser):
    """A function that opens a file from the disk, without network, and waits for the viewer."""

    def opened(path, offline: bool = True):
        sheet = browser.new_context(viewport=SIZE, offline=offline).new_page()
        sheet.messages, sheet.requests = [], []
        sheet.on("console", lambda message: sheet.messages.append(f"{message.type}: {message.text}"))
        sheet.on("pageerror", lambda error: sheet.messages.append(f"error: {error}"))
        sheet.on("request", lambda request: sheet.requests.append(request.url))
        sheet.goto(path.as_uri())
        sheet.wait_for_function("window.kinetree !== undefined")
        return sheet

    return opened
