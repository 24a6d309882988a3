"""Trajectories in files: npz and NetCDF hold everything but the model, csv has labeled columns."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np

from kinetree.errors import FileFormatError, KinetreeError
from kinetree.files import replacing
from kinetree.integrators import FIXED_STEP
from kinetree.integrators.coordinates import Coordinates
from kinetree.integrators.events import Occurrence
from kinetree.model import Model
from kinetree.simulation.channels import Quantity, frozen
from kinetree.simulation.components import ImpulseEvent
from kinetree.simulation.energy_balance import EnergyBalance
from kinetree.simulation.provenance import Provenance, Session
from kinetree.simulation.run_archives import SUFFIXES, Hdf5, Npz, foreign, read_json, reading
from kinetree.simulation.run_content import (
    ARRAYS,
    EVENT_ARRAYS,
    METADATA_ARRAYS,
    check_numbers,
    check_settings,
    expected_arrays,
)
from kinetree.simulation.run_metadata import RunMetadata
from kinetree.simulation.snapshot import fingerprint
from kinetree.simulation.tables import load_csv, save_csv

SETTINGS = ("model_name", "integrator", "dt", "steps", "notes")
METADATA_VALUES = ("every", "controlled", "held", "pushed", "counts", "failed", "interrupted")
STOPS = ("lower", "upper", "limit_stiffness", "limit_damping")
BALANCE_PARTS = ("remainder", "momentum", "momentum_error", "quaternion_error", "coupling_error")
VERSION = 3  # of what is in the files; 1 had no events, energy balance, wrenches and added channels, 2 no provenance
FORMAT = re.compile(r"kinetree trajectory (\d+)")
CONTAINERS = {".npz": Npz, ".nc": Hdf5, ".h5": Hdf5}


def save(trajectory, path, energy_balance: bool | None = None) -> Path:
    """Write a trajectory; the suffix of the path chooses the format, npz without one."""
    path = Path(path)
    if path.suffix == "":
        path = path.with_suffix(".npz")
    if energy_balance and path.suffix == ".csv":
        raise KinetreeError(f"{path}: tables hold no energy balance; omit energy_balance, or save to .npz, .nc or .h5.")
    energy_balance = energy_balance is None or energy_balance
    if path.suffix == ".npz":
        meta, session, arrays = content(trajectory, energy_balance)
        texts = {name: np.array(json.dumps(x)) for name, x in (("meta", meta), ("session", session))}
        with replacing(path) as file:
            np.savez_compressed(file, **texts, **arrays)
    elif path.suffix == ".csv":
        save_csv(trajectory, path)
    elif path.suffix in (".nc", ".h5"):
        from kinetree.simulation.labeled import save_netcdf

        save_netcdf(trajectory, path, energy_balance)
    else:
        raise _unknown_suffix(path)
    return path


def check_suffix(path) -> None:
    """Refuse a path that `save` would refuse: by its suffix, or for want of a package.

    Parameters
    ----------
    path : path-like
    """
    suffix = Path(path).suffix
    if suffix in (".nc", ".h5"):
        from kinetree.simulation.labeled import need_netcdf

        need_netcdf()
    elif suffix not in ("", ".npz", ".csv"):
        raise _unknown_suffix(Path(path))


def load(path, model=None):
    """Read a file that `save` wrote."""
    path = Path(path)
    if path.suffix == "" and not path.exists():
        path = path.with_suffix(".npz")
    if model is not None and not isinstance(model, Model):
        found = type(model).__name__
        raise KinetreeError(f"Trajectory.load: model is a {found}, expected a Model, as kt.load(its file) gives it.")
    if path.suffix == ".csv":
        return with_model(load_csv(path), model, path)
    if path.suffix not in CONTAINERS:
        raise _unknown_suffix(path)
    with reading(path) as file:
        container = CONTAINERS[path.suffix](path, file)
        texts = {name: container.text(name) for name in ("meta", "session")}
        if texts["meta"] is None:
            raise foreign(path, "it has no settings")
        meta, session = (read_json(path, texts[name] or "{}", f"its {name}") for name in texts)
        check_version(path, meta.get("format") if isinstance(meta, dict) else None)
        check_settings(path, meta, session)
        names = expected_arrays(path, meta, container.headers)
        arrays = {name: container.read(name) for name in names}
        check_numbers(path, meta, arrays)
        return with_model(from_content(meta, session, arrays), model, path, meta.get("stops"))


def check_version(path: Path, written: object) -> None:
    """Refuse a file that holds something else, or that a newer version wrote."""
    found = FORMAT.fullmatch(str(written))
    if not found:
        raise FileFormatError(
            f"{path}: not a trajectory of kinetree: its format is {written!r}, "
            f"expected 'kinetree trajectory {VERSION}'.",
            file=str(path),
        )
    if not 1 <= int(found[1]) <= VERSION:
        raise FileFormatError(
            f"{path}: trajectory format {int(found[1])}, and this version of kinetree reads 1 to {VERSION}. A newer "
            "one wrote the file: upgrade with pip install --upgrade kinetree.",
            file=str(path),
            version=int(found[1]),
        )


def content(run, energy_balance: bool) -> tuple[dict, dict, dict[str, np.ndarray]]:
    """What a file holds: settings, the session, and arrays by name; equal runs differ in the session only.

    Parameters
    ----------
    run : Trajectory
    energy_balance : bool
        With the energy balance, if there is one.

    Returns
    -------
    meta, session : dict
        Plain data for JSON.
    arrays : dict of str to numpy.ndarray
    """
    arrays = {name: getattr(run, name) for name in ARRAYS}
    arrays |= {x.name: x.values for x in run.extra}
    metadata = run.metadata
    noted = {name: getattr(metadata, name) for name in METADATA_ARRAYS}
    arrays |= {f"book.{name}": values for name, values in noted.items() if values is not None}
    if run.events:
        arrays |= {f"events.{name}": np.array([getattr(e, name) for e in run.events]) for name in EVENT_ARRAYS}
    origin = asdict(run.provenance)
    session = origin.pop("session") | {"wall_time": float(run.wall_time)}
    meta = {
        "format": f"kinetree trajectory {VERSION}",
        "settings": {name: getattr(run, name) for name in SETTINGS},
        "provenance": origin,
        "samples": len(run),
        "coordinates": asdict(run.coordinates),
        "extra": [{part: getattr(x, part) for part in ("name", "units", "labels", "description")} for x in run.extra],
        "events": [
            {"name": x.name, "time": float(x.time)} | ({"joint": x.joint, "side": x.side} if x.joint else {})
            for x in run.events
        ],
        "book": {
            "method": getattr(metadata.method, "name", None),
            "every": int(metadata.every),
            "controlled": bool(metadata.controlled),
            "held": bool(metadata.held),
            "pushed": bool(metadata.pushed),
            "counts": {name: int(count) for name, count in metadata.counts.items()},
            "jumps": [asdict(impulse) for impulse in metadata.impulses],
            "failed": metadata.failed,
            "interrupted": metadata.interrupted,
        },
    }
    if run.model is not None:
        meta["stops"] = {name: np.asarray(getattr(run.model, name), dtype=float).tolist() for name in STOPS}
    if energy_balance and (run.model is not None or "energy_balance" in metadata.kept):
        found = run.energy_balance
        arrays |= found.channels
        meta["ledger"] = {
            "names": list(found.channels),
            "others": list(found.others),
            "counts": {name: int(count) for name, count in found.counts.items()},
            "labels": list(found.labels),
            "units": dict(found.units),
            "rounding": float(found.rounding),
        }
    return meta, session, arrays


def from_content(meta: dict, session: dict, arrays: dict[str, np.ndarray]):
    """The trajectory of what `content` gave, without a model."""
    from kinetree.simulation.trajectory import Trajectory

    arrays = {name: np.ascontiguousarray(x) for name, x in arrays.items()}
    coordinates = Coordinates(**{name: tuple(labels) for name, labels in meta["coordinates"].items()})
    wall_time = {name: session[name] for name in ("wall_time",) if name in session}  # a setting until version 2
    settings = meta["settings"] | {"notes": tuple(meta["settings"]["notes"])} | wall_time
    here = Session(**{name: value for name, value in session.items() if name != "wall_time"})
    origin = Provenance(**meta.get("provenance", {}), session=here)
    about = meta.get("book", {})
    impulses = tuple(ImpulseEvent(**impulse) for impulse in about.get("jumps", ()))
    metadata = RunMetadata(
        method=FIXED_STEP.get(about.get("method")),
        impulses=impulses,
        **{name: about[name] for name in METADATA_VALUES if name in about},
        **{name: frozen(arrays[f"book.{name}"]) for name in METADATA_ARRAYS if f"book.{name}" in arrays},
    )
    if "ledger" in meta:
        metadata.kept["energy_balance"] = _balance(meta["ledger"], arrays, impulses)
    events = tuple(
        Occurrence(
            event["name"],
            event["time"],
            *(arrays[f"events.{name}"][n] for name in EVENT_ARRAYS),
            event.get("joint", ""),
            event.get("side", ""),
        )
        for n, event in enumerate(meta.get("events", ()))
    )
    time = arrays["time"]
    extra = tuple(
        Quantity(
            x["name"],
            time,
            frozen(arrays[x["name"]]),
            x["units"] if isinstance(x["units"], str) else tuple(x["units"]),
            tuple(x["labels"]),
            x["description"],
            () if arrays[x["name"]].ndim == 1 else (f"{x['name']} column",),
        )
        for x in meta.get("extra", ())
    )
    columns = {name: arrays[name] for name in ARRAYS}
    return Trajectory(
        **columns, **settings, coordinates=coordinates, events=events, metadata=metadata, extra=extra, provenance=origin
    )


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
            f"{digests[0]}): what is computed from it is not of this run"
        )
        run = replace(run, notes=(*run.notes, note))
    return replace(run, model=model, coordinates=own)


def _balance(about: dict, arrays: dict[str, np.ndarray], impulses: tuple) -> EnergyBalance:
    names = [name for name in about["names"] if name not in about["others"]]
    groups = {
        group: {name.partition(".")[2]: frozen(arrays[name]) for name in names if name.startswith(f"{kind}.")}
        for group, kind in (("energies", "energy"), ("powers", "power"), ("works", "work"))
    }
    found = groups["works"].pop("jumps")
    parts = {part: frozen(arrays[part]) if part in arrays else None for part in BALANCE_PARTS}
    return EnergyBalance(
        time=frozen(arrays["time"]),
        **groups,
        **parts,
        impulses=found,
        others={name: frozen(arrays[name]) for name in about["others"]},
        counts=about["counts"],
        events=impulses,
        labels=tuple(about["labels"]),
        units=about["units"],
        rounding=about.get("rounding", 0.0),
    )


def _unknown_suffix(path: Path) -> FileFormatError:
    return FileFormatError(f"{path}: no trajectory format {path.suffix!r}. Known: {SUFFIXES}.", file=str(path))
