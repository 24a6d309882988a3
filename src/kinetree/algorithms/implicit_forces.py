"""Forces of elements at the end of a step: their slopes, and internal states that follow positions within the step.

A step of linearly implicit Euler of positions q, velocities v and internal states x with rates g(L, x) of elements with
tensions T(L, x) along lengths L has ``x+ = x + (1 - h J)^-1 h (g + dg/dL h dL/dt)``, ``J = dg/dx``. The first part is
known before the step; the second makes tensions follow lengths by ``dT/dL + dT/dx (1 - h J)^-1 h dg/dL``: the fiber of
a muscle yields to its tendon within the step, however fast it is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from kinetree.algorithms.force_elements import (
    Law,
    add_congruence,
    along_free,
    differentiated,
    element_forces,
    force_state_rates,
    in_coordinates,
    law_joint_forces,
    pushed,
    slopes_of,
    unbounded,
)
from kinetree.algorithms.force_ranges import within_ranges
from kinetree.algorithms.matrices import apply, dot, minus, plus
from kinetree.algorithms.state_slopes import state_rates, state_slopes
from kinetree.spatial.scalar import is_zero
from kinetree.state_kinematics import Kinematics


def implicit_state_changes(model, q, v, x, u, dt, known=None, v_next=None) -> list:
    """``(1 - dt J)^-1 dt x'`` with ``J = dx'/dx`` element by element: linearly implicit Euler, stable for any lag.

    ``known`` are rates that are subtracted from x': then it is Newton's step of ``x' = known`` where x moves by dt.
    With the velocities at the end of the step, ``v_next``, the lengths that rates depend on move with them.
    """
    kin, found = Kinematics(model, q, v), []
    for element, x_e, u_e in model.with_internal(x, u):
        if element.commanded or not x_e:
            found += [0.0] * len(x_e)
            continue
        law = differentiated(element, x_e, u_e)
        rates = law.leaves.outer(law.rates, kin)
        if known is not None:
            rates = [r - k for r, k in zip(rates, known[len(found) :], strict=False)]
        found += _solved(law, kin, dt, [rates])[0]
    return found if v_next is None else plus(found, apply(state_responses(model, kin, x, u, dt), v_next))


def stepped_state_changes(model, q, v, x, u, dt, v_next=None) -> list:
    """`implicit_state_changes` in a step; of elements that know theirs in closed form, these."""
    changes = implicit_state_changes(model, q, v, x, u, dt, None, v_next)
    kin, first = Kinematics(model, q, v if v_next is None else v_next), 0
    for element, x_e, u_e in model.with_internal(x, u):
        if x_e and element.defines("states_after"):
            later = element.states_after(kin, x_e, u_e, dt)
            changes[first : first + len(x_e)] = [after - before for after, before in zip(later, x_e, strict=True)]
        first += len(x_e)
    return changes


def state_responses(model, kin: Kinematics, x, u, dt) -> list[list]:
    """The changes of internal states by unit velocities during a step: those of lengths that their rates depend on."""
    found = []
    for element, x_e, u_e in model.with_internal(x, u):
        rows = [[0.0] * model.nv for _ in x_e]
        law = differentiated(element, x_e, u_e) if x_e and not element.commanded else None
        if law and law.follows:
            ((_, row, _),) = law.lengths
            (moved,) = _solved(law, kin, dt, [law.leaves.outer(law.follows, kin)])
            for k, y in in_coordinates(law.leaves, kin, row).items():
                for n, m in enumerate(moved):
                    rows[n][k] = dt * m * y
        found += rows
    return found


def _solved(law: Law, kin: Kinematics, dt, columns) -> list[list]:
    """``(1 - dt J)^-1 dt c`` for some columns c of rates."""
    slopes = [dict(zip(row, law.leaves.outer(list(row.values()), kin), strict=True)) for row in law.rate_slopes]
    n = len(slopes)
    A = [[float(r == c) - dt * slopes[r].get(c, 0.0) for c in range(n)] for r in range(n)]
    A = [row + [dt * column[r] for column in columns] for r, row in enumerate(A)]
    for k in range(n):  # Gauss and Jordan
        A[k] = [x / A[k][k] for x in A[k]]
        for r in range(n):
            if r != k and not is_zero(A[r][k]):
                A[r] = [x - A[r][k] * y for x, y in zip(A[r], A[k], strict=True)]
    return [[row[n + k] for row in A] for k in range(len(columns))]


def laws_ahead(model, kin: Kinematics, dt, x=None, u=None) -> list[Law]:
    """The laws of the elements; the tensions of those whose states follow a length change with them in a step.

    They have a shift, by the states' change at constant positions, and a gain, by which they follow the length.
    """
    found = []
    for element, x_e, u_e in model.with_internal(x, u):
        if element.commanded:
            continue
        law = differentiated(element, x_e, u_e)
        if law.follows:
            rates, along = law.leaves.outer(law.rates, kin), law.leaves.outer(law.follows, kin)
            changes, moved = _solved(law, kin, dt, [rates, along])
            by_state = law.leaves.outer(law.pulls, kin)
            law = replace(law, gain=dot(by_state, moved), shift=dot(by_state, changes))
        found.append(law)
    return found


def implicit_terms(model, q, v, dt, x=None, u=None):
    """``dt D + dt^2 K`` with the slopes of `gauss_newton_slopes`, and the forces of all elements less ``dt K v``.

    Both with internal states that follow lengths: `laws_ahead`.
    """
    added, kin = [[0.0] * model.nv for _ in range(model.nv)], Kinematics(model, q, v)
    found = laws_ahead(model, kin, dt, x, u)
    if not model._force_ranges:
        return added, _implicit_forces(kin, found, dt, added)
    actuators = [law for law in found if law.actuates]
    total = law_joint_forces(model, kin, actuators)
    bounded = _implicit_forces(kin, actuators, dt, added, unbounded(model, total))
    bounded = plus(bounded, minus(within_ranges(model, total), total))
    return added, plus(bounded, _implicit_forces(kin, [law for law in found if not law.actuates], dt, added))


def _implicit_forces(kin: Kinematics, of, dt, added, free=()) -> list:
    """The forces of laws less ``dt K v``; adds ``dt D + dt^2 K``. ``free`` as `_unbounded` gives it."""
    model, v, apart, total = kin.model, kin.v, [], [0.0] * kin.model.nv
    for law in of:
        apart.append((law.leaves, law.apart))
        for J, stiffness, damping, tensions in slopes_of(law, kin):
            hessian = [
                {n: dt * (d.get(n, 0.0) + dt * k.get(n, 0.0)) for n in {**k, **d}}
                for k, d in zip(stiffness, damping, strict=True)
            ]
            moving = along_free(J, free)
            add_congruence(moving, hessian, added)
            rates = [sum((x * v[k] for k, x in row.items()), start=0.0) for row in moving]
            for row, row_free, weights, tension in zip(J, moving, stiffness, tensions, strict=True):
                ahead = sum((weight * rates[n] for n, weight in weights.items()), start=0.0)
                for k, x in row.items():
                    total[k] = total[k] - x * tension - row_free[k] * (dt * ahead)
    return plus(total, pushed(model, kin, apart))


def exact_slopes(model, q, v, x=None, u=None, lag=None, of=element_forces):
    """``-df/dq`` along the manifold and ``-df/dv`` of the elements: (K, D), K not symmetric in general.

    With ``lag`` [s] internal states follow q and v, as an implicit step of that length has them:
    ``dx = (1 - lag J)^-1 lag (dx'/dq dq + dx'/dv dv)``. ``of`` gives the forces, by default those of all elements.
    """
    K, D = ([[0.0] * model.nv for _ in range(model.nv)] for _ in range(2))
    for k, row in enumerate(state_slopes(model, q, v, *_forces_of_step(model, q, v, x, u, lag, of))):
        for d, slope in row.items():
            (K if d < model.nv else D)[k][d % model.nv] = -slope
    return K, D


def force_changes(model, q, v, dq, dv, x=None, u=None, lag=None) -> list:
    """``-K dq - D dv`` of the elements with the matrices of `exact_slopes`, without the matrices."""
    return state_rates(model, q, v, dq, dv, *_forces_of_step(model, q, v, x, u, lag))


def _forces_of_step(model, q, v, x, u, lag, of=element_forces) -> tuple[Callable, list]:
    """The joint forces of the elements, or ``of`` of them, in `state_slopes`, and the further arguments there."""
    nx, nu = (0 if values is None else len(values) for values in (x, u))
    follows = bool(nx) and lag is not None
    given = [*(x or ()), *(u or ()), *((*force_state_rates(model, q, v, x, u), lag) if follows else ())]

    def forces(inner, q, v, given):
        x_in, u_in = (None if x is None else given[:nx]), (None if u is None else given[nx : nx + nu])
        if follows:
            changes = implicit_state_changes(inner, q, v, x_in, u_in, given[-1], given[nx + nu :])
            x_in = [x_k + dx for x_k, dx in zip(x_in, changes, strict=True)]
        return of(inner, q, v, x_in, u_in)

    return forces, given
