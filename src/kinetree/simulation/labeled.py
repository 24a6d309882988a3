"""Runs as labeled arrays: xarray datasets, NetCDF files of them, pandas tables."""

from __future__ import annotations

import io
import re
from pathlib import Path

import numpy as np

from kinetree.errors import MissingDependencyError
from kinetree.files import replacing
from kinetree.simulation.channels import SAMPLED, Quantity
from kinetree.simulation.contacts import place_channels
from kinetree.simulation.run_archives import INSTALL, SLASH
from kinetree.simulation.storage import as_json, content
from kinetree.simulation.tables import columns


def to_xarray(run, frames=(), energy_balance: bool = True):
    """The run as a dataset: see `Trajectory.to_xarray`.

    Parameters
    ----------
    run : Trajectory
    frames : sequence of str
    energy_balance : bool

    Returns
    -------
    xarray.Dataset
    """
    xarray = _package("xarray", "labeled trajectories (to_xarray, .nc and .h5 files)")
    c = run.coordinates
    coords = {"time": ("time", run.time, {"units": "s", "long_name": "simulated time"})}
    for axis in ("position", "velocity"):
        entries = [x for x in SAMPLED.values() if x.axis == axis]
        about = {"long_name": f"entry of {', '.join(x.name for x in entries)}"}
        coords[axis] = (axis, list(getattr(c, f"{axis}_labels")), about)
        coords[f"{axis}_joint"] = (axis, list(getattr(c, f"{axis}_joints")))
        coords |= {x.units.removesuffix("s"): (axis, list(getattr(c, x.units))) for x in entries}
    data = {}
    for quantity in _quantities(run, frames, energy_balance):
        data[quantity.name] = (("time", *quantity.dims), quantity.values, _attributes(quantity))
        for dim in quantity.dims:
            labels = {"axis": list("xyz"), "row": list("xyz"), "column": list("xyz")}.get(dim, list(quantity.labels))
            if dim not in coords and labels:
                coords[dim] = (dim, labels)
    return xarray.Dataset(data, coords, _about(run))


def to_pandas(run, frames=()):
    """The run as a table: see `Trajectory.to_pandas`.

    Parameters
    ----------
    run : Trajectory
    frames : sequence of str

    Returns
    -------
    pandas.DataFrame
    """
    pandas = _package("pandas", "tables (to_pandas)")
    columns, units = {}, {}
    for x in _quantities(run, frames, energy_balance=False):
        for label, unit, values in x.entries:
            columns[x.name, label], units[x.name, label] = values, unit
    keys = pandas.MultiIndex.from_tuples(list(columns), names=("channel", "entry"))
    table = pandas.DataFrame(
        np.column_stack(list(columns.values())), index=pandas.Index(run.time, name="time [s]"), columns=keys
    )
    table.attrs["units"] = units
    return table


def need_netcdf() -> None:
    """Raise an error if packages for NetCDF files are missing."""
    _package("xarray", "NetCDF files")
    _package("h5netcdf", "NetCDF files")


def save_netcdf(run, path: Path, energy_balance: bool) -> None:
    """Write the dataset, with all that a file of a run holds besides."""
    need_netcdf()
    meta, session, arrays = content(run, energy_balance)
    dataset = to_xarray(run, energy_balance=energy_balance)
    for name, values in arrays.items():
        if name not in dataset.variables:
            first = "event" if name.startswith("events.") else "time"
            second = {"q": "position", "v": "velocity"}.get(name.partition(".")[2][:1]) if first == "event" else None
            own = [f"{name} {n}" for n in range(1, values.ndim)]
            dataset[name] = ((first, *([second] if second else own)), values)
    names = {name: name.replace("/", SLASH) for name in (*dataset.variables, *dataset.dims) if "/" in name}
    dataset = dataset.rename(names).assign_attrs(kinetree=as_json(meta), session=as_json(session))
    packed = {name: {"zlib": True, "complevel": 4} for name, x in dataset.data_vars.items() if x.size > 1000}
    with replacing(path) as file:
        memory = io.BytesIO()  # HDF5 writes at changing positions, and discards the system's error of a full disk
        dataset.to_netcdf(memory, engine="h5netcdf", encoding=packed)
        file.write(memory.getbuffer())


def need_parquet() -> None:
    """Raise an error if the package for parquet files is missing."""
    _package("pyarrow", "parquet files")


def save_parquet(run, path: Path) -> None:
    """Write the columns of a csv file as a parquet file, with model, integrator and notes in its metadata."""
    need_parquet()
    import pyarrow.parquet

    table = pyarrow.table(dict(columns(run))).replace_schema_metadata({"kinetree": as_json(_about(run))})
    with replacing(path) as file:
        memory = io.BytesIO()
        pyarrow.parquet.write_table(table, memory)
        file.write(memory.getbuffer())


def save_mat(run, path: Path) -> None:
    """Write the channels as variables of a MATLAB file, with the structures ``labels``, ``units`` and ``about``."""
    from scipy.io import savemat

    data, labels, units = {"time": run.time}, {}, {"time": "s"}
    for x in _quantities(run, (), energy_balance=False):
        name = re.sub(r"\W", "_", x.name)[:63]
        data[name] = x.values
        labels[name] = np.array([label for label, _, _ in x.entries], dtype=object)
        units[name] = np.array([unit for _, unit, _ in x.entries], dtype=object)
    with replacing(path) as file:
        memory = io.BytesIO()
        about = {"labels": labels, "units": units, "about": _about(run)}
        savemat(memory, data | about, long_field_names=True, do_compression=True, oned_as="column")
        file.write(memory.getbuffer())


def _about(run) -> dict:
    return {"model": run.model_name, "integrator": run.integrator, "dt": run.dt, "notes": "\n".join(run.notes)}


def _quantities(run, frames, energy_balance: bool) -> list[Quantity]:
    channels = run.channels
    names = list(channels) if energy_balance else [*SAMPLED, *(x.name for x in (*run.extra, *place_channels(run)))]
    frames = (frames,) if isinstance(frames, str) else frames
    found = [channels[name] for name in names]
    return found + [quantity for frame in frames for quantity in run.frame(frame).channels.values()]


def _attributes(x: Quantity) -> dict[str, str]:
    """Unit and meaning; where columns have different units, the coordinate that has them."""
    attributes = {"long_name": x.description} if x.description else {}
    if x.unit != "mixed":
        return {"units": x.unit} | attributes
    known = SAMPLED.get(x.name)
    units = known.units.removesuffix("s") if known else ", ".join(x.column_units)
    return {"units_of_columns": units} | attributes


def _package(name: str, what: str):
    try:
        return __import__(name)
    except ImportError as error:
        raise MissingDependencyError(f"{what} need {name}: pip install {name}, or {INSTALL}", package=name) from error
