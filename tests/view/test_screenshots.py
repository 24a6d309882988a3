"""The script of the pictures in docs/: one of them is drawn anew, and all that the pages show are there."""

from __future__ import annotations

import numpy as np
from PIL import Image

from tests.static.source_tree import ROOT
from tests.view.conftest import need_browser
from tests.view.screenshots import SCREENSHOTS, SIZE, write


def test_a_linkage_is_drawn_as_in_the_docs(tmp_path):
    """A four-bar, small: the same part of the picture is covered as in the docs."""
    need_browser()
    name = "view_four_bar.png"
    drawn = np.asarray(Image.open(write(name, tmp_path, size=(SIZE[0] // 3, SIZE[1] // 3))).convert("RGB"))
    kept = Image.open(ROOT / "docs" / name).convert("RGB").resize((SIZE[0] // 3, SIZE[1] // 3), Image.Resampling.BOX)
    dark = [np.asarray(image).astype(int).max(axis=-1) < 190 for image in (drawn, kept)]
    assert dark[0].sum() > 500
    assert np.sum(dark[0] ^ dark[1]) < 0.2 * dark[1].sum()


def test_all_pictures_are_kept_and_shown():
    """Each is in docs/, of the right size, and on a page."""
    pages = "".join(path.read_text() for path in (ROOT / "docs").glob("*.md"))
    for name in SCREENSHOTS:
        assert Image.open(ROOT / "docs" / name).size == SIZE
        assert f"({name})" in pages
