"""A newcomer: a copy of the project, the README's first command, then each start page, pasted as it is."""

from __future__ import annotations

import os
import subprocess
import tarfile
from pathlib import Path

import pytest

from tests.static.source_tree import ROOT, tracked_files
from tests.static.test_documents import blocks

PAGES = ["install", "roboticist", "student", "biomechanist", "engineer"]
INHERITED = ("VIRTUAL_ENV", "PYTHONPATH", "PYTHONHOME")


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A folder with the files of the project alone, and a shell's environment that no one has prepared."""
    folder = tmp_path_factory.mktemp("newcomer")
    with tarfile.open(folder / "sources.tar", "w") as archive:
        for path in tracked_files():
            archive.add(path, path.relative_to(ROOT))
    with tarfile.open(folder / "sources.tar") as archive:
        archive.extractall(folder / "kinetree", filter="data")
    own = {key: value for key, value in os.environ.items() if key not in INHERITED}
    own["KINETREE_CACHE_DIR"] = str(folder / "cache")
    active = os.environ.get("VIRTUAL_ENV")
    own["PATH"] = os.pathsep.join(x for x in own["PATH"].split(os.pathsep) if not (active and x.startswith(active)))
    return folder / "kinetree", own | {"MPLBACKEND": "Agg", "PIP_REQUIRE_VIRTUALENV": "1"}


def shell(text: str, where: Path, environment) -> str:
    """What a bash script prints; it has to succeed."""
    done = subprocess.run(
        ["bash", "-eu", "-c", text], cwd=where, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.sweep
def test_readme_and_start_pages(copy, tmp_path):
    """The first block of the README makes the environment and a picture; each page runs there, from top to bottom."""
    folder, environment = copy
    install, *_ = blocks((folder / "README.md").read_text(), "bash")
    shell(install, folder, environment)
    assert (folder / "arm7.png").stat().st_size > 10_000
    for page in PAGES:
        place = tmp_path / page
        place.mkdir()
        (place / "page.py").write_text(
            "\n".join(blocks((folder / "docs" / "start" / f"{page}.md").read_text(), "python"))
        )
        shell(f". {folder}/.venv/bin/activate && cd {place} && python page.py", folder, environment)
        if page not in ("install",):
            assert [x for x in place.iterdir() if x.suffix == ".png"], page  # a figure to look at
