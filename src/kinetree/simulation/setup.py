"""The settings of a simulation: what they may be, what follows from them, and what to be careful about."""

from __future__ import annotations

import difflib
import math
import sys

import numpy as np

from kinetree.arguments import a_word
from kinetree.errors import NonFiniteError, SimulationError
from kinetree.forces.dry_friction import FRICTION_VELOCITY
from kinetree.integrators import FIXED_STEP
from kinetree.integrators.trials import STIFF
from kinetree.simulation.choice import Stiffness

LEAST_RTOL = 100.0 * np.finfo(float).eps  # as SciPy has it
EVALUATIONS = 1e5  # of the dynamics in a second of simulated time, from which on a note says so: about a second
MOST_STEPS = 1e8  # of an adaptive run: an hour
REACH = 6.0  # of an explicit method of order 8: the longest stable step times the rate


def positive_time(name: str, value) -> float:
    """A time that is a positive number [s]."""
    if not (isinstance(value, (int, float, np.integer, np.floating)) and 0 < value <= sys.float_info.max):
        raise NonFiniteError(f"simulate: {name} is {value!r}, expected a positive time in seconds.", name=name)
    return float(value)


def tolerances(rtol, atol) -> tuple[float, float]:
    """Tolerances of an adaptive solver: positive numbers, the relative one above rounding."""
    for name, value in (("rtol", rtol), ("atol", atol)):
        is_number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
        if not (is_number and math.isfinite(value) and value > 0):
            raise NonFiniteError(f"simulate: {name} is {value!r}, expected a positive number, such as 1e-8.", name=name)
    if rtol < LEAST_RTOL:
        raise SimulationError(
            f"simulate: rtol = {rtol:g} is below what rounding leaves, {LEAST_RTOL:.2g}; take a larger one.", rtol=rtol
        )
    return float(rtol), float(atol)


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


def solver_settings(integrator, method, rtol, atol) -> tuple[str, float, float]:
    """Method and tolerances of an adaptive run; refuse them for a run that would not use them."""
    given = {"method": method, "rtol": rtol, "atol": atol}
    given = {name: value for name, value in given.items() if value is not None}
    if given and integrator != "adaptive":
        name, value = next(iter(given.items()))
        found = integrator if isinstance(integrator, str) else getattr(integrator, "name", integrator)
        raise SimulationError(
            f"simulate: {name} = {value!r} is a setting of adaptive runs, and integrator is {found!r}. Give "
            f"integrator='adaptive', or leave {name} out.",
            option=name,
        )
    settings = {"method": "dop853", "rtol": 1e-10, "atol": 1e-10} | given
    return settings["method"], *tolerances(settings["rtol"], settings["atol"])


def one_of(what: str, value, valid) -> None:
    """Refuse a name that is not known, with the closest one."""
    a_word(f"simulate: {what}", value)
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


def friction_notes(model, integrator: str, method: str, dt: float) -> list[str]:
    """What an explicit method makes of dry friction."""
    explicit = integrator in FIXED_STEP and getattr(FIXED_STEP[integrator], "explicit", False)
    if not (explicit or integrator == "adaptive") or not any(force.stiff_at_rest for force in model.forces):
        return []
    stiff = f"the model has dry friction, which is stiff below {FRICTION_VELOCITY:g} rad/s or m/s: "
    if explicit:
        return [
            f"{stiff}{integrator} at dt = {dt:g} s may be inaccurate near rest without a sign of it. Compare with a "
            "smaller dt, with integrator='semi_implicit', or with 'adaptive' and method='LSODA'"
        ]
    if method in STIFF:
        return []
    return [f"{stiff}{method} is explicit and takes tiny steps near rest; method='LSODA' or 'Radau' is made for it"]


def slow_steps(model, method: str) -> tuple[float, list[str]]:
    """How many steps a second of simulated time needs at least, by an explicit adaptive method; a note, if many.

    Springs and dampers bound its steps however little they move; stops only while they are in contact, so they do not
    count here.
    """
    if method in STIFF:
        return 0.0, []
    stiffness = Stiffness.of(model, stops=False)
    if stiffness.joint is None or not math.isfinite(stiffness.rate):
        return 0.0, []
    steps = stiffness.rate / REACH
    if 12.0 * steps < EVALUATIONS:
        return steps, []
    return steps, [
        f"joint {stiffness.joint!r} is stiff ({stiffness.rate:.3g} 1/s by its spring or damper): {method} is explicit "
        f"and takes at least {steps:.2g} steps for every second; method='Radau' or 'BDF' is made for it"
    ]


def refuse_endless(steps: float, duration: float, method: str, notes) -> None:
    """Refuse a run that would take hours, because an explicit method follows what is stiff."""
    if steps * duration > MOST_STEPS:
        why = next(note for note in notes if "is stiff" in note and "every second" in note)
        raise SimulationError(
            f"simulate: {why}. That is {steps * duration:.2g} steps in {duration:g} s. Take method='Radau', 'BDF' or "
            "'LSODA', or integrator='semi_implicit'.",
            method=method,
            steps=steps * duration,
        )
