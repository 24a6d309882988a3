"""Plots of a model's structure: its connectivity tree with loops, and the sparsity of its mass matrix."""

from __future__ import annotations

import numpy as np

from kinetree.arguments import a_model, checked
from kinetree.errors import KinetreeError
from kinetree.viz.style import COLORS, GRID, INK, OUTPUT, drawing

NAMED = 48  # coordinates whose names fit beside a matrix
PER_BODY, PER_LEVEL, WIDEST = 0.3, 1.5, 11.0  # size of a tree [inch]
OTHERS = "other joints"


@checked(model=a_model, **OUTPUT)
def plot_connectivity(model, *, path=None, show: bool = False):
    """Draw the connectivity tree: bodies from the world outward, colored by the kind of their joint; loops dashed.

    Parameters
    ----------
    model : Model
    path : path-like, optional
        Write the figure there.
    show : bool
        Open a window.

    Returns
    -------
    matplotlib.figure.Figure

    Notes
    -----
    Source: Featherstone, *Rigid Body Dynamics Algorithms*, section 4.1: nodes are bodies, arcs are joints; chords close
    loops.

    Examples
    --------
    >>> import kinetree as kt
    >>> figure = plot_connectivity(kt.models.four_bar())
    """
    place = _layout(model)
    levels, rows = max(x for x, _ in place) + 1, max(y for _, y in place) + 1
    loops = f"{len(model.loops)} loop{'' if len(model.loops) == 1 else 's'}"
    size = (min(WIDEST, max(6.0, PER_LEVEL * levels)), max(1.9, PER_BODY * rows + 1.1))
    title = f"{model.name}   |   {model.nb - 1} bodies, {model.nv} freedoms of the tree, {loops}"
    with drawing(size, title, path, show) as figure:
        axes = figure.subplots()
        colors = _colors(model)
        for i in range(1, model.nb):
            (x0, y0), (x1, y1) = place[model.parent[i]], place[i]
            axes.plot([x0, x0 + 0.25, x0 + 0.25, x1], [y0, y0, y1, y1], color="#BBBBBB", linewidth=1.1, zorder=1)
        known = set()
        for i, (x, y) in enumerate(place):
            kind = model.joints[i].kind if i else ""
            color, name = colors.get(kind, COLORS[6]), kind if kind in colors else OTHERS
            label = name if i and name not in known else "_"
            known.add(name if i else "")
            axes.plot(x, y, "o" if i else "s", color=color if i else INK, markersize=6.5, label=label, zorder=3)
            axes.annotate(model.body_names[i], (x, y), (4, 2), textcoords="offset points", va="bottom", fontsize=7)
        _draw_loops(axes, model, place)
        axes.set(xlim=(-0.2, levels - 0.2), ylim=(rows - 0.4, -0.9))
        axes.set_axis_off()
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=4, handlelength=1.4, columnspacing=1.4)
    return figure


def _layout(model) -> list[tuple[float, float]]:
    """Depth and row of each body: leaves have rows of their own, other bodies that of their first child."""
    place: list[tuple[float, float]] = [(0.0, 0.0)] * model.nb
    row = -1

    stack = [(0, True)]
    while stack:
        i, first = stack.pop()
        row += not first or i == 0
        place[i] = float(model.depth[i]), float(row)
        children = list(model.children(i))
        stack += [(child, k == 0) for k, child in reversed(list(enumerate(children)))]
    return place


def _colors(model) -> dict[str, str]:
    """Colors of the most frequent kinds of joints."""
    kinds = [joint.kind for joint in model.joints[1:]]
    common = sorted(set(kinds), key=lambda kind: (-kinds.count(kind), kind))[:6]
    return dict(zip(common, COLORS, strict=False))


def _draw_loops(axes, model, place) -> None:
    """Dashed arcs between the bodies of each loop joint."""
    from matplotlib.patches import FancyArrowPatch

    for k, loop in enumerate(model.loops):
        ends = [place[model.frame(name).body] for name in (loop.predecessor, loop.successor)]
        bend = 0.22 + 0.05 * (k % 3)
        axes.add_patch(FancyArrowPatch(
            *ends, arrowstyle="-", connectionstyle=f"arc3,rad=-{bend}", linestyle=(0, (4, 2)), linewidth=1.2,
            color="#B22222", shrinkA=5, shrinkB=5, zorder=2,
        ))  # fmt: skip
    if model.loops:
        kinds = ", ".join(dict.fromkeys(loop.joint.kind for loop in model.loops))
        axes.plot([], [], color="#B22222", linestyle=(0, (4, 2)), linewidth=1.2, label=f"loops: {kinds}")


@checked(model=a_model, **OUTPUT)
def plot_sparsity(model, *, path=None, show: bool = False):
    """Draw where the mass matrix of the tree has entries: two coordinates meet where one's body supports the other's.

    Parameters
    ----------
    model : Model
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
        The model has no freedom.

    Notes
    -----
    Source: Featherstone, *Rigid Body Dynamics Algorithms*, section 6.4: branch-induced sparsity. The factor L of
    M = L^T L has entries in the same places of its lower triangle, none more.

    Examples
    --------
    >>> import kinetree as kt
    >>> figure = plot_sparsity(kt.load("humanoid"))
    """
    if model.nv == 0:
        raise KinetreeError(f"plot_sparsity: model {model.name!r} has no freedom, so no mass matrix.")
    pattern = sparsity(model)
    share = 1.0 - pattern.mean()
    edge = min(8.0, max(2.6, 0.16 * model.nv + 1.2))
    title = f"{model.name}   |   mass matrix, {model.nv} x {model.nv}, {share:.0%} zeros"
    with drawing((edge + 1.6, edge + 0.4), title, path, show) as figure:
        from matplotlib.colors import ListedColormap

        axes = figure.subplots()
        # Pairs of different coordinates lighter than the diagonal, so that limbs are seen as blocks.
        values = np.where(pattern, 1, 0) + np.eye(model.nv, dtype=int)
        axes.imshow(values, cmap=ListedColormap(["#F7F7F7", "#7FB3D8", COLORS[0]]), vmin=0, vmax=2)
        axes.set_xticks(np.arange(-0.5, model.nv), minor=True)
        axes.set_yticks(np.arange(-0.5, model.nv), minor=True)
        axes.grid(visible=False)
        if model.nv <= NAMED:
            axes.grid(which="minor", color="white", linewidth=0.8)
            axes.set_yticks(range(model.nv), model.velocity_labels, fontsize=7)
        axes.tick_params(which="both", length=0)
        axes.set_xticks([])
        for spine in axes.spines.values():
            spine.set(visible=True, color=GRID)
    return figure


def sparsity(model) -> np.ndarray:
    """Where the mass matrix of the tree may have entries.

    Parameters
    ----------
    model : Model

    Returns
    -------
    (nv, nv) array of bool
    """
    body = np.repeat(np.arange(model.nb), [s.stop - s.start for s in model.v_slice])
    supports = np.zeros((model.nb, model.nb), dtype=bool)
    for i in range(model.nb):
        supports[list(model.subtree(i)), i] = True
    supports |= supports.T
    return supports[np.ix_(body, body)]
