"""Content of a file of a run: settings and arrays, their kinds and shapes, and a run made of them."""

from __future__ import annotations

import math
from dataclasses import asdict, fields
from pathlib import Path

import numpy as np

from kinetree.errors import FileFormatError
from kinetree.integrators import FIXED_STEP
from kinetree.integrators.coordinates import Coordinates
from kinetree.integrators.events import Occurrence
from kinetree.simulation.channels import BALANCE, SAMPLED, STORED, Quantity, frozen
from kinetree.simulation.components import ImpulseEvent
from kinetree.simulation.contacts import Candidate, place_channels
from kinetree.simulation.energy_balance import EnergyBalance
from kinetree.simulation.memory import available_memory
from kinetree.simulation.provenance import Provenance, Session
from kinetree.simulation.resampling import ACTING
from kinetree.simulation.run_archives import Header, foreign
from kinetree.simulation.run_metadata import RunMetadata

FORMAT = "kinetree trajectory 4"
STATES = ("time", "q", "v")
EVENT_ARRAYS = ("q", "v", "q_after", "v_after")

# Kinds: a type; a tuple of alternatives; [of each entry]; {name: of its value}, "?" behind names that may be missing
# and the type str for any name. Names of tables are those of the objects that they are written from and read into.
_TEXTS, _NUMBERS, _COUNTS = [str], [float], {str: int}
SETTINGS = {"model_name": str, "integrator": str, "dt": float, "steps": (int, None), "notes": _TEXTS}
METADATA = {
    "every": int, "controlled": bool, "constant_tau": bool, "constant_wrenches": bool, "counts": _COUNTS,
    "failed": str, "interrupted": str,
}  # fmt: skip
EXTRA = {"name": str, "units": (str, _TEXTS), "labels": _TEXTS, "description": str}
EVENT = {"name": str, "time": float, "joint": str, "side": str}
STOPS = {name: _NUMBERS for name in ("lower", "upper", "limit_stiffness", "limit_damping")}
BALANCE_SETTINGS = {"counts": _COUNTS, "labels": _TEXTS, "units": {str: str}, "rounding": float}
META = {
    "format": str,
    "settings": SETTINGS,
    "provenance": {"version": str, "digest": str, "simulated_digest": str, "seed": (int, None)},
    "samples": int,
    "coordinates": {x.name: _TEXTS for x in fields(Coordinates)},
    "extra": [EXTRA],
    "events": [EVENT],
    "metadata": METADATA | {
        "method": (str, None), "impulses": [{"time": float, "label": str, "energy": float, "joint": str}],
    },
    "contacts?": [{x.name: float if x.name == "friction" else str for x in fields(Candidate)}],
    "stops?": STOPS,
    "energy_balance?": BALANCE_SETTINGS | {"names": _TEXTS, "others": _TEXTS},
}  # fmt: skip
SESSION = {x.name: str for x in fields(Session)} | {"wall_time": float}
_WORDS = {str: "a text", int: "a whole number", float: "a number", bool: "true or false", None: "null"}


def content(run, energy_balance: bool) -> tuple[dict, dict, dict[str, np.ndarray]]:
    """Content of a file: settings, the session, and arrays by name; equal runs differ in the session only.

    Parameters
    ----------
    run : Trajectory
    energy_balance : bool
        With the energy balance, if there is one.

    Returns
    -------
    meta, session : dict
        Plain data for JSON, of the kinds in ``META`` and ``SESSION``.
    arrays : dict of str to numpy.ndarray
    """
    metadata = run.metadata
    extra = (*run.extra, *place_channels(run))
    arrays = {name: getattr(run, name) for name in STORED} | {x.name: x.values for x in extra}
    acting = {f"metadata.{name}": getattr(metadata, name) for name in ACTING}
    arrays |= {name: values for name, values in acting.items() if values is not None}
    if run.events:
        arrays |= {f"events.{name}": np.array([getattr(e, name) for e in run.events]) for name in EVENT_ARRAYS}
    origin = asdict(run.provenance)
    session = origin.pop("session") | {"wall_time": float(run.wall_time)}
    meta = {
        "format": FORMAT,
        "settings": _parts(run, SETTINGS),
        "provenance": origin,
        "samples": len(run),
        "coordinates": asdict(run.coordinates),
        "extra": [_parts(x, EXTRA) for x in extra],
        "events": [_parts(x, EVENT) for x in run.events],
        "metadata": _parts(metadata, METADATA)
        | {"method": getattr(metadata.method, "name", None), "impulses": [asdict(x) for x in metadata.impulses]},
    }
    if metadata.contacts:
        meta["contacts"] = [asdict(x) for x in metadata.contacts]
    if run.model is not None:
        meta["stops"] = {name: np.asarray(getattr(run.model, name), dtype=float).tolist() for name in STOPS}
    if energy_balance and (run.model is not None or "energy_balance" in metadata.kept):
        balance = run.energy_balance
        arrays |= balance.channels
        names = {"names": list(balance.channels), "others": list(balance.others)}
        meta["energy_balance"] = _parts(balance, BALANCE_SETTINGS) | names
    return meta, session, arrays


def _parts(source, names) -> dict:
    return {name: getattr(source, name) for name in names}


def from_content(meta: dict, session: dict, arrays: dict[str, np.ndarray]) -> dict:
    """The arguments of a `Trajectory` from the result of `content`; there is no model."""
    arrays = {name: frozen(np.ascontiguousarray(x)) for name, x in arrays.items()}
    about, session = dict(meta["metadata"]), dict(session)
    about |= {name: arrays[f"metadata.{name}"] for name in ACTING if f"metadata.{name}" in arrays}
    impulses = tuple(ImpulseEvent(**x) for x in about.pop("impulses"))
    about["contacts"] = tuple(Candidate(**x) for x in meta.get("contacts", ()))
    metadata = RunMetadata(method=FIXED_STEP.get(about.pop("method")), impulses=impulses, **about)
    if "energy_balance" in meta:
        metadata.kept["energy_balance"] = _balance(meta["energy_balance"], arrays, metadata.impulses)
    states = zip(*(arrays[f"events.{name}"] for name in EVENT_ARRAYS), strict=True) if meta["events"] else ()
    events = (
        Occurrence(x["name"], x["time"], *state, x["joint"], x["side"])
        for x, state in zip(meta["events"], states, strict=True)
    )
    return {name: arrays[name] for name in STORED} | meta["settings"] | {
        "notes": tuple(meta["settings"]["notes"]),
        "wall_time": session.pop("wall_time"),
        "coordinates": Coordinates(**{name: tuple(labels) for name, labels in meta["coordinates"].items()}),
        "events": tuple(events),
        "metadata": metadata,
        "extra": tuple(_extra(x, arrays) for x in meta["extra"]),
        "provenance": Provenance(**meta["provenance"], session=Session(**session)),
    }  # fmt: skip


def _extra(about: dict, arrays: dict[str, np.ndarray]) -> Quantity:
    name, units, values = about["name"], about["units"], arrays[about["name"]]
    units, dims = units if isinstance(units, str) else tuple(units), () if values.ndim == 1 else (f"{name} column",)
    return Quantity(name, arrays["time"], values, units, tuple(about["labels"]), about["description"], dims)


def _balance(about: dict, arrays: dict[str, np.ndarray], impulses: tuple) -> EnergyBalance:
    groups = {kind: {} for kind in BALANCE}
    for name in about["names"]:
        kind, _, source = name.partition(".")
        if name not in about["others"]:
            groups[kind][source] = arrays[name]
    energies, powers, works = (groups.pop(kind) for kind in ("energy", "power", "work"))
    return EnergyBalance(
        time=arrays["time"],
        energies=energies,
        powers=powers,
        works=works,
        **{name: found.get("") for name, found in groups.items()},
        others={name: arrays[name] for name in about["others"]},
        events=impulses,
        **{name: tuple(about[name]) if name == "labels" else about[name] for name in BALANCE_SETTINGS},
    )


# Checks ---------------------------------------------------------------------------------------------------------------


def check_kinds(path: Path, value, kind, where: str) -> None:
    """Raise an error for plain data that is not of a kind, as in ``META``.

    Parameters
    ----------
    path : Path
    value : object
        Content of a file.
    kind : object
    where : str
        Its name in the file.
    """
    if isinstance(kind, tuple):
        if not any(_is_of(value, one) for one in kind):
            raise foreign(path, f"{where} is {_shown(value)}")
        kind = next(one for one in kind if _is_of(value, one))
    if not _is_of(value, kind):
        raise foreign(path, f"{where} is {_shown(value)}, expected {_words(kind)}")
    if isinstance(kind, list):
        for n, entry in enumerate(value):
            check_kinds(path, entry, kind[0], f"{where}[{n}]")
    elif isinstance(kind, dict) and str in kind:
        for name, entry in value.items():
            check_kinds(path, entry, kind[str], f"{where}.{name}")
    elif isinstance(kind, dict):
        known = {name.rstrip("?"): one for name, one in kind.items()}
        for name in (*value, *(name for name in kind if not name.endswith("?"))):
            if name not in known or name not in value:
                raise foreign(path, f"{where} {'has' if name in value else 'lacks'} {name!r}")
        for name, entry in value.items():
            check_kinds(path, entry, known[name], f"{where}.{name}")


def _is_of(value, kind) -> bool:
    if kind is float:
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return value is None if kind is None else isinstance(value, kind if isinstance(kind, type) else type(kind))


def _words(kind) -> str:
    return _WORDS[kind] if kind in (None, str, int, float, bool) else "a list" if isinstance(kind, list) else "a table"


def _shown(value) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def check_settings(path: Path, meta: dict, session: dict) -> None:
    """Raise an error for settings that are not those of a run."""
    check_kinds(path, meta, META, "the settings")
    check_kinds(path, session, SESSION, "the session")
    settings, c, metadata = meta["settings"], meta["coordinates"], meta["metadata"]
    if not (math.isfinite(settings["dt"]) and settings["dt"] >= 0.0):
        raise foreign(path, f"dt is {settings['dt']}")
    for kind in ("position", "velocity"):
        if len({len(c[f"{kind}_{what}"]) for what in ("labels", "units", "joints")}) != 1:
            raise foreign(path, f"its {kind}s have not each a label, a unit and a joint")
    for event in (*meta["events"], *metadata["impulses"]):
        if not math.isfinite(event["time"]):
            raise foreign(path, f"an event is at the time {event['time']}")
    if any(len(x) != len(c["velocity_labels"]) for x in meta.get("stops", {}).values()):
        raise foreign(path, "its stops are not one for each velocity coordinate")
    if metadata["every"] < 1:
        raise foreign(path, f"its samples are {metadata['every']} steps apart")
    for x in meta["extra"]:
        if not isinstance(x["units"], str) and len(x["units"]) != len(x["labels"]):
            raise foreign(path, f"channel {x['name']!r} has not a unit for each label")


def expected_arrays(path: Path, meta: dict, headers: dict[str, Header]) -> list[str]:
    """Names of the arrays that a run of these settings has; refuse others, and other shapes than theirs.

    Parameters
    ----------
    path : Path
    meta : dict
        Checked by `check_settings`.
    headers : dict of str to Header
        Of the arrays in the file.
    """
    columns = {"": ()} | {axis: (len(meta["coordinates"][f"{axis}_labels"]),) for axis in ("position", "velocity")}
    samples = headers["time"].shape[:1] if "time" in headers else ()
    if samples == (0,) or samples != (meta["samples"],):
        raise foreign(path, f"it has {samples[0] if samples else 'no'} samples, expected {meta['samples']}")
    shapes = {"time": samples} | {name: samples + columns[SAMPLED[name].axis] for name in STORED[1:]}
    for x in meta["extra"]:
        if x["name"] in shapes:
            raise foreign(path, f"two arrays have the name {x['name']!r}")
        shapes[x["name"]] = samples + ((len(x["labels"]),) if x["labels"] else ())
    if count := len(meta["events"]):
        shapes |= {f"events.{name}": (count, *columns[SAMPLED[name[0]].axis]) for name in EVENT_ARRAYS}
    if "metadata.disturbance" in headers:
        shapes["metadata.disturbance"] = samples + columns["velocity"]
    if "metadata.contact_work" in headers:
        shapes["metadata.contact_work"] = (*samples, 2)
    if "metadata.driven_work" in headers:
        shapes["metadata.driven_work"] = (*samples, 1)
    if "metadata.bounded_work" in headers:
        shapes["metadata.bounded_work"] = (*samples, 2 * columns["velocity"][0])
    # The number of bodies, of columns of components: any.
    free = ["metadata.wrenches"] if "metadata.wrenches" in headers else []
    if balance := meta.get("energy_balance"):
        shapes |= _balance_shapes(path, balance, headers, samples)
        free += [name for name in balance["names"] if name not in shapes]
    total = 0
    for name in (*shapes, *free):
        if name not in headers:
            raise foreign(path, f"there is no array {name!r}")
        shape, dtype = found = headers[name]
        right = shape == shapes[name] if name in shapes else shape[:1] == samples and len(shape) <= 3
        if not right or dtype.kind != "f" or dtype.itemsize > 16:
            wanted = f"{shapes[name]} floats" if name in shapes else f"{samples[0]} rows of floats"
            raise foreign(path, f"array {name!r} has shape {shape} of {dtype}, expected {wanted}")
        total += found.size
    room = available_memory()
    if total > room:
        raise FileFormatError(
            f"{path}: the run unfolds to {total / 2**30:.3g} GiB, and {room / 2**30:.3g} GiB of memory are left.",
            file=str(path), size=total,
        )  # fmt: skip
    return [*shapes, *free]


def _balance_shapes(path: Path, balance: dict, headers: dict[str, Header], samples: tuple) -> dict[str, tuple]:
    """Shapes of the parts of an energy balance; powers and works may be (T,) or (T, nv)."""
    names, others = balance["names"], balance["others"]
    needed = ["energy.kinetic", "energy.armature"]
    needed += [kind for kind in BALANCE if kind not in ("energy", "power", "work", "momentum_error")]
    if missing := [name for name in (*needed, *others) if name not in names]:
        raise foreign(path, f"its energy balance lacks {missing[0]!r}")
    known = [name for name in names if name in needed or name.startswith("energy.")]
    momentum = headers["momentum"].shape[1:] if "momentum" in headers else ()
    axes = momentum if momentum in ((3,), (6,)) else (6,)
    return {name: samples for name in known} | {
        name: samples + axes for name in ("momentum", "momentum_error") if name in names
    }


def check_numbers(path: Path, meta: dict, arrays: dict[str, np.ndarray]) -> None:
    """Raise an error for times that do not increase and states that are not finite; forces and energies may overflow.

    Parameters
    ----------
    path : Path
    meta : dict
    arrays : dict of str to numpy.ndarray
    """
    for name in STATES if meta["metadata"]["failed"] else STORED:
        rows = np.atleast_2d(np.isfinite(arrays[name]).T).all(axis=0)
        if not rows.all():
            raise foreign(path, f"array {name!r} is not finite in row {int(np.argmin(rows))}")
    if np.any(np.diff(arrays["time"]) < 0.0):
        raise foreign(path, "its times do not rise")
