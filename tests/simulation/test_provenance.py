"""Runs say where they come from, and equal runs give equal files but for the block that says when and where."""

from __future__ import annotations

import dataclasses
import datetime
import platform
import zipfile

import numpy as np
import pytest

import kinetree as kt


def made():
    """A run with a energy balance and soft stops."""
    return kt.simulate(kt.load("arm7"), duration=0.01, seed=3)


def test_a_run_says_where_it_comes_from():
    """Version, digest of the robot, seed; date, machine and versions of the session."""
    run, session = made(), made().provenance.session
    about = run.provenance
    assert (about.version, about.seed, session.machine) == (kt.__version__, 3, platform.node())
    assert session.numpy == np.__version__ and session.python == platform.python_version()
    age = datetime.datetime.now(datetime.UTC) - datetime.datetime.fromisoformat(session.date)
    assert datetime.timedelta(0) <= age < datetime.timedelta(minutes=10)


def test_the_digest_is_that_of_the_robot():
    """The same for the same robot, whatever the run adds to it; another for another gravity."""
    arm = kt.load("arm7")
    light = arm.replace(gravity=[0.0, 0.0, -9.0])
    digests = [
        kt.simulate(model, duration=0.01, integrator=integrator).provenance.digest
        for model, integrator in ((arm, "auto"), (kt.load("arm7"), "rk4"), (light, "auto"))
    ]
    assert digests[0] == digests[1] != digests[2]


@pytest.mark.parametrize("suffix", [".npz", ".nc", ".csv"])
def test_equal_runs_give_equal_files_but_for_the_session(tmp_path, suffix):
    """npz: the member session.npy; NetCDF: the attribute session; csv: nothing differs."""
    first, second = (made() for _ in range(2))
    elsewhere = dataclasses.replace(second.provenance.session, machine="elsewhere", date="1999-12-31T23:59:59+00:00")
    origin = dataclasses.replace(second.provenance, session=elsewhere)
    second = dataclasses.replace(second, provenance=origin)
    if suffix == ".nc":
        h5py = pytest.importorskip("h5py")
        pytest.importorskip("h5netcdf")
    paths = [run.save(tmp_path / f"{name}{suffix}") for name, run in (("a", first), ("b", second))]
    if suffix == ".csv":
        assert paths[0].read_bytes() == paths[1].read_bytes()
    elif suffix == ".npz":
        a, b = (zipfile.ZipFile(path) for path in paths)
        assert a.namelist() == b.namelist()
        differ = [name for name in a.namelist() if a.read(name) != b.read(name)]
        assert differ == ["session.npy"]
        assert {entry.date_time for entry in a.infolist()} == {(1980, 1, 1, 0, 0, 0)}  # none
    else:
        a, b = (h5py.File(path) for path in paths)
        assert sorted(a) == sorted(b) and all(np.array_equal(a[name], b[name]) for name in a)
        assert [name for name in a.attrs if not np.array_equal(a.attrs[name], b.attrs[name])] == ["session"]


@pytest.mark.parametrize("suffix", [".npz", ".nc"])
def test_files_keep_the_provenance(tmp_path, suffix):
    """With the wall time, which is of the session, too."""
    if suffix == ".nc":
        pytest.importorskip("h5netcdf")
    run = made()
    back = kt.Trajectory.load(run.save(tmp_path / f"run{suffix}"))
    assert back.provenance == run.provenance and back.wall_time == run.wall_time
    assert back[2:].provenance == run.provenance


def test_a_model_of_other_numbers_is_noted(tmp_path):
    """It has the coordinates of the run, but is not the one that was simulated."""
    run, arm = made(), kt.load("arm7")
    path = run.save(tmp_path / "run")
    for same in (arm, run.model):
        assert kt.Trajectory.load(path, same).notes == run.notes
    other = kt.Trajectory.load(path, arm.replace(gravity=[0.0, 0.0, -1.6]))
    assert "run.npz was loaded with a model of other numbers than the one simulated" in other.notes[-1]
