"""The look of all plots: colors, lines, units, and figures that need no display."""

from __future__ import annotations

import contextlib
import math
from pathlib import Path

import numpy as np

from kinetree.arguments import a_path, a_truth_value, choice, of_kind
from kinetree.errors import UnsupportedError
from kinetree.files import replacing

# Okabe and Ito's colors, which color-blind readers can distinguish, without the yellow that vanishes on white.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
INK, GRID = "#333333", "#E6E6E6"
NEAR = 0.1  # of the range between two limits: the limit is drawn where a curve comes so close


STYLE = {
    "font.size": 9, "axes.titlesize": 10, "xtick.labelsize": 8, "ytick.labelsize": 8, "legend.fontsize": 8,
    "text.color": INK, "axes.labelcolor": INK, "xtick.color": INK, "ytick.color": INK,
    "axes.titleweight": "bold", "axes.titlelocation": "left", "legend.frameon": False,
    "axes.edgecolor": "#999999", "axes.linewidth": 0.8, "axes.spines.top": False, "axes.spines.right": False,
    "axes.grid": True, "axes.axisbelow": True, "grid.color": GRID, "grid.linewidth": 0.8, "lines.linewidth": 1.4,
    "axes.xmargin": 0.01, "axes.formatter.useoffset": False, "axes.formatter.limits": (-3, 4),
    "axes.prop_cycle": f"cycler('color', {list(COLORS)})", "savefig.dpi": 150, "svg.fonttype": "none",
}  # fmt: skip
"""Settings of matplotlib of all plots of kinetree, for plots beside them: ``plt.style.use(kt.viz.STYLE)``."""
DASHED = {"color": INK, "linewidth": 1.8, "linestyle": (0, (4, 1.5))}  # a sum over other curves
OPEN = {"marker": "o", "linestyle": "", "markerfacecolor": "white", "markersize": 4.5}  # where a path starts
DOT = {"marker": "o", "linestyle": "", "markersize": 4.5}  # where it ends

DOTTED = (0, (1, 1.6))  # limits

OUTPUT = {"path": a_path, "show": a_truth_value}
"""Checks of arguments that all pictures take, for `kinetree.arguments.checked`."""
a_run = of_kind("Trajectory, as kt.simulate gives it", "coordinates", "model_name", "time")


def some_limits(what: str, value: object) -> None:
    """The choice of limits to draw."""
    choice("choice", value, ("near", "all", "none"), "limits= of a plot")


@contextlib.contextmanager
def drawing(size: tuple[float, float], title: str, path=None, show: bool = False):
    """A figure to draw into, in the style; then it is written and shown on request.

    Parameters
    ----------
    size : tuple of float
        Width and height [inch].
    title : str
    path : path-like, optional
    show : bool
    """
    import matplotlib as mpl

    with mpl.rc_context(STYLE):
        figure = new_figure(size, show, layout="constrained")
        figure.suptitle(title, x=0.01, ha="left", fontsize=10, color=INK)
        yield figure
        if path is not None:
            save_figure(figure, path)
    if show:
        show_figures()


def new_figure(size: tuple[float, float], show: bool, **options):
    """A figure [inch] with options of matplotlib's; only one that is shown has a window and is registered in pyplot."""
    if show:
        import matplotlib.pyplot as plt

        return plt.figure(figsize=size, **options)
    from matplotlib.figure import Figure  # without pyplot: no display, no global state

    return Figure(figsize=size, **options)


def show_figures() -> None:
    """Open the windows of figures that were made to be shown."""
    import matplotlib.pyplot as plt

    plt.show()


def check_format(path) -> None:
    """Refuse a figure of a format that matplotlib does not write.

    Parameters
    ----------
    path : path-like

    Raises
    ------
    UnsupportedError
        No format has this suffix; all that have are named.
    """
    from matplotlib.backend_bases import FigureCanvasBase

    known, suffix = FigureCanvasBase.get_supported_filetypes(), Path(path).suffix
    if suffix and suffix[1:].lower() not in known:
        names = ", ".join(f".{name}" for name in known)
        raise UnsupportedError(f"{path}: the suffix {suffix!r} names no format of figures; known: {names}.", path=path)


def save_figure(figure, path, **options) -> None:
    """Write a figure in the format that the suffix of the path names; the file is replaced as a whole or not at all.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
    path : path-like
        Without a suffix, matplotlib's own choice (PNG) is added.
    **options
        Of ``Figure.savefig``.
    """
    path = Path(path)
    check_format(path)
    if not path.suffix:
        path = path.with_name(f"{path.name}.{figure.canvas.get_default_filetype()}")
    with replacing(path) as file:
        figure.savefig(file, format=path.suffix[1:].lower(), **options)


def pretty(unit: str) -> str:
    """The unit as it is printed."""
    return unit.replace("^2", "\N{SUPERSCRIPT TWO}").replace("N m", "N\N{NO-BREAK SPACE}m")


def at_least(axes, values) -> None:
    """Keep constant curves flat: without this, matplotlib zooms into their rounding."""
    low, high = float(np.min(values)), float(np.max(values))
    margin = 1e-6 * max(1.0, abs(low), abs(high))
    if high - low < margin:
        axes.set_ylim(low - 0.5 * max(1.0, abs(low)), high + 0.5 * max(1.0, abs(high)))


def filled(axes, time, values) -> None:
    """A curve and the area below it."""
    axes.plot(time, values, color=INK)
    axes.fill_between(time, values, color=COLORS[0], alpha=0.12, linewidth=0)
    at_least(axes, values)


def cycle(count: int) -> list[str]:
    """So many colors, from the first on again after the last."""
    return [COLORS[n % len(COLORS)] for n in range(count)]


DASH = 2.5  # of curves on another, in turn: it shows through their gaps [line widths]
SAME = 3e-3  # of the height of a panel: closer curves cannot be distinguished
STILL = 1e-6  # rad, m, N m, ...: smaller values are those of bodies at rest
SPIKE = 12.0  # times the size of 95 % of the values: a linear axis would hide all but the spike


def curves(axes, time, columns, colors, labels) -> None:
    """Curves over time; one that coincides with another is dashed, and spikes get a logarithmic axis.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
    time : (T,) array
    columns : (T, n) array
    colors, labels : sequence of str
    """
    close = max(SAME * float(np.ptp(columns)), STILL)
    first = [
        next(j for j in range(k + 1) if np.max(np.abs(columns[:, k] - columns[:, j])) <= close)
        for k in range(columns.shape[1])
    ]
    for k, (color, label) in enumerate(zip(colors, labels, strict=True)):
        others, turn = first.count(first[k]) - 1, first[:k].count(first[k])
        style = (-(turn - 1) * DASH, (DASH, others * DASH)) if turn else "-"
        axes.plot(time, columns[:, k], color=color, label=label, linestyle=style)
    at_least(axes, columns)
    scale_spikes(axes, columns)


def scale_spikes(axes, values) -> None:
    """A symmetric logarithmic axis where a few large values would hide all others.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
    values : array
    """
    sizes = np.abs(np.asarray(values, dtype=float)).ravel()
    sizes = sizes[sizes > STILL]
    if sizes.size < 20 or not np.isfinite(sizes).all():
        return
    usual, largest = float(np.quantile(sizes, 0.95)), float(sizes.max())
    if not SPIKE * usual < largest:
        return
    # One decade below the usual size is linear, so that zero and signs remain.
    linear = max(10.0 ** math.floor(math.log10(usual)), STILL)
    axes.set_yscale("symlog", linthresh=linear, linscale=1.0)
    low, high = float(np.min(values)), float(np.max(values))
    axes.set_ylim(1.6 * low if low < -linear else -linear * (low < 0), 1.6 * high if high > linear else linear)
    axes.annotate("logarithmic", (1.0, 1.0), xycoords="axes fraction", ha="right", va="bottom", fontsize=7, color=INK)


def limit_lines(axes, values, lower: float, upper: float, color: str, which: str, vertical: bool = False) -> None:
    """Dotted lines at limits: those that the values come near to or pass, or all.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
    values : (T,) array
    lower, upper : float
        Infinite for none.
    color : str
    which : {"near", "all", "none"}
    vertical : bool
        The values run along the horizontal axis.
    """
    if which == "none" or not lower < upper:
        return
    reach = NEAR * (upper - lower) if math.isfinite(upper - lower) else NEAR * float(np.ptp(values))
    close = (float(np.min(values)) - lower < reach, upper - float(np.max(values)) < reach)
    draw = axes.axvline if vertical else axes.axhline
    for limit, is_close in zip((lower, upper), close, strict=True):
        if math.isfinite(limit) and (which == "all" or is_close):
            draw(limit, color=color, linewidth=0.9, linestyle=DOTTED, alpha=0.9, label="_limit", gid="limit")
