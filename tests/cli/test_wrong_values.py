"""Every option of every subcommand with values of a wrong kind: one line that says what is wrong, never a traceback."""

from __future__ import annotations

import typing
from pathlib import Path

import pytest
import typer.main
from typer.testing import CliRunner

import kinetree as kt
from kinetree.cli import app

COMMANDS = typer.main.get_command(app).commands
# Arguments with which each command does little and succeeds; "{folder}" is an empty one with two saved runs.
BASES = {
    "robots": [],
    "schema": [],
    "sweep": ["{folder}/sweep.yaml", "--quiet"],
    "joints": [],
    "scenes": [],
    "info": ["cart_pole"],
    "simulate": ["cart_pole", "--duration", "0.01", "--quiet"],
    "compare": ["{folder}/run.npz", "{folder}/run.npz"],
    "lint": ["cart_pole"],
    "accuracy": ["cart_pole", "--states", "1"],
    "mobility": ["cart_pole"],
    "verify": ["cart_pole", "--states", "1", "--fast", "--quiet"],
    "convert": ["cart_pole", "{folder}/out.urdf", "--quiet"],
    "dh": ["arm7", "--tip", "tool"],
    "codegen": ["cart_pole", "--function", "crba", "--output", "{folder}/c", "--quiet"],
    "cache": [],
    "bench": ["cart_pole", "--batch", "2", "--function", "crba"],
    "view": ["cart_pole"],
}
WRONG = {
    "integer": ["x", "1.5", "", "-1", "9" * 30],
    "float": ["x", "", "nan", "inf", "-1", "0"],
    "text": ["", "nonsense", "\x00", "1 2 3 4 5", "nan", "\N{SNOWMAN}"],
    "path": ["", ".", "/", "no/such/folder/x.png", "x.foo", "\x00.png", "/dev/null/x.npz"],
    "boolean": ["=x"],
}
KINDS = {"boolean": bool, "path": Path, "integer": int, "float": float}


HINTS = {one.callback.__name__: typing.get_type_hints(one.callback) for one in app.registered_commands}


SWEEP = "model: cart_pole\nduration: 0.01\nsweep: {over: {q0.hinge: [0, 0.1]}}\n"  # the file of a sweep


def kind_of(command, name) -> str:
    """Which wrong values a parameter gets."""
    hint = HINTS[command][name]
    types = {hint, *typing.get_args(hint)}
    return next((kind for kind, one in KINDS.items() if one in types), "text")


def parameters():
    """Of all commands; what several have, by name and kind, is tried with one of them, and with all in the sweep."""
    known = set()
    for command, one in sorted(COMMANDS.items()):
        for name in (parameter.name for parameter in one.params if parameter.name not in ("help", "debug")):
            shared = (name, kind_of(command, name)) in known
            known.add((name, kind_of(command, name)))
            marks = [pytest.mark.sweep] if shared or command == "verify" else []
            yield pytest.param(command, name, id=f"{command}-{name}", marks=marks)


def given(command, parameter, value, folder) -> list[str]:
    """The command line with one value exchanged or added."""
    base = [word.format(folder=folder) for word in BASES[command]]
    if parameter.param_type_name == "argument":
        position = [p.name for p in COMMANDS[command].params if p.param_type_name == "argument"].index(parameter.name)
        return [command, *base[:position], "--", value] if position else [command, *base[1:], "--", value]
    option = max(parameter.opts, key=len)
    if parameter.is_flag:
        return [command, *base, option + value]
    if option in base:
        base[base.index(option) + 1] = value
        return [command, *base]
    return [command, *base, option, value]


def complaint(result) -> str:
    """What is wrong with how a command ended; empty if nothing."""
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        return f"raised {result.exception!r}"
    if result.exit_code not in (0, 1, 2):
        return f"ended with {result.exit_code}"
    for word in ("Traceback", "internal error"):
        if word in result.output:
            return result.output
    lines = [line for line in result.stderr.splitlines() if line.strip()]
    is_verdict = not lines and result.stdout.strip()  # of lint, compare and verify
    if result.exit_code and not is_verdict:
        if len(lines) != 1 or not lines[0].startswith("error: "):
            return f"no line of an error: {result.stderr!r}"
    return ""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """With a run to compare."""
    path = tmp_path_factory.mktemp("cli")
    kt.simulate(kt.load("cart_pole"), duration=0.01).save(path / "run.npz")
    (path / "sweep.yaml").write_text(SWEEP)
    return path


def test_every_command_is_tried():
    """A new one needs arguments with which it succeeds."""
    assert set(BASES) == set(COMMANDS)


@pytest.mark.parametrize("command", sorted(set(BASES) - {"view"}))  # opens a browser
def test_the_commands_succeed_without_wrong_values(command, folder, monkeypatch):
    """What is tried below differs from something that works in one value."""
    monkeypatch.setenv("KINETREE_CACHE_DIR", str(folder / "cache")) if command == "cache" else None
    result = CliRunner().invoke(app, [command, *(word.format(folder=folder) for word in BASES[command])])
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize(("command", "name"), list(parameters()))
def test_wrong_values_are_told_in_one_line(command, name, folder, monkeypatch):
    """Exit code 2 or 1 with one line, or success where the value means something."""
    monkeypatch.chdir(folder)
    parameter = next(p for p in COMMANDS[command].params if p.name == name)
    for value in WRONG[kind_of(command, name)]:
        words = given(command, parameter, value, folder)
        if said := complaint(CliRunner().invoke(app, words)):
            pytest.fail(f"{words}: {said}")
