"""Files that are made from the sources are those that the sources give now."""

from __future__ import annotations

import pytest

from tests.static.generate import files
from tests.static.source_tree import ROOT


@pytest.mark.parametrize("path", sorted(files()), ids=lambda path: str(path.relative_to(ROOT)))
def test_generated_file_is_current(path):
    """``python -m tests.static.generate`` would change nothing."""
    assert path.read_text() == files()[path], f"run python -m tests.static.generate: {path.relative_to(ROOT)} is old"
