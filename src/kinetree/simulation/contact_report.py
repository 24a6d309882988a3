"""Contact in the report of a run: residuals of the solver, penetrations, forces."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kinetree.integrators.system import System, dynamics_time, internal_arguments
from kinetree.integrators.time_stepping import RESIDUALS, TOLERANCE
from kinetree.simulation.divergence import Finding

RESIDUAL = 1e-2  # [m/s] change of a contact's velocity by one more sweep, beyond which a step counts as not solved
DEEP = 1e-3  # [m] of penetration at rest
SLOW = 1e-3  # of the largest speed: a mechanism that moves no faster at the end is at rest


def contact_findings(run) -> Iterator[Finding]:
    """Steps whose contacts were not solved, and deep penetrations at the end."""
    contacts = run.contacts
    if contacts is None or run.model is None or not run.model.n_contacts:
        return
    worst = np.nan_to_num(contact_residuals(run), nan=np.inf) if _has_residuals(run) else np.zeros((1, 1))
    n, k = np.unravel_index(int(np.argmax(worst)), worst.shape)
    if worst[n, k] > RESIDUAL:
        share = float((worst.max(axis=1) > RESIDUAL).mean())
        text = (
            f"Contact {contacts.labels[k]!r} is not solved at t = {run.time[n]:.6g} s: one more sweep changes its "
            f"velocity by {worst[n, k]:.2g} m/s; {share:.1%} of the samples are beyond {RESIDUAL:g} m/s. A smaller dt "
            "helps."
        )
        yield Finding("contact", text, None, float(run.time[n]), serious=share > 0.01)
    k = int(np.argmin(contacts.gaps[-1]))
    rigid = not np.isfinite([x.stiffness for x in run.model.contacts]).any()
    if rigid and contacts.gaps[-1, k] < -DEEP:
        text = f"Contact {contacts.labels[k]!r} ends {-contacts.gaps[-1, k]:.3g} m inside of the other shape."
        yield Finding("contact", text, None, float(run.time[-1]), serious=False)


def contact_notes(run) -> list[str]:
    """A sentence on the contacts of a run; none without any."""
    contacts = run.contacts
    if contacts is None:
        return []
    force, touching = contacts.normal_forces, contacts.touching
    if not touching.any():
        return [f"None of {len(contacts)} candidate points of contact touches."]
    n, k = np.unravel_index(int(np.argmax(force)), force.shape)
    deepest = float(np.maximum(-contacts.gaps, 0.0).max())
    text = (
        f"Contact: largest force {force[n, k]:.4g} N at {contacts.labels[k]!r}, t = {run.time[n]:.6g} s; deepest "
        f"penetration {deepest:.2g} m, {max(-contacts.gaps[-1].min(), 0.0):.2g} m at the end"
    )
    if _has_residuals(run):
        sizes = np.sort(contact_residuals(run).max(axis=1))
        median, most = sizes[len(sizes) // 2], sizes[int(0.99 * (len(sizes) - 1))]
        text += f"; residual {median:.1g} m/s (median), {most:.1g} m/s (99 %)"
    return [f"{text}."]


def unsolved_energy(run) -> float:
    """Bound of the energy that the tolerance of the solver leaves over a run [J]: the weight at its velocity."""
    if not run.metadata.contacts or run.model is None:
        return 0.0
    weight = float(run.model.total_mass) * float(np.linalg.norm(np.array(list(run.model.gravity), dtype=float)))
    return TOLERANCE * weight * run.duration


def _has_residuals(run) -> bool:
    """Whether the run was solved by sweeps over contacts alone: those of bounded rows are recorded as joint forces."""
    model = run.model
    swept = getattr(run.metadata.method, "name", "") == "time_stepping"
    return swept and model is not None and 0 < model.n_contact_rows == model.n_impulses


def contact_residuals(run) -> np.ndarray:
    """Change of the velocities of each contact by one more sweep, in the step that begins at each sample.

    Parameters
    ----------
    run : Trajectory
        With its model.

    Returns
    -------
    (T, n) array
        [m/s].
    """
    kept = run.metadata.kept
    if "contact residuals" not in kept:
        wrenches, steps = run.metadata.wrenches, np.full(len(run), run.dt)
        given = (() if wrenches is None else (wrenches,)) + internal_arguments(run.model, run.x, run.u)
        impulses = run.contacts.forces.reshape(len(run), -1) * run.dt
        function = System(run.model, wrenches is not None).function(RESIDUALS, checks=False)
        kept["contact residuals"] = function(
            run.q, run.v, impulses, run.tau, steps, *dynamics_time(run.model, run.time), *given
        )
    return kept["contact residuals"]
