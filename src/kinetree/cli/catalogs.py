"""``kinetree robots``, ``joints`` and ``scenes``: lists of what ships with kinetree."""

from __future__ import annotations

from typing import Annotated

import typer

from kinetree.arguments import choice
from kinetree.cli import completion
from kinetree.cli.options import Figure, argument, option
from kinetree.cli.printing import Output, print_rows, print_table
from kinetree.cli.registration import command
from kinetree.cli.targets import check_figure
from kinetree.errors import UnsupportedError, unknown_name


def _kinds() -> list[str]:
    from kinetree.joints import JOINTS

    return list(JOINTS)


def _scenes() -> list[str]:
    from kinetree.scenes.runs import SCENES

    return list(SCENES)


@command
def robots() -> Output:
    """List the robots that ship with kinetree."""
    from kinetree import data

    names = data.robots()
    return Output(names, lambda: typer.echo("\n".join(names)))


@command
def joints(
    kind: Annotated[str | None, argument("One kind, such as helical.", completion.words(_kinds))] = None,
    plot: Figure = None,
) -> Output:
    """List the kinds of joints with their coordinates, or draw how they move."""
    from kinetree import viz

    check_figure(plot)
    kinds = {entry.kind: entry for entry in viz.joint_kinds()}
    if kind is not None and kind not in kinds:
        raise unknown_name("joint kind", kind, kinds, "the registry of joints")
    shown = list(kinds.values()) if kind is None else [kinds[kind]]
    rows = [(entry.kind, str(entry)) for entry in shown]
    if plot is not None:
        viz.joint_gallery(path=plot) if kind is None else viz.plot_joint(kinds[kind].joint, path=plot)
        rows.append(("written", str(plot)))
    data = [{"kind": entry.kind, "nq": entry.joint.nq, "nv": entry.joint.nv, "text": str(entry)} for entry in shown]
    return Output(data, lambda: print_rows(rows))


@command
def scenes(
    key: Annotated[str | None, argument("One scene, such as 5 or d12.", completion.words(_scenes))] = None,
    plot: Figure = None,
    everything: Annotated[bool, option("Run all scenes.", "--all")] = False,
    first: Annotated[bool, option("Run scene -1.", "-1")] = False,
    formulation: Annotated[
        str | None, option("Only in this formulation; also any integrator with fixed steps, such as rk4.")
    ] = None,
) -> Output:
    """List the scenes of REDMAX, or run one in all formulations and compare it with the published results."""
    from kinetree.scenes import runs
    from kinetree.simulation.progress import Progress

    check_figure(plot)
    if (key is not None) + everything + first > 1:
        raise UnsupportedError("give one scene, or --all for all of them, not both.", option="all")
    key = "-1" if first else key
    if plot is not None and everything:
        raise UnsupportedError("--plot is of one scene: kinetree scenes 5 --plot scene.png.", option="plot")
    if key is None and not everything:
        if plot is not None:
            raise UnsupportedError("--plot is of one scene: kinetree scenes 5 --plot scene.png.", option="plot")
        titles = {name: scene.title for name, scene in runs.SCENES.items()}
        return Output(titles, lambda: print_rows(titles.items()))
    keys = list(runs.SCENES) if everything else [choice("scene", key, runs.SCENES, "the scenes of REDMAX")]
    chosen = {name: (formulation,) if formulation else runs.formulations(runs.SCENES[name]) for name in keys}
    found, bar = [], Progress("scenes", sum(map(len, chosen.values())), None)
    try:
        for name, how in [(each, how) for each in keys for how in chosen[each]]:
            bar.tick(len(found), f"{name}: {how}")
            found.append(runs.run(name, how))
    finally:
        bar.close()
    headings, *rows = runs.rows(found)
    if plot is not None:
        from kinetree.scenes.plot import plot_scene

        plot_scene(keys[0], runs=found, path=plot)

    def show() -> None:
        for name in keys:
            typer.echo(f"scene {name}: {runs.SCENES[name].title}")
            print_table(headings[2:], [row[2:] for row in rows if row[0] == name], right=headings[3:])
        if plot is not None:
            typer.echo(f"written: {plot}")

    return Output([_numbers(each) for each in found], show)


def _numbers(found) -> dict:
    """A run of a scene for other programs: None where nothing is published, or nothing is conserved."""
    given = found.expected
    return {
        "scene": found.scene.key,
        "title": found.scene.title,
        "formulation": found.formulation,
        "energy": found.energy[-1],
        "expected": None if given is None else given.energy,
        "deviation": None if given is None else found.error,
        "state_deviation": found.state_error if given is not None and given.q else None,
        "drift": found.drift if found.conserves else None,
    }
