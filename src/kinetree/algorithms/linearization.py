r"""Linearization of the motion of a mechanism with loops, in its independent velocities y.

Small changes of a motion are dq along the velocities and dv. Those that keep loops closed are

.. math:: dq = G\, dx, \qquad dv = G\, dy + D\, dx, \qquad K D + \frac{\partial (K v)}{\partial q} G = 0

with zero rows of D at the independent velocities, so

.. math:: \frac{d}{dt} \begin{bmatrix} dx \\ dy \end{bmatrix} = \begin{bmatrix} W & 1 \\
    \partial_q a\, G + \partial_v a\, D & \partial_v a\, G \end{bmatrix} \begin{bmatrix} dx \\ dy \end{bmatrix} +
    \begin{bmatrix} 0 \\ \partial_\tau a \end{bmatrix} d\tau

of which the rows at the independent velocities are taken. W is zero for joints whose velocities are rates of
coordinates; for ball joints and free bodies, whose changes turn with them, ``W dq = -v x dq``.
"""

from __future__ import annotations

from kinetree.algorithms.complete import COMPLETE
from kinetree.algorithms.constrained import equality_rows, remaining_rows
from kinetree.algorithms.constrained_derivatives import forward_dynamics_derivatives
from kinetree.algorithms.domain import CLOSED_LOOPS
from kinetree.algorithms.factorize import LDL
from kinetree.algorithms.matrices import dot, identity, minus, plus, product, transposed
from kinetree.algorithms.null_space import null_space_at
from kinetree.algorithms.row_elimination import vanishes
from kinetree.algorithms.spec import algorithm
from kinetree.algorithms.state_slopes import state_slopes
from kinetree.errors import UnsupportedError
from kinetree.joints.dual import Dual, rate_of
from kinetree.state_kinematics import Kinematics


@algorithm(
    inputs="q v tau",
    optional="f_ext x u",
    outputs={"A": ("n_reduced", "n_reduced"), "B": ("n_reduced", "nv")},
    static=("independent",),
    domains=(*COMPLETE, CLOSED_LOOPS),
    symbols={
        "tau": "Actuator forces [N m or N].",
        "f_ext": "; constant there.",
        "A": "Rates of (dx, dy) by (dx, dy): of independent positions and velocities [1/s, and 1 or 1/s^2].",
        "B": "Rates of (dx, dy) by actuator forces [1/(kg m^2), 1/(kg m) or 1/kg]; the upper half is zero.",
    },
    raises="SingularityError UnsupportedError",
)
def closed_loops_linearization(model, q, v, tau, f_ext=None, x=None, u=None, *, independent=None):
    r"""Linear equation of small changes of a motion that keep loops closed.

    .. math:: \frac{d}{dt} \begin{bmatrix} dx \\ dy \end{bmatrix} = A \begin{bmatrix} dx \\ dy \end{bmatrix} + B\, d\tau

    Notes
    -----
    Source: see the head of the file; Featherstone (2008), eq. 8.42, for the null space. Changes of positions are along
    the independent velocities, in the coordinates of the joints. Internal states of force elements and the time are
    constant. Holds at rest and along motions. `kinetree.closed_loops.linearize` adds the trim torque and the names.

    See Also
    --------
    forward_dynamics_derivatives, closed_loops_null_space

    Examples
    --------
    >>> import kinetree as kt, numpy as np
    >>> pendulum = kt.models.pendulum()
    >>> with kt.interpreted():
    ...     A, B = kt.closed_loops.linearization(pendulum, [0.0], [0.0], [0.0])[:2]
    >>> np.sqrt(-A[1, 0]).round(6).item()  # sqrt(g / l) [rad/s], l = 1 m
    3.132092
    """
    for c in remaining_rows(model):
        if not all(c.position_level(model)):
            raise UnsupportedError(
                f"linearization: model {model.name!r} has the {c}, which holds velocities alone, so positions have "
                "more freedoms than velocities",
                model=model.name,
            )
    space = null_space_at(model, q, v, independent)
    free, G = list(space.chosen), space.G
    by_q, by_v, by_tau, *_ = forward_dynamics_derivatives(model, q, v, tau, f_ext, x, u)
    D = velocity_changes(model, q, v, space)
    W = turning(model, q, v, G)
    lower = plus(product([by_q[k] for k in free], G), product([by_v[k] for k in free], D))
    lower = [left + right for left, right in zip(lower, product([by_v[k] for k in free], G), strict=True)]
    upper = [[*W[k], *unit] for k, unit in zip(free, identity(len(free)), strict=True)]
    return upper + lower, [[0.0] * model.nv for _ in free] + [by_tau[k] for k in free]


def velocity_changes(model, q, v, space) -> list:
    """D by rows: changes of v that keep ``K v`` zero while positions change by ``G dx``, zero at independent ones."""

    def rates(inner, q, v, given):
        _, rows, _ = equality_rows(inner, Kinematics(inner, q, v), {})
        return [dot(row.values(), [given[k] for k in row]) for row in rows]

    slopes = [[row.get(k, 0.0) for k in range(model.nv)] for row in state_slopes(model, q, v, rates, v)]
    still, found = [0.0] * len(space.chosen), []
    for column in space.by_column:
        right = [-dot(row, column) for row in slopes]
        found.append(space.solution(still, right))
    return transposed(found) if found else [[] for _ in range(model.nv)]


def turning(model, q, v, G) -> list:
    """``W G``: the rate of dq beside dv, from ``d(q_dot) = N dv + dN v`` and ``q_dot = N v``."""
    found = [[0.0] * len(row) for row in G]
    for i in model.outward():
        joint, slot = model.joints[i], model.v_slice[i]
        q_i, v_i = model.q_of(i, q), model.v_of(i, v)
        rate = joint.q_dot(q_i, v_i)
        units = identity(joint.nv)
        N = [joint.q_dot(q_i, unit) for unit in units]  # by columns
        square = LDL([[dot(N[m], N[n]) for n in range(m + 1)] for m in range(joint.nv)], [0.0] * joint.nv)
        for n, unit in enumerate(units):
            moved = [Dual(a, b) for a, b in zip(q_i, N[n], strict=True)]
            along = [Dual(a, b) for a, b in zip(q_i, rate, strict=True)]
            w = minus([rate_of(x) for x in joint.q_dot(moved, v_i)], [rate_of(x) for x in joint.q_dot(along, unit)])
            if all(vanishes(x) for x in w):
                continue
            column = square.solve([dot(N_m, w) for N_m in N])
            for m, k in enumerate(range(slot.start, slot.stop)):
                g = G[slot.start + n]
                found[k] = [x + column[m] * y for x, y in zip(found[k], g, strict=True)]
    return found
