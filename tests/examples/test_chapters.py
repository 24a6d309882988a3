"""The documents as notebooks: each runs from top to bottom, and asserts numbers of its source on its way."""

from __future__ import annotations

import ast
import re
import runpy
import time
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

FOLDER = Path(__file__).parents[2] / "examples" / "chapters"
CHAPTERS = sorted(FOLDER.glob("*.py"))
chapters = pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
SECONDS = 30.0
"""Three are taken on a quiet machine; processors of busy ones are slower."""
LINES = range(80, 171)
SOURCES = {
    "notes1_maximal_coordinates": "Sueda, Rigid Body Dynamics Notes, chapter 1.",
    "notes2_redmax": "Sueda, Rigid Body Dynamics Notes, chapter 2.",
    "report_two_arms": "Unseren, ORNL/TM-11752 (1991).",
    "unified_velocities": "Holzinger, Gerstmayr and Schoeberl",
}
"""Of the notebooks that are not chapters of the book."""
CELL = re.compile(r"^# %%(.*)$", flags=re.MULTILINE)


def cells(text: str) -> list[tuple[str, str]]:
    """Kind and source of the cells in the percent format, what stands before the first one included."""
    parts = CELL.split(text)
    kinds = ["text" if "[markdown]" in mark else "code" for mark in parts[1::2]]
    return [("code", parts[0]), *zip(kinds, parts[2::2], strict=True)]


def test_there_is_one_for_each_chapter():
    """Those of the book with algorithms, 2 to 11, and one for each of the other documents."""
    assert [path.stem for path in CHAPTERS if not path.stem.startswith("ch")] == sorted(SOURCES)
    assert [int(path.stem[2:4]) for path in CHAPTERS if path.stem.startswith("ch")] == list(range(2, 12))


@chapters
def test_it_runs(path, monkeypatch, tmp_path, capsys):
    """Without a display, in an empty folder, in seconds of the processor's time; it prints and draws."""
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.chdir(tmp_path)
    plt.close("all")
    start = time.process_time()
    with plt.rc_context():
        runpy.run_path(str(path), run_name="__main__")
    assert time.process_time() - start < SECONDS
    assert len(capsys.readouterr().out.splitlines()) >= 5
    figures = [plt.figure(number) for number in plt.get_fignums()]
    assert figures and all(ax.has_data() for figure in figures for ax in figure.axes)
    plt.close("all")


@chapters
def test_it_is_a_notebook(path):
    """Cells of text are comments, cells of code are whole; the text comes first and names what is in the book."""
    text = path.read_text()
    assert len(text.splitlines()) in LINES
    found = cells(text)
    for kind, source in found:
        if kind == "text":
            assert all(line.startswith("#") for line in source.splitlines() if line.strip())
        else:
            ast.parse(source)
    headings = re.findall(r"^# ## (.+)$", text, flags=re.MULTILINE)
    assert len(headings) >= 4
    assert all(re.search(r"\((sections?|table|example|figure|eq\.)", heading) for heading in headings), headings
    book = f"chapter {path.stem[2:4].lstrip('0')}."
    assert SOURCES.get(path.stem, book) in " ".join(ast.get_docstring(ast.parse(text)).split())


@chapters
def test_it_asserts_what_it_teaches(path):
    """Five cells of code at least check something."""
    code = [source for kind, source in cells(path.read_text()) if kind == "code"]
    checked = [source for source in code if any(isinstance(node, ast.Assert) for node in ast.walk(ast.parse(source)))]
    assert len(checked) >= 5
