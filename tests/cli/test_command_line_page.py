"""The sessions of the pages about the command line: every command runs, and prints what the page shows."""

from __future__ import annotations

import shlex

import pytest
from typer.testing import CliRunner

from kinetree.cli import app
from tests.static.source_tree import ROOT
from tests.static.test_documents import blocks

PAGES = ("command_line.md", "simulation_files.md")
WRONG = "model: cart_pole\nduration: 1\ncontroller:\n  {kind: computed_torque, kp: high, kd: 1}\n"


def commands(page: str) -> list[tuple[str, list[str]]]:
    """Each command of the console blocks with the lines that follow it."""
    found: list[tuple[str, list[str]]] = []
    for block in blocks((ROOT / "docs" / page).read_text(), "console"):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((line[2:], []))
            else:
                found[-1][1].append(line)
    return found


def matches(shown: list[str], printed: list[str]) -> bool:
    """Whether lines were printed in this order; a line of three dots, and dots within a line, are anything."""
    rest = iter(printed)
    for line in shown:
        parts = [part for part in line.split("...") if part]
        if parts and not any(fits(parts, candidate) for candidate in rest):
            return False
    return "..." in shown or len(shown) == len(printed)


def fits(parts: list[str], line: str) -> bool:
    """Whether a line consists of these parts in their order, with anything between them."""
    at = 0
    for part in parts:
        if (at := line.find(part, at)) < 0:
            return False
        at += len(part)
    return True


@pytest.mark.parametrize("page", PAGES)
def test_sessions_run_as_shown(page, tmp_path, monkeypatch):
    """In one empty folder, one after the other."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "wrong.yaml").write_text(WRONG)
    for command, shown in commands(page):
        program, *words = shlex.split(command)
        assert program == "kinetree"
        done = CliRunner().invoke(app, words)
        assert matches(shown, done.output.splitlines()), f"{command}\n{done.output}"
        assert done.exit_code == (2 if "error: " in done.output else done.exit_code)


def test_a_session_that_shows_something_else_is_found():
    """The comparison of lines can fail."""
    assert matches(["a", "..."], ["a", "b"]) and matches(["x ... z"], ["x y z"])
    assert not matches(["b", "a"], ["a", "b"]) and not matches(["a"], ["a", "b"]) and not matches(["x ... y"], ["y x"])
