"""Animations by matplotlib alone, for scripts and notebooks: stick figures, or the shapes of the robot."""

from __future__ import annotations

import numpy as np

from kinetree.arguments import a_positive_number, a_truth_value, checked, choice, names
from kinetree.viewer.choices import ROLES, a_direction, a_size, runs_or_models

DPI = 100.0


@checked(
    runs=runs_or_models, fps=a_positive_number, speed=a_positive_number, size=a_size, camera=a_direction,
    zoom=a_positive_number, show=a_truth_value, overlays=lambda what, x: names(what, x),
    shapes=lambda what, x: choice(what, x, ROLES, "shapes= of an animation"),
)  # fmt: skip
def animate(
    runs, *, fps: float = 25.0, speed: float = 1.0, size=(640, 360), shapes: str = "stick", camera=None,
    zoom: float = 1.0, overlays=None, show: bool = False,
):  # fmt: skip
    """Animate runs by matplotlib: no browser, no file and no other package is needed.

    In a notebook ``HTML(animate(run).to_jshtml())`` plays it in the page.

    Parameters
    ----------
    runs : Trajectory, or sequence of them
        Several are drawn over each other, all but the first tinted.
    fps : float
        Frames per second of the animation [1/s].
    speed : float
        Simulated seconds per second [1].
    size : (int, int)
        Width and height [pixels].
    shapes : {"stick", "visual", "collision"}
    camera : (3,) array_like, optional
        Vector to the camera, as of `kinetree.viz.save_view` [1].
    zoom : float
        Magnification [1].
    overlays : sequence of str, optional
        Names of the vectors that are drawn; default: as in pages.
    show : bool
        Open a window.

    Returns
    -------
    matplotlib.animation.FuncAnimation
        It has to be kept as long as it plays.

    Raises
    ------
    ArgumentError, KinetreeError
        A run was loaded without its model.

    Examples
    --------
    >>> import kinetree as kt
    >>> run = kt.simulate(kt.load("double_pendulum"), [1.0, 0.5], duration=0.2)
    >>> len(animate(run, fps=10).to_jshtml()) > 10_000
    True
    """
    from matplotlib.animation import FuncAnimation

    from kinetree.viewer.recording import direction_of, recording
    from kinetree.viewer.shaded import SKY, Drawing
    from kinetree.viz.style import new_figure, show_figures

    fps, speed = float(fps), float(speed)
    recorded = recording(list(runs) if isinstance(runs, (list, tuple)) else [runs], fps / speed, None, shapes)
    figure = new_figure((size[0] / DPI, size[1] / DPI), show, dpi=DPI, facecolor=SKY)
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    direction = direction_of(recorded.low, recorded.high) if camera is None else camera
    shown = None if overlays is None else names("animate: overlays", overlays)
    drawing = Drawing(recorded, direction, zoom, size[0] / size[1], shown)
    count = max(1, round((recorded.end - recorded.start) / speed * fps))
    times = recorded.start + np.arange(count) * speed / fps
    found = FuncAnimation(figure, lambda t: drawing.draw(axes, t), frames=times, interval=1e3 / fps,
                          init_func=lambda: None)  # fmt: skip
    if show:
        show_figures()
    return found
