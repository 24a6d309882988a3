"""The call that opens the viewer, and simulations that are watched while they run."""

from __future__ import annotations

import time

from kinetree.arguments import refuse
from kinetree.viewer.model_stage import ModelStage
from kinetree.viewer.viewer import Viewer, opened, replayed

PIECE = 0.03  # [s] of wall time from look to look at a running simulation


def view(
    model_or_run,
    *more_runs,
    q=None,
    role: str = "visual",
    host: str = "127.0.0.1",
    port: int = 8080,
    detail: str = "full",
    play: bool = True,
    block: bool = False,
    quiet: bool = False,
) -> Viewer:
    """Open the viewer: a page in a browser with a model to be moved, or with the replay of one or several runs.

    Parameters
    ----------
    model_or_run : Model, Trajectory or CoupledRun
        A model has sliders for its joints within their limits, a frame to drag, and motion under gravity. A run is
        replayed; it needs its model: ``Trajectory.load(path, model=model)``.
    *more_runs : Trajectory
        Runs that are drawn over the first one, transparently.
    q : (nq,) array_like, optional
        Position of a model at first [rad or m; quaternions unit]. Default: the keyframe "initial", or the neutral one.
    role : {"visual", "collision", "stick"}
        Which shapes are drawn; the page can change it.
    host : str
        Address to listen on. "127.0.0.1" is reached from this machine, and through ssh; "0.0.0.0" by everybody in the
        network, without a password.
    port : int
        The first port to try.
    detail : {"full", "coarse"}
        "coarse" is for browsers without a graphics card: shapes of few triangles, a floor of few lines, no shadows, and
        half of the pixels along each edge. The page can change all but the pixels, which are in the address.
    play : bool
        Whether the replay of runs starts at once.
    block : bool
        Return when the viewer is closed or after Ctrl-C: for scripts that end here.
    quiet : bool
        Do not print the address.

    Returns
    -------
    Viewer
        With ``url``, ``show(q)``, ``replay(run)``, ``wait()`` and ``close()``; in a notebook it is shown as the page.

    Raises
    ------
    MissingDependencyError
        The package viser is not installed; the message has the line that installs it.
    KinetreeError
        A run has no model, or no server can listen on the address.
    ArgumentError

    Examples
    --------
    >>> import kinetree as kt
    >>> arm = kt.load("arm7")
    >>> with kt.view(arm, port=18080, quiet=True) as viewer:
    ...     viewer.show(arm.neutral())
    ...     address = viewer.url
    >>> address.startswith("http://127.0.0.1:")
    True
    """
    options = {"host": host, "port": port, "detail": detail, "block": block, "quiet": quiet}
    if not (hasattr(model_or_run, "frames") and hasattr(model_or_run, "nq")):
        return replayed((model_or_run, *more_runs), role=role, play=play, **options)
    if more_runs:
        refuse("view: more_runs", more_runs, "none beside a model; runs are drawn over a run")
    return opened(lambda viewer: show_model(viewer, model_or_run, q, role), model_or_run.name, role, **options)


def show_model(viewer: Viewer, model, q=None, role: str = "visual") -> None:
    """Put a model with sliders into a viewer, instead of what was there.

    Parameters
    ----------
    viewer : Viewer
    model : Model
    q : (nq,) array_like, optional
        Position at first [rad or m; quaternions unit].
    role : {"visual", "collision", "stick"}
    """
    viewer.put(lambda: ModelStage(viewer, model, q, role))


def advance_watched(simulation, duration: float, viewer: Viewer, progress) -> None:
    """Advance a simulation with fixed steps in pieces, and show where it is after each: the bits of the run in one.

    Parameters
    ----------
    simulation : Simulation
    duration : float
        [s]
    viewer : Viewer
    progress : bool or None
    """
    end, steps = simulation.time + duration, 16
    while simulation.time < end - 1e-9 * simulation.dt and not simulation.is_over:
        start = time.perf_counter()
        simulation.advance(min(steps * simulation.dt, end - simulation.time), progress)
        passed = time.perf_counter() - start
        steps = 2 * steps if passed < 0.5 * PIECE else max(steps // 2, 1) if passed > 2.0 * PIECE else steps
        if viewer.watched:
            viewer.offer(simulation.q, simulation.time)
