"""Every command with wrong input: exit code 2, and one line on stderr that names the option and the fix."""

from __future__ import annotations

import re
import shlex

import pytest
from typer.testing import CliRunner

import kinetree as kt
from kinetree.cli import app
from kinetree.cli.wording import as_options
from tests.cli.test_wrong_values import SWEEP

# Command line, and parts of its message.
WRONG = """
info pendulumm                                      | no robot named 'pendulumm' | Known: arm7
info missing.urdf                                   | missing.urdf: no such file
info bad.urdf                                       | bad.urdf:1: | closed in the reverse order
info notes.txt                                      | it reads URDF, MJCF and SDF
info .                                              | Name the robot file inside it
info cart_pole --inertia maybe                      | for --inertia. Known: raise
info cart_pole --massless maybe                     | for --massless. Known: raise, lock
info cart_pole --density 5                          | --density fills | give --inertia-from
info cart_pole --inertia-from mesh                  | for --inertia-from. Known: collision, visual
info cart_pole --floatingbase                       | --floatingbase | --floating-base
simulate cart_pole --duration -1                    | --duration is -1.0, expected a positive time in seconds
simulate cart_pole --duration nan                   | --duration is nan, expected
simulate cart_pole --dt 0                           | --dt is 0.0, expected a positive time
simulate cart_pole --dt x                           | --dt is 'x', expected a number | kinetree simulate --help
simulate cart_pole --integrator newmark             | no integrator 'newmark'. Known: semi_implicit
simulate cart_pole --method Radau                   | Give --integrator adaptive, or leave --method out
simulate cart_pole --integrator adaptive --method rk | no method 'rk'. Known: bs32
simulate cart_pole --integrator adaptive --rtol -1  | --rtol is -1.0, expected a positive number
simulate cart_pole --integrator adaptive --atol 0   | --atol is 0.0, expected a positive number
simulate cart_pole --q0 1                           | --q0 has shape (1,), expected (2,)
simulate cart_pole --q0 a,b                         | --q0 is 'a,b', expected numbers such as
simulate cart_pole --q0 9,0                         | --q0 leaves the limits of joint 'slider' | --limits ignore
simulate cart_pole --v0 1,2,3                       | --v0 has shape (3,), expected (2,)
simulate cart_pole --tau 1                          | --tau is an array of shape (1,), expected
simulate cart_pole --tau nan,1                      | --tau gives | must be finite
simulate cart_pole --q0 0,0 --seed 1                | --seed draws a random start, and --q0 gives one
simulate cart_pole --seed -1                        | --seed is -1, expected
simulate cart_pole --seed 1.5                       | --seed is '1.5', expected a whole number
simulate cart_pole --limits hard                    | --limits. Known: soft, ignore, raise
simulate cart_pole --sample-period 0.0015 | --sample-period = 0.0015 s is not | of --dt = 0.001 s | 0.001 and 0.002
simulate cart_pole --sample-period -1               | --sample-period is -1.0, expected
simulate cart_pole --friction 0.5                   | --friction 0.5 is that of --ground
simulate cart_pole --ground --friction -1           | --friction is -1.0, expected
simulate cart_pole --plot x.foo                     | the suffix '.foo' names no format of figures; known:
simulate cart_pole --save x.foo                     | no trajectory format '.foo'. Known: .npz
simulate cart_pole --save no/x.npz                  | there is no folder 'no' to write to
sweep missing.yaml                                  | missing.yaml: no such file
sweep cart_pole                                     | cart_pole: this is no simulation file; its suffix is .yaml or
sweep plain.yaml                                    | plain.yaml:1: sweep is missing. Write 'sweep: {over: ...}'
sweep name.yaml                                     | name.yaml:4: sweep.over.pole.masss: | Did you mean 'pole.mass'?
sweep measure.yaml                                  | measure.yaml:5: sweep.measure[1] is 'q_ned'. Did you mean 'q_end'?
sweep sweep.yaml --client nonsense                  | --client is 'nonsense', expected the address of a scheduler
sweep sweep.yaml --client tcp://localhost:1 --workers 2 | --workers = 2 is for this machine
sweep sweep.yaml --device tpu                       | --device is 'tpu', expected one of 'cpu', 'cuda'
sweep sweep.yaml --workers 0                        | --workers is '0', expected at least 1
sweep sweep.yaml --store no/x.zarr                  | there is no folder 'no' to write to
sweep sweep.yaml --store .                          | this is no store of a sweep. Give another path
compare run.npz missing.npz                         | missing.npz: no such file or directory; give another path
compare run.npz bad.npz                             | not a trajectory of kinetree | kinetree simulate --save
compare run.npz arm.npz                             | runs of 'cart_pole' and 'arm7' have different
compare run.npz run.npz --tolerance -1              | --tolerance is -1.0, expected
compare run.npz run.npz --joint elbow               | no joint named 'elbow' | Known: slider, hinge
compare run.npz run.npz --robot arm7                | a run of 'cart_pole' | the model 'arm7'
compare run.npz run.npz --floating-base             | --floating-base is of --robot
compare run.npz                                     | missing argument 'second' | kinetree compare --help
lint                                                | missing argument 'files' | kinetree lint --help
accuracy cart_pole --states 0                       | --states is '0', expected at least 1
accuracy cart_pole --q 1                            | --q has shape (1,), expected
accuracy cart_pole --q 1,2 --states 3               | --q determines the number of states
mobility cart_pole --actuated nobody                | no joint named 'nobody' | Known: slider, hinge
mobility cart_pole --q 1                            | --q is [1.0], expected
verify cart_pole --states 1.5                       | --states is '1.5', expected a whole number
verify cart_pole --states 200000                    | --states is '200000', expected at most 100000
verify cart_pole --seed -1                          | --seed is -1, expected
verify cart_pole --save no/x.json                   | there is no folder 'no' to write to
convert cart_pole x.foo                             | names no format to write; known: .urdf
convert cart_pole no/x.urdf                         | there is no folder 'no' to write to
convert cart_pole out.urdf --meshes maybe           | for --meshes. Known: keep, relative, drop
convert cart_pole                                   | missing argument 'path' | kinetree convert --help
dh quadruped                                        | choose one, with --tip
dh arm7 --tip nobody                                | no frame named 'nobody' | Known:
dh arm7 --tip tool --convention best                | --convention best; known: standard, modified
codegen cart_pole -f abba -o c                      | Did you mean 'aba'?
codegen cart_pole -f aba                            | missing option '--output'
codegen cart_pole -f aba -o c --lang rust           | --lang rust: there is no such language; known: c
codegen cart_pole -f aba -o c --parameters maybe    | no value 'maybe' of --parameters. Known: baked, input
codegen cart_pole -f aba -o c --sincos maybe        | no value 'maybe' of --sincos. Known: own, libm
codegen cart_pole -f aba -o c --frame tool          | --frame tool: none of aba takes it
codegen cart_pole -f jacobian -o c                  | jacobian needs --frame and --reference
codegen cart_pole -f jacobian -o c --frame nobody --reference local | no frame named 'nobody' | Known: world
codegen cart_pole -f jacobian -o c --frame pole --reference best | Known: local, world
codegen cart_pole -f aba -o c --optional x          | no optional input named 'x' in aba. Known: f_ext
codegen cart_pole -f hybrid_dynamics -o c           | hybrid_dynamics:JOINT+JOINT
bench cart_pole -f abba                             | Did you mean 'aba'?
bench cart_pole -f jacobian                         | needs frame, reference | give another function
bench cart_pole --batch 0                           | --batch is '0', expected at least 1
joints hellical                                     | Did you mean 'helical'?
joints --plot x.foo                                 | the suffix '.foo' names no format of figures; known:
scenes 99                                           | no scene named '99' | Known:
scenes --plot x.png                                 | kinetree scenes 5 --plot scene.png
view pendulumm                                      | no robot named 'pendulumm' | Known: arm7
view missing.npz                                    | give --robot
view cart_pole --robot arm7                         | --robot is of saved runs | leave it out
cache --empty                                       | no such option: --empty | kinetree cache --help
simulat                                             | Did you mean 'simulate'?
"""
CASES = [tuple(part.strip() for part in line.split("|")) for line in WRONG.strip().splitlines()]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """With two runs, and files that are none."""
    path = tmp_path_factory.mktemp("wrong")
    for name, robot in (("run", "cart_pole"), ("arm", "arm7")):
        kt.simulate(kt.load(robot), duration=0.01).save(path / f"{name}.npz")
    (path / "bad.urdf").write_text('<robot name="x"><link name="a"></robot>')
    (path / "notes.txt").write_text("hello")
    (path / "bad.npz").write_text("x")
    (path / "plain.yaml").write_text(SWEEP.partition("sweep")[0])
    (path / "sweep.yaml").write_text(SWEEP)
    for name, text in (("name", "{pole.masss: 1}"), ("measure", "{pole.mass: 1}\n  measure: [v_end, q_ned]")):
        (path / f"{name}.yaml").write_text(f"{SWEEP.partition('sweep')[0]}sweep:\n  over: {text}\n")
    return path


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_wrong_input_is_one_line(case, folder, monkeypatch):
    """With the exit code 2, and without keywords of Python."""
    monkeypatch.chdir(folder)
    done = CliRunner().invoke(app, shlex.split(case[0]))
    assert done.exit_code == 2 and done.stdout == "" and done.stderr.count("\n") == 1
    assert done.stderr.startswith("error: ")
    for part in case[1:]:
        assert part in done.stderr
    python = ("sample_period", "inertia_from", "package_dirs", "overwrite=", "client=", "=True", "kt.", "Trajectory.")
    for keyword in python:
        assert keyword not in done.stderr


def test_every_command_is_in_the_list():
    """But for those that take no input."""
    commands = {command.callback.__name__ for command in app.registered_commands}
    assert commands - {case[0].split()[0] for case in CASES} == {"robots", "schema"}


def test_words_of_english_are_not_options():
    """A keyword inside a sentence is replaced only where it is no ordinary word."""
    text = "simulate: the robot leaves the ground at q0 and dt, with tip= 3; method is a word."
    assert as_options(text, ("ground", "q0", "dt", "tip", "method")) == (
        "the robot leaves the ground at --q0 and --dt, with --tip 3; method is a word."
    )


def test_long_errors_wrap_between_words_in_terminals(monkeypatch, capsys):
    """In a terminal of 40 columns no word is cut."""
    from rich.console import Console

    from kinetree.cli.ending import print_error

    monkeypatch.setattr(Console, "is_terminal", property(lambda self: True))
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("NO_COLOR", "1")
    message = "there is no robot named 'something_long' in those that ship with kinetree, and no such file"
    print_error(message)
    lines = [re.sub(r"\x1b\[\d*m", "", line) for line in capsys.readouterr().err.splitlines()]
    assert len(lines) > 2 and max(map(len, lines)) <= 40
    assert " ".join(line.strip() for line in lines).split() == f"error: {message}".split()
