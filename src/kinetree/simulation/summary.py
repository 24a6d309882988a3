"""A run in a few rows, for the command line: settings, energy balance, notes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kinetree.simulation.rounding import rounding

NOTES_SHOWN = 6
CREEP = 1e-5  # [rad/s or m/s] of bodies at rest on others, by the tolerance of the solver
NEGLIGIBLE = 1e-9  # of the largest kinetic energy: a joint pressed onto its stop by rounding is no loss
DISSIPATION = {
    "damping": "damping", "dry friction": "dry friction", "soft stops": "stops", "impacts": "contact",
    "friction of contacts": "contact friction",
}  # fmt: skip
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
        Name given by the user.
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
        *_contact_rows(run),
        *(("note", note) for note in notes),
        *(("written", str(path)) for path in written),
    ]


def _is_at_rest(run) -> bool:
    """Whether nothing moves, but for rounding."""
    slowest = rounding(run, run.energy_balance.energies.values()).velocity
    return bool((np.abs(run.v) <= np.maximum(slowest, CREEP if run.metadata.contacts else 0.0)).all())


def _energy_rows(run) -> list[tuple[str, str]]:
    """A drift where energy should be conserved; else the work done, and the energy dissipated by joints."""
    if _is_at_rest(run):
        return []
    balance = energy_summary(run)
    if balance.is_conservative:
        return [("energy drift", f"{run.energy_drift:.3g} of the largest kinetic energy: the integrator's error")]
    rows = [("work", f"{balance.work:.3g} J by the joint forces")] if balance.work else []
    rows += [("prescribed motions", f"{balance.prescribed:.3g} J of work")] if balance.prescribed else []
    lost, where = balance.work + balance.prescribed - balance.change, ", ".join(balance.dissipated_by)
    if balance.dissipated_by and abs(balance.unexplained) <= EXPLAINED * abs(lost):
        return [*rows, ("dissipated", f"{lost:.3g} J in {where}")]
    if balance.dissipated_by:
        rows.append(("dissipated", f"about {balance.dissipated:.2g} J in {where}"))
    share = abs(balance.unexplained) / max(float(run.kinetic_energy.max()), 1e-300)
    sparse = run.steps is not None and len(run) < run.steps  # the sums over the samples are coarse then
    cause = "the integrator's error" + (", or samples too far apart" if sparse else "")
    return [*rows, ("unexplained", f"{balance.unexplained:.2g} J, {share:.2g} of the largest kinetic energy: {cause}")]


def _contact_rows(run) -> list[tuple[str, str]]:
    """Contacts at the end, and the largest force."""
    contacts = run.contacts
    if contacts is None:
        return []
    force, count = contacts.normal_forces, int(contacts.touching[-1].sum())
    n, k = np.unravel_index(int(np.argmax(force)), force.shape)
    if not force[n, k] > 0.0:
        return [("contact", f"none of {len(contacts)} candidate points touches")]
    text = f"{count} of {len(contacts)} candidate points touch at the end, {force[-1].sum():.4g} N in all"
    return [("contact", f"{text}; largest {force[n, k]:.4g} N at {contacts.labels[k]!r}, t = {run.time[n]:.6g} s")]


@dataclass(frozen=True, slots=True)
class EnergySummary:
    """Energies over a whole run [J]: ``change = work + prescribed - dissipated + unexplained``.

    Attributes
    ----------
    change : float
        Total energy at the end minus that at the start.
    work : float
        Done by the joint forces tau, external wrenches, components and events.
    dissipated : float
        Lost in damping, dry friction and soft stops.
    dissipated_by : tuple of str
        Which of these took any.
    prescribed : float
        Work done by the motions of joints that depend on time.
    """

    change: float
    work: float
    dissipated: float
    dissipated_by: tuple[str, ...]
    prescribed: float = 0.0

    @property
    def unexplained(self) -> float:
        """Error of the integration, and of the sums over the samples [J]."""
        return self.change - self.work - self.prescribed + self.dissipated

    @property
    def is_conservative(self) -> bool:
        """Whether nothing took or gave energy, so that a change of it is the integrator's error."""
        return not self.dissipated_by and self.work == self.prescribed == 0.0


def energy_summary(trajectory) -> EnergySummary:
    """The balance of a whole run, from its energy balance.

    Parameters
    ----------
    trajectory : Trajectory
        With its model.

    Returns
    -------
    EnergySummary
    """
    balance = trajectory.energy_balance
    least = max(NEGLIGIBLE * float(np.max(trajectory.kinetic_energy)), balance.rounding)
    given = {name: balance.work(source) for name, source in DISSIPATION.items()}
    prescribed = balance.work("prescribed motions")
    others = set(balance.works) - {*DISSIPATION.values(), "prescribed motions"}
    work = sum(balance.work(name) for name in balance.works if name in others)
    return EnergySummary(
        change=float(trajectory.energy[-1] - trajectory.energy[0]),
        work=work if abs(work) > least else 0.0,
        dissipated=0.0 - sum(given.values()),
        prescribed=prescribed if abs(prescribed) > least else 0.0,
        dissipated_by=tuple(name for name, work in given.items() if -work > least),
    )
