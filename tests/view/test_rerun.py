"""Recordings of Rerun: its own program reads them; without it the error has the command that installs it."""

from __future__ import annotations

import subprocess
import sys

import pytest

import kinetree as kt
from kinetree.errors import MissingDependencyError


@pytest.fixture(scope="module")
def run():
    """A box on the ground."""
    return kt.simulate(kt.models.free_shape("box"), duration=0.05, ground=True)


def test_rerun_reads_the_recording(run, tmp_path):
    """Every entity is there: the body, its shape, the contact forces and the curves."""
    pytest.importorskip("rerun")
    path = run.save(tmp_path / "run.rrd")
    command = [sys.executable, "-m", "rerun", "rrd", "print", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    name = run.model_name
    for entity in (run.model.body_names[1], "overlays/contact_forces", "plots/energy/total"):
        assert f"/{name}/{entity}" in done.stdout


def test_missing_rerun_is_named(run, tmp_path, monkeypatch):
    """No file is begun without the package."""
    monkeypatch.setitem(sys.modules, "rerun", None)
    with pytest.raises(MissingDependencyError, match="pip install rerun-sdk"):
        run.save(tmp_path / "run.rrd")
    assert not [*tmp_path.iterdir()]
