"""Inertia along tendons: a kinetic energy ``m (dL/dt)^2 / 2`` for each length L of a path with an armature m.

With the gradient g of the length it adds ``m g g^T`` to the mass matrix and ``m g (dg/dt . v)`` to the bias forces.
Tendons couple joints of any branches, so the sum is no mass matrix of a tree: it belongs to the complete dynamics.
Source: MuJoCo, XML reference, ``tendon/armature``.
"""

from __future__ import annotations

from collections.abc import Iterator

from kinetree.algorithms.matrices import dot
from kinetree.constraints.leaves import PARTIALS, RATES, Leaves
from kinetree.errors import UnsupportedError
from kinetree.joints.dual import rate_of
from kinetree.state_kinematics import Kinematics
from kinetree.tendons.length import path_length


def _rows(model, kin: Kinematics) -> Iterator[tuple]:
    """Of each inertia: its mass, and the gradient of its length by velocity coordinate."""
    for element in model.armatures:
        leaves = Leaves(element, kin, PARTIALS)
        yield element, leaves.row(rate_of(path_length(element.path, leaves)))


def tendon_rows(model, kin: Kinematics) -> Iterator[tuple]:
    """Of each inertia: its element, the gradient of its length by velocity coordinate, and ``dg/dt . v``."""
    for element, row in _rows(model, kin):
        yield element, row, rate_of(rate_of(path_length(element.path, Leaves(element, kin, RATES))))


def tendon_inertia(model, q, v):
    """The matrix ``sum m g g^T`` and the forces ``sum m g (dg/dt . v)``; None and zeros without such inertia."""
    if not model.armatures:
        return None, [0.0] * model.nv
    kin, nv = Kinematics(model, q, v), model.nv
    added, bias = [[0.0] * nv for _ in range(nv)], [0.0] * nv
    for element, row, rate in tendon_rows(model, kin):
        for k, x in row.items():
            pull = element.armature * x
            bias[k] = bias[k] + pull * rate
            for n, y in row.items():
                added[k][n] = added[k][n] + pull * y
    return added, bias


def tendon_inertia_forces(model, q, v, a) -> list:
    """Joint forces that the inertia along tendons needs in a motion [N m or N]."""
    added, bias = tendon_inertia(model, q, v)
    return [b + dot(row, a) for b, row in zip(bias, added, strict=True)] if added else bias


def tendon_kinetic_energy(model, q, v):
    """The kinetic energy of the inertia along tendons [J]."""
    kin = Kinematics(model, q, v)
    rates = ((element.armature, sum((x * v[k] for k, x in row.items()), 0.0)) for element, row in _rows(model, kin))
    return sum((0.5 * m * rate * rate for m, rate in rates), 0.0)


def refuse_tendon_inertia(model, what: str) -> None:
    """Raise UnsupportedError for a model whose tendons have inertia, which ``what`` would leave out.

    Raises
    ------
    UnsupportedError
    """
    if model.armatures:
        names = ", ".join(repr(element.name) for element in model.armatures[:4])
        raise UnsupportedError(
            f"{what} does not compute inertia along tendons; model {model.name!r} has {names} with an armature. "
            "inverse_dynamics, forward_dynamics, and simulations with 'semi_implicit', explicit or adaptive explicit "
            "integrators do; else set armature=0",
            algorithm=what,
            model=model.name,
        )
