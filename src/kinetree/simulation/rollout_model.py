"""The model and the method of rollouts."""

from __future__ import annotations

from kinetree.collision.material import Ground
from kinetree.errors import UnsupportedError, unknown_name
from kinetree.forces.motor import driven_model
from kinetree.integrators.methods import FIXED_STEP, integrator_of, refuse_contacts, refuse_internal
from kinetree.simulation.initial import initial_state
from kinetree.simulation.limits import needs_stops, with_soft_stops


def a_ground(ground) -> Ground | None:
    """The ground that an argument ``ground=`` gives, None for none; raises ArgumentError."""
    return None if ground is None or ground is False else Ground.of(ground)


def on_ground(model, ground):
    """The model with contacts of its collision shapes with the ground that an argument gives."""
    return model if a_ground(ground) is None else model.with_contacts(ground=ground, meshes="hull")


def with_stops(model):
    """The model with a stop at every limit, the inertia of motors, and their lagging forces as internal states."""
    model = driven_model(model)
    if not needs_stops(model):
        return model
    q, _, _ = initial_state(model, None, None, None, closing=False)
    return with_soft_stops(model, q)[0]


def rollout_method(integrator, model) -> tuple:
    """The method for a name or an object, None for "auto"; and its name."""
    if integrator == "auto":
        return None, "auto"
    if isinstance(integrator, str) and integrator not in FIXED_STEP:
        raise unknown_name("fixed-step integrator", integrator, FIXED_STEP, "kinetree")
    method = integrator_of("rollout: integrator", integrator)
    if getattr(method, "algorithm", None) is None:
        known = ", ".join(name for name, method in FIXED_STEP.items() if method.algorithm is not None)
        raise UnsupportedError(
            f"rollout: a step of {method.name!r} is no single function that machine code could repeat. Use simulate, "
            f"or one of {known}.",
            integrator=method.name,
        )
    refuse_internal("rollout", model, method)
    refuse_contacts("rollout", model, method)
    return method, method.name


def require_contacts(method) -> None:
    """Raise an error for a method that has no impulses to record."""
    if not getattr(method, "contacts", False):
        raise UnsupportedError(
            f"rollout: integrator {method.name!r} has no impulses, which Record(impulses=True) or residuals=True is to "
            "give; 'time_stepping' has.",
            integrator=method.name,
        )
