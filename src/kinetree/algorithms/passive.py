"""Passive joint forces: springs, soft stops, viscous damping and dry friction.

Dry friction is Coulomb's law, rounded off below a small sliding speed ``v_s = FRICTION_VELOCITY``: the force is
``-tau_c v / max(|v|, v_s)``. A joint loaded below tau_c therefore creeps at a speed below v_s instead of sticking
exactly.
"""

from __future__ import annotations

from kinetree.algorithms.domain import LIMITS, UNIT_QUATERNIONS
from kinetree.algorithms.spec import algorithm
from kinetree.spatial.scalar import absolute, maximum, where

FRICTION_VELOCITY = 1e-3  # [rad/s or m/s]


def spring_deflection(model, q):
    """Deflection of every joint spring along the velocity directions, 0.0 where the model has no spring."""
    deflection = [0.0] * model.nv
    for i in model.outward():
        slot = model.v_slice[i]
        if any(model.has_spring(k) for k in range(slot.start, slot.stop)):
            reference = model.q_of(i, model.spring_reference)
            deflection[slot] = model.joints[i].difference(reference, model.q_of(i, q))
    return deflection


def limit_excess(model, q):
    """Soft stops as (k, excess, active): how far coordinate k is beyond a limit, signed, zero inside."""
    found = []
    for i in model.outward():
        q_i = model.q_of(i, q)
        for m, k in enumerate(range(model.v_slice[i].start, model.v_slice[i].stop)):
            if model.has_limit(k) and model.has_stop(k):
                above, below = q_i[m] - model.upper[k], q_i[m] - model.lower[k]
                excess = where(above > 0.0, above, where(below < 0.0, below, 0.0))
                active = where(above > 0.0, 1.0, where(below < 0.0, 1.0, 0.0))
                found.append((k, excess, active))
    return found


def friction_damping(model, k, v_k):
    """The viscous coefficient that gives the dry friction force at this velocity."""
    if not model.has_friction(k):
        return 0.0
    return model.dry_friction[k] / maximum(absolute(v_k), FRICTION_VELOCITY)


def passive_terms(model, q, v):
    """Elastic forces and, per velocity coordinate, the damping and the stiffness that act there now.

    Returns
    -------
    elastic : list
        Forces of springs and stops at q [N m or N].
    damping : list
        ``d`` with the dissipative force ``-d v`` (viscous, dry friction, stops in contact).
    stiffness : list
        ``k`` with ``d elastic / dt = -k v`` (springs, stops in contact).
    """
    elastic = [0.0] * model.nv
    damping = [model.damping[k] + friction_damping(model, k, v[k]) for k in range(model.nv)]
    stiffness = [0.0] * model.nv
    for k, deflection in enumerate(spring_deflection(model, q)):
        elastic[k] = -(model.stiffness[k] * deflection)
        stiffness[k] = model.stiffness[k]
    for k, excess, active in limit_excess(model, q):
        elastic[k] = elastic[k] - model.limit_stiffness[k] * excess
        damping[k] = damping[k] + active * model.limit_damping[k]
        stiffness[k] = stiffness[k] + active * model.limit_stiffness[k]
    return elastic, damping, stiffness


@algorithm(inputs={"q": "nq", "v": "nv"}, outputs={"tau": "nv"}, domains=(UNIT_QUATERNIONS, LIMITS), body_frames=None)
def passive_joint_forces(model, q, v):
    """Joint forces that the mechanism itself exerts: springs, soft stops, viscous damping, dry friction.

    Parameters
    ----------
    model : Model
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    v : (..., nv) array
        Joint velocities [rad/s or m/s].

    Returns
    -------
    tau : (..., nv) array
        Passive joint forces [N m or N], on the same side of the equation of motion as the actuators' forces.

    Raises
    ------
    LimitError
        A joint is beyond a limit for which the model gives no stop.

    Notes
    -----
    Source: ``-k (q - q_ref) - d v - tau_c v / max(|v|, v_s)`` with v_s = 1e-3 rad/s or m/s, and ``-k_l e - d_l v``
    beyond a limit by e. The dry friction is Coulomb's law rounded off below v_s, so a loaded joint creeps slowly
    instead of sticking. These are the forces of the joints alone: what `Model.unsupported` names is not among them.
    """
    elastic, damping, _ = passive_terms(model, q, v)
    return [elastic[k] - damping[k] * v[k] for k in range(model.nv)]
