"""The call that opens the viewer, and simulations that are watched while they run."""

from __future__ import annotations

from kinetree.arguments import a_truth_value, choice, refuse, text, whole
from kinetree.errors import KinetreeError
from kinetree.viewer import server as servers
from kinetree.viewer.scene import ROLES
from kinetree.viewer.viewer import Viewer

PIECE = 1.0 / 60.0  # [s] of simulated time from look to look at a running simulation


def view(
    model_or_run,
    *more_runs,
    q=None,
    role: str = "visual",
    host: str = "127.0.0.1",
    port: int = 8080,
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
    choice("view: role", role, ROLES)
    text("view: host", host, "an address, as '127.0.0.1'")
    whole("view: port", port, "a port, a whole number from 1 to 65535", least=1)
    if port > 65535:
        refuse("view: port", port, "a port, a whole number from 1 to 65535")
    for what, value in (("play", play), ("block", block), ("quiet", quiet)):
        a_truth_value(f"view: {what}", value)
    is_model = hasattr(model_or_run, "frames") and hasattr(model_or_run, "nq")
    if is_model and more_runs:
        refuse("view: more_runs", more_runs, "none beside a model; runs are drawn over a run")
    for run in () if is_model else (model_or_run, *more_runs):
        _check_run(run)
    title = model_or_run.name if is_model else getattr(model_or_run, "model_name", "run")
    viewer = Viewer(host, port, str(title))
    try:
        if is_model:
            viewer.model(model_or_run, q, role)
        else:
            viewer.replay(model_or_run, *more_runs, role=role, play=play)
    except BaseException:
        viewer.close()
        raise
    if not quiet:
        print(servers.directions(host, viewer.port))
    if block:
        viewer.wait()
    return viewer


def _check_run(run) -> None:
    if not (hasattr(run, "time") and hasattr(run, "q")) or isinstance(run, type):
        refuse("view: model_or_run", run, "a Model, or a Trajectory as kt.simulate gives it")
    if getattr(run, "model", True) is None:
        raise KinetreeError("view: this run has no model; load it with it: Trajectory.load(path, model=model).")


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
    end = simulation.time + duration
    steps = max(round(PIECE / simulation.dt), 1)
    while simulation.time < end - 1e-9 * simulation.dt and not simulation.is_over:
        simulation.advance(min(steps * simulation.dt, end - simulation.time), progress)
        if viewer.watched:
            viewer.offer(simulation.q, simulation.time)
