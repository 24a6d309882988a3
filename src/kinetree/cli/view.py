"""``kinetree view``: a robot or a saved run in the browser."""

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
    return completion.robots(incomplete) + [
        path for path in completion.files(*completion.RUNS)(incomplete) if not path.endswith("/")
    ]


@command
def view(
    what: Annotated[str, argument("A robot, as for other commands, or a saved run.", robots_and_runs)],
    robot: Annotated[
        str | None, option("The robot of a saved run, which the file does not contain.", complete=completion.robots)
    ] = None,
    floating_base: FloatingBase = False,
) -> Output:
    """Show a robot or a saved run in the browser, until Ctrl-C.

    Sliders move the joints of a robot. A run is replayed.
    """
    import kinetree as kt

    is_run = Path(what).suffix.lower() in completion.RUNS
    if is_run and robot is None:
        raise UnsupportedError(f"{what}: files of runs do not contain the robot: give --robot.", option="robot")
    if robot is not None and not is_run:
        raise UnsupportedError(f"--robot is of saved runs, and {what} is none: leave it out.", option="robot")
    model = load(robot if is_run else what, floating_base)
    shown = kt.Trajectory.load(what, model) if is_run else model
    show = getattr(kt, "view", None)
    if show is None:
        raise UnsupportedError("There is no viewer in this installation: pip install 'kinetree[view]' brings it.")
    server = show(shown)
    return Output({"shown": what}, lambda: wait(server))


def wait(server: object) -> None:
    """Serve until Ctrl-C.

    Parameters
    ----------
    server : object
        The viewer, with ``wait()``.
    """
    if hasattr(server, "wait"):
        server.wait()
