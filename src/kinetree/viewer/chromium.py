"""Chromium without a window, by playwright: for pictures of pages, and for tests of them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

# The program of the system; playwright's own download is used where there is none.
PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# WebGL by SwiftShader, which needs neither a display nor a graphics card and draws the same everywhere.
FLAGS = (
    "--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
    "--disable-background-networking", "--hide-scrollbars",
)  # fmt: skip


def program() -> str | None:
    """The path of the browser: ``KINETREE_BROWSER``, or a Chromium of the system; None if there is none."""
    return os.environ.get("KINETREE_BROWSER") or next(filter(None, map(shutil.which, PROGRAMS)), None)


@contextmanager
def chromium() -> Iterator:
    """A browser of playwright's, closed at the end of the block."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=program(), args=[*FLAGS])
        try:
            yield browser
        finally:
            browser.close()
