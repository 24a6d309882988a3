"""Plots of runs beside curves over time: phase portraits, paths of frames, power, the energy balance, two runs."""

from __future__ import annotations

import numpy as np

from kinetree.arguments import checked, of_kind, some_names
from kinetree.errors import KinetreeError, unknown_name
from kinetree.simulation.quadrature import total
from kinetree.viz.plots import CURVES_PER_PANEL, heading, matching_entry, position_limits, selected_joints
from kinetree.viz.style import (
    COLORS,
    DASHED,
    DOT,
    GRID,
    INK,
    OPEN,
    OUTPUT,
    a_run,
    at_least,
    cycle,
    drawing,
    filled,
    limit_lines,
    pretty,
    some_limits,
)

VIEWS = ("3d", "xy", "xz", "yz")
FLAT = 1e-6  # of the largest extent: a thinner path is planar
FLOOR = 1e-17  # where logarithmic axes of differences end
BESIDE = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5), "handlelength": 1.4}


@checked(run=a_run, joints=some_names, limits=some_limits, **OUTPUT)
def plot_phase(run, joints=None, path=None, show: bool = False, limits: str = "near"):
    """Draw velocities over positions, one panel for each coordinate; time goes from light to dark.

    Parameters
    ----------
    run : Trajectory
    joints : sequence of str, optional
        Default: all whose positions and velocities correspond, which those of quaternions do not.
    path : path-like, optional
        Write the figure there.
    show : bool
        Open a window.
    limits : {"near", "all", "none"}
        Limits to draw, if the run has its model.

    Returns
    -------
    matplotlib.figure.Figure
    """
    c = run.coordinates
    pairs = []
    for name in selected_joints(run, joints):
        entries = [k for k, joint in enumerate(c.position_joints) if joint == name]
        columns = [k for k, joint in enumerate(c.velocity_joints) if joint == name]
        if len(entries) == len(columns):
            pairs += zip(entries, columns, strict=True)
        elif joints is not None:
            fault = f"joint {name!r} has {len(entries)} positions and {len(columns)} velocities"
            repair = "draw its coordinates over time with run.plot()."
            raise KinetreeError(f"plot_phase: {fault}, which do not correspond; {repair}", joint=name)
    if not pairs:
        raise KinetreeError("plot_phase: no joint whose positions and velocities correspond.")
    across = min(len(pairs), 2 if len(pairs) in (2, 4) else 3)
    down = -(-len(pairs) // across)
    with drawing((3.0 * across + 0.6, 2.6 * down + 0.6), heading(run), path, show) as figure:
        grid = figure.subplots(down, across, squeeze=False).ravel()
        for axes, (j, k) in zip(grid, pairs, strict=False):
            x, y = run.q[:, j], run.v[:, k]
            _fading(axes, x, y, COLORS[0])
            axes.set_title(c.velocity_labels[k], fontsize=9)
            axes.set(xlabel=f"$q$ [{pretty(c.position_units[j])}]", ylabel=f"$v$ [{pretty(c.velocity_units[k])}]")
            limit_lines(axes, x, *position_limits(run, j), INK, limits, vertical=True)
            if run.model is not None:
                largest = float(run.model.velocity_limit[k])
                limit_lines(axes, y, -largest, largest, INK, limits)
        for axes in grid[len(pairs) :]:
            axes.set_axis_off()
    return figure


@checked(run=a_run, frames=some_names, views=some_names, **OUTPUT)
def plot_path(run, frames, views=None, path=None, show: bool = False):
    """Draw the paths of frames, such as tools: in space, and on the planes of the world.

    Parameters
    ----------
    run : Trajectory
        With its model.
    frames : str or sequence of str
        Frames or bodies.
    views : str or sequence of str, optional
        Any of "3d", "xy", "xz", "yz"; default all, or the plane of all paths.
    path : path-like, optional
        Write the figure there.
    show : bool
        Open a window.

    Returns
    -------
    matplotlib.figure.Figure
    """
    frames = (frames,) if isinstance(frames, str) else tuple(frames)
    if not frames:
        raise KinetreeError("plot_path: no frames; give at least one.")
    paths = [run.frame(name).position for name in frames]
    views = _views(paths) if views is None else (views,) if isinstance(views, str) else tuple(views)
    if not views:
        raise KinetreeError("plot_path: no views; give at least one.")
    for view in views:
        if view not in VIEWS:
            raise unknown_name("view", view, VIEWS, "plot_path")
    across = min(len(views), 2)
    down = -(-len(views) // across)
    with drawing((4.0 * across + 0.4, 3.6 * down + 0.5), heading(run), path, show) as figure:
        for n, view in enumerate(views):
            if view == "3d":
                _draw_space(figure.add_subplot(down, across, n + 1, projection="3d"), frames, paths)
            else:
                _draw_plane(figure.add_subplot(down, across, n + 1), frames, paths, view)
        if len(frames) > 1:
            figure.axes[0].legend(loc="best")
        else:
            figure.axes[0].set_title(f"path of {frames[0]}", fontsize=9)
    return figure


@checked(run=a_run, joints=some_names, **OUTPUT)
def plot_power(run, joints=None, path=None, show: bool = False):
    """Draw the power of every source, and that of the joint forces at each joint.

    Parameters
    ----------
    run : Trajectory
        Without its model or an energy balance only the second part is there.
    joints : sequence of str, optional
        Default: all.
    path : path-like, optional
        Write the figure there.
    show : bool
        Open a window.

    Returns
    -------
    matplotlib.figure.Figure
    """
    names = selected_joints(run, joints)
    columns = [k for k, joint in enumerate(run.coordinates.velocity_joints) if joint in names]
    if not columns:
        raise KinetreeError("plot_power: no joints; give at least one.")
    parts = np.array_split(columns, -(-len(columns) // CURVES_PER_PANEL))
    has_balance = run.model is not None or "energy_balance" in run.metadata.kept
    sources = {name: total(x) for name, x in run.energy_balance.powers.items()} if has_balance else {}
    rows = len(parts) + bool(sources)
    with drawing((7.2, 2.1 * rows + 0.7), heading(run), path, show) as figure:
        grid = figure.subplots(rows, 1, squeeze=False, sharex=True)[:, 0]
        if sources:
            _curves(grid[0], run.time, sources, "power [W]")
            grid[0].set_title("power by source, positive where energy enters")
        for axes, part in zip(grid[int(bool(sources)) :], parts, strict=True):
            labels = run.coordinates.velocity_labels
            _curves(axes, run.time, {labels[k]: run.tau[:, k] * run.v[:, k] for k in part}, r"$\tau\, v$ [W]")
        grid[int(bool(sources))].set_title("power of the joint forces")
        grid[-1].set_xlabel("time [s]")
    return figure


@checked(run=a_run, **OUTPUT)
def plot_energy_balance(run, path=None, show: bool = False):
    """Draw the energy balance: energy by kind, the work of every source, and the remainder.

    Parameters
    ----------
    run : Trajectory
        With its model, or loaded from a file with its energy balance.
    path : path-like, optional
        Write the figure there.
    show : bool
        Open a window.

    Returns
    -------
    matplotlib.figure.Figure
    """
    balance = run.energy_balance
    works = {name: total(x) for name, x in balance.works.items()}
    with drawing((7.2, 6.2), heading(run), path, show) as figure:
        top, middle, below = figure.subplots(3, 1, sharex=True)
        _curves(top, balance.time, {name: x for name, x in balance.energies.items() if np.any(x)}, "energy [J]")
        top.plot(balance.time, balance.energy, **DASHED, label="total")
        top.legend(**BESIDE)
        top.set_title("energy by kind")
        change = balance.energy - balance.energy[0]
        _curves(middle, balance.time, works, "work [J]")
        middle.plot(balance.time, change, **DASHED, label="change of energy")
        middle.legend(**BESIDE)
        middle.set_title("work of every source since the start")
        filled(below, balance.time, balance.remainder)
        below.set(title="unexplained part", ylabel="remainder [J]", xlabel="time [s]")
        figure.align_ylabels()
    return figure


@checked(comparison=of_kind("RunComparison, as run.compare(other) gives it", "first", "second", "dq"), **OUTPUT)
def plot_comparison(comparison, path=None, show: bool = False):
    """Draw two runs, the second dashed, and the difference of their positions.

    Parameters
    ----------
    comparison : RunComparison
    path : path-like, optional
        Write the figure there.
    show : bool
        Open a window.

    Returns
    -------
    matplotlib.figure.Figure
    """
    first, second, c = comparison.first, comparison.second, comparison.first.coordinates
    groups: dict[str, list[int]] = {}
    for n, unit in enumerate(comparison.units):
        groups.setdefault(unit, []).append(n)
    parts = [part for group in groups.values() for part in np.array_split(group, -(-len(group) // CURVES_PER_PANEL))]
    if not parts:
        raise KinetreeError("plot: no coordinates were compared.")
    title = f"{heading(first)}   against   {second.integrator}, dt = {second.dt:g} s (dashed)"
    with drawing((8.6, 2.2 * len(parts) + 0.7), title, path, show) as figure:
        grid = figure.subplots(len(parts), 2, squeeze=False, sharex=True)
        for (left, right), part in zip(grid, parts, strict=True):
            unit = pretty(comparison.units[part[0]])
            own = {n: matching_entry(comparison.columns[n], c.velocity_joints, c.position_joints) for n in part}
            plain = None not in own.values()
            for color, n in zip(COLORS, part, strict=False):
                k = comparison.columns[n]
                for run, line in ((first, "-"), (second, (0, (3, 2)))):
                    values = run.q[:, own[n]] if plain else run.v[:, k]
                    left.plot(run.time, values, color=color, linestyle=line)
                size = np.abs(comparison.dq[:, n])
                size = np.where(size > 0.0, size, np.nan)  # zero has no logarithm: a gap
                right.plot(comparison.time, size, color=color, label=comparison.labels[n])
            left.set_ylabel(f"$q$ [{unit}]" if plain else f"$v$ [{unit}/s]")
            largest = max(float(np.max(np.abs(comparison.dq[:, part]))), comparison.tolerance)
            ends = (max(1e-8 * largest, FLOOR), max(3.0 * largest, 10.0 * FLOOR))
            right.set(ylabel=rf"$|\Delta q|$ [{unit}]", yscale="log", ylim=ends)
            right.axhline(comparison.tolerance, color=INK, linewidth=0.9, linestyle=(0, (5, 3)), label="tolerance")
            right.legend(**BESIDE)
            if comparison.first_difference is not None:
                right.axvline(comparison.first_difference[1], color=INK, linewidth=0.9, linestyle=":", label="_first")
        grid[0, 0].set_title("both runs")
        grid[0, 1].set_title("difference of positions")
        for axes in grid[-1]:
            axes.set_xlabel("time [s]")
    return figure


def _fading(axes, x, y, color: str) -> None:
    """A curve that starts light and ends dark, with its start and its end marked."""
    from matplotlib.collections import LineCollection
    from matplotlib.colors import LinearSegmentedColormap

    points = np.stack((x, y), axis=1)
    shades = LinearSegmentedColormap.from_list("time", (GRID, color))
    lines = LineCollection(np.stack((points[:-1], points[1:]), axis=1), cmap=shades, array=np.arange(len(x) - 1))
    lines.set_clim(-0.4 * len(x), len(x))  # the light end must be seen on white
    axes.add_collection(lines, autolim=True)
    axes.plot(x[0], y[0], **OPEN, color=INK)
    axes.plot(x[-1], y[-1], **DOT, color=INK)
    axes.margins(0.05)
    axes.autoscale_view()


def _views(paths) -> tuple[str, ...]:
    """All views, or the one plane of the paths."""
    extent = np.ptp(np.concatenate(paths), axis=0)
    flat = extent <= FLAT * np.max(extent)
    if flat.sum() != 1:
        return VIEWS
    return ("".join(axis for axis, is_flat in zip("xyz", flat, strict=True) if not is_flat),)


def _draw_plane(axes, frames, paths, view: str) -> None:
    j, k = ("xyz".index(axis) for axis in view)
    _draw_paths(axes, frames, [points[:, (j, k)] for points in paths])
    axes.set_aspect("equal", adjustable="datalim")
    axes.set(xlabel=f"${view[0]}$ [m]", ylabel=f"${view[1]}$ [m]")


def _draw_paths(axes, frames, paths) -> None:
    for color, name, points in zip(cycle(len(paths)), frames, paths, strict=True):
        axes.plot(*points.T, color=color, label=name)
        axes.plot(*points[:1].T, **OPEN, color=color, label="_start")
        axes.plot(*points[-1:].T, **DOT, color=color, label="_end")


def _draw_space(axes, frames, paths) -> None:
    _draw_paths(axes, frames, paths)
    everything = np.concatenate(paths)
    middle = 0.5 * (everything.max(axis=0) + everything.min(axis=0))
    half = 0.55 * max(float(np.max(np.ptp(everything, axis=0))), 1e-6)
    axes.set(**{f"{axis}lim": (x - half, x + half) for axis, x in zip("xyz", middle, strict=True)})
    axes.set(**{f"{axis}label": f"${axis}$ [m]" for axis in "xyz"})
    axes.locator_params(nbins=4)
    axes.set_box_aspect((1, 1, 1), zoom=0.85)


def _curves(axes, time, curves, label: str) -> None:
    for color, (name, values) in zip(cycle(len(curves)), curves.items(), strict=True):
        axes.plot(time, values, color=color, label=name)
    if curves:
        at_least(axes, np.stack(list(curves.values())))
        axes.legend(**BESIDE)
    axes.set_ylabel(label)
