"""Contacts gained and lost between two states, and whether by geometry or by separation.

Source: Featherstone (2008), section 11.6: contacts are gained, and lost by a corner or an edge that leaves a face, by
geometry alone; they are lost dynamically where the bodies part along the normal.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinetree.arguments import a_model, checked
from kinetree.queries.manifold import Manifold, contact_manifold
from kinetree.queries.scene import Scene

KINDS = ("gain", "loss by geometry", "separation")


@dataclass(frozen=True, slots=True)
class ContactChange:
    """A contact that only one of two states has.

    Parameters
    ----------
    pair : (str, str)
        Names of the shapes.
    kind : {"gain", "loss by geometry", "separation"}
    height : float
        Of losses: least distance of the former points of contact along the former normal, carried by the first body;
        of gains the gap [m].
    """

    pair: tuple[str, str]
    kind: str
    height: float


@checked(model=a_model)
def contact_changes(
    model, q0, q1, pairs=None, *, margin: float = 1e-3, meshes: str = "hull", t=None
) -> tuple[ContactChange, ...]:
    """Contacts gained and lost from one state to another, by cause.

    Parameters
    ----------
    model : Model
    q0, q1 : (nq,) array
        Joint positions before and after [rad or m; quaternions unit, (w, x, y, z)].
    pairs : sequence of (str, str) or ContactPair, optional
        As in `distances`.
    margin : float
        Distance up to which shapes count as touching [m].
    meshes : {"hull", "triangles"}
        See `distances`.
    t : float, optional
        Time [s], for models that depend on it.

    Returns
    -------
    tuple of ContactChange
        A loss is one by geometry if a point of the second body that touched the first is still within the margin of the
        former contact plane, so that it has left the face over its edge; else the bodies have separated.

    Raises
    ------
    UnknownNameError, GeometryError, MissingDependencyError

    Notes
    -----
    Source: Featherstone (2008), section 11.6, figure 11.6. The states have to be so close that contacts are not gained
    and lost between them.

    Examples
    --------
    >>> import kinetree as kt
    >>> b = kt.ModelBuilder("ball")
    >>> ball = kt.model.Geometry("sphere", (0.1,), name="ball")
    >>> b.add_body("ball", joint=kt.joints.Prismatic((0.0, 0.0, 1.0)), mass=1.0, geometry=[ball])
    >>> model = b.build().with_contacts(ground=True)
    >>> kt.collision.contact_changes(model, [0.2], [0.1])[0].kind
    'gain'
    """
    options = {"margin": margin, "meshes": meshes, "t": t}
    before, after = (contact_manifold(model, q, pairs, **options) for q in (q0, q1))
    scene = Scene.of(model, meshes)
    poses = [scene.poses(q, t) for q in (q0, q1)]
    changes = []
    for pair in dict.fromkeys(after.pairs):
        if pair not in before.pairs:
            changes.append(ContactChange(pair, "gain", float(after.of(*pair).gap.min())))
    for pair in dict.fromkeys(before.pairs):
        if pair not in after.pairs:
            height = _height(scene, poses, before.of(*pair), pair)
            changes.append(ContactChange(pair, "separation" if height > margin else "loss by geometry", height))
    return tuple(changes)


def _height(scene: Scene, poses, contact: Manifold, pair: tuple[str, str]) -> float:
    """Least distance, along the normal that the first body carries, of the second body's points from those of it."""
    number = {shape.name: k for k, shape in enumerate(scene.shapes)}
    moved = []
    for name in pair:
        (R0, p0), (R1, p1) = ((R[number[name]], p[number[name]]) for R, p in poses)
        moved.append(((contact.position - p0) @ (R1 @ R0.T).T + p1, contact.normal @ (R1 @ R0.T).T))
    (first, normal), (second, _) = moved
    return float((np.einsum("ki,ki->k", second - first, normal) + contact.gap).min())
