"""Runs that do not fit into memory are refused before they begin."""

import re
import tracemalloc

import numpy as np
import pytest
from typer.testing import CliRunner

import kinetree as kt
from kinetree.cli import app
from kinetree.errors import MemoryLimitError
from kinetree.simulation import memory as room
from tests.analytic.mechanisms import pendulum

TERA = 2.0**40


def test_an_endless_run_is_refused_with_what_would_fit():
    """1e9 s at 1 ms: the numbers, and a distance of samples with which half of the memory is enough."""
    with pytest.raises(MemoryLimitError, match="would take .* GiB .* are available. Record less often") as info:
        kt.simulate(pendulum(), duration=1e12)
    error = info.value
    assert isinstance(error, MemoryError) and error.needed > TERA > 0.0 < error.available < error.needed
    period = float(re.search(r"Record\(period=(\S+)\) or", str(error))[1])
    assert error.needed * 1e-3 / period <= 0.51 * error.available


def test_more_than_can_be_addressed_is_refused_where_the_system_tells_nothing(monkeypatch):
    """Else the arrays of the recorder would refuse it, in NumPy's words."""
    monkeypatch.setattr(room, "available_memory", lambda: np.inf)
    with pytest.raises(MemoryLimitError, match="would take"):
        kt.simulate(pendulum(), duration=2.0**70)


@pytest.mark.parametrize("settings", [{}, {"integrator": "adaptive"}, {"events": kt.Event(lambda t, q, v: 1.0)}])
def test_so_are_pieces_of_runs(settings):
    """Of an object, by fixed and adaptive steps; what it has computed stays."""
    sim = kt.Simulation(pendulum(), [1.0], **settings)
    sim.advance(0.01)
    with pytest.raises(MemoryLimitError):
        sim.advance(1e12)
    assert sim.time == 0.01 and len(sim.trajectory()) == 11


def test_so_are_rollouts():
    """The records of all states count."""
    with pytest.raises(MemoryLimitError, match=r"rollout: the states of 10{12} steps.*every=\d+\), or take fewer"):
        kt.rollout(pendulum(), np.zeros(1), None, None, 1e-3, steps=10**12)


def test_the_command_line_says_its_own_option():
    """One line, and no traceback."""
    result = CliRunner().invoke(app, ["simulate", "double_pendulum", "--duration", "1e12", "--dt", "1e-3"])
    text = " ".join(result.stderr.split())
    assert result.exit_code == 2 and "--sample-period" in text and "kt.Record" not in text


def test_what_fits_runs(monkeypatch):
    """The estimate is of the order of what a run takes, and not below; with a byte less the run is refused."""
    model = kt.load("arm7").without_limits()
    sim = kt.Simulation(model, dt=1e-3)
    sim.advance(0.01)
    sim.trajectory()  # all is compiled
    tracemalloc.start()
    sim = kt.Simulation(model, dt=1e-3)
    sim.advance(20.0)
    sim.trajectory()
    taken = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    estimate = 20_000 * room.sample_bytes(model, False, False)
    assert 0.5 * estimate < taken < 1.1 * estimate
    monkeypatch.setattr(room, "LEAST", 0)
    monkeypatch.setattr(room, "available_memory", lambda: estimate - 1.0)
    with pytest.raises(MemoryLimitError):
        kt.simulate(model, duration=20.0)
    monkeypatch.setattr(room, "available_memory", lambda: estimate + 1.0)
    assert len(kt.simulate(model, duration=20.0)) == 20_001


def test_the_limit_of_a_container_counts(tmp_path):
    """Control groups of both versions: the limit, less what is used, caches not counted; "max" is none."""
    (tmp_path / "memory.max").write_text("1000000\n")
    (tmp_path / "memory.current").write_text("700000\n")
    (tmp_path / "memory.stat").write_text("anon 500000\nfile 200000\n")
    assert room._of_group(tmp_path) == 500000.0
    (tmp_path / "memory.max").write_text("max\n")
    assert room._of_group(tmp_path) == np.inf
