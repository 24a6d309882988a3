"""Trajectories in files: npz (complete), csv (labeled columns), NetCDF through xarray."""

from __future__ import annotations

import csv
import json
import zipfile
from dataclasses import asdict
from pathlib import Path

import numpy as np

from kinetree.errors import FileFormatError, MissingDependencyError
from kinetree.integrate.coordinates import Coordinates

ARRAYS = ("time", "q", "v", "a", "tau", "kinetic_energy", "potential_energy", "elastic_energy")
SETTINGS = ("model_name", "integrator", "dt", "steps", "wall_time", "notes")
FORMAT = "kinetree trajectory 1"


def save(trajectory, path) -> Path:
    """Write a trajectory; the suffix of the path chooses the format, npz without one."""
    path = Path(path)
    writers = {".npz": _save_npz, ".csv": _save_csv, ".nc": _save_netcdf}
    if path.suffix == "":
        path = path.with_suffix(".npz")
    if path.suffix not in writers:
        raise FileFormatError(
            f"{path}: no trajectory format {path.suffix!r}. Known: .npz (complete), .csv (columns), .nc (NetCDF).",
            file=str(path),
        )
    writers[path.suffix](trajectory, path)
    return path


def load(path, model=None):
    """Read the npz file that `save` wrote."""
    from kinetree.simulate.trajectory import Trajectory

    path = Path(path)
    if path.suffix == "" and not path.exists():
        path = path.with_suffix(".npz")
    try:
        with np.load(path, allow_pickle=False) as file:
            meta = json.loads(str(file["meta"]))
            arrays = {name: file[name] for name in ARRAYS}
    except (KeyError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise FileFormatError(
            f"{path}: not a trajectory of kinetree ({error}). Trajectory.load reads the .npz files of Trajectory.save.",
            file=str(path),
        ) from error
    if meta.get("format") != FORMAT:
        raise FileFormatError(f"{path}: trajectory format {meta.get('format')!r}, expected {FORMAT!r}.", file=str(path))
    coordinates = Coordinates(**{name: tuple(labels) for name, labels in meta["coordinates"].items()})
    settings = meta["settings"] | {"notes": tuple(meta["settings"]["notes"])}
    return Trajectory(**arrays, **settings, coordinates=coordinates, model=model)


def columns(trajectory) -> list[tuple[str, np.ndarray]]:
    """All columns as (label with unit, values)."""
    c = trajectory.coordinates
    tables = (
        ("q", trajectory.q, c.position_labels, c.position_units),
        ("v", trajectory.v, c.velocity_labels, c.velocity_units),
        ("a", trajectory.a, c.velocity_labels, c.acceleration_units),
        ("tau", trajectory.tau, c.velocity_labels, c.force_units),
    )
    result = [("time [s]", trajectory.time)]
    for symbol, table, labels, units in tables:
        result += [(f"{symbol} {label} [{unit}]", x) for label, unit, x in zip(labels, units, table.T, strict=True)]
    energies = ("kinetic_energy", "potential_energy", "elastic_energy", "energy")
    return result + [(f"{name} [J]", getattr(trajectory, name)) for name in energies]


def to_xarray(trajectory):
    """The trajectory as an xarray.Dataset."""
    xarray = _xarray()
    c = trajectory.coordinates
    data = {
        "q": (("time", "position"), trajectory.q, {"long_name": "joint positions"}),
        "v": (("time", "velocity"), trajectory.v, {"long_name": "joint velocities"}),
        "a": (("time", "velocity"), trajectory.a, {"long_name": "joint accelerations"}),
        "tau": (("time", "velocity"), trajectory.tau, {"long_name": "joint forces"}),
    }
    for name in ("kinetic_energy", "potential_energy", "elastic_energy", "energy"):
        data[name] = (("time",), getattr(trajectory, name), {"units": "J"})
    coords = {
        "time": ("time", trajectory.time, {"units": "s"}),
        "position": ("position", list(c.position_labels)),
        "velocity": ("velocity", list(c.velocity_labels)),
        "position_unit": ("position", list(c.position_units)),
        "velocity_unit": ("velocity", list(c.velocity_units)),
        "force_unit": ("velocity", list(c.force_units)),
    }
    attributes = {"model": trajectory.model_name, "integrator": trajectory.integrator, "dt": trajectory.dt}
    return xarray.Dataset(data, coords, attributes | {"notes": "\n".join(trajectory.notes)})


def _save_npz(trajectory, path: Path) -> None:
    meta = {
        "format": FORMAT,
        "settings": {name: getattr(trajectory, name) for name in SETTINGS},
        "coordinates": asdict(trajectory.coordinates),
    }
    arrays = {name: getattr(trajectory, name) for name in ARRAYS}
    np.savez_compressed(path, meta=np.array(json.dumps(meta)), **arrays)


def _save_csv(trajectory, path: Path) -> None:
    table = columns(trajectory)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([label for label, _ in table])
        # repr of a float reads back to the same bits
        writer.writerows([repr(float(x)) for x in row] for row in np.column_stack([x for _, x in table]))


def _save_netcdf(trajectory, path: Path) -> None:
    dataset = to_xarray(trajectory)
    try:
        dataset.to_netcdf(path)
    except (ImportError, ValueError) as error:
        if isinstance(error, ValueError) and "engine" not in str(error) and "backend" not in str(error):
            raise
        raise MissingDependencyError(
            "writing NetCDF files needs a backend of xarray: pip install h5netcdf h5py", package="h5netcdf"
        ) from error


def _xarray():
    try:
        import xarray
    except ImportError as error:
        raise MissingDependencyError(
            "labeled trajectories (to_xarray and .nc files) need xarray: pip install xarray h5netcdf h5py",
            package="xarray",
        ) from error
    return xarray
