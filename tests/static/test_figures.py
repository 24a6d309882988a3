"""One style for the figures of the library, of examples, of pages and of benchmarks."""

from __future__ import annotations

import re

import pytest

from tests.static.source_tree import ROOT

FILES = [
    path
    for folder, pattern in (("examples", "**/*.py"), ("benchmarks", "**/*.py"), ("docs", "**/*.md"))
    for path in sorted((ROOT / folder).glob(pattern))
    if "import matplotlib.pyplot" in path.read_text()
]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_figures_have_the_style_of_the_library(path):
    """Whoever draws with matplotlib takes its style, by itself or from the module that all benchmarks share."""
    found = re.search(r"plt\.style\.(use|context)\(kt\.viz\.STYLE\)", path.read_text())
    assert found or path.name == "figure_style.py", "call plt.style.use(kt.viz.STYLE)"
