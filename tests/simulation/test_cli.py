"""The command line, through typer's runner."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

import kinetree as kt
from kinetree.cli import app


def run(*arguments):
    """Run the command line in this process."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def result_of(done):
    """The result in the JSON output of a command."""
    return json.loads(done.stdout)["result"]


def test_robots_lists_the_shipped_ones():
    """One name a line, each of them loads."""
    result = run("robots")
    assert result.exit_code == 0
    assert tuple(result.stdout.split()) == kt.data.robots()


def test_version():
    """The version of the package."""
    assert run("--version").stdout.split() == ["kinetree", kt.__version__]


def test_info_shows_bodies_joints_and_totals():
    """Names, kinds, masses, limits and sizes are in the tree."""
    result = run("info", "cart_pole")
    assert result.exit_code == 0
    for text in ("cart_pole", "nq = 2", "nv = 2", "slider", "prismatic (1, 0, 0)", "[-1.8, 1.8] m", "0.1 kg"):
        assert text in result.stdout


def test_info_as_json_is_the_model():
    """Machine-readable output agrees with the model."""
    model = kt.load("cart_pole")
    data = result_of(run("info", "cart_pole", "--json"))
    assert (data["nq"], data["nv"], data["name"]) == (model.nq, model.nv, model.name)
    slider = data["bodies"][0]["joint"]
    assert slider["kind"] == "prismatic" and slider["coordinates"][0]["lower"] == -1.8
    assert data["bodies"][1]["joint"]["coordinates"][0]["lower"] is None  # a continuous joint has no limit


def test_info_of_a_long_chain_counts_what_is_too_deep_to_draw(tmp_path):
    """Beyond 32 levels the indentation leaves no room: the rest is one line, and --json has all bodies."""
    path = tmp_path / "chain.urdf"
    path.write_text(kt.io.to_urdf(kt.models.chain_gu(60)))
    text = run("info", str(path)).stdout
    assert "28 more bodies" in text and "joint33" not in text
    assert len(result_of(run("info", str(path), "--json"))["bodies"]) == 60


def test_info_of_a_floating_base():
    """--floating-base adds the free joint."""
    data = result_of(run("info", "quadruped", "--floating-base", "--json"))
    assert data["bodies"][0]["joint"]["kind"] == "free" and data["nq"] == data["nv"] + 1


def test_simulate_prints_a_summary_and_writes_its_files(tmp_path):
    """Steps, real-time factor, energy drift and the files' names are printed; the files are there."""
    result = run("simulate", "double_pendulum", "--duration", 0.1, "--dt", 0.001, "--integrator", "rk4",
                 "--q0", "1.0, -0.5", "--save", tmp_path / "out", "--plot", tmp_path / "out.png")  # fmt: skip
    assert result.exit_code == 0, result.output
    for text in ("100 steps", "x real time", "energy drift", "out.npz", "out.png"):
        assert text in result.stdout
    saved = kt.Trajectory.load(tmp_path / "out.npz")
    assert saved.q[0].tolist() == [1.0, -0.5] and (tmp_path / "out.png").exists()


def test_energy_is_dissipated_where_something_dissipates():
    """A damped robot has no drift: what its joints took is the loss of energy, and where is said."""
    result = run("simulate", "arm7", "--duration", 0.5, "--seed", 1, "--integrator", "rk4")
    assert "energy drift" not in result.stdout
    (line,) = [line for line in result.stdout.splitlines() if line.startswith("dissipated")]
    start, end = (float(x) for x in re.findall(r"(\S+) J at", result.stdout))
    assert float(line.split()[1]) == pytest.approx(start - end, abs=0.1)
    assert line.endswith("damping, dry friction, soft stops")


def test_integration_errors_are_not_called_dissipation():
    """A falling quadruped dissipates nothing in its joints: what semi-implicit Euler loses is its drift."""
    result = run("simulate", "quadruped", "--floating-base", "--duration", 1)
    assert "energy drift  0.001 of the largest kinetic energy: the integrator's error" in result.stdout


def test_work_of_constant_forces_is_told():
    """tau = 3 N on the free cart does work 3 N times its way."""
    result = run("simulate", "cart_pole", "--duration", 0.5, "--tau", "3 0", "--integrator", "rk4")
    assert re.search(r"^work +\S+ J by the joint forces$", result.stdout, re.MULTILINE)


def test_a_start_in_equilibrium_says_how_to_move():
    """The arm at rest stands upright; the summary names the options that start a motion."""
    result = run("simulate", "arm7", "--duration", 0.01)
    assert "nothing moves: the start is an equilibrium; --seed" in result.stdout and "drift" not in result.stdout


def test_info_shows_what_is_welded_to_the_world():
    """6.5 kg of the trunk do not move: the tree and the report say so."""
    text = run("info", "quadruped").stdout
    assert "moving mass 6.52 kg" in text and "world  6.5 kg welded to it" in text
    assert "link 'trunk' with 6.5 kg is welded to the world and does not count in total_mass" in text
    assert result_of(run("info", "quadruped", "--json"))["welded_mass"] == 6.5
    assert "welded" not in run("info", "quadruped", "--floating-base").stdout


def test_info_in_a_pipe_cuts_no_line():
    """The longest line of the arm ends with its last number, however narrow a terminal would be."""
    lines = run("info", "arm7").stdout.splitlines()
    assert any(line.endswith("left_finger_slide  prismatic (0, 1, 0)  [0, 0.07] m  damping 1") for line in lines)


def test_info_tells_equal_remarks_once(tmp_path):
    """Two transmissions are one line with their number; physics comes first."""
    text = (
        '<robot name="r"><link name="a"/>\n<transmission name="s"><x/></transmission>\n'
        '<transmission name="t"><x/></transmission></robot>'
    )
    (tmp_path / "r.urdf").write_text(text)
    shown = run("info", tmp_path / "r.urdf").stdout
    assert shown.count("transmission ignored") == 1 and "r.urdf:2 and 1 more: transmission ignored" in shown


def test_help_shows_the_units():
    """Brackets in help texts are not eaten as markup."""
    assert "The simulated time [s]." in run("simulate", "--help").stdout


def test_quiet_prints_nothing():
    """Nothing on success."""
    result = run("simulate", "double_pendulum", "--duration", 0.01, "--quiet")
    assert result.exit_code == 0 and result.output == ""


def test_seed_makes_a_random_start(tmp_path):
    """The same seed gives the same run."""
    for name in ("a", "b"):
        run("simulate", "double_pendulum", "--duration", 0.01, "--seed", 5, "-q", "--save", tmp_path / name)
    a, b = (kt.Trajectory.load(tmp_path / name) for name in ("a", "b"))
    assert np.array_equal(a.q, b.q) and a.q[0].any()


@pytest.mark.parametrize(
    "arguments, message",
    [
        (("info", "pendulumm"), "no robot named 'pendulumm'"),
        (("info", "missing.urdf"), "no such file"),
        (("simulate", "double_pendulum", "--q0", "1 x"), "--q0 is '1 x', expected numbers"),
        (("simulate", "double_pendulum", "--integrator", "newmark"), "no integrator 'newmark'"),
        (("simulate", "double_pendulum", "--save", "no/such/folder/x"), "there is no folder"),
    ],
)
def test_errors_are_one_line_and_exit_code_two(arguments, message):
    """No traceback, one line on stderr that opens with 'error:'."""
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr and "Traceback" not in result.output
    assert result.stderr.startswith("error: ") and result.stderr.count("\n") == 1


def test_debug_lets_the_traceback_through():
    """--debug shows where the error comes from."""
    result = run("simulate", "double_pendulum", "--integrator", "newmark", "--debug")
    assert isinstance(result.exception, kt.errors.SimulationError)


def test_python_dash_m_is_the_same_command():
    """``python -m kinetree`` works where the script is not on the path."""
    done = subprocess.run([sys.executable, "-m", "kinetree", "robots"], capture_output=True, text=True, check=True)
    assert done.stdout.split() == list(kt.data.robots())


LOOPED = """<sdf version="1.9"><model name="looped">
<link name="a"><inertial><mass>1</mass></inertial></link><link name="b"><inertial><mass>1</mass></inertial></link>
<joint name="fix" type="fixed"><parent>world</parent><child>a</child></joint>
<joint name="turn" type="revolute"><parent>a</parent><child>b</child><axis><xyz>0 1 0</xyz></axis></joint>
<joint name="pin" type="ball"><pose>0 1 0 0 0 0</pose><parent>a</parent><child>b</child></joint></model></sdf>"""


def test_loops_are_shown_and_simulated(tmp_path):
    """info names the loop joint, simulate and lint take the model; a ball on the axis of the hinge stops nothing."""
    path = tmp_path / "looped.sdf"
    path.write_text(LOOPED)
    shown = run("info", str(path))
    assert "loop      pin  spherical" in shown.stdout and "not computed yet" not in shown.stdout
    assert result_of(run("info", str(path), "--json"))["loops"][0]["name"] == "pin"
    done = run("simulate", str(path), "--duration", "0.01", "--v0", "1")
    assert done.exit_code == 0, done.output
    assert run("lint", str(path)).exit_code == 0


def test_simulate_reports_what_is_off():
    """--report prints the findings and the balance, also beside --quiet."""
    options = ("--q0", "1 0.5", "--dt", "0.03", "--integrator", "euler")
    result = run("simulate", "double_pendulum", *options, "--report", "--quiet")
    assert result.exit_code == 0 and result.stdout.startswith("double_pendulum: 5 s with euler")
    assert "Energy is not accounted for" in result.stdout and "remainder" in result.stdout
