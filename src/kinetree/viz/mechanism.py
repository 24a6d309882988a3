"""Drawings of mechanisms: lines between the joints of the tree, the frames and the loops of each body."""

from __future__ import annotations

import numpy as np

from kinetree.arguments import a_model, array, checked, of_kind, refuse
from kinetree.compiler.calls import public_call
from kinetree.model.closing import usual_position
from kinetree.viz.style import COLORS, INK, OPEN, OUTPUT, new_figure, save_figure, show_figures
from kinetree.viz.tendons import draw_tendons

PALEST = 0.2  # of several positions the opacity of the first


@checked(model=a_model, axes=of_kind("3D subplot of matplotlib", "plot_surface", "figure"), **OUTPUT)
def plot_mechanism(model, q=None, *, path=None, show: bool = False, axes=None):
    """Draw a mechanism in space: its bodies as lines between joints, frames and loops, which have open marks.

    Tendons are drawn with their curves around shapes, springs between two points as lines.

    Parameters
    ----------
    model : Model
    q : (nq,) or (N, nq) array_like, optional
        A position, or several, the last one darkest [rad or m; quaternions unit]. Default: the keyframe "initial", or
        the neutral position.
    path : path-like, optional
        Write the figure there.
    show : bool
        Open a window.
    axes : matplotlib 3D axes, optional
        Draw there, instead of in a new figure.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ArgumentError, ShapeError, UnsupportedError
        Also for models over planar vectors.

    Examples
    --------
    >>> import kinetree as kt
    >>> figure = plot_mechanism(kt.models.delta_robot())
    """
    if model.algebra.dimension != 6:
        refuse("plot_mechanism: model", model, "a model in space, not its planar form")
    Q = np.atleast_2d(usual_position(model) if q is None else array("plot_mechanism: q", q))
    if Q.ndim != 2 or Q.shape[1] != model.nq or not len(Q):
        refuse("plot_mechanism: q", q, f"positions of shape ({model.nq},) or (N, {model.nq})")
    figure = axes.figure if axes is not None else new_figure((4.6, 4.4), show)
    axes = axes if axes is not None else figure.add_subplot(projection="3d")
    everything = np.concatenate([_draw(axes, model, x, s) for x, s in zip(Q, _shades(len(Q)), strict=True)])
    middle = 0.5 * (everything.max(axis=0) + everything.min(axis=0))
    half = 0.55 * max(float(np.max(np.ptp(everything, axis=0))), 1e-6)
    axes.set(**{f"{axis}lim": (x - half, x + half) for axis, x in zip("xyz", middle, strict=True)})
    axes.set(**{f"{axis}label": f"${axis}$ [m]" for axis in "xyz"})
    axes.locator_params(nbins=4)
    axes.set_box_aspect((1, 1, 1), zoom=0.85)
    if path is not None:
        save_figure(figure, path)
    if show:
        show_figures()
    return figure


def _shades(count: int) -> np.ndarray:
    return np.linspace(PALEST, 1.0, count) if count > 1 else np.ones(1)


def _draw(axes, model, q, shade: float) -> np.ndarray:
    """Draw one position; the points that were drawn."""
    poses = public_call("frame_poses")(model, q, *([0.0] if model.time_dependent else []))
    points, R = poses[1], poses[0]
    ends = {i: [] for i in model.outward()}  # points of each body besides its origin
    for k, frame in enumerate(model.frames[model.nb :], start=model.nb):
        if frame.body:
            ends[frame.body].append(points[k])
    marks = []
    for loop in model.loops:
        for name, X in ((loop.predecessor, loop.X_P), (loop.successor, loop.X_S)):
            k = next(n for n, frame in enumerate(model.frames) if frame.name == name)
            marks.append(points[k] + R[k] @ np.array([*X.r]))
            if model.frames[k].body:
                ends[model.frames[k].body].append(marks[-1])
    for i in model.outward():
        p, leaf = model.parent[i], not model.children(i)
        if p:
            ends[p].append(points[i])
        if leaf and not ends[i] and model.I[i].m:
            ends[i].append(points[i] + R[i] @ np.array([*model.I[i].com]))
    for i, others in ends.items():
        for end in others:
            axes.plot(*np.transpose([points[i], end]), color=COLORS[i % len(COLORS)], alpha=shade, linewidth=2.0)
    joints = np.array([points[i] for i in model.outward()]).reshape(-1, 3)
    axes.plot(*joints.T, marker="o", linestyle="", markersize=3.0, color=INK, alpha=shade)
    if marks:
        axes.plot(*np.transpose(marks), **OPEN, color=INK, alpha=shade)
    curves = draw_tendons(axes, model, q, shade)
    return np.array([*joints, *marks, *curves, *(end for others in ends.values() for end in others)])
