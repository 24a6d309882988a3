"""Runs as tables of labeled columns: csv files, written and read."""

from __future__ import annotations

import csv
import io
import itertools
import re
from pathlib import Path

import numpy as np

from kinetree.errors import FileFormatError
from kinetree.files import replacing
from kinetree.integrators.coordinates import Coordinates
from kinetree.simulation.channels import ENERGIES, SAMPLED, STATES, Quantity, frozen
from kinetree.simulation.contacts import place_channels
from kinetree.simulation.run_archives import reading
from kinetree.simulation.run_metadata import RunMetadata

TIME = "time [s]"
PARTIAL = "# partial: "
COLUMN = re.compile(r"(?P<what>.+) \[(?P<unit>[^\]]*)\]")


def columns(trajectory) -> list[tuple[str, np.ndarray]]:
    """All columns as (label with unit, values)."""
    result = [(TIME, trajectory.time)]
    for x in (*(trajectory.channels[name] for name in SAMPLED), *trajectory.extra, *place_channels(trajectory)):
        title = f"{x.name} {{}} [{{}}]" if x.name in SAMPLED else f"{x.name}: {{}} [{{}}]"
        for label, unit, values in x.entries:
            result.append((title.format(label, unit) if x.values.ndim > 1 else f"{x.name} [{unit}]", values))
    return result


def save_csv(trajectory, path: Path) -> None:
    """One header line, then one row for each sample; numbers read back to the same bits.

    A run that ended early has a line before the header with the reason.
    """
    table = columns(trajectory)
    with replacing(path) as binary:
        file = io.TextIOWrapper(binary, encoding="utf-8", newline="")
        writer = csv.writer(file)
        if trajectory.ended_early:
            file.write(f"{PARTIAL}{' '.join(trajectory.ended_early.split())}\r\n")
        writer.writerow([label for label, _ in table])
        writer.writerows([repr(float(x)) for x in row] for row in np.column_stack([x for _, x in table]))
        file.detach()  # flushed; the file is closed where it was opened


def load_csv(path: Path):
    """The trajectory of a csv file: arrays, labels and units; fields without a column are unknown.

    The name of the run is that of the file; joints are guessed from labels such as "base.x" until a model is given.
    """
    with reading(path, "r", newline="", encoding="utf-8") as file:
        first = file.readline()
        partial = first.removeprefix(PARTIAL).strip() if first.startswith(PARTIAL) else ""
        header, *rows = list(csv.reader(file if partial else itertools.chain((first,), file))) or [[]]
        return _run_of(path, header, rows, partial)


def _run_of(path: Path, header: list[str], rows: list[list[str]], partial: str):
    from kinetree.simulation.trajectory import Trajectory

    top = 2 + bool(partial)  # the line of the first row
    if not header or header[0] != TIME:
        raise _bad(path, 1, f"the first column is {header[0] if header else ''!r}, expected {TIME!r}")
    for number, row in enumerate(rows, top):
        if len(row) != len(header):
            raise _bad(path, number, f"{len(row)} columns, and the header has {len(header)}")
    if len(set(header)) < len(header):
        raise _bad(path, 1, "two columns have one name")
    table = np.array([[_number(path, line, x) for x in row] for line, row in enumerate(rows, top)])
    table = table.reshape(len(rows), len(header))
    if np.any(np.diff(table[:, 0]) < 0.0):
        raise _bad(path, top + 1 + int(np.argmax(np.diff(table[:, 0]) < 0.0)), "time goes back")
    if not len(table):
        raise _bad(path, None, "no rows below the header")
    groups: dict[str, list[tuple[str, str, int]]] = {}
    for k, title in enumerate(header):
        found = COLUMN.fullmatch(title)
        if not found:
            raise _bad(path, 1, f"column {title!r} does not read 'name [unit]'")
        name, label = _split(found["what"])
        groups.setdefault(name, []).append((label, found["unit"], k))
    missing = [f"{name} [J]" for name in ENERGIES if name not in groups]
    if missing:
        raise _bad(path, 1, f"no column {missing[0]!r}")
    for name in ("a", "tau"):
        if [label for label, *_ in groups.get(name, ())] != [label for label, *_ in groups.get("v", ())]:
            raise _bad(path, 1, f"the columns of {name} are not those of v")
    for name in ("time", "q", "v") if partial else ("time", *STATES, *ENERGIES):  # where a run fails, forces overflow
        for _, _, k in groups.get(name, ()):
            if not np.isfinite(table[:, k]).all():
                n = int(np.argmin(np.isfinite(table[:, k])))
                raise _bad(path, top + n, f"column {header[k]!r} is {rows[n][k]!r}, expected a finite number")
    arrays = {name: table[:, [k for *_, k in groups.get(name, ())]].copy() for name in STATES}
    energies = {name: table[:, groups[name][0][2]].copy() for name in ENERGIES if name != "energy"}
    time = table[:, 0].copy()
    known = {"time", *STATES, *ENERGIES}
    extra = tuple(_quantity(name, time, table, entries) for name, entries in groups.items() if name not in known)
    return Trajectory(
        time=time,
        **arrays,
        **energies,
        model_name=path.stem,
        coordinates=_coordinates(groups.get("q", []), groups.get("v", [])),
        integrator="read from a table",
        dt=float(np.median(np.diff(time))) if len(time) > 1 else 0.0,
        notes=(f"read from {path.name!r}: settings, events and the energy balance are not in tables",),
        extra=extra,
        metadata=RunMetadata(interrupted=partial),
    )


def _number(path: Path, line: int, text: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise _bad(path, line, str(error)) from error


def _split(what: str) -> tuple[str, str]:
    """Name and label of a column: "q knee", "heat: left", "energy"."""
    head, space, label = what.partition(" ")
    if space and head in STATES:
        return head, label
    name, colon, label = what.partition(": ")
    return (name, label) if colon else (what, "")


def _quantity(name: str, time, table, entries) -> Quantity:
    rows = [k for *_, k in entries]
    units = tuple(unit for _, unit, _ in entries)
    units = units[0] if len(set(units)) == 1 else units
    if len(entries) == 1 and not entries[0][0]:
        return Quantity(name, time, frozen(table[:, rows[0]].copy()), units)
    labels = tuple(label for label, *_ in entries)
    return Quantity(name, time, frozen(table[:, rows].copy()), units, labels, "", (f"{name} column",))


def _coordinates(positions, velocities) -> Coordinates:
    """Labels of q and v; entries with the same text before their last dot belong to one joint."""
    heads = [label.rpartition(".")[0] for label, *_ in (*positions, *velocities)]
    several = {head for head in heads if head and heads.count(head) > 2}

    def joint(label: str) -> str:
        head = label.rpartition(".")[0]
        return head if head in several else label

    return Coordinates(
        position_labels=tuple(label for label, *_ in positions),
        position_units=tuple(unit for _, unit, _ in positions),
        velocity_labels=tuple(label for label, *_ in velocities),
        velocity_units=tuple(unit for _, unit, _ in velocities),
        position_joints=tuple(joint(label) for label, *_ in positions),
        velocity_joints=tuple(joint(label) for label, *_ in velocities),
    )


def _bad(path: Path, line: int | None, why: str) -> FileFormatError:
    at = f"{path}:{line}" if line is not None else f"{path}"
    return FileFormatError(
        f"{at}: not a table of a run ({why}). Trajectory.load reads the csv files of Trajectory.save.",
        file=str(path),
        line=line,
    )
