"""Runs as parquet and MATLAB files: the same numbers, with labels and units; other programs read them."""

from __future__ import annotations

import functools
import json

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import KinetreeError, MissingDependencyError
from kinetree.simulation.tables import columns


@functools.cache
def run():
    return kt.simulate(kt.load("arm7"), duration=0.05, seed=1)


def test_parquet(tmp_path):
    """Every column of the csv file to the bit; the model in the metadata; pandas reads it."""
    pyarrow = pytest.importorskip("pyarrow.parquet", reason="the package pyarrow is not installed")
    path = run().save(tmp_path / "run.parquet")
    table = pyarrow.read_table(path)
    expected = columns(run())
    assert table.column_names == [label for label, _ in expected]
    for label, values in expected:
        assert np.array_equal(table[label].to_numpy(), values)
    about = json.loads(table.schema.metadata[b"kinetree"])
    assert about["model"] == "arm7" and about["integrator"] == run().integrator
    import pandas

    assert len(pandas.read_parquet(path)) == len(run())


def test_matlab(tmp_path):
    """Channels as matrices, with labels and units in structures, read by SciPy; an energy is that of the model."""
    from scipy.io import loadmat

    found = loadmat(run().save(tmp_path / "run.mat"), simplify_cells=True)
    assert np.array_equal(found["time"], run().time) and np.array_equal(found["q"], run().q)
    assert np.array_equal(found["v"], run().v)
    assert list(found["labels"]["q"]) == list(run().coordinates.position_labels)
    assert found["units"]["time"] == "s" and found["about"]["model"] == "arm7"
    energy = [kt.kinetic_energy(kt.load("arm7"), q, v) for q, v in zip(found["q"], found["v"], strict=True)]
    assert np.allclose(energy, run().kinetic_energy, rtol=1e-12)


def test_they_are_written_for_other_programs(tmp_path, monkeypatch):
    """Loading them is refused with the formats that keep everything; no energy balance; without pyarrow the command."""
    path = run().save(tmp_path / "run.mat")
    with pytest.raises(KinetreeError, match="for other programs.*npz"):
        kt.Trajectory.load(path)
    with pytest.raises(KinetreeError, match="no energy balance"):
        run().save(tmp_path / "run.parquet", energy_balance=True)
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(MissingDependencyError, match="pip install pyarrow"):
        run().save(tmp_path / "other.parquet")
    assert not (tmp_path / "other.parquet").exists()
