"""The force subspaces of a joint, from its motion subspace: constraint forces T and active forces T_a.

``T^T S = 0`` and ``T_a^T S = 1`` (Featherstone, eq. 3.34 and 3.37). Any joint has them, whether or not it has an
implicit form of its own: coordinates in which S is zero are constraint forces as they are, the others are split by
reflections that take S to a triangle.
"""

from __future__ import annotations

from kinetree.algorithms.matrices import identity, reflection
from kinetree.spatial import Columns
from kinetree.spatial.scalar import is_zero


def force_basis(algebra, S):
    """Bases of the constraint forces and of the active forces of a joint with these motions.

    Parameters
    ----------
    algebra : Algebra
    S : sequence of Motion
        Linearly independent.

    Returns
    -------
    T : Columns
        One for each constrained direction; of unit length, and orthogonal to one another.
    T_a : Columns
        One for each velocity: ``T_a tau`` does the work of tau, and T does no work on motions of the joint.

    Notes
    -----
    Where the columns of S are coordinate vectors, so are both bases.
    """
    columns = [list(S_k) for S_k in S]
    d = algebra.dimension
    touched = [k for k in range(d) if not all(is_zero(column[k]) for column in columns)]
    T = [unit for k, unit in enumerate(identity(d)) if k not in touched]
    T_a = _coordinates(columns, d)
    if T_a is None:
        more, T_a = _reflected([[column[k] for k in touched] for column in columns], touched, d)
        T = T + more
    return Columns(map(algebra.Force.of, T), algebra.Force), Columns(map(algebra.Force.of, T_a), algebra.Force)


def _coordinates(columns, d):
    """The columns themselves if they are different coordinate vectors with structural entries, else None."""
    units = identity(d)
    plain = all(isinstance(x, float) for column in columns for x in column)
    if not plain or not all(column in units for column in columns):
        return None
    return columns if len({column.index(1.0) for column in columns}) == len(columns) else None


def _reflected(columns, touched, d):
    """S = Q R by Householder's reflections: T are the last columns of Q, ``T_a = Q R^-T`` the first ones."""
    n, m = len(columns), len(touched)
    Q, R = identity(m), []  # Q by columns, R by columns of S
    work, reflections = [list(column) for column in columns], []
    for k in range(n):
        alpha, reflect = reflection(work[k][k:]) if k < m - 1 else (work[k][k], list)
        reflections.append(reflect)
        R.append([*work[k][:k], alpha])
        for j in range(k + 1, n):
            work[j] = [*work[j][:k], *reflect(work[j][k:])]
    # Q = H_0 H_1 ...: applied to the unit vectors from the last one on.
    for k in reversed(range(n)):
        Q = [[*column[:k], *reflections[k](column[k:])] for column in Q]
    # T_a R^T = Q, from the last column on: column j of T_a = (Q_j - sum over later k of T_a_k R_jk) / R_jj
    T_a = [None] * n
    for j in reversed(range(n)):
        column = Q[j]
        for k in range(j + 1, n):
            column = [x - y * R[k][j] for x, y in zip(column, T_a[k], strict=True)]
        T_a[j] = [x / R[j][j] for x in column]
    return [_placed(column, touched, d) for column in Q[n:]], [_placed(column, touched, d) for column in T_a]


def _placed(column, touched, d):
    full = [0.0] * d
    for k, x in zip(touched, column, strict=True):
        full[k] = x
    return full
