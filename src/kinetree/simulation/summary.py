"""A run in a few rows, for the command line: settings, energy, notes."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kinetree.simulation.energy_summary import energy_summary
from kinetree.simulation.rounding import rounding

NOTES_SHOWN = 6
EXPLAINED = 0.2
"""How far the losses summed over the samples may be from the change of energy, as a part of it."""


def summary_rows(run, model, robot: str, written: list[Path]) -> list[tuple[str, str]]:
    """The rows that ``kinetree simulate`` prints of a run, as (label, text).

    Parameters
    ----------
    run : Trajectory
    model : Model
        As it was loaded.
    robot : str
        What the user calls it.
    written : list of Path
        Files that were made.
    """
    steps = f", {run.steps} steps of {run.dt:g} s" if run.steps is not None else f", a sample every {run.dt:g} s"
    notes = list(run.notes)
    if model.nv == 0:
        notes.insert(0, "nothing can move: every link is welded to the world; --floating-base frees the root")
    elif _is_at_rest(run):
        notes.insert(0, "nothing moves: the start is an equilibrium; --seed, --q0, --v0 or --tau start a motion")
    changed = [entry for entry in model.report if entry.level != "info"]
    if changed:
        count = f"{len(changed)} thing{'s' if len(changed) > 1 else ''}"
        notes.append(f"loading assumed or changed {count} in the file; see kinetree info {robot}")
    if (hidden := len(notes) - NOTES_SHOWN) > 0:
        notes[NOTES_SHOWN:] = [f"{hidden} more, in the trajectory's notes"]
    return [
        ("robot", run.model_name),
        ("integrator", f"{run.integrator}{steps}"),
        ("simulated", f"{run.duration:g} s, {len(run)} samples"),
        ("wall time", f"{run.wall_time:.3g} s, {run.real_time_factor:.3g} x real time"),
        ("energy", f"{run.energy[0]:.6g} J at the start, {run.energy[-1]:.6g} J at the end"),
        *_energy_rows(run),
        *(("note", note) for note in notes),
        *(("written", str(path)) for path in written),
    ]


def _is_at_rest(run) -> bool:
    """Whether nothing moves, but for rounding."""
    return bool((np.abs(run.v) <= rounding(run, run.energy_balance.energies.values()).velocity).all())


def _energy_rows(run) -> list[tuple[str, str]]:
    """A drift where energy should be conserved; else the work done, and what the joints dissipated."""
    if _is_at_rest(run):
        return []
    balance = energy_summary(run)
    if balance.is_conservative:
        return [("energy drift", f"{run.energy_drift:.3g} of the largest kinetic energy: the integrator's error")]
    rows = [("work", f"{balance.work:.3g} J by the joint forces")] if balance.work else []
    rows += [("prescribed motions", f"{balance.prescribed:.3g} J of work")] if balance.prescribed else []
    lost, where = balance.work + balance.prescribed - balance.change, ", ".join(balance.losses)
    if balance.losses and abs(balance.unexplained) <= EXPLAINED * abs(lost):
        return [*rows, ("dissipated", f"{lost:.3g} J in {where}")]
    if balance.losses:
        rows.append(("dissipated", f"about {balance.dissipated:.2g} J in {where}"))
    share = abs(balance.unexplained) / max(float(run.kinetic_energy.max()), 1e-300)
    sparse = run.steps is not None and len(run) < run.steps  # the sums over the samples are coarse then
    cause = "the integrator's error" + (", or samples too far apart" if sparse else "")
    return [*rows, ("unexplained", f"{balance.unexplained:.2g} J, {share:.2g} of the largest kinetic energy: {cause}")]
