"""Couplings of vectors and matrices: ``v = G y`` makes ``G^T f`` of forces and ``G^T A G`` of matrices.

y are the independent velocities: each coupled joint turns with its master, at a constant ratio (Featherstone, eq.
3.20-3.21). G is kept as its columns, each a list of ``(coordinate, ratio)`` pairs of which the first is the master with
ratio 1; without couplings every column is such a pair alone.
"""

from __future__ import annotations

from kinetree.algorithms.regularity import inertia_scales
from kinetree.model.topology import filled_rows
from kinetree.spatial.scalar import is_zero
from kinetree.state_kinematics import Kinematics


def coupling_columns(model) -> list[list[tuple[int, float]]]:
    """The columns of G: for each independent velocity the ``(coordinate, ratio)`` pairs that move with it."""
    kin = Kinematics(model, ())
    dependent = {k: pairs for c in model.constraints for k, pairs in c.velocity_map(kin).items()}
    columns = {k: [(k, 1.0)] for k in range(model.nv) if k not in dependent}
    for k, pairs in dependent.items():
        for m, ratio in pairs:
            if m in columns:  # else it is given itself
                columns[m].append((k, ratio))
    return list(columns.values())


def weighted(x, column):
    """The entry of ``G^T x`` that belongs to a column of G."""
    total = 0.0
    for k, ratio in column:
        total = total + x[k] * ratio
    return total


def weighted_row(row: dict, column):
    """The entry of ``row G`` that belongs to a column of G."""
    total = 0.0
    for k, ratio in column:
        if k in row and not is_zero(row[k]):
            total = total + row[k] * ratio
    return 0.0 if is_zero(getattr(total, "constant", None)) else total


def weighted_scales(model, columns) -> list:
    """The scales of `inertia_scales` for the diagonal of ``G^T M G``."""
    scales = inertia_scales(model)
    return [sum(scales[k] * (ratio * ratio) for k, ratio in column) for column in columns]


def typical_pivots(model, numbers, columns) -> list:
    """For rows of these numbers the entries on the diagonal of A at typical positions: ``sum of K_k^2 / M_kk``."""
    typical, scales = model.loop_rows().typical, weighted_scales(model, columns)
    return [
        sum(sum(typical[n].get(k, 0.0) * ratio for k, ratio in column) ** 2 / scale
            for column, scale in zip(columns, scales, strict=True))
        for n in numbers
    ]  # fmt: skip


def projected(A, left, right):
    """The entry of ``G^T A G`` that belongs to two columns of G."""
    total = 0.0
    for m, r in left:
        for n, s in right:
            total = total + A[m][n] * (r * s)
    return total


def expanded(model, columns, y) -> list:
    """``G y`` of the given columns: every velocity, zero where none of them reaches."""
    x = [0.0] * model.nv
    for column, y_k in zip(columns, y, strict=True):
        for k, ratio in column:
            x[k] = y_k * ratio
    return x


def at_masters(model, tau) -> list:
    """``G^T tau`` written at the independent coordinates, zero at the coupled ones."""
    if not model.constraints:
        return tau
    result = [0.0] * model.nv
    for column in coupling_columns(model):
        result[column[0][0]] = weighted(tau, column)
    return result


def coupled_rows(A, columns) -> list:
    """The entries of the lower triangle of ``G^T A G`` that are not zero, those filled by elimination included.

    A is symmetric and has its structural zeros, as `crba` gives them.
    """
    place = {k: m for m, column in enumerate(columns) for k, _ in column}
    found = [set() for _ in columns]
    for k, row in enumerate(A):
        for i, entry in enumerate(row[:k]):
            if k in place and i in place and not is_zero(entry):
                n, m = sorted((place[k], place[i]))
                if m != n:
                    found[m].add(n)
    return filled_rows(found)
