"""``kinetree compare``: the differences of two runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kinetree.cli import completion
from kinetree.cli.options import Figure, FloatingBase, argument, load, option
from kinetree.cli.printing import Output
from kinetree.cli.registration import command
from kinetree.cli.targets import check_figure
from kinetree.errors import UnsupportedError

RUNS = completion.files(*completion.RUNS)


@command
def compare(
    first: Annotated[Path, argument("A run: a .npz, .nc, .h5 or .csv file.", RUNS)],
    second: Annotated[Path, argument("Another run.", RUNS)],
    robot: Annotated[
        str | None,
        option(
            "The robot, which files of runs do not contain; for quaternions and for times between samples.",
            complete=completion.robots,
        ),
    ] = None,
    tolerance: Annotated[float, option("Differences beyond it count.", default=True)] = 1e-6,
    joint: Annotated[list[str] | None, option("Compare this joint only. Repeatable.")] = None,
    floating_base: FloatingBase = False,
    plot: Figure = None,
) -> Output:
    """Compare two runs joint by joint, and report where they differ.

    The exit code is 1 if a difference is beyond the tolerance.
    """
    import kinetree as kt

    check_figure(plot)
    if floating_base and robot is None:
        raise UnsupportedError("--floating-base is of --robot, which is not given.", option="floating_base")
    model = None if robot is None else load(robot, floating_base).without_unsupported()
    runs = [kt.Trajectory.load(path, model) for path in (first, second)]
    comparison = runs[0].compare(runs[1], tolerance, joint or None)
    if plot is not None:
        comparison.plot(path=plot)

    def show() -> None:
        typer.echo(str(comparison))
        if plot is not None:
            typer.echo(f"written: {plot}")

    names = ("labels", "units", "max_dq", "max_dv", "rms_dq", "rms_dv", "begins")
    columns = zip(*(getattr(comparison, name) for name in names), strict=True)
    data = {
        "same": comparison.same, "tolerance": tolerance, "times": len(comparison.time),
        "interpolated": comparison.interpolated, "first_difference": comparison.first_difference,
        "coordinates": [dict(zip(("name", "unit", *names[2:]), column, strict=True)) for column in columns],
        "written": [] if plot is None else [plot],
    }  # fmt: skip
    return Output(data, show, 0 if comparison.same else 1)
