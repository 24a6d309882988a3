"""The viewer in a notebook: its page is the output of a cell, and is served by the kernel while that is idle."""

from __future__ import annotations

import re
import urllib.request

import pytest

import kinetree as kt

VIEW = """
import kinetree as kt

viewer = kt.view(kt.load("arm7"), port=18480, quiet=True)
viewer
"""
MOVE = """
viewer.show([0.3, 0.6, 0.0, 1.2, 0.0, 0.5, 0.0, 0.02, 0.02])
run = kt.simulate(kt.load("double_pendulum"), duration=0.01)
run
"""


def output(cell) -> str:
    """The HTML of the result of a cell."""
    (result,) = (x for x in cell.outputs if x.output_type == "execute_result")
    return result.data["text/html"]


def test_a_notebook_shows_the_page_of_the_viewer():
    """Cells run after one another in a kernel of their own; the frame of the first one loads while the second waits."""
    pytest.importorskip("viser", reason="the extra `view` is not installed")
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    cells = [nbformat.v4.new_code_cell(text) for text in (VIEW, MOVE)]
    notebook = nbformat.v4.new_notebook(cells=cells)
    client = nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3")
    with client.setup_kernel():
        client.execute_cell(cells[0], 0)
        address = re.search(r'<iframe src="(http://127\.0\.0\.1:\d+[^"]*)"', output(cells[0]))[1]
        with urllib.request.urlopen(address, timeout=30) as page:
            assert page.status == 200 and b"<html" in page.read()
        client.execute_cell(cells[1], 1)
    assert "<table" in output(cells[1]) and kt.load("double_pendulum").name in output(cells[1])
