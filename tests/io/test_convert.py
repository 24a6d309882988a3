"""``kinetree convert``: a robot from one file into another."""

from __future__ import annotations

from typer.testing import CliRunner

import kinetree as kt
from kinetree.cli import app


def run(*arguments):
    """Run the command line in this process."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_there_and_back(tmp_path):
    """URDF to MJCF to URDF: the same robot, with a free base."""
    result = run("convert", "quadruped", tmp_path / "a.xml", "--floating-base")
    assert result.exit_code == 0
    assert "quadruped: 13 moving bodies, nq=19, nv=18" in result.stdout
    assert "velocity limits" in result.stdout and str(tmp_path / "a.xml") in result.stdout.replace("\n", "")
    assert run("convert", tmp_path / "a.xml", tmp_path / "b.urdf").exit_code == 0
    assert kt.load(tmp_path / "b.urdf").joint_names == kt.load("quadruped", floating_base=True).joint_names


def test_unsupported_features_need_drop(tmp_path):
    """What the format does not support is an error, exit code 2 and no file, unless --drop leaves it out."""
    source, path = tmp_path / "spring.xml", tmp_path / "spring.urdf"
    kt.save(kt.models.pendulum().replace(stiffness=1.0), source)
    result = run("convert", source, path)
    assert (result.exit_code, path.exists()) == (2, False)
    assert "stiffness" in result.stderr
    result = run("convert", source, path, "--drop")
    assert result.exit_code == 0
    assert "dropped: URDF does not support stiffness" in result.stdout


def test_quiet_and_unknown_formats(tmp_path):
    """--quiet prints nothing; a suffix that names no format is an error that lists those that do."""
    assert run("convert", "arm7", tmp_path / "a.urdf", "--quiet").stdout == ""
    result = run("convert", "arm7", tmp_path / "a.sdf")
    assert result.exit_code == 2
    assert ".urdf, .xml, .mjcf" in result.stderr
    result = run("convert", "arm7", tmp_path / "nowhere" / "a.urdf")
    assert result.exit_code == 2
    assert "no folder" in result.stderr
