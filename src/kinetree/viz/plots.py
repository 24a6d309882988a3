"""Plots of trajectories with matplotlib, readable from one joint to fifty, on screens and in papers."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from dataclasses import dataclass

import numpy as np

from kinetree.arguments import checked, some_names
from kinetree.errors import KinetreeError, unknown_name
from kinetree.viz.contacts import contact_groups, draw_contacts
from kinetree.viz.limbs import limb_of
from kinetree.viz.style import (
    COLORS,
    DASHED,
    DOTTED,
    INK,
    OUTPUT,
    STILL,
    a_run,
    curves,
    cycle,
    drawing,
    filled,
    limit_lines,
    pretty,
    some_limits,
)  # fmt: skip

CURVES_PER_PANEL = 6
# Contents of the rows of a joint with several coordinates.
PARTS = {
    ("q", "m"): "position", ("q", "rad"): "angle",
    ("v", "m/s"): "linear velocity", ("v", "rad/s"): "angular velocity",
    ("a", "m/s^2"): "linear acceleration", ("a", "rad/s^2"): "angular acceleration",
    ("tau", "N"): "force", ("tau", "N m"): "moment",
}  # fmt: skip
# Coordinates are named after their velocities "vx", "wx": the names of forces and accelerations along them.
SYMBOLS = {"tau": {"v": "f", "w": "n"}, "a": {"v": "dv", "w": "dw"}}
TITLES = {"q": "position", "v": "velocity", "a": "acceleration", "tau": "force"}
QUANTITIES = (*TITLES, "contact", "energy")


@dataclass(frozen=True, slots=True)
class Panel:
    """Some entries of one quantity that share an axis: columns of the trajectory's table, their labels and unit."""

    entries: tuple[int, ...]
    labels: tuple[str, ...]
    unit: str
    part: str | None = None  # of a joint with several coordinates: "linear velocity"
    axes: str = ""  # in whose coordinates, where that is not plain
    group: str = ""  # the limb of joints with one coordinate each


@checked(trajectory=a_run, joints=some_names, what=some_names, limits=some_limits, **OUTPUT)
def plot_trajectory(trajectory, joints=None, what=None, path=None, show: bool = False, limits: str = "near"):
    """Draw a trajectory: one column per quantity, joints by limbs or in groups of six, energies and their change below.

    Parameters
    ----------
    trajectory : Trajectory
    joints : sequence of str, optional
        Names of the joints to draw; default all.
    what : sequence of str, optional
        Any of "q", "v", "a", "tau", "contact", "energy"; default all but "a", and "tau" only if a force acts, "contact"
        only if there is contact.
    path : path-like, optional
        Write the figure there.
    show : bool
        Open a window.
    limits : {"near", "all", "none"}
        Limits of positions, velocities and forces, if the run has its model: as dotted lines where a curve comes close,
        all, or none.

    Returns
    -------
    matplotlib.figure.Figure
    """
    if what is None:
        what = ("q", "v", *(("tau",) if np.any(trajectory.tau) else ()), "energy")
        what += ("contact",) if trajectory.metadata.contacts else ()
    what = (what,) if isinstance(what, str) else tuple(what)
    for name in what:
        if name not in QUANTITIES:
            raise unknown_name("quantity", name, QUANTITIES, "a trajectory's plot")
    names = selected_joints(trajectory, joints)
    quantities = [name for name in what if name in TITLES]
    rows = _rows(trajectory.coordinates, names, quantities) if quantities else []
    below = [name for name in ("contact", "energy") if name in what]
    if not rows and not below:
        raise KinetreeError("plot: nothing to draw; give at least one joint and one of q, v, a, tau, energy in what=.")
    groups = contact_groups(trajectory, "plot") if "contact" in what else {}
    title = heading(trajectory)
    if joints is None:
        moving = [row for row in rows if _moves(trajectory, row)]
        if rows and moving and len(moving) < len(rows):
            resting = sum(len(next(iter(row.values())).entries) for row in rows if row not in moving)
            rows, title = moving, f"{title}   |   {resting} coordinates at rest are left out"

    with drawing(_size(len(rows), len(quantities), len(below)), title, path, show) as figure:
        _draw(figure, trajectory, rows, quantities, below, groups, limits)
    return figure


def _moves(trajectory, row: dict[str, Panel]) -> bool:
    """Whether anything in a row of panels changes, or a force acts."""
    for quantity, panel in row.items():
        values = getattr(trajectory, quantity)[:, list(panel.entries)]
        if np.ptp(values, axis=0).max(initial=0.0) > STILL or (quantity != "q" and np.abs(values).max() > STILL):
            return True
    return False


def selected_joints(trajectory, joints) -> tuple[str, ...]:
    known = trajectory.coordinates.joints
    if joints is None:
        return known
    joints = (joints,) if isinstance(joints, str) else tuple(joints)
    for name in joints:
        if name not in known:
            raise unknown_name("joint", name, known, f"the trajectory of {trajectory.model_name!r}")
    return tuple(dict.fromkeys(joints))


def _rows(coordinates, names, quantities) -> list[dict[str, Panel]]:
    """Rows of panels: joints with one coordinate share a row if their units agree, others have rows of their own."""

    def row_of(name: str) -> tuple[str, str]:
        """The unit of a joint's only coordinate, after the name of a joint that has several."""
        joints, units = coordinates.velocity_joints, coordinates.velocity_units
        own = [unit for joint, unit in zip(joints, units, strict=True) if joint == name]
        return ("", own[0]) if len(own) == 1 else (name, "")

    limbs = {name: limb_of(name) for name in names}
    sizes = Counter(limbs.values())
    rows: list[dict[str, Panel]] = []
    # A limb of one joint would be a row of one curve: it joins its neighbors.
    for (alone, _, limb), together in _together(
        names, lambda name: (*row_of(name), limbs[name] if sizes[limbs[name]] > 1 else "")
    ):
        if alone:
            rows += _rows_of_joint(coordinates, alone, quantities)
            continue
        # Equal shares: twelve joints make 6 + 6, nine make 5 + 4, never 6 + 1. Limbs are not split for one joint more.
        most = CURVES_PER_PANEL + bool(limb)
        for part in np.array_split(together, -(-len(together) // most)):
            rows.append(_row(coordinates, tuple(map(str, part)), quantities, limb))
    return rows


def _together(names, key) -> list[tuple[tuple, list[str]]]:
    """Neighbors with equal keys; those of limbs also where others are between them."""
    groups: list[tuple[tuple, list[str]]] = []
    for found, together in itertools.groupby(names, key):
        known = next((group for of, group in groups if of == found and found[-1]), None)
        if known is None:
            groups.append((found, list(together)))
        else:
            known += together
    return groups


def _row(coordinates, names, quantities, limb: str = "") -> dict[str, Panel]:
    row = {}
    for quantity in quantities:
        joints, _, units = _table(coordinates, quantity)
        entries = tuple(joints.index(name) for name in names)
        row[quantity] = Panel(entries, names, units[entries[0]], group=limb)
    return row


def _rows_of_joint(coordinates, name, quantities) -> list[dict[str, Panel]]:
    """One row per group of equal units: a free joint has one for its translation and one for its rotation."""
    panels = {}
    for quantity in quantities:
        joints, labels, units = _table(coordinates, quantity)
        by_unit: dict[str, list[int]] = {}
        for k, joint in enumerate(joints):
            if joint == name:
                by_unit.setdefault(units[k], []).append(k)
        # A free joint's velocity and force are in the moving body's coordinates, its position in the parent's.
        turning = quantity != "q" and any(
            of == name and "quaternion" in label
            for of, label in zip(coordinates.position_joints, coordinates.position_labels, strict=True)
        )
        found = [
            Panel(tuple(ks), tuple(labels[k] for k in ks), unit, PARTS.get((quantity, unit)), "body axes" * turning)
            for unit, ks in by_unit.items()
        ]
        # Translations first in every column: q starts with the position, v with the angular velocity.
        panels[quantity] = sorted(found, key=lambda panel: panel.unit not in ("m", "m/s", "m/s^2", "N"))
    height = max(len(column) for column in panels.values())
    return [{q: column[r] for q, column in panels.items() if r < len(column)} for r in range(height)]


def _table(coordinates, quantity):
    """(joint, label, unit) of every entry of a quantity."""
    if quantity == "q":
        return coordinates.position_joints, coordinates.position_labels, coordinates.position_units
    units = {"v": "velocity_units", "a": "acceleration_units", "tau": "force_units"}[quantity]
    return coordinates.velocity_joints, coordinates.velocity_labels, getattr(coordinates, units)


def _size(rows: int, columns: int, below: int) -> tuple[float, float]:
    return max(7.2, 3.5 * columns + 1.4), 2.0 * rows + 2.4 * below + 0.7


def _draw(figure, trajectory, rows, quantities, below, groups, limits: str) -> None:
    heights = ([2.0 * len(rows)] if rows else []) + [2.4 for _ in below]
    parts = figure.subfigures(len(heights), 1, height_ratios=heights, squeeze=False)[:, 0]
    if rows:
        _draw_joints(parts[0], trajectory, rows, quantities, limits)
    for part, what in zip(parts[len(parts) - len(below) :], below, strict=True):
        if what == "energy":
            _draw_energies(part, trajectory)
        else:
            draw_contacts(part.subplots(1, 2, sharex=True), trajectory.time, groups)


def heading(trajectory) -> str:
    return f"{trajectory.model_name}   |   {trajectory.integrator}, dt = {trajectory.dt:g} s"


def _draw_joints(part, trajectory, rows, quantities, limits) -> None:
    grid = part.subplots(len(rows), len(quantities), squeeze=False, sharex=True)
    for r, row in enumerate(rows):
        # Joints with one coordinate each: one legend names them for all quantities.
        shared = all(panel.part is None and panel.labels == next(iter(row.values())).labels for panel in row.values())
        for c, quantity in enumerate(quantities):
            axes = grid[r, c]
            if quantity not in row:
                axes.set_axis_off()
                continue
            panel = row[quantity]
            table = getattr(trajectory, quantity)
            colors = cycle(len(panel.entries))
            columns = table[:, list(panel.entries)]
            curves(axes, trajectory.time, columns, colors, panel.labels)
            axes.set_ylabel(_axis_label(quantity, panel))
            bounds = _bounds(trajectory, quantity, limits)
            for color, k in zip(colors, panel.entries, strict=True):
                limit_lines(axes, table[:, k], *bounds(k), color, limits)
            if r == 0:
                axes.set_title(TITLES[quantity], pad=None if shared else 16)
            if r == len(rows) - 1 or all(quantity not in below for below in rows[r + 1 :]):
                axes.set_xlabel("time [s]")
                axes.tick_params(labelbottom=True)
            if not shared:
                symbols = SYMBOLS.get(quantity, {})
                short = [label.rsplit(".", 1)[-1].split()[-1] for label in panel.labels]
                short = [symbols.get(name[0], name[0]) + name[1:] for name in short]
                axes.legend(labels=short, loc="lower left", bbox_to_anchor=(0.0, 1.01), ncol=len(short),
                            handlelength=1.0, columnspacing=1.0, borderaxespad=0.0, borderpad=0.2)  # fmt: skip
        last = grid[r, len(quantities) - 1]
        if shared:
            _legend(last, grid[r], next(iter(row.values())).group)
        else:
            joint = next(iter(row.values())).labels[0].rsplit(".", 1)[0]
            last.annotate(joint, (1.02, 0.5), xycoords="axes fraction", va="center", fontsize=8)
    part.align_ylabels(grid)


def _shows_limit(axes) -> bool:
    """Whether a limit is within the range of a panel."""
    low, high = axes.get_ylim()
    return any(line.get_gid() == "limit" and low <= line.get_ydata()[0] <= high for line in axes.lines)


def _legend(axes, row, group: str) -> None:
    """The joints of a row, under the name of their limb; and limits, if any are drawn."""
    from matplotlib.lines import Line2D

    handles, labels = axes.get_legend_handles_labels()
    if any(_shows_limit(panel) for panel in row):
        handles.append(Line2D([], [], color=INK, linewidth=0.9, linestyle=DOTTED))
        labels.append("limits")
    axes.legend(
        handles, labels, title=group or None, loc="center left", bbox_to_anchor=(1.02, 0.5), borderaxespad=0.0,
        handlelength=1.6, alignment="left", title_fontproperties={"weight": "bold", "size": 8},
    )  # fmt: skip


def _bounds(trajectory, quantity: str, limits: str):
    """The limits of an entry of a quantity, lower and upper; infinite where there are none."""
    model = trajectory.model
    if model is None or limits == "none" or quantity == "a":
        return lambda k: (-math.inf, math.inf)
    if quantity in ("v", "tau"):
        largest = model.velocity_limit if quantity == "v" else model.effort_limit
        return lambda k: (-float(largest[k]), float(largest[k]))
    return lambda k: position_limits(trajectory, k)


def position_limits(trajectory, entry: int) -> tuple[float, float]:
    """Limits of an entry of q [rad or m], infinite where there are none."""
    model, c = trajectory.model, trajectory.coordinates
    k = matching_entry(entry, c.position_joints, c.velocity_joints)
    if model is None or k is None:
        return -math.inf, math.inf
    return float(model.lower[k]), float(model.upper[k])


def matching_entry(k: int, own, others) -> int | None:
    """The entry of another array that belongs to entry k, by their joints; None if the joint has not as many there."""
    joint = own[k]
    return others.index(joint) + k - own.index(joint) if own.count(joint) == others.count(joint) else None


def _axis_label(quantity: str, panel: Panel) -> str:
    if panel.unit == "1":  # "base.quaternion w" and its like: the legend has w, the axis has quaternion
        what = panel.labels[0].rsplit(".", 1)[-1].rsplit(" ", 1)[0]
        return f"orientation\n({what})" if what == "quaternion" else what
    if panel.part is not None:
        where = f", {panel.axes}" if panel.axes else ""
        return f"{panel.part}\n[{pretty(panel.unit)}]{where}"
    symbol = {"tau": r"$\tau$"}.get(quantity, f"${quantity}$")
    return f"{symbol} [{pretty(panel.unit)}]"


def _draw_energies(part, trajectory) -> None:
    left, right = part.subplots(1, 2, sharex=True)
    curves = [("kinetic", trajectory.kinetic_energy), ("gravity", trajectory.potential_energy)]
    if np.max(trajectory.elastic_energy) > 1e-3 * np.max(np.abs([values for _, values in curves])):
        curves.append(("elastic", trajectory.elastic_energy))
    for color, (label, values) in zip(COLORS, curves, strict=False):
        left.plot(trajectory.time, values, color=color, label=label)
    left.plot(trajectory.time, trajectory.energy, **DASHED, label="total")
    left.set(title="energy", ylabel="energy [J]")
    left.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), handlelength=1.6)

    change = trajectory.energy - trajectory.energy[0]
    largest = float(np.max(np.abs(change)))
    # The power of ten goes into the label: an offset above the axis would push the title up.
    power = 3 * math.floor(math.log10(largest) / 3) if 0.0 < largest < math.inf else 0
    filled(right, trajectory.time, change / 10.0**power)
    right.set_title("change of the total energy")
    right.set_ylabel(r"$E - E_0$ [J]" if power == 0 else rf"$E - E_0$ [$10^{{{power}}}$ J]")
    for axes in (left, right):
        axes.set_xlabel("time [s]")
