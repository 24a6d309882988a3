"""The rows of a model's constraints as arrays: errors of position, Jacobian, and bias."""

from __future__ import annotations

from kinetree.algorithms.domain import GIVEN_MOTIONS, UNIT_QUATERNIONS
from kinetree.algorithms.spec import Spec, algorithm
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


def constraint_rates(model, q, v):
    """The velocities ``G v + g`` of all rows."""
    kin = Kinematics(model, q, v)
    return [x for c in model.constraints for x in c.rate(kin)]


_Q, _V, _TIME = {"q": ("nq",)}, {"v": ("nv",)}, (GIVEN_MOTIONS,)
CONSTRAINT_ERROR = Spec("constraint_error", constraint_error, _Q, {}, {"phi": ("nc",)}, domains=_TIME)
CONSTRAINT_JACOBIAN = Spec("constraint_jacobian", constraint_jacobian, _Q, {}, {"G": ("nc", "nv")}, domains=_TIME)
CONSTRAINT_MISFIT = Spec(
    "constraint_misfit", constraint_misfit, _Q | _V, {}, {"phi": ("nc",), "rates": ("nc",)}, domains=_TIME
)
CONSTRAINT_RATES = Spec("constraint_rates", constraint_rates, _Q | _V, {}, {"rates": ("nc",)}, domains=_TIME)
CONSTRAINT_BIAS = Spec("constraint_bias", constraint_bias, _Q | _V, {}, {"bias": ("nc",)}, domains=_TIME)


_DOMAINS = (UNIT_QUATERNIONS, GIVEN_MOTIONS)


@algorithm(
    inputs="q",
    outputs={"phi": ("nc",)},
    domains=_DOMAINS,
    symbols={"phi": "Errors of position [m or rad], in the order of `Model.constraint_labels`."},
)
def closed_loops_error(model, q):
    """phi(q), the errors of position of all rows of the constraints; zero for rows that hold velocities alone.

    Notes
    -----
    Source: Featherstone (2008), eq. 8.25-8.27 and table 8.1, for loop joints. Of bounded rows zero.

    See Also
    --------
    closed_loops_jacobian, closed_loops_project_position, assemble

    Examples
    --------
    >>> import kinetree as kt
    >>> bar = kt.models.four_bar()
    >>> bool(abs(kt.closed_loops.error(bar, bar.keyframe("initial")[0])).max() < 1e-12)
    True
    """
    return constraint_error(model, q)


@algorithm(
    inputs="q",
    outputs={"K": ("nc", "nv")},
    domains=_DOMAINS,
    symbols={"K": "Rows of the constraints [1 or m], in the order of `Model.constraint_labels`."},
)
def closed_loops_jacobian(model, q):
    """K(q), the Jacobian of all constraints: rows have the velocities ``K v + g``, and exert the forces ``K^T lambda``.

    Notes
    -----
    Source: Featherstone (2008), eq. 8.7-8.20 and table 8.4, for loop joints. Rows that others imply are there, too:
    `Model.independent_rows` are those that dynamics solve for. g is zero unless a constraint depends on time.
    Identity: K v is the rate of `closed_loops_error`, of rows that hold positions.

    See Also
    --------
    closed_loops_error, closed_loops_bias, closed_loops_null_space

    Examples
    --------
    >>> import kinetree as kt
    >>> bar = kt.models.four_bar()
    >>> K = kt.closed_loops.jacobian(bar, bar.keyframe("initial")[0])
    >>> K.shape == (bar.nc, bar.nv)
    True
    """
    return constraint_jacobian(model, q)


@algorithm(
    inputs="q v",
    outputs={"bias": ("nc",)},
    domains=_DOMAINS,
    symbols={"bias": "Accelerations of the rows without those of the joints [m/s^2 or rad/s^2]."},
)
def closed_loops_bias(model, q, v):
    """``dK/dt v + dg/dt``: rows of constraints have the accelerations ``K a`` and this, zero in any motion.

    Notes
    -----
    Source: Featherstone (2008), eq. 8.20, for loop joints, with the other sign: ``K a = k``, k is minus this.

    See Also
    --------
    closed_loops_jacobian, closed_loops_accelerations

    Examples
    --------
    >>> import kinetree as kt
    >>> import numpy as np
    >>> bar = kt.models.four_bar()
    >>> q, v = bar.keyframe("initial")
    >>> a = kt.forward_dynamics(bar, q, v, np.zeros(bar.nv))
    >>> bool(abs(kt.closed_loops.jacobian(bar, q) @ a + kt.closed_loops.bias(bar, q, v)).max() < 1e-9)
    True
    """
    return constraint_bias(model, q, v)
