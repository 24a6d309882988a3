"""Diagnosis of diverging runs: the joint and time where growth began, and its likely cause."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinetree.forces.registry import JOINT_FORCES

RESOLVED = 0.3  # rad or m of motion per step
STIFF = tuple(kind.parameters[0].name for kind in JOINT_FORCES)  # of a joint: forces that a step may not resolve


@dataclass(frozen=True, slots=True)
class Finding:
    """One irregularity.

    Attributes
    ----------
    kind : str
        "divergence", "failure", "energy", "step", "stop", "saturation", "velocity", "quaternion", "coupling",
        "momentum", "event".
    text : str
        A sentence: the irregularity, its size, where it began, and a remedy.
    joint : str or None
        The velocity coordinate with the largest effect.
    time : float or None
        When it began [s].
    serious : bool
        Whether the result should not be trusted as it is.
    """

    kind: str
    text: str
    joint: str | None = None
    time: float | None = None
    serious: bool = True


def divergence(run) -> list[Finding]:
    """Evidence of a divergence in the samples before the end.

    Parameters
    ----------
    run : Trajectory
        A run that ended early, up to its last usable sample.

    Returns
    -------
    list of Finding
        None or one.
    """
    labels, v = run.coordinates.velocity_labels, run.v
    if len(run) < 3 or not v.shape[1]:
        return []
    with np.errstate(all="ignore"):
        size = np.abs(v)
        n = _start_of_growth(size.max(axis=1))
        # The joint whose speed grows most over the next window, relative to its largest speed before.
        soon = min(n + _window(len(v)), len(v) - 1)
        before = np.maximum(size[: n + 1].max(axis=0), 1e-3 * size[n : soon + 1].max())
        k = int(np.argmax(size[n : soon + 1].max(axis=0) / before))
        fed = _fed(run, n)
        k = fed[0] if fed else k  # the joint at which energy enters is the cause, wherever growth shows first
        tail = v[n:, k][np.abs(v[n:, k]) > 0.0]
        flips = np.mean(tail[1:] * tail[:-1] < 0.0) if len(tail) > 2 else 0.0
        rate = (np.abs(tail[-1]) / np.abs(tail[0])) ** (1.0 / (len(tail) - 1)) if len(tail) > 1 else np.inf
        if not rate > 1.0:
            return []
        joint, t = labels[k], float(run.time[n])
        per = "step" if run.steps is not None and run.metadata.every == 1 else "sample"
        growth = f" {rate:.3g}-fold per {per}" if np.isfinite(rate) else " at once"
        text = (
            f"The motion diverges from t = {t:.6g} s on: the velocity of joint {joint!r} grows{growth}"
            f"{_cause(run, k, fed[1] if fed else '', flips)}"
        )
    return [Finding("divergence", text, joint, t)]


def _window(samples: int) -> int:
    return max(10, samples // 20)


def _start_of_growth(size: np.ndarray) -> int:
    """The sample from which on the largest speed so far grows by half, and again, within every window to the end."""
    largest, window = np.maximum.accumulate(size), _window(len(size))
    n = len(size) - 1
    while n > 0 and largest[n] > 1.5 * largest[max(n - window, 0)]:
        n = max(n - window, 0)
    # Within the last window: the last sample before the largest speed exceeds this bound.
    end = min(n + window, len(size) - 1)
    below = np.flatnonzero(largest[n : end + 1] <= 1.5 * largest[n])
    return n + int(below[-1]) if len(below) and largest[n] > 0.0 else n


def _cause(run, k: int, fed: str, flips: float) -> str:
    """The likely cause, from the forces at the joint."""
    h, label = run.dt, run.coordinates.velocity_labels[k]
    fixed = run.steps is not None
    vibrates = flips > 0.5 and fixed
    stiff = [name for name in STIFF if np.any(np.asarray(getattr(run.model, name)[k], dtype=float))]
    if vibrates:
        how = f", and changes its sign from sample to sample: a vibration that dt = {h:g} s does not resolve."
        if fed:
            return (
                f"{how} The controller feeds it ({fed}): its gains are too high for this step or its delay, or one has "
                "the wrong sign."
            )
        acts = f", which has {' and '.join(stiff)}," if stiff else ""
        takes = "'semi_implicit', which takes the joints' own springs, dampers and stops as stiff as they are"
        if run.model.laws:
            takes = "'linearly_implicit', which takes all springs, dampers and tensions as stiff as they are"
        return f"{how} A force at {label!r}{acts} is too stiff. Use a smaller dt, or integrator={takes}."
    if fed:
        return f"; the controller feeds it ({fed}): has one of its gains the wrong sign, or is it too late?"
    if run.metadata.wrenches is not None:
        return "; external wrenches act: do they grow with the motion?"
    if not fixed:
        return "."
    acts = f"; {' and '.join(stiff)} of that joint may be too stiff for this step" if stiff else ""
    return f"{acts}. Use a smaller dt (now {h:g} s) or integrator='adaptive'."


def _fed(run, n: int) -> tuple[int, str] | None:
    """Joint where a controller added energy while steps resolved the motion, if that is most of its energy."""
    if not run.metadata.controlled:
        return None
    size = np.abs(run.v).max(axis=1)
    resolved = np.flatnonzero(size[n:] < RESOLVED / run.dt)  # beyond that a step is wider than the motion
    until = n + int(resolved[-1]) if len(resolved) else n
    # Forces that are constant over a step do the work of the mean velocity: of the sample before and of this one.
    mean = 0.5 * (run.v[1 : until + 1] + run.v[:until])
    work = np.sum(run.tau[:until] * mean * np.diff(run.time[: until + 1])[:, None], axis=0)
    gained = run.kinetic_energy[until] - run.kinetic_energy[0]
    k = int(np.argmax(work))
    if not (np.isfinite(work[k]) and work[k] > 0.5 * abs(gained) > 0.0):
        return None
    return k, f"{work[k]:.3g} J at joint {run.coordinates.velocity_labels[k]!r} by t = {run.time[until]:.6g} s"
