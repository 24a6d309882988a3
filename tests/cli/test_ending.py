"""How commands end: signals, pipes that nobody reads, full disks, terminals of few characters, wrong targets."""

from __future__ import annotations

import importlib
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import kinetree as kt
from kinetree.cli import main
from kinetree.cli.ending import Terminated

SIMULATE = importlib.import_module("kinetree.simulation.simulate")
simulate = kt.simulate  # before a test puts another in its module

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals and pipes of POSIX")


def started(*arguments, **options):
    """The command line in a process of its own."""
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True} | options
    return subprocess.Popen([sys.executable, "-m", "kinetree", *map(str, arguments)], **options)


def ended(capsys, *arguments):
    """Exit code and the line on stderr of a command in this process."""
    with pytest.raises(SystemExit) as end:
        main([str(argument) for argument in arguments])
    return end.value.code, capsys.readouterr().err.strip()


class Pressed:
    """Time that stands still after some samples, and a signal: the controller of a simulation in this process."""

    def __init__(self, number: int) -> None:
        self._number = number

    def __call__(self, model, *arguments, **options):
        """In the place of kinetree.simulation.simulate.simulate."""
        return simulate(model, *arguments, controller=self.controller, **(options | {"inputs": None}))

    def controller(self, t, q, v):
        """No force."""
        if t >= 0.05:
            signal.raise_signal(self._number)
        return np.zeros(2)


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
@pytest.mark.parametrize("suffix", [".npz", ".csv"])
def test_signals_keep_the_run(name, suffix, tmp_path, capsys, monkeypatch):
    """Exit code 128 plus the signal's number, one line, and a complete file that says that it is partial."""
    number, path = getattr(signal, name), tmp_path / f"run{suffix}"
    monkeypatch.setattr(SIMULATE, "simulate", Pressed(number))
    code, said = ended(capsys, "simulate", "cart_pole", "--duration", 1, "--q0", "0 0.5", "--save", path)
    assert code == 128 + number
    assert said == (
        f"error: interrupted; at t = 0.05 s; the run up to there is in {path}, marked as partial: 51 samples."
    )
    run = kt.Trajectory.load(path)
    cause = "Ctrl-C" if name == "SIGINT" else f"Terminated: {name}"
    assert run.ended_early == f"interrupted at t = 0.05 s by {cause}" and len(run) == 51
    assert os.listdir(tmp_path) == [path.name]


def test_a_partial_run_does_not_replace_a_whole_one(tmp_path, capsys, monkeypatch):
    """It goes beside the file that is there."""
    path = kt.simulate(kt.load("cart_pole"), duration=0.01).save(tmp_path / "run.npz")
    whole = path.read_bytes()
    monkeypatch.setattr(SIMULATE, "simulate", Pressed(signal.SIGINT))
    code, said = ended(capsys, "simulate", "cart_pole", "--q0", "0 0.5", "--save", path)
    assert code == 130 and "run.partial.npz, marked as partial" in said
    assert path.read_bytes() == whole and kt.Trajectory.load(tmp_path / "run.partial.npz").ended_early


def test_without_save_the_option_is_named(capsys, monkeypatch):
    """So that the next long run is not lost."""
    monkeypatch.setattr(SIMULATE, "simulate", Pressed(signal.SIGINT))
    code, said = ended(capsys, "simulate", "cart_pole", "--q0", "0 0.5")
    assert (code, said) == (130, "error: interrupted; at t = 0.05 s; the run up to there is lost: --save keeps it.")


def test_a_failed_run_is_kept_too(tmp_path, capsys):
    """What diverges is worth looking at."""
    path = tmp_path / "run.npz"
    with np.errstate(all="ignore"):
        code, said = ended(
            capsys, "simulate", "double_pendulum", "--q0", "1 0.5", "--dt", 0.5, "--duration", 500, "--integrator",
            "rk4", "--save", path,
        )  # fmt: skip
    assert code == 2 and "no longer finite" in said and f"is in {path}, marked as partial" in said
    assert "no longer finite" in kt.Trajectory.load(path).ended_early


def test_a_process_that_is_asked_to_end(tmp_path):
    """The signal reaches a process that simulates; nothing but the file is left."""
    path = tmp_path / "run.npz"
    process = started("simulate", "cart_pole", "--duration", 1e5, "--sample-period", 1, "--save", path)
    time.sleep(3.0)  # the run takes minutes; where the start takes longer, there is nothing to save yet
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=60)
    assert process.returncode in (128 + signal.SIGTERM, -signal.SIGTERM)
    assert "Traceback" not in said and len(said.splitlines()) <= 1
    assert os.listdir(tmp_path) in ([path.name], [])
    if path.exists():
        assert "SIGTERM" in kt.Trajectory.load(path).ended_early


def test_a_process_that_is_asked_to_end_before_its_command_runs(monkeypatch):
    """The exit code is that of the signal wherever it arrives, also where typer takes it for Ctrl-C."""

    def terminated():
        raise Terminated(signal.SIGTERM)

    monkeypatch.setattr(kt.data, "robots", terminated)
    with pytest.raises(SystemExit) as end:
        main(["robots"])
    assert end.value.code == 128 + signal.SIGTERM


def test_a_pipe_that_nobody_reads():
    """As with ``| head -1``: silence, and the code of the signal that ends other programs there."""
    process = started("info", "arm7", "--json")
    process.stdout.close()
    assert process.stderr.read() == "" and process.wait(60) == 128 + 13


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs the device that is always full")
def test_a_disk_that_is_full():
    """What is printed into a file that has no room: one line."""
    with open("/dev/full", "w") as full:
        process = started("robots", stdout=full)
        _, said = process.communicate(timeout=60)
    assert said == "error: the output could not be written: No space left on device\n"
    assert process.returncode == 1


@pytest.mark.parametrize("closed", ["stdout", "stderr"])
def test_closed_streams(closed):
    """``>&-``: the command does its work."""
    number = {"stdout": 1, "stderr": 2}[closed]
    words = f"exec {sys.executable} -m kinetree info cart_pole {number}>&-"
    done = subprocess.run(["sh", "-c", words], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "Traceback" not in done.stderr
    assert ("cart_pole" in done.stdout) == (closed == "stderr")


@pytest.mark.parametrize("variable", ["PYTHONIOENCODING=ascii", "LC_ALL=C"])
def test_terminals_of_few_characters(variable, tmp_path):
    """Other characters, of names too, come as their numbers."""
    path = tmp_path / "b.urdf"
    path.write_text('<robot name="b\N{LATIN SMALL LETTER U WITH DIAERESIS}\N{SNOWMAN}"><link name="a"/></robot>')
    name, value = variable.split("=")
    environment = {**os.environ, name: value, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    process = started("info", path, env=environment)
    out, said = process.communicate(timeout=60)
    assert process.returncode == 0 and said == "" and "b\\xfc\\u2603" in out


@pytest.mark.parametrize(
    ("option", "path", "message"),
    [
        ("--plot", "x.foo", "the suffix '.foo' names no format of figures; known: "),
        ("--save", "x.foo", "no trajectory format '.foo'. Known: .npz"),
        ("--plot", "no/x.png", "there is no folder 'no' to write to"),
        ("--save", ".", "it is a folder; give the name of a file in it"),
    ],
)
def test_targets_are_looked_at_before_the_run(option, path, message, capsys, monkeypatch):
    """Not after hours of it."""

    def never(*_, **__):
        raise AssertionError("it was simulated")

    monkeypatch.setattr(SIMULATE, "simulate", never)
    code, said = ended(capsys, "simulate", "cart_pole", option, path)
    assert code == 2 and message in said and len(said.splitlines()) == 1


def test_errors_that_nobody_thought_of_are_one_line(capsys, monkeypatch):
    """With the way to the traceback; --debug shows it."""

    def broken(*_, **__):
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr(SIMULATE, "simulate", broken)
    code, said = ended(capsys, "simulate", "cart_pole")
    assert code == 1 and said == (
        "error: internal error, ZeroDivisionError: division by zero; please report it with the output of --debug"
    )
    with pytest.raises(ZeroDivisionError):
        main(["simulate", "cart_pole", "--debug"])


@pytest.mark.parametrize("seed", [-1, 1.5, "x"])
def test_wrong_seeds(seed):
    """In Python, too."""
    model = kt.models.cart_pole()
    for call in (
        lambda: kt.simulate(model, duration=0.01, seed=seed),
        lambda: kt.verify(model, 1, seed=seed, fast=True),
        lambda: kt.accuracy(model, states=1, seed=seed),
    ):
        with pytest.raises(kt.errors.KinetreeError, match=f"seed is {seed!r}, expected a whole number"):
            call()


def test_a_run_that_is_too_long_for_the_memory(capsys):
    """A million million steps: one line, before the first of them."""
    code, said = ended(capsys, "simulate", "cart_pole", "--duration", 1e9)
    assert code == 2 and "GiB are available. Record less often, --sample-period" in said and "\n" not in said
