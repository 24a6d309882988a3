"""Kinetic, gravitational and elastic energy."""

from __future__ import annotations

from kinetree.algorithms.force_elements import element_energies
from kinetree.algorithms.gears import gear_energy
from kinetree.algorithms.kinematics import body_twists, link_transforms
from kinetree.algorithms.passive import joint_forces
from kinetree.algorithms.spec import algorithm


@algorithm(inputs="q v", outputs="T")
def kinetic_energy(model, q, v):
    """Kinetic energy, that of armatures and gears included.

    Notes
    -----
    Source: Featherstone (2008), eq. 2.67. Identity: ``T = v @ crba(q) @ v / 2``, unless joints depend on time.
    """
    _, V = body_twists(model, q, v)
    twice = 0.0
    for i in model.outward():
        twice = twice + V[i].dot(model.I[i] @ V[i])
    for k in range(model.nv):
        twice = twice + model.armature[k] * v[k] * v[k]
    return 0.5 * (twice + gear_energy(model, V, v))


@algorithm(inputs="q", outputs={"V": ()}, symbols={"V": "Potential energy [J]."})
def potential_energy(model, q):
    """Potential energy in the gravity field, zero when every mass is at the world's origin.

    Notes
    -----
    Source: Featherstone (2008), section 5.3: its gradient is the gravity force. Springs: see `elastic_energy`.
    """
    return -model.gravity.dot(composite_inertia(model, link_transforms(model, q)).h)


@algorithm(inputs="q", outputs={"V": ()}, body_frames="laws", symbols={"V": "Elastic energy [J]."})
def elastic_energy(model, q):
    """Energy stored in the joint springs and in the soft stops.

    Notes
    -----
    Source: Hooke's law along the joint's velocity directions, ``k (q - q_ref)^2 / 2`` for a joint with one coordinate.
    """
    energy = 0.0
    for _, force, at in joint_forces(model, q):
        energy = energy + force.energy(at)
    for stored in element_energies(model, q) if model.laws else ():
        energy = energy + stored
    return energy


def composite_inertia(model, X):
    """Inertia of all moving bodies in world coordinates, from the link transforms (book, eq. 6.12).

    Callers that need only mass and first moment trace only these.
    """
    Ic = [model.algebra.Inertia.zero(), *model.I[1:]]
    for i in model.inward():
        Ic[model.parent[i]] = Ic[model.parent[i]] + X[i].inverse_apply(Ic[i])
    return Ic[0]
