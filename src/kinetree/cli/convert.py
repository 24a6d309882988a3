"""``kinetree convert`` and ``dh``: robots in other forms."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from kinetree.cli import completion
from kinetree.cli.options import Drop, Load, Quiet, Robot, argument, option
from kinetree.cli.printing import Output, print_rows
from kinetree.cli.registration import command
from kinetree.cli.targets import check_targets
from kinetree.errors import UnsupportedError


@command
def convert(
    load: Load,
    robot: Robot,
    path: Annotated[
        Path, argument("The file to write: .urdf, or .xml or .mjcf for MJCF.", completion.files(".urdf", ".xml"))
    ],
    drop: Drop = False,
    meshes: Annotated[
        str,
        option(
            "Names of meshes: keep, relative (to the file) or drop.",
            default=True, complete=completion.words("keep relative drop"),
        ),
    ] = "keep",
    quiet: Quiet = False,
) -> Output:  # fmt: skip
    """Read a robot and write it into a file, of another format or the same; report changes."""
    import kinetree as kt
    from kinetree.io.save import SUFFIXES

    check_targets(path)
    if path.suffix.lower() not in SUFFIXES:
        known = ", ".join(SUFFIXES)
        raise UnsupportedError(f"{path}: the suffix {path.suffix!r} names no format to write; known: {known}.")
    model = load()
    report = [str(entry) for entry in kt.save(model, path, unsupported="drop" if drop else "raise", meshes=meshes)]

    def show() -> None:
        if not quiet:
            print_rows([*rows_of(model), *(("note", entry) for entry in report), ("written", str(path))])

    read = [str(entry) for entry in model.report]
    return Output({"robot": model.name, "read": read, "notes": report, "written": [path]}, show)


def rows_of(model) -> list[tuple[str, str]]:
    """Name and size of a model, and warnings and changes of its report.

    Parameters
    ----------
    model : Model
    """
    rows = [("robot", f"{model.name}: {model.nb - 1} moving bodies, nq={model.nq}, nv={model.nv}")]
    return rows + [("read", str(entry)) for entry in model.report if entry.level != "info"]


@command
def dh(
    robot: Robot,
    convention: Annotated[
        str,
        option(
            "The convention: standard (distal) or modified (Craig).",
            default=True, complete=completion.words("standard modified"),
        ),
    ] = "modified",
    tip: Annotated[
        str | None, option("The frame or body at the end of the chain, where the tree branches.")
    ] = None,
    positive_a: Annotated[bool, option("Let no length a be negative.", "--positive-a")] = False,
) -> Output:  # fmt: skip
    """Print the Denavit-Hartenberg parameters of a serial chain."""
    import kinetree as kt

    table = kt.io.to_dh(kt.load(robot), convention, tip=tip, positive_a=positive_a)
    return Output({"convention": convention, "rows": [asdict(row) for row in table.rows]}, lambda: typer.echo(table))
