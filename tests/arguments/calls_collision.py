"""One valid call of every public callable of shapes and contact pairs."""

from __future__ import annotations

import kinetree as kt
from kinetree.collision import ContactPair, Ground, Material, Shape
from tests.arguments.calls import whole_call


def table(folder) -> dict[str, tuple]:
    """Callables by name, with valid arguments."""
    floor, foot = Shape("world", "plane", name="floor"), Shape("bob", "sphere", (0.1,), name="foot")
    shaped = kt.ModelBuilder.of(kt.models.pendulum())
    shaped.add_geometry("bob", kt.model.Geometry("sphere", (0.1,), name="foot"))
    model = shaped.build()
    given = {
        Shape: dict(body="bob", kind="sphere", size=(0.1,), name="foot"),
        ContactPair: dict(name="floor/foot", first=floor, second=foot),
        Ground: {},
        Material: {},
    }
    found = {f"collision.{call.__name__}": (call, whole_call(call, **values)) for call, values in given.items()}
    touching = model.with_contacts(ground=True)
    for name in ("contact_gaps", "contact_points", "contact_jacobian"):
        found[f"collision.{name}"] = (getattr(kt.collision, name), dict(model=touching, q=[0.1]))
    found["collision.contact_bias"] = (kt.collision.contact_bias, dict(model=touching, q=[0.1], v=[0.2]))
    found |= queries(model)
    return found | {"Model.with_contacts": (model.with_contacts, whole_call(model.with_contacts, ground=True))}


def queries(model) -> dict[str, tuple]:
    """Calls over all shapes of a model with a floor."""
    calls, state = kt.collision, dict(model=model.with_contacts(ground=True), q=[0.1])
    chosen = state | dict(pairs=[("ground", "foot")])
    up = [[0.0, 0.0, 1.0]]
    found = {
        "distances": chosen | dict(within=1.0, meshes="hull", refine=True),
        "contact_manifold": chosen | dict(margin=0.1, meshes="hull"),
        "check_start": chosen | dict(allowed=2.0, meshes="hull"),
        "contact_changes": dict(model=state["model"], q0=[0.1], q1=[0.2], pairs=None, margin=0.1, meshes="hull"),
        "contact_rates": chosen | dict(v=[0.2], within=1.0),
        "colliding_pairs": state | dict(margin=0.1, meshes="hull"),
        "contact_wrenches": dict(positions=[[0.0, 0.0, 0.0]], normals=up),
        "minimal_contact_set": dict(wrenches=up, tolerance=1e-9),
    }
    found = {f"collision.{name}": (getattr(calls, name), given) for name, given in found.items()}
    reduced = calls.minimal_contact_set(up)
    return found | {
        "collision.Manifold.of": (calls.contact_manifold(**state).of, dict(first="ground", second="foot")),
        "collision.MinimalContactSet.redistribute": (reduced.redistribute, dict(forces=[1.0])),
    }
