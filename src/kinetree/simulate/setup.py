"""The settings of a simulation: what they may be, what follows from them, and what to be careful about."""

from __future__ import annotations

import difflib
import math

import numpy as np

from kinetree.algorithms.passive import FRICTION_VELOCITY
from kinetree.errors import NonFiniteError, SimulationError
from kinetree.integrate import FIXED_STEP

STIFF_METHODS = ("Radau", "BDF", "LSODA")


def positive_time(name: str, value) -> float:
    """A time that is a positive number [s]."""
    if not (isinstance(value, (int, float, np.number)) and math.isfinite(value) and value > 0):
        raise NonFiniteError(f"simulate: {name} is {value!r}, expected a positive time in seconds.", name=name)
    return float(value)


def steps_between_samples(dt: float, record_every, sample_period) -> int:
    """How many steps lie between two recorded samples."""
    if sample_period is not None:
        if record_every != 1:
            raise SimulationError("simulate: record_every and sample_period say the same thing; give one of them.")
        ratio = positive_time("sample_period", sample_period) / dt
        record_every = round(ratio)
        if record_every < 1 or abs(ratio - record_every) > 1e-6 * ratio:
            raise SimulationError(
                f"simulate: sample_period = {sample_period:g} s is not a multiple of dt = {dt:g} s; the closest are "
                f"{max(1, math.floor(ratio)) * dt:g} and {math.ceil(ratio) * dt:g} s.",
                sample_period=sample_period,
            )
    whole = isinstance(record_every, (int, float, np.number)) and math.isfinite(record_every)
    if not whole or record_every != int(record_every) or record_every < 1:
        raise SimulationError(f"simulate: record_every is {record_every!r}, expected a positive whole number of steps.")
    return int(record_every)


def one_of(what: str, value, valid) -> None:
    """Refuse a name that is not known, with the closest one."""
    if value not in valid:
        same = [name for name in valid if name.lower().split(":")[-1] == str(value).lower()]
        close = same or difflib.get_close_matches(str(value), valid, n=1)
        hint = f" Did you mean {' or '.join(map(repr, close))}?" if close else ""
        known = ", ".join(valid)
        raise SimulationError(f"simulate: no {what} {value!r}.{hint} Known: {known}.", found=value, valid=valid)


def contact_notes(model) -> list[str]:
    """Say that nothing stops a free body at the floor that its file describes, nor bodies at each other.

    Neighbors in the tree, which the joint between them lets overlap, are no reason for a note.
    """
    solid = [sum(shape.role != "visual" for shape in shapes) for shapes in model.geometry]
    falls = any(model.joints[i].nv == 6 for i in model.children(0))
    passed = []
    if solid[0] and falls:
        passed.append(f"the {f'{solid[0]} collision shapes' if solid[0] > 1 else 'collision shape'} of the world")
    moving = [i for i in model.outward() if solid[i]]
    neighbors = sum(any(solid[p] for p in model.support(i)[:-1]) for i in moving)
    if len(moving) * (len(moving) - 1) // 2 > neighbors:
        passed.append("each other")
    return [f"bodies pass through {' and '.join(passed)}: contacts are not simulated"] if passed else []


def stiffness_notes(model, integrator: str, method: str, dt: float) -> list[str]:
    """What an explicit method makes of dry friction."""
    explicit = integrator in FIXED_STEP and getattr(FIXED_STEP[integrator], "explicit", False)
    if not (explicit or integrator == "adaptive") or not any(model.has_friction(k) for k in range(model.nv)):
        return []
    stiff = f"the model has dry friction, which is stiff below {FRICTION_VELOCITY:g} rad/s or m/s: "
    if explicit:
        return [
            f"{stiff}{integrator} at dt = {dt:g} s may be inaccurate near rest without a sign of it. Compare with a "
            "smaller dt, with integrator='semi_implicit', or with 'adaptive' and method='LSODA'"
        ]
    if method in STIFF_METHODS:
        return []
    return [f"{stiff}{method} is explicit and takes tiny steps near rest; method='LSODA' or 'Radau' is made for it"]
