r"""Inverse dynamics of closed loops: of all joint forces that cause a motion, those of the least weighted norm.

The forces that the tree would need, ``tau_ID``, may be shared between motors and loops in many ways (book, eq.
8.61-8.62):

.. math:: \tau + K^T \lambda = \tau_{ID}, \qquad \tau_k = 0 \text{ where there is no motor}, \qquad
          \sum_k w_k \tau_k^2 \rightarrow \min

Orthogonal combinations of the rows of K are triangular in the columns without motors. These give the first
multipliers, as many as there are such columns; the others are the internal forces, found by least squares.
"""

from __future__ import annotations

from kinetree.algorithms.constrained import equality_rows, given_accelerations
from kinetree.algorithms.couplings import coupling_columns, weighted, weighted_row
from kinetree.algorithms.joint_sets import idle_coordinates
from kinetree.algorithms.matrices import dot
from kinetree.algorithms.row_elimination import Triangular, vanishes
from kinetree.algorithms.sparse import ltdl_factors, solve_ltdl
from kinetree.errors import ConstraintError
from kinetree.model.topology import filled_rows


def shared_with_loops(model, kin, needed, actuated=None, weights=None):
    """Motor forces and multipliers whose sum is ``needed`` on all independent velocities.

    Parameters
    ----------
    model : Model or ScalarModel
    kin : Kinematics
    needed : sequence of nv scalars
        The joint forces of the tree.
    actuated : tuple of int, optional
        Velocity coordinates of the motors; None: all.
    weights : sequence of nv scalars, optional
        ``w``; 1 by default.

    Returns
    -------
    tau : list
        At the masters of coupled joints.
    found : dict
        Multipliers by the number of the row.
    rest : list
        ``needed`` without the forces of the loops.
    """
    columns, idle = coupling_columns(model), idle_coordinates(model, actuated)
    numbers, rows, _ = equality_rows(model, kin, given_accelerations(model, kin))
    K = [[weighted_row(row, column) for column in columns] for row in rows]
    without = [m for m, column in enumerate(columns) if column[0][0] in idle]
    f = [weighted(needed, column) for column in columns]
    w = [1.0 if weights is None else weights[column[0][0]] for column in columns]
    f, lam = least_forces(model, K, f, without, w)
    found, tau = dict(zip(numbers, lam, strict=True)), [0.0] * model.nv
    for column, x in zip(columns, f, strict=True):
        tau[column[0][0]] = x
    rest = list(needed)
    for n, row in zip(numbers, rows, strict=True):
        for k, x in row.items():
            rest[k] = rest[k] - x * found[n]
    return tau, found, rest


def least_forces(model, K, f, without, w):
    """``f - K^T lambda``, zero in the columns ``without`` and else of the least norm with weights w, and lambda."""
    triangular = Triangular(K, without)
    if triangular.free:
        raise ConstraintError(
            f"inverse_dynamics: no motor has an influence on {len(triangular.free)} of the motions of model "
            f"{model.name!r}, which is underactuated"
        )
    found, f = triangular.multipliers(f)
    rest = [triangular.rows[n] for n in triangular.rest]
    scaled = [[x if vanishes(x) else x * w_k for x, w_k in zip(row, w, strict=True)] for row in rest]
    shared = [{m for m in range(n) if meet(rest[n], rest[m])} for n in range(len(rest))]
    below = filled_rows(shared)
    A = [[dot(u, row) for row in rest[: n + 1]] for n, u in enumerate(scaled)]
    internal = solve_ltdl(*ltdl_factors(A, below), [dot(u, f) for u in scaled], below)
    for row, x in zip(rest, internal, strict=True):
        f = [a if vanishes(b) else a - b * x for a, b in zip(f, row, strict=True)]
    found |= dict(zip(triangular.rest, internal, strict=True))
    return f, triangular.turned_back([found[n] for n in range(len(K))])


def meet(x, y) -> bool:
    """Whether two rows have entries in one column."""
    return any(not (vanishes(a) or vanishes(b)) for a, b in zip(x, y, strict=True))
