"""Passive joint forces: the force elements of the model, summed over its joints."""

from __future__ import annotations

from collections.abc import Iterator

from kinetree.algorithms.domain import LIMITS, UNIT_QUATERNIONS
from kinetree.algorithms.force_elements import element_forces
from kinetree.algorithms.matrices import plus
from kinetree.algorithms.spec import algorithm
from kinetree.forces.contract import JointForce
from kinetree.joints.contract import tangent_inverse


class JointState:
    """One joint in a state, the argument of a `JointForce`: lists of its scalars, and derived quantities."""

    __slots__ = ("_joint", "lower", "q", "upper", "v")

    def __init__(self, model, i: int, q, v) -> None:
        slot = model.v_slice[i]
        self._joint, self.q, self.v = model.joints[i], q[model.q_slice[i]], v[slot]
        self.lower, self.upper = model.lower[slot], model.upper[slot]

    def deflection(self, reference):
        """From a reference position to q, along the velocities."""
        return self._joint.difference(reference, self.q)

    def tangent_inverse(self, deflection):
        """Rows of the matrix that takes velocities to the rate of a deflection."""
        return tangent_inverse(self._joint, deflection)


def joint_forces(model, q, v=None) -> Iterator[tuple[range, JointForce, JointState]]:
    """Velocity coordinates, element and joint of every force of a joint; v is zero unless it is given.

    Where constraints take over the law of an element, its parameter is zero.
    """
    replaced = {c.replaces: set(c.coordinates(model)) for c in model.constraints if c.replaces}
    for i in model.outward():
        if model.joint_forces[i]:
            at = JointState(model, i, q, [0.0] * model.nv if v is None else v)
            coordinates = range(model.v_slice[i].start, model.v_slice[i].stop)
            for force in model.joint_forces[i]:
                left = replaced.get(force.parameters[0].name, set())
                yield coordinates, force.without([k in left for k in coordinates]) if left else force, at


def passive_terms(model, q, v, x=None, u=None, elements=True):
    """Elastic forces and, per velocity coordinate, the damping and the stiffness in this state.

    Returns
    -------
    elastic : list
        Conservative forces of the joints at q, and with ``elements`` all forces of other elements, actuators too [N m
        or N].
    damping : list
        ``d`` with the dissipative force ``-d v``.
    stiffness : list
        ``k`` with ``d elastic / dt = -k v``.
    """
    elastic, damping, stiffness = _terms_of_joints(model, q, v)
    if model.laws and elements:
        elastic = plus(elastic, element_forces(model, q, v, x, u))
    return elastic, damping, stiffness


def _terms_of_joints(model, q, v):
    elastic, damping, stiffness = ([0.0] * model.nv for _ in range(3))
    for coordinates, force, at in joint_forces(model, q, v):
        parts = zip(coordinates, force.elastic(at), force.dissipative(at), force.stiffness_diagonal(at), strict=True)
        for k, f, d, slope in parts:
            elastic[k] = elastic[k] + f
            damping[k] = damping[k] + d
            stiffness[k] = stiffness[k] + slope
    return elastic, damping, stiffness


@algorithm(
    inputs="q v",
    optional="x u",
    outputs="tau",
    domains=(UNIT_QUATERNIONS, LIMITS),
    body_frames="laws",
    symbols={
        "tau": "Passive joint forces [N m or N], on the same side of the equation of motion as the actuators' forces."
    },
)
def passive_joint_forces(model, q, v, x=None, u=None):
    """Joint forces that the mechanism itself exerts: springs, soft stops, viscous damping, dry friction.

    Not those of actuators, which `actuator_joint_forces` gives.

    Notes
    -----
    Source: ``-k (q - q_ref) - d v - tau_c v / max(|v|, v_s)`` with v_s = 1e-3 rad/s or m/s, and ``-k_l e - d_l v``
    outside a limit by e. The dry friction is Coulomb's law rounded off below v_s, so a loaded joint creeps slowly
    instead of sticking. These are the forces of the joints alone: those that `Model.unsupported` names are not among
    them.
    """
    found = forces_of_joints(model, q, v)
    return plus(found, element_forces(model, q, v, x, u, actuators=False)) if model.laws else found


def law_forces(model, q, v, x=None, u=None) -> list:
    """The joint forces of all force elements, actuators too [N m or N]."""
    found = forces_of_joints(model, q, v)
    return plus(found, element_forces(model, q, v, x, u)) if model.laws else found


def forces_of_joints(model, q, v) -> list:
    """Those of springs, stops, damping and friction of joints [N m or N]."""
    elastic, damping, _ = _terms_of_joints(model, q, v)
    return [elastic[k] - damping[k] * v[k] for k in range(model.nv)]
