"""Contact forces over time: normal forces, friction beside its bound, and gaps, by body."""

from __future__ import annotations

import numpy as np

from kinetree.arguments import checked, refuse, some_names
from kinetree.errors import KinetreeError
from kinetree.viz.style import INK, OUTPUT, a_run, at_least, cycle, drawing, scale_spikes

BESIDE = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5), "handlelength": 1.4}


@checked(run=a_run, bodies=some_names, **OUTPUT)
def plot_contacts(run, bodies=None, path=None, show: bool = False):
    """Draw the normal forces, the friction beside its bound, and the least gaps of the bodies in contact over time.

    Parameters
    ----------
    run : Trajectory
        With contacts.
    bodies : str or sequence of str, optional
        Bodies, pairs or candidate points to draw; default: all bodies that touch.
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
        The run has no contacts.

    Examples
    --------
    >>> import kinetree as kt
    >>> b = kt.ModelBuilder("ball")
    >>> shape = kt.model.Geometry("sphere", (0.1,), name="ball")
    >>> b.add_body("ball", joint=kt.joints.Prismatic((0, 0, 1)), mass=1.0, geometry=[shape])
    >>> run = kt.simulate(b.build(), [0.15], duration=0.2, dt=0.01, ground=True)
    >>> figure = kt.viz.plot_contacts(run, path="contacts.png")
    """
    groups = contact_groups(run, "plot_contacts", bodies)
    title = f"{run.model_name}   |   {run.integrator}, dt = {run.dt:g} s"
    with drawing((7.2, 6.2), title, path, show) as figure:
        draw_contacts(figure.subplots(3, 1, sharex=True), run.time, groups)
        figure.align_ylabels()
    return figure


def contact_groups(run, what: str, bodies=None) -> dict:
    """Contacts by body, or by the given names: those that touch, where none are given."""
    contacts = run.contacts
    if contacts is None:
        raise KinetreeError(f"{what}: the run of {run.model_name!r} has no contacts; simulate it with ground=True.")
    if bodies is not None:
        chosen = (bodies,) if isinstance(bodies, str) else tuple(bodies)
        if not chosen:
            refuse(f"{what}: bodies", bodies, "at least one name of a body, a pair or a candidate point")
        return {name: contacts[name] for name in chosen}
    names = dict.fromkeys(x.second for x in contacts.candidates)
    touching = {name: found for name in names if (found := contacts[name]).touching.any()}
    return touching or {name: contacts[name] for name in names}


def draw_contacts(panels, time, groups: dict) -> None:
    """Draw contacts by name into two or three panels: normal forces, friction and bound, gaps."""
    normal, friction, *gaps = panels
    colors = cycle(len(groups))
    for color, (name, x) in zip(colors, groups.items(), strict=True):
        bound = x.normal_forces @ np.array([one.friction for one in x.candidates])
        normal.plot(time, x.normal_forces.sum(axis=1), color=color, label=name)
        friction.plot(time, x.friction_forces.sum(axis=1), color=color, label=name)
        friction.plot(time, bound, color=color, linewidth=0.9, linestyle=(0, (4, 2)), alpha=0.6, label="_bound")
        for axes in gaps:
            axes.plot(time, 1e3 * x.gaps.min(axis=1), color=color, label=name)
    forces = np.stack([x.normal_forces.sum(axis=1) for x in groups.values()])
    at_least(normal, forces)
    for axes in (normal, friction):
        scale_spikes(axes, forces)
    normal.set(title="normal force", ylabel="force [N]")
    normal.legend(**BESIDE)
    friction.set(title="friction, and its bound (dashed)", ylabel="force [N]")
    for axes in gaps:
        axes.axhline(0.0, color=INK, linewidth=0.9)
        axes.set(title="least gap", ylabel="gap [mm]")
    panels[-1].set_xlabel("time [s]")
