"""Runs in files and tables: what is written comes back, with labels, notes, events and the energy balance."""

from __future__ import annotations

import builtins
import json
import os
import subprocess
import sys
import time

import numpy as np
import pytest

import kinetree as kt
from kinetree import files
from kinetree.errors import FileFormatError, MissingDependencyError
from tests.analytic.mechanisms import pendulum, rigid_body

ROWS = ("time", "q", "v", "a", "tau", "kinetic_energy", "potential_energy", "elastic_energy", "energy")
SETTINGS = ("model_name", "coordinates", "integrator", "dt", "steps", "wall_time", "notes")


@pytest.fixture(params=[".npz", ".nc", ".h5"])
def suffix(request):
    """The formats that keep everything; those of NetCDF need its packages."""
    if request.param != ".npz":
        pytest.importorskip("xarray")
        pytest.importorskip("h5netcdf")
    return request.param


@pytest.fixture(scope="module")
def arm():
    """The shipped arm with stops, an event, an added channel, and a push on its hand."""
    model = kt.load("arm7")
    wrench = {model.body_names[-1]: [0.0, 0.0, 0.0, 1.0, 0.0, 0.5]}
    event = kt.Event(lambda t, q, v: t - 0.05, name="bell")
    run = kt.simulate(
        model,
        duration=0.1,
        inputs=kt.Inputs(f_ext=wrench),
        events=[event],
        controller=lambda t, q, v: -0.5 * v,
        record=kt.Record(period=1e-3),
    )
    run = run.with_channel("heat", np.linspace(0.0, 1.0, len(run)), "K", "of a motor")
    return run.with_channel("feet", np.ones((len(run), 2)), "N", labels=["left", "right"])


def test_files_keep_every_bit(tmp_path, arm, suffix):
    """States, forces, energies, labels, units, notes and settings."""
    back = kt.Trajectory.load(arm.save(tmp_path / f"run{suffix}"))
    for name in ROWS:
        assert np.array_equal(getattr(back, name), getattr(arm, name)), name
    for name in SETTINGS:
        assert getattr(back, name) == getattr(arm, name), name


def test_files_keep_what_was_added(tmp_path, arm, suffix):
    """Own channels with unit, labels and description; events with their states."""
    back = kt.Trajectory.load(arm.save(tmp_path / f"run{suffix}"))
    for name in ("heat", "feet"):
        mine, theirs = arm.channels[name], back.channels[name]
        assert np.array_equal(mine.values, theirs.values)
        assert (mine.units, mine.labels, mine.description) == (theirs.units, theirs.labels, theirs.description)
    (event,) = back.events
    assert event.name == "bell" and event.time == arm.events[0].time and np.array_equal(event.q, arm.events[0].q)


def test_files_keep_the_energy_balance(tmp_path, arm, suffix):
    """Without the model all entries of the energy balance are there, and the table reads the same."""
    back = kt.Trajectory.load(arm.save(tmp_path / f"run{suffix}"))
    assert back.model is None and set(back.energy_balance.channels) == set(arm.energy_balance.channels)
    for name, values in arm.energy_balance.channels.items():
        assert np.array_equal(back.energy_balance.channels[name], values), name
    assert back.energy_balance.table() == arm.energy_balance.table()


def test_without_the_energy_balance_it_is_computed_anew(tmp_path, arm, suffix):
    """What the run noted is in the file, wrenches too: with the model the same energy balance comes out."""
    path = arm.save(tmp_path / f"run{suffix}", energy_balance=False)
    with pytest.raises(kt.errors.KinetreeError, match="needs the model"):
        _ = kt.Trajectory.load(path).energy_balance
    back = kt.Trajectory.load(path, kt.load("arm7"))
    assert np.array_equal(back.energy_balance.remainder, arm.energy_balance.remainder)
    assert back.energy_balance.work("external wrenches") == arm.energy_balance.work("external wrenches") != 0.0


def test_the_model_gets_the_stops_of_the_run(tmp_path, arm, suffix):
    """Soft stops that the simulation added act in what is computed from a loaded run."""
    back = kt.Trajectory.load(arm.save(tmp_path / f"run{suffix}"), kt.load("arm7"))
    assert np.array_equal(back.model.limit_stiffness, arm.model.limit_stiffness)
    times = arm.time[:-1] + 3e-4
    assert np.array_equal(back.resample(times=times).a, arm.resample(times=times).a)


def test_another_model_is_refused(tmp_path, arm):
    """The first coordinate that differs is named."""
    with pytest.raises(FileFormatError, match="a run of 'arm7' with 9 position labels.*'shoulder_yaw'"):
        kt.Trajectory.load(arm.save(tmp_path / "run"), pendulum())


def _edited(path, change):
    with np.load(path) as file:
        arrays = dict(file)
    meta = json.loads(str(arrays.pop("meta")))
    change(meta, arrays)
    np.savez(path, meta=np.array(json.dumps(meta)), **arrays)


@pytest.mark.parametrize(("number", "advice"), [(99, "A newer one.*upgrade"), (2, "An older one.*simulate again")])
def test_another_format_is_refused_with_its_number(tmp_path, arm, number, advice):
    """The message says which version is read and what to do."""
    path = arm.save(tmp_path / "run.npz")
    _edited(path, lambda meta, arrays: meta.update(format=f"kinetree trajectory {number}"))
    with pytest.raises(FileFormatError, match=f"trajectory format {number}.*reads 4.*{advice}") as error:
        kt.Trajectory.load(path)
    assert error.value.version == number


@pytest.mark.parametrize("name", ["run.nc", "run.npz", "run.csv"])
def test_foreign_files_are_refused(tmp_path, name):
    """A text of another kind is no run in any format."""
    if name == "run.nc":
        pytest.importorskip("h5netcdf")
    (tmp_path / name).write_text("position,velocity\n1,2\n")
    with pytest.raises(FileFormatError, match="not a t.* of"):
        kt.Trajectory.load(tmp_path / name)


def test_a_file_with_arrays_missing_is_refused(tmp_path, arm):
    """The array is named."""
    path = arm.save(tmp_path / "run.npz")
    _edited(path, lambda meta, arrays: arrays.pop("tau"))
    with pytest.raises(FileFormatError, match="not a trajectory.*'tau'"):
        kt.Trajectory.load(path)


def test_csv_comes_back(tmp_path, arm):
    """Every number to the bit, labels and units; joints and limits come with the model."""
    path = arm.save(tmp_path / "run.csv")
    back = kt.Trajectory.load(path)
    for name in ROWS:
        assert np.array_equal(getattr(back, name), getattr(arm, name)), name
    assert back.coordinates == arm.coordinates and back.model_name == "run"
    assert np.array_equal(back.channels["feet"]["right"], arm.channels["feet"]["right"])
    assert back.channels["heat"].unit == "K" and kt.Trajectory.load(path, arm.model).frame("tool").length > 0.0


def test_csv_finds_the_joints_of_free_bodies(tmp_path):
    """Labels such as "joint.x" and "joint.quaternion w" belong to one joint."""
    run = kt.simulate(rigid_body((1, 2, 2.5)), v0=[1, 0, 0, 0, 0, 1], duration=0.01)
    assert kt.Trajectory.load(run.save(tmp_path / "run.csv")).coordinates == run.coordinates


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda lines: [lines[0], lines[1] + ",1"], "csv:2: not a table of a run .*columns, and the header has"),
        (lambda lines: lines[:1], "no rows below the header"),
        (lambda lines: [lines[0].replace("time [s]", "t")], "the first column is 't', expected 'time"),
        (lambda lines: [lines[0], lines[1].replace("0.0,", "zero,", 1)], "could not convert string to float"),
        (lambda lines: [lines[0].replace("kinetic_energy [J]", "T [J]"), lines[1]], "no column 'kinetic_energy"),
    ],
)
def test_spoiled_tables_are_refused(tmp_path, spoil, message):
    """What is wrong is said, with the line."""
    run = kt.simulate(pendulum(), [1.0], duration=0.01)
    path = run.save(tmp_path / "run.csv")
    path.write_text("\n".join(spoil(path.read_text().splitlines())) + "\n")
    with pytest.raises(FileFormatError, match=message):
        kt.Trajectory.load(path)


def test_netcdf_is_hdf5_that_others_read(tmp_path, arm):
    """h5py alone finds the states, their labels and units."""
    pytest.importorskip("xarray")
    h5py = pytest.importorskip("h5py")
    with h5py.File(arm.save(tmp_path / "run.nc")) as file:
        assert np.array_equal(file["q"][:], arm.q) and file["energy"].attrs["units"] in ("J", b"J")
        labels = [text.decode() if isinstance(text, bytes) else text for text in file["velocity"][:]]
        assert tuple(labels) == arm.coordinates.velocity_labels


def test_dataset_has_labels_units_and_meanings(arm):
    """By joint and by entry, for states, the energy balance, frames and own channels."""
    pytest.importorskip("xarray")
    data = arm.to_xarray(frames=["tool"])
    elbow = arm.coordinates.velocity_labels.index("elbow_pitch")
    assert np.array_equal(data["tau"].sel(velocity="elbow_pitch"), arm.tau[:, elbow])
    damping = arm.energy_balance.powers["damping"][:, elbow]
    assert np.array_equal(data["power.damping"].sel(velocity="elbow_pitch"), damping)
    assert np.array_equal(data["tool.position"].sel(axis="z"), arm.frame("tool").position[:, 2])
    assert np.array_equal(data["tool.rotation"], arm.frame("tool").rotation)
    assert data["energy"].attrs == {"units": "J", "long_name": "total mechanical energy"}
    assert data["q"].attrs["units_of_columns"] == "position_unit"
    assert list(data["position_unit"].values) == list(arm.coordinates.position_units)
    assert data.attrs["model"] == "arm7" and float(data["feet"].sel({"feet column": "left"})[3]) == 1.0
    assert "energy.kinetic" not in arm.to_xarray(energy_balance=False)


def test_table_of_pandas_has_pairs_of_names(arm):
    """Time is the index; columns are found by channel and entry; units are kept."""
    pytest.importorskip("pandas")
    table = arm.to_pandas(frames="tool")
    assert np.array_equal(table.index, arm.time) and table.index.name == "time [s]"
    assert np.array_equal(table["q"]["elbow_pitch"], arm.q[:, 3])
    assert np.array_equal(table["tool.rotation"]["xy"], arm.frame("tool").rotation[:, 0, 1])
    assert np.array_equal(table["energy", ""], arm.energy)
    units = table.attrs["units"]
    assert units["v", "left_finger_slide"] == "m/s" and units["heat", ""] == "K" and len(units) == table.shape[1]


def test_missing_packages_are_named(tmp_path, arm, monkeypatch):
    """With the command that installs them."""
    original = builtins.__import__

    def without(name, *args, **options):
        if name in ("xarray", "pandas", "h5netcdf"):
            raise ImportError(name)
        return original(name, *args, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    for ask, name in ((arm.to_pandas, "pandas"), (arm.to_xarray, "xarray"), (lambda: arm.save("run.h5"), "xarray")):
        with pytest.raises(MissingDependencyError, match=rf"pip install {name}, or .*data.* in a checkout"):
            ask()


# Full disks and kills ------------------------------------------------------------------------------------------------

WRITER = """
import resource, sys, kinetree as kt
path, event = sys.argv[1:]
run = kt.simulate(kt.load("double_pendulum"), [1.0, 0.5], duration=1.0)
if path.endswith(".snapshot"):
    simulation = kt.Simulation(kt.load("double_pendulum"), [1.0, 0.5])
    simulation.advance(1.0)
    run = simulation.save()
run.save(path)  # what is written to is loaded, and the file is there
print("written", flush=True)
if event == "full":
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
    try:
        run.save(path)
    except kt.errors.KinetreeError as error:
        print(error)
else:
    while True:
        run.save(path)
"""


@pytest.mark.skipif(os.name != "posix", reason="limits and signals of POSIX")
@pytest.mark.parametrize(
    ("name", "event"),
    [
        ("run.npz", "full"), ("run.nc", "full"), ("run.csv", "full"), ("run.snapshot", "full"),
        ("run.npz", "killed"), ("run.snapshot", "killed"),
    ],
)  # fmt: skip
def test_a_full_disk_or_a_kill_leaves_the_file_that_was_there(tmp_path, name, event):
    """It reads as before, nothing stays beside it, and a full disk is said with the file's name."""
    if name == "run.nc":
        pytest.importorskip("h5netcdf")
    path = tmp_path / name
    process = subprocess.Popen([sys.executable, "-c", WRITER, path, event], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "written\n"
    if event == "killed":
        time.sleep(0.1)
        process.kill()
    said = process.stdout.read()
    process.communicate(timeout=60)
    if event == "full":
        assert f"{path}: not written: File too large; the file that was there is unchanged. Make room" in said
    back = kt.simulation.Snapshot.load(path) if name == "run.snapshot" else kt.Trajectory.load(path)
    assert len(back.record["time"] if name == "run.snapshot" else back.time) in (1000, 1001)
    files.write_bytes(path, b"")  # which removes what a kill left, in the instant in which the new file has a name
    assert os.listdir(tmp_path) == [name]
