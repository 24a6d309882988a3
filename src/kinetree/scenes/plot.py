"""Pictures of scenes: the motion, and the energies in all formulations."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from kinetree.arguments import a_word, an_instance, checked, choice, refuse, several
from kinetree.compiler.calls import public_call
from kinetree.scenes.accelerations import ACCELERATIONS
from kinetree.scenes.runs import SCENES, SceneRun, formulations, run
from kinetree.viewer.stick_figure import box_edges, principal
from kinetree.viz.mechanism import plot_mechanism
from kinetree.viz.style import COLORS, OUTPUT, drawing

POSITIONS = 6  # of the mechanism, equally far apart in time
DASHES = {"redmax_euler": (0, (4, 3)), "maximal": (0, (4, 3)), "redmax": (0, (1, 2))}
"""Lines of formulations that lie on those of others."""
CORNERS = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
EDGES = [(a, b) for a in range(8) for b in range(a) if np.abs(CORNERS[a] - CORNERS[b]).sum() == 1.0]


@checked(key=a_word, runs=several(an_instance(SceneRun)), **OUTPUT)
def plot_scene(key: str, *, runs: Sequence[SceneRun] | None = None, path=None, show: bool = False):
    """Draw a scene: positions of the mechanism, the last one darkest, and the energies of all formulations over time.

    Bodies at the end are boxes with their mass and inertia. Circles are the published energies.

    Parameters
    ----------
    key : str
        Its number, as for `kinetree.scenes.run`.
    runs : sequence of SceneRun, optional
        Of this scene; default: of the published scheme, and with adaptive steps.
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
        There is no such scene.
    ArgumentError
        Runs of another scene.

    Examples
    --------
    >>> import kinetree as kt
    >>> figure = kt.scenes.plot_scene("-1")
    """
    scene = SCENES[choice("scene", key, SCENES, "the scenes of REDMAX")]
    if runs is None:
        runs = [run(key, name) for name in formulations(scene) if name not in (*ACCELERATIONS, "redmax_euler")]
    if not runs or any(found.scene is not scene for found in runs):
        refuse("plot_scene: runs", runs, f"runs of scene {key!r}, as kt.scenes.run({key!r}) gives them")
    with drawing((8.6, 3.8), f"Scene {key}: {scene.title}", path, show) as figure:
        space, plane = figure.add_subplot(1, 2, 1, projection="3d"), figure.add_subplot(1, 2, 2)
        last = runs[-1]
        shown = np.linspace(0, len(last.time) - 1, POSITIONS).round().astype(int)
        plot_mechanism(scene.tree, last.q[shown], axes=space)
        _draw_bodies(space, scene.tree, last.q[-1])
        space.set(xlabel="x [cm]", ylabel="y [cm]", zlabel="z [cm]")
        for found, color in zip(runs, itertools.cycle(COLORS), strict=False):
            dashes = DASHES.get(found.formulation, "-")
            plane.plot(found.time, found.energy, color=color, linestyle=dashes, label=found.formulation)
            if found.expected is not None:
                plane.plot(found.time[-1], found.expected.energy, "o", color=color, markerfacecolor="none")
        plane.set(xlabel="time [s]", ylabel="kinetic and potential energy [erg]")
        plane.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=3)
    return figure


def _draw_bodies(axes, model, q) -> None:
    """The homogeneous boxes that have the masses and inertias of the bodies, with room for all of them in the axes."""
    R, p = public_call("frame_poses")(model, q, *([0.0] if model.time_dependent else []))
    corners = []
    for i in model.outward():
        if (edges := box_edges(model, i)) and max(edges) > 0.0:
            inside = np.array([*model.I[i].com]) + (CORNERS * edges) @ principal(model, i)[1].T
            corners.append(p[i] + inside @ R[i].T)
            for a, b in EDGES:
                axes.plot(*corners[-1][[a, b]].T, color=COLORS[i % len(COLORS)], linewidth=0.7)
    limits = np.array([axes.get_xlim(), axes.get_ylim(), axes.get_zlim()])
    everything = np.concatenate([limits.T, *corners])
    middle = 0.5 * (everything.max(axis=0) + everything.min(axis=0))
    half = 0.5 * float(np.max(np.ptp(everything, axis=0)))
    axes.set(**{f"{axis}lim": (x - half, x + half) for axis, x in zip("xyz", middle, strict=True)})
