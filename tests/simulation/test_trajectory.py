"""The trajectory: its content, interpolation, and files."""

from __future__ import annotations

import builtins
import csv

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import FileFormatError, MissingDependencyError, NonFiniteError
from tests.analytic.mechanisms import pendulum, rigid_body, slider


@pytest.fixture(scope="module")
def top():
    """Two seconds of a tumbling free body, a sample every 20 ms."""
    model = rigid_body((0.01, 0.02, 0.025))
    return kt.simulate(model, v0=[0.5, 4.0, 0.2, 1.0, 0.0, 0.0], duration=2.0, dt=0.02, integrator="adaptive")


def test_accelerations_and_energies_are_those_of_the_states(top):
    """a and the energies are the model's own at the recorded states; their sum is the total."""
    assert top.a == pytest.approx(kt.forward_dynamics(top.model, top.q, top.v, top.tau), abs=0)
    assert top.kinetic_energy == pytest.approx(kt.kinetic_energy(top.model, top.q, top.v), abs=0)
    assert top.energy == pytest.approx(top.kinetic_energy + top.potential_energy + top.elastic_energy, abs=0)


def test_trajectory_cannot_be_changed(top):
    """The record is frozen, its arrays too."""
    with pytest.raises(ValueError, match="read-only"):
        top.q[0, 0] = 1.0
    with pytest.raises(AttributeError):
        top.dt = 2.0


def test_labels_and_units(top):
    """A joint with several coordinates labels each of them; units follow."""
    c = top.coordinates
    assert c.position_labels[:3] == ("joint.x", "joint.y", "joint.z") and c.position_units[:4] == ("m", "m", "m", "1")
    assert c.velocity_units == ("rad/s",) * 3 + ("m/s",) * 3
    assert c.force_units == ("N m",) * 3 + ("N",) * 3
    assert len(top) == 101 and "top" in repr(top)


def test_state_at_a_sample_is_the_sample(top):
    """Interpolation passes through the samples."""
    q, v = top.state(top.time)
    assert v == pytest.approx(top.v, abs=1e-12)
    same = np.sign(np.sum(q[:, 3:] * top.q[:, 3:], axis=1))[:, None]
    assert q[:, :3] == pytest.approx(top.q[:, :3], abs=1e-12)
    assert same * q[:, 3:] == pytest.approx(top.q[:, 3:], abs=1e-12)


def test_state_between_samples_is_on_the_manifold_and_of_fourth_order(top):
    """Between samples quaternions are unit, and the error is O(h^4): h = 20 ms, 4 rad/s: (h w)^4 / 384 x few = 1e-6."""
    t = top.time[:-1] + 0.007
    q, v = top.state(t)
    assert np.linalg.norm(q[:, 3:], axis=1) == pytest.approx(1.0, abs=1e-14)
    fine = kt.simulate(top.model, top.q[0], top.v[0], duration=2.0, dt=1e-3, integrator="adaptive")
    exact = fine.q[7::20]
    assert np.max(np.abs(kt.difference(top.model, exact, q))) < 1e-6
    assert v == pytest.approx(fine.v[7::20], abs=1e-5)


def test_state_outside_the_run_is_an_error(top):
    """Extrapolation is not offered."""
    with pytest.raises(NonFiniteError, match=r"outside the run \[0, 2\] s"):
        top.state(2.1)


def test_state_of_a_single_time_has_no_batch_axis(top):
    """A scalar time gives one state."""
    q, v = top.state(0.333)
    assert q.shape == (7,) and v.shape == (6,)


def test_saving_and_loading_is_the_identity(tmp_path, top):
    """npz keeps every bit of every array, the labels, notes and settings."""
    path = top.save(tmp_path / "run")
    assert path == tmp_path / "run.npz"
    back = kt.Trajectory.load(path)
    for name in ("time", "q", "v", "a", "tau", "kinetic_energy", "potential_energy", "elastic_energy", "energy"):
        assert np.array_equal(getattr(back, name), getattr(top, name)), name
    for name in ("model_name", "coordinates", "integrator", "dt", "steps", "wall_time", "notes"):
        assert getattr(back, name) == getattr(top, name), name


def test_loaded_trajectory_needs_the_model_for_interpolation(tmp_path, top):
    """Without the model the message says how to give it; with it, states are the same."""
    path = top.save(tmp_path / "run.npz")
    with pytest.raises(kt.errors.KinetreeError, match="load it with Trajectory.load"):
        kt.Trajectory.load(path).state(0.5)
    assert np.array_equal(kt.Trajectory.load(path, top.model).state(0.5)[0], top.state(0.5)[0])


def test_csv_has_labeled_columns_with_units(tmp_path, top):
    """One header line, one row per sample; numbers read back to the same bits."""
    with top.save(tmp_path / "run.csv").open() as file:
        rows = list(csv.reader(file))
    assert rows[0][:2] == ["time [s]", "q joint.x [m]"] and "tau joint.vz [N]" in rows[0]
    assert len(rows) == len(top) + 1
    assert [float(row[rows[0].index("v joint.wy [rad/s]")]) for row in rows[1:]] == top.v[:, 1].tolist()


def test_unknown_suffix_lists_the_formats(tmp_path, top):
    """No format is guessed."""
    with pytest.raises(FileFormatError, match=r"'.dat'. Known: .npz"):
        top.save(tmp_path / "run.dat")


def test_a_foreign_file_is_refused(tmp_path):
    """An npz that is no trajectory says so."""
    np.savez(tmp_path / "other.npz", x=np.zeros(3))
    with pytest.raises(FileFormatError, match="not a trajectory of kinetree"):
        kt.Trajectory.load(tmp_path / "other.npz")


def test_netcdf_without_xarray_names_the_command(tmp_path, top, monkeypatch):
    """The optional package is named with the command that installs it."""
    original = builtins.__import__

    def without_xarray(name, *args, **options):
        if name == "xarray":
            raise ImportError(name)
        return original(name, *args, **options)

    monkeypatch.setattr(builtins, "__import__", without_xarray)
    with pytest.raises(MissingDependencyError, match="pip install xarray"):
        top.save(tmp_path / "run.nc")


def test_xarray_dataset_has_labeled_axes(top):
    """With xarray installed, the dataset finds coordinates by name."""
    pytest.importorskip("xarray")
    data = top.to_xarray()
    assert np.array_equal(data.q.sel(position="joint.z").values, top.q[:, 2])


def test_energy_drift_is_relative_to_the_kinetic_energy():
    """A mass without losses and forces but gravity: the drift of an exact solution is rounding."""
    run = kt.simulate(slider(axis=(0, 0, 1)), v0=[3.0], duration=0.5, dt=0.01, integrator="rk4")
    assert run.energy_drift < 1e-13
    damped = kt.simulate(pendulum(damping=0.5), [1.0], duration=1.0)
    assert damped.energy_drift > 0.1
