"""The settings of a simulation: what they may be, what follows from them, and what to be careful about."""

from __future__ import annotations

import math

from kinetree.errors import SimulationError
from kinetree.forces import DryFriction
from kinetree.integrators.methods import Adaptive, is_built_in
from kinetree.integrators.trials import STIFF
from kinetree.simulation.choice import Stiffness

EVALUATIONS = 1e5  # of the dynamics in a second of simulated time, from which on there is a note: about a second
MOST_STEPS = 1e8  # of an adaptive run: an hour
REACH = 6.0  # of an explicit method of order 8: the longest stable step times the rate


def contact_notes(model) -> list[str]:
    """Note that free bodies pass through the floor of their file, and bodies through each other.

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


def friction_notes(model, method, dt: float) -> list[str]:
    """What an explicit method makes of dry friction."""
    adaptive, explicit = isinstance(method, Adaptive), is_built_in(method) and getattr(method, "explicit", False)
    if not (explicit or adaptive) or not any(force.stiff_at_rest for force in model.forces):
        return []
    stiff = f"the model has dry friction, which is stiff below {DryFriction.rounding_velocity:g} rad/s or m/s: "
    if explicit:
        return [
            f"{stiff}{method.name} at dt = {dt:g} s may be inaccurate near rest without a sign of it. Compare with a "
            "smaller dt, with integrator='semi_implicit', or with kt.integrators.Adaptive('LSODA')"
        ]
    if method.method in STIFF:
        return []
    return [
        f"{stiff}{method.method} is explicit and takes tiny steps near rest; kt.integrators.Adaptive('LSODA') or "
        "'Radau' is made for it"
    ]


def slow_steps(model, method: Adaptive) -> tuple[float, list[str]]:
    """How many steps a second of simulated time needs at least, by an explicit adaptive method; a note, if many.

    Springs and dampers bound its steps however little they move; stops only while they are in contact, so they do not
    count here.
    """
    if method.method in STIFF:
        return 0.0, []
    stiffness = Stiffness.of(model, stops=False)
    if stiffness.joint is None or not math.isfinite(stiffness.rate):
        return 0.0, []
    steps = stiffness.rate / REACH
    if 12.0 * steps < EVALUATIONS:
        return steps, []
    return steps, [
        f"joint {stiffness.joint!r} is stiff ({stiffness.rate:.3g} 1/s by its spring or damper): {method.method} is "
        f"explicit and takes at least {steps:.2g} steps for every second; kt.integrators.Adaptive('Radau') or 'BDF' is "
        "made for it"
    ]


def refuse_endless(steps: float, duration: float, method, notes) -> None:
    """Refuse a run that would take hours, because an explicit method follows what is stiff."""
    if steps * duration > MOST_STEPS:
        why = next(note for note in notes if "is stiff" in note and "every second" in note)
        raise SimulationError(
            f"simulate: {why}. That is {steps * duration:.2g} steps in {duration:g} s. Take "
            "integrator=kt.integrators.Adaptive('Radau'), 'BDF' or 'LSODA', or 'semi_implicit'.",
            method=method.method,
            steps=steps * duration,
        )
