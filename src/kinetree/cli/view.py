"""``kinetree view``: a robot or saved runs in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from kinetree.cli import completion
from kinetree.cli.options import FloatingBase, argument, load, option
from kinetree.cli.printing import Output
from kinetree.cli.registration import command
from kinetree.errors import UnsupportedError


def robots_and_runs(incomplete: str) -> list[str]:
    """Candidates: robots, and files of runs.

    Parameters
    ----------
    incomplete : str
    """
    runs = completion.files(*completion.RUNS)(incomplete)
    return completion.robots(incomplete) + [path for path in runs if not path.endswith("/")]


@command
def view(
    what: Annotated[list[str], argument("A robot, as for other commands, or saved runs.", robots_and_runs)],
    robot: Annotated[
        str | None, option("The robot of saved runs, which the files do not contain.", complete=completion.robots)
    ] = None,
    floating_base: FloatingBase = False,
    coarse: Annotated[bool, option("Few triangles and pixels, for browsers without a graphics card.")] = False,
    port: Annotated[int, option("The first port to try.", default=True, min=1, max=65535)] = 8080,
) -> Output:
    """Show a robot or saved runs in the browser, until Ctrl-C.

    Sliders move the joints of a robot. Runs are replayed, the others over the first one.
    """
    import kinetree as kt

    runs = [path for path in what if Path(path).suffix.lower() in completion.RUNS]
    if len(runs) < len(what) and len(what) > 1:
        raise UnsupportedError(f"{' '.join(what)}: give one robot, or runs alone.", option="what")
    if runs and robot is None:
        raise UnsupportedError(f"{runs[0]}: files of runs do not contain the robot: give --robot.", option="robot")
    if robot is not None and not runs:
        raise UnsupportedError(f"--robot is of saved runs, and {what[0]} is none: leave it out.", option="robot")
    model = load(robot if runs else what[0], floating_base)
    shown = [kt.Trajectory.load(path, model) for path in runs] or [model]
    viewer = kt.view(*shown, port=port, detail="coarse" if coarse else "full")
    return Output({"shown": what, "url": viewer.url}, viewer.wait)
