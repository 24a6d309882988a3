"""The rows of a model's constraints as arrays: errors of position, Jacobian, and bias."""

from __future__ import annotations

from kinetree.algorithms.domain import GIVEN_MOTIONS
from kinetree.algorithms.spec import Spec
from kinetree.state_kinematics import Kinematics


def constraint_error(model, q):
    """phi(q), zero where the constraints hold; zero for rows that hold velocities alone."""
    kin = Kinematics(model, q)
    return [x for c in model.constraints for x in c.residual(kin) or [0.0] * c.count(model)]


def constraint_jacobian(model, q):
    """G: the velocity of each row is ``G v``, and its multiplier exerts the joint forces ``G^T lambda``."""
    kin = Kinematics(model, q)
    return [[row.get(k, 0.0) for k in range(model.nv)] for c in model.constraints for row in c.rows(kin)]


def constraint_bias(model, q, v):
    """``dG/dt v``: the acceleration of each row is ``G a`` and this."""
    kin = Kinematics(model, q, v)
    return [x for c in model.constraints for x in c.bias(kin)]


def constraint_misfit(model, q, v):
    """phi(q), and the velocities ``G v + g`` of all rows, of constraints that refer to frames; zero of others."""
    kin, phi, rates = Kinematics(model, q, v), [], []
    for c in model.constraints:
        none = [0.0] * c.count(model)
        loop = c.row_kind == "equality" and bool(c.frames)
        phi += (loop and c.residual(kin)) or none
        rates += c.rate(kin) if loop else none
    return phi, rates


_Q, _V, _TIME = {"q": ("nq",)}, {"v": ("nv",)}, (GIVEN_MOTIONS,)
CONSTRAINT_ERROR = Spec("constraint_error", constraint_error, _Q, {}, {"phi": ("nc",)}, domains=_TIME)
CONSTRAINT_JACOBIAN = Spec("constraint_jacobian", constraint_jacobian, _Q, {}, {"G": ("nc", "nv")}, domains=_TIME)
CONSTRAINT_MISFIT = Spec(
    "constraint_misfit", constraint_misfit, _Q | _V, {}, {"phi": ("nc",), "rates": ("nc",)}, domains=_TIME
)
CONSTRAINT_BIAS = Spec("constraint_bias", constraint_bias, _Q | _V, {}, {"bias": ("nc",)}, domains=_TIME)
