"""Trajectories in files: npz and NetCDF hold everything but the model, csv has labeled columns."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np

from kinetree.errors import FileFormatError, KinetreeError
from kinetree.files import replacing
from kinetree.integrators.coordinates import Coordinates
from kinetree.model import Model
from kinetree.simulation import run_content
from kinetree.simulation.picture_formats import PICTURES, refuse_options_of_pictures
from kinetree.simulation.run_archives import SUFFIXES, Hdf5, Npz, foreign, read_json, reading
from kinetree.simulation.run_content import FORMAT, STOPS, content
from kinetree.simulation.snapshot import fingerprint
from kinetree.simulation.tables import load_csv, save_csv

TABLES = (".csv", ".parquet", ".mat")
CONTAINERS = {".npz": Npz, ".nc": Hdf5, ".h5": Hdf5}


def save(trajectory, path, energy_balance: bool | None = None, **view) -> Path:
    """Write a trajectory; the suffix chooses the format, npz without one; options of pictures are refused."""
    path = Path(path)
    refuse_options_of_pictures("Trajectory.save", path, view)
    if path.suffix == "":
        path = path.with_suffix(".npz")
    if energy_balance and path.suffix in TABLES:
        raise KinetreeError(f"{path}: tables hold no energy balance; omit energy_balance, or save to .npz, .nc or .h5.")
    energy_balance = energy_balance is None or energy_balance
    if path.suffix == ".npz":
        meta, session, arrays = content(trajectory, energy_balance)
        texts = {name: np.array(as_json(x)) for name, x in (("meta", meta), ("session", session))}
        with replacing(path) as file:
            np.savez_compressed(file, **texts, **arrays)
    elif path.suffix == ".csv":
        save_csv(trajectory, path)
    elif path.suffix in (".nc", ".h5"):
        from kinetree.simulation.labeled import save_netcdf

        save_netcdf(trajectory, path, energy_balance)
    elif path.suffix in (".parquet", ".mat"):
        from kinetree.simulation import labeled

        (labeled.save_parquet if path.suffix == ".parquet" else labeled.save_mat)(trajectory, path)
    else:
        raise _unknown_suffix(path)
    return path


def check_suffix(path) -> None:
    """Raise the error of `save` for a path: by its suffix, or for a missing package.

    Parameters
    ----------
    path : path-like
    """
    suffix = Path(path).suffix
    if suffix in (".nc", ".h5"):
        from kinetree.simulation.labeled import need_netcdf

        need_netcdf()
    elif suffix == ".parquet":
        from kinetree.simulation.labeled import need_parquet

        need_parquet()
    elif suffix not in ("", ".npz", *TABLES, *PICTURES):
        raise _unknown_suffix(Path(path))


def load(path, model=None):
    """Read a file that `save` wrote."""
    from kinetree.simulation.trajectory import Trajectory

    path = Path(path)
    if path.suffix == "" and not path.exists():
        path = path.with_suffix(".npz")
    if model is not None and not isinstance(model, Model):
        found = type(model).__name__
        raise KinetreeError(f"Trajectory.load: model is a {found}, expected a Model, as kt.load(its file) gives it.")
    if path.suffix == ".csv":
        return with_model(load_csv(path), model, path)
    if path.suffix in TABLES:
        raise KinetreeError(
            f"{path}: {path.suffix} files are for other programs; save to .npz or .nc to load a run again."
        )
    if path.suffix not in CONTAINERS:
        raise _unknown_suffix(path)
    with reading(path) as file:
        container = CONTAINERS[path.suffix](path, file)
        if container.text("meta") is None:
            raise foreign(path, "it has no settings")
        meta, session = (read_json(path, container.text(x) or "{}", f"its {x}") for x in ("meta", "session"))
        check_version(path, meta.get("format") if isinstance(meta, dict) else None)
        run_content.check_settings(path, meta, session)
        names = run_content.expected_arrays(path, meta, container.headers)
        arrays = {name: container.read(name) for name in names}
        run_content.check_numbers(path, meta, arrays)
        run = Trajectory(**run_content.from_content(meta, session, arrays))
        return with_model(run, model, path, meta.get("stops"))


def check_version(path: Path, written: object) -> None:
    """Raise an error for a file with other content, or of another version."""
    if written == FORMAT:
        return
    found = re.fullmatch(r"kinetree trajectory (\d+)", str(written))
    if not found:
        raise FileFormatError(
            f"{path}: not a trajectory of kinetree: its format is {written!r}, expected {FORMAT!r}.", file=str(path)
        )
    number, own = int(found[1]), int(FORMAT.split()[-1])
    fix = "A newer one wrote the file: upgrade with pip install --upgrade kinetree."
    raise FileFormatError(
        f"{path}: trajectory format {number}, and this version of kinetree reads {own}. "
        f"{fix if number > own else 'An older one wrote the file: read it with that, or simulate again.'}",
        file=str(path), version=number,
    )  # fmt: skip


def as_json(data: dict) -> str:
    """The text of plain data; numbers of NumPy are numbers, too."""
    return json.dumps(data, default=np.generic.item)


def with_model(run, model, path: Path, stops: dict | None = None):
    """The run with its model, which must have the same coordinates; it gets the stops that it was simulated with."""
    if model is None:
        return run
    own = Coordinates.of(model)
    for what in ("position_labels", "velocity_labels"):
        mine, theirs = getattr(own, what), getattr(run.coordinates, what)
        if mine != theirs:
            differ = (n for n, (a, b) in enumerate(zip(mine, theirs, strict=False)) if a != b)
            n = next(differ, min(len(mine), len(theirs)))
            raise FileFormatError(
                f"{path}: a run of {run.model_name!r} with {len(theirs)} {what.replace('_', ' ')}; the model "
                f"{model.name!r} has {len(mine)}. The first that differ: {theirs[n : n + 1]} in the file, "
                f"{mine[n : n + 1]} in the model.",
                file=str(path),
            )
    given = fingerprint(model)
    if stops and any(not np.array_equal(np.asarray(getattr(model, name), float), stops[name]) for name in STOPS):
        model = model.replace(**{name: np.array(stops[name]) for name in STOPS})
    digests = (run.provenance.digest, run.provenance.simulated_digest)
    if any(digests) and not {given, fingerprint(model)} & set(digests):
        note = (
            f"{path.name} was loaded with a model of other numbers than the one simulated (digest {given}, of the run "
            f"{digests[0]}): results computed from it do not belong to this run"
        )
        run = replace(run, notes=(*run.notes, note))
    return replace(run, model=model, coordinates=own)


def _unknown_suffix(path: Path) -> FileFormatError:
    return FileFormatError(
        f"{path}: no trajectory format {path.suffix!r}. Known: {SUFFIXES}; of pictures {', '.join(PICTURES)}.",
        file=str(path),
    )
