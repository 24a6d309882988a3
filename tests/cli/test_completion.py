"""Completion in real shells: commands, robots, files of the right suffixes, values of options."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

from kinetree.cli import completion
from kinetree.cli.completion import files, words

COMPLETE_BASH = """
source script.sh
COMP_WORDS=({words}); COMP_CWORD=$(( ${{#COMP_WORDS[@]}} - 1 ))
_kinetree_completion kinetree
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
# zsh completes in an interactive shell alone: it is typed into a terminal, and its list of candidates is read.
COMPLETE_ZSH = """
import os, pty, select, sys, time
pid, terminal = pty.fork()
if pid == 0:
    os.execvp("zsh", ["zsh", "-f", "-i"])
def read(until, seconds):
    seen, end = "", time.monotonic() + seconds
    while time.monotonic() < end and until not in seen:
        if select.select([terminal], [], [], 0.2)[0]:
            seen += os.read(terminal, 65536).decode(errors="replace")
    return seen
start = b"autoload -Uz compinit; compinit -u -D; source ./script.sh; stty columns 200; echo set'up'\\n"
os.write(terminal, start)
read("setup", 30)
os.write(terminal, sys.argv[1].encode() + b"\\t")
print(read(sys.argv[2], 30))
os.kill(pid, 9)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """With files, the command on the path, and the script of a shell."""
    path = tmp_path_factory.mktemp("completion")
    for name in ("mine.urdf", "mine.txt", "models/legs/dog.xml", "run.npz", "swing.yaml"):
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text("")
    command = path / "bin" / "kinetree"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m kinetree "$@"\n')
    command.chmod(0o755)
    return path


def environment(folder):
    """With the command on the path, and no help from the terminal's size."""
    return {**os.environ, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "ZDOTDIR": str(folder), "TERM": "dumb"}


def script(folder, shell: str) -> None:
    """Write the script of a shell, as a user does."""
    given = environment(folder)
    done = subprocess.run(
        ["kinetree", "--show-completion", shell], capture_output=True, text=True, cwd=folder, check=True,
        env={**given, "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"},
    )  # fmt: skip
    (folder / "script.sh").write_text(done.stdout)


@pytest.mark.skipif(not shutil.which("bash"), reason="no bash here")
@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("kinetree ve", ["verify"]),
        ("kinetree info quad", ["quadruped"]),
        ("kinetree info m", ["mine.urdf", "models/"]),
        ("kinetree info mo", ["models/legs/dog.xml"]),
        ("kinetree simulate s", ["swing.yaml"]),
        ("kinetree simulate arm7 --limits i", ["ignore"]),
        ("kinetree simulate arm7 --integrator semi", ["semi_implicit"]),
        ("kinetree compare ru", ["run.npz"]),
        ("kinetree codegen arm7 -f rnea,crb", ["rnea,crba", "rnea,crba_restricted"]),
    ],
)
def test_bash(folder, typed, expected):
    """The candidates of the last word."""
    if not (folder / "script.sh").exists() or "COMPREPLY" not in (folder / "script.sh").read_text():
        script(folder, "bash")
    text = COMPLETE_BASH.format(words=" ".join(f"'{word}'" for word in typed.split(" ")))
    done = subprocess.run(
        ["bash", "--norc", "-c", text], capture_output=True, text=True, cwd=folder, env=environment(folder), check=True
    )
    assert done.stdout.split() == expected


@pytest.mark.skipif(not shutil.which("zsh"), reason="no zsh here")
@pytest.mark.parametrize(("typed", "seen"), [("kinetree ver", "verify"), ("kinetree info quadr", "quadruped")])
def test_zsh(folder, typed, seen):
    """A Tab completes the word in a terminal."""
    script(folder, "zsh")
    done = subprocess.run(
        [sys.executable, "-c", COMPLETE_ZSH, typed, seen], capture_output=True, text=True, cwd=folder,
        env=environment(folder), check=True, timeout=90,
    )  # fmt: skip
    assert seen in done.stdout


def test_folders_that_are_alone_are_replaced_by_their_content(folder, monkeypatch):
    """Hidden files need a dot; a folder that does not exist has nothing."""
    monkeypatch.chdir(folder)
    assert files(".xml")("models/") == ["models/legs/dog.xml"] and files(".urdf")("models/") == ["models/legs/"]
    assert files()("m") == ["models/"] and files(".npz")("no/such/") == []
    (folder / ".hidden.urdf").write_text("")
    assert ".hidden.urdf" not in completion.robots("") and completion.robots(".h") == [".hidden.urdf"]


def test_words_are_sorted():
    """Of those that begin alike."""
    assert words("bb ba a")("b") == ["ba", "bb"]
