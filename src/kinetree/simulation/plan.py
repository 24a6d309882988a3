"""The plan of a run, from its model and settings without inputs: the start, the method, stops, notes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinetree.algorithms.bounded_rows import bounded_constraints
from kinetree.algorithms.complete import refuse_unsupported, stepped_constraints
from kinetree.algorithms.projection import has_loops
from kinetree.errors import SimulationError
from kinetree.forces.motor import driven_model
from kinetree.integrators.closure import closed_by
from kinetree.integrators.methods import Adaptive, integrator_of, refuse_internal
from kinetree.integrators.system import System
from kinetree.model.closing import closed_position
from kinetree.simulation.choice import chosen_method, contact_notes, friction_notes, slow_steps
from kinetree.simulation.closed_starts import closed_start, inexact_rows, require_regular_start
from kinetree.simulation.components import Components
from kinetree.simulation.contact_forces import ContactPower
from kinetree.simulation.contact_starts import as_ground, start_on_ground, touching_model
from kinetree.simulation.events import checked_events
from kinetree.simulation.initial import INITIAL, initial_state, joined_state
from kinetree.simulation.joint_constraints import JointConstraints, hard_coordinates, refuse_methods, requested
from kinetree.simulation.limits import with_soft_stops
from kinetree.simulation.loop_forces import requested_loops
from kinetree.simulation.motors import Drivetrain
from kinetree.simulation.snapshot import fingerprint

_KEPT = "plan of a simulation"


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """A run before it begins.

    Attributes
    ----------
    model : Model
        As simulated, with the stops that were added.
    system : System
        Its functions, without external wrenches.
    q, v : numpy.ndarray
        The start; internal states of force elements follow the velocities.
    method : object
        A fixed-step method, or `Adaptive`.
    notes : tuple of str
    steps_per_second : float
        Lower bound for an explicit adaptive method; 0 if few.
    components : Components
    constraints : JointConstraints or None
    digests : tuple of str
        Of the model as given, and as simulated.
    """

    model: object
    system: System
    q: np.ndarray
    v: np.ndarray
    method: object
    notes: tuple[str, ...]
    steps_per_second: float
    components: Components
    constraints: JointConstraints | None
    digests: tuple[str, str]


def plan(
    model,
    q0,
    v0,
    x0,
    seed,
    dt: float,
    integrator,
    events=(),
    components=(),
    closure="projection",
    touching=(None, False),
) -> Plan:
    """The plan of a run; the last one of a model is kept where nothing but the model takes part.

    Parameters
    ----------
    model, q0, v0, x0, seed, dt, integrator, events, components, closure
        As for `simulate`.
    touching : tuple
        ``(ground, self_collision)`` of `simulate`.
    """
    ground, self_collision = touching
    touching = as_ground(ground), bool(self_collision)
    key = None
    if not model.motors and closure == "projection" and all(type(x) is tuple and not x for x in (events, components)):
        method = integrator_of("simulate: integrator", integrator)  # another one may have the name by now
        key = (_bytes(q0), _bytes(v0), _bytes(x0), seed, dt, method, touching)
        kept = model.functions.get(_KEPT)
        if kept is not None and kept[0] == key:
            return kept[1]
    found = _plan(model, q0, v0, x0, seed, dt, integrator, events, components, closure, touching)
    if key is not None and not found.components.having("get_state"):
        model.functions[_KEPT] = key, found
    return found


def _plan(given, q0, v0, x0, seed, dt, integrator, events, components, closure, touching) -> Plan:
    integrator = integrator_of("simulate: integrator", integrator)
    touched = touching_model(given, *touching, integrator)
    constraints = requested(touched, integrator)
    own = () if constraints is None else (constraints,)
    own += (*map(Drivetrain, given.motors), *checked_events(events), *([ContactPower()] if touched.contacts else ()))
    components = Components((*Components(components).all, *own))
    model = components.prepare(driven_model(touched))
    hard = hard_coordinates(model) if constraints is None else constraints.hard
    q, v, notes = initial_state(model, q0, v0, seed, hard)
    if model.contacts:
        q, placed = start_on_ground(model, q, q0 is not None, INITIAL in model.keyframes and seed is None)
        notes += placed
    if constraints is not None:
        q, v, changed = constraints.start(model, q, v)
        notes += changed
        if q0 is None and has_loops(model):
            q = closed_position(model, q, constraints.moving)
        model = constraints.completed(model)
    active, stops = with_soft_stops(model, q)
    bounded = bounded_constraints(active)
    held = bounded or (constraints is not None and not constraints.eliminated)
    method, chosen = chosen_method(active, integrator, dt, bool(held))
    if bounded and method.name not in ("semi_implicit", "time_stepping"):
        raise SimulationError(
            f"simulate: {bounded[0]} beside loops is part of integrator 'semi_implicit' and of 'time_stepping'; "
            f"integrator {method.name!r} has no such step. Use one of these, or leave it out of model.constraints.",
            integrator=method.name,
        )
    if constraints is not None:
        refuse_methods(constraints, method.name)
    v = joined_state(active, v, x0)
    loops = requested_loops(active, method)
    if loops is not None:
        components = Components((*components.all, loops))
        q, v, changed = closed_start(System(active), q, v, v0 is not None)
        notes += [*changed, *inexact_rows(active)]
        require_regular_start(System(active), q, method)
        active = closed_by(active, closure, method, "simulate")
    refuse_unsupported(active, "aba", [*stepped_constraints(active), *bounded], armatures=True)
    refuse_internal("simulate", active, method)
    steps, slow = slow_steps(active, method) if isinstance(method, Adaptive) else (0.0, [])
    notes = (*notes, *stops, *chosen, *friction_notes(active, method, dt), *slow, *contact_notes(model))
    digests = fingerprint(given), fingerprint(active)
    return Plan(active, System(active), q, v, method, notes, steps, components, constraints, digests)


def _bytes(x):
    """A start in comparable form; an object that is equal to no other where it is no array."""
    try:
        array = np.asarray(x, dtype=float)
    except (TypeError, ValueError):
        return object()
    return x if x is None else (array.shape, array.tobytes())
