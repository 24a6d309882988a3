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
from kinetree.algorithms.regularity import require_regular
from kinetree.algorithms.row_elimination import Triangular, vanishes
from kinetree.algorithms.sparse import ltdl_factors, solve_ltdl
from kinetree.errors import ConstraintError
from kinetree.model.topology import filled_rows
from kinetree.spatial.scalar import absolute, where

TOLERANCE = 1e-6  # of known accelerations that keep loops closed


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
    f, internal = least_squares([triangular.rows[n] for n in triangular.rest], f, w)
    found |= dict(zip(triangular.rest, internal, strict=True))
    return f, triangular.turned_back([found[n] for n in range(len(K))])


def least_squares(rows, f, w):
    """``f - R^T x`` of the least norm with weights w, and x; R by rows, which are independent."""
    scaled = [[x if vanishes(x) else x * w_k for x, w_k in zip(row, w, strict=True)] for row in rows]
    below = filled_rows([{m for m in range(n) if meet(rows[n], rows[m])} for n in range(len(rows))])
    A = [[dot(u, row) for row in rows[: n + 1]] for n, u in enumerate(scaled)]
    found = solve_ltdl(*ltdl_factors(A, below), [dot(u, f) for u in scaled], below)
    for row, x in zip(rows, found, strict=True):
        f = [a if vanishes(b) else a - b * x for a, b in zip(f, row, strict=True)]
    return f, found


class SharedLoads:
    """Loops of which more rows are left than accelerations are unknown: they share loads with prescribed joints.

    Combinations of rows without entries at the unknown accelerations constrain the known ones, which have to obey them;
    their multipliers act on prescribed joints alone. The system is left with the other rows.

    Parameters
    ----------
    system : ConstrainedSystem
        Changed: its rows become combinations that determine unknown accelerations.
    columns, forward : list
        Of G, all of them, and those of the unknown accelerations.
    known : sequence of nv scalars
        Accelerations, zero where they are unknown.
    """

    def __init__(self, system, columns, forward, known) -> None:
        self.columns, self.numbers, self.rows = columns, system.numbers, system.rows
        K = [[weighted_row(row, column) for column in columns] for row in system.rows]
        free = [m for m, column in enumerate(columns) if column in forward]
        self.triangular = found = Triangular(K, free)
        self.prescribed = [0.0 if m in free else 1.0 for m in range(len(columns))]
        k = found.turned(system.k)
        for n in found.rest:  # K a - k of known accelerations alone
            size = sum((absolute(x * known[c[0][0]]) for x, c in zip(found.rows[n], columns, strict=True)), start=1.0)
            require_regular(where(absolute(k[n]) > TOLERANCE * size, -1.0, 1.0), 1.0)
        self.kept = [n for n, _ in found.pivots]
        system.numbers = [self.numbers[n] for n in self.kept]
        system.rows = [{c[0][0]: x for x, c in zip(found.rows[n], columns, strict=True) if not vanishes(x)}
                       for n in self.kept]  # fmt: skip
        system.k = [k[n] for n in self.kept]
        system.below = [tuple(reversed(range(m))) for m in range(len(self.kept))]

    def multipliers(self, needed, lam) -> list:
        """Those of the rows as they were, by the system's and by the least forces of prescribed joints."""
        found, values = self.triangular, dict(zip(self.kept, lam, strict=True))
        f = [weighted(needed, column) for column in self.columns]
        for n, x in values.items():
            f = [a if vanishes(b) else a - b * x for a, b in zip(f, found.rows[n], strict=True)]
        _, rest = least_squares([found.rows[n] for n in found.rest], f, self.prescribed)
        values |= dict(zip(found.rest, rest, strict=True))
        return found.turned_back([values[n] for n in range(len(self.rows))])


def meet(x, y) -> bool:
    """Whether two rows have entries in one column."""
    return any(not (vanishes(a) or vanishes(b)) for a, b in zip(x, y, strict=True))
