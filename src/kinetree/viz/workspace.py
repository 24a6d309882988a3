"""Plots of the reachable workspace of a frame."""

from __future__ import annotations

import numpy as np

from kinetree.arguments import a_count, a_model, checked
from kinetree.compiler.calls import public_call
from kinetree.errors import KinetreeError
from kinetree.viz.style import COLORS, INK, OUTPUT, drawing

BINS = 44
VIEWS = ((0, 2), (0, 1))  # from the side, from above
AXES = "xyz"


@checked(model=a_model, samples=a_count, **OUTPUT)
def plot_workspace(model, frame, samples: int = 10_000, *, path=None, show: bool = False):
    """Draw where a frame can be: its positions at random joint positions within the limits, from the side and above.

    Parameters
    ----------
    model : Model
    frame : str
        Name of the frame or body.
    samples : int
        The number of random positions.
    path : path-like, optional
        Write the figure there.
    show : bool
        Open a window.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    UnknownNameError
        The model has no such frame.
    KinetreeError
        Nothing moves the frame.

    Notes
    -----
    Points are counted in squares; a square is darker the more joint positions lead there. The root joint of a floating
    base stays where it is. Collisions of the robot with itself are not considered.

    Examples
    --------
    >>> import kinetree as kt
    >>> figure = plot_workspace(kt.load("arm7"), "tool", 500)
    """
    p = reached(model, frame, samples)
    extent = np.ptp(p, axis=0)
    if extent.max() < 1e-9:
        raise KinetreeError(f"plot_workspace: no joint of model {model.name!r} moves the frame {frame!r}.")
    middle, half = (p.max(axis=0) + p.min(axis=0)) / 2, 0.54 * extent.max()
    title = f"{model.name}   |   positions of {model.frame(frame).name}, {samples} random positions of the joints"
    with drawing((7.6, 3.9), title, path, show) as figure:
        from matplotlib.colors import LinearSegmentedColormap, LogNorm

        shades = LinearSegmentedColormap.from_list("shades", ["#CFE3F1", COLORS[0], "#00304D"])
        panels = figure.subplots(1, 2)
        for axes, (i, k), name in zip(panels, VIEWS, ("from the side", "from above"), strict=True):
            ends = [[middle[n] - half, middle[n] + half] for n in (i, k)]
            counts, xs, ys = np.histogram2d(p[:, i], p[:, k], bins=BINS, range=ends)
            shown = np.ma.masked_equal(counts.T, 0)
            axes.pcolormesh(xs, ys, shown, cmap=shades, norm=LogNorm(1, max(2, counts.max())), rasterized=True)
            axes.plot(0.0, 0.0, "s", color=INK, markersize=5)
            axes.annotate("world", (0.0, 0.0), (5, 4), textcoords="offset points", fontsize=8)
            axes.set(xlabel=f"{AXES[i]} [m]", ylabel=f"{AXES[k]} [m]", title=name, aspect="equal")
            axes.set(xlim=ends[0], ylim=ends[1])
    return figure


def reached(model, frame, samples: int, seed: int = 0) -> np.ndarray:
    """Positions of a frame at random positions of the joints.

    Parameters
    ----------
    model : Model
    frame : str
    samples : int
    seed : int

    Returns
    -------
    (samples, 3) array
        In the world [m].
    """
    rng = np.random.default_rng(seed)
    q = np.stack([model.random_state(rng)[0] for _ in range(samples)])
    for i in model.children(0):
        if model.joints[i].nv == 6:
            q[:, model.q_slice[i]] = model.neutral()[model.q_slice[i]]
    return public_call("pose")(model, q, frame=frame)[1]
