"""What a file of a run must hold: kinds of settings, shapes of arrays, and numbers that are there."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from kinetree.errors import FileFormatError
from kinetree.simulation.memory import available_memory
from kinetree.simulation.run_archives import Header, foreign

STATES = ("time", "q", "v")
ARRAYS = (*STATES, "a", "tau", "kinetic_energy", "potential_energy", "elastic_energy")
EVENT_ARRAYS = ("q", "v", "q_after", "v_after")
BALANCE = (
    "energy.kinetic", "energy.armature", "work.jumps", "remainder", "quaternion_error", "coupling_error"
)  # fmt: skip
METADATA_ARRAYS = ("wrenches", "disturbance")

# A type; a tuple of alternatives; [of each entry]; {name: of its value}, "?" behind names that may be missing and the
# type str for any name.
_TEXTS, _NUMBERS, _COUNTS = [str], [float], {str: int}
META = {
    "format": str,
    "settings": {
        "model_name": str, "integrator": str, "dt": float, "steps": (int, None), "notes": _TEXTS, "wall_time?": float,
    },
    "provenance?": {"version": str, "digest": str, "simulated_digest": str, "seed": (int, None)},
    "samples?": int,
    "coordinates": {
        f"{kind}_{what}": _TEXTS for kind in ("position", "velocity") for what in ("labels", "units", "joints")
    },
    "extra?": [{"name": str, "units": (str, _TEXTS), "labels": _TEXTS, "description": str}],
    "events?": [{"name": str, "time": float, "joint?": str, "side?": str}],
    "book?": {
        "method": (str, None), "every": int, "controlled": bool, "held": bool, "pushed?": bool, "counts": _COUNTS,
        "jumps": [{"time": float, "label": str, "energy": float, "joint?": str}], "failed": str, "interrupted?": str,
    },
    "stops?": {name: _NUMBERS for name in ("lower", "upper", "limit_stiffness", "limit_damping")},
    "ledger?": {
        "names": _TEXTS, "others": _TEXTS, "counts": _COUNTS, "labels": _TEXTS, "units": {str: str}, "rounding?": float,
    },
}  # fmt: skip
SESSION = {"date": str, "machine": str, "system": str, "python": str, "numpy": str, "wall_time": float}
_WORDS = {str: "a text", int: "a whole number", float: "a number", bool: "true or false", None: "null"}


def check_kinds(path: Path, value, kind, where: str) -> None:
    """Refuse plain data that is not of a kind, as in ``META``.

    Parameters
    ----------
    path : Path
    value : object
        What a file holds.
    kind : object
    where : str
        What it is called there.
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
    """Refuse settings that are not those of a run."""
    check_kinds(path, meta, META, "the settings")
    check_kinds(path, session, {f"{name}?": kind for name, kind in SESSION.items()}, "the session")
    settings, c = meta["settings"], meta["coordinates"]
    if not (math.isfinite(settings["dt"]) and settings["dt"] >= 0.0):
        raise foreign(path, f"dt is {settings['dt']}")
    for kind in ("position", "velocity"):
        if len({len(c[f"{kind}_{what}"]) for what in ("labels", "units", "joints")}) != 1:
            raise foreign(path, f"its {kind}s have not each a label, a unit and a joint")
    for event in (*meta.get("events", ()), *meta.get("book", {}).get("jumps", ())):
        if not math.isfinite(event["time"]):
            raise foreign(path, f"an event is at the time {event['time']}")
    if any(len(x) != len(c["velocity_labels"]) for x in meta.get("stops", {}).values()):
        raise foreign(path, "its stops are not one for each velocity coordinate")
    if meta.get("book", {}).get("every", 1) < 1:
        raise foreign(path, f"its samples are {meta['metadata']['every']} steps apart")
    for x in meta.get("extra", ()):
        if not isinstance(x["units"], str) and len(x["units"]) != len(x["labels"]):
            raise foreign(path, f"channel {x['name']!r} has not a unit for each label")


def expected_arrays(path: Path, meta: dict, headers: dict[str, Header]) -> list[str]:
    """Names of the arrays that a run of these settings has; refuse others, and other shapes than theirs.

    Parameters
    ----------
    path : Path
    meta : dict
        As `check_settings` let it pass.
    headers : dict of str to Header
        What is in the file.
    """
    nq, nv = (len(meta["coordinates"][f"{kind}_labels"]) for kind in ("position", "velocity"))
    samples = headers["time"].shape[:1] if "time" in headers else ()
    if samples == (0,) or ("samples" in meta and samples != (meta["samples"],)):
        raise foreign(path, f"it has {samples[0] if samples else 'no'} samples, expected {meta.get('samples', 'one')}")
    sizes = {"q": (nq,), "v": (nv,), "a": (nv,), "tau": (nv,)}
    shapes = {name: samples + sizes.get(name, ()) for name in ARRAYS}
    for x in meta.get("extra", ()):
        if x["name"] in shapes:
            raise foreign(path, f"two arrays have the name {x['name']!r}")
        shapes[x["name"]] = samples + ((len(x["labels"]),) if x["labels"] else ())
    count = len(meta.get("events", ()))
    shapes |= {f"events.{name}": (count, *sizes[name[0]]) for name in EVENT_ARRAYS if count}
    if "book.disturbance" in headers:
        shapes["book.disturbance"] = (*samples, nv)
    balance = meta.get("ledger", {"names": (), "others": ()})
    if "ledger" in meta:
        shapes |= {name: samples for name in BALANCE}
        shapes |= {name: samples for name in balance["names"] if name.startswith("energy.")}
        momentum = headers["momentum"].shape[1:] if "momentum" in headers else ()
        axes = momentum if momentum in ((3,), (6,)) else (6,)
        shapes |= {name: samples + axes for name in ("momentum", *({"momentum_error"} & set(balance["names"])))}
    if missing := [name for name in balance["others"] if name not in balance["names"]]:
        raise foreign(path, f"its energy balance lacks {missing[0]!r}")
    free = ["book.wrenches"] if "book.wrenches" in headers else []  # the number of bodies, of columns of components
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


def check_numbers(path: Path, meta: dict, arrays: dict[str, np.ndarray]) -> None:
    """Refuse times that do not rise, and states that are no numbers: forces and energies may overflow where runs fail.

    Parameters
    ----------
    path : Path
    meta : dict
    arrays : dict of str to numpy.ndarray
    """
    failed = meta.get("book", {}).get("failed", "")
    for name in STATES if failed else ARRAYS:
        rows = np.atleast_2d(np.isfinite(arrays[name]).T).all(axis=0)
        if not rows.all():
            raise foreign(path, f"array {name!r} is not finite in row {int(np.argmin(rows))}")
    if np.any(np.diff(arrays["time"]) < 0.0):
        raise foreign(path, "its times do not rise")
