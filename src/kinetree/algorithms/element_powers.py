"""Powers of force elements where joints move by themselves, so that joint forces times v are not all of it."""

from __future__ import annotations

from kinetree.algorithms.force_elements import law_joint_forces, laws
from kinetree.algorithms.matrices import dot
from kinetree.state_kinematics import Kinematics


def element_powers(model, q, v, x=None, u=None) -> list[tuple]:
    """Of every element two powers [W]: of its forces that no stored energy explains, along all motion of its leaves;
    and of all its forces along the motions that time gives, which these motions have to balance.
    """
    kin, found = Kinematics(model, q, v), []
    for law in laws(model, x, u):
        other = _power(law, kin, law.other)
        total = other + _power(law, kin, law.conservative)
        found.append((other, total - dot(law_joint_forces(model, kin, [law]), v)))
    return found


def _power(law, kin: Kinematics, forces):
    """Forces along leaves times the rates of these."""
    power = 0.0
    for leaf, ids in forces:
        for force, rate in zip(law.leaves.outer(ids, kin), leaf.rates(kin), strict=True):
            power = power + force * rate
    return power
