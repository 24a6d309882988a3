"""The documents say what is so: their Python runs, their commands exist, their links lead somewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from tests.static.source_tree import ROOT, tracked_files

DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(text: str, language: str) -> list[str]:
    """The fenced code blocks of a Markdown text in one language."""
    return re.findall(rf"^```{language}\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)


def with_python():
    """The documents that hold Python."""
    return [path for path in DOCUMENTS if blocks(path.read_text(), "python")]


@pytest.mark.parametrize("path", with_python(), ids=lambda path: path.name)
def test_python_blocks_run(path, tmp_path):
    """The Python blocks of a document run one after the other in a fresh process in an empty folder."""
    script = tmp_path / "document.py"
    script.write_text("\n".join(blocks(path.read_text(), "python")))
    done = subprocess.run(
        [sys.executable, script.name],
        cwd=tmp_path,
        env={**os.environ, "MPLBACKEND": "Agg"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_readme_has_a_python_tour_of_at_most_25_lines():
    """A new user sees the library in one block."""
    tour, *_ = blocks((ROOT / "README.md").read_text(), "python")
    assert "import kinetree as kt" in tour
    assert len(tour.splitlines()) <= 25


def test_readme_first_installs_and_then_tests():
    """Scripts rely on it: the first bash block installs and runs the main job, the second passes the tests."""
    install, test, *_ = blocks((ROOT / "README.md").read_text(), "bash")
    assert "pip install" in install and "kinetree simulate" in install
    assert "pytest" in test


def test_readme_installs_into_a_virtual_environment():
    """Debian's pip refuses to install outside one: each of the two commands makes and activates it first."""
    for block in blocks((ROOT / "README.md").read_text(), "bash")[:2]:
        (command,) = block.splitlines()  # one command, to be pasted whole
        steps = command.split(" && ")
        assert steps[:2] == ["python3 -m venv .venv", ". .venv/bin/activate"]
        assert steps[2].startswith("pip install ")


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_links_to_files_of_the_project_lead_somewhere(path):
    """Every relative link of a document names a file that exists."""
    text = re.sub(r"^```.*?^```", "", path.read_text(), flags=re.MULTILINE | re.DOTALL)
    targets = re.findall(r"\]\(([^)#\s]+)[^)]*\)", text)
    missing = [target for target in targets if "://" not in target and not (path.parent / target).exists()]
    assert not missing


@pytest.mark.parametrize("name", ["architecture.md", "packages.md", "measurements.md"])
def test_pages_for_developers_name_files_that_exist(name):
    """`module.py` and `package/module.py` in backticks are files of the project; so pages follow renamed modules."""
    text = (ROOT / "docs" / name).read_text()
    files = [f"/{path.relative_to(ROOT).as_posix()}" for path in tracked_files()]
    named = sorted(set(re.findall(r"`([\w/]+\.py)`", text)))
    assert named and not [each for each in named if not any(file.endswith(f"/{each}") for file in files)]


def test_the_architecture_is_short():
    """Contracts and borders on at most 200 lines."""
    assert len((ROOT / "docs" / "architecture.md").read_text().splitlines()) <= 200
