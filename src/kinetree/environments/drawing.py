"""Pictures of environments: the mechanism as a stick figure, by matplotlib."""

from __future__ import annotations

import numpy as np

from kinetree.viz.mechanism import plot_mechanism
from kinetree.viz.style import INK

DPI = 100


def picture(task, state, k: int) -> np.ndarray:
    """The mechanism of environment k, (height, width, 3) of bytes."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # no window, whatever the user's backend

    figure = plot_mechanism(task.model, state.q[k])
    (axes,) = figure.axes
    marks, follow = task.marks(state)[k], task.model.joints[1].nq == 7  # a free base is followed over the ground
    axes.plot(*marks.T, marker="x", linestyle="", color=INK)
    center = [*state.q[k, :2], 0.0] if follow else [0.0, 0.0, 0.0]
    low, high = task.reach * np.array([[-1.0, -1.0, -1.0 + follow], [1.0, 1.0, 1.0 + follow]])
    limits = np.transpose([center + low, center + high])
    axes.set(**{f"{axis}lim": tuple(pair) for axis, pair in zip("xyz", limits, strict=True)})
    canvas = FigureCanvasAgg(figure)
    figure.set_dpi(DPI)
    canvas.draw()
    return np.array(canvas.buffer_rgba())[..., :3]
