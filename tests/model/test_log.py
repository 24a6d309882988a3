"""The logger "kinetree": silent by default, with compilations, cache and loaded files for programs that listen."""

from __future__ import annotations

import logging
import subprocess
import sys

import kinetree as kt


def test_events_are_logged(caplog, monkeypatch, tmp_path):
    """A model of new structure is compiled into an empty cache, then read from it."""
    monkeypatch.setenv("KINETREE_CACHE_DIR", str(tmp_path / "cache"))
    with caplog.at_level(logging.DEBUG, logger="kinetree"):
        model = kt.load('<robot name="logged"><link name="a"/></robot>')
        chain = kt.models.n_pendulum(13)
        kt.compile(chain, "potential_energy")(chain.neutral())
    text = caplog.text
    assert f"loaded model '{model.name}'" in text and "<string>" in text
    assert "potential_energy" in text and "cache: no entry" in text
    assert all(record.name == "kinetree" for record in caplog.records)


def test_silent_by_default():
    """Nothing on stdout or stderr of a program that does not configure logging."""
    code = "import kinetree as kt; m = kt.load('arm7'); kt.rnea(m, m.neutral(), m.neutral(), m.neutral())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == done.stderr == ""
