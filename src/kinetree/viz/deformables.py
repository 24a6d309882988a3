"""Plots of runs of coupled deformables."""

from __future__ import annotations

import numpy as np

from kinetree.arguments import a_count, checked, of_kind
from kinetree.viz.style import COLORS, DASHED, INK, OUTPUT, drawing

a_coupled_run = of_kind("CoupledRun, as Coupled.simulate gives it", "lines", "triangles", "starts", "x")


@checked(run=a_coupled_run, frames=a_count, **OUTPUT)
def plot_deformables(run, frames: int = 4, path=None, show: bool = False):
    """Draw the bodies of a run at some instants in space, and the energies over time.

    Parameters
    ----------
    run : CoupledRun
    frames : int
        Instants, from light to dark.
    path : path-like, optional
        Write the figure there.
    show : bool
        Open a window.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> import kinetree as kt
    >>> rope = kt.deformables.strand((0, 0, 0), (0.5, 0, 0), 4, mass=0.1, axial_stiffness=500.0)
    >>> run = kt.deformables.Coupled(None, rope).simulate(0.02, 1e-3)
    >>> figure = kt.viz.plot_deformables(run, frames=2, path="rope.png")
    """
    chosen = np.unique(np.linspace(0, len(run.time) - 1, frames).round().astype(int))
    with drawing((9.0, 4.2), f"{', '.join(run.names)}, {run.integrator}", path, show) as figure:
        space = figure.add_subplot(1, 2, 1, projection="3d")
        for n, k in enumerate(chosen):
            _draw_bodies(space, run, k, 0.25 + 0.75 * (n + 1) / len(chosen))
        _equal_scales(space, np.concatenate((run.x[chosen], run.origins[chosen]), axis=1).reshape(-1, 3))
        space.set(xlabel="x [m]", ylabel="y [m]", zlabel="z [m]")
        space.set_title(", ".join(f"{run.time[k]:.3g}" for k in chosen) + " s", fontsize=9)
        _draw_energies(figure.add_subplot(1, 2, 2), run)
    return figure


def _draw_bodies(axes, run, k: int, alpha: float) -> None:
    """Lines from each body of the model to its parent, surfaces and springs of all deformables, at one record."""
    from mpl_toolkits.mplot3d.art3d import Line3DCollection, Poly3DCollection

    x, origins = run.x[k], run.origins[k]
    links = [(origins[p], origins[i]) for i, p in enumerate(run.parents) if i]
    if links:
        axes.add_collection3d(Line3DCollection(np.array(links), color=INK, alpha=alpha, linewidth=2.5))
    for n, (start, stop) in enumerate(zip(run.starts[:-1], run.starts[1:], strict=True)):
        color = COLORS[n % len(COLORS)]
        surface = run.triangles[(run.triangles[:, 0] >= start) & (run.triangles[:, 0] < stop)]
        if len(surface):
            faces = Poly3DCollection(x[surface], facecolor=color, edgecolor=color, alpha=0.4 * alpha, linewidth=0.2)
            axes.add_collection3d(faces)
            continue
        lines = run.lines[(run.lines[:, 0] >= start) & (run.lines[:, 0] < stop)]
        axes.add_collection3d(Line3DCollection(x[lines], color=color, alpha=alpha, linewidth=1.5))


def _equal_scales(axes, points) -> None:
    middle, half = 0.5 * (points.max(axis=0) + points.min(axis=0)), 0.5 * float(np.ptp(points, axis=0).max()) or 1.0
    for name, center in zip("xyz", middle, strict=True):
        axes.set(**{f"{name}lim": (center - half, center + half)})


def _draw_energies(axes, run) -> None:
    for n, name in enumerate(("kinetic", "gravitational", "elastic")):
        values = getattr(run, name)
        axes.plot(run.time, values - values[0], color=COLORS[n], label=name)
    axes.plot(run.time, run.dissipated, color=COLORS[3], label="dissipated")
    axes.plot(run.time, run.energy - run.energy[0], label="sum of energies", **DASHED)
    axes.set(xlabel="time [s]", ylabel="change [J]")
    axes.legend(loc="best")
