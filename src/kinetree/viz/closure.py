"""Plots of a run's constraints: how far positions and velocities are from obeying them."""

from __future__ import annotations

import numpy as np

from kinetree.arguments import checked
from kinetree.compiler.calls import public_call
from kinetree.errors import KinetreeError
from kinetree.viz.plots import heading
from kinetree.viz.style import COLORS, OUTPUT, a_run, drawing

LEAST = 1e-16  # where the logarithmic axis ends: below, errors are rounding


@checked(run=a_run, **OUTPUT)
def plot_constraint_drift(run, *, path=None, show: bool = False):
    """Draw the errors of a run's constraints over time: of positions, and of velocities, for each loop.

    Parameters
    ----------
    run : Trajectory
        Of a model with loops or other constraints at the level of positions or velocities.
    path : path-like, optional
        Write the figure there.
    show : bool
        Open a window.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    KinetreeError
        The run has no model, or its model no constraint that steps could break.

    Examples
    --------
    >>> import kinetree as kt
    >>> run = kt.simulate(kt.models.four_bar(), duration=0.05)
    >>> figure = plot_constraint_drift(run)
    """
    model = run.model
    if model is None:
        raise KinetreeError("plot_constraint_drift: the run has no model; load it with Trajectory.load(path, model).")
    if model.nc == 0:
        raise KinetreeError(f"plot_constraint_drift: model {model.name!r} has no rows of constraints that could drift.")
    errors = drift(run)
    with drawing((7.6, 2.9), heading(run), path, show) as figure:
        panels = figure.subplots(1, 2, sharex=True)
        kinds = (("positions", "m, rad"), ("velocities", "m/s, rad/s"))
        for k, (axes, (title, unit)) in enumerate(zip(panels, kinds, strict=True)):
            for n, (name, both) in enumerate(errors.items()):
                axes.semilogy(run.time, np.maximum(both[k], LEAST), color=COLORS[n % len(COLORS)], label=name)
            axes.set(title=f"error of {title}", ylabel=f"largest [{unit}]", xlabel="time [s]")
        panels[1].legend(loc="center left", bbox_to_anchor=(1.0, 0.5), handlelength=1.4)
    return figure


def drift(run) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """The largest errors of each constraint over time: of its positions, and of its velocities.

    Parameters
    ----------
    run : Trajectory

    Returns
    -------
    dict
        For each constraint two arrays of shape (T,) [m or rad, m/s or rad/s].
    """
    model = run.model
    time = {"t": run.time} if model.time_dependent else {}
    phi = public_call("closed_loops_error")(model, run.q, **time)
    G = public_call("closed_loops_jacobian")(model, run.q, **time)
    rates = np.einsum("tij,tj->ti", G, run.v)
    found: dict[str, tuple[np.ndarray, np.ndarray]] = {}
    for name, rows in rows_of(model).items():
        found[name] = tuple(np.abs(x[:, rows]).max(axis=1) for x in (phi, rates))
    return found


def rows_of(model) -> dict[str, slice]:
    """The rows of each constraint.

    Parameters
    ----------
    model : Model
    """
    found, start = {}, 0
    for constraint in model.constraints:
        count = constraint.count(model)
        if count:
            found[constraint.name or constraint.kind] = slice(start, start + count)
        start += count
    return found
