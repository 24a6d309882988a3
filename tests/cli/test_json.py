"""``--json`` of every command: one object of one documented shape, also for errors."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

import kinetree as kt
from kinetree.cli import app
from kinetree.cli.printing import plain
from tests.cli.test_wrong_values import BASES, SWEEP

SHAPE = {"command", "version", "exit_code", "error", "result"}


def strict(text: str):
    """JSON as other languages read it: without NaN."""

    def refuse(word):
        raise AssertionError(f"{word} is no JSON")

    return json.loads(text, parse_constant=refuse)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """With a run to compare."""
    path = tmp_path_factory.mktemp("json")
    kt.simulate(kt.load("cart_pole"), duration=0.01).save(path / "run.npz")
    (path / "sweep.yaml").write_text(SWEEP)
    return path


@pytest.mark.parametrize("command", sorted(set(BASES) - {"view"}))
def test_every_command_prints_one_object(command, folder, monkeypatch):
    """With the exit code of the command."""
    monkeypatch.setenv("KINETREE_CACHE_DIR", str(folder / "cache")) if command == "cache" else None
    done = CliRunner().invoke(app, [command, *(word.format(folder=folder) for word in BASES[command]), "--json"])
    data = strict(done.stdout)
    assert set(data) == SHAPE and data["command"] == command and data["version"] == kt.__version__
    assert data["exit_code"] == done.exit_code == 0 and data["error"] is None and data["result"] is not None


@pytest.mark.parametrize(
    "words", [["info", "cart_pol"], ["info", "cart_pole", "--inertia", "x"], ["simulate", "cart_pole", "--dt", "x"],
              ["verify"], ["simulate", "cart_pole", "--no-such-option"]],
)  # fmt: skip
def test_errors_have_the_shape_too(words):
    """The message is that of the line on stderr."""
    done = CliRunner().invoke(app, [*words, "--json"])
    data = strict(done.stdout)
    assert set(data) == SHAPE and data["exit_code"] == done.exit_code == 2 and data["result"] is None
    assert done.stderr == f"error: {data['error']}\n"


def test_a_difference_is_a_result_and_not_an_error(folder):
    """compare ends with 1, and its data says where."""
    other = folder / "other.npz"
    kt.simulate(kt.load("cart_pole"), [0.0, 0.5], duration=0.01).save(other)
    done = CliRunner().invoke(app, ["compare", str(folder / "run.npz"), str(other), "--json"])
    data = strict(done.stdout)
    assert done.exit_code == data["exit_code"] == 1 and data["error"] is None
    assert data["result"]["same"] is False and data["result"]["coordinates"][1]["max_dq"] >= 0.5


def test_numbers_that_json_lacks_are_null():
    """Infinite limits, and times that never come."""
    assert plain({"a": float("inf"), "b": (float("nan"), 1.5)}) == {"a": None, "b": [None, 1.5]}
