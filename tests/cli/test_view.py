"""``kinetree view`` gives the viewer the robot, or the runs with their robot."""

from __future__ import annotations

import numpy as np
import pytest
from typer.testing import CliRunner

import kinetree as kt
from kinetree.cli import app


class Shown:
    """In the place of the viewer: keeps its arguments."""

    url = "http://127.0.0.1:1"

    def __init__(self) -> None:
        self.what, self.options, self.waited = (), {}, 0

    def __call__(self, *what, **options):
        self.what, self.options = what, options
        return self

    def wait(self) -> None:
        """Until Ctrl-C."""
        self.waited += 1


@pytest.fixture
def shown(monkeypatch):
    """The arguments of kt.view."""
    stand_in = Shown()
    monkeypatch.setattr(kt, "view", stand_in)
    return stand_in


def test_a_robot_is_shown(shown):
    """With the options; the command ends when the viewer does."""
    done = CliRunner().invoke(app, ["view", "quadruped", "--floating-base", "--port", "9000"])
    assert done.exit_code == 0, done.output
    (model,) = shown.what
    assert model.name == "quadruped" and model.nq == model.nv + 1
    assert shown.options == {"port": 9000, "detail": "full"} and shown.waited == 1


def test_runs_are_shown_with_their_robot(shown, tmp_path):
    """Two runs over each other."""
    model = kt.load("cart_pole")
    runs = [kt.simulate(model, [0.0, x], duration=0.01) for x in (0.1, 0.2)]
    paths = [str(run.save(tmp_path / f"{k}.npz")) for k, run in enumerate(runs)]
    done = CliRunner().invoke(app, ["view", *paths, "--robot", "cart_pole"])
    assert done.exit_code == 0, done.output
    assert all(np.array_equal(a.q, b.q) and a.model is not None for a, b in zip(shown.what, runs, strict=True))


def test_a_robot_beside_runs_is_refused(shown, tmp_path):
    """One line, and nothing is shown."""
    done = CliRunner().invoke(app, ["view", "cart_pole", "run.npz", "--robot", "cart_pole"])
    assert done.exit_code == 2 and "give one robot, or runs alone" in done.stderr and not shown.what
