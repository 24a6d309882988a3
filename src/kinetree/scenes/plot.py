"""Pictures of scenes: the motion, and the energies in all formulations."""

from __future__ import annotations

import numpy as np

from kinetree.arguments import a_word, checked, choice
from kinetree.scenes.accelerations import ACCELERATIONS
from kinetree.scenes.runs import SCENES, formulations, run
from kinetree.viz.mechanism import plot_mechanism
from kinetree.viz.style import COLORS, OUTPUT, drawing

POSITIONS = 6  # of the mechanism, equally far apart in time


@checked(key=a_word, **OUTPUT)
def plot_scene(key: str, *, path=None, show: bool = False):
    """Draw a scene: positions of the mechanism, the last one darkest, and the energies of all formulations over time.

    Parameters
    ----------
    key : str
        Its number, as for `kinetree.scenes.run`.
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

    Examples
    --------
    >>> import kinetree as kt
    >>> figure = kt.scenes.plot_scene("-1")
    """
    scene = SCENES[choice("scene", key, SCENES, "the scenes of REDMAX")]
    runs = [run(key, name) for name in formulations(scene) if name not in (*ACCELERATIONS, "redmax_euler")]
    with drawing((8.6, 3.6), f"Scene {key}: {scene.title}", path, show) as figure:
        space, plane = figure.add_subplot(1, 2, 1, projection="3d"), figure.add_subplot(1, 2, 2)
        last = runs[-1]
        shown = np.linspace(0, len(last.time) - 1, POSITIONS).round().astype(int)
        plot_mechanism(scene.tree, last.q[shown], axes=space)
        space.set(xlabel="x [cm]", ylabel="y [cm]", zlabel="z [cm]")
        for found, color in zip(runs, COLORS, strict=False):
            plane.plot(found.time, found.energy, color=color, label=found.formulation)
            if found.expected is not None:
                plane.plot(found.time[-1], found.expected.energy, "o", color=color, markerfacecolor="none")
        plane.set(xlabel="time [s]", ylabel="kinetic and potential energy [erg]")
        plane.legend()
    return figure
